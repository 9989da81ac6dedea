/* States of the hypotheses of an SSRU decoder: two rows of D floats a decoder layer for each
 * hypothesis, one for the even positions and one for the odd, so that a step reads its parent's
 * state while another hypothesis writes its own and nothing is copied when beams are reordered. The
 * memory of a hypothesis does not grow with its length. One thread at a time. */
#ifndef DG_MODEL_ENGINE_STATES_H
#define DG_MODEL_ENGINE_STATES_H

#include "base/error.h"
#include "model/layers/layers.h"

struct dg_state_pool {
    struct dg_backend *be;
    /* [n_layers] of [2 * hypotheses, D]; NULL: no such decoder */
    struct dg_rows *pools;
    uint32_t n_layers;
    /* [hypotheses] stack */
    int32_t *free_places;
    uint32_t n_free;
    /* [hypotheses] of the step's rows */
    int32_t *from, *to;
    size_t bytes;
};

/* Room for this many hypotheses; a decoder with self-attention needs none. */
int dg_state_pool_open(struct dg_state_pool *pool, struct dg_backend *be, const struct dg_config *c,
    uint32_t hypotheses, struct dg_error *err);
void dg_state_pool_close(struct dg_state_pool *pool); /* a zeroed one is fine */

/* Take n places; the caller ensures that they are free. Without pools: nothing. */
void dg_state_pool_take(struct dg_state_pool *pool, int32_t *places, uint32_t n);
void dg_state_pool_give(struct dg_state_pool *pool, const int32_t *places, uint32_t n);

/* Row m of the next step is the hypothesis at `place`, whose parent (-1: none) was at `parent`;
 * t pieces are before it. */
void dg_state_pool_step(
    struct dg_state_pool *pool, uint32_t m, int32_t place, int32_t parent, uint32_t t);

#endif
