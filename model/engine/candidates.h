/* Logits and best candidates of a step's rows: from the whole vocabulary, or from each sentence's
 * shortlist. For a sentence with a list, a product with its own rows of the output matrix gives the
 * same bits as the list's columns of the whole product; the cheaper one for this batch is used. One
 * thread at a time per engine. */
#ifndef DG_MODEL_ENGINE_CANDIDATES_H
#define DG_MODEL_ENGINE_CANDIDATES_H

#include "model/engine/internal.h"

/* Write the candidates of every row of the step to e->top_logprob and e->top_ids; y: the decoder's
 * output. */
void dg_candidates_find(struct dg_engine *e, struct dg_rows y);

/* True if a matrix of its own pays off for a new sentence with a list of n ids and this many rows
 * beside the engine's rows, assuming that all sentences with such a matrix are like it, and all
 * these matrices together keep within their bound. */
bool dg_candidates_pay_own_rows(const struct dg_engine *e, uint32_t n, uint32_t rows);
/* That bound, in rows of the output matrix. */
size_t dg_candidates_most_own_rows(const struct dg_engine *e);

#endif
