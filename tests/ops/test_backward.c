/* The backward ops of kernels/train.h except attention's, on every instruction set of this
 * machine. */
#include "tests/ops/gradient.h"

static double act(enum dg_act a, double x)
{
    switch (a) {
    case DG_ACT_RELU: return x > 0 ? x : 0;
    case DG_ACT_SWISH: return x / (1 + exp(-x));
    case DG_ACT_GELU: return 0.5 * x * (1 + erf(x / sqrt(2)));
    default: return x;
    }
}

struct linear {
    size_t M, N, K;
    double *x, *w, *bias, *c;
    enum dg_act act;
    const struct dg_dropout *drop;
};

static double linear_value(void *ctx)
{
    struct linear *l = ctx;
    double sum = 0;
    for (size_t m = 0; m < l->M; m++)
        for (size_t n = 0; n < l->N; n++) {
            double y = l->bias ? l->bias[n] : 0;
            for (size_t k = 0; k < l->K; k++)
                y += l->x[m * l->K + k] * l->w[n * l->K + k];
            sum += l->c[m * l->N + n] * act(l->act, y) * kept(l->drop, m, (uint32_t)n);
        }
    return sum;
}

static void linear_case(struct fixture *f, enum dg_act a, bool bias, bool drop)
{
    struct dg_dropout d = {0.3f, 12345, keys};
    struct linear l = {7, 19, 13, array(f, 7 * 13), array(f, 19 * 13), bias ? array(f, 19) : NULL,
        array(f, 7 * 19), a, drop ? &d : NULL};
    float dx[7 * 13], *dw, *db = NULL;
    struct dg_rows x = rows(f, l.x, 7, 13), y = rows(f, NULL, 7, 19), pre = rows(f, NULL, 7, 19);
    struct dg_linear op = {weight(f, l.w, 19, 13, DG_USE_MATRIX, NULL),
        bias ? weight(f, l.bias, 1, 19, DG_USE_VECTOR, NULL) : NULL, a, l.drop, pre, {0}};
    f->be->ops->linear(f->be, &op, x, y, 7);
    struct dg_linear_grad g = {.op = &op,
        .x = x,
        .y = y,
        .dy = rows(f, l.c, 7, 19),
        .dx = rows(f, NULL, 7, 13),
        .dw = weight(f, NULL, 19, 13, DG_USE_MATRIX, &dw),
        .dbias = bias ? weight(f, NULL, 1, 19, DG_USE_VECTOR, &db) : NULL};
    f->train->ops->linear_backward(f->train, &g, 7);
    fetch(f, g.dx, 7, 13, dx);
    check("linear dx", linear_value, &l, l.x, 7 * 13, dx);
    check_block(f, "linear dw", linear_value, &l, l.w, 19 * 13, dw);
    if (bias)
        check_block(f, "linear dbias", linear_value, &l, l.bias, 19, db);
    /* Accumulation: a second pass doubles dw and, if requested, dx. */
    g.dy = rows(f, l.c, 7, 19);
    g.dx_add = true;
    float first = element(f, dw, 5);
    f->train->ops->linear_backward(f->train, &g, 7);
    assert_float_equal(element(f, dw, 5), 2 * first, 1e-5);
    first = dx[4];
    fetch(f, g.dx, 7, 13, dx);
    assert_float_equal(dx[4], 2 * first, 1e-5);
    /* dx_relu: x is the output of a ReLU. */
    float before[7 * 13];
    g.dx_add = false;
    g.dy = rows(f, l.c, 7, 19);
    f->train->ops->linear_backward(f->train, &g, 7);
    fetch(f, g.dx, 7, 13, before);
    g.dx_relu = true;
    g.dy = rows(f, l.c, 7, 19);
    f->train->ops->linear_backward(f->train, &g, 7);
    fetch(f, g.dx, 7, 13, dx);
    for (int i = 0; i < 7 * 13; i++)
        assert_true(dx[i] == (l.x[i] > 0 ? before[i] : 0));
    release(f);
    free(l.x), free(l.w), free(l.bias), free(l.c);
}

