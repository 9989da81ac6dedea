/* A search whose state stays on the device (kernels/device_search.h). A step is one copy to the
 * device (which sentences advance, where their keys and values go), a kernel that makes the ops'
 * lists from it, the ops, the best candidates, a kernel that selects the hypotheses that live on,
 * and one copy back. An event tells when it has arrived, so the host need not wait for it before it
 * submits the next step. Rows are padded to few different numbers, and all lists have fixed
 * addresses, so that a step can be recorded (graph.c). */
#include "kernels/cuda/beam.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 256, LEAST_ROWS = 4 };

/* Memory that is cut into arrays; p NULL: only their sizes are added up. */
struct cut {
    unsigned char *p;
    size_t at;
};

static void *take(struct cut *c, size_t n, size_t size)
{
    const size_t at = c->at;
    c->at += (n * size + ALIGN - 1) / ALIGN * ALIGN;
    return c->p ? c->p + at : NULL;
}

static size_t lay_out(struct dg_device_search *t, unsigned char *device)
{
    const struct dg_device_search_limits *m = &t->most;
    const size_t hyps = (size_t)m->places * m->width, R = m->rows;
    struct cut c = {device, 0};
    struct dg_k_device_search *k = &t->k;
    /* State that lasts from step to step, [places,width,...]. */
    k->total = take(&c, hyps, sizeof *k->total);
    k->last = take(&c, hyps, sizeof *k->last);
    k->history = take(&c, hyps * m->positions, sizeof *k->history);
    k->memories = take(&c, (size_t)m->places * m->memory, sizeof *k->memories);
    /* Lists of one step, [rows]. */
    k->ids = take(&c, R, sizeof *k->ids);
    k->pos = take(&c, R, sizeof *k->pos);
    k->force = take(&c, R, sizeof *k->force);
    k->k = take(&c, R, sizeof *k->k);
    k->self = take(&c, R, sizeof *k->self);
    k->cross = take(&c, R, sizeof *k->cross);
    k->cross_tiles = take(&c, R, sizeof *k->cross_tiles);
    t->topk_parts = take(&c, dg_topk_parts(R, m->V), 1);
    /* What is sent, and what comes back. */
    const size_t lists = c.at;
    k->step = take(&c, 1, sizeof *k->step);
    k->given = take(&c, R, sizeof *k->given);
    k->parts = take(&c, m->places, sizeof *k->parts);
    t->sent_bytes = c.at - lists;
    k->parents = take(&c, R, sizeof *k->parents);
    k->pieces = take(&c, R, sizeof *k->pieces);
    k->sources = take(&c, R, sizeof *k->sources);
    k->candidates = take(&c, 2 * R * m->candidates, sizeof *k->candidates);
    t->found_bytes = c.at - lists - t->sent_bytes;
    return c.at;
}

/* The host's copy, in a step's pinned memory, of what the device has at p. */
static void *twin(
    const struct dg_device_search *t, const struct dg_step_buffers *buffers, const void *p)
{
    return buffers->sent + ((const unsigned char *)p - (const unsigned char *)t->k.step);
}

static void search_close(struct dg_backend *be, struct dg_device_search *t)
{
    struct dg_cuda *cu = dg_cuda_of(be);
    if (!t)
        return;
    /* Steps in flight write to memory that is freed here. */
    dg_cuda_here(cu);
    dg_cuda_wait(cu);
    dg_graphs_close(t);
    for (int i = 0; i < 2; i++)
        if (t->buffers[i].arrived)
            cudaEventDestroy(t->buffers[i].arrived);
    cudaFreeHost(t->pinned);
    dg_cuda_release(cu, t->device);
    free(t);
}

