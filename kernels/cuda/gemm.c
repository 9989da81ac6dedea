/* Matrix products: cuBLASLt, and where it has no algorithm our own kernel (gemm_own.cu).
 * Row-major c[M,N] = a[M,K] b[N,K]^T is the column-major product c^T = b a^T: the library's m is N,
 * its n is M, and a row-major matrix is the transpose of a column-major one of the same bytes.
 * Which of the library's algorithms multiplies is asked once per shape and kept. Row-stable
 * products (contract 1): chosen for (N, K, types, alignment) at one number of rows, the first in
 * the library's order of preference that has the sum in one piece and serves every M that an engine
 * may run, of which the library is asked before the first product; where it refuses one, our own
 * kernel multiplies them all. That the library's kernel treats each row alike is its property, not
 * its promise: test_cuda_rows checks it on the device. Others, the trainer's: the best for each
 * power of two of rows, so that the choice does not depend on which M came first. Partial sums are
 * never kept in 16 bits. */
#include "kernels/cuda/internal.h"

#include "base/debug.h"
#include "base/log.h"

#include <cublasLt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* CHECKED: rows of the largest step or encoder pass that an engine makes by itself (dg_ops'
 * busy_rows); what is larger, an operator's wish, is seen when it is refused. */
enum { PLANS = 512, CHECKED = 4096, ASKED = 16, STABLE_ROWS = 64 };

/* What an algorithm was chosen for: all that the library may look at. M: the largest number of
 * rows, 0: any. align: of the library's a, b, c and of the bias, 16 where there is none. Compared
 * as bytes, of which none is between the fields. */
struct key {
    size_t M, N, K, ld[3];
    int kind, in, out, epilogue, add, whole;
    uint32_t align[4];
};

/* split: parts of the sum. none: the library has no algorithm; refused: for so many rows, if it is
 * that. */
struct plan {
    struct key key;
    cublasLtMatmulAlgo_t algo;
    int32_t split;
    bool none;
    size_t refused;
};

/* told: last steps that the library lacks for some call; the log says so once. */
struct dg_cuda_gemm_context {
    cublasLtHandle_t lt;
    struct plan plans[PLANS];
    size_t n_plans;
    unsigned told;
};

static int failed(struct dg_error *err, const char *what, cublasStatus_t rc)
{
    return dg_error_set(
        err, DG_EINTERNAL, "cuBLASLt failed at %s: %s", what, cublasLtGetStatusName(rc));
}

int dg_cuda_gemm_open(struct dg_cuda *cu, struct dg_error *err)
{
    struct dg_cuda_gemm_context *g = cu->gemm = calloc(1, sizeof *g);
    const cublasStatus_t rc = g ? cublasLtCreate(&g->lt) : CUBLAS_STATUS_SUCCESS;
    if (rc)
        return failed(err, "its start", rc);
    bool whole = g;
    for (int i = 0; i < DG_LANES && whole; i++)
        whole = (cu->lanes[i].workspace = dg_cuda_alloc(cu, DG_WORKSPACE));
    if (!whole)
        return dg_error_set(err, DG_ENOMEM, "no memory for matrix products on %s", cu->name);
    return DG_OK;
}

void dg_cuda_gemm_close(struct dg_cuda *cu)
{
    if (cu->gemm && cu->gemm->lt)
        cublasLtDestroy(cu->gemm->lt);
    free(cu->gemm);
}

/* The product's last step: bias, ReLU, and what training does there. */
static cublasLtEpilogue_t epilogue(const struct dg_gemm_call *call)
{
    if (call->sums)
        return CUBLASLT_EPILOGUE_BGRADB; /* the library's b is our a */
    if (call->mask.p && call->kind == DG_GEMM_INPUT)
        return CUBLASLT_EPILOGUE_DRELU;
    if (call->mask.p)
        return call->bias ? CUBLASLT_EPILOGUE_RELU_AUX_BIAS : CUBLASLT_EPILOGUE_RELU_AUX;
    if (call->bias)
        return call->relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
    return call->relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT;
}

/* One call in the library's words. Its a is our b, its c our c^T. */
struct problem {
    cublasLtMatmulDescOpaque_t desc;
    cublasLtMatrixLayoutOpaque_t a, b, c;
};

