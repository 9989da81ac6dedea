/* Names for the files that are built once per instruction set: -DDG_LOOPS_ISA="avx2" and
 * -DDG_LOOPS_SUFFIX=avx2. Any thread. */
#ifndef DG_KERNELS_CPU_TRAIN_LOOPS_BUILD_H
#define DG_KERNELS_CPU_TRAIN_LOOPS_BUILD_H

#include "kernels/cpu/train/loops.h"
#include "kernels/cpu/train/loops_exp.h"

#include <string.h>

#define DG_LOOPS_PASTE2(a, b) a##b
#define DG_LOOPS_PASTE(a, b) DG_LOOPS_PASTE2(a, b)
#define DG_LOOPS DG_LOOPS_PASTE(dg_loops_, DG_LOOPS_SUFFIX)
#define DG_LOOPS_NAME(what) DG_LOOPS_PASTE(dg_loop_##what##_, DG_LOOPS_SUFFIX)

void DG_LOOPS_NAME(loss)(struct dg_loop_loss *row);
void DG_LOOPS_NAME(head)(const struct dg_loop_head *h);

#endif
