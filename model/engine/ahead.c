/* Steps given ahead: where the device keeps the search's state (kernels/tracks.h), step N+1 is
 * given before step N's candidates have come back, so that the device does not stand still while
 * the host reads, decides and writes lists. The host still decides everything by beam.c, from the
 * same candidates, one step later; the device must have come to the same decision, or it counts as
 * failed.
 *
 * What a step looks like is known without reading: as many rows as the beam has tracks; where each
 * writes its keys and values (dg_live_slot); how many candidates it wants. Who turns out to be
 * finished has had one step too many, which nobody reads; his room is given away at once, for the
 * device does what it is given in order. */
#include "kernels/tracks.h"
#include "model/engine/internal.h"
#include "model/model_internal.h"

#include <assert.h>
#include <stdlib.h>

/* A sentence's part of a step that was given. */
struct part {
    struct dg_live *s; /* NULL: it has left */
    uint32_t row, out, n_in, n_out, want;
};

struct flight {
    struct part *parts; /* [max_sentences] */
    uint32_t n;
};

struct dg_ahead {
    struct dg_tracks *tracks;
    struct flight flights[2]; /* step i is in flights[i % 2] until it was read */
    uint64_t given, read;
    struct dg_tracks_part *parts;         /* [max_sentences] of the next step */
    struct dg_tracks_sentence *newcomers; /* [max_sentences] of the next step */
    int32_t *last;                        /* [max_rows] their tracks' last pieces */
    double *logprob;                      /* [max_rows] likewise */
    int32_t *places;                      /* [max_sentences] free ones, a stack */
    uint32_t n_places;
};

static struct dg_tracks_most most_of(const struct dg_engine *e)
{
    const struct dg_config *c = &e->model->config;
    return (struct dg_tracks_most){.places = e->limits.max_sentences,
        .width = e->max_rows < DG_MAX_BEAM ? e->max_rows : DG_MAX_BEAM,
        .rows = e->max_rows,
        .positions = e->limits.max_target,
        .memory = e->limits.max_source,
        .candidates = e->k_max,
        .Dv = c->Dv,
        .V = c->target_vocab,
        .weights = e->align.probs,
        .H = dg_config_dec_H(c),
        .first_head = e->align.first_head,
        .n_heads = e->align.n_heads,
        .eos = c->eos,
        .never = c->never};
}

int dg_ahead_open(struct dg_engine *e, struct dg_error *err)
{
    const struct dg_track_ops *ops = e->be->ops->tracks;
    const uint32_t n = e->limits.max_sentences;
    struct dg_tracks *tracks = NULL;
    _Static_assert(
        DG_MAX_BEAM <= DG_TRACKS_WIDTH, "a sentence's hypotheses find room in its place");
    if (!ops)
        return 0;
    const struct dg_tracks_most most = most_of(e);
    int rc = ops->open(e->be, &most, &tracks, err);
    if (rc || !tracks)
        return rc;
    struct dg_ahead *a = e->ahead = calloc(1, sizeof *a);
    if (!a) {
        ops->close(e->be, tracks);
        return dg_error_set(err, DG_ENOMEM, "no memory for an engine of %u rows", e->max_rows);
    }
    a->tracks = tracks;
    a->parts = malloc(n * sizeof *a->parts);
    a->newcomers = malloc(n * sizeof *a->newcomers);
    a->last = malloc(e->max_rows * sizeof *a->last);
    a->logprob = malloc(e->max_rows * sizeof *a->logprob);
    a->places = malloc(n * sizeof *a->places);
    for (int i = 0; i < 2; i++)
        a->flights[i].parts = malloc(n * sizeof *a->flights[i].parts);
    if (!a->parts || !a->newcomers || !a->last || !a->logprob || !a->places ||
        !a->flights[0].parts || !a->flights[1].parts)
        return dg_error_set(err, DG_ENOMEM, "no memory for an engine of %u rows", e->max_rows);
    for (; a->n_places < n; a->n_places++)
        a->places[a->n_places] = (int32_t)(n - 1 - a->n_places);
    return 0;
}

void dg_ahead_close(struct dg_engine *e)
{
    struct dg_ahead *a = e->ahead;
    if (!a)
        return;
    e->be->ops->tracks->close(e->be, a->tracks);
    free(a->flights[0].parts);
    free(a->flights[1].parts);
    free(a->parts);
    free(a->newcomers);
    free(a->last);
    free(a->logprob);
    free(a->places);
    free(a);
    e->ahead = NULL;
}

