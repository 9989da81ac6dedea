/* The output layer of training in bf16 (product, softmax, loss and gradients in one) against the
 * formulas in double over rounded operands: sizes on either side of every block's edge, with and
 * without a bias, impossible pieces, rows whose logits rise far above those of the first block,
 * rows without a gradient. */
#ifdef __x86_64__
#define DG_X86 /* as in the build of kernels/ */
#endif
#include "kernels/cpu/train/output_bf16.h"
#include "tests/ops/ops.h"
#include "weights/half.h"

enum { APART = 3 };

struct way {
    const char *name;
    struct dg_output_bf16 *output;
};

static void each_way(void (*f)(const struct way *way))
{
    struct dg_error err = {0};
    struct way plain = {.name = "plain"};
    assert_int_equal(dg_output_bf16_open(&dg_bf16_plain, &dg_loops_plain, &plain.output, &err), 0);
    f(&plain);
    dg_output_bf16_close(plain.output);
#ifdef DG_X86
    struct way avx512 = {.name = "avx512bf16"};
    if (!ops_has_isa("avx512bf16"))
        return;
    assert_int_equal(
        dg_output_bf16_open(&dg_bf16_avx512, &dg_loops_avx512, &avx512.output, &err), 0);
    f(&avx512);
    dg_output_bf16_close(avx512.output);
#endif
}

struct problem {
    size_t M, V, D, ldx;
    float epsilon, scale;
    float *x, *w, *dx, *dw, *dw_before;
    float *bias, *dbias; /* [V] or NULL */
    int32_t *target;
};

static struct problem problem_new(size_t M, size_t V, size_t D, float epsilon)
{
    struct problem p = {
        .M = M, .V = V, .D = D, .ldx = D + APART, .epsilon = epsilon, .scale = 1 / 7.0f};
    uint64_t seed = 77;
    p.x = ops_floats(M * p.ldx, 1);
    p.w = ops_floats(V * D, 2);
    p.dx = ops_floats(M * p.ldx, 3);
    p.dw = ops_floats(V * D, 4);
    p.dw_before = ops_floats(V * D, 4);
    p.target = ops_memory(M, sizeof *p.target);
    for (size_t m = 0; m < M; m++)
        p.target[m] = (int32_t)(ops_random(&seed) % V);
    p.target[M - 1] = (int32_t)V - 1;
    return p;
}

/* Adds a bias; with `gaps`, some pieces that are no row's target become impossible. */
static void give_bias(struct problem *p, bool gaps)
{
    p->bias = ops_floats(p->V, 5);
    p->dbias = ops_floats(p->V, 6);
    for (size_t v = 0; gaps && v < p->V; v += 1 + v % 7) {
        bool wanted = false;
        for (size_t m = 0; m < p->M; m++)
            wanted |= (size_t)p->target[m] == v;
        if (!wanted)
            p->bias[v] = -INFINITY;
    }
}

static void problem_free(struct problem *p)
{
    free(p->bias), free(p->dbias);
    free(p->x), free(p->w), free(p->dx), free(p->dw), free(p->dw_before), free(p->target);
}

static struct dg_loss_sums run(const struct way *way, const struct problem *p, bool gradients)
{
    struct dg_loss_sums sums = {.smoothed = 3, .n = 5};
    struct dg_error err = {0};
    const struct dg_output_rows rows = {.M = p->M,
        .V = p->V,
        .D = p->D,
        .x = p->x,
        .ldx = p->ldx,
        .w = p->w,
        .bias = p->bias,
        .target = p->target,
        .epsilon = p->epsilon,
        .scale = p->scale,
        .dx = gradients ? p->dx : NULL,
        .dw = gradients ? p->dw : NULL,
        .dbias = gradients ? p->dbias : NULL,
        .lddx = p->ldx};
    assert_int_equal(dg_output_bf16_run(way->output, &rows, &sums, &err), 0);
    return sums;
}

static bool possible(const struct problem *p, size_t v)
{
    return !p->bias || !isinf(p->bias[v]);
}

static double n_possible(const struct problem *p)
{
    double n = 0;
    for (size_t v = 0; v < p->V; v++)
        n += possible(p, v);
    return n;
}

static double rounded(float x)
{
    return (double)dg_bf16_to_f32(dg_bf16_from_f32(x));
}

/* Expected values of a row; its logits are replaced by their gradients. */
struct expected {
    double *logits; /* [V] */
    double nll, smoothed, spread;
    bool correct;
};

static void expect_row(const struct problem *p, size_t m, struct expected *e)
{
    double most = -INFINITY, sum = 0, z = 0;
    const double n = n_possible(p);
    const size_t target = (size_t)p->target[m];
    for (size_t v = 0; v < p->V; v++) {
        double dot = p->bias ? (double)p->bias[v] : 0;
        for (size_t d = 0; d < p->D; d++)
            dot += rounded(p->x[m * p->ldx + d]) * rounded(p->w[v * p->D + d]);
        e->logits[v] = dot;
        sum += possible(p, v) ? dot : 0;
        most = dot > most ? dot : most;
    }
    for (size_t v = 0; v < p->V; v++)
        z += exp(e->logits[v] - most);
    const double log_z = most + log(z);
    e->correct = e->logits[target] >= most - 1e-5 * (fabs(most) + 1);
    e->nll = log_z - e->logits[target];
    e->smoothed =
        log_z - (1 - (double)p->epsilon) * e->logits[target] - (double)p->epsilon / n * sum;
    for (size_t v = 0; v < p->V; v++)
        e->logits[v] = (double)p->scale *
                       (exp(e->logits[v] - log_z) - (possible(p, v) ? (double)p->epsilon / n : 0) -
                           (v == target ? 1 - (double)p->epsilon : 0));
}

