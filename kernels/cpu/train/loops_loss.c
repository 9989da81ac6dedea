/* Log-softmax, label-smoothed cross-entropy and its gradient, one row of the vocabulary at a time:
 * the row stays in the first caches for its three passes. Sums run in blocks in float and in double
 * across them. */
#include "kernels/cpu/train/loops_build.h"

#include <math.h>

enum { BLOCK = 512 };

static float row_max(const float *x, size_t n)
{
    float best = x[0];
#pragma omp simd reduction(max : best)
    for (size_t i = 0; i < n; i++)
        best = x[i] > best ? x[i] : best;
    return best;
}

/* x = exp(x - max), n <= BLOCK; the sums of x before and after. */
static void exp_block(float *x, size_t n, float max, double *sum_x, double *sum_e)
{
    float before = 0, after = 0;
#pragma omp simd reduction(+ : before, after)
    for (size_t i = 0; i < n; i++) {
        float e = loop_exp(x[i] - max);
        before += x[i];
        after += e;
        x[i] = e;
    }
    *sum_x += before;
    *sum_e += after;
}

void DG_LOOPS_NAME(loss)(struct dg_loop_loss *row)
{
    float *x = row->x;
    const size_t V = row->V, target = (size_t)row->target;
    const float max = row_max(x, V);
    const double at_target = x[target];
    double sum_x = 0, sum_e = 0;
    row->correct = x[target] == max;
    for (size_t i = 0; i < V; i += BLOCK)
        exp_block(x + i, V - i < BLOCK ? V - i : BLOCK, max, &sum_x, &sum_e);
    const double log_z = max + log(sum_e), eps = row->epsilon;
    /* - sum of q log p = log Z - sum of q x */
    row->nll = log_z - at_target;
    row->smoothed = log_z - (1 - eps) * at_target - eps / (double)V * sum_x;
    if (!row->want_grad)
        return;
    const float a = (float)(row->scale / sum_e), b = (float)(row->scale * eps / (double)V);
#pragma omp simd
    for (size_t i = 0; i < V; i++)
        x[i] = x[i] * a - b;
    x[target] -= (float)(row->scale * (1 - eps));
}
