/* A bundle's vocabulary shortlist: for each source piece, the target pieces that it is translated
 * with, plus pieces that are always allowed. A sentence then needs only those rows of the output
 * matrix. Made by `dragoman-train shortlist`; the file is described in FORMAT.md. Constant after
 * open: any thread. */
#ifndef DG_WEIGHTS_SHORTLIST_H
#define DG_WEIGHTS_SHORTLIST_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define DG_SHORTLIST_FILE "shortlist.dgl" /* its usual name in a bundle */

struct dg_shortlist;

/* Load the file and check all of it. DG_EFORMAT names the fault; DG_EINVAL: the file is for other
 * vocabularies. */
int dg_shortlist_open(const char *path, uint32_t source_vocab, uint32_t target_vocab,
    struct dg_shortlist **out, struct dg_error *err);
void dg_shortlist_close(struct dg_shortlist *s); /* NULL is fine */

/* Words of scratch that dg_shortlist_select needs. */
size_t dg_shortlist_words(const struct dg_shortlist *s);

/* What determines the target vocabulary of a sentence. */
struct dg_shortlist_need {
    /* [n_source] source ids, whose translations are included */
    const int32_t *source;
    size_t n_source;
    /* [n_more] further target ids to include */
    const int32_t *more;
    size_t n_more;
};

/* Write all needed target ids, ascending, to ids[cap]. Return how many, or 0 when there are more
 * than cap. bits: [dg_shortlist_words] zeros, zeros again afterwards. */
size_t dg_shortlist_select(const struct dg_shortlist *s, const struct dg_shortlist_need *need,
    uint64_t *bits, int32_t *ids, size_t cap);

/* Input for writing a file. Lists are stored one after another; that of source piece i is
 * ids[first[i]] to ids[first[i + 1] - 1]. */
struct dg_shortlist_data {
    uint32_t source_vocab, target_vocab;
    /* [n_always] */
    const uint32_t *always;
    uint32_t n_always;
    /* [source_vocab + 1] */
    const uint32_t *first;
    /* [first[source_vocab]] */
    const uint32_t *ids;
};
int dg_shortlist_write(const char *path, const struct dg_shortlist_data *d, struct dg_error *err);

#endif
