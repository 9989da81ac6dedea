/* DESIGN. `twin` is a backend that passes every operation on to the CPU's, but holds each matrix
 * twice, from the fp32 and from the quantised bundle, and in `linear` multiplies by both. The
 * model, the engine and the text run on it unchanged. */
#include "cli/layer_errors.h"

#include "base/alloc.h"
#include "cli/lines.h"
#include "kernels/cpu/cpu.h"
#include "model/model.h"
#include "translate/translate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The twin's struct dg_weight pointers point to this. */
struct pair {
    /* own: fp32; int8: NULL if not quantised */
    struct dg_weight *own, *int8;
    size_t layer, N, K;
};

struct twin {
    /* must be first: a struct dg_backend * is cast to a struct twin * */
    struct dg_backend base;
    struct dg_ops ops;
    struct dg_backend *cpu;
    const struct dg_weights *quantised;
    struct dg_layer_errors *errors;
    /* [n_y8] outputs of the int8 multiplication */
    struct dg_buf *y8;
    /* [2,n_y8] fp32 and int8 outputs */
    float *host;
    size_t n_y8;
};

static struct twin *twin_of(struct dg_backend *be)
{
    return (struct twin *)(void *)be;
}

static const struct pair *pair_of(const struct dg_weight *w)
{
    return (const struct pair *)(const void *)w;
}

static const struct dg_weight *own(const struct dg_weight *w)
{
    return w ? pair_of(w)->own : NULL;
}

static int twin_buf_new(struct dg_backend *be, size_t n, struct dg_buf **out, struct dg_error *err)
{
    return twin_of(be)->cpu->ops->buf_new(twin_of(be)->cpu, n, out, err);
}

static void twin_buf_free(struct dg_backend *be, struct dg_buf *buf)
{
    twin_of(be)->cpu->ops->buf_free(twin_of(be)->cpu, buf);
}

static void twin_write(
    struct dg_backend *be, const float *src, struct dg_rows y, size_t M, size_t N)
{
    twin_of(be)->cpu->ops->write(twin_of(be)->cpu, src, y, M, N);
}

static void twin_read(struct dg_backend *be, struct dg_rows x, size_t M, size_t N, float *dst)
{
    twin_of(be)->cpu->ops->read(twin_of(be)->cpu, x, M, N, dst);
}

static void twin_weight_free(struct dg_backend *be, struct dg_weight *w)
{
    struct pair *p = (struct pair *)(void *)w;
    if (!p)
        return;
    struct dg_backend *cpu = twin_of(be)->cpu;
    cpu->ops->weight_free(cpu, p->own);
    cpu->ops->weight_free(cpu, p->int8);
    free(p);
}

/* Add a layer to the list if the matrix is s8 in the quantised bundle. */
static int add_layer(
    struct twin *t, const struct dg_weight_spec *spec, struct pair *p, struct dg_error *err)
{
    const struct dg_tensor *q = dg_weights_find(t->quantised, spec->name);
    if (!(spec->use & DG_USE_MATRIX) || !q || q->stored[0].type != DG_S8)
        return 0;
    t->errors->layers =
        dg_alloc_more(t->errors->layers, t->errors->n + 1, sizeof *t->errors->layers, "a report");
    p->layer = t->errors->n;
    struct dg_weight_spec int8 = *spec;
    int8.stored = q->stored;
    int8.n_stored = q->n_stored;
    int rc = t->cpu->ops->weight_new(t->cpu, &int8, &p->int8, err);
    if (!rc)
        rc = dg_param_set_steps(t->cpu, t->quantised, spec->name, p->int8, err);
    if (rc)
        return rc;
    t->errors->layers[t->errors->n] = (struct dg_layer_error){0};
    snprintf(
        t->errors->layers[t->errors->n].name, sizeof t->errors->layers[0].name, "%s", spec->name);
    t->errors->n++;
    return 0;
}

static int twin_weight_new(struct dg_backend *be, const struct dg_weight_spec *spec,
    struct dg_weight **out, struct dg_error *err)
{
    struct twin *t = twin_of(be);
    struct pair *p = dg_alloc(1, sizeof *p, "a tensor");
    *out = NULL;
    p->N = spec->N;
    p->K = spec->K;
    int rc = t->cpu->ops->weight_new(t->cpu, spec, &p->own, err);
    if (!rc)
        rc = add_layer(t, spec, p, err);
    if (rc)
        twin_weight_free(be, (struct dg_weight *)(void *)p);
    else
        *out = (struct dg_weight *)(void *)p;
    return rc;
}

static void twin_embed(struct dg_backend *be, const struct dg_embed *op, struct dg_rows y, size_t M)
{
    struct dg_embed inner = *op;
    inner.table = own(op->table);
    inner.positions = own(op->positions);
    twin_of(be)->cpu->ops->embed(twin_of(be)->cpu, &inner, y, M);
}

