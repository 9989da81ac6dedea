/* Gradients of a whole model by name, and ten optimiser steps, against an independent
 * implementation in float64 (tests/golden/gradients.py): losses before each step, learning rates,
 * and every weight after the tenth. */
#include "kernels/cpu/cpu.h"
#include "kernels/device.h"
#include "model/train/tape.h"
#include "model/param_block.h"
#include "trainer/update/adam.h"
#include "trainer/update/init.h"
#include "trainer/update/schedule.h"
#include "weights/bundle.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* fp32 against fp64. Gradients are sums of some hundred terms below 1; another fp32 program was
 * within 3e-7 of the losses and 4e-7 of the final weights (tests/golden/README.md). */
static const double GRADIENT_TOLERANCE = 2e-6, LOSS_TOLERANCE = 2e-6, WEIGHT_TOLERANCE = 2e-6;

struct golden {
    char dir[128];
    struct dg_json *expected;
    struct dg_bundle *bundle;
    struct dg_weights *gradients, *final;
    struct dg_config config;
    struct dg_backend *be;
    struct dg_train *train;
    struct dg_tape *tape;
    struct dg_param_block *params, *grads;
};

static struct dg_weights *open_weights(const struct golden *g, const char *name)
{
    char path[256];
    struct dg_error err = {0};
    struct dg_weights *w = NULL;
    snprintf(path, sizeof path, "%s/%s", g->dir, name);
    if (dg_weights_open(path, &w, &err))
        fail_msg("%s", err.message);
    return w;
}

/* Opens the CPU with `isa`, or the device that DRAGOMAN_TEST_DEVICE names, ignoring `isa`. */
static int open_device(struct dg_backend **be, const char *isa, struct dg_error *err)
{
    const struct dg_device_options wish = {getenv("DRAGOMAN_TEST_DEVICE"), "fp32", 1};
    const struct dg_cpu_options cpu = {.isa = isa, .threads = 1};
    struct dg_device device;
    if (!wish.device)
        return dg_cpu_open(&cpu, be, err);
    return dg_device_choose(&wish, &device, err) || dg_device_open(&device, be, err);
}

static void open_golden(struct golden *g, const char *name, const char *isa)
{
    struct dg_error err = {0};
    char path[160];
    memset(g, 0, sizeof *g);
    snprintf(g->dir, sizeof g->dir, "tests/golden/data/%s", name);
    snprintf(path, sizeof path, "%s.json", g->dir);
    g->expected = dg_json_load(path, &err);
    if (!g->expected || dg_bundle_open(g->dir, &g->bundle, &err) ||
        dg_config_read(dg_bundle_manifest(g->bundle), &g->config, &err))
        fail_msg("%s", err.message);
    const struct dg_init_from from = {
        dg_bundle_weights(g->bundle), g->config.enc_layers, g->config.dec_layers};
    g->gradients = open_weights(g, "gradients.dgw");
    g->final = open_weights(g, "final.dgw");
    if (open_device(&g->be, isa, &err) || dg_train_open(g->be, &g->train, &err) ||
        dg_tape_open(&g->config, g->train, 24, &g->tape, &err) ||
        dg_param_block_open(&g->config, g->train, &g->params, &err) ||
        dg_param_block_open(&g->config, g->train, &g->grads, &err) ||
        dg_init_from_weights(g->params, &from, &err))
        fail_msg("%s", err.message);
}

static void close_golden(struct golden *g)
{
    dg_param_block_close(g->grads);
    dg_param_block_close(g->params);
    dg_tape_close(g->tape);
    dg_train_close(g->train);
    dg_device_close(g->be);
    dg_weights_close(g->final);
    dg_weights_close(g->gradients);
    dg_bundle_close(g->bundle);
    dg_json_free(g->expected);
}

/* Writes the ids of one side of a pair with </s> added; returns the length. */
static uint32_t add_ids(const struct dg_json *list, int32_t eos, int32_t *out)
{
    uint32_t n = 0;
    for (; n < dg_json_length(list); n++)
        out[n] = (int32_t)dg_json_int(dg_json_at(list, n));
    out[n++] = eos;
    return n;
}

/* The batch's guide, if it has one; links of all pairs, and the first link of each pair. */
struct guided {
    struct dg_guidance guide;
    struct dg_link links[512];
    size_t first[33];
};

