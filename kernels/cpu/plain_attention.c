/* Attention's and log-softmax's inner kernels in plain C. */
#include "kernels/cpu/plain_attention.h"

#include <math.h>

static const float *row_at(const struct dg_kv *kv, size_t j)
{
    return kv->data + (kv->slots ? (size_t)kv->slots[j] : kv->k0 + j) * kv->ld;
}

void dg_plain_scores(const struct dg_attn_tile *t, const struct dg_kv *k, size_t j0, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        const float *key = row_at(k, j0 + j); /* [Dk] */
        for (size_t i = 0; i < t->n_q; i++) {
            float sum = 0;
            for (size_t d = 0; d < k->dim; d++)
                sum += t->q[i * t->ldq + d] * key[d];
            t->s[i * t->lds + j] = sum;
        }
    }
}

void dg_plain_weigh(const struct dg_attn_tile *t, const struct dg_kv *v, size_t j0, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        const float *value = row_at(v, j0 + j); /* [Dv] */
        for (size_t i = 0; i < t->n_q; i++) {
            float p = t->s[i * t->lds + j], *out = t->out + i * t->ldo;
            for (size_t d = 0; d < v->dim; d++)
                out[d] += p * value[d];
        }
    }
}

float dg_plain_max(const float *x, size_t n)
{
    float max = -INFINITY;
    for (size_t i = 0; i < n; i++)
        max = x[i] > max ? x[i] : max;
    return max;
}

void dg_plain_exp_sum(float *s, size_t n, float max, float scale, float *sum)
{
    for (size_t i = 0; i < n; i++) {
        s[i] = expf(scale * (s[i] - max));
        sum[i % 16] += s[i];
    }
}

void dg_plain_scale(float *s, size_t n, float a)
{
    for (size_t i = 0; i < n; i++)
        s[i] *= a;
}

double dg_plain_sum_exp(const float *x, size_t n, float max)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)expf(x[i] - max);
    return sum;
}