/* Make room for n fp32 outputs and n int8 outputs. */
static void reserve(struct twin *t, size_t n)
{
    if (n <= t->n_y8)
        return;
    t->cpu->ops->buf_free(t->cpu, t->y8);
    t->host = dg_alloc_more(t->host, 2 * n, sizeof *t->host, "a layer's outputs");
    dg_alloc_check(!t->cpu->ops->buf_new(t->cpu, n, &t->y8, NULL), "a layer's outputs");
    t->n_y8 = n;
}

static void compare(struct twin *t, const struct pair *p, struct dg_rows y, size_t M)
{
    struct dg_layer_error *e = &t->errors->layers[p->layer];
    size_t n = M * p->N;
    float *want = t->host, *got = t->host + n;
    t->cpu->ops->read(t->cpu, y, M, p->N, want);
    t->cpu->ops->read(t->cpu, (struct dg_rows){t->y8, 0, p->N}, M, p->N, got);
    for (size_t i = 0; i < n; i++) {
        double d = (double)got[i] - (double)want[i];
        e->squared_error += d * d;
        e->squared += (double)want[i] * (double)want[i];
    }
}

static void twin_linear(
    struct dg_backend *be, const struct dg_linear *op, struct dg_rows x, struct dg_rows y, size_t M)
{
    struct twin *t = twin_of(be);
    const struct pair *p = pair_of(op->w);
    struct dg_linear inner = *op;
    inner.bias = own(op->bias);
    inner.w = p->own;
    t->cpu->ops->linear(t->cpu, &inner, x, y, M);
    if (!p->int8)
        return;
    reserve(t, M * p->N);
    inner.w = p->int8;
    inner.pre = (struct dg_rows){0};
    t->cpu->ops->linear(t->cpu, &inner, x, (struct dg_rows){t->y8, 0, p->N}, M);
    compare(t, p, y, M);
}

static void twin_add_norm(struct dg_backend *be, const struct dg_norm *op, struct dg_rows x,
    struct dg_rows r, struct dg_rows y, size_t M, size_t D)
{
    struct dg_norm inner = *op;
    inner.gain = own(op->gain);
    inner.bias = own(op->bias);
    twin_of(be)->cpu->ops->add_norm(twin_of(be)->cpu, &inner, x, r, y, M, D);
}

static void twin_ssru(struct dg_backend *be, const struct dg_ssru *op, struct dg_rows z,
    struct dg_rows y, size_t M, size_t D)
{
    twin_of(be)->cpu->ops->ssru(twin_of(be)->cpu, op, z, y, M, D);
}

static void twin_attention(
    struct dg_backend *be, const struct dg_attention *op, struct dg_rows q, struct dg_rows out)
{
    twin_of(be)->cpu->ops->attention(twin_of(be)->cpu, op, q, out);
}

static void twin_kv_write(struct dg_backend *be, struct dg_rows x, struct dg_rows pool,
    const int32_t *slots, size_t M, size_t N)
{
    twin_of(be)->cpu->ops->kv_write(twin_of(be)->cpu, x, pool, slots, M, N);
}

static void twin_topk(
    struct dg_backend *be, const struct dg_topk *op, struct dg_rows logits, size_t M)
{
    twin_of(be)->cpu->ops->topk(twin_of(be)->cpu, op, logits, M);
}

static int twin_status(struct dg_backend *be, struct dg_error *err)
{
    return twin_of(be)->cpu->ops->status(twin_of(be)->cpu, err);
}

static int twin_open(struct twin *t, struct dg_error *err)
{
    int rc = dg_cpu_open(NULL, &t->cpu, err);
    if (rc)
        return rc;
    t->ops = (struct dg_ops){.device = t->cpu->ops->device,
        .on_host = t->cpu->ops->on_host,
        .buf_new = twin_buf_new,
        .buf_new_wide = twin_buf_new,
        .buf_free = twin_buf_free,
        .write = twin_write,
        .read = twin_read,
        .weight_new = twin_weight_new,
        .weight_free = twin_weight_free,
        .embed = twin_embed,
        .linear = twin_linear,
        .add_norm = twin_add_norm,
        .ssru = twin_ssru,
        .attention = twin_attention,
        .kv_write = twin_kv_write,
        .topk = twin_topk,
        .status = twin_status};
    t->base.ops = &t->ops;
    t->base.name = t->cpu->name;
    return 0;
}

static void twin_close(struct twin *t)
{
    if (t->cpu)
        t->cpu->ops->buf_free(t->cpu, t->y8);
    free(t->host);
    dg_cpu_close(t->cpu);
}

