#include "kernels/cpu/train/operands_bf16.h"

#include <string.h>

/* Rounds K elements at x to rounded[depth], padded with zeros. */
static void round_padded(
    const struct dg_cpu_bf16 *ops, const float *x, size_t K, size_t depth, uint16_t *rounded)
{
    ops->round(x, K, rounded);
    for (size_t k = (K + 1) / 2 * 2; k < depth; k++)
        rounded[k] = 0;
}

/* Rounds rows k and k+1 of n elements into pairs; rows from K on are zero. */
static void pair_rows(const struct dg_cpu_bf16 *ops, const struct dg_operand *o, size_t k, size_t K,
    size_t n, uint16_t *q, size_t apart)
{
    const float *const rows[2] = {
        k < K ? dg_operand_at(o, 0, k) : NULL, k + 1 < K ? dg_operand_at(o, 0, k + 1) : NULL};
    ops->pair(rows, n, q, apart);
}

static const uint32_t *pairs_of(const uint16_t *q)
{
    return (const uint32_t *)(const void *)q;
}

void dg_operand_rows(const struct dg_cpu_bf16 *ops, const struct dg_operand *o, size_t M, size_t K,
    size_t depth, uint16_t *rows)
{
    for (size_t m = 0; m < M; m++)
        round_padded(ops, dg_operand_at(o, m, 0), K, depth, rows + m * depth);
}

void dg_operand_panels(const struct dg_cpu_bf16 *ops, const struct dg_operand *o, size_t N,
    size_t K, size_t depth, uint16_t *panels, uint16_t *strip)
{
    const size_t panel = depth * DG_PANEL;
    for (size_t k = 0; !o->along && k < depth; k += 2)
        pair_rows(ops, o, k, K, N, panels + k * DG_PANEL, panel);
    for (size_t n0 = 0; o->along && n0 < N; n0 += DG_PANEL) {
        const size_t n = N - n0 < DG_PANEL ? N - n0 : DG_PANEL;
        for (size_t i = 0; i < n; i++)
            round_padded(ops, dg_operand_at(o, n0 + i, 0), K, depth, strip + i * depth);
        memset(strip + n * depth, 0, (DG_PANEL - n) * depth * sizeof *strip);
        ops->turn(pairs_of(strip), depth / 2, depth / 2, (uint32_t *)(void *)(panels + n0 * depth),
            DG_PANEL);
    }
}
