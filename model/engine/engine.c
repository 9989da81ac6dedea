#include "model/engine/engine.h"
#include "model/engine/cache.h"
#include "model/engine/candidates.h"
#include "model/engine/internal.h"
#include "model/engine/limits.h"
#include "model/engine/pipelined_step.h"
#include "model/model_internal.h"

#include <stdlib.h>
#include <string.h>

/* A longer shortlist saves little, and each sentence holds its own rows. */
#define DG_MAX_SHORTLIST 4096u

/* Most rows of one call: hypotheses of a step, or pieces encoded together. */
static size_t most_rows(const struct dg_engine *e)
{
    return e->max_rows > e->encode_rows ? e->max_rows : e->encode_rows;
}

/* The arrays of one step, all sized at open: steps allocate nothing. */
static int open_step_arrays(struct dg_engine *e, struct dg_error *err)
{
    size_t R = e->max_rows, V = e->model->config.target_vocab;
    size_t pairs = 2 * (size_t)DG_MAX_BEAM + (e->model->config.never >= 0);
    e->k_max = (uint32_t)(pairs < V ? pairs : V);
    size_t most = most_rows(e);
    e->ids = malloc(most * sizeof *e->ids);
    e->pos = malloc(most * sizeof *e->pos);
    e->slots = malloc(most * sizeof *e->slots);
    e->segs = malloc(most * sizeof *e->segs);
    e->cross_segs = malloc(R * sizeof *e->cross_segs);
    e->want = malloc(R * sizeof *e->want);
    e->force = malloc(R * sizeof *e->force);
    e->top_logprob = malloc(R * e->k_max * sizeof *e->top_logprob);
    e->top_ids = malloc(R * e->k_max * sizeof *e->top_ids);
    if (!e->ids || !e->pos || !e->slots || !e->segs || !e->cross_segs || !e->want || !e->force ||
        !e->top_logprob || !e->top_ids)
        return dg_error_set(err, DG_ENOMEM, "no memory for an engine of %u rows", e->max_rows);
    if (e->model->shortlist) {
        e->max_shortlist = (uint32_t)(V / 2 < DG_MAX_SHORTLIST ? V / 2 : DG_MAX_SHORTLIST);
        e->shortlist_bits =
            calloc(dg_shortlist_words(e->model->shortlist), sizeof *e->shortlist_bits);
        e->shortlist_ids = malloc((e->max_shortlist + 1) * sizeof *e->shortlist_ids);
        if (!e->shortlist_bits || !e->shortlist_ids)
            return dg_error_set(
                err, DG_ENOMEM, "no memory for shortlists of %u pieces", e->max_shortlist);
        /* One sentence's rows are there twice while they are packed. */
        if (e->be->ops->short_products)
            e->bytes += (dg_candidates_most_own_rows(e) + e->max_shortlist) *
                        dg_output_rows_bytes(e->model);
    }
    e->logits.ld = dg_logits_ld(&e->model->config);
    e->bytes += R * e->logits.ld * sizeof(float);
    return e->be->ops->buf_new_wide(e->be, R * e->logits.ld, &e->logits.buf, err);
}

/* Reserve the device's memory for the longest sentences in the fullest step, so that serving never
 * asks for more. */
static int reserve(struct dg_engine *e, struct dg_error *err)
{
    const struct dg_config *c = &e->model->config;
    const struct dg_engine_limits *l = &e->limits;
    const size_t R = e->max_rows, self = R * l->max_target,
                 cross = (size_t)l->max_sentences * l->max_source;
    const size_t weights = R * dg_config_dec_H(c) * l->max_source;
    const struct dg_most most = {.rows = most_rows(e),
        .slots = self > cross ? self : cross,
        .candidates = R * e->k_max,
        .V = c->target_vocab,
        .read = weights > c->target_vocab ? weights : c->target_vocab};
    if (!e->be->ops->reserve)
        return 0;
    return e->be->ops->reserve(e->be, &most, err);
}

int dg_engine_open(const struct dg_model *model, struct dg_backend *be,
    const struct dg_engine_limits *limits, struct dg_engine **out, struct dg_error *err)
{
    struct dg_engine *e = calloc(1, sizeof *e);
    if (!e)
        return dg_error_set(err, DG_ENOMEM, "no memory for an engine");
    dg_engine_limits_resolve(model, be->ops, limits, &e->limits);
    e->model = model;
    e->be = be;
    e->max_rows = e->limits.max_rows;
    e->encode_rows = dg_engine_limits_encode_rows(be->ops, &e->limits);
    uint32_t blocks = dg_engine_limits_cache_blocks(&model->config, &e->limits);
    const bool joined = model->params.memory_kv_w, beside = be->ops->side_begin;
    const size_t step_rows = beside ? e->max_rows : most_rows(e);
    int rc;
    if ((rc = dg_cache_open(&e->cache, be, &model->config, blocks, joined, err)) ||
        (rc = dg_state_pool_open(&e->states, be, &model->config, e->max_rows, err)) ||
        (rc = dg_workspace_open(&e->ws, be, &model->config, step_rows, err)) ||
        (rc = dg_encode_open(e, err)) || (rc = dg_align_open(e, err)) ||
        (rc = open_step_arrays(e, err)) || (rc = reserve(e, err)) ||
        (rc = dg_pipelined_step_open(e, err))) {
        dg_engine_close(e);
        return rc;
    }
    if (e->pipelined) {
        dg_encode_warm(e);
        dg_pipelined_step_warm(e);
    }
    if ((rc = be->ops->status(be, err))) {
        dg_engine_close(e);
        return rc;
    }
    e->bytes += e->cache.bytes + e->states.bytes + e->ws.bytes + e->encode.bytes;
    *out = e;
    return 0;
}

