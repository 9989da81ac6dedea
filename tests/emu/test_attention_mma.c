/* Training's attention on tensor cores, forward and backward, against loops in double precision
 * over the same rounded inputs: bf16 and fp16, heads of 32 and 64, pieces around every boundary of
 * the kernels' tiles. The plain kernels are held to the same bounds; a difference in some bit
 * between the two shows that each ran. The bounds add up what each rounding to 16 bits may cost. */
#include "tests/ops/ops.h"

#include "kernels/train.h"
#include "tests/emu/cuda.h"

enum { H = 2, MOST_SEGS = 12 };

struct piece {
    uint32_t n_q, n_k;
};

struct problem {
    const char *precision;
    double unit;       /* largest relative error of rounding to it */
    uint32_t D, shift; /* shift: elements by which rows are off a 16-byte boundary */
    bool causal, drop;
    const struct dg_guide *guide;
    size_t n_segs, Mq, Mk, pairs;
    struct dg_attn_seg segs[MOST_SEGS];
    uint32_t *keys;          /* [Mq] dropout keys */
    float *q, *k, *v, *dout; /* rounded as on the device */
};

struct results {
    float *out, *probs, *dq, *dk, *dv;
    struct dg_loss_sums sums;
};

static float *floats(size_t n)
{
    return ops_memory(n, sizeof(float));
}

static void lay_out(struct problem *p, const struct piece *pieces, size_t n)
{
    p->n_segs = n, p->Mq = p->Mk = p->pairs = 0;
    for (size_t i = 0; i < n; i++) {
        p->segs[i] = (struct dg_attn_seg){(uint32_t)p->Mq, pieces[i].n_q, pieces[i].n_k,
            (uint32_t)p->Mk, NULL, p->causal, p->pairs};
        p->Mq += pieces[i].n_q, p->Mk += pieces[i].n_k;
        p->pairs += (size_t)H * pieces[i].n_q * pieces[i].n_k;
    }
    p->keys = calloc(p->Mq, sizeof *p->keys);
    for (size_t i = 0; i < p->Mq; i++)
        p->keys[i] = (uint32_t)i * 2654435761u + 17;
    p->q = floats(p->Mq * H * p->D), p->dout = floats(p->Mq * H * p->D);
    p->k = floats(p->Mk * H * p->D), p->v = floats(p->Mk * H * p->D);
}

static void forget(struct problem *p)
{
    free(p->keys), free(p->q), free(p->k), free(p->v), free(p->dout);
}

/* Makes M rows of a head each, spaced as in a fused buffer; random, or zeros where x is NULL. x
 * then receives the values as the device rounded them. */
static struct dg_rows rows(
    struct dg_backend *be, const struct problem *p, float *x, size_t M, uint64_t state)
{
    const size_t N = (size_t)H * p->D;
    for (size_t i = 0; x && i < M * N; i++)
        x[i] = ops_uniform(&state);
    const struct dg_rows r = ops_rows(be, x, M, N, 8 + p->shift, 3 * N);
    if (x)
        be->ops->read(be, r, M, N, x);
    return r;
}

static float *take(struct dg_backend *be, struct dg_rows r, size_t M, size_t N)
{
    float *x = floats(M * N);
    be->ops->read(be, r, M, N, x);
    be->ops->buf_free(be, r.buf);
    return x;
}

