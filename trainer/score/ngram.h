/* Counts n-grams that two sentences share, and finds white space as Python's str.split does, so
 * that BLEU and chrF agree with sacreBLEU. Any thread. */
#ifndef DG_TRAINER_SCORE_NGRAM_H
#define DG_TRAINER_SCORE_NGRAM_H

#include <stddef.h>
#include <stdint.h>

/* A text cut into tokens or characters, with `gap` bytes between them. */
struct dg_ngram_units {
    char *text;
    /* [n + 1] offset of each unit in text, and of one more after the last */
    size_t *begin;
    size_t n, gap;
};
void dg_ngram_units_free(struct dg_ngram_units *u);

/* N-grams of one order: in the hypothesis, in the reference, and in both (the sum over distinct
 * ones of the smaller of the two counts). */
struct dg_ngram_counts {
    uint64_t hyp, ref, match;
};
/* Count the n-grams of orders 1 to `orders` into out[orders]. */
void dg_ngram_count(const struct dg_ngram_units *hyp, const struct dg_ngram_units *ref,
    size_t orders, struct dg_ngram_counts *out);

/* Bytes of the white space character at the start of s[n]; 0 if there is none. */
size_t dg_ngram_space(const char *s, size_t n);

#endif
