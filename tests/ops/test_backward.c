/* Every backward op of kernels/train.h, on every instruction set of this machine, against central
 * differences of double-precision loops written from the formulas. The objective is sum(c * y) with
 * drawn c. */
#include "kernels/backend.h"
#include "kernels/cpu/cpu.h"
#include "kernels/device.h"
#include "kernels/train.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* fp32 ops against exact gradients: sums of at most some hundred terms of order 1 lose about 1e-6;
 * twenty times that. */
static const double TOLERANCE = 2e-5;

struct fixture {
    struct dg_backend *be;
    struct dg_train *train;
    uint64_t random;
    struct dg_weight *weights[16];
    struct dg_buf *bufs[32];
    float *blocks[16];
    int n_weights, n_bufs, n_blocks;
};

static double draw(struct fixture *f)
{
    f->random = f->random * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(f->random >> 40) / (1 << 23) - 1.0;
}

static double *array(struct fixture *f, size_t n)
{
    double *x = calloc(n + 1, sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n; i++)
        x[i] = (float)draw(f); /* exactly representable: both sides start from the same numbers */
    return x;
}

/* Rows on the device, x NULL for zeros. ld is wider than N, so that strides are tested. */
static struct dg_rows rows(struct fixture *f, const double *x, size_t M, size_t N)
{
    struct dg_rows r = {.offset = 3, .ld = N + 5};
    struct dg_error err = {0};
    assert_int_equal(f->be->ops->buf_new(f->be, M * r.ld + 3, &r.buf, &err), 0);
    f->bufs[f->n_bufs++] = r.buf;
    if (x) {
        float *host = malloc(M * N * sizeof *host);
        for (size_t i = 0; i < M * N; i++)
            host[i] = (float)x[i];
        f->be->ops->write(f->be, host, r, M, N);
        free(host);
    }
    return r;
}

static void fetch(struct fixture *f, struct dg_rows r, size_t M, size_t N, float *out)
{
    f->be->ops->read(f->be, r, M, N, out);
}

/* A trainable weight over a block; x NULL for zeros. */
static struct dg_weight *weight(
    struct fixture *f, const double *x, size_t N, size_t K, unsigned use, float **block)
{
    struct dg_error err = {0};
    float *p;
    assert_int_equal(f->train->ops->block_new(f->train, N * K, &p, &err), 0);
    f->blocks[f->n_blocks++] = p;
    for (size_t i = 0; x && i < N * K; i++) {
        float v = (float)x[i];
        f->train->ops->block_write(f->train, p + i, &v, 1);
    }
    struct dg_stored stored = {DG_F32, DG_LAYOUT_ROWS, p, NULL};
    struct dg_weight_spec spec = {.name = "w",
        .use = use,
        .N = N,
        .K = K,
        .trainable = true,
        .stored = &stored,
        .n_stored = 1};
    struct dg_weight *w;
    assert_int_equal(f->be->ops->weight_new(f->be, &spec, &w, &err), 0);
    f->weights[f->n_weights++] = w;
    if (block)
        *block = p;
    return w;
}

static void release(struct fixture *f)
{
    while (f->n_weights)
        f->be->ops->weight_free(f->be, f->weights[--f->n_weights]);
    while (f->n_bufs)
        f->be->ops->buf_free(f->be, f->bufs[--f->n_bufs]);
    while (f->n_blocks)
        f->train->ops->block_free(f->train, f->blocks[--f->n_blocks]);
}

typedef double objective(void *ctx);

/* got[n] against (f(x + h) - f(x - h)) / 2h */
static void check(const char *what, objective *f, void *ctx, double *x, size_t n, const float *got)
{
    const double h = 1e-5;
    for (size_t i = 0; i < n; i++) {
        double keep = x[i];
        x[i] = keep + h;
        double up = f(ctx);
        x[i] = keep - h;
        double down = f(ctx);
        x[i] = keep;
        double want = (up - down) / (2 * h);
        if (fabs(got[i] - want) > TOLERANCE * (1 + fabs(want)))
            fail_msg("%s[%zu]: %.8g, by differences %.8g", what, i, (double)got[i], want);
    }
}

