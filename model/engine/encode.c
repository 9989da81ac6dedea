#include "model/engine/encode.h"
#include "model/engine/internal.h"
#include "model/model_internal.h"

/* Most steps of other sentences that a sentence sits out while it waits for its pass: by then the
 * pass is long done, or the device hangs, which waiting for it reveals. */
enum { MOST_STEPS = 64 };

int dg_encode_open(struct dg_engine *e, struct dg_error *err)
{
    struct dg_encode *n = &e->encode;
    const struct dg_model *m = e->model;
    const size_t ld = dg_memory_kv_width(&m->config, &m->params);
    n->beside = e->be->ops->side_begin != NULL;
    n->ws = n->beside ? &n->own : &e->ws;
    int rc = n->beside ? dg_workspace_open(&n->own, e->be, &m->config, e->encode_rows, err) : 0;
    if (!rc && m->params.memory_kv_w) {
        rc = e->be->ops->buf_new(e->be, e->encode_rows * ld, &n->kv_buf, err);
        n->bytes = e->encode_rows * ld * sizeof(float);
    }
    n->kv = n->kv_buf ? (struct dg_rows){n->kv_buf, 0, ld} : n->ws->kv;
    n->bytes += n->own.bytes;
    return rc;
}

void dg_encode_close(struct dg_engine *e)
{
    struct dg_encode *n = &e->encode;
    if (n->passes)
        e->be->ops->side_join(e->be, n->passes);
    e->be->ops->buf_free(e->be, n->kv_buf);
    dg_workspace_close(&n->own);
}

/* Pack the sources from `first` on that fit into one encoder pass as rows; *end is the first
 * sentence that does not fit. Returns the number of rows. */
static uint32_t pack_sources(
    struct dg_engine *e, struct dg_live *first, struct dg_live **end, size_t *n_segs)
{
    uint32_t R = 0;
    size_t n = 0;
    struct dg_live *s = first;
    for (; s && R + s->n_source <= e->encode_rows; s = s->next) {
        e->segs[n++] =
            (struct dg_attn_seg){.q0 = R, .n_q = s->n_source, .n_k = s->n_source, .k0 = R};
        int32_t block = 0;
        for (uint32_t i = 0; i < s->n_source; i++) {
            e->ids[R + i] = s->source[i];
            e->pos[R + i] = (int32_t)i;
            if (i % DG_BLOCK == 0) {
                block = dg_cache_take(&e->cache);
                s->blocks[s->n_blocks++] = block;
            }
            s->cross_slots[i] = e->slots[R + i] =
                block * (int32_t)DG_BLOCK + (int32_t)(i % DG_BLOCK);
        }
        R += s->n_source;
    }
    *end = s;
    *n_segs = n;
    return R;
}

/* Run R packed rows through the encoder and cache the cross-attention keys and values of every
 * decoder layer. */
static void run(struct dg_engine *e, uint32_t R, size_t n_segs)
{
    const struct dg_model *m = e->model;
    const struct dg_workspace *ws = e->encode.ws;
    struct dg_pass p = {.be = e->be, .config = &m->config, .M = R};
    struct dg_segs segs = {.segs = e->segs, .n = n_segs};
    if (e->encode.beside)
        e->be->ops->side_begin(e->be);
    dg_embedding_forward(&p, 0, &m->params, &m->positions, e->ids, e->pos, ws->x);
    struct dg_rows memory = dg_encoder_forward(&p, &m->params, &segs, ws->x, &ws->enc, 0);
    dg_cross_cache_fill(&p, &m->params, memory, e->slots, e->cache.pools, e->encode.kv);
    if (e->encode.beside)
        e->encode.passes = e->be->ops->side_end(e->be);
}

void dg_encode_warm(struct dg_engine *e)
{
    e->segs[0] = (struct dg_attn_seg){.n_q = 1, .n_k = 1};
    e->ids[0] = e->pos[0] = 0;
    e->slots[0] = -1; /* its keys and values are not stored */
    run(e, 1, 1);
    if (e->encode.beside)
        e->be->ops->side_join(e->be, e->encode.passes);
}

/* True if any live sentence advances meanwhile. */
static bool others_advance(const struct dg_engine *e)
{
    const struct dg_live *s = e->live;
    while (s && s->paused)
        s = s->next;
    return s;
}

/* Make the sentences of finished passes live. */
static void join(struct dg_engine *e)
{
    struct dg_encode *n = &e->encode;
    struct dg_live **end = dg_live_tail(&e->live);
    n->steps = n->sentences ? n->steps + 1 : 0;
    while (n->sentences) {
        const uint32_t pass = n->sentences->pass;
        if (others_advance(e) && n->steps < MOST_STEPS && !e->be->ops->side_done(e->be, pass))
            return;
        e->be->ops->side_join(e->be, pass);
        for (struct dg_live *s; (s = n->sentences) && s->pass == pass;) {
            n->sentences = s->next;
            s->next = NULL;
            s->pass = 0;
            *end = s;
            end = &s->next;
        }
        n->steps = 0;
    }
}

void dg_encode_pending(struct dg_engine *e)
{
    for (struct dg_live *s = e->pending, *end; s; s = end) {
        size_t n_segs;
        uint32_t R = pack_sources(e, s, &end, &n_segs);
        run(e, R, n_segs);
        for (; s != end; s = s->next)
            s->pass = e->encode.passes;
    }
    *dg_live_tail(e->encode.beside ? &e->encode.sentences : &e->live) = e->pending;
    e->pending = NULL;
    if (e->encode.beside)
        join(e);
}

void dg_encode_leave(struct dg_engine *e, struct dg_live *s)
{
    if (s->pass)
        e->be->ops->side_join(e->be, s->pass);
    s->pass = 0;
}