/* Two roundings, of e and of a weight or an x: 2^-8 each of the softmax's share; plus the loss of
 * fp32 sums. */
static double tolerance(double share, double all)
{
    return 0x1.02p-7 * share + 1e-5 * all + 1e-9;
}

static void check_dx(const struct way *way, const struct problem *p, size_t m, const double *g)
{
    const double b = (double)p->scale * (double)p->epsilon / n_possible(p);
    for (size_t d = 0; d < p->D; d++) {
        double want = 0, share = 0, all = 0;
        for (size_t v = 0; v < p->V; v++) {
            const double w = (double)p->w[v * p->D + d];
            const bool target = v == (size_t)p->target[m];
            want += g[v] * w;
            share +=
                fabs((g[v] + b + (target ? (double)p->scale * (1 - (double)p->epsilon) : 0)) * w);
            all += fabs(g[v] * w);
        }
        ops_near("dx", way->name, m * p->D + d, p->dx[m * p->ldx + d], want, tolerance(share, all));
    }
}

/* Checks dbias. db[V]: the gradient without the effects of rounding. */
static void check_dbias(
    const struct way *way, const struct problem *p, const double *db, const double *share)
{
    float *before = ops_floats(p->V, 6);
    for (size_t v = 0; p->bias && v < p->V; v++)
        ops_near("dbias", way->name, v, p->dbias[v], (double)before[v] + db[v],
            tolerance(share[v], fabs(db[v]) + (double)p->M * (double)p->scale));
    free(before);
}

static void check(const struct way *way, const struct problem *p)
{
    struct expected e = {.logits = ops_memory(p->V, sizeof(double))};
    double *dw = ops_memory(p->V * p->D, sizeof *dw), *share = ops_memory(p->V * p->D, sizeof *dw),
           *db = ops_memory(2 * p->V, sizeof *db), nll = 0, smoothed = 3;
    uint64_t correct = 0;
    const struct dg_loss_sums sums = run(way, p, true), alone = run(way, p, false);
    const double b = (double)p->scale * (double)p->epsilon / n_possible(p);
    for (size_t m = 0; m < p->M; m++) {
        expect_row(p, m, &e);
        check_dx(way, p, m, e.logits);
        nll += e.nll;
        smoothed += e.smoothed;
        correct += e.correct;
        for (size_t i = 0; i < p->V * p->D; i++) {
            const size_t v = i / p->D;
            const double g = e.logits[v], x = (double)p->x[m * p->ldx + i % p->D],
                         softmax = g + (possible(p, v) ? b : 0) +
                                   (v == (size_t)p->target[m]
                                           ? (double)p->scale * (1 - (double)p->epsilon)
                                           : 0);
            dw[i] += g * x;
            share[i] += fabs(x) * softmax;
            if (i % p->D == 0) {
                db[v] += g;
                db[p->V + v] += softmax;
            }
        }
    }
    check_dbias(way, p, db, db + p->V);
    for (size_t i = 0; i < p->V * p->D; i++)
        ops_near("dw", way->name, i, p->dw[i], (double)p->dw_before[i] + dw[i],
            tolerance(share[i], fabs(dw[i]) + (double)p->M * b + fabs((double)p->dw_before[i])));
    ops_near("nll", way->name, p->M, (float)sums.nll, nll, 2e-5 * (fabs(nll) + (double)p->M));
    ops_near("smoothed", way->name, p->M, (float)sums.smoothed, smoothed,
        1e-4 * (fabs(smoothed) + (double)p->M));
    assert_int_equal(sums.correct, correct);
    assert_int_equal(sums.n, 5 + p->M);
    assert_memory_equal(&sums, &alone, sizeof sums);
    free(e.logits), free(dw), free(share), free(db);
}

/* Blocks have 256 pieces and 128 rows; bands have 254 rows and two extra ones. */
static void check_sizes(const struct way *way)
{
    static const size_t sizes[][3] = {{1, 1, 1}, {2, 17, 5}, {3, 300, 40}, {129, 33, 16},
        {253, 40, 24}, {252, 20, 7}, {256, 259, 33}, {513, 18, 20}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int kind = 0; kind < 4; kind++) {
            struct problem p = problem_new(sizes[i][0], sizes[i][1], sizes[i][2], kind ? 0.1f : 0);
            if (kind > 1)
                give_bias(&p, kind > 2);
            const float between = p.dx[p.D];
            check(way, &p);
            assert_true(p.dx[p.D] == between); /* the gap between rows is unchanged */
            problem_free(&p);
        }
}

static void test_sizes(void **state)
{
    (void)state;
    each_way(check_sizes);
}

/* Some rows prefer a piece of the last block to those of the first by more than exp() can
 * represent. */
static void check_rising(const struct way *way)
{
    struct problem p = problem_new(5, 600, 8, 0.1f);
    for (size_t d = 0; d < p.D; d++) {
        p.w[599 * p.D + d] = 100;
        p.x[3 * p.ldx + d] = 1;
        p.x[4 * p.ldx + d] = -1;
    }
    check(way, &p);
    problem_free(&p);
}

static void test_rising(void **state)
{
    (void)state;
    each_way(check_rising);
}

/* NaN must show in the loss. */
static void check_nan(const struct way *way)
{
    struct problem p = problem_new(4, 300, 8, 0.1f);
    p.x[2 * p.ldx + 1] = NAN;
    assert_true(isnan(run(way, &p, true).nll));
    assert_true(isnan(p.dx[2 * p.ldx]) && !isnan(p.dx[3 * p.ldx]));
    problem_free(&p);
}

static void test_nan(void **state)
{
    (void)state;
    each_way(check_nan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes), cmocka_unit_test(test_rising), cmocka_unit_test(test_nan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
