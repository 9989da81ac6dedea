/* Shared by the tests of training: a tape over four small sentences, its run and its gradients. */
#ifndef DG_TESTS_PARITY_TRAIN_PASS_H
#define DG_TESTS_PARITY_TRAIN_PASS_H

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

/* For guided alignment: pieces with several sources, with none, and </s>; by pair. */
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
    struct dg_cpu_options o = {.threads = 1};
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

/* Runs pairs begin..end-1; gradients are added to `grads`. Returns the loss. */
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

/* A small configuration. */
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

#endif
