/* DESIGN. Events are arrivals and ends of steps, in order of time; at the same time steps end
 * first, then requests arrive, then idle workers begin a step, lowest number first. The queue is
 * kept as the server keeps it: what the policy sees and what it is about side by side. */
#include "bench/sim/sim.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[DG_SIM_BATCHINGS] = {
    "continuous", "static-early", "static-drop", "static-pad"};

const char *dg_sim_batching_name(enum dg_sim_batching b)
{
    return names[b];
}

struct waiting_ref {
    uint32_t sentence, request;
};

struct live {
    struct waiting_ref ref;
    uint32_t t; /* steps taken */
    bool over;  /* finished, but still in a static batch */
};

struct worker {
    struct live *live; /* [n] of [max_sentences] */
    uint32_t n;
    uint32_t rows, blocks; /* reserved */
    uint32_t n_over;
    bool busy;
    uint64_t until_ns;
};

struct sim {
    const struct dg_sim_options *o;
    const struct dg_sim_cost *cost;
    const struct dg_sim_sentence *sentences;
    struct dg_sim_request *requests;
    uint32_t *left; /* [n] sentences of each request that are not done */
    size_t n, next;
    struct dg_waiting *waiting; /* [n_waiting] */
    struct waiting_ref *refs;
    size_t *picked;
    size_t n_waiting, cap;
    uint64_t tokens; /* that wait */
    struct worker *workers;
    struct dg_sim_result *out;
};

static bool reserve(struct sim *s, size_t more)
{
    size_t cap = s->cap ? s->cap : 256;
    while (cap < s->n_waiting + more)
        cap *= 2;
    if (cap == s->cap)
        return true;
    struct dg_waiting *waiting = realloc(s->waiting, cap * sizeof *waiting);
    s->waiting = waiting ? waiting : s->waiting;
    struct waiting_ref *refs = realloc(s->refs, cap * sizeof *refs);
    s->refs = refs ? refs : s->refs;
    size_t *picked = realloc(s->picked, cap * sizeof *picked);
    s->picked = picked ? picked : s->picked;
    if (!waiting || !refs || !picked)
        return false;
    s->cap = cap;
    return true;
}

/* As dg_queue_submit: a request that is larger than the bound is taken when nothing else waits. */
static bool arrive(struct sim *s, uint32_t i)
{
    struct dg_sim_request *r = &s->requests[i];
    uint64_t tokens = 0;
    for (uint32_t k = 0; k < r->n; k++)
        tokens += s->sentences[r->first + k].source_tokens;
    if (s->o->queue_tokens > 0 && s->tokens > 0 && s->tokens + tokens > s->o->queue_tokens) {
        s->out->refused++;
        return true;
    }
    if (!reserve(s, r->n))
        return false;
    for (uint32_t k = 0; k < r->n; k++) {
        const struct dg_sim_sentence *x = &s->sentences[r->first + k];
        s->waiting[s->n_waiting] = (struct dg_waiting){.task = i + 1u,
            .arrived_ns = r->at_ns,
            .source_tokens = x->source_tokens,
            .max_target_tokens = x->max_target_tokens,
            .rows = x->rows};
        s->refs[s->n_waiting++] = (struct waiting_ref){r->first + k, i};
    }
    s->tokens += tokens;
    return true;
}

/* Take the picked ones that the cache has room for into w; what does not fit stays where it was,
 * with those behind it. */
static void take(struct sim *s, struct worker *w, size_t n_picked)
{
    size_t kept = 0, next = 0;
    for (size_t i = 0; i < s->n_waiting; i++) {
        const struct dg_sim_sentence *x = &s->sentences[s->refs[i].sentence];
        bool is_picked = next < n_picked && s->picked[next] == i;
        bool fits = w->n < s->o->max_sentences && w->rows + x->rows <= s->o->max_rows &&
                    (s->o->blocks == 0 || w->blocks + x->blocks <= s->o->blocks);
        if (is_picked && !fits)
            n_picked = next;
        if (is_picked && fits) {
            next++;
            w->live[w->n++] = (struct live){.ref = s->refs[i]};
            w->rows += x->rows;
            w->blocks += x->blocks;
            s->tokens -= x->source_tokens;
            continue;
        }
        s->waiting[kept] = s->waiting[i];
        s->refs[kept++] = s->refs[i];
    }
    s->n_waiting = kept;
}

static void admit(struct sim *s, struct worker *w, uint64_t now)
{
    if (s->n_waiting == 0 || (s->o->batching != DG_SIM_CONTINUOUS && w->n > 0))
        return;
    struct dg_room room = {.rows = s->o->max_rows - w->rows,
        .sentences = s->o->max_sentences - w->n,
        .rows_live = w->rows};
    take(s, w, dg_batcher_pick(&s->o->policy, s->waiting, s->n_waiting, &room, now, s->picked));
    if (s->n_waiting == 0) {
        s->out->backlog_ns = now;
        s->out->backlog_sentences = s->out->sentences;
        s->out->backlog_tokens = s->out->target_tokens;
    }
}

static void begin_step(struct sim *s, struct worker *w, uint64_t now)
{
    uint64_t rows = 0, cells = 0, tokens = 0, pairs = 0;
    admit(s, w, now);
    for (uint32_t i = 0; i < w->n; i++) {
        const struct live *l = &w->live[i];
        const struct dg_sim_sentence *x = &s->sentences[l->ref.sentence];
        uint64_t own = l->t == 0 ? 1 : x->rows;
        if (l->t == 0) {
            tokens += x->source_tokens;
            pairs += (uint64_t)x->source_tokens * x->source_tokens;
        }
        if (l->over && s->o->batching != DG_SIM_STATIC_PAD)
            continue;
        rows += own;
        cells += own * (x->source_tokens + l->t);
    }
    if (w->n == 0)
        return;
    uint64_t ns = dg_sim_cost_step_ns(s->cost, rows, cells, tokens, pairs);
    w->busy = true;
    w->until_ns = now + ns;
    s->out->busy_ns += ns;
    s->out->steps++;
    s->out->rows += rows;
}

