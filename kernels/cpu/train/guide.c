/* Guided alignment: -mean over a query's links of log(p + 1e-9), p the mean over heads. The
 * gradient goes into softmax's backward, which multiplies it by the probability itself: nothing
 * overflows where p is tiny, and below 1e-9 the gradient fades out instead of being cut off. */
#include "kernels/cpu/train/guide.h"

#include <math.h>

#define FLOOR 1e-9f

/* Mean over the guided heads at one element. */
static float mean(const struct dg_guide *g, const struct dg_guided_head *s, struct dg_link l)
{
    const size_t matrix = (size_t)s->n_q * s->n_k, at = (size_t)l.query * s->n_k + l.key;
    float sum = 0;
    for (uint32_t h = 0; h < g->n_heads; h++)
        sum += s->probs[(g->head + h) * matrix + at];
    return sum / (float)g->n_heads;
}

void dg_guide_run(
    const struct dg_guide *g, const struct dg_guided_head *s, struct dg_loop_add *adds)
{
    for (size_t i = 0, end; i < s->n_links; i = end) {
        double loss = 0;
        for (end = i + 1; end < s->n_links && s->links[end].query == s->links[i].query;)
            end++;
        const float share = 1.0f / (float)(end - i);
        for (size_t j = i; j < end; j++) {
            const float p = mean(g, s, s->links[j]) + FLOOR;
            loss -= log((double)p);
            adds[j] = (struct dg_loop_add){
                s->links[j].query, s->links[j].key, -g->scale * share / (p * (float)g->n_heads)};
        }
        g->sums->guided += loss * (double)share;
        g->sums->n_guided++;
    }
}
