/* Backward of one attention head over one segment. With A = drop(P), P = softmax(S), S = q kᵀ
 * scale: dA = dO vᵀ, dP = drop(dA), dS = P (dP - sum_j P dP) scale, dv = Aᵀ dO, dq = dS k, dk = dSᵀ
 * q. Sentences are short (tens of rows), where a library GEMM costs more in its set-up than in its
 * work: one small register-blocked product serves all four. */
#include "kernels/cpu/train/loops_build.h"

enum { ROWS = 4, COLUMNS = 16 };

/* A's element (i,k) is a[i * row + k * column]. */
struct strided {
    const float *a;
    size_t row, column;
};

/* A small product c[M,N] = A[M,K] b[K,N]; rows of b and c are ldb and ldc apart. */
struct product {
    size_t M, N, K;
    struct strided A;
    const float *b;
    size_t ldb;
    float *c;
    size_t ldc;
};

/* Eight floats anywhere in memory. A GCC vector, because the vectoriser interchanges the plain
 * loops and spills registers (measured: 5 times slower); row() is the same sum in plain C. */
typedef float vec __attribute__((vector_size(32), aligned(4), may_alias));

/* c[ROWS,COLUMNS] = A[ROWS,K] b[K,COLUMNS] */
static void tile(struct strided A, const float *b, size_t ldb, size_t K, float *c, size_t ldc)
{
    vec acc[ROWS][2] = {{{0}}};
    for (size_t k = 0; k < K; k++, b += ldb) {
        const vec b0 = *(const vec *)b, b1 = *(const vec *)(b + 8);
        for (size_t r = 0; r < ROWS; r++) {
            const float x = A.a[r * A.row + k * A.column];
            acc[r][0] += x * b0;
            acc[r][1] += x * b1;
        }
    }
    for (size_t r = 0; r < ROWS; r++) {
        *(vec *)(c + r * ldc) = acc[r][0];
        *(vec *)(c + r * ldc + 8) = acc[r][1];
    }
}

/* One row, n columns: for matrices smaller than a tile. */
static void row(struct strided A, const float *b, size_t ldb, size_t K, float *restrict c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        c[i] = 0;
    for (size_t k = 0; k < K; k++) {
        const float x = A.a[k * A.column];
#pragma omp simd
        for (size_t i = 0; i < n; i++)
            c[i] += x * b[k * ldb + i];
    }
}

/* The last tile of a row or column overlaps the one before it. */
static void multiply(const struct product *p)
{
    const struct strided A = p->A;
    const bool tiled = p->M >= ROWS && p->N >= COLUMNS;
    for (size_t m = 0; m < p->M && !tiled; m++)
        row((struct strided){A.a + m * A.row, A.row, A.column}, p->b, p->ldb, p->K,
            p->c + m * p->ldc, p->N);
    for (size_t m = 0; m < p->M && tiled; m += ROWS) {
        const size_t top = m + ROWS <= p->M ? m : p->M - ROWS;
        const struct strided a = {A.a + top * A.row, A.row, A.column};
        for (size_t n = 0; n < p->N; n += COLUMNS) {
            const size_t left = n + COLUMNS <= p->N ? n : p->N - COLUMNS;
            tile(a, p->b + left, p->ldb, p->K, p->c + top * p->ldc + left, p->ldc);
        }
    }
}

/* Row i: turns dA into dS in place, and writes A to kept[padded]. Keys past `seen` are masked:
 * zero. *add: index of the first of h->adds that is not done. */
static void softmax_row(const struct dg_loop_head *h, size_t i, size_t seen, size_t *add,
    float *restrict ds, float *restrict kept)
{
    const float *restrict p = h->probs + i * h->n_k;
    float sum = 0;
    if (h->row_key && h->p > 0) {
        const uint32_t key = h->row_key[i] ^ h->site, floor_ = (uint32_t)(h->p * 16777216.0f);
        const float scale = 1.0f / (1.0f - h->p);
#pragma omp simd
        for (size_t j = 0; j < seen; j++) {
            float m = (dg_dropout_hash(key, h->first + (uint32_t)j) >> 8) >= floor_ ? scale : 0.0f;
            kept[j] = p[j] * m;
            ds[j] *= m;
        }
    } else {
        memcpy(kept, p, seen * sizeof *p);
    }
    for (; *add < h->n_adds && h->adds[*add].row == i; (*add)++)
        ds[h->adds[*add].column] += h->adds[*add].value;
#pragma omp simd reduction(+ : sum)
    for (size_t j = 0; j < seen; j++)
        sum += p[j] * ds[j];
#pragma omp simd
    for (size_t j = 0; j < seen; j++)
        ds[j] = p[j] * (ds[j] - sum) * h->scale;
    for (size_t j = seen; j < h->n_k; j++)
        ds[j] = kept[j] = 0;
}

void DG_LOOPS_NAME(head)(const struct dg_loop_head *h)
{
    const size_t padded = (h->n_k + COLUMNS - 1) / COLUMNS * COLUMNS;
    float *vt = h->scratch;             /* [Dv,padded] */
    float *ds = vt + h->Dv * padded;    /* [n_q,padded] */
    float *kept = ds + h->n_q * padded; /* [n_q,padded] */
    size_t add = 0;
    for (size_t e = 0; e < h->Dv; e++) {
        for (size_t j = 0; j < h->n_k; j++)
            vt[e * padded + j] = h->v[j * h->ldv + e];
        for (size_t j = h->n_k; j < padded; j++)
            vt[e * padded + j] = 0;
    }
    multiply(
        &(struct product){h->n_q, padded, h->Dv, {h->dout, h->lddout, 1}, vt, padded, ds, padded});
    for (size_t i = 0; i < h->n_q; i++)
        softmax_row(h, i, h->causal ? h->n_k - h->n_q + i + 1 : h->n_k, &add, ds + i * padded,
            kept + i * padded);
    multiply(&(struct product){
        h->n_k, h->Dv, h->n_q, {kept, 1, padded}, h->dout, h->lddout, h->dv, h->lddv});
    multiply(
        &(struct product){h->n_q, h->Dk, h->n_k, {ds, padded, 1}, h->k, h->ldk, h->dq, h->lddq});
    multiply(
        &(struct product){h->n_k, h->Dk, h->n_q, {ds, 1, padded}, h->q, h->ldq, h->dk, h->lddk});
}
