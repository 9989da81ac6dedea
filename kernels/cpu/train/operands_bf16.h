/* A product's two matrices brought into the order that bf16 products (kernels/cpu/bf16.h) read:
 * rounded rows on the left, panels on the right; or panels on both sides, where neither has K along
 * its rows. K is padded with zeros to depth. Any thread; what is written is its own. */
#ifndef DG_KERNELS_CPU_TRAIN_OPERANDS_BF16_H
#define DG_KERNELS_CPU_TRAIN_OPERANDS_BF16_H

#include "kernels/cpu/bf16.h"

#include <stdbool.h>

enum {
    /* outputs of a panel; pairs of a run */
    DG_OPERAND_ACROSS = 16,
    /* of K: a depth that panels are made in from rows along K is a multiple */
    DG_OPERAND_RUN = 2 * DG_OPERAND_ACROSS
};

/* Element (i, k), i a row of the left matrix or a column of the right one, is p[i * ld + k] where K
 * lies along p's rows, else p[k * ld + i]. */
struct dg_operand {
    /* [i,K], or [K,i] where not along; rows ld apart */
    const float *p;
    size_t ld;
    bool along;
};

static inline const float *dg_operand_at(const struct dg_operand *o, size_t i, size_t k)
{
    return o->along ? o->p + i * o->ld + k : o->p + k * o->ld + i;
}

/* K rounded up to whole runs, or, where no matrix has K along its rows, to whole pairs. */
static inline size_t dg_operand_depth(size_t K, bool along)
{
    return along ? (K + DG_OPERAND_RUN - 1) / DG_OPERAND_RUN * DG_OPERAND_RUN : (K + 1) / 2 * 2;
}

/* M rows of K, which lies along them: rows[M,depth]. */
void dg_operand_rows(const struct dg_cpu_bf16 *ops, const struct dg_operand *o, size_t M, size_t K,
    size_t depth, uint16_t *rows);
/* N columns (or rows) of K: panels[N/16][depth/2][16][2]. strip: 16 rows of depth, where K lies
 * along them. */
void dg_operand_panels(const struct dg_cpu_bf16 *ops, const struct dg_operand *o, size_t N,
    size_t K, size_t depth, uint16_t *panels, uint16_t *strip);

#endif
