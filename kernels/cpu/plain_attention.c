/* Attention's and log-softmax's inner kernels in plain C. */
#include "kernels/cpu/plain_attention.h"

#include "kernels/cpu/pack.h"

#include <math.h>
#include <string.h>

/* Element d of row j. */
static float element(const struct dg_kv *kv, size_t j, size_t d)
{
    size_t at = (kv->slots ? (size_t)kv->slots[j] : kv->k0 + j) * kv->ld + d;
    float x;
    if (!kv->halves)
        return kv->data[at];
    dg_convert_floats(kv->halves, DG_F16, at, 1, &x);
    return x;
}

void dg_plain_scores(const struct dg_attn_tile *t, const struct dg_kv *k, size_t j0, size_t n)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < t->n_q; i++) {
            float sum = 0;
            for (size_t d = 0; d < k->dim; d++)
                sum += t->q[i * t->ldq + d] * element(k, j0 + j, d);
            t->s[i * t->lds + j] = sum;
        }
}

void dg_plain_weigh(const struct dg_attn_tile *t, const struct dg_kv *v, size_t j0, size_t n)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < t->n_q; i++) {
            float p = t->s[i * t->lds + j], *out = t->out + i * t->ldo;
            for (size_t d = 0; d < v->dim; d++)
                out[d] += p * element(v, j0 + j, d);
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

double dg_plain_sum_exp(const float *x, size_t n, float max, const float *next)
{
    (void)next;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)expf(x[i] - max);
    return sum;
}

void dg_plain_run_max(const float *x, size_t n, size_t length, float *most)
{
    for (size_t i = 0; i < n; i += length)
        most[i / length] = dg_plain_max(x + i, n - i < length ? n - i : length);
}

size_t dg_plain_at_least(const float *x, size_t n, float low, uint32_t *at)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        if (x[i] >= low)
            at[found++] = (uint32_t)i;
    return found;
}

void dg_plain_widen(float *y, const uint16_t *x, size_t n)
{
    dg_convert_floats(x, DG_F16, 0, n, y);
}

/* Rounds to the nearest fp16, ties to even, at most 65504. The value is counted in units of the
 * last of fp16's 11 bits; below 2^-14 the unit stays 2^-24. The leading bit of the units, or their
 * carry to 2048, adds itself to the exponent. */
static uint16_t half_of(float x)
{
    uint32_t bits;
    float size = fabsf(x) > 65504.0f ? 65504.0f : fabsf(x);
    memcpy(&bits, &x, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
    if (x != x)
        return sign | 0x7E00u;
    int exponent;
    frexpf(size, &exponent); /* size < 2^exponent */
    exponent = size <= 0 || exponent < -13 ? -13 : exponent;
    float units = rintf(ldexpf(size, 11 - exponent)); /* 0 .. 2048 of 2^(exponent - 11) */
    return (uint16_t)(sign | (((uint32_t)(exponent + 13) << 10) + (uint32_t)units));
}

void dg_plain_narrow(uint16_t *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = half_of(x[i]);
}
