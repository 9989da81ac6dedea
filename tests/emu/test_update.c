/* Training updates on a device as dg_step makes them, of several micro-batches each: how often the
 * host waits and reads, what is asked of cuBLASLt, no fp32 logits where activations take 16 bits,
 * and losses and norms near the CPU's (these on a real device, too). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/emu/counters.h"
#include "tests/emu/cuda.h"
#include "trainer/data/shard.h"
#include "trainer/recipe/recipe.h"
#include "trainer/update/init.h"
#include "trainer/update/step.h"

#include <math.h>

enum { V = 1000, PAIRS = 48, LONGEST = 12, UPDATES = 3 };

static char shard[64];
static uint32_t heads = 8; /* width of a head */

static int make_shard(void **state)
{
    (void)state;
    struct dg_shard_writer *w = NULL;
    struct dg_error err = {0};
    snprintf(shard, sizeof shard, "/tmp/test_update_%d.shard", (int)getpid());
    assert_int_equal(dg_shard_begin(shard, V, V, &w, &err), 0);
    for (int i = 0; i < PAIRS; i++) {
        int32_t ids[2][LONGEST] = {0}; /* the last one is </s> */
        uint32_t len[2];
        for (int side = 0; side < 2; side++) {
            len[side] = 3 + (uint32_t)(i * 7 + side * 5) % (LONGEST - 3);
            for (uint32_t k = 0; k + 1 < len[side]; k++)
                ids[side][k] = 1 + (i * 131 + (int)k * 17 + side) % (V - 1);
        }
        struct dg_shard_entry e = {.source_len = len[0], .target_len = len[1], .weight = 1};
        assert_int_equal(dg_shard_add(w, &e, ids[0], ids[1], &err), 0);
    }
    return dg_shard_commit_take(w, NULL, &err);
}

static int remove_shard(void **state)
{
    (void)state;
    return unlink(shard);
}

struct training {
    struct dg_config c;
    struct dg_crew *crew;
    struct dg_adam_state *adam;
    struct dg_dataset *data;
    struct dg_step_options step;
    struct dg_step_result last;
};

static void begin(struct training *t, const char *precision)
{
    const struct dg_device_options options = {.device = "cuda", .precision = precision};
    const struct dg_adam_options ao = {0.9, 0.98, 1e-9, 0, 0};
    const struct dg_dataset_options data = {
        .mode = DG_BATCH_SUM, .batch_tokens = 150, .seed = 4, .shuffle = true};
    const char *paths[1] = {shard};
    struct dg_device device;
    struct dg_error err = {0};
    *t = (struct training){
        .step = {
            .clip = 1, .label_smoothing = 0.1, .dropout = 0.2, .seed = 5, .micro_tokens = 100}};
    dg_config_base(&t->c, V);
    t->c.D = 16;
    t->c.F = 136; /* not a whole number of 128 bits */
    t->c.H = 2;
    t->c.Dk = t->c.Dv = heads;
    t->c.enc_layers = t->c.dec_layers = 1;
    t->c.embed_scale = 4;
    if (precision && dg_device_choose(&options, &device, &err))
        fail_msg("%s", err.message);
    const struct dg_crew_options co = {&t->c, 1, LONGEST, precision ? &device : NULL};
    if (dg_crew_open(&co, &t->crew, &err))
        fail_msg("%s", err.message);
    dg_init_random(t->crew->params, 3);
    if (dg_adam_open(&ao, t->crew->w[0].train, t->crew->params->n, &t->adam, &err) ||
        dg_dataset_open_shards(paths, 1, &data, &t->data, &err))
        fail_msg("%s", err.message);
}

static void update(struct training *t)
{
    struct dg_batch b;
    struct dg_error err = {0};
    if (dg_dataset_next(t->data, &b, &err) ||
        dg_step(
            t->crew, t->adam, &t->step, &(struct dg_step_input){0.01, t->data, &b}, &t->last, &err))
        fail_msg("%s", err.message);
    assert_true(b.target_tokens > 50); /* several micro-batches */
    assert_int_equal(t->last.sums.n, b.target_tokens);
}

