/* The engine: many sentences translated side by side, driven step by step (contract 2). admit ->
 * step, step, ... -> poll. Sentences are at different positions in one step; each answer is the
 * same, bit for bit, as alone. One thread at a time per engine; the model is shared, const after
 * open. */
#ifndef DG_MODEL_ENGINE_ENGINE_H
#define DG_MODEL_ENGINE_ENGINE_H

#include "base/error.h"
#include "kernels/backend.h"
#include "model/engine/beam.h"
#include "model/engine/choose.h"
#include "model/model.h"

struct dg_engine;

struct dg_engine_limits {
    /* live hypotheses in one step; 0 = what keeps the device busy (dg_ops.step_rows), or 128 */
    uint32_t max_rows;
    /* 0 = half as many as max_rows, at least 64 */
    uint32_t max_sentences;
    /* pieces with </s> in one sentence; 0 = 512 */
    uint32_t max_source;
    /* positions with </s>; 0 = 1024 */
    uint32_t max_target;
    /* widest search sure of room once alone; at least the model's beam */
    uint32_t max_beam;
    /* most positions of such a one; 0 = max_source and the model's output limit */
    uint32_t max_search;
    /* keys and values; 0 = room for max_rows at about 80 positions, or for that search */
    size_t cache_bytes;
};

struct dg_sentence {
    /* [n_source] ids for the encoder, including </s> if the model uses it; copied */
    const int32_t *source;
    uint32_t n_source;
    /* beam, alpha, penalty, n_best, max_len (0: n_source without </s> + the model's limit) */
    struct dg_search search;
    /* [n_prefix] target ids to begin with; copied */
    const int32_t *prefix;
    uint32_t n_prefix;
    /* number of these that start the decoder and are not part of the answer, its probability, its
     * length or max_len; <= n_prefix */
    uint32_t n_lead;
    /* allowed pieces after the prefix; NULL: anything. Borrowed until the answer was polled, or the
     * sentence cancelled */
    const struct dg_spelling *spelling;
    /* terms that the answer must contain; a wider beam helps, since the rows of a search are
     * shared; NULL: nothing. Not with sampling, pick or a forced target. Borrowed likewise */
    const struct dg_terms *terms;
    /* the prefix is the whole target (with </s>): score it, search nothing */
    bool forced;
    /* align the best answer's pieces with the source's */
    bool want_alignment;
    /* choose from the whole vocabulary, even if the model has a shortlist */
    bool whole_vocabulary;
};

/* An answer. Borrowed from the engine until released. */
struct dg_result {
    uint64_t id;
    /* [n_hyps], best first */
    const struct dg_hypothesis *hyps;
    uint32_t n_hyps;
    /* [hyps[0].n] source position each piece of the best answer attends to most (in the
     * cross-attention that the model's config names); NULL unless wanted, or unless that answer
     * holds the unknown piece, which has to be copied. */
    const int32_t *alignment;
    uint32_t n_source, steps;
};

struct dg_capacity {
    uint32_t rows_free, sentences_free, blocks_free, blocks_total, sentences_live, rows_live;
};

int dg_engine_open(const struct dg_model *model, struct dg_backend *be,
    const struct dg_engine_limits *limits, struct dg_engine **out, struct dg_error *err);
void dg_engine_close(struct dg_engine *e); /* NULL is fine */

/* Take a sentence in under the caller's id. DG_EAGAIN: no room now, ask again after a step (err
 * untouched); DG_ELIMIT: it can never fit; DG_EINVAL: options or ids are wrong. Encoding happens in
 * the next step. */
int dg_engine_admit(
    struct dg_engine *e, uint64_t id, const struct dg_sentence *s, struct dg_error *err);

/* Pause or resume a sentence. A paused sentence keeps its room and position but does not advance;
 * steps already given to a device are still done. A sentence that was admitted since the last step
 * is encoded in the next one, paused or not. */
void dg_engine_pause(struct dg_engine *e, uint64_t id, bool paused);

/* Encode the sentences admitted since the last step, then advance every live sentence that is not
 * paused by one position. Returns the number of rows that were advanced (0: nothing lives). On a
 * device that keeps the search a call gives one step and reads the one before it: answers come a
 * call later, and the last call only reads. */
uint32_t dg_engine_step(struct dg_engine *e);

/* A finished sentence's answer, or NULL. Its room is free again already; release the answer when
 * read. */
const struct dg_result *dg_engine_poll(struct dg_engine *e);
void dg_engine_release(struct dg_engine *e, const struct dg_result *r);

/* Forget a sentence now, its room is free at once; unknown ids are ignored. No answer will come. */
void dg_engine_cancel(struct dg_engine *e, uint64_t id);

void dg_engine_capacity(const struct dg_engine *e, struct dg_capacity *out);
/* Bytes the engine holds besides the model. */
size_t dg_engine_bytes(const struct dg_engine *e);

#endif
