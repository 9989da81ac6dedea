/* Parameters on the device. Every stored form is converted to fp32 on the host, a strip of rows at
 * a time, and from there to the backend's type on the device: matrices in that type, vectors in
 * fp32 (and in that type, for products that add them), tables that are only looked up in fp32. */
#include "kernels/cuda/internal.h"
#include "kernels/weight_form.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { STRIP = 1 << 20 }; /* floats converted at once */

/* Copies rows[N,K] to new memory of a type on the device. On failure *to may be set, too. */
static int place(struct dg_cuda *cu, const struct dg_weight_spec *spec,
    const struct dg_stored *rows, enum dg_type type, void **to, struct dg_error *err)
{
    const size_t K = spec->K, most = STRIP / K ? STRIP / K : 1,
                 strip = most < spec->N ? most : spec->N;
    *to = dg_cuda_alloc(cu, spec->N * K * dg_cuda_type_bytes(type));
    if (!*to)
        return dg_error_field(err, DG_ENOMEM, spec->name, "no memory on %s for tensor %s [%zu,%zu]",
            cu->name, spec->name, spec->N, K);
    struct dg_buf buf = {*to, spec->N * K, type};
    float *host = malloc(strip * K * sizeof *host);
    if (!host || !dg_cuda_scratch(cu, strip * K * sizeof *host)) {
        free(host);
        return dg_error_field(err, DG_ENOMEM, spec->name, "no memory to load tensor %s [%zu,%zu]",
            spec->name, spec->N, K);
    }
    for (size_t m = 0; m < spec->N; m += strip) {
        const size_t n = spec->N - m < strip ? spec->N - m : strip;
        dg_stored_floats(rows, K, m, n, host);
        dg_cuda_write(&cu->base, host, (struct dg_rows){&buf, m * K, K}, n, K);
    }
    free(host);
    return dg_cuda_status(&cu->base, err);
}

int dg_cuda_weight_new(struct dg_backend *be, const struct dg_weight_spec *spec,
    struct dg_weight **out, struct dg_error *err)
{
    struct dg_cuda *cu = dg_cuda_of(be);
    const struct dg_stored *rows;
    *out = NULL;
    int rc = dg_weight_rows(spec, &rows, err);
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
            rc = place(cu, spec, rows, cu->type, &w->matrix, err);
    }
    w->floats = floats;
    if (rc) {
        dg_cuda_weight_free(be, w);
        return rc;
    }
    *out = w;
    return 0;
}

/* Copies one array of a part to its place in `to` and releases the part's own. */
static void *gather(
    struct dg_cuda *cu, void *to, size_t at, void *from, size_t n, enum dg_type type)
{
    const size_t bytes = dg_cuda_type_bytes(type);
    if (!to)
        return NULL;
    char *part = (char *)to + at * bytes;
    dg_cuda_copy(cu, part, from, n * bytes, cudaMemcpyDeviceToDevice, "joining weights");
    dg_cuda_release(cu, from);
    return part;
}

int dg_cuda_weight_join(struct dg_backend *be, struct dg_weight *const *parts, size_t n,
    struct dg_weight **out, struct dg_error *err)
{
    struct dg_cuda *cu = dg_cuda_of(be);
    const struct dg_weight *first = parts[0];
    struct dg_weight *w = calloc(1, sizeof *w);
    size_t all = 0;
    *out = NULL;
    if (!w)
        return dg_error_set(err, DG_ENOMEM, "no memory to join %zu weights", n);
    for (size_t i = 0; i < n; i++)
        all += parts[i]->N * parts[i]->K;
    const bool vector = first->use & DG_USE_VECTOR;
    *w = (struct dg_weight){
        .N = vector ? 1 : all / first->K, .K = vector ? all : first->K, .use = first->use};
    w->matrix = first->matrix ? dg_cuda_alloc(cu, all * dg_cuda_type_bytes(cu->type)) : NULL;
    w->floats = first->floats ? dg_cuda_alloc(cu, all * sizeof(float)) : NULL;
    if (!w->matrix != !first->matrix || !w->floats != !first->floats || !dg_cuda_alive(cu)) {
        dg_cuda_weight_free(be, w);
        return dg_error_set(err, DG_ENOMEM, "no memory on %s to join %zu weights", cu->name, n);
    }
    for (size_t i = 0, at = 0; i < n; i++) {
        struct dg_weight *p = parts[i];
        const size_t size = p->N * p->K;
        assert(!p->borrowed && (vector || p->K == first->K));
        p->matrix = gather(cu, w->matrix, at, p->matrix, size, cu->type);
        p->floats = gather(cu, w->floats, at, p->floats, size, DG_F32);
        p->borrowed = true;
        at += size;
    }
    *out = w;
    return dg_cuda_status(be, err);
}

void dg_cuda_weight_free(struct dg_backend *be, struct dg_weight *w)
{
    struct dg_cuda *cu = dg_cuda_of(be);
    if (!w)
        return;
    if (!w->borrowed) {
        dg_cuda_release(cu, w->matrix);
        dg_cuda_release(cu, w->floats);
    }
    free(w);
}
