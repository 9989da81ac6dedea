/* Which of cuBLASLt's algorithms multiplies: asked for once per shape and kept.
 * Row-stable products (contract 1): chosen for (N, K, types, alignment) at one number of rows, the
 * sum in one piece, and serving every M that an engine may run, which is asked of the library for
 * each of them before the first product; where it refuses one, our own kernel multiplies them all.
 * That the library's kernel treats each row alike is its property, not its promise: test_cuda_rows
 * checks it on the device. Others, the
 * trainer's: the best for each power of two of rows, so that the choice does not depend on which M
 * came first. Partial sums are never kept in 16 bits. */
#include "kernels/cuda/gemm_algorithm.h"

#include "base/debug.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>

enum { ASKED = 16, STABLE_ROWS = 64 };

static cublasLtEpilogue_t epilogue(const struct dg_gemm_call *call)
{
    if (call->bias)
        return call->relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
    return call->relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT;
}

static cudaDataType_t data_type(enum dg_type type)
{
    return type == DG_F32 ? CUDA_R_32F : type == DG_F16 ? CUDA_R_16F : CUDA_R_16BF;
}

static cublasStatus_t set(
    struct dg_gemm_problem *p, cublasLtMatmulDescAttributes_t what, const void *value, size_t bytes)
{
    return cublasLtMatmulDescSetAttribute(&p->desc, what, value, bytes);
}

void dg_gemm_lay_out(const struct dg_gemm_call *call, size_t rows, struct dg_gemm_problem *p)
{
    const cudaDataType_t in = data_type(call->in), out = data_type(call->out);
    const size_t M = rows, N = call->N, K = call->K;
    if (call->kind == DG_GEMM_FORWARD) { /* [N,M] = b[K,N]^T a[K,M] */
        cublasLtMatrixLayoutInit(&p->a, in, K, N, (int64_t)call->ldb);
        cublasLtMatrixLayoutInit(&p->b, in, K, M, (int64_t)call->lda);
        cublasLtMatrixLayoutInit(&p->c, out, N, M, (int64_t)call->ldc);
    } else if (call->kind == DG_GEMM_INPUT) { /* [K,M] = b[K,N] a[N,M] */
        cublasLtMatrixLayoutInit(&p->a, in, K, N, (int64_t)call->ldb);
        cublasLtMatrixLayoutInit(&p->b, in, N, M, (int64_t)call->lda);
        cublasLtMatrixLayoutInit(&p->c, out, K, M, (int64_t)call->ldc);
    } else { /* [K,N] = b[K,M] a[N,M]^T */
        cublasLtMatrixLayoutInit(&p->a, in, K, M, (int64_t)call->ldb);
        cublasLtMatrixLayoutInit(&p->b, in, N, M, (int64_t)call->lda);
        cublasLtMatrixLayoutInit(&p->c, out, K, N, (int64_t)call->ldc);
    }
}

