/* Logits and best candidates of a step's rows: from the whole vocabulary, or from each sentence's
 * shortlist. Of a sentence with a list, a product with its own rows of the output matrix and the
 * whole product of which only the list's columns count give the same bits; what is cheaper in this
 * company is taken. One thread at a time per engine. */
#ifndef DG_MODEL_ENGINE_CANDIDATES_H
#define DG_MODEL_ENGINE_CANDIDATES_H

#include "model/engine/internal.h"

/* Candidates of every row of the step into e->top_logprob and e->top_ids; y: what the decoder says
 * of them. */
void dg_candidates_find(struct dg_engine *e, struct dg_rows y);

/* Will a matrix of its own pay for a sentence with a list of n and so many rows beside those that
 * the engine has, if all with such a matrix are like it? */
bool dg_candidates_pay_own_rows(const struct dg_engine *e, uint32_t n, uint32_t rows);

#endif
