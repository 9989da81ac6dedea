/* Training's products in bf16: operands are rounded as they are brought into the order that
 * serving's product (kernels/cpu/bf16.h) reads, a block at a time; parameters, activations and
 * gradients in memory stay fp32. */
#include "base/error.h"
#include "kernels/cpu/bf16.h"
#include "kernels/cpu/train/gemm_train.h"
#include "kernels/cpu/train/operands_bf16.h"

#include <stdlib.h>

enum {
    ROWS = 128,              /* rounded rows of a block */
    COLUMNS = 512,           /* outputs of a block, in panels */
    DEPTH = 512,             /* K of a block: 640 KiB in all, which a second-level cache holds */
    STRIP = DG_PANEL * DEPTH /* elements */
};
_Static_assert(ROWS % DG_PANEL == 0 && COLUMNS % DG_PANEL == 0 && DEPTH % DG_OPERAND_RUN == 0,
    "blocks are whole panels and runs");
_Static_assert(DEPTH / 2 <= DG_BF16_TURNED_PAIRS, "as many as a product turns over");

struct dg_gemm_bf16 {
    const struct dg_cpu_bf16 *ops;
    /* [ROWS, up to DEPTH], or in panels */
    uint16_t *rows;
    /* [COLUMNS / DG_PANEL][up to DEPTH / 2][DG_PANEL][2] */
    uint16_t *panels;
    /* [DG_PANEL, up to DEPTH]: rows to be transposed */
    uint16_t *strip;
};

struct product {
    size_t M, N, K;
    struct dg_operand left, right;
    /* [M,N], rows ldy apart */
    float *y;
    size_t ldy;
    /* y += */
    bool add;
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Multiplies all rows by g->panels, which hold columns n0 .. n0+n-1 of k0 .. k0+K-1. */
static void multiply_rows(const struct dg_gemm_bf16 *g, const struct product *p, size_t n0,
    size_t n, size_t k0, size_t K, size_t depth)
{
    for (size_t m0 = 0, m; m0 < p->M; m0 += m) {
        m = least(p->M - m0, ROWS);
        const struct dg_operand left = {dg_operand_at(&p->left, m0, k0), p->left.ld, p->left.along};
        const struct dg_bf16_gemm block = {.M = m,
            .n = n,
            .pairs = depth / 2,
            .x = g->rows,
            .ldx = depth,
            .w = g->panels,
            .y = p->y + m0 * p->ldy + n0,
            .ldy = p->ldy,
            .add = p->add || k0};
        if (left.along) {
            dg_operand_rows(g->ops, &left, m, K, depth, g->rows);
            g->ops->gemm(&block);
        } else {
            dg_operand_panels(g->ops, &left, m, K, depth, g->rows, g->strip);
            g->ops->gemm_turned(&block);
        }
    }
}

static void multiply(const struct dg_gemm_bf16 *g, const struct product *p)
{
    for (size_t k0 = 0, K; k0 < p->K; k0 += K) {
        K = least(p->K - k0, DEPTH);
        const size_t depth = dg_operand_depth(K, p->left.along || p->right.along);
        for (size_t n0 = 0, n; n0 < p->N; n0 += n) {
            n = least(p->N - n0, COLUMNS);
            const struct dg_operand right = {
                dg_operand_at(&p->right, n0, k0), p->right.ld, p->right.along};
            dg_operand_panels(g->ops, &right, n, K, depth, g->panels, g->strip);
            multiply_rows(g, p, n0, n, k0, K, depth);
        }
    }
}

static void forward(void *ctx, const struct dg_train_gemm *g)
{
    multiply(ctx, &(struct product){g->M, g->N, g->K, {g->a, g->lda, true}, {g->b, g->ldb, true},
                      g->c, g->ldc, g->add});
}

static void input(void *ctx, const struct dg_train_gemm *g)
{
    multiply(ctx, &(struct product){g->M, g->K, g->N, {g->a, g->lda, true}, {g->b, g->ldb, false},
                      g->c, g->ldc, g->add});
}

static void weight(void *ctx, const struct dg_train_gemm *g)
{
    multiply(ctx, &(struct product){g->N, g->K, g->M, {g->a, g->lda, false}, {g->b, g->ldb, false},
                      g->c, g->ldc, g->add});
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
