/* A bundle that translates and scores many lines at batch speed, with the server's own search: for
 * validation, calibration and text that a model makes. One thread at a time; its own threads work.
 */
#ifndef DG_TRAINER_SCORE_BULK_H
#define DG_TRAINER_SCORE_BULK_H

#include "base/error.h"
#include "translate/translate.h"

#include <stdint.h>

/* Lines in progress at once: a caller that may be stopped passes this many at a time. */
enum { DG_BULK_SLICE = 512 };

struct dg_bulk_options {
    const char *bundle;
    /* Language codes; NULL: the bundle's first pair. */
    const char *source_lang, *target_lang;
    /* 0: all that this process may use. */
    int threads;
    /* 0: the bundle's. */
    uint32_t beam;
    /* Negative: the bundle's. */
    float alpha;
    /* With alpha: the penalty counts at most this many times the source's tokens; 0: all. */
    float penalty_cap;
    /* Whether a shortlist is used; 0: as the bundle says. */
    enum dg_list_use lists;
};

struct dg_bulk;

/* Opens the bundle. longest: most tokens, with a tag and </s>, of a pair that will be scored, for
 * which the model gets positions if it computes them; 0 when it is not known. The options' strings
 * are the caller's until close. */
int dg_bulk_open(
    const struct dg_bulk_options *o, uint32_t longest, struct dg_bulk **out, struct dg_error *err);
void dg_bulk_close(struct dg_bulk *d); /* NULL is fine */

const struct dg_translator *dg_bulk_translator(const struct dg_bulk *d);

/* Tokens of a pair's longer side, with room for a tag and </s>. */
int dg_bulk_count(
    const struct dg_bulk *d, const struct dg_text_pair *pair, uint32_t *out, struct dg_error *err);

/* Translate the sources of pairs[n], n <= DG_BULK_SLICE, and tell answer of each, in order; a
 * long line is translated in parts, as the server does. A negative answer ends it. */
int dg_bulk_translate(struct dg_bulk *d, const struct dg_text_pair *pairs, size_t n,
    int (*answer)(void *arg, size_t i, const struct dg_answers *a, struct dg_error *err), void *arg,
    struct dg_error *err);

/* Log-probability of a target by its source, </s> in it. */
struct dg_bulk_score {
    double logprob;
    /* 0: the pair is longer than the model's positions and was left out. */
    size_t tokens;
};

/* Score pairs[n], n <= DG_BULK_SLICE, by forced decoding into out[n]. */
int dg_bulk_score(struct dg_bulk *d, const struct dg_text_pair *pairs, size_t n,
    struct dg_bulk_score *out, struct dg_error *err);

#endif
