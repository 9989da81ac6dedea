/* Training's products in bf16: operands are rounded as they are brought into the order that
 * serving's product (kernels/cpu/bf16.h) reads, a block at a time; parameters, activations and
 * gradients in memory stay fp32. K is padded with zeros to whole runs of 16 pairs. */
#include "base/error.h"
#include "kernels/cpu/bf16.h"
#include "kernels/cpu/train/gemm_train.h"

#include <stdlib.h>
#include <string.h>

enum {
    ACROSS = 16,               /* outputs of a panel; pairs of a run */
    RUN = 2 * ACROSS,          /* of K */
    ROWS = 128,                /* of a block: its rounded rows, */
    COLUMNS = 512,             /* its panels, */
    DEPTH = 512,               /* and its K: 640 KiB, which a second-level cache holds */
    STRIP = ACROSS * DEPTH * 2 /* elements: 16 rows of DEPTH; 16 rows of ROWS pairs are fewer */
};
_Static_assert(ROWS <= DEPTH && ROWS % ACROSS == 0 && COLUMNS % ACROSS == 0 && DEPTH % RUN == 0,
    "blocks are whole panels and runs, and a strip holds either kind");

struct dg_gemm_bf16 {
    const struct dg_cpu_bf16 *ops;
    uint16_t *rows;   /* [ROWS, up to DEPTH] */
    uint16_t *panels; /* [COLUMNS / ACROSS][up to DEPTH / 2][ACROSS][2] */
    uint16_t *strip;  /* [STRIP]: what is to be turned over */
};

/* One of a product's two matrices: element (i, k) of it, i a row of the left one or a column of the
 * right one, is p[i * ld + k] where K lies along p's rows, else p[k * ld + i]. */
struct operand {
    const float *p;
    size_t ld;
    bool along;
};

static const float *operand_at(const struct operand *o, size_t i, size_t k)
{
    return o->along ? o->p + i * o->ld + k : o->p + k * o->ld + i;
}

/* K elements at x into rounded[depth]. */
static void round_padded(
    const struct dg_cpu_bf16 *ops, const float *x, size_t K, size_t depth, uint16_t *rounded)
{
    ops->round(x, K, rounded);
    for (size_t k = (K + 1) / 2 * 2; k < depth; k++)
        rounded[k] = 0;
}

/* Rows k and k+1 of n elements into pairs; those from K on are zero. */
static void pair_rows(const struct dg_cpu_bf16 *ops, const struct operand *o, size_t k, size_t K,
    size_t n, uint16_t *q, size_t apart)
{
    const float *const rows[2] = {
        k < K ? operand_at(o, 0, k) : NULL, k + 1 < K ? operand_at(o, 0, k + 1) : NULL};
    ops->pair(rows, n, q, apart);
}

static const uint32_t *pairs_of(const uint16_t *q)
{
    return (const uint32_t *)(const void *)q;
}

/* The left matrix's M rows of K: g->rows[M,depth]. */
static void take_rows(
    const struct dg_gemm_bf16 *g, const struct operand *o, size_t M, size_t K, size_t depth)
{
    for (size_t m = 0; o->along && m < M; m++)
        round_padded(g->ops, operand_at(o, m, 0), K, depth, g->rows + m * depth);
    const size_t wide = (M + ACROSS - 1) / ACROSS * ACROSS;
    for (size_t k = 0; !o->along && k < depth; k += RUN) {
        for (size_t r = 0; r < ACROSS; r++)
            pair_rows(g->ops, o, k + 2 * r, K, M, g->strip + r * wide * 2, RUN);
        g->ops->turn(pairs_of(g->strip), wide, wide, (uint32_t *)(void *)(g->rows + k), depth / 2);
    }
}

