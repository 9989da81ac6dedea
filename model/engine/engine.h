/* The engine: many sentences translated side by side, driven step by step (contract 2). admit ->
 * step, step, ... -> poll. Sentences of one step may be at different positions; each answer is bit
 * for bit the one that the sentence gets alone. One thread at a time per engine; the model is
 * shared, const after open. */
#ifndef DG_MODEL_ENGINE_ENGINE_H
#define DG_MODEL_ENGINE_ENGINE_H

#include "base/error.h"
#include "kernels/backend.h"
#include "model/engine/beam.h"
#include "model/engine/choose.h"
#include "model/model.h"

struct dg_engine;

struct dg_engine_limits {
    /* live hypotheses in one step; 0 = enough to keep the device busy (dg_ops.step_rows), or 128 if
     * the device does not say */
    uint32_t max_rows;
    /* sentences admitted and not finished; 0 = half as many as max_rows, at least 64 */
    uint32_t max_sentences;
    /* source pieces of one sentence, </s> included; 0 = 512 */
    uint32_t max_source;
    /* target positions of one sentence, </s> included; 0 = 1024 */
    uint32_t max_target;
    /* widest beam for which a sentence that is alone is sure to have room; at least the model's
     * beam */
    uint32_t max_beam;
    /* most target positions of such a search; 0 = max_source + the model's extra_length */
    uint32_t max_search;
    /* bytes of cached keys and values; 0 = room for max_rows hypotheses of about 80 positions, or
     * for that search */
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
    /* number of prefix ids that only start the decoder: they are not part of the answer, its
     * probability, its length or max_len; <= n_prefix */
    uint32_t n_lead;
    /* allowed pieces after the prefix; NULL: anything. Borrowed until the answer is polled or the
     * sentence cancelled */
    const struct dg_spelling *spelling;
    /* terms that the answer must contain; NULL: none. A wider beam helps, since hypotheses with
     * different numbers of the terms' pieces share it. Not with sampling, pick or a forced target.
     * Borrowed as long as spelling */
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
    /* [hyps[0].n] source position that each piece of the best answer attends to most (in the
     * cross-attention that the model's config names). NULL unless it is wanted, or the answer, if
     * not forced, holds the unknown piece, which has to be copied. */
    const int32_t *alignment;
    uint32_t n_source, steps;
};

struct dg_capacity {
    uint32_t rows_free, sentences_free, blocks_free, blocks_total, sentences_live, rows_live;
};

int dg_engine_open(const struct dg_model *model, struct dg_backend *be,
    const struct dg_engine_limits *limits, struct dg_engine **out, struct dg_error *err);
void dg_engine_close(struct dg_engine *e); /* NULL is fine */

/* Admit a sentence under the caller's id. DG_EAGAIN: no room now, retry after a step (err
 * untouched); DG_ELIMIT: it can never fit; DG_EINVAL: options or ids are wrong. Encoding happens in
 * the next step. */
int dg_engine_admit(
    struct dg_engine *e, uint64_t id, const struct dg_sentence *s, struct dg_error *err);

/* Pause or resume a sentence. A paused sentence keeps its room and position but does not advance;
 * steps already submitted to a device still complete. A sentence that was admitted since the last
 * step is encoded in the next one, paused or not. */
void dg_engine_pause(struct dg_engine *e, uint64_t id, bool paused);

/* Encode the sentences admitted since the last step, then advance every live sentence that is not
 * paused by one position. Returns the number of rows that were advanced (0: there were none). On a
 * device that keeps the search, each call submits one step and reads the one before it: answers
 * come one call later, and the last call only reads. */
uint32_t dg_engine_step(struct dg_engine *e);

/* Return a finished sentence's answer, or NULL. The sentence's room is already free; release the
 * answer after reading it. */
const struct dg_result *dg_engine_poll(struct dg_engine *e);
void dg_engine_release(struct dg_engine *e, const struct dg_result *r);

/* Drop a sentence and free its room at once; no answer will come. Unknown ids are ignored. */
void dg_engine_cancel(struct dg_engine *e, uint64_t id);

void dg_engine_capacity(const struct dg_engine *e, struct dg_capacity *out);
/* Bytes the engine holds besides the model, at most: with the rows of the output matrix that the
 * shortlists of its sentences may own. */
size_t dg_engine_bytes(const struct dg_engine *e);

#endif