/* Runs forward and backward on a backend of its own. */
static struct results run(struct problem *p, const char *kernels)
{
    struct dg_error err = {0};
    struct dg_train *train;
    struct results to = {.sums = {0}};
    setenv("DRAGOMAN_DEBUG", strcmp(kernels, "plain") == 0 ? "cuda-plain-attention" : "", 1);
    struct dg_backend *be = cuda_or_skip(p->precision);
    assert_int_equal(dg_train_open(be, &train, &err), 0);
    const struct dg_dropout drop = {0.2f, 7, p->keys};
    const size_t N = (size_t)H * p->D;
    struct dg_guide guide = p->guide ? *p->guide : (struct dg_guide){0};
    guide.sums = &to.sums;
    struct dg_attention op = {.H = H,
        .Dk = p->D,
        .Dv = p->D,
        .segs = p->segs,
        .n_segs = p->n_segs,
        .k = rows(be, p, p->k, p->Mk, 2),
        .v = rows(be, p, p->v, p->Mk, 3),
        .probs = {NULL, 3, p->pairs},
        .drop = p->drop ? &drop : NULL};
    const struct dg_rows q = rows(be, p, p->q, p->Mq, 1), out = rows(be, p, NULL, p->Mq, 0);
    struct dg_attention_grad g = {&op, q, rows(be, p, p->dout, p->Mq, 4),
        rows(be, p, NULL, p->Mq, 0), rows(be, p, NULL, p->Mk, 0), rows(be, p, NULL, p->Mk, 0),
        p->guide ? &guide : NULL};
    assert_int_equal(be->ops->buf_new(be, p->pairs + 3, &op.probs.buf, NULL), 0);
    be->ops->attention(be, &op, q, out);
    assert_int_equal(train->ops->attention_backward(train, &g, &err), 0);
    dg_train_sums(train, &to.sums);
    to.out = take(be, out, p->Mq, N), to.probs = take(be, op.probs, 1, p->pairs);
    to.dq = take(be, g.dq, p->Mq, N), to.dk = take(be, g.dk, p->Mk, N);
    to.dv = take(be, g.dv, p->Mk, N);
    free(take(be, g.dout, p->Mq, N)), free(take(be, op.k, p->Mk, N));
    free(take(be, op.v, p->Mk, N)), free(take(be, q, p->Mq, N));
    if (be->ops->status(be, &err))
        fail_msg("%s", err.message);
    dg_train_close(train);
    dg_device_close(be);
    return to;
}

static void forget_results(struct results *r)
{
    free(r->out), free(r->probs), free(r->dq), free(r->dk), free(r->dv);
}

/* Expected values, and how far off each may be. */
struct wanted {
    double *x, *off;
};

struct expected {
    struct wanted out, probs, dq, dk, dv;
    double guided;
};

static struct wanted wanted(size_t n)
{
    return (struct wanted){calloc(n, sizeof(double)), calloc(n, sizeof(double))};
}

static void add(struct wanted *w, size_t i, double x, double off)
{
    w->x[i] += x;
    w->off[i] += off;
}

/* Computes the exact probabilities of all heads. */
static void expect_probs(const struct problem *p, const struct dg_attn_seg *s, struct expected *e)
{
    for (uint32_t h = 0; h < H; h++)
        for (uint32_t i = 0; i < s->n_q; i++) {
            double *x = e->probs.x + s->probs + (size_t)(h * s->n_q + i) * s->n_k, sum = 0;
            const uint32_t seen = s->causal ? s->n_k - s->n_q + i + 1 : s->n_k;
            for (uint32_t j = 0; j < seen; j++) {
                double dot = 0;
                for (uint32_t d = 0; d < p->D; d++)
                    dot += (double)p->q[((s->q0 + i) * H + h) * p->D + d] *
                           p->k[((s->k0 + j) * H + h) * p->D + d];
                sum += x[j] = exp(dot / sqrt(p->D));
            }
            for (uint32_t j = 0; j < seen; j++)
                x[j] /= sum;
            for (uint32_t j = 0; j < s->n_k; j++) /* fp16's smallest step is added to the unit */
                e->probs.off[x + j - e->probs.x] = x[j] * (p->unit + 1e-4) + 6e-8;
        }
}

/* Computes the guide's gradients with respect to query i's probabilities, extra[n_k]; adds its loss
 * with the guide's first head only. */
static void expect_guide(
    const struct problem *p, size_t seg, uint32_t h, uint32_t i, struct expected *e, double *extra)
{
    const struct dg_guide *g = p->guide;
    const struct dg_attn_seg *s = &p->segs[seg];
    size_t n = 0;
    memset(extra, 0, s->n_k * sizeof *extra);
    if (!g || h < g->head || h >= g->head + g->n_heads)
        return;
    for (size_t l = g->first[seg]; l < g->first[seg + 1]; l++)
        n += g->links[l].query == i;
    for (size_t l = g->first[seg]; l < g->first[seg + 1]; l++) {
        const uint32_t j = g->links[l].key;
        double mean = 1e-9;
        if (g->links[l].query != i)
            continue;
        for (uint32_t o = g->head; o < g->head + g->n_heads; o++)
            mean += e->probs.x[s->probs + (size_t)(o * s->n_q + i) * s->n_k + j] / g->n_heads;
        extra[j] -= (double)g->scale / (double)n / (mean * g->n_heads);
        e->guided -= h == g->head ? log(mean) / (double)n : 0;
    }
}

