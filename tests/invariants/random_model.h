/* A model with random weights scaled like a trained one's, opened from a real weights file in a
 * temporary place. */
#ifndef DG_TESTS_RANDOM_MODEL_H
#define DG_TESTS_RANDOM_MODEL_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernels/cpu/cpu.h"
#include "model/engine/engine.h"
#include "model/params.h"

struct random_model {
    struct dg_backend *be;
    struct dg_weights *weights;
    struct dg_model *model;
};

/* A small Transformer of the paper's kind. */
static inline void random_config(struct dg_config *c)
{
    dg_config_base(c, 60);
    c->D = 32;
    c->F = 64;
    c->H = 4;
    c->Dk = c->Dv = 8;
    c->enc_layers = c->dec_layers = 2;
    c->embed_scale = sqrtf(32.0f);
    c->norm_eps = 1e-5f;
}

static inline uint32_t rnd(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static inline float rnd_unit(uint64_t *state)
{
    return (float)rnd(state) / 1073741824.0f - 1.0f; /* -1..1 */
}

/* Fills matrices uniformly with Glorot's variance, gains around 1, the last gain large so that
 * outputs are peaked. */
static inline void fill(
    const struct dg_config *c, const struct dg_param_info *info, float *x, uint64_t *state)
{
    char last[64];
    size_t n = (size_t)info->N * info->K;
    bool gain = strstr(info->name, "gain") != NULL, vector = info->N == 1;
    float range = vector ? 0.05f : sqrtf(6.0f / (float)(info->N + info->K));
    if (info->use & DG_USE_TABLE)
        range = sqrtf(3.0f / (float)c->D);
    snprintf(last, sizeof last, "dec.%u.ffn.norm.gain", c->dec_layers - 1);
    float centre = gain ? (strcmp(info->name, last) ? 1.0f : 3.0f) : 0.0f;
    for (size_t i = 0; i < n; i++)
        x[i] = centre + range * rnd_unit(state);
}

/* change: may replace the numbers of a parameter x[N,K]; NULL: keeps them. */
static inline void random_model_open_changed(struct random_model *m, const struct dg_config *c,
    enum dg_type type, const struct dg_cpu_options *cpu, uint32_t max_positions, uint64_t seed,
    void (*change)(const struct dg_param_info *info, float *x))
{
    struct dg_error err = {0};
    struct dg_weights_writer *w = NULL;
    char path[] = "/tmp/dragoman-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(dg_weights_writer_open(&w, &err), 0);
    for (size_t i = 0; i < dg_params_count(c); i++) {
        struct dg_param_info info;
        dg_params_info(c, i, &info);
        float *x = malloc((size_t)info.N * info.K * sizeof *x);
        assert_non_null(x);
        fill(c, &info, x, &seed);
        if (change)
            change(&info, x);
        if (dg_weights_writer_add(
                w, info.name, info.N, info.K, info.N == 1 ? DG_F32 : type, x, &err))
            fail_msg("%s", err.message);
        free(x);
    }
    if (dg_weights_writer_commit(w, path, &err))
        fail_msg("%s", err.message);
    dg_weights_writer_close(w);
    if (dg_cpu_open(cpu, &m->be, &err) || dg_weights_open(path, &m->weights, &err) ||
        dg_model_open(c, m->weights, m->be, max_positions, &m->model, &err))
        fail_msg("%s", err.message);
    unlink(path); /* the mapping keeps the file */
}

static inline void random_model_open(struct random_model *m, const struct dg_config *c,
    enum dg_type type, const struct dg_cpu_options *cpu, uint32_t max_positions, uint64_t seed)
{
    random_model_open_changed(m, c, type, cpu, max_positions, seed, NULL);
}

static inline void random_model_close(struct random_model *m)
{
    dg_model_close(m->model);
    dg_weights_close(m->weights);
    dg_cpu_close(m->be);
}

/* Makes a sentence of n pieces: random ones, then </s>. */
static inline void random_sentence(
    const struct dg_config *c, int32_t *ids, uint32_t n, uint64_t *state)
{
    for (uint32_t i = 0; i + 1 < n; i++)
        ids[i] = 2 + (int32_t)(rnd(state) % (c->source_vocab - 2));
    ids[n - 1] = c->eos;
}

#endif
