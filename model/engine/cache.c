#include "model/engine/cache.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

size_t dg_cache_block_bytes(const struct dg_config *c)
{
    size_t width = (size_t)c->H * c->Dk + (size_t)c->H * c->Dv;
    return (size_t)c->dec_layers * DG_BLOCK * width * dg_type_bytes(c->kv);
}

static int new_pool(
    struct dg_backend *be, size_t n, enum dg_type type, struct dg_buf **out, struct dg_error *err)
{
    return be->ops->kv_new ? be->ops->kv_new(be, n, type, out, err)
                           : be->ops->buf_new(be, n, out, err);
}

static int open_pools(struct dg_cache *cache, const struct dg_config *c, struct dg_error *err)
{
    const size_t hdk = (size_t)c->H * c->Dk, hdv = (size_t)c->H * c->Dv,
                 slots = (size_t)cache->n_blocks * DG_BLOCK, ld = c->dec_layers * (hdk + hdv);
    struct dg_buf *all = NULL;
    int rc = cache->joined ? new_pool(cache->be, slots * ld, c->kv, &all, err) : 0;
    for (uint32_t l = 0; !rc && l < c->dec_layers; l++) {
        struct dg_kv_pools *p = &cache->pools[l];
        if (cache->joined) {
            p->k = (struct dg_rows){all, l * (hdk + hdv), ld};
            p->v = (struct dg_rows){all, p->k.offset + hdk, ld};
            continue;
        }
        p->k.ld = hdk;
        p->v.ld = hdv;
        if (!(rc = new_pool(cache->be, slots * hdk, c->kv, &p->k.buf, err)))
            rc = new_pool(cache->be, slots * hdv, c->kv, &p->v.buf, err);
    }
    return rc;
}

int dg_cache_open(struct dg_cache *cache, struct dg_backend *be, const struct dg_config *c,
    uint32_t n_blocks, bool joined, struct dg_error *err)
{
    memset(cache, 0, sizeof *cache);
    cache->be = be;
    cache->joined = joined;
    cache->n_layers = c->dec_layers;
    cache->n_blocks = n_blocks;
    cache->n_free = n_blocks;
    cache->bytes = n_blocks * dg_cache_block_bytes(c);
    cache->pools = calloc(c->dec_layers, sizeof *cache->pools);
    cache->free_blocks = malloc((n_blocks ? n_blocks : 1) * sizeof *cache->free_blocks);
    int rc = 0;
    if (!cache->pools || !cache->free_blocks) {
        rc = dg_error_set(err, DG_ENOMEM, "no memory for a cache of %u blocks", n_blocks);
        goto out;
    }
    if ((rc = open_pools(cache, c, err)))
        goto out;
    /* Low blocks first, so that a lightly used server touches little memory. */
    for (uint32_t i = 0; i < n_blocks; i++)
        cache->free_blocks[i] = (int32_t)(n_blocks - 1 - i);
    return 0;
out:
    dg_cache_close(cache);
    return rc;
}

void dg_cache_close(struct dg_cache *cache)
{
    for (uint32_t l = 0; cache->pools && l < cache->n_layers; l++) {
        if (!cache->joined || l == 0)
            cache->be->ops->buf_free(cache->be, cache->pools[l].k.buf);
        if (!cache->joined)
            cache->be->ops->buf_free(cache->be, cache->pools[l].v.buf);
    }
    free(cache->pools);
    free(cache->free_blocks);
    memset(cache, 0, sizeof *cache);
}

int32_t dg_cache_take(struct dg_cache *cache)
{
    assert(cache->n_free > 0);
    return cache->free_blocks[--cache->n_free];
}

void dg_cache_give(struct dg_cache *cache, int32_t block)
{
    assert(cache->n_free < cache->n_blocks);
    cache->free_blocks[cache->n_free++] = block;
}
