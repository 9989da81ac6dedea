/* The whole model's gradient, tensor by tensor, against the loss itself: moving a tensor by h along
 * its gradient g must change the loss by h |g|. Every configuration the trainer offers, with
 * dropout too (masks depend on keys alone, so that the loss is a function). The forward is fp32:
 * the loss carries about 1e-6, h |g| is kept a thousand times that, and the curvature's share falls
 * out of the central difference: 1 %. */
#include "kernels/cpu/cpu.h"
#include "model/train/tape.h"
#include "model/param_block.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint32_t source_len[] = {3, 9, 1, 14}, target_len[] = {5, 1, 7, 12};
static const uint64_t sentence[] = {7, 1000000, 3, 5000000000u};

enum { S = 27, T = 25, V = 83 };

struct run {
    struct dg_backend *be;
    struct dg_train *train;
    struct dg_tape *tape;
    struct dg_param_block *params, *grads;
    int32_t source[S], target[T];
    struct dg_objective objective;
    struct dg_guidance guide;
};

/* For guided alignment: several sources of a piece, none, and </s>; by pair. */
static const struct dg_link links[] = {{0, 2}, {1, 0}, {1, 1}, {4, 2}, {0, 8}, {2, 0}, {3, 0},
    {0, 13}, {5, 3}, {5, 4}, {5, 9}, {11, 0}};
static const size_t first_link[] = {0, 4, 5, 7, 12};

static uint64_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state >> 33;
}

static void open_run(struct run *r, const struct dg_config *c, float dropout)
{
    struct dg_error err = {0};
    struct dg_cpu_options o = {NULL, 1};
    uint64_t state = 5;
    memset(r, 0, sizeof *r);
    assert_int_equal(dg_cpu_open(&o, &r->be, &err), 0);
    assert_int_equal(dg_cpu_train_open(r->be, &r->train, &err), 0);
    assert_int_equal(dg_tape_open(c, r->train, 16, &r->tape, &err), 0);
    assert_int_equal(dg_param_block_open(c, r->train, &r->params, &err), 0);
    assert_int_equal(dg_param_block_open(c, r->train, &r->grads, &err), 0);
    for (size_t i = 0; i < dg_params_count(c); i++) {
        struct dg_param_info info;
        dg_params_info(c, i, &info);
        float *x = r->params->data + dg_param_block_offset(c, i);
        for (size_t e = 0; e < (size_t)info.N * info.K; e++)
            x[e] = ((float)draw(&state) / (1 << 30) - 1.0f) * 0.5f +
                   (strstr(info.name, "gain") ? 1.0f : 0.0f);
    }
    for (int i = 0; i < S; i++)
        r->source[i] = (int32_t)(draw(&state) % V);
    for (int i = 0; i < T; i++)
        r->target[i] = (int32_t)(draw(&state) % V);
    r->objective = (struct dg_objective){.epsilon = 0.1f,
        .scale = 1.0f / T,
        .dropout = dropout,
        .attention_dropout = dropout / 2,
        .act_dropout = dropout / 3,
        .seed = 1,
        .step = 3};
}

static void close_run(struct run *r)
{
    dg_param_block_close(r->grads);
    dg_param_block_close(r->params);
    dg_tape_close(r->tape);
    dg_cpu_train_close(r->train);
    dg_cpu_close(r->be);
}

/* Pairs begin..end-1; gradients are added to r->grads. */
static double pass(struct run *r, size_t begin, size_t end, struct dg_params *grads)
{
    struct dg_error err = {0};
    struct dg_loss_sums sums = {0};
    size_t s = 0, t = 0;
    for (size_t i = 0; i < begin; i++)
        s += source_len[i], t += target_len[i];
    struct dg_micro_batch pairs = {.n = end - begin,
        .source_len = source_len + begin,
        .target_len = target_len + begin,
        .source = r->source + s,
        .target = r->target + t,
        .index = sentence + begin,
        .links = links,
        .first_link = first_link + begin};
    if (dg_tape_run(r->tape, &r->params->params, grads, &pairs, &r->objective, &sums, &err))
        fail_msg("%s", err.message);
    dg_train_sums(r->train, &sums);
    return sums.smoothed + (double)r->guide.weight * sums.guided;
}

/* Mean loss with the dropout of training: gradients go to where they are thrown away. */
static double loss(struct run *r)
{
    return pass(r, 0, 4, &r->grads->params) / T;
}

/* Change of the loss per length when x[n] moves by +- h g. */
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
    /* A ReLU that switches within h bends the loss: then the shorter step is the one that
     * counts. */
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
        /* A key's bias moves all scores of a query alike: its gradient is zero, like nothing
         * else's. */
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

