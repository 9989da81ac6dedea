/* cuBLASLt as plain loops, so that the plugin's own choice of algorithms (kernels/cuda/gemm.c)
 * runs on the host. There are four algorithms: 66 in one piece or split in two (both add up alike
 * here), 67, and 68, which adds up from the end. For numbers of rows other than 64 the heuristic
 * returns 66 alone; with DRAGOMAN_EMU_RIVALS=agree it returns 67 and 66, with =differ 68, 67, 66.
 * DRAGOMAN_EMU_REFUSE makes it refuse some products, as the library may:
 *   check=N     no algorithm passes the check for N rows
 *   check=N:66  only algorithm 66 fails it
 *   run=N       the check passes, but multiplying N rows is refused
 *   end=N       no algorithm has any of these epilogue bits
 *   runend=N    the heuristic offers one with them, but running it is refused */
#include "kernels/backend.h"
#include "tests/emu/device.h"
#include "weights/half.h"

#include <cublasLt.h>
#include <stdio.h>
#include <stdlib.h>
#include <pthread.h>
#include <string.h>

struct dg_emu_cublaslt {
    int device;
};

/* Contents of the opaque structs. */
struct layout {
    uint64_t type, rows, columns, ld;
};
struct desc {
    void *bias, *aux;
    int64_t aux_ld;
    uint32_t trans_a, trans_b, epilogue;
};
struct algo {
    int32_t id, split;
};
_Static_assert(sizeof(struct layout) <= sizeof(cublasLtMatrixLayoutOpaque_t), "it fits");

/* Returns what DRAGOMAN_EMU_REFUSE says after `when`, which ends with '='; "": nothing. */
static const char *refused(const char *when)
{
    const char *wish = getenv("DRAGOMAN_EMU_REFUSE");
    const size_t n = strlen(when);
    return wish && !strncmp(wish, when, n) ? wish + n : "";
}

static bool refuses(const char *when, const cublasLtMatrixLayoutOpaque_t *d, int id)
{
    const char *rows = refused(when), *only = strchr(rows, ':');
    struct layout out;
    memcpy(&out, d, sizeof out);
    return *rows && out.columns == strtoull(rows, NULL, 10) && (!only || atoi(only + 1) == id);
}

static bool refuses_end(const char *when, cublasLtMatmulDesc_t desc)
{
    struct desc x;
    memcpy(&x, desc, sizeof x);
    return x.epilogue & strtoul(refused(when), NULL, 10);
}

/* Counts of the products that have run, by epilogue, result type and result rows (our columns). */
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
static struct ran {
    uint64_t epilogue, type, rows;
    unsigned long n;
} ran[256]; /* guarded by counting */

static void count(uint64_t epilogue, const struct layout *d)
{
    pthread_mutex_lock(&counting);
    struct ran *r = ran;
    while (r < ran + 255 && r->n &&
           (r->epilogue != epilogue || r->type != d->type || r->rows != d->rows))
        r++;
    *r = (struct ran){epilogue, d->type, d->rows, r->n + 1};
    pthread_mutex_unlock(&counting);
}

/* Returns the number of such products. epilogue 0, rows 0: any; type: NVIDIA's number. */
unsigned long dg_emu_products(unsigned epilogue, int type, size_t rows);
unsigned long dg_emu_products(unsigned epilogue, int type, size_t rows)
{
    unsigned long n = 0;
    pthread_mutex_lock(&counting);
    for (const struct ran *r = ran; r < ran + 256; r++)
        if ((!epilogue || r->epilogue == epilogue) && r->type == (uint64_t)type &&
            (!rows || r->rows == rows))
            n += r->n;
    pthread_mutex_unlock(&counting);
    return n;
}

cublasStatus_t cublasLtCreate(cublasLtHandle_t *lt)
{
    *lt = calloc(1, sizeof **lt);
    if (*lt)
        cudaGetDevice(&(*lt)->device);
    return *lt ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t lt)
{
    free(lt);
    return CUBLAS_STATUS_SUCCESS;
}

const char *cublasLtGetStatusName(cublasStatus_t status)
{
    return status == CUBLAS_STATUS_NOT_SUPPORTED   ? "CUBLAS_STATUS_NOT_SUPPORTED"
           : status == CUBLAS_STATUS_INVALID_VALUE ? "CUBLAS_STATUS_INVALID_VALUE"
                                                   : "CUBLAS_STATUS_ALLOC_FAILED";
}

