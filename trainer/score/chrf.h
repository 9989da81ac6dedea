/* Corpus chrF2 as sacreBLEU computes it: character n-grams of order 1 to 6 without white space, no
 * word n-grams, beta 2, effective order. Any thread, one struct per caller. */
#ifndef DG_TRAINER_SCORE_CHRF_H
#define DG_TRAINER_SCORE_CHRF_H

#include "base/buffer.h"
#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

#define DG_CHRF_ORDER 6

struct dg_chrf {
    uint64_t hyp[DG_CHRF_ORDER], ref[DG_CHRF_ORDER], match[DG_CHRF_ORDER];
};

void dg_chrf_add(
    struct dg_chrf *c, const char *hyp, size_t hyp_len, const char *ref, size_t ref_len);
double dg_chrf_score(const struct dg_chrf *c); /* 0 to 100 */
/* "chrF2|nrefs:1|... = 60.12" */
void dg_chrf_print(const struct dg_chrf *c, struct dg_buffer *out);
const char *dg_chrf_signature(void);

#endif
