/* Engines for each kind of device search, and sentences for them. */
#ifndef DG_TESTS_EMU_SEARCH_ENGINE_H
#define DG_TESTS_EMU_SEARCH_ENGINE_H

#include "tests/invariants/random_model.h"

#include "kernels/device_search.h"
#include "tests/emu/cuda.h"

enum { SENTENCES = 36, MOST_SOURCE = 18, MOST_OUT = 22, HYPOTHESES = 6 };

struct sentence {
    int32_t source[MOST_SOURCE], prefix[MOST_OUT];
    struct dg_sentence s;
    /* the host's answer */
    uint32_t n_hyps, n[HYPOTHESES];
    int32_t ids[HYPOTHESES][MOST_OUT], alignment[MOST_OUT];
    float token_logprob[HYPOTHESES][MOST_OUT];
    double logprob[HYPOTHESES], score[HYPOTHESES];
    bool aligned, known;
};

/* Environment that an engine runs in. */
struct variant {
    const char *step, *lazy, *order, *debug;
};

/* Counts of the steps that passed through the table, and whether to corrupt the next ones. */
static struct {
    unsigned long given, repeated, waited, most_ahead;
    bool spoil;
} seen;

static const struct dg_device_search_ops *inner;

/* Features that the device is made to lack; no answer may change. */
static struct {
    bool joined_weights, side_stream;
} lacks;

static inline bool watched_begin(struct dg_backend *be, struct dg_device_search *t,
    const struct dg_device_search_step *step, size_t *M)
{
    struct dg_device_search_part parts[SENTENCES];
    struct dg_device_search_step other = *step;
    assert_true(step->n_parts <= SENTENCES);
    memcpy(parts, step->parts, step->n_parts * sizeof *parts);
    for (uint32_t i = 0; seen.spoil && i < step->n_parts; i++)
        parts[i].greedy = true; /* finds one hypothesis where the host finds several */
    other.parts = parts;
    const bool run = inner->begin(be, t, &other, M);
    assert_true(*M >= step->n_rows);
    seen.given++;
    seen.repeated += !run;
    if (seen.given - seen.waited > seen.most_ahead)
        seen.most_ahead = seen.given - seen.waited;
    return run;
}

static inline bool watched_wait(
    struct dg_backend *be, struct dg_device_search *t, struct dg_device_search_found *found)
{
    seen.waited++;
    return inner->wait(be, t, found);
}

static inline struct dg_backend *watched_backend(const char *precision)
{
    static struct dg_ops ops;
    static struct dg_device_search_ops search;
    struct dg_backend *be = cuda_or_skip(precision);
    ops = *be->ops;
    inner = ops.device_search;
    search = *inner;
    search.begin = watched_begin;
    search.wait = watched_wait;
    ops.device_search = &search;
    if (lacks.joined_weights)
        ops.weight_join = NULL;
    if (lacks.side_stream)
        ops.side_begin = NULL;
    be->ops = &ops;
    memset(&seen, 0, sizeof seen);
    return be;
}

static inline void set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static inline struct dg_config small(uint32_t V)
{
    struct dg_config c;
    dg_config_base(&c, V);
    c.enc_layers = 1;
    c.dec_layers = 2;
    c.D = 16;
    c.F = 24;
    c.H = 2;
    c.Dk = c.Dv = 8;
    return c;
}

