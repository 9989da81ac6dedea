/* Parameters on the device. Every stored form is brought to fp32 on the host, a strip of rows at a
 * time, and from there to the backend's type on the device: matrices in that type, vectors in fp32
 * (and in that type, for products that add them), tables that are only looked up in fp32. */
#include "kernels/cuda/block.h"
#include "kernels/cpu/pack.h"

#include <stdlib.h>
#include <string.h>

enum { STRIP = 1 << 20 }; /* floats converted at once */

static const struct dg_stored *find_rows(const struct dg_weight_spec *spec)
{
    const struct dg_stored *any = NULL;
    for (size_t i = 0; i < spec->n_stored; i++) {
        const struct dg_stored *s = &spec->stored[i];
        if (s->layout != DG_LAYOUT_ROWS)
            continue;
        if (s->type == DG_F32)
            return s;
        any = any ? any : s;
    }
    return any;
}

static int check(
    const struct dg_weight_spec *spec, const struct dg_stored *rows, struct dg_error *err)
{
    const char *name = spec->name;
    if (!spec->N || !spec->K || spec->N > SIZE_MAX / 64 / spec->K)
        return dg_error_field(err, DG_EINVAL, name, "tensor %s has the impossible shape [%zu,%zu]",
            name, spec->N, spec->K);
    if (!(spec->use & (DG_USE_MATRIX | DG_USE_TABLE | DG_USE_VECTOR)))
        return dg_error_field(err, DG_EINVAL, name, "tensor %s has no use (%u)", name, spec->use);
    if ((spec->use & DG_USE_VECTOR) && spec->N != 1)
        return dg_error_field(err, DG_EINVAL, name,
            "tensor %s is [%zu,%zu], expected a vector [1,%zu]", name, spec->N, spec->K, spec->K);
    if (!rows || !rows->data)
        return dg_error_field(err, DG_EFORMAT, name,
            "tensor %s [%zu,%zu] has no row-major form among its %zu", name, spec->N, spec->K,
            spec->n_stored);
    if (!dg_type_bytes(rows->type))
        return dg_error_field(err, DG_EUNSUP, name,
            "tensor %s has element type %d, which is not known", name, (int)rows->type);
    if (rows->type == DG_S8 && !rows->scales)
        return dg_error_field(err, DG_EFORMAT, name, "tensor %s is int8 without scales", name);
    if (spec->trainable && rows->type != DG_F32)
        return dg_error_field(
            err, DG_EUNSUP, name, "tensor %s is to be trained but is not fp32", name);
    return 0;
}

/* Rows m0 .. m0+n-1 as fp32. */
static void convert(const struct dg_stored *rows, size_t K, size_t m0, size_t n, float *to)
{
    dg_convert_floats(rows->data, rows->type, m0 * K, n * K, to);
    for (size_t m = 0; rows->type == DG_S8 && m < n; m++)
        for (size_t i = 0; i < K; i++)
            to[m * K + i] *= rows->scales[m0 + m];
}

/* rows[N,K] -> to[N,K] of a type on the device. */
static int upload(struct dg_cuda *cu, const struct dg_weight_spec *spec,
    const struct dg_stored *rows, void *to, enum dg_type type, struct dg_error *err)
{
    const size_t K = spec->K, most = STRIP / K ? STRIP / K : 1,
                 strip = most < spec->N ? most : spec->N;
    float *host = malloc(strip * K * sizeof *host);
    float *device = host ? dg_cuda_scratch(cu, strip * K * sizeof *device) : NULL;
    if (!device) {
        free(host);
        return dg_error_field(err, DG_ENOMEM, spec->name, "no memory to load tensor %s [%zu,%zu]",
            spec->name, spec->N, K);
    }
    for (size_t m = 0; m < spec->N; m += strip) {
        const size_t n = spec->N - m < strip ? spec->N - m : strip;
        struct dg_k_copy k = {.x = {device, K, DG_F32}, .M = n, .N = K};
        k.y = (struct dg_k_rows){(char *)to + m * K * dg_cuda_type_bytes(type), K, type};
        convert(rows, K, m, n, host);
        dg_cuda_ok(cu,
            cudaMemcpyAsync(device, host, n * K * sizeof *host, cudaMemcpyHostToDevice, cu->stream),
            "loading weights");
        dg_cuda_ok(cu, dg_launch_copy(cu->stream, &k), "loading weights");
        dg_cuda_wait(cu);
    }
    free(host);
    return dg_cuda_status(&cu->base, err);
}

static int place(struct dg_cuda *cu, const struct dg_weight_spec *spec,
    const struct dg_stored *rows, enum dg_type type, void **to, struct dg_error *err)
{
    *to = dg_cuda_alloc(cu, spec->N * spec->K * dg_cuda_type_bytes(type));
    if (!*to)
        return dg_error_field(err, DG_ENOMEM, spec->name, "no memory on %s for tensor %s [%zu,%zu]",
            cu->name, spec->name, spec->N, spec->K);
    return upload(cu, spec, rows, *to, type, err);
}

int dg_cuda_weight_new(struct dg_backend *be, const struct dg_weight_spec *spec,
    struct dg_weight **out, struct dg_error *err)
{
    struct dg_cuda *cu = dg_cuda_of(be);
    const struct dg_stored *rows = find_rows(spec);
    *out = NULL;
    int rc = check(spec, rows, err);
    if (!rc && !dg_cuda_alive(cu))
        rc = dg_cuda_status(be, err);
    if (!rc && spec->trainable && !dg_cuda_block_holds(cu, rows->data, spec->N * spec->K))
        rc = dg_error_field(err, DG_EINVAL, spec->name,
            "tensor %s is to be trained, and does not lie in a block of %s", spec->name, cu->name);
    if (rc)
        return rc;
    struct dg_weight *w = calloc(1, sizeof *w);
    if (!w)
        return dg_error_field(err, DG_ENOMEM, spec->name, "no memory for tensor %s", spec->name);
    void *floats = NULL;
    *w = (struct dg_weight){
        .N = spec->N, .K = spec->K, .use = spec->use, .trainable = spec->trainable};
    if (spec->trainable) {
        floats = (void *)(uintptr_t)rows->data; /* the trainer's block */
        w->borrowed = true;
    } else if ((spec->use & DG_USE_MATRIX) && !(spec->use & DG_USE_VECTOR)) {
        rc = place(cu, spec, rows, cu->type, &w->matrix, err);
    } else {
        rc = place(cu, spec, rows, DG_F32, &floats, err);
        if (!rc && (spec->use & DG_USE_VECTOR) && cu->type != DG_F32)
            rc = place(cu, spec, rows, cu->type, &w->narrow, err);
    }
    w->floats = floats;
    if (rc) {
        dg_cuda_weight_free(be, w);
        return rc;
    }
    *out = w;
    return 0;
}

void dg_cuda_weight_free(struct dg_backend *be, struct dg_weight *w)
{
    struct dg_cuda *cu = dg_cuda_of(be);
    if (!w)
        return;
    dg_cuda_release(cu, w->matrix);
    dg_cuda_release(cu, w->narrow);
    if (!w->borrowed)
        dg_cuda_release(cu, w->floats);
    free(w);
}
