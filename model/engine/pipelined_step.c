/* Pipelined steps: where the device keeps the search's state (kernels/device_search.h), step N+1 is
 * submitted before step N's candidates have come back, so that the device does not idle while the
 * host reads, decides and writes lists. The host still decides everything by beam.c, from the same
 * candidates, one step later; the device must have come to the same decision, or it counts as
 * failed.
 *
 * The shape of a step is known before the previous one is read: how many rows a sentence has (its
 * beam's width, after the first step), where each writes its keys and values (dg_live_slot), how
 * many candidates it wants. A sentence that turns out to be finished has had one step too many,
 * whose results are ignored; its room is reused at once, since the device works in order.
 *
 * The device does not know which bytes form no character (byte_pieces.h). If it keeps one live that
 * the host passes over, the sentence is placed anew; if the host then lacks candidates, it repeats
 * the step itself.
 *
 * Example. A (beam 2) is live, B (beam 1, at most 2 positions) is admitted after call 2. Each
 * call submits one step and reads the one before it:
 *   call   submits             reads    decides
 *   1      A at 0: 1 row       -        -
 *   2      A at 1: 2 rows      step 1   A's two hypotheses after position 0
 *   3      A at 2, B at 0      step 2   A's after position 1: it has finished, and leaves
 *   4      B at 1              step 3   B's after position 0; A's part is ignored
 *   5      -                   step 4   B's after position 1: finished; nothing is left */
#include "model/engine/pipelined_step.h"

#include "kernels/device_search.h"
#include "model/engine/pipelined_internal.h"
#include "model/model_internal.h"

#include <assert.h>
#include <stdlib.h>

static struct dg_device_search_limits limits_of(const struct dg_engine *e)
{
    const struct dg_config *c = &e->model->config;
    return (struct dg_device_search_limits){.places = e->limits.max_sentences,
        .width = e->max_rows < DG_MAX_BEAM ? e->max_rows : DG_MAX_BEAM,
        .rows = e->max_rows,
        .positions = e->limits.max_target,
        .memory = e->limits.max_source,
        .candidates = e->k_max,
        .V = c->target_vocab,
        .weights = e->align.probs,
        .H = dg_config_dec_H(c),
        .first_head = e->align.first_head,
        .n_heads = e->align.n_heads,
        .eos = c->eos,
        .never = c->never};
}

int dg_pipelined_step_open(struct dg_engine *e, struct dg_error *err)
{
    const struct dg_device_search_ops *ops = e->be->ops->device_search;
    const uint32_t n = e->limits.max_sentences;
    struct dg_device_search *search = NULL;
    _Static_assert(
        DG_MAX_BEAM <= DG_DEVICE_SEARCH_WIDTH, "a sentence's hypotheses find room in its place");
    /* An SSRU's states follow their hypotheses by lists that the host makes from its own search. */
    if (!ops || e->model->config.decoder != DG_DECODER_ATTENTION)
        return 0;
    const struct dg_device_search_limits limits = limits_of(e);
    int rc = ops->open(e->be, &limits, &search, err);
    /* A device may leave the search to the host, when its settings say so. */
    if (rc || !search)
        return rc;
    struct dg_pipelined_step *ps = e->pipelined = calloc(1, sizeof *ps);
    if (!ps) {
        ops->close(e->be, search);
        return dg_error_set(err, DG_ENOMEM, "no memory for an engine of %u rows", e->max_rows);
    }
    ps->search = search;
    ps->parts = malloc(n * sizeof *ps->parts);
    ps->newcomers = malloc(n * sizeof *ps->newcomers);
    ps->last = malloc(e->max_rows * sizeof *ps->last);
    ps->logprob = malloc(e->max_rows * sizeof *ps->logprob);
    ps->places = malloc(n * sizeof *ps->places);
    for (int i = 0; i < 2; i++)
        ps->steps[i].parts = malloc(n * sizeof *ps->steps[i].parts);
    if (!ps->parts || !ps->newcomers || !ps->last || !ps->logprob || !ps->places ||
        !ps->steps[0].parts || !ps->steps[1].parts)
        return dg_error_set(err, DG_ENOMEM, "no memory for an engine of %u rows", e->max_rows);
    /* Place 0 on top. */
    for (; ps->n_places < n; ps->n_places++)
        ps->places[ps->n_places] = (int32_t)(n - 1 - ps->n_places);
    return 0;
}

