/* Log-softmax, label-smoothed cross-entropy and its gradient, one row of the vocabulary at a time:
 * the row stays in the first caches for its three passes. Sums run in blocks in float and in double
 * across them. */
#include "kernels/cpu/train/loops_build.h"

#include <float.h>
#include <math.h>

enum { BLOCK = 512 };

static float row_max(const float *x, size_t n, float *least)
{
    float best = x[0], worst = x[0];
#pragma omp simd reduction(max : best) reduction(min : worst)
    for (size_t i = 0; i < n; i++) {
        best = x[i] > best ? x[i] : best;
        worst = x[i] < worst ? x[i] : worst;
    }
    *least = worst;
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

/* - sum of q log p = log Z - sum of q x; n pieces share ε. */
static void put_loss(
    struct dg_loop_loss *row, double at_target, double log_z, double sum_x, size_t n)
{
    const double eps = row->epsilon;
    row->nll = log_z - at_target;
    row->smoothed = log_z - (1 - eps) * at_target - eps / (double)n * sum_x;
}

/* False for a NaN, which must propagate. */
static inline bool impossible(float x)
{
    return x < -FLT_MAX;
}

/* The loss of a row in which some logits are -inf. */
static void loss_of_some(struct dg_loop_loss *row, float max)
{
    float *x = row->x;
    double sum_x = 0, sum_e = 0;
    size_t n = 0;
    for (size_t i = 0; i < row->V; i++)
        if (!impossible(x[i])) {
            sum_x += x[i];
            sum_e += loop_exp(x[i] - max);
            n++;
        }
    put_loss(row, x[row->target], max + log(sum_e), sum_x, n);
    if (!row->want_grad)
        return;
    const double eps = row->epsilon;
    const float a = (float)(row->scale / sum_e), b = (float)(row->scale * eps / (double)n);
    for (size_t i = 0; i < row->V; i++)
        x[i] = impossible(x[i]) ? 0 : loop_exp(x[i] - max) * a - b;
    x[row->target] -= (float)(row->scale * (1 - eps));
}

void DG_LOOPS_NAME(loss)(struct dg_loop_loss *row)
{
    float *x = row->x, least;
    const size_t V = row->V, target = (size_t)row->target;
    const float max = row_max(x, V, &least);
    const double at_target = x[target];
    double sum_x = 0, sum_e = 0;
    row->correct = x[target] == max;
    if (impossible(least) && !impossible(max)) {
        loss_of_some(row, max);
        return;
    }
    for (size_t i = 0; i < V; i += BLOCK)
        exp_block(x + i, V - i < BLOCK ? V - i : BLOCK, max, &sum_x, &sum_e);
    put_loss(row, at_target, max + log(sum_e), sum_x, V);
    if (!row->want_grad)
        return;
    const float a = (float)(row->scale / sum_e),
                b = (float)(row->scale * (double)row->epsilon / (double)V);
#pragma omp simd
    for (size_t i = 0; i < V; i++)
        x[i] = x[i] * a - b;
    x[target] -= (float)(row->scale * (1 - (double)row->epsilon));
}
