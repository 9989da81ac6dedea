/* cuBLASLt. Row-major c[M,N] = a[M,K] b[N,K]^T is the column-major product c^T = b a^T: the
 * library's m is N, its n is M, and a row-major matrix is the transpose of a column-major one of
 * the same bytes. Algorithms are asked for once per shape and kept. Row-stable products: the
 * algorithm is chosen for (N, K, types, alignment) at one number of rows, without split-K, and then
 * serves every M. That the library's kernel for it treats each row alike is its property, not its
 * promise: tests/invariants checks it on the device. */
#include "kernels/cuda/gemm.h"

#include <cublasLt.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKSPACE = 32 << 20, ASKED = 16, STABLE_ROWS = 64, PLANS = 512 };

/* What an algorithm was chosen for. */
struct key {
    size_t M, N, K; /* M: a power of two at or above it; 0 when row-stable */
    size_t lda, ldb, ldc;
    int kind, in, out, epilogue, add, align;
};

struct plan {
    struct key key;
    cublasLtMatmulAlgo_t algo;
};

struct dg_cuda_gemm_context {
    cublasLtHandle_t lt;
    void *workspace;
    struct plan plans[PLANS];
    size_t n_plans;
};

/* Everything one call of the library needs. */
struct problem {
    cublasLtMatmulDescOpaque_t desc;
    cublasLtMatrixLayoutOpaque_t a, b, c; /* in the library's order: a is our b */
    const void *pa, *pb;
};

static int failed(struct dg_error *err, const char *what, cublasStatus_t rc)
{
    return dg_error_set(
        err, DG_EINTERNAL, "cuBLASLt failed at %s: %s", what, cublasLtGetStatusName(rc));
}

static cudaDataType_t data_type(enum dg_type type)
{
    return type == DG_F32 ? CUDA_R_32F : type == DG_F16 ? CUDA_R_16F : CUDA_R_16BF;
}

void dg_cuda_gemm_version(char *text, size_t size)
{
    snprintf(text, size, "cuBLASLt %zu", cublasLtGetVersion());
}

int dg_cuda_gemm_open(int device, struct dg_cuda_gemm_context **out, struct dg_error *err)
{
    (void)device; /* the calling thread's current one */
    struct dg_cuda_gemm_context *g = calloc(1, sizeof *g);
    if (!g)
        return dg_error_set(err, DG_ENOMEM, "no memory for matrix products");
    const cublasStatus_t rc = cublasLtCreate(&g->lt);
    if (rc != CUBLAS_STATUS_SUCCESS) {
        free(g);
        return failed(err, "its start", rc);
    }
    if (cudaMalloc(&g->workspace, WORKSPACE) != cudaSuccess) {
        cudaGetLastError();
        dg_cuda_gemm_close(g);
        return dg_error_set(
            err, DG_ENOMEM, "no device memory for the workspace of matrix products");
    }
    *out = g;
    return DG_OK;
}

void dg_cuda_gemm_close(struct dg_cuda_gemm_context *g)
{
    if (!g)
        return;
    cudaFree(g->workspace);
    cublasLtDestroy(g->lt);
    free(g);
}

size_t dg_cuda_gemm_bytes(void)
{
    return WORKSPACE;
}

static cublasLtEpilogue_t epilogue(const struct dg_gemm_call *call)
{
    if (call->bias)
        return call->relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
    return call->relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT;
}

static cublasStatus_t set(
    struct problem *p, cublasLtMatmulDescAttributes_t what, const void *value, size_t bytes)
{
    return cublasLtMatmulDescSetAttribute(&p->desc, what, value, bytes);
}

/* rows: the M to describe. Columns of the library are our rows. */
static cublasStatus_t describe(const struct dg_gemm_call *call, size_t rows, struct problem *p)
{
    const cublasOperation_t yes = CUBLAS_OP_T, no = CUBLAS_OP_N;
    const cudaDataType_t in = data_type(call->in), out = data_type(call->out);
    const cublasLtEpilogue_t end = epilogue(call);
    const size_t M = rows, N = call->N, K = call->K;
    bool ta = false, tb = false;
    cublasStatus_t rc = cublasLtMatmulDescInit(&p->desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    p->pa = call->b;
    p->pb = call->a;
    if (call->kind == DG_GEMM_FORWARD) { /* [N,M] = b[K,N]^T a[K,M] */
        ta = true;
        cublasLtMatrixLayoutInit(&p->a, in, K, N, (int64_t)call->ldb);
        cublasLtMatrixLayoutInit(&p->b, in, K, M, (int64_t)call->lda);
        cublasLtMatrixLayoutInit(&p->c, out, N, M, (int64_t)call->ldc);
    } else if (call->kind == DG_GEMM_INPUT) { /* [K,M] = b[K,N] a[N,M] */
        cublasLtMatrixLayoutInit(&p->a, in, K, N, (int64_t)call->ldb);
        cublasLtMatrixLayoutInit(&p->b, in, N, M, (int64_t)call->lda);
        cublasLtMatrixLayoutInit(&p->c, out, K, M, (int64_t)call->ldc);
    } else { /* [K,N] = b[K,M] a[N,M]^T */
        tb = true;
        cublasLtMatrixLayoutInit(&p->a, in, K, M, (int64_t)call->ldb);
        cublasLtMatrixLayoutInit(&p->b, in, N, M, (int64_t)call->lda);
        cublasLtMatrixLayoutInit(&p->c, out, K, N, (int64_t)call->ldc);
    }
    if (!rc)
        rc = set(p, CUBLASLT_MATMUL_DESC_TRANSA, ta ? &yes : &no, sizeof yes);
    if (!rc)
        rc = set(p, CUBLASLT_MATMUL_DESC_TRANSB, tb ? &yes : &no, sizeof yes);
    if (!rc)
        rc = set(p, CUBLASLT_MATMUL_DESC_EPILOGUE, &end, sizeof end);
    if (!rc && call->bias)
        rc = set(p, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &call->bias, sizeof call->bias);
    return rc;
}

/* The largest power of two up to 16 bytes that all addresses and row distances are multiples of. */
static uint32_t alignment(const struct dg_gemm_call *call)
{
    const size_t in = call->in == DG_F32 ? 4 : 2, out = call->out == DG_F32 ? 4 : 2;
    uintptr_t bits =
        (uintptr_t)call->a | (uintptr_t)call->b | (uintptr_t)call->c | (uintptr_t)call->bias;
    bits |= call->lda * in | call->ldb * in | call->ldc * out | 16;
    return (uint32_t)(bits & (~bits + 1));
}

static size_t bucket(size_t M)
{
    size_t b = 16;
    while (b < M)
        b *= 2;
    return b;
}

static bool may_serve(struct dg_cuda_gemm_context *g, const struct dg_gemm_call *call,
    const cublasLtMatmulAlgo_t *algo)
{
    static const size_t rows[] = {1, 7, 64, 1024, 8192};
    int32_t split = 1;
    uint32_t scheme = 0;
    size_t written = 0;
    if (cublasLtMatmulAlgoConfigGetAttribute(
            algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &split, sizeof split, &written) ||
        cublasLtMatmulAlgoConfigGetAttribute(
            algo, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, &scheme, sizeof scheme, &written) ||
        split > 1 || scheme != CUBLASLT_REDUCTION_SCHEME_NONE)
        return false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct problem p;
        cublasLtMatmulHeuristicResult_t result;
        if (describe(call, rows[i], &p) ||
            cublasLtMatmulAlgoCheck(g->lt, &p.desc, &p.a, &p.b, &p.c, &p.c, algo, &result) ||
            result.workspaceSize > WORKSPACE)
            return false;
    }
    return true;
}

