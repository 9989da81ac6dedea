/* Ranks a sentence's answers by the search and by the way back. Private to translate/. One thread
 * at a time per job. */
#ifndef DG_TRANSLATE_ACCEPT_RERANK_H
#define DG_TRANSLATE_ACCEPT_RERANK_H

#include "translate/job/job.h"

/* Sort hyps[n], which were read back (search/read_back.h), best first. If an answer has no loop and
 * the sentence's numbers, the best such answer is the first. */
int dg_rerank(struct dg_job *j, const struct dg_part *p, struct dg_part_hyp *hyps, uint32_t n,
    struct dg_error *err);

#endif