static struct dg_config small(void)
{
    struct dg_config c;
    dg_config_base(&c, V);
    c.D = 24;
    c.F = 40;
    c.H = 3;
    c.Dk = 8;
    c.Dv = 8;
    c.enc_layers = 2;
    c.dec_layers = 2;
    c.embed_scale = sqrtf(24);
    return c;
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

/* Norms before the sublayers, and a recurrent unit in the place of the decoder's self-attention. */
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

/* What is told of while a pass goes on: by then the layer's gradients are whole, so that they can
 * be sent away. */
struct told {
    struct run *run;
    const struct dg_config *config;
    /* of both sides, in the order in which they were told of */
    int n;
    int side[8];
    uint32_t layer[8];
    /* [gradients] as they were then */
    float *then[8];
};

static void hear(void *arg, int side, uint32_t layer)
{
    struct told *t = arg;
    const size_t bytes = t->run->grads->n * sizeof(float);
    assert_true(t->n < 8);
    t->side[t->n] = side;
    t->layer[t->n] = layer;
    t->then[t->n] = malloc(bytes);
    memcpy(t->then[t->n++], t->run->grads->data, bytes);
}

static void check_told(const struct dg_config *c)
{
    struct run r;
    open_run(&r, c, 0.1f);
    struct told told = {.run = &r, .config = c};
    const struct dg_tape_watch watch = {hear, &told};
    r.objective.watch = &watch;
    pass(&r, 0, 4, &r.grads->params);
    assert_int_equal(told.n, c->enc_layers + c->dec_layers);
    for (int k = 0; k < told.n; k++) {
        const bool decoder = k < (int)c->dec_layers;
        assert_int_equal(told.side[k], decoder);
        assert_int_equal(
            told.layer[k], decoder ? c->dec_layers - 1 - (uint32_t)k : (uint32_t)(told.n - 1 - k));
        char prefix[16];
        snprintf(prefix, sizeof prefix, "%s.%u.", decoder ? "dec" : "enc", told.layer[k]);
        for (size_t i = 0; i < dg_params_count(c); i++) {
            struct dg_param_info info;
            dg_params_info(c, i, &info);
            const size_t at = dg_param_block_offset(c, i);
            if (!strncmp(info.name, prefix, strlen(prefix)) &&
                memcmp(told.then[k] + at, r.grads->data + at,
                    (size_t)info.N * info.K * sizeof(float)) != 0)
                fail_msg("%s was told of before its gradient was whole", info.name);
        }
        free(told.then[k]);
    }
    close_run(&r);
}

static void test_layers_are_told_of_when_whole(void **state)
{
    (void)state;
    struct dg_config c = small();
    c.dec_layers = 3;
    check_told(&c);
    c.pre_norm = true;
    check_told(&c);
    c.decoder = DG_DECODER_SSRU;
    check_told(&c);
}

static void refused(const struct dg_config *c, const struct dg_train *train, const char *field)
{
    struct dg_error err = {0};
    struct dg_tape *t = NULL;
    assert_int_equal(dg_tape_check(c, train, &err), DG_EUNSUP);
    assert_string_equal(err.field, field);
    assert_int_equal(dg_tape_open(c, (struct dg_train *)(uintptr_t)train, 16, &t, NULL), DG_EUNSUP);
    assert_null(t);
}

/* A device that lacks an op says so by its table, and no other one is taken instead. */
static void test_what_a_device_lacks(void **state)
{
    (void)state;
    struct dg_config c = small();
    struct run r;
    open_run(&r, &c, 0);
    struct dg_train_ops less = *r.train->ops;
    const struct dg_train other = {.ops = &less, .be = r.be};
    less.ssru_backward = NULL;
    less.norm_sums = false;
    assert_int_equal(dg_tape_check(&c, &other, NULL), 0);
    c.pre_norm = true;
    assert_int_equal(dg_tape_check(&c, r.train, NULL), 0);
    refused(&c, &other, "model.pre_norm");
    c.pre_norm = false;
    c.decoder = DG_DECODER_SSRU;
    assert_int_equal(dg_tape_check(&c, r.train, NULL), 0);
    refused(&c, &other, "model.decoder");
    c = small();
    c.dec_F = 48;
    refused(&c, r.train, "model.decoder_d_ff");
    close_run(&r);
}

/* Dropout's masks and the gradient's scale do not depend on how a batch is cut: the sums are the
 * same up to the order of additions. */
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
        /* Some tens of float products summed in another order, of which the larger ones cancel. */
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

/* A sentence past the position table is refused, not trained on wrongly. */
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

/* One head, some, all of a layer; the weight is large, so that its share of the gradient shows. */
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

/* Links cut with the batch; a guide that the model has no head or layer for. */
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
        cmocka_unit_test(test_layers_are_told_of_when_whole),
        cmocka_unit_test(test_what_a_device_lacks), cmocka_unit_test(test_accumulation),
        cmocka_unit_test(test_guided), cmocka_unit_test(test_guided_parts),
        cmocka_unit_test(test_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
