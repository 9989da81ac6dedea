/* Encoder passes: the sources of sentences that joined, and cross-attention's keys and values of
 * them. Where the device has a side stream (dg_ops.side_begin), a pass runs beside steps, and its
 * sentences live when it is done, so that no step of others waits for it; at once when nobody else
 * advances. Elsewhere they live from the next step on. Only model/engine includes this; one thread
 * at a time, the engine's. */
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
    /* the last pass's number, and steps since somebody began to wait for one */
    uint32_t passes, steps;
    bool beside;
    size_t bytes;
};

/* After the engine's workspace was opened. */
int dg_encode_open(struct dg_engine *e, struct dg_error *err);
/* What the device is asked from now on follows all passes: before memory is given away. */
void dg_encode_close(struct dg_engine *e);
/* One row through the encoder: a device chooses its products' algorithms before the first request.
 */
void dg_encode_warm(struct dg_engine *e);
/* Everybody in `pending` is encoded; whose pass is done lives then. */
void dg_encode_pending(struct dg_engine *e);
/* Call before a sentence's cache blocks are reused: the device then finishes the sentence's pass
 * before it does what is asked later. */
void dg_encode_leave(struct dg_engine *e, struct dg_live *s);

#endif
