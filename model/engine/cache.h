/* Keys and values of all live sentences: a pool of blocks of 16 positions, sized at open (contract
 * 2). A slot (block * 16 + position in block) is one row of every decoder layer's K [slots,H*Dk]
 * and V [slots,H*Dv]. Self-attention's K/V of each row and cross-attention's K/V of each sentence's
 * memory (once per sentence, never per beam) come from the same pool: per row and position 4 *
 * dec_layers * (H*Dk + H*Dv) bytes, 24,576 for the base model; half of that where config.kv is
 * DG_F16. Nothing is moved when beams are reordered: rows find their history through lists of
 * slots. One thread at a time. */
#ifndef DG_MODEL_ENGINE_CACHE_H
#define DG_MODEL_ENGINE_CACHE_H

#include "base/error.h"
#include "model/config.h"
#include "model/layers/layers.h"

#define DG_BLOCK 16u

struct dg_cache {
    struct dg_backend *be;
    /* [dec_layers] */
    struct dg_kv_pools *pools;
    bool joined;
    uint32_t n_layers, n_blocks;
    /* [n_blocks] stack */
    int32_t *free_blocks;
    uint32_t n_free;
    /* promised to admitted sentences, taken or not */
    uint32_t n_reserved;
    size_t bytes;
};

/* Blocks that n positions need. */
static inline uint32_t dg_cache_blocks(uint32_t n)
{
    return (n + DG_BLOCK - 1) / DG_BLOCK;
}

/* Bytes of one block over all layers. */
size_t dg_cache_block_bytes(const struct dg_config *c);

/* joined: all pools are columns of one buffer, as dg_cross_cache_fill may want them. */
int dg_cache_open(struct dg_cache *cache, struct dg_backend *be, const struct dg_config *c,
    uint32_t n_blocks, bool joined, struct dg_error *err);
void dg_cache_close(struct dg_cache *cache); /* a zeroed cache is fine */

/* A free block's id; the caller has reserved it, so there always is one. */
int32_t dg_cache_take(struct dg_cache *cache);
void dg_cache_give(struct dg_cache *cache, int32_t block);

#endif