static void end(struct training *t)
{
    dg_dataset_close(t->data);
    dg_adam_close(t->adam);
    dg_crew_close(t->crew);
}

/* The first update allocates, so it is not counted. */
static void test_one_read_back(void **state)
{
    struct training t;
    begin(&t, *state);
    update(&t);
    for (int i = 1; i < UPDATES; i++) {
        const unsigned long reads = count_of("dg_emu_read_backs"), waits = count_of("dg_emu_waits");
        update(&t);
        assert_int_equal(count_of("dg_emu_read_backs") - reads, 1);
        assert_int_equal(count_of("dg_emu_waits") - waits, 1);
    }
    end(&t);
}

/* A guide's loss stays on the device, too: a pass with a guide reads nothing, and its sums arrive
 * in the same copy as the others. */
static void test_guide_reads_nothing(void **state)
{
    static const uint32_t source_len[2] = {4, 3}, target_len[2] = {3, 4};
    static const int32_t ids[] = {5, 6, 7, 0, 8, 9, 0}, labels[] = {11, 12, 0, 13, 14, 15, 0};
    static const uint64_t index[2] = {0, 1};
    static const struct dg_link links[] = {{0, 1}, {1, 0}, {1, 2}, {0, 1}};
    static const size_t first_link[3] = {0, 3, 4};
    const struct dg_micro_batch pairs = {
        2, source_len, target_len, ids, labels, index, links, first_link};
    const struct dg_guidance guide = {.n_heads = 1, .weight = 1};
    const struct dg_objective o = {.scale = 0.1f, .guide = &guide};
    struct dg_loss_sums sums = {0};
    struct dg_error err = {0};
    struct training t;
    begin(&t, *state);
    struct dg_worker *w = &t.crew->w[0];
    for (int i = 0; i < 2; i++) { /* the first pass allocates */
        const unsigned long reads = count_of("dg_emu_read_backs"), waits = count_of("dg_emu_waits");
        sums = (struct dg_loss_sums){0};
        if (dg_tape_run(
                w->tape, &t.crew->params->params, &w->grads->params, &pairs, &o, &sums, &err))
            fail_msg("%s", err.message);
        if (i) {
            assert_int_equal(count_of("dg_emu_read_backs"), reads);
            assert_int_equal(count_of("dg_emu_waits"), waits);
        }
        dg_train_sums(w->train, &sums);
        assert_int_equal(count_of("dg_emu_read_backs") - reads, 1);
        assert_true(sums.n_guided == 3 && sums.guided > 0 && sums.smoothed > 0);
    }
    end(&t);
}

/* Compares losses and norms with those of the same updates on the CPU. */
static void near(const char *precision, double tolerance)
{
    struct training here, there;
    begin(&here, NULL);
    begin(&there, precision);
    for (int i = 0; i < UPDATES; i++) {
        update(&here);
        update(&there);
        const struct dg_loss_sums *a = &here.last.sums, *b = &there.last.sums;
        assert_true(fabs(a->smoothed - b->smoothed) <= tolerance * a->smoothed);
        assert_true(fabs(a->nll - b->nll) <= tolerance * a->nll);
        assert_true(
            fabs(here.last.grad_norm - there.last.grad_norm) <= tolerance * here.last.grad_norm);
    }
    end(&here);
    end(&there);
}

/* NVIDIA's numbers. */
enum { FP32 = 0, BF16 = 14, RELU_AUX_BIAS = 134, DRELU = 136, BGRADB = 512, MIDDLE = 136 };

/* Biases, ReLU and its backward run as epilogues of products; logits, the only results with V
 * columns, are in 16 bits. */
static void test_ends(void **state)
{
    struct training t;
    (void)state;
    begin(&t, "bf16");
    const unsigned long forward = count_products(RELU_AUX_BIAS, BF16, MIDDLE),
                        relu = count_products(DRELU, BF16, MIDDLE),
                        bias = count_products(BGRADB, FP32, 0), logits = count_products(0, BF16, V),
                        wide = count_products(0, FP32, V);
    update(&t);
    const unsigned long passes = count_products(0, BF16, V) - logits; /* micro-batches */
    assert_true(passes > 1);
    assert_int_equal(count_products(0, FP32, V), wide);
    /* One feed-forward layer per side, with two biases each. */
    assert_int_equal(count_products(RELU_AUX_BIAS, BF16, MIDDLE) - forward, 2 * passes);
    assert_int_equal(count_products(DRELU, BF16, MIDDLE) - relu, 2 * passes);
    assert_int_equal(count_products(BGRADB, FP32, 0) - bias, 4 * passes);
    end(&t);
}