/* Makes sentences of every kind, with `odd` also kinds that only the host can search. */
static inline void make_sentences(
    const struct dg_config *c, struct sentence *all, bool odd, uint64_t rng)
{
    for (uint32_t i = 0; i < SENTENCES; i++) {
        struct sentence *x = &all[i];
        struct dg_search *search = &x->s.search;
        memset(x, 0, sizeof *x);
        x->s.source = x->source;
        x->s.prefix = x->prefix;
        x->s.n_source = 1 + rnd(&rng) % MOST_SOURCE;
        random_sentence(c, x->source, x->s.n_source, &rng);
        search->beam = rnd(&rng) % 4 ? 1 + rnd(&rng) % HYPOTHESES : 1;
        search->n_best = 1 + rnd(&rng) % search->beam;
        search->max_len = 1 + rnd(&rng) % MOST_OUT;
        search->min_len = rnd(&rng) % 2 ? 0 : rnd(&rng) % 20;
        search->alpha = (float)(rnd(&rng) % 3) * 0.5f;
        search->penalty = (enum dg_penalty)(rnd(&rng) % 3);
        x->s.want_alignment = rnd(&rng) % 4 == 0;
        if (rnd(&rng) % 4 == 0) {
            x->s.n_prefix = 1 + rnd(&rng) % search->max_len;
            x->s.forced = rnd(&rng) % 2;
            search->n_best = x->s.forced ? 1 : search->n_best;
            random_sentence(c, x->prefix, x->s.n_prefix, &rng);
            if (!x->s.forced)
                x->prefix[x->s.n_prefix - 1] = 3;
        }
        const uint32_t kind = rnd(&rng) % 8;
        if (!odd || x->s.forced)
            continue;
        search->no_repeat_ngram = kind == 0 ? 2 : 0;
        if (kind == 1) {
            search->sampling = (struct dg_sampling){.temperature = 0.7f, .seed = i};
            search->n_best = 1;
        }
        search->pick = kind == 2 ? 2 : 0;
    }
}

static inline void keep(struct sentence *x, const struct dg_result *r)
{
    x->known = true;
    x->n_hyps = r->n_hyps;
    for (uint32_t h = 0; h < r->n_hyps; h++) {
        x->n[h] = r->hyps[h].n;
        x->logprob[h] = r->hyps[h].logprob;
        x->score[h] = r->hyps[h].score;
        memcpy(x->ids[h], r->hyps[h].ids, x->n[h] * sizeof(int32_t));
        memcpy(x->token_logprob[h], r->hyps[h].token_logprob, x->n[h] * sizeof(float));
    }
    x->aligned = r->alignment != NULL;
    if (x->aligned)
        memcpy(x->alignment, r->alignment, x->n[0] * sizeof(int32_t));
}

static inline void compare(const struct sentence *x, const struct dg_result *r)
{
    assert_int_equal(r->n_hyps, x->n_hyps);
    for (uint32_t h = 0; h < r->n_hyps; h++) {
        assert_int_equal(r->hyps[h].n, x->n[h]);
        assert_memory_equal(r->hyps[h].ids, x->ids[h], x->n[h] * sizeof(int32_t));
        assert_memory_equal(r->hyps[h].token_logprob, x->token_logprob[h], x->n[h] * sizeof(float));
        assert_memory_equal(&r->hyps[h].logprob, &x->logprob[h], sizeof(double));
        assert_memory_equal(&r->hyps[h].score, &x->score[h], sizeof(double));
    }
    assert_int_equal(r->alignment != NULL, x->aligned);
    if (x->aligned)
        assert_memory_equal(r->alignment, x->alignment, x->n[0] * sizeof(int32_t));
}

/* Runs all sentences through the engine. Before each step some join, some are paused or resumed,
 * and now and then one is cancelled, to be admitted again later. */
static inline void serve(struct dg_engine *e, struct sentence *all, uint64_t rng)
{
    int waiting[SENTENCES], n = SENTENCES, finished = 0, cancels = 10;
    bool inside[SENTENCES] = {false};
    for (int i = 0; i < n; i++)
        waiting[i] = i;
    while (finished < SENTENCES) {
        for (uint32_t join = rnd(&rng) % 5; join && n; join--) {
            const uint32_t at = rnd(&rng) % (uint32_t)n;
            const int i = waiting[at];
            struct dg_error err = {0};
            const int rc = dg_engine_admit(e, (uint64_t)i, &all[i].s, &err);
            if (rc == DG_EAGAIN)
                break;
            if (rc)
                fail_msg("sentence %d: %s", i, err.message);
            inside[i] = true;
            waiting[at] = waiting[--n];
        }
        const int any = (int)(rnd(&rng) % SENTENCES);
        if (cancels && inside[any] && rnd(&rng) % 4 == 0) {
            dg_engine_cancel(e, (uint64_t)any);
            inside[any] = false;
            waiting[n++] = any;
            cancels--;
        }
        for (uint64_t i = 0; i < SENTENCES; i++)
            if (rnd(&rng) % 8 == 0)
                dg_engine_pause(e, i, rnd(&rng) % 3 == 0);
        dg_engine_step(e);
        for (const struct dg_result *r; (r = dg_engine_poll(e)); finished++) {
            inside[r->id] = false;
            if (all[r->id].known)
                compare(&all[r->id], r);
            else
                keep(&all[r->id], r);
            dg_engine_release(e, r);
        }
    }
    assert_int_equal(dg_engine_step(e), 0);
}