static bool read_guide(const struct golden *g, const struct dg_json *batch, struct guided *out)
{
    const struct dg_json *o = dg_json_get(g->expected, "guide");
    if (!o)
        return false;
    out->guide = (struct dg_guidance){.layer = (uint32_t)dg_json_int(dg_json_get(o, "layer")),
        .head = (uint32_t)dg_json_int(dg_json_get(o, "head")),
        .n_heads = (uint32_t)dg_json_int(dg_json_get(o, "heads")),
        .weight = (float)dg_json_number(dg_json_get(o, "weight"))};
    size_t n = 0;
    for (size_t i = 0; i < dg_json_length(batch); i++) {
        const struct dg_json *list = dg_json_get(dg_json_at(batch, i), "links");
        out->first[i] = n;
        for (size_t k = 0; k < dg_json_length(list); k++, n++) {
            const struct dg_json *link = dg_json_at(list, k);
            assert_true(n < 512);
            out->links[n].query = (uint16_t)dg_json_int(dg_json_at(link, 0));
            out->links[n].key = (uint16_t)dg_json_int(dg_json_at(link, 1));
        }
        out->first[i + 1] = n;
    }
    return true;
}

/* Computes loss and gradient of a batch: sums over target pieces; a guide's loss is part of the
 * smoothed one. */
static struct dg_loss_sums run_batch(struct golden *g, const struct dg_json *batch)
{
    int32_t source[512], target[512];
    uint32_t source_len[32], target_len[32], S = 0, T = 0;
    uint64_t index[32] = {0};
    struct dg_error err = {0};
    struct dg_loss_sums sums = {0};
    size_t n = dg_json_length(batch);
    assert_true(n > 0 && n <= 32);
    for (size_t i = 0; i < n; i++) {
        const struct dg_json *pair = dg_json_at(batch, i);
        S += source_len[i] = add_ids(dg_json_get(pair, "source"), g->config.eos, source + S);
        T += target_len[i] = add_ids(dg_json_get(pair, "target"), g->config.eos, target + T);
    }
    struct dg_micro_batch pairs = {.n = n,
        .source_len = source_len,
        .target_len = target_len,
        .source = source,
        .target = target,
        .index = index};
    struct guided guided;
    struct dg_objective o = {
        .epsilon = (float)dg_json_number(dg_json_get(g->expected, "label_smoothing")),
        .scale = 1.0f / (float)T};
    if (read_guide(g, batch, &guided)) {
        o.guide = &guided.guide;
        pairs.links = guided.links;
        pairs.first_link = guided.first;
    }
    g->train->ops->zero(g->train, g->grads->data, g->grads->n);
    if (dg_tape_run(g->tape, &g->params->params, &g->grads->params, &pairs, &o, &sums, &err))
        fail_msg("%s", err.message);
    dg_train_sums(g->train, &sums);
    assert_int_equal(sums.n, T);
    if (o.guide) {
        assert_true(sums.n_guided > 0 && sums.n_guided < T);
        sums.smoothed += (double)o.guide->weight * sums.guided;
    }
    return sums;
}

/* True if element e of this tensor is a key's bias. Its gradient is 0 except for rounding, and Adam
 * makes steps of that noise. */
static bool is_key_bias(const struct dg_config *c, const char *name, size_t e)
{
    size_t hdk = (size_t)c->H * c->Dk;
    if (strstr(name, "self.qkv.b"))
        return e >= hdk && e < 2 * hdk;
    return strstr(name, "cross.kv.b") && e < hdk;
}

static void compare(const struct golden *g, const char *what, const float *block,
    const struct dg_weights *expected, double tolerance, bool skip_key_biases)
{
    const size_t n = dg_param_block_size(&g->config);
    float *host = malloc(n * sizeof *host);
    assert_non_null(host);
    g->train->ops->block_read(g->train, block, n, host);
    assert_int_equal(dg_weights_count(expected), dg_params_count(&g->config));
    for (size_t i = 0; i < dg_params_count(&g->config); i++) {
        struct dg_param_info info;
        dg_params_info(&g->config, i, &info);
        const struct dg_tensor *t = dg_weights_find(expected, info.name);
        if (!t || t->stored[0].type != DG_F32)
            fail_msg("%s: no fp32 tensor %s among the expected ones", g->dir, info.name);
        const float *want = t->stored[0].data, *got = host + dg_param_block_offset(&g->config, i);
        for (size_t e = 0; e < (size_t)info.N * info.K; e++)
            if (fabs((double)got[e] - want[e]) > tolerance &&
                !(skip_key_biases && is_key_bias(&g->config, info.name, e)))
                fail_msg("%s: %s of %s[%zu] is %.8g, expected %.8g", g->be->name, what, info.name,
                    e, (double)got[e], (double)want[e]);
    }
    free(host);
}