void dg_pipelined_step_close(struct dg_engine *e)
{
    struct dg_pipelined_step *ps = e->pipelined;
    if (!ps)
        return;
    e->be->ops->device_search->close(e->be, ps->search);
    free(ps->steps[0].parts);
    free(ps->steps[1].parts);
    free(ps->parts);
    free(ps->newcomers);
    free(ps->last);
    free(ps->logprob);
    free(ps->places);
    free(ps);
    e->pipelined = NULL;
}

void dg_pipelined_step_forget(struct dg_engine *e, struct dg_live *s)
{
    struct dg_pipelined_step *ps = e->pipelined;
    if (!ps)
        return;
    dg_pipelined_leave(ps, s);
    /* The device works in order: whatever is placed here next is placed after those steps. */
    if (s->place >= 0)
        ps->places[ps->n_places++] = s->place;
    s->place = -1;
}

bool dg_pipelined_step_possible(const struct dg_engine *e)
{
    /* With spelling, a shortlist, sampling and the like, the host must read the candidates before
     * it can choose. One such sentence makes all advance step by step. */
    for (const struct dg_live *s = e->live; s; s = s->next)
        if (!s->paused && (s->spelling || s->output || s->on_host ||
                              !dg_beam_plain(&s->beam, s->beam.t + s->in_flight)))
            return false;
    return true;
}

/* True if the sentence is part of the next step. Not at its length limit: the step in flight ends
 * it. */
static bool advances(const struct dg_live *s)
{
    return !s->paused && s->beam.t + s->in_flight < s->beam.search.max_len;
}

/* Describe a sentence's search so far, for the device to continue; its hypotheses are in ps->last
 * and ps->logprob from `first` on. */
static struct dg_device_search_sentence newcomer(
    struct dg_engine *e, struct dg_live *s, uint32_t first)
{
    struct dg_pipelined_step *ps = e->pipelined;
    const struct dg_beam *b = &s->beam;
    int32_t *last = ps->last + first;
    double *logprob = ps->logprob + first;
    assert(!s->in_flight && (s->place >= 0 || ps->n_places));
    /* A sentence that the host advanced for a while still has its place, with stale contents. */
    if (s->place < 0)
        s->place = ps->places[--ps->n_places];
    for (uint32_t r = 0; r < b->n_live; r++) {
        last[r] = dg_beam_last(b, r, e->model->config.start);
        logprob[r] = b->live[r].logprob;
    }
    s->device_hyps = b->n_live;
    return (struct dg_device_search_sentence){.place = (uint32_t)s->place,
        .n_hyps = b->n_live,
        .t = b->t,
        .memory = s->cross_slots,
        .n_memory = s->n_source,
        .last = last,
        .logprob = logprob,
        .history = s->history[0],
        .history_ld = b->search.max_len};
}

/* Place the sentences that advance and of which the device has no copy, or one from before the host
 * took steps without it. */
static void place_newcomers(struct dg_engine *e)
{
    struct dg_pipelined_step *ps = e->pipelined;
    uint32_t n = 0, hyps = 0;
    for (struct dg_live *s = e->live; s; s = s->next)
        if (advances(s) && !s->device_hyps) {
            ps->newcomers[n++] = newcomer(e, s, hyps);
            hyps += s->device_hyps;
        }
    if (n)
        e->be->ops->device_search->place(e->be, ps->search, ps->newcomers, n);
}

/* A sentence's part of the step being built; its rows begin at `row`. */
static struct dg_device_search_part part_of(struct dg_engine *e, struct dg_live *s, uint32_t row)
{
    const struct dg_beam *b = &s->beam;
    /* The search is one position behind for each step in flight. */
    const uint32_t t = b->t + s->in_flight, want = dg_beam_wants(b, t);
    const int32_t force = dg_beam_force(b, t);
    /* Each row has its own chain of blocks, whichever hypothesis it holds, so the slots of the new
     * keys and values do not depend on which hypotheses live on. */
    for (uint32_t r = 0; r < s->device_hyps; r++)
        e->slots[row + r] = dg_live_slot(e, s, r, t);
    return (struct dg_device_search_part){.place = (uint32_t)s->place,
        .n_in = s->device_hyps,
        /* A forced piece extends every hypothesis; otherwise as many live on as the beam is
         * wide. */
        .n_out = force >= 0 ? s->device_hyps : b->search.beam,
        .t = t,
        .n_memory = s->n_source,
        .k = want < e->k_max ? want : e->k_max,
        .force = force,
        .greedy = b->search.beam == 1,
        .no_eos = t + 1 < b->search.min_len};
}