struct engine {
    struct dg_backend *be;
    struct dg_model *model;
    struct dg_byte_pieces *bytes;
    struct dg_engine *e;
    unsigned long warmed; /* steps taken by opening it */
};

/* True if pieces from 8 on are bytes. */
static bool with_bytes;

static inline struct engine open_engine(const struct random_model *m, const struct dg_config *c,
    const char *precision, const struct variant *v)
{
    const struct dg_engine_limits limits = {
        .max_rows = 14, .max_sentences = 7, .max_source = MOST_SOURCE, .max_target = MOST_OUT};
    struct engine x;
    struct dg_error err = {0};
    int32_t bytes[256];
    memset(bytes, 0xff, sizeof bytes); /* -1: no piece is a byte */
    for (int i = 0; i < 256 && 8 + i < (int)c->target_vocab; i++)
        bytes[(0xB8 + i) % 256] = 8 + i; /* some continuation bytes, some lead bytes, then ASCII */
    set("DRAGOMAN_CUDA_STEP", strcmp(v->step, "host") ? NULL : v->step);
    set("DRAGOMAN_DEBUG", strcmp(v->step, "ops") ? v->debug : "cuda-graphs-off");
    set("DRAGOMAN_EMU_LAZY", v->lazy);
    set("DRAGOMAN_EMU_ORDER", v->order);
    x.be = watched_backend(precision);
    if (dg_model_open(c, m->weights, x.be, MOST_OUT, &x.model, &err) ||
        dg_byte_pieces_open(bytes, c->target_vocab, &x.bytes, &err))
        fail_msg("%s", err.message);
    if (with_bytes)
        dg_model_use_byte_pieces(x.model, x.bytes);
    if (dg_engine_open(x.model, x.be, &limits, &x.e, &err))
        fail_msg("%s", err.message);
    x.warmed = seen.given;
    return x;
}

static inline void close_engine(struct engine *x)
{
    dg_engine_close(x->e);
    dg_model_close(x->model);
    dg_byte_pieces_close(x->bytes);
    dg_device_close(x->be);
    set("DRAGOMAN_EMU_LAZY", NULL);
    set("DRAGOMAN_EMU_ORDER", NULL);
    set("DRAGOMAN_CUDA_STEP", NULL);
    set("DRAGOMAN_DEBUG", NULL);
}

static inline void run(const struct random_model *m, const struct dg_config *c,
    const char *precision, const struct variant *v, struct sentence *all, uint64_t seed)
{
    struct engine x = open_engine(m, c, precision, v);
    struct dg_error err = {0};
    serve(x.e, all, seed);
    if (x.be->ops->status(x.be, &err))
        fail_msg("%s", err.message);
    assert_int_equal(seen.waited, seen.given);
    if (!strcmp(v->step, "host")) {
        assert_int_equal(seen.given, 0);
    } else {
        /* Warm-up runs 4, 8 and 14 rows, twice each: no later step runs, or is recorded, for the
         * first time. */
        assert_int_equal(x.warmed, 6);
        assert_int_equal(seen.most_ahead, 2);
        assert_true(seen.given > 20);
        assert_true(seen.repeated == (!strcmp(v->step, "graph") ? seen.given - x.warmed : 0));
    }
    close_engine(&x);
}

static const struct variant variants[] = {{"ops", NULL, NULL, NULL}, {"ops", "1", NULL, NULL},
    {"graph", "1", NULL, NULL}, {"graph", NULL, "reverse", NULL}};

#endif