/* A library without these epilogues: our own kernels give the same losses, and the log has one line
 * for each refused epilogue. */
static void refused(const char *what, const char *precision, double tolerance, size_t lines)
{
    char log[1 << 14];
    size_t said = 0;
    FILE *file = tmpfile();
    const int to = dup(STDERR_FILENO);
    setenv("DRAGOMAN_EMU_REFUSE", what, 1);
    assert_true(file && to >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    near(precision, tolerance);
    dup2(to, STDERR_FILENO);
    close(to);
    unsetenv("DRAGOMAN_EMU_REFUSE");
    rewind(file);
    log[fread(log, 1, sizeof log - 1, file)] = 0;
    fclose(file);
    for (const char *at = log; (at = strstr(at, "gemm_epilogue")); at++)
        said++;
    if (said != lines || strstr(log, "gemm_own"))
        fail_msg("%s: %zu lines, expected %zu: %s", what, said, lines, log);
}

static void test_ends_refused(void **state)
{
    (void)state;
    refused("end=640", "fp32", 2e-5, 2);    /* all epilogues */
    refused("end=8", "fp32", 2e-5, 1);      /* DRELU alone; the forward pass has written masks */
    refused("end=512", "bf16", 0.02, 1);    /* BGRADB alone */
    refused("runend=640", "bf16", 0.02, 2); /* refused only when run */
}

static void test_fp32_near_cpu(void **state)
{
    (void)state;
    near("fp32", 2e-5);
}

static void test_bf16_near_cpu(void **state)
{
    (void)state;
    near("bf16", 0.02);
}

/* Forty updates in bf16 and in fp32 on the device: the losses stay together, and fall by much more
 * than they differ. */
static void test_forty_updates(void **state)
{
    struct training wide, narrow;
    double first = 0, last = 0, apart = 0;
    (void)state;
    heads = 32; /* on tensor cores in bf16 */
    begin(&wide, "fp32");
    begin(&narrow, "bf16");
    heads = 8;
    for (int i = 0; i < 40; i++) {
        update(&wide);
        update(&narrow);
        last = wide.last.sums.smoothed / (double)wide.last.sums.n;
        first = i ? first : last;
        apart = fmax(apart, fabs(narrow.last.sums.smoothed / (double)narrow.last.sums.n - last));
        assert_true(isfinite(narrow.last.grad_norm));
    }
    print_message("fp32 from %.4f to %.4f, bf16 at most %.4f from it\n", first, last, apart);
    assert_true(first - last > 1 && apart < 0.01 * last);
    end(&wide);
    end(&narrow);
}

int main(void)
{
    static char fp32[] = "fp32", bf16[] = "bf16";
    const struct CMUnitTest anywhere[] = {cmocka_unit_test(test_fp32_near_cpu),
        cmocka_unit_test(test_bf16_near_cpu), cmocka_unit_test(test_forty_updates)};
    const struct CMUnitTest emulation[] = {
        {"one read-back, fp32", test_one_read_back, NULL, NULL, fp32},
        {"one read-back, bf16", test_one_read_back, NULL, NULL, bf16},
        {"guide, fp32", test_guide_reads_nothing, NULL, NULL, fp32},
        {"guide, bf16", test_guide_reads_nothing, NULL, NULL, bf16}, cmocka_unit_test(test_ends),
        cmocka_unit_test(test_ends_refused)};
    const bool emulated = cuda_is_emulated();
    int failed = cmocka_run_group_tests(anywhere, make_shard, remove_shard);
    if (emulated)
        failed += cmocka_run_group_tests(emulation, make_shard, remove_shard);
    return failed;
}