/* Pinned memory and events for both buffers: one is filled while the other is in flight. */
static void open_buffers(struct dg_cuda *cu, struct dg_device_search *t)
{
    const size_t bytes = t->sent_bytes + t->found_bytes;
    void *pinned = NULL;
    if (dg_cuda_ok(cu, cudaMallocHost(&pinned, 2 * bytes), "pinned memory for steps"))
        t->pinned = pinned;
    for (int i = 0; i < 2 && t->pinned; i++) {
        t->buffers[i].sent = t->pinned + (size_t)i * bytes;
        dg_cuda_ok(cu, dg_cuda_event(cu, &t->buffers[i].arrived), "an event for steps");
    }
}

static int search_open(struct dg_backend *be, const struct dg_device_search_limits *most,
    struct dg_device_search **out, struct dg_error *err)
{
    struct dg_cuda *cu = dg_cuda_of(be);
    *out = NULL;
    assert(most->width <= DG_DEVICE_SEARCH_WIDTH && most->width <= most->rows);
    assert(dg_k_rows_of(most->weights).type == DG_F32);
    /* *out stays NULL: the host keeps the search. */
    if (cu->host_search)
        return DG_OK;
    if (!dg_cuda_alive(cu))
        return dg_cuda_status(be, err);
    struct dg_device_search *t = calloc(1, sizeof *t);
    if (!t)
        return dg_error_set(err, DG_ENOMEM, "no memory for a search on %s", cu->name);
    t->most = *most;
    t->k = (struct dg_k_device_search){.width = most->width,
        .positions = most->positions,
        .memory = most->memory,
        .eos = most->eos,
        .never = most->never,
        .weights = dg_k_rows_of(most->weights).p,
        .H = most->H,
        .first_head = most->first_head,
        .n_heads = most->n_heads};
    const size_t bytes = lay_out(t, NULL); /* only counts */
    t->device = dg_cuda_alloc(cu, bytes);
    if (!t->device) {
        search_close(be, t);
        return dg_error_set(err, DG_ENOMEM,
            "no memory on %s for the search's %zu bytes (%zu bytes are held)", cu->name, bytes,
            cu->memory_bytes);
    }
    lay_out(t, t->device);
    dg_cuda_ok(cu, cudaMemsetAsync(t->device, 0, bytes, cu->stream), "clearing a search");
    open_buffers(cu, t);
    if (!dg_cuda_alive(cu)) {
        search_close(be, t);
        return dg_cuda_status(be, err);
    }
    *out = t;
    return DG_OK;
}

/* Write a sentence's initial state to totals and lists, at the offsets in k; returns its head. */
static struct dg_k_place fill_place(
    const struct dg_device_search_sentence *s, struct dg_k_place k, double *totals, int32_t *lists)
{
    const size_t n = s->n_hyps;
    int32_t *last = lists + k.lists, *memory = last + n, *history = memory + s->n_memory;
    memcpy(totals + k.total, s->logprob, n * sizeof *totals);
    memcpy(last, s->last, n * sizeof *last);
    memcpy(memory, s->memory, s->n_memory * sizeof *memory);
    for (size_t r = 0; r < n; r++)
        memcpy(history + r * s->t, s->history + r * s->history_ld, s->t * sizeof *history);
    return (struct dg_k_place){s->place, s->n_hyps, s->t, s->n_memory, k.total, k.lists};
}