/* Fill in the parts of the next step for all sentences that advance; returns its rows. */
static uint32_t pack(struct dg_engine *e, struct dg_pipelined_submitted *f)
{
    struct dg_pipelined_step *ps = e->pipelined;
    uint32_t rows = 0, outs = 0;
    f->n = 0;
    /* Place newcomers before the step's own lists are sent, since these name their places. */
    place_newcomers(e);
    for (struct dg_live *s = e->live; s; s = s->next) {
        if (!advances(s))
            continue;
        const struct dg_device_search_part p = ps->parts[f->n] = part_of(e, s, rows);
        f->parts[f->n++] = (struct dg_pipelined_part){s, rows, outs, p.n_in, p.n_out, p.k};
        rows += p.n_in;
        outs += p.n_out;
        /* The next step reads the hypotheses that live on here, before the host knows which they
         * are. */
        s->device_hyps = p.n_out;
        s->in_flight++;
    }
    return rows;
}

/* Run all ops of a step of M rows. The device has made their lists itself. */
static void run_ops(struct dg_engine *e, size_t M)
{
    const struct dg_model *m = e->model;
    struct dg_pass p = {.be = e->be, .config = &m->config, .M = M};
    /* No ids, positions, segments: the device has them from `begin`. */
    struct dg_context c = {.self = {.of = DG_ATTN_STEP_SELF},
        .cross = {.of = DG_ATTN_STEP_MEMORY},
        .pools = e->cache.pools};
    dg_embedding_forward(&p, 1, &m->params, &m->positions, NULL, NULL, e->ws.x);
    struct dg_rows y = dg_decoder_forward(&p, &m->params, &c, e->ws.x, e->align.slots, 1);
    dg_output_forward(&p, &m->params, y, e->logits);
}

static void run_step(struct dg_engine *e, const struct dg_device_search_step *step)
{
    const struct dg_device_search_ops *ops = e->be->ops->device_search;
    struct dg_device_search *search = e->pipelined->search;
    size_t M;
    /* A device that repeats a recorded step runs the ops itself. */
    if (ops->begin(e->be, search, step, &M))
        run_ops(e, M);
    while (!ops->end(e->be, search, e->logits))
        run_ops(e, M);
}

static uint32_t submit(struct dg_engine *e)
{
    struct dg_pipelined_step *ps = e->pipelined;
    struct dg_pipelined_submitted *f = &ps->steps[ps->submitted % 2];
    uint32_t rows = pack(e, f);
    if (!rows)
        return 0;
    const struct dg_device_search_step step = {
        .parts = ps->parts, .n_parts = f->n, .n_rows = rows, .slots = e->slots};
    run_step(e, &step);
    ps->submitted++;
    return rows;
}

void dg_pipelined_step_warm(struct dg_engine *e)
{
    const struct dg_device_search_ops *ops = e->be->ops->device_search;
    struct dg_pipelined_step *ps = e->pipelined;
    struct dg_device_search_found nothing;
    if (!ps)
        return;
    for (uint32_t rows = 0; (rows = ops->next_rows(ps->search, rows)) != 0;) {
        const struct dg_device_search_step step = {
            .parts = ps->parts, .slots = e->slots, .rows = rows};
        for (int i = 0; i < 2; i++) {
            run_step(e, &step);
            ops->wait(e->be, ps->search, &nothing);
        }
    }
}

uint32_t dg_pipelined_step_run(struct dg_engine *e)
{
    uint32_t rows = submit(e);
    /* No sentence advances: all are paused, finished, or at their last position, whose step the
     * drain reads. */
    if (!rows)
        return dg_pipelined_step_drain(e);
    /* The very first step is not read yet, so that the device always has two. */
    if (e->pipelined->submitted - e->pipelined->collected == 2)
        dg_pipelined_collect(e);
    return rows;
}
