/* Counts n-grams that two sentences share, and finds white space as Python's str.split does, so
 * that BLEU and chrF agree with sacreBLEU. Any thread. */
#ifndef DG_TRAINER_SCORE_NGRAM_H
#define DG_TRAINER_SCORE_NGRAM_H

#include <stddef.h>
#include <stdint.h>

struct dg_ngram {
    /* borrowed */
    const char *text;
    size_t len;
};

/* Sum over distinct n-grams of the smaller of the two counts. Sorts both lists. */
uint64_t dg_ngram_match(struct dg_ngram *a, size_t n_a, struct dg_ngram *b, size_t n_b);

/* Bytes of the white space character at the start of s[n]; 0 if there is none. */
size_t dg_ngram_space(const char *s, size_t n);

#endif