/* Adds one query of one head. u: relative error of one rounding. */
static void expect_query(
    const struct problem *p, size_t seg, uint32_t h, uint32_t i, struct expected *e)
{
    const struct dg_attn_seg *s = &p->segs[seg];
    const double u = p->unit, scale = 1 / sqrt(p->D);
    const double *prob = e->probs.x + s->probs + (size_t)(h * s->n_q + i) * s->n_k;
    const size_t q = ((size_t)(s->q0 + i) * H + h) * p->D;
    double *dp = calloc(s->n_k, sizeof *dp), *extra = calloc(s->n_k, sizeof *extra), sum = 0,
           most = 0;
    expect_guide(p, seg, h, i, e, extra);
    for (uint32_t j = 0; j < s->n_k; j++) {
        const size_t k = ((size_t)(s->k0 + j) * H + h) * p->D;
        const bool keep = !p->drop || dg_dropout_keep(p->keys[s->q0 + i] ^ 7, h * 2048 + j, 0.2f);
        const double by = !keep ? 0 : p->drop ? 1 / (1 - (double)0.2f) : 1;
        for (uint32_t d = 0; d < p->D; d++) {
            const double w = prob[j] * by, v = p->v[k + d], o = p->dout[q + d];
            dp[j] += o * v * by;
            add(&e->out, q + d, w * v, w * fabs(v) * 2 * u);
            add(&e->dv, k + d, w * o, w * fabs(o) * 3 * u + 6e-8);
        }
        dp[j] += extra[j];
        sum += prob[j] * dp[j], most += prob[j] * fabs(dp[j]);
    }
    for (uint32_t j = 0; j < s->n_k; j++) {
        const size_t k = ((size_t)(s->k0 + j) * H + h) * p->D;
        const double ds = prob[j] * (dp[j] - sum) * scale,
                     off = 3 * u * prob[j] * (fabs(dp[j]) + fabs(extra[j]) + most) * scale + 6e-8;
        for (uint32_t d = 0; d < p->D; d++) {
            add(&e->dq, q + d, ds * p->k[k + d], off * fabs(p->k[k + d]));
            add(&e->dk, k + d, ds * p->q[q + d], off * fabs(p->q[q + d]));
        }
    }
    free(dp), free(extra);
}

static struct expected expect(const struct problem *p)
{
    const size_t N = (size_t)H * p->D;
    struct expected e = {wanted(p->Mq * N), wanted(p->pairs), wanted(p->Mq * N), wanted(p->Mk * N),
        wanted(p->Mk * N), 0};
    for (size_t s = 0; s < p->n_segs; s++) {
        expect_probs(p, &p->segs[s], &e);
        for (uint32_t h = 0; h < H; h++)
            for (uint32_t i = 0; i < p->segs[s].n_q; i++)
                expect_query(p, s, h, i, &e);
    }
    return e;
}

static void near(const char *what, const struct problem *p, const char *kernels, struct wanted w,
    const float *got, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(got[i] - w.x[i]) <= w.off[i] + fabs(w.x[i]) * p->unit + 1e-6))
            fail_msg("%s, %s, %s, D %u, causal %d, drop %d, element %zu: %.7g, expected %.7g "
                     "within %.2g",
                what, p->precision, kernels, p->D, p->causal, p->drop, i, (double)got[i], w.x[i],
                w.off[i] + fabs(w.x[i]) * p->unit);
}

static void check(
    const struct problem *p, const char *kernels, const struct expected *e, const struct results *r)
{
    const size_t N = (size_t)H * p->D;
    near("probabilities", p, kernels, e->probs, r->probs, p->pairs);
    near("out", p, kernels, e->out, r->out, p->Mq * N);
    near("dv", p, kernels, e->dv, r->dv, p->Mk * N);
    near("dq", p, kernels, e->dq, r->dq, p->Mq * N);
    near("dk", p, kernels, e->dk, r->dk, p->Mk * N);
    assert_true(fabs(r->sums.guided - e->guided) <= p->unit * (1 + fabs(e->guided)));
}

static void forget_expected(struct expected *e)
{
    struct wanted *const all[] = {&e->out, &e->probs, &e->dq, &e->dk, &e->dv};
    for (int i = 0; i < 5; i++)
        free(all[i]->x), free(all[i]->off);
}

/* Checks both kernels against `expect`. differ: tensor cores must have been used. dv may be equal
 * even then: without dropout both round alike. */
