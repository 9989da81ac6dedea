/* One engine step: encode new sentences (encode.c), then advance every live sentence that is not
 * paused by one position. No allocation, no lock. */
#include "model/engine/candidates.h"
#include "model/engine/constrained.h"
#include "model/engine/encode.h"
#include "model/engine/internal.h"
#include "model/engine/pipelined_step.h"
#include "model/model_internal.h"

#include <math.h>
#include <string.h>

/* Fill in the rows of one sentence, from row M on: what they read and where they write. Returns the
 * row after them. Marks a device's copy of its search as stale. */
static uint32_t pack_rows(struct dg_engine *e, struct dg_live *s, uint32_t M, size_t n_cross)
{
    const struct dg_attn_seg *before = n_cross ? &e->cross_segs[n_cross - 1] : NULL;
    struct dg_beam *b = &s->beam;
    uint32_t want = dg_beam_wants(b, b->t);
    int32_t force = dg_beam_force(b, b->t);
    const uint32_t H = dg_config_dec_H(&e->model->config);
    s->device_hyps = 0;
    e->cross_segs[n_cross] = (struct dg_attn_seg){.q0 = M,
        .n_q = b->n_live,
        .n_k = s->n_source,
        .slots = s->cross_slots,
        .probs = before ? before->probs + (size_t)H * before->n_q * before->n_k : 0};
    for (uint32_t r = 0; r < b->n_live; r++, M++) {
        int32_t *history = s->history[0] + (size_t)r * b->search.max_len;
        if (e->states.pools)
            dg_state_pool_step(
                &e->states, M, s->states[r], b->t ? s->states[b->parents[r]] : -1, b->t);
        else
            history[b->t] = dg_live_slot(e, s, r, b->t);
        e->ids[M] = dg_beam_last(b, r, e->model->config.start);
        e->pos[M] = (int32_t)b->t;
        e->segs[M] = (struct dg_attn_seg){.q0 = M, .n_q = 1, .n_k = b->t + 1, .slots = history};
        e->want[M] = want < e->k_max ? want : e->k_max;
        e->force[M] = force;
    }
    return M;
}

/* Read the logits of row M into e->row [V]. For a sentence with a shortlist, the topk op has left
 * only the list's logits, side by side: they move to their ids, all others become -inf. */
static void read_row(struct dg_engine *e, const struct dg_live *s, uint32_t M)
{
    const struct dg_output_rows *list = s->output;
    const uint32_t V = e->model->config.target_vocab;
    e->be->ops->read(e->be, dg_rows_from(e->logits, M), 1, list ? list->n : V, e->row);
    for (uint32_t i = list ? list->n : 0, end = V; i-- > 0;) {
        const uint32_t to = (uint32_t)list->ids[i]; /* >= i, since ids ascend */
        const float x = e->row[i];
        while (end > to + 1)
            e->row[--end] = -INFINITY;
        e->row[end = to] = x;
    }
    for (uint32_t i = 0; list && i < (uint32_t)list->ids[0]; i++)
        e->row[i] = -INFINITY;
}

/* The constraints under which row r of s chooses. */
static struct dg_choice choice_of(const struct dg_live *s, uint32_t r)
{
    const struct dg_beam *b = &s->beam;
    return (struct dg_choice){.search = &b->search,
        .spelling = s->spelling,
        .bytes = &b->bytes,
        .ids = b->live[r].ids,
        .n = b->t,
        .n_prefix = b->n_prefix,
        .n_lead = b->n_lead,
        .eos = b->eos,
        .never = b->never,
        .key = s->key};
}

/* Replace the topk op's candidates of row M by those of choose.c. */
static void choose_row(
    struct dg_engine *e, const struct dg_live *s, const struct dg_choice *c, uint32_t M)
{
    const size_t at = (size_t)M * e->k_max;
    read_row(e, s, M);
    dg_choose(
        c, e->row, e->model->config.target_vocab, e->want[M], e->top_logprob + at, e->top_ids + at);
}

/* Choose candidates by choose.c for the rows of s from M on that are sampled or not yet spelt. */
static void choose(struct dg_engine *e, struct dg_live *s, uint32_t M)
{
    struct dg_beam *b = &s->beam;
    bool spelt = true;
    for (uint32_t r = 0; r < b->n_live; r++, M++) {
        struct dg_choice c = choice_of(s, r);
        if (s->spelling) {
            c.state = dg_spelling_state(s->spelling, c.ids + b->n_prefix, c.n - b->n_prefix);
            spelt = spelt && c.state == s->spelling->n_states;
            if (c.state == s->spelling->n_states && b->search.sampling.temperature <= 0)
                continue;
        }
        choose_row(e, s, &c, M);
    }
    if (spelt) /* every row is spelt, and so are their descendants */
        s->spelling = NULL;
}

