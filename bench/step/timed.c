#include "bench/step/timed.h"

#include "base/clock.h"
#include "kernels/device_search.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES_MAX = 64, WEIGHTS_MAX = 2048 };

struct named {
    const struct dg_weight *w;
    char name[48];
    size_t N, K;
    double bytes;
};

struct timed {
    struct dg_backend base; /* must be first */
    struct dg_backend *inner;
    enum dg_timed_phase phase;
    uint32_t passes; /* encoder passes that are still to come */
    struct named weights[WEIGHTS_MAX];
    size_t n_weights;
    const struct named *last; /* the last product: says which attention follows */
    struct dg_timed_entry entries[ENTRIES_MAX];
    size_t n_entries;
    struct dg_ops ops;
    struct dg_device_search_ops search;
};

static struct timed *timed_of(struct dg_backend *be)
{
    return (struct timed *)be;
}

/* Find or add the entry of this name in this phase; a full table shares its last one. */
static struct dg_timed_entry *entry(struct timed *t, const char *name)
{
    size_t i = 0;
    while (i < t->n_entries &&
           (t->entries[i].phase != t->phase || strcmp(t->entries[i].name, name) != 0))
        i++;
    if (i < t->n_entries)
        return &t->entries[i];
    if (t->n_entries == ENTRIES_MAX)
        return &t->entries[ENTRIES_MAX - 1];
    struct dg_timed_entry *e = &t->entries[t->n_entries++];
    *e = (struct dg_timed_entry){.phase = t->phase};
    snprintf(e->name, sizeof e->name, "%s", name);
    return e;
}

static struct dg_timed_entry *count(struct timed *t, const char *name, uint64_t start)
{
    struct dg_timed_entry *e = entry(t, name);
    e->calls++;
    e->ns += dg_clock_ns() - start;
    return e;
}

static int buf_new(struct dg_backend *be, size_t n, struct dg_buf **out, struct dg_error *err)
{
    struct dg_backend *inner = timed_of(be)->inner;
    return inner->ops->buf_new(inner, n, out, err);
}

static int buf_new_wide(struct dg_backend *be, size_t n, struct dg_buf **out, struct dg_error *err)
{
    struct dg_backend *inner = timed_of(be)->inner;
    return inner->ops->buf_new_wide(inner, n, out, err);
}

static int kv_new(
    struct dg_backend *be, size_t n, enum dg_type type, struct dg_buf **out, struct dg_error *err)
{
    struct dg_backend *inner = timed_of(be)->inner;
    if (!inner->ops->kv_new)
        return inner->ops->buf_new(inner, n, out, err);
    return inner->ops->kv_new(inner, n, type, out, err);
}

static void buf_free(struct dg_backend *be, struct dg_buf *buf)
{
    struct dg_backend *inner = timed_of(be)->inner;
    inner->ops->buf_free(inner, buf);
}

static void write_rows(
    struct dg_backend *be, const float *src, struct dg_rows y, size_t M, size_t N)
{
    struct dg_backend *inner = timed_of(be)->inner;
    inner->ops->write(inner, src, y, M, N);
}

static void read_rows(struct dg_backend *be, struct dg_rows x, size_t M, size_t N, float *dst)
{
    struct dg_backend *inner = timed_of(be)->inner;
    inner->ops->read(inner, x, M, N, dst);
}

/* "dec.3.cross.q_w" is remembered as "cross.q_w". */
static void name_weight(struct named *n, const char *name)
{
    const char *dot = strchr(name, '.');
    if (dot && isdigit((unsigned char)dot[1]) && (dot = strchr(dot + 1, '.')))
        name = dot + 1;
    snprintf(n->name, sizeof n->name, "%s", name);
}

static int weight_new(struct dg_backend *be, const struct dg_weight_spec *spec,
    struct dg_weight **out, struct dg_error *err)
{
    struct timed *t = timed_of(be);
    int rc = t->inner->ops->weight_new(t->inner, spec, out, err);
    if (rc || t->n_weights == WEIGHTS_MAX)
        return rc;
    struct named *n = &t->weights[t->n_weights++];
    bool int8 = false;
    for (size_t i = 0; i < spec->n_stored; i++)
        int8 = int8 || spec->stored[i].type == DG_S8;
    *n = (struct named){.w = *out, .N = spec->N, .K = spec->K};
    n->bytes = (double)spec->N * (double)spec->K * (int8 ? 1 : 4);
    name_weight(n, spec->name);
    return 0;
}

static const struct named *find_weight(const struct timed *t, const struct dg_weight *w)
{
    for (size_t i = 0; i < t->n_weights; i++)
        if (t->weights[i].w == w)
            return &t->weights[i];
    return NULL;
}

