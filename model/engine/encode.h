/* Encoder passes: the sources of sentences that joined, and cross-attention's keys and values of
 * them. With a side stream of the device (dg_ops.side_begin), a pass runs beside steps, and its
 * sentences become live when it is done, so that no other step waits for it; at once if no other
 * sentence advances. Elsewhere they live from the next step on. Only model/engine includes this;
 * one thread at a time, the engine's. */
#ifndef DG_MODEL_ENGINE_ENCODE_H
#define DG_MODEL_ENGINE_ENCODE_H

#include "model/layers/workspace.h"

struct dg_engine;
struct dg_live;

struct dg_encode {
    /* the passes' own buffers; elsewhere they share the step's */
    struct dg_workspace own;
    const struct dg_workspace *ws;
    /* [rows,dg_memory_kv_width()] all layers' keys and values; else NULL */
    struct dg_buf *kv_buf;
    struct dg_rows kv;
    /* sentences in passes under way, in order of admission */
    struct dg_live *sentences;
    /* number of the last pass, and steps since a sentence started to wait for one */
    uint32_t passes, steps;
    bool beside;
    size_t bytes;
};

/* After the engine's workspace was opened. */
int dg_encode_open(struct dg_engine *e, struct dg_error *err);
/* Later work of the device follows all passes; call it before memory is given away. */
void dg_encode_close(struct dg_engine *e);
/* One row through the encoder: a device chooses its products' algorithms before the first request.
 */
void dg_encode_warm(struct dg_engine *e);
/* Everybody in `pending` is encoded; whose pass is done lives then. */
void dg_encode_pending(struct dg_engine *e);
/* Call before a sentence's cache blocks are reused: the device then finishes the sentence's pass
 * before later work. */
void dg_encode_leave(struct dg_engine *e, struct dg_live *s);

#endif