/* The shapes, for so many rows: width and height of our b, a and c. */
static void lay_out(const struct dg_gemm_call *call, size_t rows, struct problem *p)
{
    enum { M, N, K };
    static const unsigned char sides[][6] = {
        [DG_GEMM_FORWARD] = {K, N, K, M, N, M}, /* [N,M] = b[K,N]^T a[K,M] */
        [DG_GEMM_INPUT] = {K, N, N, M, K, M},   /* [K,M] = b[K,N] a[N,M] */
        [DG_GEMM_WEIGHT] = {K, M, N, M, K, N}}; /* [K,N] = b[K,M] a[N,M]^T */
    static const cudaDataType_t types[] = {
        [DG_F32] = CUDA_R_32F, [DG_F16] = CUDA_R_16F, [DG_BF16] = CUDA_R_16BF};
    const unsigned char *s = sides[call->kind];
    const size_t n[] = {[M] = rows, [N] = call->N, [K] = call->K};
    cublasLtMatrixLayoutInit(&p->a, types[call->b.type], n[s[0]], n[s[1]], (int64_t)call->b.ld);
    cublasLtMatrixLayoutInit(&p->b, types[call->a.type], n[s[2]], n[s[3]], (int64_t)call->a.ld);
    cublasLtMatrixLayoutInit(&p->c, types[call->c.type], n[s[4]], n[s[5]], (int64_t)call->c.ld);
}

/* Unless something was refused before. */
static void set(cublasStatus_t *rc, struct problem *p, cublasLtMatmulDescAttributes_t what,
    const void *value, size_t bytes)
{
    if (!*rc)
        *rc = cublasLtMatmulDescSetAttribute(&p->desc, what, value, bytes);
}