/* check() of a parameter's gradient, which lies in a block. */
static void check_block(struct fixture *f, const char *what, objective *o, void *ctx, double *x,
    size_t n, const float *block)
{
    float *host = malloc(n * sizeof *host);
    assert_non_null(host);
    f->train->ops->block_read(f->train, block, n, host);
    check(what, o, ctx, x, n, host);
    free(host);
}

static float element(struct fixture *f, const float *block, size_t i)
{
    float x;
    f->train->ops->block_read(f->train, block + i, 1, &x);
    return x;
}

static double kept(const struct dg_dropout *d, size_t m, uint32_t e)
{
    if (!d)
        return 1;
    return dg_dropout_keep(d->row_key[m] ^ d->site, e, d->p) ? 1 / (1 - (double)d->p) : 0;
}

static double act(enum dg_act a, double x)
{
    switch (a) {
    case DG_ACT_RELU:
        return x > 0 ? x : 0;
    case DG_ACT_SWISH:
        return x / (1 + exp(-x));
    case DG_ACT_GELU:
        return 0.5 * x * (1 + erf(x / sqrt(2)));
    default:
        return x;
    }
}

static const uint32_t keys[64] = {
    11, 222, 3333, 44444, 555555, 6666666, 77777777, 888888888, 99, 1010, 111111, 1212};

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
        bias ? weight(f, l.bias, 1, 19, DG_USE_VECTOR, NULL) : NULL, a, l.drop, pre};
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
    /* Accumulation: a second pass doubles dw and, when asked, dx. */
    g.dy = rows(f, l.c, 7, 19);
    g.dx_add = true;
    float first = element(f, dw, 5);
    f->train->ops->linear_backward(f->train, &g, 7);
    assert_float_equal(element(f, dw, 5), 2 * first, 1e-5);
    first = dx[4];
    fetch(f, g.dx, 7, 13, dx);
    assert_float_equal(dx[4], 2 * first, 1e-5);
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
        for (size_t i = 0; i < n->D; i++)
            sum +=
                n->c[m * n->D + i] * ((v[i] - mean) / sqrt(var + 1e-5) * n->gain[i] + n->bias[i]);
    }
    return sum;
}

static void norm_case(struct fixture *f, bool drop)
{
    enum { M = 5, D = 37 };
    struct dg_dropout d = {0.25f, 777, keys};
    struct norm n = {M, D, array(f, M * D), array(f, M * D), array(f, D), array(f, D),
        array(f, M * D), drop ? &d : NULL};
    float host[M * D], *dgain, *dbias;
    struct dg_norm op = {weight(f, n.gain, 1, D, DG_USE_VECTOR, NULL),
        weight(f, n.bias, 1, D, DG_USE_VECTOR, NULL), 1e-5f, n.drop, rows(f, NULL, M, D),
        rows(f, NULL, M, 1)};
    struct dg_rows dy = rows(f, n.c, M, D);
    op.rstd.ld = 1;
    f->be->ops->add_norm(
        f->be, &op, rows(f, n.x, M, D), rows(f, n.r, M, D), rows(f, NULL, M, D), M, D);
    struct dg_norm_grad g = {&op, dy, rows(f, NULL, M, D), dy /* in place */,
        weight(f, NULL, 1, D, DG_USE_VECTOR, &dgain), weight(f, NULL, 1, D, DG_USE_VECTOR, &dbias)};
    f->train->ops->add_norm_backward(f->train, &g, M, D);
    fetch(f, g.dx, M, D, host);
    check("norm dx", norm_value, &n, n.x, M * D, host);
    fetch(f, g.dr, M, D, host);
    check("norm dr", norm_value, &n, n.r, M * D, host);
    check_block(f, "norm dgain", norm_value, &n, n.gain, D, dgain);
    check_block(f, "norm dbias", norm_value, &n, n.bias, D, dbias);
    release(f);
    free(n.x), free(n.r), free(n.gain), free(n.bias), free(n.c);
}

static void test_norm(struct fixture *f)
{
    norm_case(f, false);
    norm_case(f, true);
}

struct attention {
    const struct dg_attention *op;
    size_t Mq, Mk;
    double *q, *k, *v, *c;
};