void dg_ahead_forget(struct dg_engine *e, struct dg_live *s)
{
    struct dg_ahead *a = e->ahead;
    if (!a)
        return;
    for (uint64_t i = a->read; s->ahead && i < a->given; i++) {
        struct flight *f = &a->flights[i % 2];
        for (uint32_t p = 0; p < f->n; p++)
            if (f->parts[p].s == s)
                f->parts[p].s = NULL;
    }
    if (s->place >= 0)
        a->places[a->n_places++] = s->place;
    s->place = -1;
    s->tracks = s->ahead = 0;
}

bool dg_ahead_possible(const struct dg_engine *e)
{
    for (const struct dg_live *s = e->live; s; s = s->next)
        if (!s->paused &&
            (s->spelling || s->output || !dg_beam_plain(&s->beam, s->beam.t + s->ahead)))
            return false;
    return true;
}

/* Has the next step a part of the sentence? */
static bool advances(const struct dg_live *s)
{
    return !s->paused && s->beam.t + s->ahead < s->beam.search.max_len;
}

/* The search so far, for the device to go on with; its tracks are those from `track` on. */
static struct dg_tracks_sentence newcomer(struct dg_engine *e, struct dg_live *s, uint32_t track)
{
    struct dg_ahead *a = e->ahead;
    const struct dg_beam *b = &s->beam;
    int32_t *last = a->last + track;
    double *logprob = a->logprob + track;
    assert(!s->ahead && (s->place >= 0 || a->n_places));
    if (s->place < 0)
        s->place = a->places[--a->n_places];
    for (uint32_t r = 0; r < b->n_live; r++) {
        last[r] = dg_beam_last(b, r, e->model->config.start);
        logprob[r] = b->live[r].logprob;
    }
    s->tracks = b->n_live;
    return (struct dg_tracks_sentence){.place = (uint32_t)s->place,
        .n_tracks = b->n_live,
        .t = b->t,
        .memory = s->cross_slots,
        .n_memory = s->n_source,
        .last = last,
        .logprob = logprob,
        .history = s->history[0],
        .history_ld = b->search.max_len};
}

/* Everybody who advances and of whom the device has nothing, or what is old. */
static void place_newcomers(struct dg_engine *e)
{
    struct dg_ahead *a = e->ahead;
    uint32_t n = 0, tracks = 0;
    for (struct dg_live *s = e->live; s; s = s->next)
        if (advances(s) && !s->tracks) {
            a->newcomers[n++] = newcomer(e, s, tracks);
            tracks += s->tracks;
        }
    if (n)
        e->be->ops->tracks->place(e->be, a->tracks, a->newcomers, n);
}

/* A sentence's part of the step that is being given; its rows begin at `row`. */
static struct dg_tracks_part part_of(struct dg_engine *e, struct dg_live *s, uint32_t row)
{
    const struct dg_beam *b = &s->beam;
    const uint32_t t = b->t + s->ahead, want = dg_beam_wants_at(b, t);
    const int32_t force = dg_beam_force_at(b, t);
    for (uint32_t r = 0; r < s->tracks; r++)
        e->slots[row + r] = dg_live_slot(e, s, r, t);
    return (struct dg_tracks_part){.place = (uint32_t)s->place,
        .n_in = s->tracks,
        .n_out = force >= 0 ? s->tracks : b->search.beam,
        .t = t,
        .n_memory = s->n_source,
        .k = want < e->k_max ? want : e->k_max,
        .force = force,
        .greedy = b->search.beam == 1,
        .no_eos = t + 1 < b->search.min_len};
}

/* The next step's parts, of everybody who advances; its rows. */
static uint32_t pack(struct dg_engine *e, struct flight *f)
{
    struct dg_ahead *a = e->ahead;
    uint32_t rows = 0, outs = 0;
    f->n = 0;
    place_newcomers(e);
    for (struct dg_live *s = e->live; s; s = s->next) {
        if (!advances(s))
            continue;
        const struct dg_tracks_part p = a->parts[f->n] = part_of(e, s, rows);
        f->parts[f->n++] = (struct part){s, rows, outs, p.n_in, p.n_out, p.k};
        rows += p.n_in;
        outs += p.n_out;
        s->tracks = p.n_out;
        s->ahead++;
    }
    return rows;
}

