/* Reading answers back: the opposite direction of the same bundle says how probable the sentence is
 * as a translation of each answer, the forced target of a round of its own. An answer that left
 * something out, or says something else, makes the sentence improbable, however probable it is
 * itself (the noisy channel of Yee et al., 2019). Private to translate/. One thread at a time per
 * job. */
#ifndef DG_TRANSLATE_SEARCH_READ_BACK_H
#define DG_TRANSLATE_SEARCH_READ_BACK_H

#include "translate/job/job.h"

/* Begin to read hyps[n] (sorted by length from then on); p->reading stays NULL if there is nothing
 * to choose, or none of them can be a source. */
int dg_read_back_begin(struct dg_job *j, struct dg_part *p, struct dg_part_hyp *hyps, uint32_t n,
    struct dg_error *err);
/* The current answer's round. */
void dg_read_back_sentence(
    const struct dg_job *j, const struct dg_part *p, struct dg_sentence *out);
/* Note how probable the sentence was, and go on to the next answer. False: all were read. */
bool dg_read_back_take(const struct dg_job *j, struct dg_part *p, const struct dg_result *r);

#endif