/* p[seen]: where query i of one head looks; returns seen. */
static size_t attention_weights(
    const struct attention *a, const struct dg_attn_seg *s, uint32_t h, uint32_t i, double p[64])
{
    const struct dg_attention *op = a->op;
    size_t row = s->q0 + i, seen = s->causal ? s->n_k - s->n_q + i + 1 : s->n_k;
    double z = 0;
    for (size_t j = 0; j < seen; j++) {
        double dot = 0;
        for (size_t e = 0; e < op->Dk; e++)
            dot += a->q[row * op->H * op->Dk + h * op->Dk + e] *
                   a->k[(s->k0 + j) * op->H * op->Dk + h * op->Dk + e];
        z += p[j] = exp(dot / sqrt(op->Dk));
    }
    for (size_t j = 0; j < seen; j++)
        p[j] /= z;
    return seen;
}

/* One query row of one head. */
static double attention_row(
    const struct attention *a, const struct dg_attn_seg *s, uint32_t h, uint32_t i)
{
    const struct dg_attention *op = a->op;
    double p[64], sum = 0;
    size_t row = s->q0 + i, seen = attention_weights(a, s, h, i, p);
    for (size_t j = 0; j < seen; j++)
        for (size_t e = 0; e < op->Dv; e++)
            sum += a->c[row * op->H * op->Dv + h * op->Dv + e] * p[j] *
                   kept(op->drop, row, h * 2048 + (uint32_t)j) *
                   a->v[(s->k0 + j) * op->H * op->Dv + h * op->Dv + e];
    return sum;
}

static double attention_value(void *ctx)
{
    struct attention *a = ctx;
    double sum = 0;
    for (size_t s = 0; s < a->op->n_segs; s++)
        for (uint32_t h = 0; h < a->op->H; h++)
            for (uint32_t i = 0; i < a->op->segs[s].n_q; i++)
                sum += attention_row(a, &a->op->segs[s], h, i);
    return sum;
}

/* Three sentences; self: causal over its own rows; cross: other lengths on the key side. */
static void attention_case(
    struct fixture *f, uint32_t H, uint32_t Dk, uint32_t Dv, bool causal, bool drop)
{
    static const uint32_t nq[3] = {1, 6, 21}, nk_cross[3] = {4, 1, 18};
    struct dg_dropout d = {0.2f, 4242, keys};
    struct dg_attn_seg segs[3];
    uint32_t Mq = 0, Mk = 0, probs = 0;
    for (int i = 0; i < 3; i++) {
        uint32_t nk = causal ? nq[i] : nk_cross[i];
        segs[i] = (struct dg_attn_seg){Mq, nq[i], nk, Mk, NULL, causal, probs};
        Mq += nq[i], Mk += nk, probs += H * nq[i] * nk;
    }
    struct attention a = {NULL, Mq, Mk, array(f, Mq * H * Dk), array(f, Mk * H * Dk),
        array(f, Mk * H * Dv), array(f, Mq * H * Dv)};
    struct dg_attention op = {H, Dk, Dv, segs, 3, rows(f, a.k, Mk, H * Dk),
        rows(f, a.v, Mk, H * Dv), rows(f, NULL, 1, probs), drop ? &d : NULL};
    a.op = &op;
    struct dg_rows q = rows(f, a.q, Mq, H * Dk);
    f->be->ops->attention(f->be, &op, q, rows(f, NULL, Mq, H * Dv));
    struct dg_attention_grad g = {&op, q, rows(f, a.c, Mq, H * Dv), rows(f, NULL, Mq, H * Dk),
        rows(f, NULL, Mk, H * Dk), rows(f, NULL, Mk, H * Dv), NULL};
    struct dg_error err = {0};
    assert_int_equal(f->train->ops->attention_backward(f->train, &g, &err), 0);
    float *host = malloc((Mq + Mk) * H * (Dk + Dv) * sizeof *host);
    fetch(f, g.dq, Mq, H * Dk, host);
    check("attention dq", attention_value, &a, a.q, Mq * H * Dk, host);
    fetch(f, g.dk, Mk, H * Dk, host);
    check("attention dk", attention_value, &a, a.k, Mk * H * Dk, host);
    fetch(f, g.dv, Mk, H * Dv, host);
    check("attention dv", attention_value, &a, a.v, Mk * H * Dv, host);
    release(f);
    free(host), free(a.q), free(a.k), free(a.v), free(a.c);
}