static void test_linear(struct fixture *f)
{
    for (int a = DG_ACT_NONE; a <= DG_ACT_GELU; a++)
        for (int bits = 0; bits < 4; bits++)
            linear_case(f, (enum dg_act)a, bits & 1, bits & 2);
}

struct norm {
    size_t M, D;
    double *x, *r, *gain, *bias, *c;
    const struct dg_dropout *drop;
    /* gradient of the sum itself, or NULL */
    double *c_sum;
};

static double norm_value(void *ctx)
{
    struct norm *n = ctx;
    double sum = 0;
    for (size_t m = 0; m < n->M; m++) {
        double v[64], mean = 0, var = 0;
        for (size_t i = 0; i < n->D; i++) {
            v[i] = n->r[m * n->D + i] + n->x[m * n->D + i] * kept(n->drop, m, (uint32_t)i);
            mean += v[i] / (double)n->D;
        }
        for (size_t i = 0; i < n->D; i++)
            var += (v[i] - mean) * (v[i] - mean) / (double)n->D;
        for (size_t i = 0; i < n->D; i++) {
            sum +=
                n->c[m * n->D + i] * ((v[i] - mean) / sqrt(var + 1e-5) * n->gain[i] + n->bias[i]);
            sum += n->c_sum ? n->c_sum[m * n->D + i] * v[i] : 0;
        }
    }
    return sum;
}

/* sums: the sum is also read, as the residual stream of a pre-norm model; its gradient's rows
 * become dr's. */
static void norm_case(struct fixture *f, bool drop, bool sums)
{
    enum { M = 5, D = 37 };
    struct dg_dropout d = {0.25f, 777, keys};
    struct norm n = {M, D, array(f, M * D), array(f, M * D), array(f, D), array(f, D),
        array(f, M * D), drop ? &d : NULL, sums ? array(f, M * D) : NULL};
    float host[M * D], *dgain, *dbias;
    struct dg_norm op = {.gain = weight(f, n.gain, 1, D, DG_USE_VECTOR, NULL),
        .bias = weight(f, n.bias, 1, D, DG_USE_VECTOR, NULL),
        .eps = 1e-5f,
        .drop = n.drop,
        .xhat = rows(f, NULL, M, D),
        .rstd = rows(f, NULL, M, 1)};
    struct dg_rows dy = rows(f, n.c, M, D);
    op.rstd.ld = 1;
    f->be->ops->add_norm(
        f->be, &op, rows(f, n.x, M, D), rows(f, n.r, M, D), rows(f, NULL, M, D), M, D);
    struct dg_norm_grad g = {&op, dy, rows(f, NULL, M, D), dy /* in place */,
        weight(f, NULL, 1, D, DG_USE_VECTOR, &dgain), weight(f, NULL, 1, D, DG_USE_VECTOR, &dbias),
        .dsum = sums ? rows(f, n.c_sum, M, D) : (struct dg_rows){0}};
    if (sums)
        g.dr = g.dsum;
    f->train->ops->add_norm_backward(f->train, &g, M, D);
    fetch(f, g.dx, M, D, host);
    check("norm dx", norm_value, &n, n.x, M * D, host);
    fetch(f, g.dr, M, D, host);
    check("norm dr", norm_value, &n, n.r, M * D, host);
    check_block(f, "norm dgain", norm_value, &n, n.gain, D, dgain);
    check_block(f, "norm dbias", norm_value, &n, n.bias, D, dbias);
    release(f);
    free(n.x), free(n.r), free(n.gain), free(n.bias), free(n.c), free(n.c_sum);
}

static void test_norm(struct fixture *f)
{
    norm_case(f, false, false);
    norm_case(f, true, false);
    for (int drop = 0; f->train->ops->norm_sums && drop < 2; drop++)
        norm_case(f, drop, true);
}

struct ssru {
    size_t M, D, n;
    const struct dg_attn_seg *segs;
    /* [M,2D], [M,D] */
    double *z, *c;
};

