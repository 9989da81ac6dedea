/* The whole model's gradient, tensor by tensor, against the loss itself: moving a tensor by h along
 * its gradient g must change the loss by h |g|. Every configuration the trainer offers, with
 * dropout too (masks depend on keys alone, so the loss is a function). The forward is fp32: the
 * loss has an error of about 1e-6, h |g| is kept a thousand times that, and the curvature cancels
 * in the central difference: 1 %. */
#include "train_pass.h"

static double loss(struct run *r)
{
    return pass(r, 0, 4, &r->grads->params) / T;
}

/* Returns the change of the loss per length when x[n] moves by +- h g. */
static double slope_along(
    struct run *r, float *x, const float *keep, const float *g, size_t n, double h)
{
    double value[2], norm = 0;
    for (int side = 0; side < 2; side++) {
        for (size_t e = 0; e < n; e++)
            x[e] = keep[e] + (float)((side ? h : -h) * g[e]);
        value[side] = loss(r);
    }
    memcpy(x, keep, n * sizeof *keep);
    for (size_t e = 0; e < n; e++)
        norm += (double)g[e] * g[e];
    return (value[1] - value[0]) / (2 * h * sqrt(norm));
}

static void check_tensor(struct run *r, const struct dg_param_info *info, size_t at)
{
    const size_t n = (size_t)info->N * info->K;
    float *x = r->params->data + at, *g = malloc(n * sizeof *g), *keep = malloc(n * sizeof *keep);
    double norm = 0;
    memcpy(g, r->grads->data + at, n * sizeof *g);
    memcpy(keep, x, n * sizeof *keep);
    for (size_t e = 0; e < n; e++)
        norm += (double)g[e] * g[e];
    norm = sqrt(norm);
    if (norm < 1e-4)
        fail_msg("%s: gradient norm %g says nothing", info->name, norm);
    /* A ReLU that switches within h bends the loss: then the shorter step decides. */
    double h = fmin(3e-2, 6e-4 / norm), slope = slope_along(r, x, keep, g, n, h / norm);
    if (fabs(slope - norm) > 0.01 * norm)
        slope = slope_along(r, x, keep, g, n, h / 4 / norm);
    if (fabs(slope - norm) > 0.01 * norm)
        fail_msg("%s: the loss's slope along the gradient is %.6g, its norm %.6g (h %g)",
            info->name, slope, norm, h);
    free(g), free(keep);
}

static void check_guided(const struct dg_config *c, float dropout, const struct dg_guidance *guide)
{
    struct run r;
    open_run(&r, c, dropout);
    if (guide) {
        r.guide = *guide;
        r.objective.guide = &r.guide;
    }
    pass(&r, 0, 4, &r.grads->params);
    float *g = malloc(r.grads->n * sizeof *g);
    memcpy(g, r.grads->data, r.grads->n * sizeof *g);
    for (size_t i = 0; i < dg_params_count(c); i++) {
        struct dg_param_info info;
        dg_params_info(c, i, &info);
        memcpy(r.grads->data, g, r.grads->n * sizeof *g);
        /* Only a key's bias has zero gradient, since it moves all scores of a query alike. */
        if (!strstr(info.name, "qkv.b") && !strstr(info.name, "kv.b"))
            check_tensor(&r, &info, dg_param_block_offset(c, i));
    }
    free(g);
    close_run(&r);
}

static void check(const struct dg_config *c, float dropout)
{
    check_guided(c, dropout, NULL);
}

static void test_paper(void **state)
{
    (void)state;
    struct dg_config c = small();
    check(&c, 0);
    check(&c, 0.3f);
}

static void test_biases_and_learned_positions(void **state)
{
    (void)state;
    struct dg_config c = small();
    c.attention_bias = c.output_bias = true;
    c.positions = DG_POS_LEARNED;
    c.max_positions = 16;
    c.Dv = 5;
    check(&c, 0.2f);
}

static void test_untied_and_swish(void **state)
{
    (void)state;
    struct dg_config c = small();
    c.tied_embeddings = c.tied_output = false;
    c.act = DG_ACT_SWISH;
    check(&c, 0.2f);
    c.tied_output = true;
    c.act = DG_ACT_GELU;
    c.start = 0;
    check(&c, 0.2f);
}

/* Pre-norm, and a recurrent unit instead of the decoder's self-attention. */
static void test_pre_norm_and_ssru(void **state)
{
    (void)state;
    struct dg_config c = small();
    c.pre_norm = true;
    check(&c, 0);
    check(&c, 0.3f);
    c.decoder = DG_DECODER_SSRU;
    c.attention_bias = true;
    check(&c, 0.2f);
    c.pre_norm = false;
    check(&c, 0);
    c.H = 1; /* the unit's two columns are wider than queries, keys and values side by side */
    check(&c, 0.2f);
}

