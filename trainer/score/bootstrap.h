/* Paired bootstrap resampling (Koehn 2004): tests whether one translation of a test set is better
 * than another of the same lines, or only by chance. Computed as by sacreBLEU's --paired-bs. One
 * thread at a time. */
#ifndef DG_TRAINER_SCORE_BOOTSTRAP_H
#define DG_TRAINER_SCORE_BOOTSTRAP_H

#include "trainer/score/bleu.h"
#include "trainer/score/chrf.h"

enum { DG_BOOTSTRAP_SAMPLES = 1000 };

/* Two translations of a line. */
struct dg_bootstrap_line {
    struct dg_bleu bleu[2];
    struct dg_chrf chrf[2];
};

/* The result for one metric. */
struct dg_bootstrap_result {
    /* of each translation: score on the whole set, and half the width of the interval that holds 95
     * % of the samples */
    double score[2], spread[2];
    /* probability that chance alone gives such a difference; below 0.05 is called significant; 1 if
     * the scores are equal */
    double p;
};

/* Compare on n >= 1 lines. The same lines always give the same result. */
void dg_bootstrap(const struct dg_bootstrap_line *lines, size_t n, struct dg_bootstrap_result *bleu,
    struct dg_bootstrap_result *chrf);

#endif
