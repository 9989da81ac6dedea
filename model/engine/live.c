#include "model/engine/live.h"

#include "model/engine/internal.h"
#include "model/model_internal.h"

#include <stdlib.h>
#include <string.h>

static int check_ids(
    const int32_t *ids, uint32_t n, uint32_t V, const char *what, struct dg_error *err)
{
    for (uint32_t i = 0; i < n; i++)
        if (ids[i] < 0 || (uint32_t)ids[i] >= V)
            return dg_error_set(err, DG_EINVAL,
                "%s piece %u has id %d outside the vocabulary of %u", what, i, ids[i], V);
    return 0;
}

/* Check that the terms fit after the prefix and that the search is one that they can steer. */
static int check_terms(
    const struct dg_sentence *in, const struct dg_search *s, uint32_t V, struct dg_error *err)
{
    const struct dg_terms *t = in->terms;
    if (in->forced || s->pick || s->sampling.temperature > 0)
        return dg_error_set(
            err, DG_EINVAL, "terms go with a search, not with sampling, pick or a forced target");
    if (!t->n || t->n > DG_MAX_TERMS || t->n_forms > DG_MAX_TERM_FORMS)
        return dg_error_set(err, DG_EINVAL, "%u terms in %u forms, the limits are %u and %u", t->n,
            t->n_forms, DG_MAX_TERMS, DG_MAX_TERM_FORMS);
    if (dg_terms_pieces(t) > s->max_len - in->n_prefix)
        return dg_error_set(err, DG_ELIMIT, "terms of %u pieces are over the output limit of %u",
            dg_terms_pieces(t), s->max_len - in->n_prefix);
    return check_ids(t->ids, t->n_ids, V, "term", err);
}

int dg_live_resolve(const struct dg_engine *e, const struct dg_sentence *in, struct dg_search *out,
    struct dg_error *err)
{
    const struct dg_config *c = &e->model->config;
    struct dg_search s = in->search;
    if (!in->n_source)
        return dg_error_set(err, DG_EINVAL, "a sentence needs at least one source piece");
    if (in->n_source > e->limits.max_source)
        return dg_error_set(err, DG_ELIMIT,
            "a sentence of %u source pieces is over the limit of %u", in->n_source,
            e->limits.max_source);
    if (!s.beam)
        s.beam = c->beam;
    if (in->forced || s.sampling.temperature > 0)
        s.beam = 1;
    if (in->forced)
        s.sampling.temperature = 0;
    if (!s.n_best)
        s.n_best = 1;
    if (s.alpha < 0)
        s.alpha = c->alpha;
    s.penalty_tokens = (uint32_t)(s.penalty_cap * (float)in->n_source + 0.5f);
    if (s.penalty_cap > 0 && !s.penalty_tokens)
        s.penalty_tokens = 1;
    if (!s.max_len)
        s.max_len = dg_config_output_limit(c, in->n_source, 0);
    s.max_len += in->n_lead;
    if (in->forced)
        s.max_len = in->n_prefix;
    if (s.max_len > e->limits.max_target && !in->forced)
        s.max_len = e->limits.max_target;
    if (s.beam > DG_MAX_BEAM)
        return dg_error_set(err, DG_EINVAL, "beam %u is over the limit of %u", s.beam, DG_MAX_BEAM);
    if (s.n_best > s.beam)
        return dg_error_set(
            err, DG_EINVAL, "n_best %u is more than the beam of %u", s.n_best, s.beam);
    if (!(s.sampling.temperature >= 0) || s.sampling.top_k > DG_MAX_SAMPLE_TOP_K)
        return dg_error_set(err, DG_EINVAL,
            "sampling from %u best pieces at temperature %g: from at most %u, and at 0 or above",
            s.sampling.top_k, (double)s.sampling.temperature, DG_MAX_SAMPLE_TOP_K);
    if (s.pick > DG_MAX_BEAM)
        return dg_error_set(err, DG_EINVAL,
            "the first free piece is to have rank %u, the limit is %u", s.pick, DG_MAX_BEAM);
    if (!s.max_len || s.max_len > e->limits.max_target)
        return dg_error_set(err, DG_ELIMIT, "a target of %u pieces is outside the limits 1..%u",
            s.max_len, e->limits.max_target);
    const uint32_t begun =
        in->n_prefix + (in->spelling && !in->forced ? in->spelling->least[0] : 0);
    if (begun > s.max_len)
        return dg_error_set(err, DG_ELIMIT, "a prefix of %u pieces is over the output limit of %u",
            begun, s.max_len);
    int rc = check_ids(in->source, in->n_source, c->source_vocab, "source", err);
    if (!rc && in->terms)
        rc = check_terms(in, &s, c->target_vocab, err);
    if (!rc)
        rc = check_ids(in->prefix, in->n_prefix, c->target_vocab, "target", err);
    *out = s;
    return rc;
}