/* The right matrix's N columns of K: g->panels[N/16][depth/2][16][2]. */
static void take_panels(
    const struct dg_gemm_bf16 *g, const struct operand *o, size_t N, size_t K, size_t depth)
{
    const size_t panel = depth * ACROSS;
    for (size_t k = 0; !o->along && k < depth; k += 2)
        pair_rows(g->ops, o, k, K, N, g->panels + k * ACROSS, panel);
    for (size_t n0 = 0; o->along && n0 < N; n0 += ACROSS) {
        const size_t n = N - n0 < ACROSS ? N - n0 : ACROSS;
        for (size_t i = 0; i < n; i++)
            round_padded(g->ops, operand_at(o, n0 + i, 0), K, depth, g->strip + i * depth);
        memset(g->strip + n * depth, 0, (ACROSS - n) * depth * sizeof *g->strip);
        g->ops->turn(pairs_of(g->strip), depth / 2, depth / 2,
            (uint32_t *)(void *)(g->panels + n0 * depth), ACROSS);
    }
}

struct product {
    size_t M, N, K;
    struct operand left, right;
    float *y; /* [M,N], rows ldy apart */
    size_t ldy;
    bool add; /* y += */
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* All rows against the panels that columns n0 .. n0+n-1 and k0 .. k0+K-1 were taken into. */
static void multiply_rows(const struct dg_gemm_bf16 *g, const struct product *p, size_t n0,
    size_t n, size_t k0, size_t K, size_t depth)
{
    for (size_t m0 = 0, m; m0 < p->M; m0 += m) {
        m = least(p->M - m0, ROWS);
        const struct operand left = {operand_at(&p->left, m0, k0), p->left.ld, p->left.along};
        take_rows(g, &left, m, K, depth);
        g->ops->gemm(&(struct dg_bf16_gemm){.M = m,
            .n = n,
            .pairs = depth / 2,
            .x = g->rows,
            .ldx = depth,
            .w = g->panels,
            .y = p->y + m0 * p->ldy + n0,
            .ldy = p->ldy,
            .add = p->add || k0});
    }
}

static void multiply(const struct dg_gemm_bf16 *g, const struct product *p)
{
    for (size_t k0 = 0, K; k0 < p->K; k0 += K) {
        K = least(p->K - k0, DEPTH);
        const size_t depth = (K + RUN - 1) / RUN * RUN;
        for (size_t n0 = 0, n; n0 < p->N; n0 += n) {
            n = least(p->N - n0, COLUMNS);
            const struct operand right = {
                operand_at(&p->right, n0, k0), p->right.ld, p->right.along};
            take_panels(g, &right, n, K, depth);
            multiply_rows(g, p, n0, n, k0, K, depth);
        }
    }
}

static void forward(void *ctx, size_t M, size_t N, size_t K, const float *x, size_t ldx,
    const float *w, float *y, size_t ldy)
{
    multiply(ctx, &(struct product){M, N, K, {x, ldx, true}, {w, K, true}, y, ldy, false});
}

static void input(void *ctx, size_t M, size_t N, size_t K, const float *dy, size_t lddy,
    const float *w, bool add, float *dx, size_t lddx)
{
    multiply(ctx, &(struct product){M, K, N, {dy, lddy, true}, {w, K, false}, dx, lddx, add});
}

static void weight(void *ctx, size_t M, size_t N, size_t K, const float *dy, size_t lddy,
    const float *x, size_t ldx, float *dw)
{
    multiply(ctx, &(struct product){N, K, M, {dy, lddy, false}, {x, ldx, false}, dw, K, true});
}

const struct dg_gemm_train dg_gemm_bf16 = {.forward = forward, .input = input, .weight = weight};

int dg_gemm_bf16_open(
    const struct dg_cpu_bf16 *bf16, struct dg_gemm_bf16 **out, struct dg_error *err)
{
    struct dg_gemm_bf16 *g = calloc(1, sizeof *g);
    *out = g;
    if (g) {
        g->ops = bf16;
        g->rows = aligned_alloc(64, sizeof *g->rows * ROWS * DEPTH);
        g->panels = aligned_alloc(64, sizeof *g->panels * COLUMNS * DEPTH);
        g->strip = aligned_alloc(64, sizeof *g->strip * STRIP);
    }
    if (g && g->rows && g->panels && g->strip)
        return 0;
    dg_gemm_bf16_close(g);
    *out = NULL;
    return dg_error_set(err, DG_ENOMEM, "no memory for the training products' scratch space");
}

void dg_gemm_bf16_close(struct dg_gemm_bf16 *g)
{
    if (!g)
        return;
    free(g->rows);
    free(g->panels);
    free(g->strip);
    free(g);
}