/* One copy and one launch for all: totals follow the heads in memory, lists the totals. */
static void search_place(struct dg_backend *be, struct dg_device_search *t,
    const struct dg_device_search_sentence *s, uint32_t n)
{
    DG_RANGE("place sentences");
    struct dg_cuda *cu = dg_cuda_of(be);
    size_t hyps = 0, numbers = 0;
    for (uint32_t i = 0; i < n; i++) {
        assert(s[i].place < t->most.places && s[i].n_hyps && s[i].n_hyps <= t->most.width);
        assert(s[i].t < t->most.positions && s[i].n_memory <= t->most.memory);
        hyps += s[i].n_hyps;
        numbers += s[i].n_memory + (size_t)s[i].n_hyps * (1 + s[i].t);
    }
    const size_t bytes =
        n * sizeof(struct dg_k_place) + hyps * sizeof(double) + numbers * sizeof(int32_t);
    if (!n || !dg_cuda_stage_reserve(cu, bytes, 1))
        return;
    /* Heads first, then doubles, then 32-bit numbers: each aligned by what is before it. */
    struct dg_k_place *heads = dg_cuda_stage_next(cu), at = {0};
    double *totals = (double *)(void *)(heads + n);
    int32_t *lists = (int32_t *)(void *)(totals + hyps);
    for (uint32_t i = 0; i < n; i++) {
        heads[i] = fill_place(&s[i], at, totals, lists);
        at.total += s[i].n_hyps;
        at.lists += s[i].n_memory + s[i].n_hyps * (1 + s[i].t);
    }
    struct dg_k_places k = {.places = dg_cuda_stage_send(cu, t, bytes), .n = n};
    k.totals = (const double *)(const void *)(k.places + n);
    k.lists = (const int32_t *)(const void *)(k.totals + hyps);
    dg_launch_place(cu, &t->k, &k);
}

_Static_assert(sizeof(struct dg_k_place) % sizeof(double) == 0, "totals follow the heads");

/* Number of rows that are run for n: 4, 8, 16, 24, 32, 48, 64, 96, ... */
static uint32_t pad_rows(const struct dg_device_search *t, uint32_t n)
{
    uint32_t M = LEAST_ROWS;
    /* Only few different numbers: each is recorded once, and chooses its products' algorithms
     * once. */
    while (M < n)
        M = M < 16 ? 2 * M : M & (M - 1) ? M / 3 * 4 : M + M / 2;
    return M < t->most.rows ? M : t->most.rows;
}

static uint32_t search_next_rows(const struct dg_device_search *t, uint32_t M)
{
    return M < t->most.rows ? pad_rows(t, M + 1) : 0;
}

/* Write the step in the form in which it is sent; returns its bytes. */
static size_t fill(struct dg_device_search *t, const struct dg_device_search_step *step,
    struct dg_step_buffers *buffers)
{
    struct dg_k_step *head = twin(t, buffers, t->k.step);
    struct dg_k_part *parts = twin(t, buffers, t->k.parts);
    uint32_t rows = 0, outs = 0, stride = 1;
    for (uint32_t i = 0; i < step->n_parts; i++) {
        const struct dg_device_search_part *p = &step->parts[i];
        assert(p->n_in && p->n_in <= t->most.width && p->n_out && p->n_out <= t->most.width);
        assert(p->place < t->most.places && p->t < t->most.positions && p->k &&
               p->k <= t->most.candidates);
        parts[i] = (struct dg_k_part){*p, rows, outs};
        rows += p->n_in;
        outs += p->n_out;
        stride = p->k > stride ? p->k : stride;
    }
    assert(rows == step->n_rows && rows <= t->most.rows && outs <= t->most.rows);
    memcpy(twin(t, buffers, t->k.given), step->slots, rows * sizeof *step->slots);
    /* The stride of the candidates that come back: as narrow as this step allows. */
    *head = (struct dg_k_step){step->n_parts, rows, stride};
    return (size_t)((unsigned char *)(parts + step->n_parts) - buffers->sent);
}

static bool search_begin(struct dg_backend *be, struct dg_device_search *t,
    const struct dg_device_search_step *step, size_t *M)
{
    DG_RANGE("begin step");
    struct dg_cuda *cu = dg_cuda_of(be);
    struct dg_step_buffers *buffers = &t->buffers[t->given % 2];
    assert(!cu->step && t->given - t->waited < 2);
    cu->step = t;
    *M = t->M = pad_rows(t, step->n_rows > step->rows ? step->n_rows : step->rows);
    const size_t bytes = fill(t, step, buffers);
    /* Sent outside the recording: its source changes from step to step, its target does not. */
    if (!dg_cuda_alive(cu) ||
        !dg_cuda_copy(cu, (void *)t->k.step, buffers->sent, bytes, cudaMemcpyHostToDevice,
            "sending a step") ||
        !dg_graph_begin(cu, t))
        return false;
    dg_launch_begin(cu, &t->k, t->M);
    return dg_cuda_alive(cu);
}

