/* A step of a search whose answer must contain terms (terms.h): candidates are those of the plain
 * search, each row's own best, and each piece that a row needs next; of each bank, the hypotheses
 * with equally many of the terms' pieces, the best in turn live on, so that the beam is shared by
 * the banks. </s> may come where all terms are there; where the positions left are as many as the
 * terms' missing pieces, only these may come. One thread at a time per beam. */
#ifndef DG_MODEL_ENGINE_CONSTRAINED_H
#define DG_MODEL_ENGINE_CONSTRAINED_H

#include "model/engine/beam.h"

/* Does the step to come choose by terms? Not while a prefix is forced. */
bool dg_constrained_next(const struct dg_beam *b);
/* Pieces that live row r needs next: into ids[DG_MAX_TERM_FORMS]. */
uint32_t dg_constrained_wants(const struct dg_beam *b, uint32_t r, int32_t *ids);
/* Fill b->next and b->parents, best first; what ended is in the finished set. Returns how many live
 * on. */
uint32_t dg_constrained_select(struct dg_beam *b, const struct dg_candidates *offer);

#endif
