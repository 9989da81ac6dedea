#include "model/engine/limits.h"
#include "model/engine/cache.h"
#include "model/engine/internal.h"
#include "model/model_internal.h"

static const struct dg_engine_limits defaults = {.max_source = 512, .max_target = 1024};
/* STEP_ROWS: default for a device that does not say how many rows keep it busy. SENTENCES: the
 * smallest default. */
enum { STEP_ROWS = 128, SENTENCES = 64 };

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

void dg_engine_limits_resolve(const struct dg_model *m, const struct dg_ops *ops,
    const struct dg_engine_limits *in, struct dg_engine_limits *out)
{
    const struct dg_config *c = &m->config;
    *out = in ? *in : defaults;
    if (!out->max_rows)
        out->max_rows = ops->step_rows ? ops->step_rows : STEP_ROWS;
    if (!out->max_sentences)
        out->max_sentences = out->max_rows / 2 > SENTENCES ? out->max_rows / 2 : SENTENCES;
    if (!out->max_source)
        out->max_source = defaults.max_source;
    if (!out->max_target)
        out->max_target = defaults.max_target;
    out->max_source = least(out->max_source, m->positions.n);
    out->max_target = least(out->max_target, m->positions.n);
    /* A sentence that names no beam uses the model's, so max_beam is never below that. */
    out->max_beam = least(out->max_beam > c->beam ? out->max_beam : c->beam, out->max_rows);
    out->max_search = least(
        out->max_search ? out->max_search : out->max_source + c->extra_length, out->max_target);
}

uint32_t dg_engine_limits_search_blocks(const struct dg_config *c, uint32_t beam, uint32_t max_len)
{
    return c->decoder == DG_DECODER_SSRU ? 0 : beam * dg_cache_blocks(max_len);
}

uint32_t dg_engine_limits_cache_blocks(const struct dg_config *c, const struct dg_engine_limits *l)
{
    if (l->cache_bytes)
        return (uint32_t)(l->cache_bytes / dg_cache_block_bytes(c));
    const uint32_t search = dg_engine_limits_search_blocks(c, l->max_beam, l->max_search);
    const uint32_t scored = dg_engine_limits_search_blocks(c, 1, l->max_target);
    /* 5 blocks hold 80 positions, 4 blocks a memory of 64. */
    const uint32_t usual =
        dg_engine_limits_search_blocks(c, l->max_rows, 5 * DG_BLOCK) + l->max_sentences * 4;
    const uint32_t one = dg_cache_blocks(l->max_source) + (search > scored ? search : scored);
    return usual > one ? usual : one;
}

uint32_t dg_engine_limits_encode_rows(const struct dg_ops *ops, const struct dg_engine_limits *l)
{
    const size_t all = (size_t)l->max_sentences * l->max_source;
    uint32_t n = ops->busy_rows < all ? ops->busy_rows : (uint32_t)all;
    n = n > DG_ENCODE_ROWS ? n : DG_ENCODE_ROWS;
    return n > l->max_source ? n : l->max_source;
}