/* Run every sentence of a line through the engine, and discard the results. */
static int translate_line(const struct dg_translator *tr, struct dg_engine *e, const char *line,
    size_t n, struct dg_error *err)
{
    /* A bundle without SentencePiece takes tokens. */
    struct dg_translate_options o = {
        .search = {.alpha = -1}, .tokens = !dg_bundle_source_spm(dg_translator_bundle(tr))[0]};
    struct dg_job *job = NULL;
    int rc = dg_job_encode(tr, line, n, &o, &job, err);
    for (size_t i = 0; i < (rc ? 0 : dg_job_sentences(job)) && !rc; i++) {
        struct dg_sentence s;
        dg_job_sentence(job, i, &s);
        rc = dg_engine_admit(e, i, &s, err);
        while (!rc && dg_engine_step(e) > 0)
            ;
        for (const struct dg_result *r; (r = dg_engine_poll(e));)
            dg_engine_release(e, r);
    }
    dg_job_free(job);
    return rc;
}

static int run_sentences(
    struct twin *t, const struct dg_translator *tr, char *path, struct dg_error *err)
{
    struct dg_engine *e = NULL;
    struct dg_lines *lines = NULL;
    const char *line = "";
    size_t n, done = 0;
    int rc = dg_lines_open(&path, 1, &lines, err);
    if (!rc)
        rc = dg_engine_open(dg_translator_model(tr), &t->base, NULL, &e, err);
    for (; !rc && !(rc = dg_lines_next(lines, true, &line, &n, err)) && line; done++)
        rc = translate_line(tr, e, line, n, err);
    if (!rc && !done)
        rc = dg_error_set(err, DG_EINVAL, "%s holds no sentence", path);
    dg_engine_close(e);
    dg_lines_close(lines);
    return rc;
}

/* Multiply rows of roughly normal values (sums of 12 uniform ones) by one matrix. */
static int run_random(struct twin *t, const struct pair *p, struct dg_error *err)
{
    enum { ROWS = 32 };
    uint64_t state = 1;
    struct dg_rows x = {.ld = p->K}, y = {.ld = p->N};
    float *rows = dg_alloc(ROWS * p->K, sizeof *rows, "random rows");
    for (size_t i = 0; i < ROWS * p->K; i++) {
        for (int j = 0; j < 12; j++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            rows[i] += (float)(state >> 40) * 0x1p-24f - 0.5f;
        }
    }
    int rc = t->cpu->ops->buf_new(t->cpu, ROWS * p->K, &x.buf, err);
    if (!rc)
        rc = t->cpu->ops->buf_new(t->cpu, ROWS * p->N, &y.buf, err);
    if (!rc) {
        struct dg_linear op = {.w = (const struct dg_weight *)(const void *)p};
        t->cpu->ops->write(t->cpu, rows, x, ROWS, p->K);
        t->ops.linear(&t->base, &op, x, y, ROWS);
    }
    t->cpu->ops->buf_free(t->cpu, x.buf);
    t->cpu->ops->buf_free(t->cpu, y.buf);
    free(rows);
    return rc;
}

/* Run every matrix of `before` that is s8 in `quantised`. */
static int run_matrices(struct twin *t, const struct dg_weights *before, struct dg_error *err)
{
    int rc = 0;
    for (size_t i = 0; i < dg_weights_count(before) && !rc; i++) {
        const struct dg_tensor *w = dg_weights_at(before, i);
        const struct dg_tensor *q = dg_weights_find(t->quantised, w->name);
        if (!q || q->stored[0].type != DG_S8)
            continue;
        struct dg_weight_spec spec = {w->name, DG_USE_MATRIX, w->shape[0], w->shape[1], false,
            w->stored, w->n_stored, .in_place = NULL};
        struct dg_weight *pair;
        rc = t->ops.weight_new(&t->base, &spec, &pair, err);
        if (!rc)
            rc = run_random(t, pair_of(pair), err);
        t->ops.weight_free(&t->base, pair);
    }
    return rc;
}

int dg_layer_errors_measure(const char *bundle, const char *quantised, char *sentences,
    struct dg_layer_errors *out, struct dg_error *err)
{
    struct twin t = {.errors = out};
    struct dg_bundle *q = NULL, *b = NULL;
    struct dg_translator *tr = NULL;
    *out = (struct dg_layer_errors){0};
    int rc = dg_bundle_open(quantised, &q, err);
    if (!rc) {
        t.quantised = dg_bundle_weights(q);
        rc = twin_open(&t, err);
    }
    if (!rc && !sentences) {
        rc = dg_bundle_open(bundle, &b, err);
        if (!rc)
            rc = run_matrices(&t, dg_bundle_weights(b), err);
    } else if (!rc) {
        rc = dg_translator_open(bundle, &t.base, 1024, &tr, err);
        if (!rc)
            rc = run_sentences(&t, tr, sentences, err);
    }
    dg_translator_close(tr);
    dg_bundle_close(b);
    twin_close(&t);
    dg_bundle_close(q);
    return rc;
}

void dg_layer_errors_free(struct dg_layer_errors *e)
{
    free(e->layers);
    *e = (struct dg_layer_errors){0};
}

double dg_layer_error_relative(const struct dg_layer_error *e)
{
    return e->squared > 0 ? sqrt(e->squared_error / e->squared) : 0;
}
