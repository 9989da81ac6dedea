/* Paired bootstrap resampling (Koehn 2004): is one translation of a test set better than another of
 * the same lines, or is it chance? As sacreBLEU's --paired-bs counts it. One thread at a time. */
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

/* Of one metric. */
struct dg_bootstrap_result {
    /* of each translation: the whole set's, and half the width of 95 % of the samples */
    double score[2], spread[2];
    /* probability of such a difference by chance; below 0.05 is called significant; 1 where nothing
     * parts them */
    double p;
};

/* n lines, 1 at least. The same lines, the same result. */
void dg_bootstrap(const struct dg_bootstrap_line *lines, size_t n, struct dg_bootstrap_result *bleu,
    struct dg_bootstrap_result *chrf);

#endif
