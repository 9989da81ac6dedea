/* train-bench: the cost of an update of training: forward, loss, backward, Adam, over one
 * micro-batch of random sentences of one length, with random weights, dropout and label smoothing
 * as in the paper. One JSON object on stdout. Floating-point operations are counted where the
 * paper's formulas have them in products and in attention (2 for each multiply-add, three times the
 * forward pass), not where something is computed again. */
#include "base/clock.h"
#include "base/command.h"
#include "bench/print.h"
#include "bench/random.h"
#include "bench/step/profiler.h"
#include "kernels/device.h"
#include "kernels/train.h"
#include "model/train/tape.h"
#include "model/param_block.h"
#include "trainer/update/adam.h"
#include "trainer/update/init.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WARM_UP = 3 };

struct options {
    int model;
    const char *device, *precision;
    uint32_t vocab, pairs, source, length, updates;
    bool profile;
};

struct bench {
    struct options o;
    struct dg_config config;
    struct dg_backend *be;
    struct dg_train *train;
    struct dg_tape *tape;
    struct dg_param_block *params, *grads;
    struct dg_adam_state *adam;
    struct dg_micro_batch batch;
    void *memory; /* the batch's arrays */
    struct dg_loss_sums sums;
    double seconds;
};

enum { BASE, BIG, SMALL };
static const char *const models[] = {"base", "big", "small", NULL};

#define AT(member) DG_FIELD_AT(struct options, member)
#define COUNT(member, initial) DG_FIELD_INT, AT(member), 1, 1e6, .fallback = initial

static const struct dg_field rows[] = {
    {"model", DG_FIELD_WORD, AT(model), BASE, SMALL, .words = models, .fallback = "base",
        .argument = "NAME", .help = "base or big of the paper's Table 3, or a small one"},
    {"vocab", COUNT(vocab, "32000"), .help = "size of the vocabulary"},
    {"pairs", COUNT(pairs, "296"), .help = "pairs of an update"},
    {"source", COUNT(source, "27"), .help = "tokens of each source"},
    {"length", COUNT(length, "27"), .help = "tokens of each target"},
    {"updates", COUNT(updates, "10"), .help = "updates to time, after three to warm up"},
    {"device", DG_FIELD_STRING, AT(device), .fallback = "cpu", .argument = "NAME",
        .help = "cpu or cuda[:N]"},
    {"precision", DG_FIELD_STRING, AT(precision), .argument = "TYPE", .help = "fp32, fp16 or bf16"},
    {"profile", DG_FIELD_BOOL, AT(profile),
        .help = "tell a GPU's profiler to begin with the last update"},
};

static void choose_model(int model, uint32_t vocab, struct dg_config *c)
{
    dg_config_base(c, vocab);
    if (model == BIG) {
        c->D = 1024;
        c->F = 4096;
        c->H = 16;
    } else if (model == SMALL) {
        c->D = 64;
        c->F = 128;
        c->H = 4;
        c->Dk = c->Dv = 16;
        c->enc_layers = c->dec_layers = 2;
    }
    c->embed_scale = sqrtf((float)c->D);
}

/* Multiply-adds of one forward pass. */
static double forward_macs(const struct dg_config *c, double pairs, double S, double T)
{
    const double D = c->D, k = (double)c->H * c->Dk, v = (double)c->H * c->Dv, ffn = 2 * D * c->F;
    const double encoder = S * (D * (2 * k + v) + v * D + ffn) + S * S * (k + v);
    const double decoder = T * (D * (2 * k + v) + v * D + ffn) + T * (T + 1) / 2 * (k + v) +
                           T * (D * k + v * D) + S * D * (k + v) + T * S * (k + v);
    return pairs * (c->enc_layers * encoder + c->dec_layers * decoder + T * D * c->target_vocab);
}

static int32_t *fill_ids(int32_t *ids, size_t n, uint32_t length, const struct dg_config *c)
{
    uint64_t state = 17;
    for (size_t i = 0; i < n; i++) {
        ids[i] = (int32_t)(3 + dg_bench_number(&state) % (c->target_vocab - 3));
        ids[i] = i % length == length - 1 ? c->eos : ids[i];
    }
    return ids;
}

static int make_batch(struct bench *b, struct dg_error *err)
{
    const struct options *o = &b->o;
    const size_t n = o->pairs, S = n * o->source, T = n * o->length;
    b->memory = malloc(n * (sizeof(uint64_t) + 2 * sizeof(uint32_t)) + (S + T) * sizeof(int32_t));
    if (!b->memory)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu pairs", n);
    uint64_t *index = b->memory;
    uint32_t *lengths = (uint32_t *)(index + n);
    int32_t *ids = (int32_t *)(lengths + 2 * n);
    for (size_t i = 0; i < n; i++) {
        index[i] = i;
        lengths[i] = o->source;
        lengths[n + i] = o->length;
    }
    b->batch = (struct dg_micro_batch){.n = n,
        .source_len = lengths,
        .target_len = lengths + n,
        .source = fill_ids(ids, S, o->source, &b->config),
        .target = fill_ids(ids + S, T, o->length, &b->config),
        .index = index};
    return DG_OK;
}