/* All ops of a step of M rows, of which the device has made the lists. */
static void run_ops(struct dg_engine *e, size_t M)
{
    const struct dg_model *m = e->model;
    struct dg_pass p = {.be = e->be, .config = &m->config, .M = M};
    struct dg_context c = {.self = {.of = DG_ATTN_STEP_SELF},
        .cross = {.of = DG_ATTN_STEP_MEMORY},
        .pools = e->cache.pools};
    dg_embedding_forward(&p, 1, m->params.tgt_embed, dg_model_positions(m, 1), NULL, NULL, e->ws.x);
    struct dg_rows y = dg_decoder_forward(&p, &m->params, &c, e->ws.x, e->align.slots, 1);
    dg_output_forward(&p, &m->params, y, e->logits);
}

static uint32_t give(struct dg_engine *e)
{
    struct dg_ahead *a = e->ahead;
    const struct dg_track_ops *ops = e->be->ops->tracks;
    struct flight *f = &a->flights[a->given % 2];
    uint32_t rows = pack(e, f);
    size_t M;
    if (!rows)
        return 0;
    const struct dg_tracks_step step = {
        .parts = a->parts, .n_parts = f->n, .n_rows = rows, .slots = e->slots};
    if (ops->begin(e->be, a->tracks, &step, &M))
        run_ops(e, M);
    ops->end(e->be, a->tracks, e->logits);
    a->given++;
    return rows;
}

/* Has the device let the same hypotheses live on? One that is done has none to compare. */
static bool agrees(
    const struct dg_live *s, const struct part *p, const struct dg_tracks_found *found)
{
    const struct dg_beam *b = &s->beam;
    for (uint32_t r = 0; r < b->n_live; r++)
        if (found->parents[p->out + r] != (int32_t)b->parents[r] ||
            found->pieces[p->out + r] != dg_beam_last(b, r, -1))
            return false;
    return b->done || b->n_live == p->n_out || found->pieces[p->out + b->n_live] < 0;
}

static void unlink_live(struct dg_engine *e, struct dg_live *s)
{
    struct dg_live **link = &e->live;
    while (*link != s)
        link = &(*link)->next;
    *link = s->next;
}

/* A sentence's candidates have come: the search's own decision. found NULL: the device failed,
 * there are none. */
static void advance(struct dg_engine *e, struct dg_live *s, const struct part *p,
    const struct dg_tracks_found *found)
{
    struct dg_beam *b = &s->beam;
    for (uint32_t r = 0; r < b->n_live; r++)
        s->history[0][(size_t)r * b->search.max_len + b->t] = dg_live_slot(e, s, r, b->t);
    if (!found) {
        dg_beam_advance(b, &(struct dg_candidates){0});
    } else {
        const size_t at = p->row * found->ld;
        const struct dg_candidates c = {.logprob = found->logprob + at,
            .ids = found->ids + at,
            .k = p->want,
            .ld = found->ld,
            .sources = found->sources + p->row};
        dg_beam_advance(b, &c);
        if (!agrees(s, p, found))
            e->be->ops->tracks->refute(e->be, "which hypotheses live on");
    }
    if (b->done) {
        unlink_live(e, s);
        dg_engine_retire(e, s);
    } else {
        dg_live_reorder(s);
    }
}

/* Read the oldest step; its rows, of sentences that are still there. */
static uint32_t collect(struct dg_engine *e)
{
    struct dg_ahead *a = e->ahead;
    struct flight *f = &a->flights[a->read++ % 2];
    struct dg_tracks_found found;
    const bool whole = e->be->ops->tracks->wait(e->be, a->tracks, &found);
    uint32_t rows = 0;
    for (uint32_t i = 0; i < f->n; i++) {
        struct part *p = &f->parts[i];
        if (!p->s)
            continue;
        p->s->ahead--;
        rows += p->n_in;
        advance(e, p->s, p, whole ? &found : NULL);
    }
    return rows;
}

uint32_t dg_ahead_settle(struct dg_engine *e)
{
    uint32_t rows = 0;
    while (e->ahead->read < e->ahead->given)
        rows += collect(e);
    return rows;
}

uint32_t dg_ahead_step(struct dg_engine *e)
{
    uint32_t rows = give(e);
    if (!rows)
        return dg_ahead_settle(e);
    if (e->ahead->given - e->ahead->read == 2)
        collect(e);
    return rows;
}
