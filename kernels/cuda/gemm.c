/* Matrix products: cuBLASLt, and our own kernel (gemm_own.cu) where it has no algorithm. Which of
 * the library's algorithms multiplies is decided once per shape and kept. Row-stable products
 * (contract 1) are chosen for (N, K, types, alignment): a race (gemm_race.c) finds the algorithms
 * that are the fastest for each number of rows and agree in every bit; without a race, it is the
 * first in the library's order of preference at one number of rows. All compute each sum in one
 * piece, and every M that an engine may run is served, for which the library is asked before the
 * first product; where it refuses one, our own kernel multiplies them all. That a kernel of the
 * library treats each row alike is its property, not its promise: test_cuda_rows checks it on the
 * device. For other products, the trainer's, it is the best algorithm for each power of two of
 * rows, so that the choice does not depend on which M came first. Partial sums are never kept in 16
 * bits. */
#include "kernels/cuda/gemm_race.h"
#include "kernels/cuda/internal.h"

#include "base/debug.h"
#include "base/log.h"

#include <cublasLt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLANS = 512 };

/* What an algorithm was chosen for: all that the library may consider. M: the largest number of
 * rows, 0: any. align: of the library's a, b, c and of the bias, 16 where there is none. Compared
 * as bytes: there is no padding between the fields. */
struct key {
    size_t M, N, K, ld[3];
    int kind, in, out, epilogue, add, whole;
    uint32_t align[4];
};

/* algo: by the number of rows (dg_gemm_size_of). split: parts of each sum. none: the library has no
 * algorithm; refused: the number of rows for which it refused one, 0: that was not the reason. */
struct plan {
    struct key key;
    cublasLtMatmulAlgo_t algo[DG_GEMM_SIZES];
    int32_t split;
    bool none;
    size_t refused;
};

/* told: last steps that the library lacks for some call; the log reports each once. */
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

/* The size of M: the trainer's products of up to 16, 32, 64, ... rows have one algorithm each. */
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
        .epilogue = (int)dg_gemm_epilogue(call),
        .add = call->add,
        .whole = whole,
        .align = {dg_k_alignment(call->b), dg_k_alignment(call->a), dg_k_alignment(call->c),
            dg_k_alignment((struct dg_k_rows){(void *)bias, 0, call->c.type})}};
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
            dg_gemm_config_of(&p->algo[0], CUBLASLT_ALGO_CONFIG_ID),
            dg_gemm_config_of(&p->algo[0], CUBLASLT_ALGO_CONFIG_TILE_ID),
            dg_gemm_config_of(&p->algo[0], CUBLASLT_ALGO_CONFIG_STAGES_ID), p->split,
            dg_gemm_config_of(&p->algo[0], CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME),
            dg_gemm_config_of(&p->algo[0], CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION),
            dg_gemm_config_of(&p->algo[0], CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID));
}

/* Fills in the plan for its key; if no algorithm will do, plan->refused is the number of rows that
 * it failed for. */
static int choose(
    struct dg_cuda *cu, const struct dg_gemm_call *call, struct plan *plan, struct dg_error *err)
{
    cublasLtHandle_t lt = cu->gemm->lt;
    cublasLtMatmulHeuristicResult_t found[DG_GEMM_ASKED];
    const struct key *key = &plan->key;
    int n = 0;
    const cublasStatus_t rc =
        dg_gemm_ask(lt, call, key->whole, key->M ? key->M : DG_GEMM_STABLE_ROWS, found, &n);
    if (rc && rc != CUBLAS_STATUS_NOT_SUPPORTED)
        return failed(err, "choosing an algorithm", rc);
    if (key->align[3] < 16) /* the library's kernels load a bias by 16 bytes, and do not check */
        n = 0;
    plan->none = true;
    for (int i = 0; i < n && plan->none; i++) {
        const cublasLtMatmulAlgo_t *algo = &found[i].algo;
        if (found[i].state || (key->whole && !dg_gemm_is_whole(algo)))
            continue;
        plan->refused =
            call->row_stable ? dg_gemm_first_refused(lt, call, algo, 1, DG_GEMM_CHECKED) : 0;
        if (plan->refused)
            continue;
        for (size_t s = 0; s < DG_GEMM_SIZES; s++)
            plan->algo[s] = *algo;
        plan->split = dg_gemm_config_of(algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
        plan->none = false;
    }
    const int code =
        call->row_stable && !plan->none ? dg_gemm_race(cu, lt, call, plan->algo, err) : DG_OK;
    if (!code)
        log_plan(cu->gemm, plan);
    return code;
}

/* Finds the plan for a call; chooses it at the first such call. whole: without split-K.
 * DG_EUNSUP: the library has no algorithm; DG_EINTERNAL: it failed; DG_ENOMEM: no memory to
 * choose. */
static int find(struct dg_cuda *cu, const struct dg_gemm_call *call, bool whole, struct plan **out,
    struct dg_error *err)
{
    struct dg_cuda_gemm_context *g = cu->gemm;
    struct plan *p = g->plans, fresh = {.key = key_of(call, whole)};
    while (p < g->plans + g->n_plans && memcmp(&p->key, &fresh.key, sizeof p->key) != 0)
        p++;
    if (p == g->plans + g->n_plans) {
        const int rc = choose(cu, call, &fresh, err);
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

/* True for a sum of a length whose end split-K kernels of cuBLASLt 12 and 13 were seen on an H100
 * to leave out, without an error (github.com/facebookexperimental/triton, pull request 2767). */
static bool may_lose_the_end(const struct plan *p, const struct dg_gemm_call *call)
{
    const size_t k = call->kind == DG_GEMM_FORWARD ? call->K
                     : call->kind == DG_GEMM_INPUT ? call->N
                                                   : call->M,
                 parts = (size_t)p->split, tail = k % 64;
    return p->split > 1 && tail && tail < parts && k / 64 % parts == 0;
}

/* Multiplies with the library. DG_EUNSUP: it has no algorithm (for a row-stable call, then none for
 * any number of rows); DG_EINTERNAL: it failed; DG_ENOMEM: no memory to choose one. */
static int ask_library(struct dg_cuda *cu, const struct dg_gemm_call *call, struct dg_error *err)
{
    struct plan *plan = NULL;
    /* First the best algorithm, which was chosen for the most rows of the call's bucket; where that
     * is refused, or may lose the end of a sum, one that splits none. */
    for (int whole = call->row_stable; whole < 2; whole++) {
        const int code = find(cu, call, whole, &plan, err);
        if (code)
            return code;
        if (may_lose_the_end(plan, call))
            continue;
        const cublasStatus_t rc =
            dg_gemm_run(cu, cu->gemm->lt, call, &plan->algo[dg_gemm_size_of(call->M)]);
        if (rc != CUBLAS_STATUS_NOT_SUPPORTED && rc != CUBLAS_STATUS_INVALID_VALUE)
            return rc ? failed(err, "a product", rc) : DG_OK;
    }
    /* The library refuses an algorithm that it chose itself: from now on the plan has none. */
    plan->none = true;
    plan->refused = call->M;
    cu->gemm_refusals++;
    log_plan(cu->gemm, plan);
    return DG_EUNSUP;
}

bool dg_cuda_multiply_by_library(struct dg_cuda *cu, const struct dg_gemm_call *c)
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
    if (!dg_cuda_multiply_by_library(cu, c))
        dg_launch_gemm(cu, c);
}