static int weight_join(struct dg_backend *be, struct dg_weight *const *parts, size_t n,
    struct dg_weight **out, struct dg_error *err)
{
    struct timed *t = timed_of(be);
    const int rc = t->inner->ops->weight_join(t->inner, parts, n, out, err);
    if (rc || t->n_weights == WEIGHTS_MAX)
        return rc;
    const struct named *first = find_weight(t, parts[0]);
    struct named all = first ? *first : (struct named){0};
    all.w = *out;
    all.N *= n;
    all.bytes *= (double)n;
    t->weights[t->n_weights++] = all;
    return 0;
}

static void weight_free(struct dg_backend *be, struct dg_weight *w)
{
    struct dg_backend *inner = timed_of(be)->inner;
    inner->ops->weight_free(inner, w);
}

static void embed(struct dg_backend *be, const struct dg_embed *op, struct dg_rows y, size_t M)
{
    struct timed *t = timed_of(be);
    t->phase = t->passes ? DG_TIMED_ENCODE : DG_TIMED_STEP;
    t->passes -= t->passes > 0;
    uint64_t start = dg_clock_ns();
    t->inner->ops->embed(t->inner, op, y, M);
    count(t, "embedding", start);
}

static void linear(
    struct dg_backend *be, const struct dg_linear *op, struct dg_rows x, struct dg_rows y, size_t M)
{
    struct timed *t = timed_of(be);
    const struct named *w = find_weight(t, op->w);
    uint64_t start = dg_clock_ns();
    t->inner->ops->linear(t->inner, op, x, y, M);
    struct dg_timed_entry *e = count(t, w ? w->name : "product", start);
    t->last = w;
    if (w) {
        e->macs += (double)M * (double)w->N * (double)w->K;
        e->bytes += w->bytes;
    }
}

static void add_norm(struct dg_backend *be, const struct dg_norm *op, struct dg_rows x,
    struct dg_rows r, struct dg_rows y, size_t M, size_t D)
{
    struct timed *t = timed_of(be);
    uint64_t start = dg_clock_ns();
    t->inner->ops->add_norm(t->inner, op, x, r, y, M, D);
    count(t, "residual + norm", start);
}

static void ssru(struct dg_backend *be, const struct dg_ssru *op, struct dg_rows z,
    struct dg_rows y, size_t M, size_t D)
{
    struct timed *t = timed_of(be);
    uint64_t start = dg_clock_ns();
    t->inner->ops->ssru(t->inner, op, z, y, M, D);
    count(t, "ssru", start);
}

static void attention(
    struct dg_backend *be, const struct dg_attention *op, struct dg_rows q, struct dg_rows out)
{
    struct timed *t = timed_of(be);
    bool cross = t->last && !strncmp(t->last->name, "cross", 5);
    uint64_t start = dg_clock_ns();
    t->inner->ops->attention(t->inner, op, q, out);
    count(t, cross ? "cross attention" : "self attention", start);
}

static void kv_write(struct dg_backend *be, struct dg_rows x, struct dg_rows pool,
    const int32_t *slots, size_t M, size_t N)
{
    struct timed *t = timed_of(be);
    uint64_t start = dg_clock_ns();
    t->inner->ops->kv_write(t->inner, x, pool, slots, M, N);
    count(t, "keys, values to cache", start);
}

static void topk(struct dg_backend *be, const struct dg_topk *op, struct dg_rows logits, size_t M)
{
    struct timed *t = timed_of(be);
    uint64_t start = dg_clock_ns();
    t->inner->ops->topk(t->inner, op, logits, M);
    count(t, "log-softmax + best", start);
}

static int status(struct dg_backend *be, struct dg_error *err)
{
    struct dg_backend *inner = timed_of(be)->inner;
    return inner->ops->status(inner, err);
}

static void use_threads(struct dg_backend *be, int n)
{
    struct dg_backend *inner = timed_of(be)->inner;
    if (inner->ops->use_threads)
        inner->ops->use_threads(inner, n);
}

static void side_begin(struct dg_backend *be)
{
    struct dg_backend *inner = timed_of(be)->inner;
    inner->ops->side_begin(inner);
}

static uint32_t side_end(struct dg_backend *be)
{
    struct dg_backend *inner = timed_of(be)->inner;
    return inner->ops->side_end(inner);
}

static bool side_done(struct dg_backend *be, uint32_t number)
{
    struct dg_backend *inner = timed_of(be)->inner;
    return inner->ops->side_done(inner, number);
}

