/* Attention's backward, and the guide's loss in it, on every instruction set of this machine. */
#include "tests/ops/gradient.h"

struct attention {
    const struct dg_attention *op;
    size_t Mq, Mk;
    double *q, *k, *v, *c;
};

/* Sets p[seen] to the attention weights of query i of one head; returns seen. */
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

/* Computes one query row of one head. */
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
    struct dg_attention op = {H, Dk, Dv, DG_ATTN_SEGS, segs, 3, rows(f, a.k, Mk, H * Dk),
        rows(f, a.v, Mk, H * Dv), rows(f, NULL, 1, probs), .drop = drop ? &d : NULL};
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
    attention_case(f, 2, 16, 24, false, true); /* Dk != Dv, overlapping tiles */
    attention_case(f, 1, 5, 3, false, false);  /* smaller than a tile */
    attention_case(f, 1, 64, 64, false, true);
}

/* Computes the guide's loss from the formula in kernels/train.h. */
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

/* Three sentences, one without links; queries with one link, several, the same one twice, none. */
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
    struct dg_attention op = {H, Dk, Dv, DG_ATTN_SEGS, segs, 3, rows(f, g.a.k, Mk, H * Dk),
        rows(f, g.a.v, Mk, H * Dv), rows(f, NULL, 1, H * PAIRS), .drop = drop ? &d : NULL};
    struct dg_rows q = rows(f, g.a.q, Mq, H * Dk);
    struct dg_attention_grad grad = {&op, q, rows(f, g.a.c, Mq, H * Dv), rows(f, NULL, Mq, H * Dk),
        rows(f, NULL, Mk, H * Dk), rows(f, NULL, Mk, H * Dv), &guide};
    struct dg_error err = {0};
    float *host = malloc(Mk * H * (Dk + Dv) * sizeof *host);
    g.a.op = &op;
    f->be->ops->attention(f->be, &op, q, rows(f, NULL, Mq, H * Dv));
    assert_int_equal(f->train->ops->attention_backward(f->train, &grad, &err), 0);
    dg_train_sums(f->train, &sums);
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

EACH(attention)
EACH(guide)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention_all), cmocka_unit_test(guide_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