/* Find the candidates that the terms of s need in its rows from M on, with their log-probabilities
 * in the whole softmax; its log total follows from the row's best candidate. */
static void find_needed(struct dg_engine *e, const struct dg_live *s, uint32_t M)
{
    for (uint32_t r = 0; r < s->beam.n_live; r++, M++) {
        struct dg_needed *needed = &e->needed[r];
        const int32_t best = e->top_ids[(size_t)M * e->k_max];
        needed->n = best < 0 ? 0 : dg_constrained_wants(&s->beam, r, needed->ids);
        if (!needed->n)
            continue;
        read_row(e, s, M);
        const float total = e->row[best] - e->top_logprob[(size_t)M * e->k_max];
        for (uint32_t i = 0; i < needed->n; i++)
            needed->logprob[i] = e->row[needed->ids[i]] - total;
    }
}

/* Rows of s whose candidates are too few once bytes are passed over get the best of all allowed
 * pieces instead. */
static void keep_characters(
    struct dg_engine *e, const struct dg_live *s, const struct dg_candidates *c, uint32_t M)
{
    const uint32_t rows = dg_beam_short(&s->beam, c);
    for (uint32_t r = 0; rows && r < s->beam.n_live; r++)
        if (rows >> r & 1) {
            struct dg_choice of_row = choice_of(s, r);
            of_row.spelling = NULL; /* while it is being spelt, no such byte is offered */
            choose_row(e, s, &of_row, M + r);
        }
}

/* Give every sentence its candidates; finished sentences leave the list. */
static void advance(struct dg_engine *e)
{
    uint32_t M = 0;
    for (struct dg_live **link = &e->live, *s; (s = *link);) {
        if (s->paused) {
            link = &s->next;
            continue;
        }
        uint32_t rows = s->beam.n_live;
        if ((s->spelling || s->beam.search.sampling.temperature > 0) &&
            s->beam.t >= s->beam.n_prefix)
            choose(e, s, M);
        s->beam.terms = s->spelling ? NULL : s->terms;
        const bool constrained = dg_constrained_next(&s->beam);
        if (constrained)
            find_needed(e, s, M);
        const struct dg_candidates c = {.logprob = e->top_logprob + (size_t)M * e->k_max,
            .ids = e->top_ids + (size_t)M * e->k_max,
            .k = e->want[M],
            .ld = e->k_max,
            .sources = e->align.sources + M,
            .needed = constrained ? e->needed : NULL};
        keep_characters(e, s, &c, M);
        s->on_host = false;
        dg_beam_advance(&s->beam, &c);
        M += rows;
        if (s->beam.done) {
            *link = s->next;
            dg_engine_retire(e, s);
        } else {
            dg_live_reorder(s);
            link = &s->next;
        }
    }
}

/* Advance all sentences by one position with the search on the host, which reads the candidates
 * before the next step can start. */
static uint32_t step_now(struct dg_engine *e)
{
    const struct dg_model *m = e->model;
    uint32_t M = 0;
    size_t n_cross = 0;
    for (struct dg_live *s = e->live; s; s = s->next)
        if (!s->paused)
            M = pack_rows(e, s, M, n_cross++);
    if (!M)
        return 0;
    struct dg_pass p = {.be = e->be, .config = &m->config, .M = M};
    struct dg_context c = {.self = {.segs = e->segs, .n = M},
        .cross = {.segs = e->cross_segs, .n = n_cross},
        .pools = e->cache.pools};
    const struct dg_states states = {e->states.pools, e->states.from, e->states.to};
    if (states.pools)
        c.states = &states;
    dg_embedding_forward(&p, 1, &m->params, &m->positions, e->ids, e->pos, e->ws.x);
    struct dg_rows y = dg_decoder_forward(&p, &m->params, &c, e->ws.x, e->align.slots, 1);
    dg_candidates_find(e, y);
    dg_align_read(e, n_cross);
    advance(e);
    return M;
}

uint32_t dg_engine_step(struct dg_engine *e)
{
    dg_encode_pending(e);
    if (e->pipelined && dg_pipelined_step_possible(e))
        return dg_pipelined_step_run(e);
    uint32_t settled = e->pipelined ? dg_pipelined_step_drain(e) : 0, rows = step_now(e);
    return rows ? rows : settled;
}