static double ssru_value(void *ctx)
{
    struct ssru *r = ctx;
    double sum = 0;
    for (size_t s = 0; s < r->n; s++)
        for (size_t i = 0; i < r->D; i++) {
            double state = 0;
            for (size_t m = r->segs[s].q0; m < r->segs[s].q0 + r->segs[s].n_q; m++) {
                const double *z = r->z + m * 2 * r->D;
                const double keep = 1 / (1 + exp(-3 * z[r->D + i]));
                state = keep * state + (1 - keep) * z[i];
                sum += r->c[m * r->D + i] * (state > 0 ? state : 0);
            }
        }
    return sum;
}

/* Pieces of several lengths, one after another and with a row between them that belongs to none; no
 * vector's width divides D. */
static void test_ssru(struct fixture *f)
{
    enum { M = 20, D = 21 };
    static const struct dg_attn_seg segs[] = {
        {.q0 = 0, .n_q = 1}, {.q0 = 1, .n_q = 12}, {.q0 = 14, .n_q = 2}, {.q0 = 16, .n_q = 4}};
    struct ssru r = {M, D, 4, segs, array(f, M * 2 * D), array(f, M * D)};
    float host[M * 2 * D];
    if (!f->train->ops->ssru_backward) {
        free(r.z), free(r.c);
        return;
    }
    /* Gates from nearly shut to nearly open: three times the random values. */
    double *gates = malloc(M * 2 * D * sizeof *gates);
    for (size_t i = 0; i < M * 2 * D; i++)
        gates[i] = i % (2 * D) < D ? r.z[i] : 3 * r.z[i];
    struct dg_rows z = rows(f, gates, M, 2 * D);
    const struct dg_ssru op = {.segs = segs, .n_segs = 4};
    f->be->ops->ssru(f->be, &op, z, rows(f, NULL, M, D), M, D);
    struct dg_ssru_grad g = {
        .op = &op, .z = z, .dy = rows(f, r.c, M, D), .dz = rows(f, NULL, M, 2 * D)};
    f->train->ops->ssru_backward(f->train, &g, D);
    fetch(f, g.dz, M, 2 * D, host);
    for (size_t i = 0; i < M * 2 * D; i++)
        host[i] *= i % (2 * D) < D ? 1 : 3;
    check("ssru dz", ssru_value, &r, r.z, M * 2 * D, host);
    release(f);
    free(r.z), free(r.c), free(gates);
}

struct embed {
    size_t M, D;
    const int32_t *ids, *pos;
    double *table, *positions, *c;
    const struct dg_dropout *drop;
};

static double embed_value(void *ctx)
{
    struct embed *e = ctx;
    double sum = 0;
    for (size_t m = 0; m < e->M; m++)
        for (size_t i = 0; i < e->D; i++) {
            double t = e->ids[m] < 0 ? 0 : e->table[(size_t)e->ids[m] * e->D + i];
            sum += e->c[m * e->D + i] * kept(e->drop, m, (uint32_t)i) *
                   (t * 4.5 + e->positions[(size_t)e->pos[m] * e->D + i]);
        }
    return sum;
}

static void test_embed(struct fixture *f)
{
    enum { M = 6, D = 20, V = 9, P = 4 };
    static const int32_t ids[M] = {3, 8, 3, -1, 0, 8}, pos[M] = {0, 1, 2, 0, 1, 3};
    struct dg_dropout d = {0.4f, 1, keys};
    struct embed e = {M, D, ids, pos, array(f, V * D), array(f, P * D), array(f, M * D), &d};
    float *dt, *dp;
    struct dg_embed op = {weight(f, e.table, V, D, DG_USE_TABLE, NULL),
        weight(f, e.positions, P, D, DG_USE_TABLE, NULL), 4.5f, ids, pos, &d};
    struct dg_embed_grad g = {&op, rows(f, e.c, M, D), weight(f, NULL, V, D, DG_USE_TABLE, &dt),
        weight(f, NULL, P, D, DG_USE_TABLE, &dp)};
    f->train->ops->embed_backward(f->train, &g, M);
    check_block(f, "embed dtable", embed_value, &e, e.table, V * D, dt);
    check_block(f, "embed dpositions", embed_value, &e, e.positions, P * D, dp);
    release(f);
    free(e.table), free(e.positions), free(e.c);
}

struct loss {
    size_t M, V;
    const int32_t *target;
    double *x, eps, nll;
};

