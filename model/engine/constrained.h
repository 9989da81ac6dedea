/* A step of a search whose answer must contain terms (terms.h). Candidates are those of the plain
 * search, each row's own best, and each piece that a row needs next. Hypotheses with equally many
 * of the terms' pieces form a bank; the banks share the beam: the best of each bank live on, in
 * turn, where a hypothesis ranks lower by what dg_terms_against has against it. </s> is allowed
 * once all terms are there; when only as many positions are left as pieces of the terms are
 * missing, only these pieces are allowed. One thread at a time per beam. */
#ifndef DG_MODEL_ENGINE_CONSTRAINED_H
#define DG_MODEL_ENGINE_CONSTRAINED_H

#include "model/engine/beam.h"

/* True if the next step chooses by terms; not while a prefix is forced. */
bool dg_constrained_next(const struct dg_beam *b);
/* Write the pieces that live row r needs next to ids[DG_MAX_TERM_FORMS]; returns how many. */
uint32_t dg_constrained_wants(const struct dg_beam *b, uint32_t r, int32_t *ids);
/* Fill b->next and b->parents, best first; hypotheses that end enter the finished set. Returns how
 * many live on. */
uint32_t dg_constrained_select(struct dg_beam *b, const struct dg_candidates *offer);

#endif