static void free_all(struct dg_live *s)
{
    for (struct dg_live *next; s; s = next) {
        next = s->next;
        dg_live_free(s);
    }
}

void dg_engine_close(struct dg_engine *e)
{
    if (!e)
        return;
    dg_pipelined_step_close(e);
    dg_encode_close(e);
    free_all(e->pending);
    free_all(e->encode.sentences);
    free_all(e->live);
    free_all(e->done);
    free_all(e->spare);
    dg_align_close(e);
    dg_cache_close(&e->cache);
    dg_state_pool_close(&e->states);
    dg_workspace_close(&e->ws);
    e->be->ops->buf_free(e->be, e->logits.buf);
    free(e->ids);
    free(e->pos);
    free(e->slots);
    free(e->segs);
    free(e->cross_segs);
    free(e->want);
    free(e->force);
    free(e->top_logprob);
    free(e->top_ids);
    free(e->row);
    free(e->needed);
    free(e->shortlist_bits);
    free(e->shortlist_ids);
    free(e);
}

/* Return a sentence's room to the pools; the sentence itself stays (its answer may still be
 * read). */
static void give_room(struct dg_engine *e, struct dg_live *s)
{
    dg_pipelined_step_forget(e, s);
    dg_encode_leave(e, s);
    dg_output_rows_close(s->output);
    s->output = NULL;
    for (uint32_t i = 0; i < s->n_blocks; i++)
        dg_cache_give(&e->cache, s->blocks[i]);
    s->n_blocks = 0;
    e->cache.n_reserved -= s->n_reserved;
    s->n_reserved = 0;
    dg_state_pool_give(&e->states, s->states, s->beam.search.beam);
    e->rows_reserved -= s->beam.search.beam;
    e->n_sentences--;
}

/* Allocate the host's copy of a row's logits when the first sentence needs it. */
static int open_row(struct dg_engine *e, struct dg_error *err)
{
    size_t V = e->model->config.target_vocab;
    if (!e->row && !(e->row = malloc(V * sizeof *e->row)))
        return dg_error_set(err, DG_ENOMEM, "no memory for the logits of %zu pieces", V);
    return 0;
}

/* Allocate the candidates of terms when the first sentence has some. */
static int open_needed(struct dg_engine *e, struct dg_error *err)
{
    if (!e->needed && !(e->needed = malloc(DG_MAX_BEAM * sizeof *e->needed)))
        return dg_error_set(err, DG_ENOMEM, "no memory for the terms of a sentence");
    return open_row(e, err);
}

/* Select the sentence's shortlist, with its own rows of the output matrix if that pays. Sampling,
 * spelling, pick and scoring need every piece's logit, and terms may have pieces that are in no
 * list: such sentences use the whole vocabulary. */
static int take_shortlist(
    struct dg_engine *e, struct dg_live *s, const struct dg_sentence *in, struct dg_error *err)
{
    const struct dg_search *search = &s->beam.search;
    if (!e->model->shortlist || in->whole_vocabulary || !e->be->ops->short_products || in->forced ||
        in->spelling || in->terms || search->pick || search->sampling.temperature > 0)
        return 0;
    size_t n = dg_shortlist_select(e->model->shortlist,
        &(struct dg_shortlist_need){s->source, s->n_source, s->prefix, s->n_prefix},
        e->shortlist_bits, e->shortlist_ids, e->max_shortlist);
    /* The list must hold the candidates of a step, and one piece that is never taken. */
    if (n < 2 * (size_t)search->beam + 1)
        return 0;
    const bool own = dg_candidates_pay_own_rows(e, (uint32_t)n, search->beam);
    return dg_output_rows_open(
        e->model, e->be, e->shortlist_ids, (uint32_t)n, own, &s->output, err);
}

/* Narrow the beam of a search with terms to what the engine can have room for at all; not below
 * n_best. */
static void narrow(const struct dg_engine *e, const struct dg_sentence *in, struct dg_search *s)
{
    const uint32_t cross = dg_cache_blocks(in->n_source), n = e->cache.n_blocks;
    while (in->terms && s->beam > s->n_best &&
           (s->beam > e->max_rows ||
               cross + dg_engine_limits_search_blocks(&e->model->config, s->beam, s->max_len) > n))
        s->beam--;
}