/* Contract 8, literally: q = (1-ε) onehot + ε/V, loss = - sum q log softmax(x); over the possible
 * pieces. */
static double loss_value(void *ctx)
{
    struct loss *l = ctx;
    double sum = 0;
    l->nll = 0;
    for (size_t m = 0; m < l->M; m++) {
        const double *x = l->x + m * l->V;
        double z = 0, n = 0;
        for (size_t i = 0; i < l->V; i++) {
            z += exp(x[i]);
            n += !isinf(x[i]);
        }
        for (size_t i = 0; i < l->V; i++) {
            if (isinf(x[i]))
                continue;
            double one = (size_t)l->target[m] == i;
            sum -= ((1 - l->eps) * one + l->eps / n) * (x[i] - log(z));
            l->nll -= one * (x[i] - log(z));
        }
    }
    return sum;
}

static void loss_case(struct fixture *f, double eps, bool gaps)
{
    enum { M = 3, V = 1111 };
    static const int32_t target[M] = {0, 700, V - 1};
    struct loss l = {M, V, target, array(f, M * V), eps, 0};
    for (size_t i = 0; i < M * V; i++)
        l.x[i] *= 8; /* so that probabilities are far from flat */
    if (gaps)
        l.x[5] = l.x[V + 1] = l.x[V + 900] = l.x[3 * V - 2] = -INFINITY;
    struct dg_rows x = rows(f, NULL, M, V);
    struct dg_loss op = {V, target, (float)eps, 1.0f, true};
    struct dg_loss_sums sums = {0};
    float *host = malloc(M * V * sizeof *host);
    x.offset = 0, x.ld = V + 1; /* rows at multiples of 16 bytes */
    for (size_t i = 0; i < M * V; i++)
        host[i] = (float)l.x[i];
    f->be->ops->write(f->be, host, x, M, V);
    l.eps = op.epsilon;
    f->train->ops->loss(f->train, &op, x, M, &sums);
    dg_train_sums(f->train, &sums);
    fetch(f, x, M, V, host);
    assert_float_equal(sums.smoothed, loss_value(&l), 1e-4);
    assert_float_equal(sums.nll, l.nll, 1e-4);
    assert_int_equal(sums.n, M);
    check("loss dlogits", loss_value, &l, l.x, M * V, host);
    release(f);
    free(l.x), free(host);
}

static void test_loss(struct fixture *f)
{
    loss_case(f, 0, false);
    loss_case(f, 0.1, false);
    loss_case(f, 0, true);
    loss_case(f, 0.1, true);
}

/* The sums and the optimiser, against loops in double. */
static void test_blocks(struct fixture *f)
{
    enum { N = 5003 };
    double *a = array(f, N), *b = array(f, N), *c = array(f, N), squares = 0;
    float *pa, *pb, *pc, *out;
    weight(f, a, 1, N, DG_USE_VECTOR, &pa);
    weight(f, b, 1, N, DG_USE_VECTOR, &pb);
    weight(f, c, 1, N, DG_USE_VECTOR, &pc);
    weight(f, NULL, 1, N, DG_USE_VECTOR, &out);
    const float *parts[3] = {pa, pb, pc};
    float *host = malloc(N * sizeof *host);
    f->train->ops->sum(f->train, parts, 3, out, N);
    f->train->ops->block_read(f->train, out, N, host);
    for (int i = 0; i < N; i++) {
        assert_float_equal(host[i], a[i] + b[i] + c[i], 1e-6);
        squares += a[i] * a[i];
    }
    assert_float_equal(f->train->ops->square_sum(f->train, pa, N), squares, 1e-9 * squares);
    f->train->ops->sum(f->train, parts, 2, pa, N);
    assert_float_equal(element(f, pa, N - 1), a[N - 1] + b[N - 1], 1e-6);
    release(f);
    free(host), free(a), free(b), free(c);
}

EACH(linear)
EACH(norm)
EACH(ssru)
EACH(embed)
EACH(loss)
EACH(blocks)

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(linear_all), cmocka_unit_test(norm_all),
        cmocka_unit_test(ssru_all), cmocka_unit_test(embed_all), cmocka_unit_test(loss_all),
        cmocka_unit_test(blocks_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
