#include "kernels/cuda/gemm_problem.h"
#include "kernels/cuda/internal.h"

cublasLtEpilogue_t dg_gemm_problem_epilogue(const struct dg_gemm_call *call)
{
    if (call->sums)
        return CUBLASLT_EPILOGUE_BGRADB; /* the library's b is our a */
    if (call->mask && call->kind == DG_GEMM_INPUT)
        return CUBLASLT_EPILOGUE_DRELU;
    if (call->mask)
        return call->bias ? CUBLASLT_EPILOGUE_RELU_AUX_BIAS : CUBLASLT_EPILOGUE_RELU_AUX;
    if (call->bias)
        return call->relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
    return call->relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT;
}

void dg_gemm_problem_lay_out(
    const struct dg_gemm_call *call, size_t rows, struct dg_gemm_problem *p)
{
    enum { M, N, K };
    static const unsigned char sides[][6] = {
        [DG_GEMM_FORWARD] = {K, N, K, M, N, M}, /* [N,M] = b[K,N]^T a[K,M] */
        [DG_GEMM_INPUT] = {K, N, N, M, K, M},   /* [K,M] = b[K,N] a[N,M] */
        [DG_GEMM_WEIGHT] = {K, M, N, M, K, N}}; /* [K,N] = b[K,M] a[N,M]^T */
    static const cudaDataType_t types[] = {
        [DG_F32] = CUDA_R_32F, [DG_F16] = CUDA_R_16F, [DG_BF16] = CUDA_R_16BF};
    const cudaDataType_t in = types[call->in], out = types[call->out];
    const unsigned char *s = sides[call->kind];
    const size_t n[] = {[M] = rows, [N] = call->N, [K] = call->K};
    cublasLtMatrixLayoutInit(&p->a, in, n[s[0]], n[s[1]], (int64_t)call->ldb);
    cublasLtMatrixLayoutInit(&p->b, in, n[s[2]], n[s[3]], (int64_t)call->lda);
    cublasLtMatrixLayoutInit(&p->c, out, n[s[4]], n[s[5]], (int64_t)call->ldc);
}

static cublasStatus_t set(
    struct dg_gemm_problem *p, cublasLtMatmulDescAttributes_t what, const void *value, size_t bytes)
{
    return cublasLtMatmulDescSetAttribute(&p->desc, what, value, bytes);
}

cublasStatus_t dg_gemm_problem_describe(
    const struct dg_gemm_call *call, size_t rows, struct dg_gemm_problem *p)
{
    const cublasOperation_t yes = CUBLAS_OP_T, no = CUBLAS_OP_N;
    const cublasLtEpilogue_t end = dg_gemm_problem_epilogue(call);
    const bool ta = call->kind == DG_GEMM_FORWARD, tb = call->kind == DG_GEMM_WEIGHT;
    cublasStatus_t rc = cublasLtMatmulDescInit(&p->desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    dg_gemm_problem_lay_out(call, rows, p);
    if (!rc)
        rc = set(p, CUBLASLT_MATMUL_DESC_TRANSA, ta ? &yes : &no, sizeof yes);
    if (!rc)
        rc = set(p, CUBLASLT_MATMUL_DESC_TRANSB, tb ? &yes : &no, sizeof yes);
    if (!rc)
        rc = set(p, CUBLASLT_MATMUL_DESC_EPILOGUE, &end, sizeof end);
    const void *bias = call->sums ? call->sums : call->bias;
    const int64_t mask_ld = (int64_t)call->mask_ld;
    if (!rc && bias)
        rc = set(p, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
    if (!rc && call->mask)
        rc = set(p, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &call->mask, sizeof call->mask);
    if (!rc && call->mask)
        rc = set(p, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &mask_ld, sizeof mask_ld);
    return rc;
}