static void test_attention(struct fixture *f)
{
    attention_case(f, 2, 16, 16, true, false);
    attention_case(f, 2, 16, 16, true, true);
    attention_case(f, 2, 16, 24, false, true); /* Dk != Dv, tiles that overlap */
    attention_case(f, 1, 5, 3, false, false);  /* smaller than a tile */
    attention_case(f, 1, 64, 64, false, true);
}

/* The guide's loss, from the formula in kernels/train.h. */
static double guide_value(const struct attention *a, const struct dg_guide *g)
{
    double all = 0;
    for (size_t s = 0; s < a->op->n_segs; s++)
        for (size_t i = g->first[s], end; i < g->first[s + 1]; i = end) {
            double loss = 0, p[64];
            for (end = i; end < g->first[s + 1] && g->links[end].query == g->links[i].query;
                 end++) {
                double mean = 0;
                for (uint32_t h = g->head; h < g->head + g->n_heads; h++) {
                    attention_weights(a, &a->op->segs[s], h, g->links[end].query, p);
                    mean += p[g->links[end].key] / g->n_heads;
                }
                loss -= log(mean + 1e-9);
            }
            all += loss / (double)(end - i);
        }
    return all;
}

struct guided {
    struct attention a;
    const struct dg_guide *guide;
};

static double guided_value(void *ctx)
{
    struct guided *g = ctx;
    return attention_value(&g->a) + (double)g->guide->scale * guide_value(&g->a, g->guide);
}

/* Three sentences, of which one has no links; queries with one link, several, the same twice, none.
 */
static void guide_case(struct fixture *f, uint32_t head, uint32_t n_heads, bool drop)
{
    enum { H = 3, Dk = 5, Dv = 3, Mq = 25, Mk = 44, PAIRS = 20 + 15 + 18 * 34 };
    static const struct dg_link links[] = {
        {1, 0}, {2, 3}, {2, 1}, {2, 3}, {0, 33}, {16, 0}, {17, 32}, {17, 2}};
    static const size_t first[] = {0, 4, 4, 8};
    struct dg_dropout d = {0.2f, 99, keys};
    struct dg_attn_seg segs[3] = {{0, 4, 5, 0, NULL, false, 0}, {4, 3, 5, 5, NULL, false, H * 20},
        {7, 18, 34, 10, NULL, false, H * 35}};
    struct dg_loss_sums sums = {.guided = 1, .n_guided = 10};
    struct dg_guide guide = {links, first, head, n_heads, 0.7f, &sums};
    struct guided g = {{NULL, Mq, Mk, array(f, Mq * H * Dk), array(f, Mk * H * Dk),
                           array(f, Mk * H * Dv), array(f, Mq * H * Dv)},
        &guide};
    struct dg_attention op = {H, Dk, Dv, segs, 3, rows(f, g.a.k, Mk, H * Dk),
        rows(f, g.a.v, Mk, H * Dv), rows(f, NULL, 1, H * PAIRS), drop ? &d : NULL};
    struct dg_rows q = rows(f, g.a.q, Mq, H * Dk);
    struct dg_attention_grad grad = {&op, q, rows(f, g.a.c, Mq, H * Dv), rows(f, NULL, Mq, H * Dk),
        rows(f, NULL, Mk, H * Dk), rows(f, NULL, Mk, H * Dv), &guide};
    struct dg_error err = {0};
    float *host = malloc(Mk * H * (Dk + Dv) * sizeof *host);
    g.a.op = &op;
    f->be->ops->attention(f->be, &op, q, rows(f, NULL, Mq, H * Dv));
    assert_int_equal(f->train->ops->attention_backward(f->train, &grad, &err), 0);
    assert_float_equal(sums.guided, 1 + guide_value(&g.a, &guide), 1e-5);
    assert_int_equal(sums.n_guided, 10 + 5);
    fetch(f, grad.dq, Mq, H * Dk, host);
    check("guided dq", guided_value, &g, g.a.q, Mq * H * Dk, host);
    fetch(f, grad.dk, Mk, H * Dk, host);
    check("guided dk", guided_value, &g, g.a.k, Mk * H * Dk, host);
    fetch(f, grad.dv, Mk, H * Dv, host);
    check("guided dv", guided_value, &g, g.a.v, Mk * H * Dv, host);
    release(f);
    free(host), free(g.a.q), free(g.a.k), free(g.a.v), free(g.a.c);
}

