/* Converts a product's two matrices to the layout that bf16 products (kernels/cpu/bf16.h) read:
 * rounded rows on the left, panels on the right; or panels on both sides, if neither has K along
 * its rows. K is padded with zeros to depth. Any thread; a call writes only to its own output. */
#ifndef DG_KERNELS_CPU_TRAIN_OPERANDS_BF16_H
#define DG_KERNELS_CPU_TRAIN_OPERANDS_BF16_H

#include "kernels/cpu/bf16.h"
#include "kernels/cpu/pack.h"

#include <stdbool.h>

/* Elements of K in a run: for panels made from rows along K, depth is a multiple of it. */
enum { DG_OPERAND_RUN = 2 * DG_PANEL };

/* Element (i, k), i a row of the left matrix or a column of the right one, is p[i * ld + k] where K
 * is along p's rows, else p[k * ld + i]. */
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

/* Rounds M rows that have K along them: rows[M,depth]. */
void dg_operand_rows(const struct dg_cpu_bf16 *ops, const struct dg_operand *o, size_t M, size_t K,
    size_t depth, uint16_t *rows);
/* Packs N columns (or rows) of K: panels[N/16][depth/2][16][2]. strip: room for 16 rows of depth,
 * if K is along the rows. */
void dg_operand_panels(const struct dg_cpu_bf16 *ops, const struct dg_operand *o, size_t N,
    size_t K, size_t depth, uint16_t *panels, uint16_t *strip);

#endif