cublasStatus_t cublasLtMatmulDescInit(
    cublasLtMatmulDesc_t desc, cublasComputeType_t compute, cudaDataType_t scale)
{
    memset(desc, 0, sizeof *desc);
    return compute == CUBLAS_COMPUTE_32F && scale == CUDA_R_32F ? CUBLAS_STATUS_SUCCESS
                                                                : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(
    cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t what, const void *value, size_t bytes)
{
    struct desc x;
    memcpy(&x, desc, sizeof x);
    void *to = what == CUBLASLT_MATMUL_DESC_BIAS_POINTER           ? (void *)&x.bias
               : what == CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER ? (void *)&x.aux
               : what == CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD      ? (void *)&x.aux_ld
               : what == CUBLASLT_MATMUL_DESC_TRANSA               ? (void *)&x.trans_a
               : what == CUBLASLT_MATMUL_DESC_TRANSB               ? (void *)&x.trans_b
                                                                   : (void *)&x.epilogue;
    const bool wide = to == &x.bias || to == &x.aux || to == &x.aux_ld;
    if (bytes != (wide ? 8 : sizeof x.epilogue))
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(to, value, bytes);
    memcpy(desc, &x, sizeof x);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutInit(
    cublasLtMatrixLayout_t layout, cudaDataType_t type, uint64_t rows, uint64_t columns, int64_t ld)
{
    const struct layout x = {type, rows, columns, (uint64_t)ld};
    memset(layout, 0, sizeof *layout);
    memcpy(layout, &x, sizeof x);
    return ld >= (int64_t)rows ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

/* The only preference kept is whether sums may be split. */
cublasStatus_t cublasLtMatmulPreferenceInit(cublasLtMatmulPreference_t wish)
{
    memset(wish, 0, sizeof *wish);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t wish,
    cublasLtMatmulPreferenceAttributes_t what, const void *value, size_t bytes)
{
    if (what == CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK)
        memcpy(wish, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

static unsigned long choices;

unsigned long dg_emu_choices(void);
unsigned long dg_emu_choices(void)
{
    return choices;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t lt, cublasLtMatmulDesc_t desc,
    cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
    cublasLtMatrixLayout_t d, cublasLtMatmulPreference_t wish, int asked,
    cublasLtMatmulHeuristicResult_t *results, int *n)
{
    static const struct algo all[] = {{66, 2}, {66, 1}, {67, 1}}, agree[] = {{67, 1}, {66, 1}},
                             differ[] = {{68, 1}, {67, 1}, {66, 1}};
    const char *rivals = getenv("DRAGOMAN_EMU_RIVALS");
    struct layout out;
    (void)lt, (void)a, (void)b, (void)c;
    memcpy(&out, d, sizeof out);
    choices++;
    *n = 0;
    if (refuses_end("end=", desc))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    const struct algo *named = all;
    size_t first = wish->data[0] ? 0 : 1, end = 3;
    if (!wish->data[0] && out.columns != 64) {
        named = !rivals ? all : strcmp(rivals, "agree") ? differ : agree;
        first = rivals ? 0 : 1;
        end = !rivals ? 2 : named == agree ? 2 : 3;
    }
    for (size_t i = first; i < end && *n < asked; i++) {
        memset(&results[*n], 0, sizeof results[*n]);
        memcpy(&results[(*n)++].algo, &named[i], sizeof named[i]);
    }
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t lt, cublasLtMatmulDesc_t desc,
    cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c,
    cublasLtMatrixLayout_t d, const cublasLtMatmulAlgo_t *algo,
    cublasLtMatmulHeuristicResult_t *result)
{
    struct algo x;
    (void)lt, (void)desc, (void)a, (void)b, (void)c;
    memcpy(&x, algo, sizeof x);
    memset(result, 0, sizeof *result);
    return refuses("check=", d, x.id) ? CUBLAS_STATUS_NOT_SUPPORTED : CUBLAS_STATUS_SUCCESS;
}

/* 32-bit attributes are 4 bytes wide, the others 2, as in the library. */
cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const cublasLtMatmulAlgo_t *algo,
    cublasLtMatmulAlgoConfigAttributes_t what, void *value, size_t bytes, size_t *written)
{
    struct algo x;
    memcpy(&x, algo, sizeof x);
    const bool small = what == CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID;
    const int32_t is = what == CUBLASLT_ALGO_CONFIG_ID           ? x.id
                       : what == CUBLASLT_ALGO_CONFIG_SPLITK_NUM ? x.split
                       : what == CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME && x.split > 1
                           ? (int32_t)CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE
                           : 0;
    const uint16_t narrow = (uint16_t)is;
    *written = small ? sizeof narrow : sizeof is;
    if (bytes != *written)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(value, small ? (const void *)&narrow : &is, bytes);
    return CUBLAS_STATUS_SUCCESS;
}

/* A product to be run: d = a b, column-major; rows of a and columns of b are reached by strides. */
struct product {
    const void *a, *b, *bias;
    void *d, *b_sums;
    unsigned char *bits; /* ReLU masks, aux_ld bits per column of d */
    size_t rows, columns, sum, ai, ak, bj, bk, ldd, aux_ld;
    enum dg_type in, out;
    bool add, relu, drelu, backward;
};

static enum dg_type type_of(uint64_t type)
{
    return type == CUDA_R_32F ? DG_F32 : type == CUDA_R_16F ? DG_F16 : DG_BF16;
}

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

static void finish(const struct product *p, size_t j, float *sums)
{
    for (size_t i = 0; i < p->rows; i++) {
        float x = sums[i];
        if (p->add)
            x += load(p->d, p->out, i + j * p->ldd);
        if (p->bias)
            x += load(p->bias, p->out, i);
        if (p->bits) {
            unsigned char *byte = &p->bits[(j * p->aux_ld + i) / 8],
                          bit = (unsigned char)(1 << i % 8);
            if (p->drelu)
                x = *byte & bit ? x : 0;
            else
                *byte = (unsigned char)(x > 0 ? *byte | bit : *byte & ~bit);
        }
        store(p->d, p->out, i + j * p->ldd, p->relu && x < 0 ? 0 : x);
    }
}

/* Adds each sum in order of k, or from the end; side by side over i, so that the compiler can do
 * several at once. */
static void multiply(const void *arg)
{
    const struct product *p = arg;
    if (!p->rows || !p->columns || !p->sum)
        return;
    float *a = malloc(p->rows * p->sum * sizeof *a), *sums = malloc(p->rows * sizeof *sums);
    if (!a || !sums)
        abort();
    for (size_t i = 0; i < p->rows; i++)
        for (size_t k = 0; k < p->sum; k++)
            a[k * p->rows + i] = load(p->a, p->in, i * p->ai + k * p->ak);
    for (size_t j = 0; j < p->columns; j++) {
        float b_sum = 0;
        memset(sums, 0, p->rows * sizeof *sums);
        for (size_t n = 0; n < p->sum; n++) {
            const size_t k = p->backward ? p->sum - 1 - n : n;
            const float b = load(p->b, p->in, j * p->bj + k * p->bk);
            b_sum += b;
            for (size_t i = 0; i < p->rows; i++)
                sums[i] += a[k * p->rows + i] * b;
        }
        finish(p, j, sums);
        if (p->b_sums)
            store(p->b_sums, p->out, j, b_sum);
    }
    free(a);
    free(sums);
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t lt, cublasLtMatmulDesc_t desc, const void *alpha,
    const void *a, cublasLtMatrixLayout_t la, const void *b, cublasLtMatrixLayout_t lb,
    const void *beta, const void *c, cublasLtMatrixLayout_t lc, void *d, cublasLtMatrixLayout_t ld,
    const cublasLtMatmulAlgo_t *algo, void *workspace, size_t workspace_bytes, cudaStream_t stream)
{
    struct layout A, B, D;
    struct desc x;
    struct algo chosen;
    int device = -1;
    memcpy(&chosen, algo, sizeof chosen);
    (void)workspace, (void)workspace_bytes, (void)lc;
    cudaGetDevice(&device);
    memcpy(&A, la, sizeof A), memcpy(&B, lb, sizeof B), memcpy(&D, ld, sizeof D);
    memcpy(&x, desc, sizeof x);
    if (device != lt->device || c != d || *(const float *)alpha != 1)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (refuses("run=", ld, 0) || refuses_end("runend=", desc))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    /* aux_ld a multiple of 128 bits, as NVIDIA's header requires */
    const bool aux = x.epilogue & 128;
    if (aux && (!x.aux || (uintptr_t)x.aux % 16 || x.aux_ld % 128 || x.aux_ld < (int64_t)D.rows))
        return CUBLAS_STATUS_INVALID_VALUE;
    count(x.epilogue, &D);
    const size_t sum = x.trans_a ? A.rows : A.columns;
    if (sum != (x.trans_b ? B.columns : B.rows) || D.rows != (x.trans_a ? A.columns : A.rows) ||
        D.columns != (x.trans_b ? B.rows : B.columns))
        return CUBLAS_STATUS_INVALID_VALUE;
    const struct product p = {.a = a,
        .b = b,
        .d = d,
        .rows = D.rows,
        .columns = D.columns,
        .sum = sum,
        .bias = x.epilogue & CUBLASLT_EPILOGUE_BIAS ? x.bias : NULL,
        .relu = x.epilogue & CUBLASLT_EPILOGUE_RELU,
        .drelu = x.epilogue & 8,
        .b_sums = x.epilogue & CUBLASLT_EPILOGUE_BGRADB ? x.bias : NULL,
        .bits = aux ? x.aux : NULL,
        .aux_ld = (size_t)x.aux_ld,
        .ai = x.trans_a ? A.ld : 1,
        .ak = x.trans_a ? 1 : A.ld,
        .bj = x.trans_b ? 1 : B.ld,
        .bk = x.trans_b ? B.ld : 1,
        .ldd = D.ld,
        .in = type_of(A.type),
        .out = type_of(D.type),
        .add = *(const float *)beta != 0,
        .backward = chosen.id == 68};
    dg_emu_call(stream, multiply, &p, sizeof p);
    return CUBLAS_STATUS_SUCCESS;
}
