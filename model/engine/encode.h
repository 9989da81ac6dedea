/* Encoder passes: they encode the sources of new sentences and cache the cross-attention keys and
 * values. On a device with a side stream (dg_ops.side_begin), a pass runs beside steps, and its
 * sentences become live when it is done, so that no other step waits for it; if no other sentence
 * advances, they become live at once. On other devices they are live from the next step on. Only
 * model/engine includes this; one thread at a time, the engine's. */
#ifndef DG_MODEL_ENGINE_ENCODE_H
#define DG_MODEL_ENGINE_ENCODE_H

#include "model/layers/workspace.h"

struct dg_engine;
struct dg_live;

struct dg_encode {
    /* the passes' own buffers; without a side stream they share the step's */
    struct dg_workspace own;
    const struct dg_workspace *ws;
    /* [encode_rows,dg_memory_kv_width()] keys and values of all layers, if they are one product;
     * else NULL */
    struct dg_buf *kv_buf;
    struct dg_rows kv;
    /* sentences in passes under way, in order of admission */
    struct dg_live *sentences;
    /* number of the last pass; steps since a sentence started to wait for one */
    uint32_t passes, steps;
    bool beside;
    size_t bytes;
};

/* Open e->encode; call after the engine's workspace is open. */
int dg_encode_open(struct dg_engine *e, struct dg_error *err);
/* Order later device work after all passes and close; call before their memory is freed. */
void dg_encode_close(struct dg_engine *e);
/* Run one row through the encoder, so that a device chooses its products' algorithms before the
 * first request. */
void dg_encode_warm(struct dg_engine *e);
/* Encode all sentences in `pending`; those whose pass is done become live. */
void dg_encode_pending(struct dg_engine *e);
/* Call before a sentence's cache blocks are reused: the device then finishes the sentence's pass
 * before later work. */
void dg_encode_leave(struct dg_engine *e, struct dg_live *s);

#endif
