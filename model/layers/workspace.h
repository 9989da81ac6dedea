/* The buffers one pass of M rows needs, sized at open; serving's layers share them (the residual
 * stream is updated in place). One per engine or trace. One thread at a time. */
#ifndef DG_MODEL_LAYERS_WORKSPACE_H
#define DG_MODEL_LAYERS_WORKSPACE_H

#include "model/layers/layers.h"

enum { DG_WS_X, DG_WS_QKV, DG_WS_CONTEXT, DG_WS_SUB, DG_WS_HIDDEN, DG_WS_NORMED, DG_WS_COUNT };

struct dg_workspace {
    struct dg_backend *be;
    /* [M,ld] each, ld the widest use of its rows; NULL: the model does not need it */
    struct dg_buf *bufs[DG_WS_COUNT];
    /* [M,D]: the residual stream */
    struct dg_rows x;
    /* [M,H*Dk+H*Dv]: scratch, shares qkv's memory */
    struct dg_rows kv;
    /* shared by all layers (stride 0) */
    struct dg_enc_slots enc;
    struct dg_dec_slots dec;
    size_t bytes;
};

int dg_workspace_open(struct dg_workspace *ws, struct dg_backend *be, const struct dg_config *c,
    size_t M, struct dg_error *err);
void dg_workspace_close(struct dg_workspace *ws); /* a zeroed one is fine */

#endif