int dg_engine_admit(
    struct dg_engine *e, uint64_t id, const struct dg_sentence *in, struct dg_error *err)
{
    struct dg_search search;
    int rc = dg_live_resolve(e, in, &search, err);
    if (rc)
        return rc;
    narrow(e, in, &search);
    uint32_t blocks =
        dg_cache_blocks(in->n_source) +
        dg_engine_limits_search_blocks(&e->model->config, search.beam, search.max_len);
    if (blocks > e->cache.n_blocks || search.beam > e->max_rows)
        return dg_error_set(err, DG_ELIMIT,
            "a sentence of %u pieces with beam %u and up to %u pieces out needs %u cache blocks of "
            "%u and %u rows of %u",
            in->n_source, search.beam, search.max_len, blocks, e->cache.n_blocks, search.beam,
            e->max_rows);
    if (blocks > e->cache.n_blocks - e->cache.n_reserved ||
        search.beam > e->max_rows - e->rows_reserved || e->n_sentences == e->limits.max_sentences)
        return DG_EAGAIN;

    const bool row = in->spelling || search.sampling.temperature > 0 || e->model->bytes;
    if ((row && (rc = open_row(e, err))) || (in->terms && (rc = open_needed(e, err))))
        return rc;
    struct dg_live *s = e->spare;
    if (s)
        e->spare = s->next;
    else if (!(s = calloc(1, sizeof *s)))
        return dg_error_set(err, DG_ENOMEM, "no memory for a sentence");
    rc = dg_live_begin(s, id, in, &search, e->model->config.eos, blocks, err);
    if (!rc)
        rc = take_shortlist(e, s, in, err);
    if (rc) {
        s->next = e->spare;
        e->spare = s;
        return rc;
    }
    s->beam.never = e->model->config.never;
    s->beam.bytes = dg_byte_rule_of(
        e->model->bytes, s->output ? s->output->ids : NULL, s->output ? s->output->n : 0);
    s->beam.n_lead = in->n_lead;
    e->cache.n_reserved += blocks;
    dg_state_pool_take(&e->states, s->states, search.beam);
    e->rows_reserved += search.beam;
    e->n_sentences++;
    *dg_live_tail(&e->pending) = s;
    return 0;
}

const struct dg_result *dg_engine_poll(struct dg_engine *e)
{
    struct dg_live *s = e->done;
    if (!s)
        return NULL;
    e->done = s->next;
    s->next = NULL;
    return &s->result;
}

void dg_engine_release(struct dg_engine *e, const struct dg_result *r)
{
    struct dg_live *s =
        (struct dg_live *)(void *)((char *)(uintptr_t)r - offsetof(struct dg_live, result));
    s->next = e->spare;
    e->spare = s;
}

void dg_engine_retire(struct dg_engine *e, struct dg_live *s)
{
    s->result = (struct dg_result){.id = s->id,
        .hyps = s->beam.finished,
        .n_hyps = s->beam.n_finished,
        .alignment = dg_align_answer(e, s),
        .n_source = s->n_source,
        .steps = s->beam.t};
    give_room(e, s);
    s->next = NULL;
    *dg_live_tail(&e->done) = s;
}

static bool drop(struct dg_engine *e, struct dg_live **list, uint64_t id, bool has_room)
{
    for (; *list; list = &(*list)->next) {
        struct dg_live *s = *list;
        if (s->id != id)
            continue;
        *list = s->next;
        if (has_room)
            give_room(e, s);
        s->next = e->spare;
        e->spare = s;
        return true;
    }
    return false;
}

void dg_engine_cancel(struct dg_engine *e, uint64_t id)
{
    if (!drop(e, &e->pending, id, true) && !drop(e, &e->encode.sentences, id, true) &&
        !drop(e, &e->live, id, true))
        drop(e, &e->done, id, false);
}

static void pause(struct dg_live *list, uint64_t id, bool paused)
{
    for (struct dg_live *s = list; s; s = s->next)
        if (s->id == id)
            s->paused = paused;
}

void dg_engine_pause(struct dg_engine *e, uint64_t id, bool paused)
{
    pause(e->pending, id, paused);
    pause(e->encode.sentences, id, paused);
    pause(e->live, id, paused);
}

void dg_engine_capacity(const struct dg_engine *e, struct dg_capacity *out)
{
    *out = (struct dg_capacity){
        .rows_free = e->max_rows - e->rows_reserved,
        .sentences_free = e->limits.max_sentences - e->n_sentences,
        .blocks_free = e->cache.n_blocks - e->cache.n_reserved,
        .blocks_total = e->cache.n_blocks,
        .sentences_live = e->n_sentences,
        .rows_live = e->rows_reserved,
    };
}

size_t dg_engine_bytes(const struct dg_engine *e)
{
    return e->bytes;
}