static void answer(struct sim *s, const struct live *l, uint64_t now)
{
    struct dg_sim_request *r = &s->requests[l->ref.request];
    s->out->sentences++;
    s->out->target_tokens += s->sentences[l->ref.sentence].steps;
    if (--s->left[l->ref.request] == 0)
        r->done_ns = now + (uint64_t)(1e3 * s->cost->request_us);
}

static void end_step(struct sim *s, struct worker *w, uint64_t now)
{
    bool early = s->o->batching == DG_SIM_CONTINUOUS || s->o->batching == DG_SIM_STATIC_EARLY;
    uint32_t kept = 0;
    w->busy = false;
    s->out->end_ns = now;
    for (uint32_t i = 0; i < w->n; i++) {
        struct live *l = &w->live[i];
        const struct dg_sim_sentence *x = &s->sentences[l->ref.sentence];
        l->t++;
        if (l->t == x->steps) {
            l->over = true;
            w->n_over++;
        }
        if (l->over && early) {
            answer(s, l, now);
            w->rows -= x->rows;
            w->blocks -= x->blocks;
            w->n_over--;
            continue;
        }
        w->live[kept++] = *l;
    }
    w->n = kept;
    if (w->n > 0 && w->n_over == w->n) {
        for (uint32_t i = 0; i < w->n; i++)
            answer(s, &w->live[i], now);
        w->n = w->n_over = w->rows = w->blocks = 0;
    }
}

static uint64_t next_event(const struct sim *s)
{
    uint64_t at = s->next < s->n ? s->requests[s->next].at_ns : UINT64_MAX;
    for (uint32_t i = 0; i < s->o->workers; i++)
        if (s->workers[i].busy && s->workers[i].until_ns < at)
            at = s->workers[i].until_ns;
    return at;
}

static int run(struct sim *s, struct dg_error *err)
{
    uint64_t now;
    while ((now = next_event(s)) != UINT64_MAX) {
        for (uint32_t i = 0; i < s->o->workers; i++)
            if (s->workers[i].busy && s->workers[i].until_ns == now)
                end_step(s, &s->workers[i], now);
        for (; s->next < s->n && s->requests[s->next].at_ns == now; s->next++)
            if (!arrive(s, (uint32_t)s->next))
                return dg_error_set(
                    err, DG_ENOMEM, "no memory for %zu waiting sentences", s->n_waiting);
        for (uint32_t i = 0; i < s->o->workers; i++)
            if (!s->workers[i].busy)
                begin_step(s, &s->workers[i], now);
    }
    if (s->n_waiting > 0) /* nothing runs, nothing comes, and yet the policy picks nobody */
        return dg_error_set(
            err, DG_EINTERNAL, "the policy lets %zu sentences wait for ever", s->n_waiting);
    return DG_OK;
}

static int check(const struct sim *s, struct dg_error *err)
{
    const struct dg_sim_options *o = s->o;
    if (o->workers == 0 || o->max_rows == 0 || o->max_sentences == 0)
        return dg_error_set(err, DG_EINVAL, "workers, rows and sentences are to be at least 1");
    for (size_t i = 0; i < s->n; i++) {
        const struct dg_sim_request *r = &s->requests[i];
        if (i > 0 && r->at_ns < s->requests[i - 1].at_ns)
            return dg_error_set(
                err, DG_EINVAL, "request %zu arrives before the one in front of it", i);
        for (uint32_t k = 0; k < r->n; k++) {
            const struct dg_sim_sentence *x = &s->sentences[r->first + k];
            if (x->rows == 0 || x->steps == 0 || x->rows > o->max_rows ||
                (o->blocks > 0 && x->blocks > o->blocks))
                return dg_error_set(err, DG_EINVAL,
                    "a sentence of %u rows, %u steps and %u blocks can never run", x->rows,
                    x->steps, x->blocks);
        }
    }
    return DG_OK;
}

static int prepare(struct sim *s, struct dg_error *err)
{
    const struct dg_sim_options *o = s->o;
    s->left = calloc(s->n ? s->n : 1, sizeof *s->left);
    s->workers = calloc(o->workers, sizeof *s->workers);
    bool ok = s->left && s->workers;
    for (uint32_t i = 0; i < o->workers && ok; i++)
        ok = (s->workers[i].live = calloc(o->max_sentences, sizeof *s->workers[i].live)) != NULL;
    if (!ok)
        return dg_error_set(err, DG_ENOMEM, "no memory for %u workers", o->workers);
    for (size_t i = 0; i < s->n; i++) {
        s->requests[i].done_ns = 0;
        s->left[i] = s->requests[i].n;
    }
    return DG_OK;
}

int dg_sim_run(const struct dg_sim_options *o, const struct dg_sim_cost *cost,
    const struct dg_sim_sentence *sentences, struct dg_sim_request *requests, size_t n,
    struct dg_sim_result *out, struct dg_error *err)
{
    struct sim s = {
        .o = o, .cost = cost, .sentences = sentences, .requests = requests, .n = n, .out = out};
    memset(out, 0, sizeof *out);
    int rc = check(&s, err);
    if (rc == DG_OK)
        rc = prepare(&s, err);
    if (rc == DG_OK)
        rc = run(&s, err);
    for (uint32_t i = 0; i < o->workers && s.workers; i++)
        free(s.workers[i].live);
    free(s.workers);
    free(s.left);
    free(s.waiting);
    free(s.refs);
    free(s.picked);
    return rc;
}
