/* Which source position each piece of an answer came from: cross-attention of one layer, one head
 * or the mean over all, largest weight (ties: the smaller position). A pass of its own over the
 * finished answer, because steps keep no weights. */
#include "model/engine/internal.h"
#include "model/model_internal.h"
#include "model/trace.h"

#include <stdlib.h>

static bool holds(const struct dg_hypothesis *h, int32_t id)
{
    for (uint32_t i = 0; i < h->n; i++)
        if (h->ids[i] == id)
            return true;
    return false;
}

/* weights[H,T,S] of the heads that are looked at -> best[T] */
static void best_sources(const float *weights, uint32_t H, uint32_t T, uint32_t S, int32_t *best)
{
    for (uint32_t t = 0; t < T; t++) {
        float most = -1;
        for (uint32_t k = 0; k < S; k++) {
            float sum = 0;
            for (uint32_t h = 0; h < H; h++)
                sum += weights[((size_t)h * T + t) * S + k];
            if (sum > most) {
                most = sum;
                best[t] = (int32_t)k;
            }
        }
    }
}

void dg_live_align(struct dg_engine *e, struct dg_live *s)
{
    const struct dg_config *c = &e->model->config;
    const struct dg_hypothesis *h = &s->beam.finished[0];
    if (!s->beam.n_finished || (!s->want_alignment && (s->beam.forced || !holds(h, c->unk))))
        return;
    uint32_t layer = s->align_layer ? s->align_layer : c->dec_layers > 1 ? c->dec_layers - 1 : 1;
    const size_t one = (size_t)h->n * s->n_source, head = s->align_head ? s->align_head - 1 : 0;
    float *weights = malloc(c->H * one * sizeof *weights);
    s->alignment = malloc(h->n * sizeof *s->alignment);
    if (weights && s->alignment && s->align_head <= c->H &&
        dg_trace_cross(
            e->model, e->be, s->source, s->n_source, h->ids, h->n, layer - 1, weights, NULL) == 0) {
        best_sources(
            weights + head * one, s->align_head ? 1 : c->H, h->n, s->n_source, s->alignment);
    } else {
        free(s->alignment);
        s->alignment = NULL;
    }
    free(weights);
}
