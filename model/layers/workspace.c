#include "model/layers/workspace.h"

#include <string.h>

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

int dg_workspace_open(struct dg_workspace *ws, struct dg_backend *be, const struct dg_config *c,
    size_t M, struct dg_error *err)
{
    size_t hdk = (size_t)c->H * c->Dk, hdv = (size_t)c->H * c->Dv;
    const size_t width[DG_WS_COUNT] = {[DG_WS_X] = c->D,
        [DG_WS_QKV] = most(2 * hdk + hdv, c->decoder == DG_DECODER_SSRU ? 2 * (size_t)c->D : 0),
        [DG_WS_CONTEXT] = hdv,
        [DG_WS_SUB] = c->D,
        [DG_WS_HIDDEN] = most(c->F, dg_config_dec_F(c)),
        [DG_WS_NORMED] = c->pre_norm ? c->D : 0};
    struct dg_rows rows[DG_WS_COUNT] = {0};

    memset(ws, 0, sizeof *ws);
    ws->be = be;
    for (int i = 0; i < DG_WS_COUNT; i++) {
        /* On a CPU, rows that are whole pages apart would share a few lines of the first-level
         * cache, which makes the product that writes eight of them at a time a twentieth slower
         * (base's feed-forward, Zen 4). */
        if (!width[i]) /* a post-norm model's norms go to the residual stream */
            continue;
        const bool apart = be->ops->on_host && width[i] % 1024 == 0;
        const size_t ld = apart ? width[i] + 16 : width[i];
        int rc = be->ops->buf_new(be, M * ld, &ws->bufs[i], err);
        if (rc) {
            dg_workspace_close(ws);
            return rc;
        }
        ws->bytes += M * ld * sizeof(float);
        rows[i] = (struct dg_rows){ws->bufs[i], 0, ld};
    }
    ws->x = rows[DG_WS_X];
    ws->kv = (struct dg_rows){ws->bufs[DG_WS_QKV], 0, hdk + hdv};
    struct dg_norm_slots norm = {.y = ws->x};
    if (c->pre_norm)
        norm = (struct dg_norm_slots){.y = rows[DG_WS_NORMED], .stream = ws->x};
    ws->enc.begin = ws->dec.begin = norm;
    ws->enc.self = (struct dg_self_slots){.qkv = rows[DG_WS_QKV],
        .context = rows[DG_WS_CONTEXT],
        .sub = rows[DG_WS_SUB],
        .norm = norm};
    ws->enc.ffn =
        (struct dg_ffn_slots){.hidden = rows[DG_WS_HIDDEN], .sub = rows[DG_WS_SUB], .norm = norm};
    ws->dec.self = ws->enc.self;
    ws->dec.ffn = ws->enc.ffn;
    ws->dec.cross = (struct dg_cross_slots){.q = {ws->bufs[DG_WS_QKV], 0, hdk},
        .context = rows[DG_WS_CONTEXT],
        .sub = rows[DG_WS_SUB],
        .norm = norm};
    return 0;
}

void dg_workspace_close(struct dg_workspace *ws)
{
    for (int i = 0; i < DG_WS_COUNT && ws->be; i++)
        ws->be->ops->buf_free(ws->be, ws->bufs[i]);
    memset(ws, 0, sizeof *ws);
}
