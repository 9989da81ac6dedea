#include "model/engine/states.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int dg_state_pool_open(struct dg_state_pool *pool, struct dg_backend *be, const struct dg_config *c,
    uint32_t hypotheses, struct dg_error *err)
{
    memset(pool, 0, sizeof *pool);
    if (c->decoder != DG_DECODER_SSRU)
        return 0;
    pool->be = be;
    pool->n_layers = c->dec_layers;
    pool->n_free = hypotheses;
    pool->pools = calloc(c->dec_layers, sizeof *pool->pools);
    pool->free_places = malloc(hypotheses * sizeof *pool->free_places);
    pool->from = malloc(hypotheses * sizeof *pool->from);
    pool->to = malloc(hypotheses * sizeof *pool->to);
    int rc = 0;
    if (!pool->pools || !pool->free_places || !pool->from || !pool->to)
        rc = dg_error_set(err, DG_ENOMEM, "no memory for the states of %u hypotheses", hypotheses);
    for (uint32_t l = 0; l < c->dec_layers && !rc; l++) {
        const size_t n = 2 * (size_t)hypotheses * c->D;
        pool->pools[l].ld = c->D;
        rc = be->ops->buf_new_wide(be, n, &pool->pools[l].buf, err);
        pool->bytes += n * sizeof(float);
    }
    for (uint32_t i = 0; i < hypotheses && !rc; i++)
        pool->free_places[i] = (int32_t)(hypotheses - 1 - i);
    if (rc)
        dg_state_pool_close(pool);
    return rc;
}

void dg_state_pool_close(struct dg_state_pool *pool)
{
    for (uint32_t l = 0; pool->pools && l < pool->n_layers; l++)
        pool->be->ops->buf_free(pool->be, pool->pools[l].buf);
    free(pool->pools);
    free(pool->free_places);
    free(pool->from);
    free(pool->to);
    memset(pool, 0, sizeof *pool);
}

void dg_state_pool_take(struct dg_state_pool *pool, int32_t *places, uint32_t n)
{
    if (!pool->pools)
        return;
    assert(n <= pool->n_free);
    for (uint32_t i = 0; i < n; i++)
        places[i] = pool->free_places[--pool->n_free];
}

void dg_state_pool_give(struct dg_state_pool *pool, const int32_t *places, uint32_t n)
{
    for (uint32_t i = 0; pool->pools && i < n; i++)
        pool->free_places[pool->n_free++] = places[i];
}

void dg_state_pool_step(
    struct dg_state_pool *pool, uint32_t m, int32_t place, int32_t parent, uint32_t t)
{
    pool->from[m] = parent < 0 ? -1 : 2 * parent + (int32_t)((t - 1) % 2);
    pool->to[m] = 2 * place + (int32_t)(t % 2);
}