static void test_guide(struct fixture *f)
{
    guide_case(f, 1, 1, false);
    guide_case(f, 0, 2, true);
    guide_case(f, 0, 3, false);
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

/* Contract 8, literally: q = (1-ε) onehot + ε/V, loss = - sum q log softmax(x). */
static double loss_value(void *ctx)
{
    struct loss *l = ctx;
    double sum = 0;
    l->nll = 0;
    for (size_t m = 0; m < l->M; m++) {
        const double *x = l->x + m * l->V;
        double z = 0;
        for (size_t i = 0; i < l->V; i++)
            z += exp(x[i]);
        for (size_t i = 0; i < l->V; i++) {
            double one = (size_t)l->target[m] == i;
            sum -= ((1 - l->eps) * one + l->eps / (double)l->V) * (x[i] - log(z));
            l->nll -= one * (x[i] - log(z));
        }
    }
    return sum;
}

static void loss_case(struct fixture *f, double eps)
{
    enum { M = 3, V = 1111 };
    static const int32_t target[M] = {0, 700, V - 1};
    struct loss l = {M, V, target, array(f, M * V), eps, 0};
    for (size_t i = 0; i < M * V; i++)
        l.x[i] *= 8; /* so that probabilities are far from flat */
    struct dg_rows x = rows(f, l.x, M, V);
    struct dg_loss op = {V, target, (float)eps, 1.0f, true};
    struct dg_loss_sums sums = {0};
    float *host = malloc(M * V * sizeof *host);
    l.eps = op.epsilon;
    f->train->ops->loss(f->train, &op, x, M, &sums);
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
    loss_case(f, 0);
    loss_case(f, 0.1);
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

#ifdef DG_TEST_CUDA /* tests/emu builds this file once more */
static void each_isa(void (*test)(struct fixture *f))
{
    const struct dg_device_options o = {.device = "cuda", .precision = "fp32"};
    struct fixture f = {.random = 7};
    struct dg_device device;
    struct dg_error err = {0};
    if (dg_device_choose(&o, &device, &err)) {
        print_message("skipped: no device: %s\n", err.message);
        exit(77);
    }
    assert_int_equal(dg_device_open(&device, &f.be, &err), 0);
    assert_int_equal(dg_train_open(f.be, &f.train, &err), 0);
    print_message("  on %s\n", f.be->name);
    test(&f);
    assert_int_equal(f.be->ops->status(f.be, &err), 0);
    dg_train_close(f.train);
    dg_device_close(f.be);
}
#else
static void each_isa(void (*test)(struct fixture *f))
{
    for (const char *const *isa = dg_cpu_isas(); *isa; isa++) {
        struct fixture f = {.random = 7};
        struct dg_error err = {0};
        struct dg_cpu_options o = {*isa, 1};
        assert_int_equal(dg_cpu_open(&o, &f.be, &err), 0);
        assert_int_equal(dg_cpu_train_open(f.be, &f.train, &err), 0);
        print_message("  on %s\n", f.be->name);
        test(&f);
        dg_cpu_train_close(f.train);
        dg_cpu_close(f.be);
    }
}
#endif

#define EACH(name)                                                                                 \
    static void name##_all(void **state)                                                           \
    {                                                                                              \
        (void)state;                                                                               \
        each_isa(test_##name);                                                                     \
    }
EACH(linear)
EACH(norm)
EACH(attention)
EACH(guide)
EACH(embed)
EACH(loss)
EACH(blocks)

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(linear_all), cmocka_unit_test(norm_all),
        cmocka_unit_test(attention_all), cmocka_unit_test(guide_all), cmocka_unit_test(embed_all),
        cmocka_unit_test(loss_all), cmocka_unit_test(blocks_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
