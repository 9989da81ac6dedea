/* Internals of the engine: engine.c (admission, answers), live.c (one sentence), step.c (decode),
 * encode.c (encoder passes), align.c (source positions that rows attend to), candidates.c (logits
 * and their best candidates), pipelined_step.c and pipelined_read.c (decode with the search's state
 * on the device), limits.c. Only model/engine includes this; one thread at a time per engine. */
#ifndef DG_MODEL_ENGINE_INTERNAL_H
#define DG_MODEL_ENGINE_INTERNAL_H

#include "model/engine/align.h"
#include "model/engine/cache.h"
#include "model/engine/encode.h"
#include "model/engine/live.h"
#include "model/engine/states.h"
#include "model/layers/workspace.h"

/* Rows of one encoder pass if several sentences join at once: enough to keep the GEMMs busy, unless
 * the backend asks for more. */
#define DG_ENCODE_ROWS 512u

struct dg_engine {
    const struct dg_model *model;
    struct dg_backend *be;
    struct dg_engine_limits limits;
    struct dg_cache cache;
    struct dg_state_pool states;
    struct dg_workspace ws;
    struct dg_encode encode;
    struct dg_align align;
    /* NULL: the search runs on the host only */
    struct dg_pipelined_step *pipelined;
    /* [max_rows,V] */
    struct dg_rows logits;
    /* k_max: candidates of a row */
    uint32_t max_rows, encode_rows, k_max;
    uint32_t rows_reserved, n_sentences;
    /* linked lists; pending and live in order of admission */
    struct dg_live *pending, *live, *done, *spare;
    /* The arrays of one step, or of one encoder pass. [max(max_rows, encode_rows)] each: */
    int32_t *ids, *pos, *slots;
    struct dg_attn_seg *segs;
    /* [max_rows] each */
    struct dg_attn_seg *cross_segs;
    uint32_t *want;
    int32_t *force;
    /* [max_rows,k_max] each */
    float *top_logprob;
    int32_t *top_ids;
    /* [V] one row's logits on the host; NULL until a sentence needs them */
    float *row;
    /* [DG_MAX_BEAM] for the rows of one sentence; NULL until the first sentence with terms */
    struct dg_needed *needed;
    /* With a shortlist: one bit per target id, all zero between uses; [max_shortlist + 1] ids of
     * one sentence. A sentence with a longer list uses the whole vocabulary. */
    uint64_t *shortlist_bits;
    int32_t *shortlist_ids;
    uint32_t max_shortlist;
    size_t bytes;
};

/* Free the room of a finished sentence and make its answer ready to be polled. */
void dg_engine_retire(struct dg_engine *e, struct dg_live *s);

#endif