cublasStatus_t dg_gemm_describe(
    const struct dg_gemm_call *call, size_t rows, struct dg_gemm_problem *p)
{
    const cublasOperation_t yes = CUBLAS_OP_T, no = CUBLAS_OP_N;
    const cublasLtEpilogue_t end = epilogue(call);
    const bool ta = call->kind == DG_GEMM_FORWARD, tb = call->kind == DG_GEMM_WEIGHT;
    cublasStatus_t rc = cublasLtMatmulDescInit(&p->desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    p->pa = call->b;
    p->pb = call->a;
    dg_gemm_lay_out(call, rows, p);
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

/* The largest power of two up to 16 bytes that the address and the row distance are multiples
 * of. */
static uint32_t alignment(const void *p, size_t ld, enum dg_type type)
{
    const uintptr_t bits = (uintptr_t)p | ld * (type == DG_F32 ? 4 : 2) | 16;
    return (uint32_t)(bits & (~bits + 1));
}

static size_t bucket(size_t M)
{
    size_t b = 16;
    while (b < M)
        b *= 2;
    return b;
}

/* One number of an algorithm; -1: it has none. Some are of 32 bits, some of 16. */
static int32_t config_of(
    const cublasLtMatmulAlgo_t *algo, cublasLtMatmulAlgoConfigAttributes_t what)
{
    int32_t value = 0;
    uint16_t small = 0;
    size_t written = 0;
    if (!cublasLtMatmulAlgoConfigGetAttribute(algo, what, &value, sizeof value, &written))
        return value;
    return cublasLtMatmulAlgoConfigGetAttribute(algo, what, &small, sizeof small, &written) ? -1
                                                                                            : small;
}

/* The sum in one piece: neither split-K nor stream-K, which the library marks by a negative
 * number. */
static bool is_whole(const cublasLtMatmulAlgo_t *algo)
{
    const int32_t split = config_of(algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
    return (split == 0 || split == 1) &&
           config_of(algo, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME) == CUBLASLT_REDUCTION_SCHEME_NONE;
}

static bool serves(struct dg_cuda_gemm_context *g, const struct dg_gemm_call *call, size_t rows,
    struct dg_gemm_problem *p, const cublasLtMatmulAlgo_t *algo)
{
    cublasLtMatmulHeuristicResult_t result;
    dg_gemm_lay_out(call, rows, p);
    return !cublasLtMatmulAlgoCheck(g->lt, &p->desc, &p->a, &p->b, &p->c, &p->c, algo, &result) &&
           result.workspaceSize <= DG_GEMM_WORKSPACE;
}

/* The smallest number of rows that the library refuses the algorithm for, of all that an engine
 * may run: every step's, every encoder pass'; 0: none. */
static size_t first_refused(struct dg_cuda_gemm_context *g, const struct dg_gemm_call *call,
    const cublasLtMatmulAlgo_t *algo)
{
    struct dg_gemm_problem p;
    if (dg_gemm_describe(call, 1, &p))
        return 1;
    for (size_t M = 1; M <= DG_GEMM_CHECKED; M++)
        if (!serves(g, call, M, &p, algo))
            return M;
    return 0;
}

static cublasStatus_t wish_for(const struct dg_gemm_call *call, const struct dg_gemm_key *key,
    cublasLtMatmulPreferenceOpaque_t *wish)
{
    const size_t workspace = DG_GEMM_WORKSPACE;
    const uint32_t schemes = key->whole            ? CUBLASLT_REDUCTION_SCHEME_NONE
                             : call->out == DG_F32 ? CUBLASLT_REDUCTION_SCHEME_MASK
                                                   : CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    static const cublasLtMatmulPreferenceAttributes_t aligned[] = {
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES};
    cublasStatus_t rc = cublasLtMatmulPreferenceInit(wish);
    if (!rc)
        rc = cublasLtMatmulPreferenceSetAttribute(
            wish, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace);
    if (!rc)
        rc = cublasLtMatmulPreferenceSetAttribute(
            wish, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes, sizeof schemes);
    for (int i = 0; i < 4 && !rc; i++) {
        const uint32_t align = key->align[i < 2 ? i : 2];
        rc = cublasLtMatmulPreferenceSetAttribute(wish, aligned[i], &align, sizeof align);
    }
    return rc;
}

/* Says for which number of rows no algorithm would do: plan->refused. */
static int choose(struct dg_cuda_gemm_context *g, const struct dg_gemm_call *call,
    struct dg_gemm_plan *plan, struct dg_error *err)
{
    const size_t rows = plan->key.M ? plan->key.M : STABLE_ROWS;
    cublasLtMatmulPreferenceOpaque_t wish;
    cublasLtMatmulHeuristicResult_t found[ASKED];
    struct dg_gemm_problem p;
    int n = 0;
    cublasStatus_t rc = dg_gemm_describe(call, rows, &p);
    if (!rc)
        rc = wish_for(call, &plan->key, &wish);
    if (!rc)
        rc = cublasLtMatmulAlgoGetHeuristic(
            g->lt, &p.desc, &p.a, &p.b, &p.c, &p.c, &wish, ASKED, found, &n);
    if (rc && rc != CUBLAS_STATUS_NOT_SUPPORTED)
        return dg_gemm_failed(err, "choosing an algorithm", rc);
    if (plan->key.align[3] < 16) /* the library's kernels load a bias so, and do not ask */
        n = 0;
    plan->none = true;
    for (int i = 0; i < n && plan->none; i++) {
        const cublasLtMatmulAlgo_t *algo = &found[i].algo;
        if (found[i].state || (plan->key.whole && !is_whole(algo)) ||
            (call->row_stable && (plan->refused = first_refused(g, call, algo))))
            continue;
        plan->algo = *algo;
        plan->split = config_of(algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
        plan->none = false;
    }
    return DG_OK;
}

static void tell(const struct dg_gemm_plan *p)
{
    static const char *const kinds[] = {"forward", "input", "weight"};
    static const char *const types[] = {"fp32", "16 bits"};
    const struct dg_gemm_key *k = &p->key;
    const char *kind = kinds[k->kind], *in = types[k->in != DG_F32], *out = types[k->out != DG_F32];
    if (p->none)
        dg_log(DG_LOG_WARN,
            "gemm_own msg=\"cuBLASLt has no algorithm for every number of rows: our own, slow kernel "
            "multiplies them all\" kind=%s m=%zu n=%zu k=%zu in=\"%s\" out=\"%s\" whole=%d "
            "align=%u,%u,%u,%u refused_rows=%zu",
            kind, k->M, k->N, k->K, in, out, k->whole, k->align[0], k->align[1], k->align[2],
            k->align[3], p->refused);
    else if (dg_debug("cuda-log"))
        dg_log(DG_LOG_INFO,
            "gemm_plan kind=%s m=%zu n=%zu k=%zu in=\"%s\" out=\"%s\" whole=%d "
            "align=%u,%u,%u,%u id=%d tile=%d stages=%d split=%d scheme=%d custom=%d cluster=%d",
            kind, k->M, k->N, k->K, in, out, k->whole, k->align[0], k->align[1], k->align[2],
            k->align[3], config_of(&p->algo, CUBLASLT_ALGO_CONFIG_ID),
            config_of(&p->algo, CUBLASLT_ALGO_CONFIG_TILE_ID),
            config_of(&p->algo, CUBLASLT_ALGO_CONFIG_STAGES_ID), p->split,
            config_of(&p->algo, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME),
            config_of(&p->algo, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION),
            config_of(&p->algo, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID));
}

static struct dg_gemm_key key_of(const struct dg_gemm_call *call, size_t M, bool whole)
{
    struct dg_gemm_key key;
    memset(&key, 0, sizeof key); /* compared as bytes */
    key.M = M;
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
    key.stable = call->row_stable;
    key.whole = whole;
    key.align[0] = alignment(call->b, call->ldb, call->in);
    key.align[1] = alignment(call->a, call->lda, call->in);
    key.align[2] = alignment(call->c, call->ldc, call->out);
    key.align[3] = alignment(call->bias, 0, call->out);
    return key;
}

int dg_gemm_find(struct dg_cuda_gemm_context *g, const struct dg_gemm_call *call, bool whole,
    const struct dg_gemm_plan **out, struct dg_error *err)
{
    struct dg_gemm_plan *p = g->plans,
                        fresh = {.key = key_of(call, call->row_stable ? 0 : bucket(call->M),
                                     whole || call->row_stable)};
    while (p < g->plans + g->n_plans && memcmp(&p->key, &fresh.key, sizeof p->key) != 0)
        p++;
    *out = p;
    if (p == g->plans + g->n_plans) {
        const int rc = choose(g, call, &fresh, err);
        if (rc)
            return rc;
        tell(&fresh);
        if (g->n_plans == DG_GEMM_PLANS)
            *out = --p;
        else
            g->n_plans++;
        memcpy(p, &fresh, sizeof fresh);
    }
    return p->none ? DG_EUNSUP : DG_OK;
}

int dg_gemm_give_up(struct dg_cuda_gemm_context *g, const struct dg_gemm_plan *plan, size_t rows)
{
    struct dg_gemm_plan *p = &g->plans[plan - g->plans];
    p->none = true;
    p->refused = rows;
    g->n_given_up++;
    tell(p);
    return DG_EUNSUP;
}
