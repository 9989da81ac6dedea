/* A second look at answers whose numbers are not the sentence's. A second search returns as many
 * answers as its beam is wide; the best one with the right numbers is taken, else the first answer
 * stays and is flagged. Private to translate/. One thread at a time per job. */
#ifndef DG_TRANSLATE_ACCEPT_SECOND_LOOK_H
#define DG_TRANSLATE_ACCEPT_SECOND_LOOK_H

#include "translate/job/job.h"

/* Write h as p's only answer, and set *faulty if its numbers are wrong or it is empty. */
int dg_look_finds_fault(struct dg_job *j, const struct dg_part *p, struct dg_part_hyp *h,
    bool *faulty, struct dg_error *err);
/* The first of hyps[n] that has no loop and no such fault; NULL: there is none. */
int dg_look_choose(struct dg_job *j, const struct dg_part *p, struct dg_part_hyp *hyps, uint32_t n,
    struct dg_part_hyp **best, struct dg_error *err);

#endif
