/* A product as described to cuBLASLt. Row-major c[M,N] = a[M,K] b[N,K]^T is the column-major
 * product c^T = b a^T: the library's m is N, its n is M, and a row-major matrix is the transpose of
 * a column-major one of the same bytes. */
#include "kernels/cuda/gemm_problem.h"

#include "kernels/cuda/internal.h"

/* One call of the library: its a is our b, its c is our c^T. */
struct problem {
    cublasLtMatmulDescOpaque_t desc;
    cublasLtMatrixLayoutOpaque_t a, b, c;
};

cublasLtEpilogue_t dg_gemm_epilogue(const struct dg_gemm_call *call)
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

/* Fill in the shapes for this many rows: width and height of our b, a and c. */
static void lay_out(const struct dg_gemm_call *call, size_t rows, struct problem *p)
{
    static const cudaDataType_t types[] = {
        [DG_F32] = CUDA_R_32F, [DG_F16] = CUDA_R_16F, [DG_BF16] = CUDA_R_16BF};
    const bool forward = call->kind == DG_GEMM_FORWARD, weight = call->kind == DG_GEMM_WEIGHT;
    const struct dg_k_rows a = call->a, b = call->b, c = call->c;
    const size_t M = rows, N = call->N, K = call->K;
    cublasLtMatrixLayoutInit(&p->a, types[b.type], K, weight ? M : N, (int64_t)b.ld);
    cublasLtMatrixLayoutInit(&p->b, types[a.type], forward ? K : N, M, (int64_t)a.ld);
    cublasLtMatrixLayoutInit(&p->c, types[c.type], forward ? N : K, weight ? N : M, (int64_t)c.ld);
}

/* Set an attribute, unless an earlier one was refused. */
static void set(cublasStatus_t *rc, struct problem *p, cublasLtMatmulDescAttributes_t what,
    const void *value, size_t bytes)
{
    if (!*rc)
        *rc = cublasLtMatmulDescSetAttribute(&p->desc, what, value, bytes);
}

/* Fill in all of *p for this many rows. */
static cublasStatus_t describe(const struct dg_gemm_call *call, size_t rows, struct problem *p)
{
    const cublasOperation_t ta = call->kind == DG_GEMM_FORWARD ? CUBLAS_OP_T : CUBLAS_OP_N,
                            tb = call->kind == DG_GEMM_WEIGHT ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasLtEpilogue_t end = dg_gemm_epilogue(call);
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

cublasStatus_t dg_gemm_run(struct dg_cuda *cu, cublasLtHandle_t lt, const struct dg_gemm_call *call,
    const cublasLtMatmulAlgo_t *algo)
{
    const float one = 1, beta = call->add ? 1 : 0;
    struct problem p;
    const cublasStatus_t rc = describe(call, call->M, &p);
    return rc ? rc
              : cublasLtMatmul(lt, &p.desc, &one, call->b.p, &p.a, call->a.p, &p.b, &beta,
                    call->c.p, &p.c, call->c.p, &p.c, algo, cu->lane->workspace, DG_WORKSPACE,
                    cu->stream);
}

/* Some numbers have 32 bits, some 16. */
int32_t dg_gemm_config_of(
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

/* The library marks stream-K by a negative number. */
bool dg_gemm_is_whole(const cublasLtMatmulAlgo_t *algo)
{
    const int32_t split = dg_gemm_config_of(algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
    return (split == 0 || split == 1) &&
           dg_gemm_config_of(algo, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME) ==
               CUBLASLT_REDUCTION_SCHEME_NONE;
}

static void want(cublasStatus_t *rc, cublasLtMatmulPreferenceOpaque_t *w,
    cublasLtMatmulPreferenceAttributes_t what, const void *value, size_t bytes)
{
    if (!*rc)
        *rc = cublasLtMatmulPreferenceSetAttribute(w, what, value, bytes);
}

static cublasStatus_t wish_for(
    const struct dg_gemm_call *call, bool whole, cublasLtMatmulPreferenceOpaque_t *w)
{
    const size_t workspace = DG_WORKSPACE;
    const uint32_t a = dg_k_alignment(call->b), b = dg_k_alignment(call->a),
                   c = dg_k_alignment(call->c);
    const uint32_t schemes = whole                    ? CUBLASLT_REDUCTION_SCHEME_NONE
                             : call->c.type == DG_F32 ? CUBLASLT_REDUCTION_SCHEME_MASK
                                                      : CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    cublasStatus_t rc = cublasLtMatmulPreferenceInit(w);
    want(&rc, w, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace, sizeof workspace);
    want(&rc, w, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes, sizeof schemes);
    want(&rc, w, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, &a, sizeof a);
    want(&rc, w, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, &b, sizeof b);
    want(&rc, w, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &c, sizeof c);
    want(&rc, w, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &c, sizeof c);
    return rc;
}

cublasStatus_t dg_gemm_ask(cublasLtHandle_t lt, const struct dg_gemm_call *call, bool whole,
    size_t rows, cublasLtMatmulHeuristicResult_t *found, int *n)
{
    cublasLtMatmulPreferenceOpaque_t w;
    struct problem p;
    *n = 0;
    cublasStatus_t rc = describe(call, rows, &p);
    if (!rc)
        rc = wish_for(call, whole, &w);
    return rc ? rc
              : cublasLtMatmulAlgoGetHeuristic(
                    lt, &p.desc, &p.a, &p.b, &p.c, &p.c, &w, DG_GEMM_ASKED, found, n);
}

size_t dg_gemm_first_refused(cublasLtHandle_t lt, const struct dg_gemm_call *call,
    const cublasLtMatmulAlgo_t *algo, size_t from, size_t to)
{
    struct problem p;
    cublasLtMatmulHeuristicResult_t result;
    if (describe(call, from, &p))
        return from;
    for (size_t M = from; M <= to; M++) {
        lay_out(call, M, &p);
        if (cublasLtMatmulAlgoCheck(lt, &p.desc, &p.a, &p.b, &p.c, &p.c, algo, &result) ||
            result.workspaceSize > DG_WORKSPACE)
            return M;
    }
    return 0;
}
