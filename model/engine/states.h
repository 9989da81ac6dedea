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
    /* [n_layers] of [2 * hypotheses, D]; NULL: the decoder is no SSRU */
    struct dg_rows *pools;
    uint32_t n_layers;
    /* [hypotheses] stack */
    int32_t *free_places;
    uint32_t n_free;
    /* [hypotheses] for each row of the step, the state it reads (-1: none) and the one it writes */
    int32_t *from, *to;
    size_t bytes;
};

/* Open a pool for this many hypotheses; it stays empty for a decoder with self-attention. */
int dg_state_pool_open(struct dg_state_pool *pool, struct dg_backend *be, const struct dg_config *c,
    uint32_t hypotheses, struct dg_error *err);
void dg_state_pool_close(struct dg_state_pool *pool); /* a zeroed one is fine */

/* Take n places; the caller ensures that enough are free. Without pools: nothing. */
void dg_state_pool_take(struct dg_state_pool *pool, int32_t *places, uint32_t n);
void dg_state_pool_give(struct dg_state_pool *pool, const int32_t *places, uint32_t n);

/* Set row m of the next step to the hypothesis at `place`, after t pieces; its parent was at
 * `parent` (-1: none). */
void dg_state_pool_step(
    struct dg_state_pool *pool, uint32_t m, int32_t place, int32_t parent, uint32_t t);

#endif
