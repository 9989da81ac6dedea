/* Translates and scores many lines with a bundle at batch speed, with the server's own search: for
 * validation, calibration and synthetic text. One thread at a time; it starts worker threads of its
 * own. */
#ifndef DG_TRAINER_SCORE_BULK_H
#define DG_TRAINER_SCORE_BULK_H

#include "base/error.h"
#include "translate/translate.h"

#include <stdint.h>

/* Lines in progress at once. A caller that may be stopped checks between slices of this size. */
enum { DG_BULK_SLICE = 512 };

struct dg_bulk_options {
    const char *bundle;
    /* language codes; NULL: the bundle's first pair */
    const char *source_lang, *target_lang;
    /* 0: all cores that this process may use */
    int threads;
    /* 0: the bundle's */
    uint32_t beam;
    /* negative: the bundle's */
    float alpha;
    /* with alpha: cap on the length that the penalty counts, as a multiple of the source's tokens;
     * 0: no cap */
    float penalty_cap;
    /* whether a shortlist is used; 0: as the bundle says */
    enum dg_list_use lists;
};

struct dg_bulk;

/* Open the bundle. longest: most tokens, including a tag and </s>, on a side of any pair to be
 * scored; the model gets positions for as many if it computes them; 0 when not known. The options'
 * strings are borrowed until close. */
int dg_bulk_open(
    const struct dg_bulk_options *o, uint32_t longest, struct dg_bulk **out, struct dg_error *err);
void dg_bulk_close(struct dg_bulk *d); /* NULL is fine */

const struct dg_translator *dg_bulk_translator(const struct dg_bulk *d);

/* Count the tokens of a pair's longer side, plus room for a tag and </s>. */
int dg_bulk_count(
    const struct dg_bulk *d, const struct dg_text_pair *pair, uint32_t *out, struct dg_error *err);

/* Translate the sources of pairs[n], n <= DG_BULK_SLICE, and call `answer` for each, in order. A
 * long line is translated in parts, as the server does. A non-zero return of `answer` ends the call
 * with that code. */
int dg_bulk_translate(struct dg_bulk *d, const struct dg_text_pair *pairs, size_t n,
    int (*answer)(void *arg, size_t i, const struct dg_answers *a, struct dg_error *err), void *arg,
    struct dg_error *err);

/* Log-probability of a target given its source, including </s>. */
struct dg_bulk_score {
    double logprob;
    /* 0: the pair is longer than the model's positions and was left out */
    size_t tokens;
};

/* Score pairs[n], n <= DG_BULK_SLICE, by forced decoding into out[n]. */
int dg_bulk_score(struct dg_bulk *d, const struct dg_text_pair *pairs, size_t n,
    struct dg_bulk_score *out, struct dg_error *err);

#endif
