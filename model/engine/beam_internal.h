/* Common parts of the plain search and the search with terms. Only beam.c and constrained.c include
 * this; one thread at a time per beam. */
#ifndef DG_MODEL_ENGINE_BEAM_INTERNAL_H
#define DG_MODEL_ENGINE_BEAM_INTERNAL_H

#include "model/engine/beam.h"

/* The piece that continues a row, its log-probability, and the row's source position. */
struct dg_beam_piece {
    int32_t id, source;
    float logprob;
};

/* Put from[n_from] and its last piece into the finished set, which keeps the best n_best (ties: the
 * earlier one stays). */
void dg_beam_finish(struct dg_beam *b, const struct dg_beam_row *from, uint32_t n_from,
    const struct dg_beam_piece *last, double total, bool length_limited);
/* Write live row r continued by the piece to row `to` of b->next. */
void dg_beam_extend(
    struct dg_beam *b, uint32_t to, uint32_t r, const struct dg_beam_piece *piece, double total);
/* The row whose next candidate, at[r], is the best of all, and its total; UINT32_MAX: no possible
 * candidate is left. */
uint32_t dg_beam_best_row(const struct dg_beam *b, const struct dg_candidates *offer,
    const uint32_t at[DG_MAX_BEAM], double *best_total);
/* Candidate `at` of row r, as a piece. */
struct dg_beam_piece dg_beam_offered(const struct dg_candidates *offer, uint32_t r, uint32_t at);
/* True if the piece would leave a character of row r unfinished, or is a byte that begins none. */
bool dg_beam_makes_no_character(const struct dg_beam *b, uint32_t r, int32_t id);
/* True if the search passes over this candidate of row r. */
bool dg_beam_passes_over(const struct dg_beam *b, uint32_t r, int32_t id);

#endif
