/* Search settings of a single pair that differ from the bundle's: the manifest's "pair_decoding".
 * Const after reading: any thread. */
#ifndef DG_TRANSLATE_TRANSLATOR_PAIR_SEARCH_H
#define DG_TRANSLATE_TRANSLATOR_PAIR_SEARCH_H

#include "base/error.h"
#include "base/json.h"

struct dg_bundle;

struct dg_pair_search {
    /* alpha of the GNMT length penalty; negative: the bundle's for all pairs */
    float length_penalty;
    /* the penalty counts at most this many times the source's tokens; 0: every token */
    float length_penalty_cap;
};

/* Read the settings of all pairs of `b` from a manifest (the bundle's own, or one that it may get):
 * *out is [dg_bundle_pairs] in the bundle's order; the caller frees it. DG_EINVAL (field
 * pair_decoding...), DG_ENOMEM. */
int dg_pair_search_read(const struct dg_bundle *b, const struct dg_json *manifest,
    struct dg_pair_search **out, struct dg_error *err);

/* Write one pair's settings into a manifest's "pair_decoding". DG_ENOMEM. */
int dg_pair_search_write(
    struct dg_json *manifest, const char *source, const char *target, struct dg_pair_search s);

/* Remove one pair's settings from a manifest, if it has any; those of other pairs stay. */
void dg_pair_search_remove(struct dg_json *manifest, const char *source, const char *target);

#endif
