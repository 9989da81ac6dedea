/* kernels/cuda/gemm.h by plain loops: what cuBLASLt does on a device. */
#include "kernels/cuda/gemm.h"
#include "tests/emu/device.h"
#include "weights/half.h"

#include <stdio.h>
#include <stdlib.h>

struct dg_cuda_gemm_context {
    int device;
};

static float load(const void *p, enum dg_type type, size_t i)
{
    if (type == DG_F32)
        return ((const float *)p)[i];
    const uint16_t h = ((const uint16_t *)p)[i];
    return type == DG_F16 ? dg_f16_to_f32(h) : dg_bf16_to_f32(h);
}

static void store(void *p, enum dg_type type, size_t i, float x)
{
    if (type == DG_F32)
        ((float *)p)[i] = x;
    else
        ((uint16_t *)p)[i] = type == DG_F16 ? dg_f16_from_f32(x) : dg_bf16_from_f32(x);
}

int dg_cuda_gemm_open(
    int device, bool family, struct dg_cuda_gemm_context **out, struct dg_error *err)
{
    (void)family; /* plain loops are alike for every size */
    *out = calloc(1, sizeof **out);
    if (*out)
        (*out)->device = device;
    return *out ? DG_OK : dg_error_set(err, DG_ENOMEM, "no memory");
}

void dg_cuda_gemm_close(struct dg_cuda_gemm_context *g)
{
    free(g);
}

/* Element (i,j) of the result; strides of a and b along i or j, and along what is summed. */
struct walk {
    size_t rows, columns, sum;
    size_t ai, ak, bj, bk;
};

static struct walk walk_of(const struct dg_gemm_call *c)
{
    if (c->kind == DG_GEMM_FORWARD)
        return (struct walk){c->M, c->N, c->K, c->lda, 1, c->ldb, 1};
    if (c->kind == DG_GEMM_INPUT)
        return (struct walk){c->M, c->K, c->N, c->lda, 1, 1, c->ldb};
    return (struct walk){c->N, c->K, c->M, 1, c->lda, 1, c->ldb};
}

static float *floats(const void *p, enum dg_type type, size_t n)
{
    float *x = malloc((n ? n : 1) * sizeof *x);
    for (size_t i = 0; x && i < n; i++)
        x[i] = load(p, type, i);
    return x;
}

static void multiply(const void *call)
{
    const struct dg_gemm_call *c = call;
    const struct walk w = walk_of(c);
    if (!c->M || !c->N || !c->K)
        return;
    float *a = floats(c->a, c->in, (w.rows - 1) * w.ai + (w.sum - 1) * w.ak + 1);
    float *b = floats(c->b, c->in, (w.columns - 1) * w.bj + (w.sum - 1) * w.bk + 1);
    if (!a || !b)
        abort();
    for (size_t i = 0; i < w.rows; i++)
        for (size_t j = 0; j < w.columns; j++) {
            float sum = 0;
            for (size_t k = 0; k < w.sum; k++)
                sum += a[i * w.ai + k * w.ak] * b[j * w.bj + k * w.bk];
            if (c->add)
                sum += load(c->c, c->out, i * c->ldc + j);
            if (c->bias)
                sum += load(c->bias, c->out, j);
            store(c->c, c->out, i * c->ldc + j, c->relu && sum < 0 ? 0 : sum);
        }
    free(a);
    free(b);
}

int dg_cuda_gemm_run(struct dg_cuda_gemm_context *g, cudaStream_t stream,
    const struct dg_gemm_call *c, struct dg_error *err)
{
    int device = -1;
    cudaGetDevice(&device);
    if (device != g->device)
        return dg_error_set(
            err, DG_EINTERNAL, "a product of device %d on device %d", g->device, device);
    dg_emu_call(stream, multiply, c, sizeof *c);
    return DG_OK;
}

size_t dg_cuda_gemm_bytes(void)
{
    return 0;
}

void dg_cuda_gemm_version(char *text, size_t size)
{
    snprintf(text, size, "plain loops");
}
