#include "model/engine/choose.h"

#include "model/engine/ngram.h"

#include <math.h>

uint32_t dg_spelling_state(const struct dg_spelling *s, const int32_t *ids, uint32_t n)
{
    uint32_t state = 0;
    for (uint32_t i = 0; i < n && state < s->n_states; i++) {
        uint32_t at = s->first[state], end = s->first[state + 1];
        while (at < end && s->ids[at] != ids[i])
            at++;
        state = at < end ? s->next[at] : s->n_states;
    }
    return state;
}

/* SplitMix64's finaliser (public domain constants). */
static uint64_t mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

uint64_t dg_choose_key(const int32_t *ids, uint32_t n)
{
    uint64_t key = n;
    for (uint32_t i = 0; i < n; i++)
        key = mix(key ^ (uint32_t)ids[i]);
    return key;
}

/* log of the sum of exponentials. */
static double log_sum(const float *x, uint32_t V, float most)
{
    double sum = 0;
    for (uint32_t i = 0; i < V; i++)
        sum += exp((double)x[i] - (double)most);
    return (double)most + log(sum);
}

/* Set the logits of pieces off the spelling to -inf, and of those after which the `left` pieces
 * that may still come cannot complete it. */
static void forbid_misspelt(const struct dg_choice *c, uint32_t left, float *x, uint32_t V)
{
    const struct dg_spelling *p = c->spelling;
    uint32_t at = p->first[c->state], end = p->first[c->state + 1];
    for (uint32_t i = 0; i < V; i++) {
        const bool edge = at < end && p->ids[at] == (int32_t)i;
        if (!edge || p->least[p->next[at]] > left)
            x[i] = -INFINITY;
        at += edge;
    }
}

/* Set the logits of forbidden pieces to -inf: those off the spelling, bytes that form no character,
 * and for a draw, which has no second candidate, those that the beam would pass over. */
static void forbid(const struct dg_choice *c, float *x, uint32_t V, bool sampling)
{
    const struct dg_search *s = c->search;
    const uint32_t left = s->max_len - (c->n + 1);
    if (c->spelling && c->state < c->spelling->n_states)
        forbid_misspelt(c, left, x, V);
    if (c->bytes)
        dg_byte_rule_forbid(c->bytes, c->ids, c->n, left, x, V);
    if (!sampling || (c->bytes && dg_byte_rule_within(c->bytes, c->ids, c->n)))
        return;
    if (c->never >= 0)
        x[c->never] = -INFINITY;
    if (c->n + 1 < s->min_len + c->n_lead)
        x[c->eos] = -INFINITY;
    uint32_t order = s->no_repeat_ngram;
    for (uint32_t i = c->n_prefix; order && i + order <= c->n; i++)
        if (dg_ngram_tail_at(c->ids, c->n, order, i))
            x[c->ids[i + order - 1]] = -INFINITY;
}

/* The k largest, best first, ties by smaller id; those at -inf too when there are fewer. */
static void take_best(const float *x, uint32_t V, uint32_t k, int32_t *ids)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < V; i++) {
        if (n == k && !(x[i] > x[ids[k - 1]]))
            continue;
        uint32_t at = n < k ? n++ : k - 1;
        for (; at > 0 && x[i] > x[ids[at - 1]]; at--)
            ids[at] = ids[at - 1];
        ids[at] = (int32_t)i;
    }
}

/* Draw from softmax(x / temperature) over list[n] (NULL: all). The number drawn depends on seed,
 * sentence and position alone. */
static int32_t draw(const struct dg_choice *c, const float *x, const int32_t *list, uint32_t n)
{
    double T = (double)c->search->sampling.temperature, sum = 0;
    float most = -INFINITY;
    for (uint32_t i = 0; i < n; i++)
        most = fmaxf(most, x[list ? list[i] : (int32_t)i]);
    for (uint32_t i = 0; i < n; i++)
        sum += exp(((double)x[list ? list[i] : (int32_t)i] - (double)most) / T);
    uint64_t random = mix(mix(c->search->sampling.seed ^ mix(c->key)) + c->n);
    double left = (double)(random >> 11) * 0x1p-53 * sum;
    int32_t last = -1;
    for (uint32_t i = 0; i < n; i++) {
        int32_t id = list ? list[i] : (int32_t)i;
        double p = exp(((double)x[id] - (double)most) / T);
        if (p <= 0)
            continue;
        last = id;
        if ((left -= p) < 0)
            break;
    }
    return last;
}

void dg_choose(
    const struct dg_choice *c, float *logits, uint32_t V, uint32_t k, float *logprob, int32_t *ids)
{
    const struct dg_sampling *sampling = &c->search->sampling;
    bool on = sampling->temperature > 0;
    float most = -INFINITY;
    for (uint32_t i = 0; i < V; i++)
        most = fmaxf(most, logits[i]);
    double total = log_sum(logits, V, most);
    forbid(c, logits, V, on);
    take_best(logits, V, k, ids);
    if (on) {
        int32_t best[DG_MAX_SAMPLE_TOP_K];
        uint32_t n = sampling->top_k < V ? sampling->top_k : V;
        if (n)
            take_best(logits, V, n, best);
        int32_t id = draw(c, logits, n ? best : NULL, n ? n : V);
        ids[0] = id >= 0 ? id : ids[0];
    }
    for (uint32_t i = 0; i < k; i++)
        logprob[i] = (float)((double)logits[ids[i]] - total);
}