/* Dropout's masks and the gradient's scale do not depend on how a batch is cut: the sums are equal
 * up to the order of additions. */
static void check_accumulation(const struct dg_config *c)
{
    struct run r;
    open_run(&r, c, 0.3f);
    double whole = pass(&r, 0, 4, &r.grads->params);
    float *g = malloc(r.grads->n * sizeof *g);
    memcpy(g, r.grads->data, r.grads->n * sizeof *g);
    r.train->ops->zero(r.train, r.grads->data, r.grads->n);
    double parts = pass(&r, 0, 1, &r.grads->params) + pass(&r, 1, 3, &r.grads->params) +
                   pass(&r, 3, 4, &r.grads->params);
    assert_float_equal(whole, parts, 1e-4);
    for (size_t i = 0; i < r.grads->n; i++)
        /* Some tens of float products summed in another order, the larger ones cancelling. */
        assert_float_equal(g[i], r.grads->data[i], 1e-5 * (1 + 2 * fabsf(g[i])));
    free(g);
    close_run(&r);
}

static void test_accumulation(void **state)
{
    (void)state;
    struct dg_config c = small();
    check_accumulation(&c);
    c.pre_norm = true;
    c.decoder = DG_DECODER_SSRU;
    check_accumulation(&c);
}

/* A sentence longer than the position table is refused, not trained on wrongly. */
static void test_limits(void **state)
{
    (void)state;
    struct dg_config c = small();
    struct run r;
    struct dg_error err = {0};
    struct dg_loss_sums sums = {0};
    open_run(&r, &c, 0);
    const uint32_t long_len = 17, short_len = 3;
    struct dg_micro_batch pairs = {.n = 1,
        .source_len = &long_len,
        .target_len = &short_len,
        .source = r.source,
        .target = r.target,
        .index = sentence};
    assert_int_equal(
        dg_tape_run(r.tape, &r.params->params, NULL, &pairs, &r.objective, &sums, &err), DG_ELIMIT);
    assert_string_equal(err.message, "a pair of 17 and 3 pieces does not fit 1 to 16 positions");
    close_run(&r);
}

/* One head, some heads, all heads of a layer; the weight is large, so that its share of the
 * gradient shows. */
static void test_guided(void **state)
{
    (void)state;
    const struct dg_guidance one = {0, 2, 1, 1.5f}, some = {1, 0, 2, 0.7f}, all = {1, 0, 3, 2.0f};
    struct dg_config c = small();
    check_guided(&c, 0, &one);
    check_guided(&c, 0.3f, &one);
    check_guided(&c, 0.2f, &some);
    check_guided(&c, 0, &all);
}

/* Links are cut with the batch; a guide for a head or layer that the model lacks is refused. */
static void test_guided_parts(void **state)
{
    (void)state;
    struct dg_config c = small();
    struct dg_error err = {0};
    struct dg_loss_sums sums = {0};
    struct run r;
    open_run(&r, &c, 0.1f);
    r.guide = (struct dg_guidance){1, 1, 1, 1.0f};
    r.objective.guide = &r.guide;
    const double whole = pass(&r, 0, 4, &r.grads->params);
    float *g = malloc(r.grads->n * sizeof *g);
    memcpy(g, r.grads->data, r.grads->n * sizeof *g);
    r.train->ops->zero(r.train, r.grads->data, r.grads->n);
    const double parts = pass(&r, 0, 1, &r.grads->params) + pass(&r, 1, 3, &r.grads->params) +
                         pass(&r, 3, 4, &r.grads->params);
    assert_float_equal(whole, parts, 1e-4);
    for (size_t i = 0; i < r.grads->n; i++)
        assert_float_equal(g[i], r.grads->data[i], 1e-5 * (1 + 2 * fabsf(g[i])));
    free(g);
    r.guide.head = 3;
    const struct dg_micro_batch none = {.links = links, .first_link = first_link};
    assert_int_equal(
        dg_tape_run(r.tape, &r.params->params, &r.grads->params, &none, &r.objective, &sums, &err),
        DG_EINVAL);
    assert_string_equal(err.message,
        "heads 4 to 4 of decoder layer 2 cannot be guided: there are 3 heads, 2 layers");
    close_run(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_paper),
        cmocka_unit_test(test_biases_and_learned_positions),
        cmocka_unit_test(test_untied_and_swish), cmocka_unit_test(test_pre_norm_and_ssru),
        cmocka_unit_test(test_accumulation), cmocka_unit_test(test_guided),
        cmocka_unit_test(test_guided_parts), cmocka_unit_test(test_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
