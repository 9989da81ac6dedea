/* fp32 memory of the trainer: parameters, gradients, moments. Products in 16 bits read a copy of a
 * block, which is made when it is first asked for, and rewritten after every op that changes the
 * block (Adam does both in one pass); but backward's ops add to gradients, which no product
 * reads. */
#include "kernels/cuda/internal.h"

#include <stdlib.h>

/* data[n], fp32. shadow: its copy in the backend's type for products, or NULL: none was asked for
 * yet. */
struct dg_cuda_block {
    struct dg_cuda_block *next;
    float *data;
    size_t n;
    void *shadow;
};

static struct dg_cuda_block *find(struct dg_cuda *cu, const float *p)
{
    struct dg_cuda_block *b = cu->blocks;
    while (b && (p < b->data || p >= b->data + b->n))
        b = b->next;
    return b;
}

int dg_cuda_block_new(struct dg_train *t, size_t n, float **out, struct dg_error *err)
{
    struct dg_cuda *cu = dg_cuda_of(t->be);
    *out = NULL;
    struct dg_cuda_block *b = calloc(1, sizeof *b);
    float *data = b && n <= SIZE_MAX / 8 ? dg_cuda_alloc(cu, n * sizeof *data) : NULL;
    if (!data) {
        free(b);
        return dg_error_set(
            err, DG_ENOMEM, "no memory on %s for a block of %zu floats", cu->name, n);
    }
    if (n && dg_cuda_alive(cu))
        dg_cuda_ok(cu, cudaMemsetAsync(data, 0, n * sizeof *data, cu->stream), "clearing a block");
    *b = (struct dg_cuda_block){cu->blocks, data, n, NULL};
    cu->blocks = b;
    *out = data;
    return DG_OK;
}

void dg_cuda_block_free(struct dg_train *t, float *data)
{
    struct dg_cuda *cu = dg_cuda_of(t->be);
    for (struct dg_cuda_block **link = &cu->blocks; data && *link; link = &(*link)->next) {
        struct dg_cuda_block *b = *link;
        if (b->data != data)
            continue;
        *link = b->next;
        dg_cuda_release(cu, b->shadow);
        dg_cuda_release(cu, b->data);
        free(b);
        return;
    }
}

static void copy(struct dg_cuda *cu, const struct dg_cuda_block *b, size_t first, size_t n)
{
    const struct dg_k_sum k = {.x = b->data + first,
        .n = n,
        .out = (char *)b->shadow + first * dg_cuda_type_bytes(cu->type),
        .type = cu->type};
    dg_launch_sum(cu, &k);
}

bool dg_cuda_block_holds(struct dg_cuda *cu, const float *p, size_t n)
{
    const struct dg_cuda_block *b = find(cu, p);
    return b && n <= b->n - (size_t)(p - b->data);
}

void dg_cuda_block_changed(struct dg_cuda *cu, const float *p, size_t n)
{
    const struct dg_cuda_block *b = find(cu, p);
    if (b && b->shadow && n)
        copy(cu, b, (size_t)(p - b->data), n);
}

void *dg_cuda_block_shadow(struct dg_cuda *cu, const float *p)
{
    const struct dg_cuda_block *b = find(cu, p);
    return b && b->shadow ? (char *)b->shadow + (size_t)(p - b->data) * dg_cuda_type_bytes(cu->type)
                          : NULL;
}

void *dg_cuda_operand(struct dg_cuda *cu, const struct dg_weight *w, enum dg_type type)
{
    if (type == DG_F32)
        return w->floats ? (void *)w->floats : w->matrix;
    if (w->matrix)
        return w->matrix;
    struct dg_cuda_block *b = find(cu, w->floats);
    if (b && !b->shadow) {
        b->shadow = dg_cuda_alloc(cu, b->n * dg_cuda_type_bytes(cu->type));
        if (b->shadow)
            copy(cu, b, 0, b->n);
    }
    if (!b || !b->shadow) {
        dg_cuda_ok(cu, cudaErrorMemoryAllocation, "a parameter block's 16-bit copy");
        return NULL;
    }
    return dg_cuda_block_shadow(cu, w->floats);
}