static int choose(struct dg_cuda_gemm_context *g, const struct dg_gemm_call *call, uint32_t align,
    cublasLtMatmulAlgo_t *algo, struct dg_error *err)
{
    const size_t rows = call->row_stable ? STABLE_ROWS : call->M, workspace = WORKSPACE;
    cublasLtMatmulPreferenceOpaque_t wish;
    cublasLtMatmulHeuristicResult_t found[ASKED];
    struct problem p;
    int n = 0;
    const uint32_t schemes =
        call->row_stable ? CUBLASLT_REDUCTION_SCHEME_NONE : CUBLASLT_REDUCTION_SCHEME_MASK;
    cublasStatus_t rc = describe(call, rows, &p);
    if (!rc)
        rc = cublasLtMatmulPreferenceInit(&wish);
    if (!rc)
        rc = cublasLtMatmulPreferenceSetAttribute(
            &wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace);
    if (!rc)
        rc = cublasLtMatmulPreferenceSetAttribute(
            &wish, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes, sizeof schemes);
    const cublasLtMatmulPreferenceAttributes_t aligned[] = {
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
    for (int i = 0; i < 4 && !rc; i++)
        rc = cublasLtMatmulPreferenceSetAttribute(&wish, aligned[i], &align, sizeof align);
    if (!rc)
        rc = cublasLtMatmulAlgoGetHeuristic(
            g->lt, &p.desc, &p.a, &p.b, &p.c, &p.c, &wish, ASKED, found, &n);
    if (rc && rc != CUBLAS_STATUS_NOT_SUPPORTED)
        return failed(err, "choosing an algorithm", rc);
    for (int i = 0; i < n; i++)
        if (!found[i].state && (!call->row_stable || may_serve(g, call, &found[i].algo))) {
            *algo = found[i].algo;
            return DG_OK;
        }
    return DG_EUNSUP;
}

static const struct plan *find_plan(struct dg_cuda_gemm_context *g, const struct dg_gemm_call *call,
    int *code, struct dg_error *err)
{
    const uint32_t align = alignment(call);
    struct key key;
    memset(&key, 0, sizeof key); /* compared as bytes */
    key.M = call->row_stable ? 0 : bucket(call->M);
    key.N = call->N;
    key.K = call->K;
    key.lda = call->lda;
    key.ldb = call->ldb;
    key.ldc = call->ldc;
    key.kind = call->kind;
    key.in = call->in;
    key.out = call->out;
    key.epilogue = (int)epilogue(call);
    key.add = call->add;
    key.align = (int)align;
    for (size_t i = 0; i < g->n_plans; i++)
        if (!memcmp(&g->plans[i].key, &key, sizeof key))
            return &g->plans[i];
    struct plan *p = &g->plans[g->n_plans < PLANS ? g->n_plans : PLANS - 1];
    p->key = key;
    *code = choose(g, call, align, &p->algo, err);
    if (*code)
        return NULL;
    g->n_plans += g->n_plans < PLANS;
    return p;
}

int dg_cuda_gemm_run(struct dg_cuda_gemm_context *g, cudaStream_t stream,
    const struct dg_gemm_call *call, struct dg_error *err)
{
    const float one = 1, beta = call->add ? 1 : 0;
    struct problem p;
    int code = DG_OK;
    const struct plan *plan = find_plan(g, call, &code, err);
    if (!plan)
        return code;
    cublasStatus_t rc = describe(call, call->M, &p);
    if (!rc)
        rc = cublasLtMatmul(g->lt, &p.desc, &one, p.pa, &p.a, p.pb, &p.b, &beta, call->c, &p.c,
            call->c, &p.c, &plan->algo, g->workspace, WORKSPACE, stream);
    return rc ? failed(err, "a product", rc) : DG_OK;
}