static void side_join(struct dg_backend *be, uint32_t number)
{
    struct dg_backend *inner = timed_of(be)->inner;
    inner->ops->side_join(inner, number);
}

static int search_open(struct dg_backend *be, const struct dg_device_search_limits *most,
    struct dg_device_search **out, struct dg_error *err)
{
    struct dg_backend *inner = timed_of(be)->inner;
    return inner->ops->device_search->open(inner, most, out, err);
}

static void search_close(struct dg_backend *be, struct dg_device_search *search)
{
    struct dg_backend *inner = timed_of(be)->inner;
    inner->ops->device_search->close(inner, search);
}

static void search_place(struct dg_backend *be, struct dg_device_search *search,
    const struct dg_device_search_sentence *s, uint32_t n)
{
    struct timed *t = timed_of(be);
    t->phase = DG_TIMED_STEP;
    uint64_t start = dg_clock_ns();
    t->inner->ops->device_search->place(t->inner, search, s, n);
    count(t, "sentences to the device", start);
}

static bool search_begin(struct dg_backend *be, struct dg_device_search *search,
    const struct dg_device_search_step *step, size_t *M)
{
    struct timed *t = timed_of(be);
    t->phase = DG_TIMED_STEP;
    uint64_t start = dg_clock_ns();
    bool run = t->inner->ops->device_search->begin(t->inner, search, step, M);
    count(t, "step's beginning", start);
    return run;
}

static bool search_end(
    struct dg_backend *be, struct dg_device_search *search, struct dg_rows logits)
{
    struct timed *t = timed_of(be);
    uint64_t start = dg_clock_ns();
    bool whole = t->inner->ops->device_search->end(t->inner, search, logits);
    count(t, "step's end", start);
    return whole;
}

static bool search_wait(
    struct dg_backend *be, struct dg_device_search *search, struct dg_device_search_found *found)
{
    struct timed *t = timed_of(be);
    uint64_t start = dg_clock_ns();
    bool whole = t->inner->ops->device_search->wait(t->inner, search, found);
    count(t, "waiting for a step", start);
    return whole;
}

static void search_refute(struct dg_backend *be, const char *what)
{
    struct dg_backend *inner = timed_of(be)->inner;
    inner->ops->device_search->refute(inner, what);
}

static const struct dg_device_search_ops search_ops = {.open = search_open,
    .close = search_close,
    .place = search_place,
    .begin = search_begin,
    .end = search_end,
    .wait = search_wait,
    .refute = search_refute};

int dg_timed_open(struct dg_backend *inner, struct dg_backend **out, struct dg_error *err)
{
    struct timed *t = calloc(1, sizeof *t);
    *out = NULL;
    if (!t)
        return dg_error_set(err, DG_ENOMEM, "no memory for a timed backend");
    t->ops = (struct dg_ops){.device = inner->ops->device,
        .on_host = inner->ops->on_host,
        .short_products = inner->ops->short_products,
        .busy_rows = inner->ops->busy_rows,
        .step_rows = inner->ops->step_rows,
        .buf_new = buf_new,
        .buf_new_wide = buf_new_wide,
        .kv_new = kv_new,
        .buf_free = buf_free,
        .write = write_rows,
        .read = read_rows,
        .weight_new = weight_new,
        .weight_free = weight_free,
        .embed = embed,
        .linear = linear,
        .add_norm = add_norm,
        .ssru = ssru,
        .attention = attention,
        .kv_write = kv_write,
        .topk = topk,
        .status = status,
        .device_search = inner->ops->device_search ? &t->search : NULL,
        .weight_join = inner->ops->weight_join ? weight_join : NULL,
        .side_begin = inner->ops->side_begin ? side_begin : NULL,
        .side_end = side_end,
        .side_done = side_done,
        .side_join = side_join,
        .use_threads = use_threads,
        .close = dg_timed_close};
    t->search = search_ops;
    if (inner->ops->device_search)
        t->search.next_rows = inner->ops->device_search->next_rows;
    t->inner = inner;
    t->base.ops = &t->ops;
    t->base.name = inner->name;
    *out = &t->base;
    return 0;
}

void dg_timed_close(struct dg_backend *be)
{
    free(be);
}

void dg_timed_expect_encoder(struct dg_backend *be, uint32_t passes)
{
    timed_of(be)->passes = passes;
}

void dg_timed_reset(struct dg_backend *be)
{
    timed_of(be)->n_entries = 0;
}

size_t dg_timed_entries(struct dg_backend *be, const struct dg_timed_entry **out)
{
    *out = timed_of(be)->entries;
    return timed_of(be)->n_entries;
}
