/* Which of cuBLASLt's algorithms multiplies: asked for once per shape and kept.
 * Row-stable products (contract 1): chosen for (N, K, types, alignment) at one number of rows, the
 * sum in one piece, and then serving every M. That the library's kernel for it treats each row
 * alike is its property, not its promise: test_cuda_rows checks it on the device. Others, the
 * trainer's: the best for each power of two of rows, so that the choice does not depend on which M
 * came first. Partial sums are never kept in 16 bits. */
#include "kernels/cuda/gemm_plan.h"

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

cublasStatus_t dg_gemm_describe(
    const struct dg_gemm_call *call, size_t rows, struct dg_gemm_problem *p)
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

/* Sizes of row-stable products that a family distinguishes. */
static size_t family_bucket(size_t M)
{
    static const size_t rows[] = {16, 64, 256, 1024};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (M <= rows[i])
            return rows[i];
    return 8192;
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

static bool serves_all_rows(struct dg_cuda_gemm_context *g, const struct dg_gemm_call *call,
    const cublasLtMatmulAlgo_t *algo)
{
    static const size_t rows[] = {1, 7, 64, 1024, 8192};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct dg_gemm_problem p;
        cublasLtMatmulHeuristicResult_t result;
        if (dg_gemm_describe(call, rows[i], &p) ||
            cublasLtMatmulAlgoCheck(g->lt, &p.desc, &p.a, &p.b, &p.c, &p.c, algo, &result) ||
            result.workspaceSize > DG_GEMM_WORKSPACE)
            return false;
    }
    return true;
}

/* Kernels of one family add a row's products in one order, whatever their tile: seen by others on
 * an H100 where the algorithm's number and stages agree (docs/gpu.md), and to be seen on each
 * device by test_cuda_rows. */
static bool one_family(const cublasLtMatmulAlgo_t *a, const cublasLtMatmulAlgo_t *b)
{
    return config_of(a, CUBLASLT_ALGO_CONFIG_ID) == config_of(b, CUBLASLT_ALGO_CONFIG_ID) &&
           config_of(a, CUBLASLT_ALGO_CONFIG_STAGES_ID) ==
               config_of(b, CUBLASLT_ALGO_CONFIG_STAGES_ID);
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

/* anchor: the plan whose family it must be of, or NULL. */
static int choose(struct dg_cuda_gemm_context *g, const struct dg_gemm_call *call,
    const struct dg_gemm_plan *anchor, struct dg_gemm_plan *plan, struct dg_error *err)
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
    for (int i = 0; i < n; i++) {
        const cublasLtMatmulAlgo_t *algo = &found[i].algo;
        if (found[i].state || (plan->key.whole && !is_whole(algo)) ||
            (call->row_stable && !serves_all_rows(g, call, algo)) ||
            (anchor && !one_family(algo, &anchor->algo)))
            continue;
        plan->algo = *algo;
        plan->split = config_of(algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
        plan->anchored = anchor && !memcmp(algo, &anchor->algo, sizeof *algo);
        return DG_OK;
    }
    if (!anchor) {
        plan->none = true;
        return DG_OK;
    }
    plan->algo = anchor->algo;
    plan->split = anchor->split;
    plan->anchored = true;
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
            "gemm_own msg=\"cuBLASLt has no algorithm: our own, slow kernel multiplies\" kind=%s "
            "m=%zu n=%zu k=%zu in=\"%s\" out=\"%s\" whole=%d align=%u,%u,%u,%u",
            kind, k->M, k->N, k->K, in, out, k->whole, k->align[0], k->align[1], k->align[2],
            k->align[3]);
    else if (dg_debug("cuda-log"))
        dg_log(DG_LOG_INFO,
            "gemm_plan kind=%s m=%zu n=%zu k=%zu in=\"%s\" out=\"%s\" whole=%d "
            "align=%u,%u,%u,%u id=%d tile=%d stages=%d split=%d scheme=%d custom=%d cluster=%d%s",
            kind, k->M, k->N, k->K, in, out, k->whole, k->align[0], k->align[1], k->align[2],
            k->align[3], config_of(&p->algo, CUBLASLT_ALGO_CONFIG_ID),
            config_of(&p->algo, CUBLASLT_ALGO_CONFIG_TILE_ID),
            config_of(&p->algo, CUBLASLT_ALGO_CONFIG_STAGES_ID), p->split,
            config_of(&p->algo, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME),
            config_of(&p->algo, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION),
            config_of(&p->algo, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID),
            !k->stable || !k->M ? ""
            : p->anchored       ? " family=anchor"
                                : " family=other");
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

static int find(struct dg_cuda_gemm_context *g, const struct dg_gemm_call *call,
    const struct dg_gemm_key *key, const struct dg_gemm_plan *anchor,
    const struct dg_gemm_plan **out, struct dg_error *err)
{
    struct dg_gemm_plan *p = g->plans;
    for (; p < g->plans + g->n_plans; p++)
        if (!memcmp(&p->key, key, sizeof *key)) {
            *out = p;
            return DG_OK;
        }
    struct dg_gemm_plan fresh = {.key = *key};
    const int rc = choose(g, call, anchor, &fresh, err);
    if (rc)
        return rc;
    tell(&fresh);
    if (g->n_plans == DG_GEMM_PLANS)
        p = &g->plans[DG_GEMM_PLANS - 1];
    else
        g->n_plans++;
    memcpy(p, &fresh, sizeof fresh);
    *out = p;
    return DG_OK;
}

int dg_gemm_find(struct dg_cuda_gemm_context *g, const struct dg_gemm_call *call, bool whole,
    const struct dg_gemm_plan **out, struct dg_error *err)
{
    const struct dg_gemm_key key =
        key_of(call, call->row_stable ? 0 : bucket(call->M), whole || call->row_stable);
    int rc = find(g, call, &key, NULL, out, err);
    if (!rc && !(*out)->none && call->row_stable && g->family && call->in != DG_F32) {
        const struct dg_gemm_plan anchor = **out;
        const struct dg_gemm_key own = key_of(call, family_bucket(call->M), true);
        rc = find(g, call, &own, &anchor, out, err);
    }
    return !rc && (*out)->none ? DG_EUNSUP : rc;
}

int dg_gemm_give_up(struct dg_cuda_gemm_context *g, const struct dg_gemm_plan *plan)
{
    struct dg_gemm_plan *p = &g->plans[plan - g->plans];
    p->none = true;
    tell(p);
    return DG_EUNSUP;
}
