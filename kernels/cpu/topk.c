/* Log-softmax and the best candidates of rows of logits, in two passes over a row: the maximum of
 * each of up to 128 runs, then the sum of exponentials, which computes more than it reads and so
 * prefetches the next row. The k-th largest run maximum is a lower bound of the k-th best logit, so
 * only the few runs that reach it are scanned again. */
#include "kernels/cpu/internal.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    FETCH_COLUMNS = 32, /* columns prefetched ahead */
    RUNS = 128,
    CHUNK = 512 /* values of a run that are scanned again at a time */
};

struct job {
    const struct dg_cpu *cpu;
    const struct dg_topk *op;
    struct dg_rows logits;
    /* rows: rows per piece */
    size_t M, rows;
};

/* The maxima of a row's runs. */
struct runs {
    size_t length, n;
    float max[RUNS];
};

/* Insert into best[*n] (at most k, largest first); equal values stay in the order of arrival. */
static void insert(float *best, int32_t *ids, size_t *n, size_t k, float value, int32_t id)
{
    size_t i = *n < k ? (*n)++ : k - 1;
    for (; i > 0 && best[i - 1] < value; i--) {
        best[i] = best[i - 1];
        if (ids)
            ids[i] = ids[i - 1];
    }
    best[i] = value;
    if (ids)
        ids[i] = id;
}

/* The k-th largest run maximum, -inf when there are fewer runs. `best` is space for k. */
static float bound(const struct runs *runs, size_t k, float *best)
{
    size_t n = 0;
    for (size_t i = 0; i < runs->n; i++)
        if (n < k || runs->max[i] > best[n - 1])
            insert(best, NULL, &n, k, runs->max[i], 0);
    return n < k ? -INFINITY : best[k - 1];
}

/* The k best of x[V] into best, ids. Returns how many there are. */
static size_t select_best(const struct dg_cpu_isa *isa, const float *x, size_t V,
    const struct runs *runs, size_t k, float *best, int32_t *ids)
{
    float low = bound(runs, k, best);
    size_t n = 0;
    for (size_t r = 0; r < runs->n; r++) {
        if (runs->max[r] < low)
            continue;
        size_t end = (r + 1) * runs->length < V ? (r + 1) * runs->length : V;
        for (size_t i = r * runs->length; i < end; i += CHUNK) {
            uint32_t at[CHUNK];
            size_t found = isa->at_least(x + i, end - i < CHUNK ? end - i : CHUNK, low, at);
            for (size_t f = 0; f < found; f++)
                if (n < k || x[i + at[f]] > best[n - 1])
                    insert(best, ids, &n, k, x[i + at[f]], (int32_t)(i + at[f]));
        }
    }
    return n;
}

/* Moves the columns that count next to each other: each comes from its own place or from further
 * on. */
static void keep_columns(float *x, const int32_t *columns, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        __builtin_prefetch(x + columns[i + FETCH_COLUMNS < n ? i + FETCH_COLUMNS : i]);
        x[i] = x[columns[i]];
    }
}

/* next: the row after this one, to prefetch; the last row names itself. */
static void run_row(const struct dg_cpu_isa *isa, const struct dg_topk *op, const float *x,
    size_t m, const float *next)
{
    struct runs runs;
    size_t V = op->V, k = op->k[m];
    float *logprob = op->logprob + m * op->k_max, top = -INFINITY;
    int32_t *ids = op->ids + m * op->k_max;
    runs.length = ((V + RUNS - 1) / RUNS + 15) / 16 * 16;
    runs.n = (V + runs.length - 1) / runs.length;
    isa->run_max(x, V, runs.length, runs.max);
    for (size_t r = 0; r < runs.n; r++)
        if (!(top >= runs.max[r])) /* so that NaN propagates */
            top = runs.max[r];
    double base = (double)top + log(isa->sum_exp(x, V, top, next));
    size_t n = 1;
    if (op->force && op->force[m] >= 0) {
        ids[0] = op->force[m];
        logprob[0] = x[op->force[m]];
    } else {
        n = select_best(isa, x, V, &runs, k, logprob, ids);
    }
    for (size_t i = 0; i < n; i++)
        logprob[i] = (float)((double)logprob[i] - base);
    for (size_t i = n; i < k; i++) { /* more wanted than there are (or than are not NaN) */
        logprob[i] = -INFINITY;
        ids[i] = -1;
    }
}

static void run_rows(void *arg, size_t i)
{
    const struct job *j = arg;
    size_t m1 = (i + 1) * j->rows < j->M ? (i + 1) * j->rows : j->M;
    for (size_t m = i * j->rows; m < m1; m++) {
        if (j->op->only)
            keep_columns(dg_rows_at(j->logits, m), j->op->only, j->op->V);
        run_row(j->cpu->isa, j->op, dg_rows_at(j->logits, m), m,
            dg_rows_at(j->logits, m + 1 < m1 ? m + 1 : m));
    }
}

void dg_cpu_topk(struct dg_backend *be, const struct dg_topk *op, struct dg_rows logits, size_t M)
{
    const struct dg_cpu *cpu = dg_cpu_of(be);
    if (!M)
        return;
    for (size_t m = 0; m < M; m++)
        assert(op->k[m] >= 1 && op->k[m] <= op->k_max);
    size_t pieces = dg_cpu_pieces(cpu, M, 4.0 * (double)M * (double)op->V);
    struct job j = {cpu, op, logits, M, (M + pieces - 1) / pieces};
    dg_pool_run(pieces > 1 ? cpu->pool : NULL, (M + j.rows - 1) / j.rows, run_rows, &j);
}