/* The ops that end a step. */
static void select_candidates(struct dg_cuda *cu, struct dg_device_search *t, struct dg_rows logits)
{
    const struct dg_k_topk top = {.logits = dg_k_rows_of(logits),
        .M = t->M,
        .V = t->most.V,
        .k = t->k.k,
        .force = t->k.force,
        .stride = &t->k.step->stride,
        .candidates = t->k.candidates,
        .parts = t->topk_parts};
    if (!dg_cuda_alive(cu))
        return;
    dg_launch_topk(cu, &top);
    dg_launch_select(cu, &t->k, t->M);
}

static bool search_end(struct dg_backend *be, struct dg_device_search *t, struct dg_rows logits)
{
    DG_RANGE("end step");
    struct dg_cuda *cu = dg_cuda_of(be);
    const struct dg_step_buffers *buffers = &t->buffers[t->given % 2];
    const struct dg_k_step *head = twin(t, buffers, t->k.step);
    const unsigned char *end =
        (unsigned char *)(t->k.candidates + 2 * (size_t)head->n_rows * head->stride);
    /* A step that is repeated has these ops in its recording. */
    if (!t->record || !t->record->exec)
        select_candidates(cu, t, logits);
    if (!dg_graph_end(cu, t)) {
        t->record = NULL;
        dg_launch_begin(cu, &t->k, t->M);
        return false;
    }
    if (dg_cuda_alive(cu) && dg_cuda_copy(cu, twin(t, buffers, t->k.parents), t->k.parents,
                                 (size_t)(end - (unsigned char *)t->k.parents),
                                 cudaMemcpyDeviceToHost, "fetching a step's candidates"))
        dg_cuda_ok(cu, cudaEventRecord(buffers->arrived, cu->stream), "an event after a step");
    /* Ops take their lists from the host again; the event says when the copy has arrived. */
    cu->step = NULL;
    t->given++;
    return true;
}

static bool search_wait(
    struct dg_backend *be, struct dg_device_search *t, struct dg_device_search_found *found)
{
    DG_RANGE("wait for a step");
    struct dg_cuda *cu = dg_cuda_of(be);
    assert(t->waited < t->given);
    const struct dg_step_buffers *buffers = &t->buffers[t->waited++ % 2];
    const struct dg_k_step *head = twin(t, buffers, t->k.step);
    if (!dg_cuda_alive(cu) || !dg_cuda_reach(cu, buffers->arrived, "waiting for a step"))
        return false;
    found->parents = twin(t, buffers, t->k.parents);
    found->pieces = twin(t, buffers, t->k.pieces);
    found->sources = twin(t, buffers, t->k.sources);
    /* [n_rows,2,stride]: log-probabilities before ids. */
    found->logprob = twin(t, buffers, t->k.candidates);
    found->ids = (const int32_t *)(const void *)(found->logprob + head->stride);
    found->ld = 2 * (size_t)head->stride;
    return true;
}

static void search_refute(struct dg_backend *be, const char *what)
{
    struct dg_error err = {0};
    dg_error_set(
        &err, DG_EINTERNAL, "its search came to another decision than the host's: %s", what);
    dg_cuda_fail(dg_cuda_of(be), &err);
}

const struct dg_device_search_ops dg_cuda_device_search_ops = {
    .open = search_open,
    .close = search_close,
    .next_rows = search_next_rows,
    .place = search_place,
    .begin = search_begin,
    .end = search_end,
    .wait = search_wait,
    .refute = search_refute,
};
