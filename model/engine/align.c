/* The source position from which each piece of an answer came: cross-attention of one layer, one
 * head or the mean over all, largest weight (ties: the smaller position). The weights are those of
 * the decoding step: the row that chose a piece gives its source position, and the beam keeps it
 * with the piece (dg_candidates.sources). Kept for every sentence, because any may put out the
 * unknown piece, which is copied from its source position. */
#include "model/engine/align.h"

#include "model/engine/internal.h"
#include "model/model_internal.h"

#include <stdlib.h>

int dg_align_open(struct dg_engine *e, struct dg_error *err)
{
    const struct dg_config *c = &e->model->config;
    const uint32_t L = c->dec_layers;
    const uint32_t layer = c->align_layer ? c->align_layer : L > 1 ? L - 1 : 1;
    const size_t most = (size_t)e->max_rows * dg_config_dec_H(c) * e->limits.max_source;
    struct dg_align *a = &e->align;
    a->first_head = c->align_head ? c->align_head - 1 : 0;
    a->n_heads = c->align_head ? 1 : dg_config_dec_H(c);
    a->slots = malloc(L * sizeof *a->slots);
    a->weights = malloc(most * sizeof *a->weights);
    a->sources = malloc(e->max_rows * sizeof *a->sources);
    if (!a->slots || !a->weights || !a->sources)
        return dg_error_set(
            err, DG_ENOMEM, "no memory for the attention weights of %u rows", e->max_rows);
    int rc = e->be->ops->buf_new_wide(e->be, most, &a->probs.buf, err);
    if (rc)
        return rc;
    a->probs.ld = 1;
    e->bytes += 2 * most * sizeof(float);
    /* All layers share the workspace; one also writes its weights out. */
    for (uint32_t l = 0; l < L; l++) {
        a->slots[l] = e->ws.dec;
        if (l + 1 == layer)
            a->slots[l].cross.probs = a->probs;
    }
    return 0;
}

void dg_align_close(struct dg_engine *e)
{
    e->be->ops->buf_free(e->be, e->align.probs.buf);
    free(e->align.slots);
    free(e->align.weights);
    free(e->align.sources);
}

/* weights[H,n_q,n_k] -> sources[n_q]. Heads are summed in order into the first one that counts, as
 * on every device. */
static void find_sources(
    const struct dg_align *a, float *weights, uint32_t n_q, uint32_t n_k, int32_t *sources)
{
    const size_t head = (size_t)n_q * n_k;
    float *sum = weights + a->first_head * head;
    for (uint32_t h = 1; h < a->n_heads; h++)
        for (size_t i = 0; i < head; i++)
            sum[i] += sum[h * head + i];
    for (uint32_t q = 0; q < n_q; q++, sum += n_k) {
        uint32_t best = 0;
        for (uint32_t k = 1; k < n_k; k++)
            best = sum[k] > sum[best] ? k : best;
        sources[q] = (int32_t)best;
    }
}

void dg_align_read(struct dg_engine *e, size_t n_segs)
{
    struct dg_align *a = &e->align;
    const struct dg_attn_seg *last = &e->cross_segs[n_segs - 1];
    const size_t n =
        last->probs + (size_t)dg_config_dec_H(&e->model->config) * last->n_q * last->n_k;
    e->be->ops->read(e->be, a->probs, 1, n, a->weights);
    for (size_t i = 0; i < n_segs; i++) {
        const struct dg_attn_seg *s = &e->cross_segs[i];
        find_sources(a, a->weights + s->probs, s->n_q, s->n_k, a->sources + s->q0);
    }
}

static bool holds(const struct dg_hypothesis *h, int32_t id)
{
    for (uint32_t i = 0; i < h->n; i++)
        if (h->ids[i] == id)
            return true;
    return false;
}

const int32_t *dg_align_answer(const struct dg_engine *e, const struct dg_live *s)
{
    const struct dg_hypothesis *best = &s->beam.finished[0];
    if (!s->beam.n_finished)
        return NULL;
    if (s->want_alignment || (!s->beam.forced && holds(best, e->model->config.unk)))
        return best->sources;
    return NULL;
}