/* All of it. */
static cublasStatus_t describe(const struct dg_gemm_call *call, size_t rows, struct problem *p)
{
    const cublasOperation_t ta = call->kind == DG_GEMM_FORWARD ? CUBLAS_OP_T : CUBLAS_OP_N,
                            tb = call->kind == DG_GEMM_WEIGHT ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasLtEpilogue_t end = epilogue(call);
    const void *bias = call->sums ? call->sums : call->bias;
    const int64_t mask_ld = (int64_t)(call->mask.ld * dg_cuda_type_bytes(call->mask.type) * 8);
    cublasStatus_t rc = cublasLtMatmulDescInit(&p->desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    lay_out(call, rows, p);
    set(&rc, p, CUBLASLT_MATMUL_DESC_TRANSA, &ta, sizeof ta);
    set(&rc, p, CUBLASLT_MATMUL_DESC_TRANSB, &tb, sizeof tb);
    set(&rc, p, CUBLASLT_MATMUL_DESC_EPILOGUE, &end, sizeof end);
    if (bias)
        set(&rc, p, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
    if (call->mask.p) {
        set(&rc, p, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &call->mask.p, sizeof call->mask.p);
        set(&rc, p, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &mask_ld, sizeof mask_ld);
    }
    return rc;
}

/* The largest power of two, at most 16, that address and row distance are multiples of. */
static uint32_t alignment(struct dg_k_rows r)
{
    const uintptr_t bits = (uintptr_t)r.p | r.ld * dg_cuda_type_bytes(r.type) | 16;
    return (uint32_t)(bits & (~bits + 1));
}

/* The trainer's products of up to 16, 32, 64, ... rows have an algorithm each. */
static size_t bucket(size_t M)
{
    size_t b = 16;
    while (b < M)
        b *= 2;
    return b;
}

static struct key key_of(const struct dg_gemm_call *call, bool whole)
{
    const void *bias = call->sums ? call->sums : call->bias;
    return (struct key){.M = call->row_stable ? 0 : bucket(call->M),
        .N = call->N,
        .K = call->K,
        .ld = {call->a.ld, call->b.ld, call->c.ld},
        .kind = call->kind,
        .in = call->a.type,
        .out = call->c.type,
        .epilogue = (int)epilogue(call),
        .add = call->add,
        .whole = whole || call->row_stable,
        .align = {alignment(call->b), alignment(call->a), alignment(call->c),
            alignment((struct dg_k_rows){(void *)bias, 0, call->c.type})}};
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

/* Neither split-K nor stream-K, which the library marks by a negative number. */
static bool is_whole(const cublasLtMatmulAlgo_t *algo)
{
    const int32_t split = config_of(algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
    return (split == 0 || split == 1) &&
           config_of(algo, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME) == CUBLASLT_REDUCTION_SCHEME_NONE;
}

/* The smallest number of rows that the library refuses the algorithm for, of all that an engine
 * may run: every step's, every encoder pass'; 0: none. */
static size_t first_refused(struct dg_cuda_gemm_context *g, const struct dg_gemm_call *call,
    const cublasLtMatmulAlgo_t *algo)
{
    struct problem p;
    cublasLtMatmulHeuristicResult_t result;
    if (describe(call, 1, &p))
        return 1;
    for (size_t M = 1; M <= CHECKED; M++) {
        lay_out(call, M, &p);
        if (cublasLtMatmulAlgoCheck(g->lt, &p.desc, &p.a, &p.b, &p.c, &p.c, algo, &result) ||
            result.workspaceSize > DG_WORKSPACE)
            return M;
    }
    return 0;
}

static void want(cublasStatus_t *rc, cublasLtMatmulPreferenceOpaque_t *w,
    cublasLtMatmulPreferenceAttributes_t what, const void *value, size_t bytes)
{
    if (!*rc)
        *rc = cublasLtMatmulPreferenceSetAttribute(w, what, value, bytes);
}

static cublasStatus_t wish_for(
    const struct dg_gemm_call *call, const struct key *key, cublasLtMatmulPreferenceOpaque_t *w)
{
    const size_t workspace = DG_WORKSPACE;
    const uint32_t schemes = key->whole               ? CUBLASLT_REDUCTION_SCHEME_NONE
                             : call->c.type == DG_F32 ? CUBLASLT_REDUCTION_SCHEME_MASK
                                                      : CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    cublasStatus_t rc = cublasLtMatmulPreferenceInit(w);
    want(&rc, w, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace);
    want(&rc, w, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes, sizeof schemes);
    want(&rc, w, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &key->align[0], sizeof *key->align);
    want(&rc, w, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &key->align[1], sizeof *key->align);
    want(&rc, w, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &key->align[2], sizeof *key->align);
    want(&rc, w, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &key->align[2], sizeof *key->align);
    return rc;
}

static void log_plan(struct dg_cuda_gemm_context *g, const struct plan *p)
{
    enum { OURS = CUBLASLT_EPILOGUE_DRELU | CUBLASLT_EPILOGUE_BGRADB };
    const unsigned end = p->none ? (unsigned)p->key.epilogue & OURS : 0;
    static const char *const kinds[] = {"forward", "input", "weight"};
    static const char *const types[] = {"fp32", "16 bits"};
    const struct key *k = &p->key;
    char shape[192];
    snprintf(shape, sizeof shape,
        "epilogue=%d kind=%s m=%zu n=%zu k=%zu in=\"%s\" out=\"%s\" whole=%d align=%u,%u,%u,%u",
        k->epilogue, kinds[k->kind], k->M, k->N, k->K, types[k->in != DG_F32],
        types[k->out != DG_F32], k->whole, k->align[0], k->align[1], k->align[2], k->align[3]);
    if (end & ~g->told)
        dg_log(DG_LOG_WARN,
            "gemm_epilogue msg=\"cuBLASLt has no algorithm with this last step: kernels of ours do "
            "it\" %s",
            shape);
    g->told |= end;
    if (p->none && !end)
        dg_log(DG_LOG_WARN,
            "gemm_own msg=\"cuBLASLt has no algorithm for every number of rows: our own, slow kernel "
            "multiplies them all\" %s refused_rows=%zu",
            shape, p->refused);
    else if (!p->none && dg_debug("cuda-log"))
        dg_log(DG_LOG_INFO,
            "gemm_plan %s id=%d tile=%d stages=%d split=%d scheme=%d custom=%d cluster=%d", shape,
            config_of(&p->algo, CUBLASLT_ALGO_CONFIG_ID),
            config_of(&p->algo, CUBLASLT_ALGO_CONFIG_TILE_ID),
            config_of(&p->algo, CUBLASLT_ALGO_CONFIG_STAGES_ID), p->split,
            config_of(&p->algo, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME),
            config_of(&p->algo, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION),
            config_of(&p->algo, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID));
}

/* Fills the plan for its key; it says for which number of rows no algorithm would do. */
static int choose(struct dg_cuda_gemm_context *g, const struct dg_gemm_call *call,
    struct plan *plan, struct dg_error *err)
{
    cublasLtMatmulPreferenceOpaque_t wish;
    cublasLtMatmulHeuristicResult_t found[ASKED];
    struct problem p;
    int n = 0;
    cublasStatus_t rc = describe(call, plan->key.M ? plan->key.M : STABLE_ROWS, &p);
    if (!rc)
        rc = wish_for(call, &plan->key, &wish);
    if (!rc)
        rc = cublasLtMatmulAlgoGetHeuristic(
            g->lt, &p.desc, &p.a, &p.b, &p.c, &p.c, &wish, ASKED, found, &n);
    if (rc && rc != CUBLAS_STATUS_NOT_SUPPORTED)
        return failed(err, "choosing an algorithm", rc);
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
    log_plan(g, plan);
    return DG_OK;
}

/* The plan for a call, chosen when it is met first. whole: without split-K in any case. DG_EUNSUP:
 * none; DG_EINTERNAL: the library failed. */
static int find(struct dg_cuda_gemm_context *g, const struct dg_gemm_call *call, bool whole,
    struct plan **out, struct dg_error *err)
{
    struct plan *p = g->plans, fresh = {.key = key_of(call, whole)};
    while (p < g->plans + g->n_plans && memcmp(&p->key, &fresh.key, sizeof p->key) != 0)
        p++;
    if (p == g->plans + g->n_plans) {
        const int rc = choose(g, call, &fresh, err);
        if (rc)
            return rc;
        if (g->n_plans == PLANS)
            p--;
        else
            g->n_plans++;
        memcpy(p, &fresh, sizeof fresh);
    }
    *out = p;
    return p->none ? DG_EUNSUP : DG_OK;
}

/* Split-K kernels of cuBLASLt 12 and 13 were seen on an H100 to leave out the end of a sum of such
 * a length, without an error (github.com/facebookexperimental/triton, pull request 2767). */
static bool may_lose_the_end(const struct plan *p, const struct dg_gemm_call *call)
{
    const size_t k = call->kind == DG_GEMM_FORWARD ? call->K
                     : call->kind == DG_GEMM_INPUT ? call->N
                                                   : call->M,
                 parts = (size_t)p->split, tail = k % 64;
    return p->split > 1 && tail && tail < parts && k / 64 % parts == 0;
}

static cublasStatus_t multiply(
    struct dg_cuda *cu, const struct dg_gemm_call *call, const struct plan *plan)
{
    const float one = 1, beta = call->add ? 1 : 0;
    struct problem p;
    const cublasStatus_t rc = describe(call, call->M, &p);
    return rc ? rc
              : cublasLtMatmul(cu->gemm->lt, &p.desc, &one, call->b.p, &p.a, call->a.p, &p.b, &beta,
                    call->c.p, &p.c, call->c.p, &p.c, &plan->algo, cu->lane->workspace,
                    DG_WORKSPACE, cu->stream);
}

static bool refused(cublasStatus_t rc)
{
    return rc == CUBLAS_STATUS_NOT_SUPPORTED || rc == CUBLAS_STATUS_INVALID_VALUE;
}

/* DG_EUNSUP: the library has no algorithm, for any number of rows where the call is row-stable;
 * DG_EINTERNAL: it failed. */
static int ask_library(struct dg_cuda *cu, const struct dg_gemm_call *call, struct dg_error *err)
{
    struct plan *plan;
    int code = find(cu->gemm, call, false, &plan, err);
    if (!code && may_lose_the_end(plan, call))
        code = find(cu->gemm, call, true, &plan, err);
    if (code)
        return code;
    cublasStatus_t rc = multiply(cu, call, plan);
    if (refused(rc) && !call->row_stable) { /* chosen for the most rows of its bucket */
        if ((code = find(cu->gemm, call, true, &plan, err)))
            return code;
        rc = multiply(cu, call, plan);
    }
    if (!refused(rc))
        return rc ? failed(err, "a product", rc) : DG_OK;
    /* What it had chosen itself: from now on the plan has no algorithm. */
    plan->none = true;
    plan->refused = call->M;
    cu->gemm_refusals++;
    log_plan(cu->gemm, plan);
    return DG_EUNSUP;
}

bool dg_cuda_multiply_ended(struct dg_cuda *cu, const struct dg_gemm_call *c)
{
    struct dg_error err = {0};
    if (!dg_cuda_alive(cu) || !c->a.p || !c->b.p)
        return true;
    const int rc = cu->own_products ? DG_EUNSUP : ask_library(cu, c, &err);
    if (rc && rc != DG_EUNSUP)
        dg_cuda_fail(cu, &err);
    return rc != DG_EUNSUP;
}

void dg_cuda_multiply(struct dg_cuda *cu, const struct dg_gemm_call *c)
{
    if (!dg_cuda_multiply_ended(cu, c))
        dg_launch_gemm(cu, c);
}
