#include "trainer/update/init.h"

#include "base/alloc.h"
#include "base/file.h"
#include "trainer/data/random.h"
#include "weights/half.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The random number that follows state x. */
static uint64_t hash(uint64_t x)
{
    return dg_random_next(&x);
}

/* Uniform in (0,1), never 0: 53 bits of the hash of (stream, i). */
static double uniform(uint64_t stream, uint64_t i)
{
    return ((double)(hash(stream ^ hash(i)) >> 11) + 0.5) * 0x1p-53;
}

static void fill_normal(float *x, size_t n, double deviation, uint64_t stream)
{
    for (size_t i = 0; i < n; i++) {
        double radius = sqrt(-2.0 * log(uniform(stream, 2 * i)));
        x[i] = (float)(deviation * radius * cos(6.283185307179586 * uniform(stream, 2 * i + 1)));
    }
}

static void fill_xavier(float *x, size_t N, size_t K, uint64_t stream)
{
    double bound = sqrt(6.0 / (double)(N + K));
    for (size_t i = 0; i < N * K; i++)
        x[i] = (float)((2.0 * uniform(stream, i) - 1.0) * bound);
}

/* Rows of each of the matrices that make up a fused one, in order; returns how many there are. */
static size_t fused_parts(
    const struct dg_config *c, const struct dg_param_info *info, size_t rows[3])
{
    const size_t hdk = (size_t)c->H * c->Dk, hdv = (size_t)c->H * c->Dv;
    if (dg_file_ends_in(info->name, "self.qkv.w")) {
        rows[0] = rows[1] = hdk;
        rows[2] = hdv;
        return 3;
    }
    if (dg_file_ends_in(info->name, "cross.kv.w")) {
        rows[0] = hdk;
        rows[1] = hdv;
        return 2;
    }
    rows[0] = info->N;
    return 1;
}

static void fill_tensor(
    const struct dg_config *c, const struct dg_param_info *info, uint64_t stream, float *x)
{
    const size_t n = (size_t)info->N * info->K;
    if (info->use & DG_USE_VECTOR) {
        float value = dg_file_ends_in(info->name, ".gain") ? 1.0f : 0.0f;
        for (size_t i = 0; i < n; i++)
            x[i] = value;
    } else if (info->use & DG_USE_TABLE) {
        fill_normal(x, n, 1.0 / sqrt((double)c->D), stream);
    } else {
        size_t rows[3], parts = fused_parts(c, info, rows);
        for (size_t p = 0; p < parts; p++) {
            fill_xavier(x, rows[p], info->K, hash(stream + p));
            x += rows[p] * info->K;
        }
    }
}

float *dg_init_tensor(const struct dg_config *c, size_t i, uint64_t seed)
{
    struct dg_param_info info;
    dg_params_info(c, i, &info);
    float *x = dg_alloc((size_t)info.N * info.K, sizeof *x, "a tensor");
    fill_tensor(c, &info, hash(hash(seed) + i), x);
    return x;
}

void dg_init_random(struct dg_param_block *b, uint64_t seed)
{
    for (size_t i = 0; i < dg_params_count(&b->config); i++) {
        struct dg_param_info info;
        dg_params_info(&b->config, i, &info);
        float *x = dg_init_tensor(&b->config, i, seed);
        b->train->ops->block_write(
            b->train, b->data + dg_param_block_offset(&b->config, i), x, (size_t)info.N * info.K);
        free(x);
    }
}

/* Element i of a row-major stored form [.,K] as fp32. */
float dg_init_element(const struct dg_stored *s, size_t K, size_t i)
{
    switch (s->type) {
    case DG_F16: return dg_f16_to_f32(((const uint16_t *)s->data)[i]);
    case DG_BF16: return dg_bf16_to_f32(((const uint16_t *)s->data)[i]);
    case DG_S8: return (float)((const int8_t *)s->data)[i] * s->scales[i / K];
    default: return ((const float *)s->data)[i];
    }
}

/* The row-major stored form with the most bits; NULL: none. */
const struct dg_stored *dg_init_best_rows(const struct dg_tensor *t)
{
    const struct dg_stored *best = NULL;
    for (size_t i = 0; i < t->n_stored; i++)
        if (t->stored[i].layout == DG_LAYOUT_ROWS && (!best || t->stored[i].type < best->type))
            best = &t->stored[i];
    return best;
}

/* Index, in a stack of m layers, of the layer at the relative depth of layer i of n. */
static uint32_t same_depth(uint32_t i, uint32_t n, uint32_t m)
{
    if (n == m)
        return i;
    return n < 2 ? m - 1 : (2 * i * (m - 1) + (n - 1)) / (2 * (n - 1));
}

void dg_init_origin(
    const struct dg_init_from *from, const struct dg_config *to, const char *name, char out[64])
{
    const bool encoder = !strncmp(name, "enc.", 4), decoder = !strncmp(name, "dec.", 4);
    char *rest = NULL;
    const uint32_t layer = encoder || decoder ? (uint32_t)strtoul(name + 4, &rest, 10) : 0;
    if (encoder)
        snprintf(out, 64, "enc.%u%s", same_depth(layer, to->enc_layers, from->enc_layers), rest);
    else if (decoder)
        snprintf(out, 64, "dec.%u%s", same_depth(layer, to->dec_layers, from->dec_layers), rest);
    else
        snprintf(out, 64, "%s", name);
}

int dg_init_from_weights(
    struct dg_param_block *b, const struct dg_init_from *from, struct dg_error *err)
{
    for (size_t i = 0; i < dg_params_count(&b->config); i++) {
        struct dg_param_info info;
        char name[64];
        dg_params_info(&b->config, i, &info);
        dg_init_origin(from, &b->config, info.name, name);
        const struct dg_tensor *t = dg_weights_find(from->weights, name);
        const struct dg_stored *rows = t ? dg_init_best_rows(t) : NULL;
        if (!rows)
            return dg_error_set(
                err, DG_EFORMAT, "weights: tensor %s [%u,%u] is missing", name, info.N, info.K);
        if (t->shape[0] != info.N || t->shape[1] != info.K)
            return dg_error_set(err, DG_EFORMAT,
                "weights: tensor %s is [%llu,%llu], expected [%u,%u]", name,
                (unsigned long long)t->shape[0], (unsigned long long)t->shape[1], info.N, info.K);
        const size_t n = (size_t)info.N * info.K;
        float *x = dg_alloc(n, sizeof *x, "a tensor");
        for (size_t e = 0; e < n; e++)
            x[e] = dg_init_element(rows, info.K, e);
        b->train->ops->block_write(b->train, b->data + dg_param_block_offset(&b->config, i), x, n);
        free(x);
    }
    return 0;
}