/* Make the sentence's memory large enough and cut it into its arrays. */
static int lay_out(struct dg_live *s, const struct dg_search *search, struct dg_error *err)
{
    const size_t beam = search->beam, positions = beam * search->max_len,
                 chains = beam * dg_cache_blocks(search->max_len);
    const struct {
        int32_t **array;
        size_t n;
    } arrays[] = {{&s->source, s->n_source}, {&s->prefix, s->n_prefix},
        {&s->cross_slots, s->n_source}, {&s->history[0], positions}, {&s->history[1], positions},
        {&s->chains, chains}, {&s->states, beam}, {&s->blocks, s->n_reserved}};
    enum { ARRAYS = sizeof arrays / sizeof *arrays };
    size_t bytes = 0;
    for (size_t i = 0; i < ARRAYS; i++)
        bytes += arrays[i].n * sizeof **arrays[i].array;
    if (bytes > s->memory_bytes) {
        void *p = realloc(s->memory, bytes);
        if (!p)
            return dg_error_set(
                err, DG_ENOMEM, "no memory for a sentence of %u pieces", s->n_source);
        s->memory = p;
        s->memory_bytes = bytes;
    }
    int32_t *at = s->memory;
    for (size_t i = 0; i < ARRAYS; at += arrays[i++].n)
        *arrays[i].array = at;
    memset(s->chains, 0xff, chains * sizeof *s->chains); /* -1: no block yet */
    return 0;
}

int dg_live_begin(struct dg_live *s, uint64_t id, const struct dg_sentence *in,
    const struct dg_search *search, int32_t eos, uint32_t n_reserved, struct dg_error *err)
{
    s->next = NULL;
    s->id = id;
    s->n_source = in->n_source;
    s->n_prefix = in->n_prefix;
    s->n_blocks = 0;
    s->want_alignment = in->want_alignment;
    s->paused = s->on_host = false;
    s->place = -1;
    s->device_hyps = s->in_flight = 0;
    s->spelling = in->forced ? NULL : in->spelling;
    s->terms = in->terms;
    s->key = dg_choose_key(in->source, in->n_source);
    s->n_reserved = n_reserved;
    int rc = lay_out(s, search, err);
    if (rc)
        return rc;
    memcpy(s->source, in->source, in->n_source * sizeof *s->source);
    if (in->n_prefix)
        memcpy(s->prefix, in->prefix, in->n_prefix * sizeof *s->prefix);
    rc = dg_beam_begin(&s->beam, search, eos, s->prefix, s->n_prefix, in->forced, err);
    s->beam.terms = s->spelling ? NULL : s->terms;
    return rc;
}

int32_t dg_live_slot(struct dg_engine *e, struct dg_live *s, uint32_t r, uint32_t t)
{
    int32_t *chain = s->chains + (size_t)r * dg_cache_blocks(s->beam.search.max_len);
    if (chain[t / DG_BLOCK] < 0) {
        int32_t block = dg_cache_take(&e->cache);
        chain[t / DG_BLOCK] = block;
        s->blocks[s->n_blocks++] = block;
    }
    return chain[t / DG_BLOCK] * (int32_t)DG_BLOCK + (int32_t)(t % DG_BLOCK);
}

void dg_live_reorder(struct dg_live *s)
{
    const struct dg_beam *b = &s->beam;
    size_t max_len = b->search.max_len;
    bool same = true;
    for (uint32_t r = 0; r < b->n_live; r++)
        same = same && b->parents[r] == r;
    if (same)
        return;
    for (uint32_t r = 0; r < b->n_live; r++)
        memcpy(s->history[1] + r * max_len, s->history[0] + b->parents[r] * max_len,
            b->t * sizeof(int32_t));
    int32_t *tmp = s->history[0];
    s->history[0] = s->history[1];
    s->history[1] = tmp;
}

void dg_live_free(struct dg_live *s)
{
    if (!s)
        return;
    dg_output_rows_close(s->output);
    dg_beam_deinit(&s->beam);
    free(s->memory);
    free(s);
}