static void solve(struct problem *p, const struct piece *pieces, size_t n, bool differ)
{
    const size_t N = (size_t)H * p->D;
    lay_out(p, pieces, n);
    struct results mma = run(p, "mma"), plain = run(p, "plain");
    struct expected e = expect(p);
    check(p, "plain", &e, &plain);
    check(p, "mma", &e, &mma);
    const bool out = memcmp(mma.out, plain.out, p->Mq * N * sizeof(float)),
               dq = memcmp(mma.dq, plain.dq, p->Mq * N * sizeof(float)),
               dk = memcmp(mma.dk, plain.dk, p->Mk * N * sizeof(float)),
               dv = memcmp(mma.dv, plain.dv, p->Mk * N * sizeof(float));
    assert_true(differ ? out && dq && dk : !out && !dq && !dk && !dv);
    forget_expected(&e);
    forget_results(&mma), forget_results(&plain);
    forget(p);
}

static const struct precision {
    const char *name;
    double unit;
} precisions[] = {{"bf16", 1.0 / 256}, {"fp16", 1.0 / 2048}};

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void test_shapes(void **state)
{
    static const struct piece self[] = {{1, 1}, {15, 15}, {16, 16}, {17, 17}, {31, 31}, {33, 33},
        {64, 64}, {65, 65}, {100, 100}},
                              cross[] = {{1, 100}, {65, 3}, {17, 64}, {33, 129}, {40, 1}, {16, 31},
                                  {3, 200}},
                              behind[] = {{5, 70}, {1, 64}, {33, 65}, {40, 140}};
    (void)state;
    for (size_t i = 0; i < COUNT(precisions); i++)
        for (int kind = 0; kind < 8; kind++) {
            struct problem p = {.precision = precisions[i].name,
                .unit = precisions[i].unit,
                .D = kind & 4 ? 32 : 64,
                .drop = kind & 2,
                .causal = kind & 1};
            solve(&p, self, COUNT(self), true);
            if (p.causal)
                solve(&p, behind, COUNT(behind), true);
            else
                solve(&p, cross, COUNT(cross), true);
        }
}

/* As many keys as dropout counts per head, 2,048, in chunk after chunk. */
static void test_long(void **state)
{
    static const struct piece pieces[] = {{3, 2048}, {20, 300}};
    (void)state;
    for (size_t i = 0; i < COUNT(precisions); i++) {
        struct problem p = {.precision = precisions[i].name,
            .unit = precisions[i].unit,
            .D = 32,
            .drop = true,
            .causal = i};
        solve(&p, pieces, COUNT(pieces), true);
    }
}

/* Links to several keys, two to the same key, from queries in several tiles; in one head and in
 * both. */
static void test_guide(void **state)
{
    static const struct piece pieces[] = {{4, 5}, {3, 5}, {40, 90}};
    static const struct dg_link links[] = {
        {1, 0}, {2, 3}, {2, 1}, {2, 3}, {0, 33}, {16, 0}, {17, 64}, {17, 2}, {39, 89}};
    static const size_t first[] = {0, 4, 4, 9};
    (void)state;
    for (int kind = 0; kind < 8; kind++) {
        const struct dg_guide guide = {
            links, first, kind & 1, kind & 1 ? 1 : 1 + (kind >> 2), 0.01f, NULL};
        struct problem p = {.precision = precisions[kind >> 1 & 1].name,
            .unit = precisions[kind >> 1 & 1].unit,
            .D = 64,
            .drop = kind & 1,
            .guide = &guide};
        solve(&p, pieces, COUNT(pieces), true);
    }
}

/* Rows that 16-byte loads cannot read, fp32, and heads of 40 use the plain kernels. */
static void test_left_to_plain(void **state)
{
    static const struct piece pieces[] = {{17, 33}, {4, 4}};
    (void)state;
    struct problem p = {.precision = "bf16", .unit = 1.0 / 256, .D = 64, .shift = 1};
    solve(&p, pieces, COUNT(pieces), false);
    p = (struct problem){.precision = "fp32", .unit = 1e-6, .D = 64};
    solve(&p, pieces, COUNT(pieces), false);
    p = (struct problem){.precision = "fp16", .unit = 1.0 / 2048, .D = 40};
    solve(&p, pieces, COUNT(pieces), false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_shapes), cmocka_unit_test(test_long),
        cmocka_unit_test(test_guide), cmocka_unit_test(test_left_to_plain)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