static int open_bench(struct bench *b, struct dg_error *err)
{
    const struct options *o = &b->o;
    const struct dg_device_options wish = {o->device, o->precision, 1};
    const struct dg_adam_options adam = {0.9, 0.98, 1e-9, 0, 0};
    struct dg_device device;
    int rc = dg_config_check(&b->config, err);
    if (!rc)
        rc = dg_device_choose(&wish, &device, err);
    if (!rc)
        rc = dg_device_open(&device, &b->be, err);
    if (!rc)
        rc = dg_train_open(b->be, &b->train, err);
    if (!rc)
        rc = dg_tape_open(
            &b->config, b->train, o->source > o->length ? o->source : o->length, &b->tape, err);
    if (!rc)
        rc = dg_param_block_open(&b->config, b->train, &b->params, err);
    if (!rc)
        rc = dg_param_block_open(&b->config, b->train, &b->grads, err);
    if (!rc)
        dg_init_random(b->params, 1);
    if (!rc)
        rc = dg_adam_open(&adam, b->train, b->params->n, &b->adam, err);
    return rc ? rc : make_batch(b, err);
}

static void close_bench(struct bench *b)
{
    dg_adam_close(b->adam);
    dg_param_block_close(b->grads);
    dg_param_block_close(b->params);
    dg_tape_close(b->tape);
    dg_train_close(b->train);
    dg_device_close(b->be);
    free(b->memory);
}

static int update(struct bench *b, uint64_t step, struct dg_error *err)
{
    const struct dg_objective o = {.epsilon = 0.1f,
        .scale = 1.0f / (float)(b->o.pairs * b->o.length),
        .dropout = 0.1f,
        .seed = 1,
        .step = step};
    b->sums = (struct dg_loss_sums){0};
    b->train->ops->zero(b->train, b->grads->data, b->grads->n);
    int rc =
        dg_tape_run(b->tape, &b->params->params, &b->grads->params, &b->batch, &o, &b->sums, err);
    dg_train_sums(b->train, &b->sums);
    b->adam->step = step;
    dg_adam_update(b->adam, b->train,
        &(struct dg_adam_input){1e-4, 1, b->grads->data, b->params->data}, 0, b->params->n);
    return rc ? rc : b->be->ops->status(b->be, err);
}

/* Waits for the last update by reading its parameters. */
static int run(struct bench *b, struct dg_error *err)
{
    float one;
    int rc = DG_OK;
    uint64_t from = 0;
    for (uint32_t i = 0; i < WARM_UP + b->o.updates && !rc; i++) {
        if (i == WARM_UP) {
            b->train->ops->block_read(b->train, b->params->data, 1, &one);
            from = dg_clock_ns();
        }
        if (i + 1 == WARM_UP + b->o.updates && b->o.profile)
            bench_profile_from_here();
        rc = update(b, i + 1, err);
    }
    b->train->ops->block_read(b->train, b->params->data, 1, &one);
    b->seconds = (double)(dg_clock_ns() - from) / 1e9 / b->o.updates;
    return rc ? rc : b->be->ops->status(b->be, err);
}

static int print(const struct bench *b, struct dg_error *err)
{
    const struct options *o = &b->o;
    const double S = (double)o->pairs * o->source, T = (double)o->pairs * o->length,
                 operations = 6 * forward_macs(&b->config, o->pairs, o->source, o->length);
    struct dg_json *out = dg_json_new_object();
    dg_json_set_string(out, "backend", b->be->name);
    dg_json_set_string(out, "model", models[o->model]);
    dg_json_set_int(out, "parameters", (int64_t)dg_params_elements(&b->config));
    dg_json_set_int(out, "pairs", o->pairs);
    dg_json_set_int(out, "source", o->source);
    dg_json_set_int(out, "length", o->length);
    dg_json_set_int(out, "updates", o->updates);
    dg_json_set_real(out, "update_ms", 1e3 * b->seconds);
    dg_json_set_real(out, "tokens_per_s", (S + T) / b->seconds);
    dg_json_set_real(out, "target_tokens_per_s", T / b->seconds);
    dg_json_set_real(out, "tflop_per_update", 1e-12 * operations);
    dg_json_set_real(out, "tflop_per_s", 1e-12 * operations / b->seconds);
    dg_json_set_real(out, "loss", b->sums.smoothed / (double)b->sums.n);
    int rc = dg_bench_print(out, 0, err);
    dg_json_free(out);
    return rc;
}

int main(int argc, char **argv)
{
    struct bench b = {.o = {.vocab = 0}};
    struct dg_error err = {0};
    const struct dg_fields group = {rows, DG_FIELD_COUNT(rows), &b.o, NULL, NULL};
    const struct dg_command command = {.name = "train-bench",
        .usage = "usage: train-bench [options]\n\n"
                 "Prints as JSON what an update of training costs.\n",
        .groups = &group,
        .n_groups = 1};
    dg_fields_default(&group);
    int status = dg_command_read(&command, argc, argv, NULL);
    if (status >= 0)
        return status;
    choose_model(b.o.model, b.o.vocab, &b.config);
    int rc = open_bench(&b, &err);
    if (!rc)
        rc = run(&b, &err);
    if (!rc)
        rc = print(&b, &err);
    close_bench(&b);
    if (rc)
        fprintf(stderr, "train-bench: %s\n", err.message);
    return rc ? 1 : 0;
}