static void check_training(struct golden *g)
{
    const struct dg_json *batches = dg_json_get(g->expected, "batches"),
                         *steps = dg_json_get(g->expected, "steps");
    struct dg_schedule schedule = {
        1.0, g->config.D, dg_json_int(dg_json_get(g->expected, "warmup")), 1000, 0};
    struct dg_adam_options o = {dg_json_number(dg_json_get(g->expected, "beta1")),
        dg_json_number(dg_json_get(g->expected, "beta2")),
        dg_json_number(dg_json_get(g->expected, "epsilon")), 0, 0};
    struct dg_adam_state *a = NULL;
    struct dg_error err = {0};
    assert_int_equal(dg_adam_open(&o, g->train, g->params->n, &a, &err), 0);
    assert_int_equal(dg_json_length(steps), 10);
    for (size_t i = 0; i < dg_json_length(steps); i++) {
        const struct dg_json *want = dg_json_at(steps, i);
        struct dg_loss_sums sums = run_batch(g, dg_json_at(batches, i));
        double rate = dg_schedule_rate(&schedule, (int64_t)i + 1),
               lr = dg_json_number(dg_json_get(want, "lr"));
        double loss = dg_json_number(dg_json_get(want, "loss")),
               nll = dg_json_number(dg_json_get(want, "nll"));
        if (i == 0)
            compare(g, "gradient", g->grads->data, g->gradients, GRADIENT_TOLERANCE, false);
        if (fabs(rate - lr) > 1e-9 * lr)
            fail_msg("learning rate %zu is %.10g, expected %.10g", i + 1, rate, lr);
        if (fabs(sums.smoothed / (double)sums.n - loss) > LOSS_TOLERANCE ||
            fabs(sums.nll / (double)sums.n - nll) > LOSS_TOLERANCE)
            fail_msg("loss before step %zu is %.8g and %.8g, expected %.8g and %.8g", i + 1,
                sums.smoothed / (double)sums.n, sums.nll / (double)sums.n, loss, nll);
        a->step++;
        /* In uneven slices, as with threads. */
        dg_adam_update(a, g->train,
            &(struct dg_adam_input){rate, 1, g->grads->data, g->params->data}, 0, a->n / 3);
        dg_adam_update(a, g->train,
            &(struct dg_adam_input){rate, 1, g->grads->data, g->params->data}, a->n / 3, a->n);
    }
    compare(g, "weight after ten steps", g->params->data, g->final, WEIGHT_TOLERANCE, true);
    dg_adam_close(a);
}

/* True if the device lacks an op that the model needs, and so refuses it. */
static bool refused(const char *name, const char *field)
{
    struct dg_error err = {0};
    struct dg_backend *be = NULL;
    struct dg_train *train = NULL;
    struct dg_bundle *bundle = NULL;
    struct dg_config c;
    char dir[128];
    snprintf(dir, sizeof dir, "tests/golden/data/%s", name);
    if (dg_bundle_open(dir, &bundle, &err) ||
        dg_config_read(dg_bundle_manifest(bundle), &c, &err) || open_device(&be, NULL, &err) ||
        dg_train_open(be, &train, &err))
        fail_msg("%s", err.message);
    const int rc = dg_tape_check(&c, train, &err);
    if (rc) {
        assert_int_equal(rc, DG_EUNSUP);
        assert_string_equal(err.field, field);
        assert_false(be->ops->on_host);
    }
    dg_train_close(train);
    dg_device_close(be);
    dg_bundle_close(bundle);
    return rc != 0;
}

static void check_model(const char *name)
{
    for (const char *const *isa = dg_cpu_isas(); *isa; isa++) {
        struct golden g;
        open_golden(&g, name, *isa);
        check_training(&g);
        close_golden(&g);
        if (getenv("DRAGOMAN_TEST_DEVICE"))
            break;
    }
}

static void test_paper(void **state)
{
    (void)state;
    check_model("train-paper");
}

/* Learned positions, GELU, biases, untied matrices, another start piece. */
static void test_learned(void **state)
{
    (void)state;
    check_model("train-learned");
}

/* With the loss of guided alignment. */
static void test_guided(void **state)
{
    (void)state;
    check_model("train-guided");
}

/* Pre-norm: the residual stream has a gradient of its own. */
static void test_pre_norm(void **state)
{
    (void)state;
    if (!refused("train-pre-norm", "model.pre_norm"))
        check_model("train-pre-norm");
}

/* A recurrent unit instead of the decoder's self-attention. */
static void test_ssru(void **state)
{
    (void)state;
    if (refused("train-ssru", "model.decoder"))
        return;
    check_model("train-ssru");
    check_model("train-pre-norm-ssru");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_paper), cmocka_unit_test(test_learned),
        cmocka_unit_test(test_guided), cmocka_unit_test(test_pre_norm),
        cmocka_unit_test(test_ssru)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
