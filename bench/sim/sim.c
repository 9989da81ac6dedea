/* DESIGN. Events are arrivals and ends of steps, in order of time; at the same time steps end
 * first, then requests arrive, then idle workers begin a step, lowest number first. Queue and
 * workers act like server/schedule/queue.c and server/schedule/worker.c, without locks, duplicates
 * and deadlines. */
#include "bench/sim/sim.h"

#include "server/schedule/pace.h"
#include "server/schedule/queue_internal.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[DG_SIM_BATCHINGS] = {
    "continuous", "fifo", "static-early", "static-drop", "static-pad"};

#define PICK 256

const char *dg_sim_batching_name(enum dg_sim_batching b)
{
    return names[b];
}

struct pending {
    struct dg_entry entry; /* must be first: the batcher returns it */
    uint32_t sentence, request;
};

struct live {
    struct pending *pending;
    uint32_t t;  /* steps taken in this round */
    bool second; /* in the second round */
    bool over;   /* finished, but still in a static batch */
};

struct worker {
    struct dg_heap_node node;  /* key: until_ns while it is busy, else its number */
    uint32_t number;           /* from 0 */
    struct live *live;         /* [n] of [max_sentences], ascending by rank */
    struct dg_entry **entries; /* [n] those of live */
    uint32_t n, n_over;
    uint32_t rows, blocks; /* reserved */
    struct dg_pace pace;
    uint32_t step_rows, step_tokens; /* of the running step */
    uint64_t began_ns, steps;
};

struct sim {
    const struct dg_sim_options *o;
    struct dg_batch_policy policy;
    const struct dg_sim_cost *cost;
    const struct dg_sim_sentence *sentences;
    struct dg_sim_request *requests;
    uint32_t *left;          /* [n] sentences of each request that are not done */
    size_t n, next, asked;   /* requests; asked: those with a known arrival */
    struct pending *pending; /* sentences of all requests, in order */
    size_t n_pending;        /* accepted so far */
    struct dg_batcher batcher;
    struct dg_patience patience;
    uint64_t waiting[DG_CLASSES], live; /* cost of waiting sentences, and of live ones */
    struct worker *workers;
    struct dg_heap busy, going,
        idle;           /* each worker is in one: within a step, between two, without sentences */
    uint32_t n_working; /* workers with sentences */
    struct dg_sim_result *out;
};

static double rate_of(const struct sim *s)
{
    double rate = 0;
    for (uint32_t i = 0; i < s->o->workers; i++) {
        double known = dg_pace_rate(&s->workers[i].pace);
        rate += known > 0 ? known : DG_QUEUE_START_RATE;
    }
    return rate;
}

/* The queue's limit. */
static bool is_refused(const struct sim *s, const struct dg_sim_request *r, uint64_t cost)
{
    uint64_t waiting = s->waiting[DG_CLASS_INTERACTIVE] + (r->bulk ? s->waiting[DG_CLASS_BULK] : 0);
    if (waiting == 0)
        return false;
    if (s->o->queue_tokens > 0)
        return waiting + cost > s->o->queue_tokens;
    return s->o->queue_seconds > 0 && (double)(waiting + cost) / rate_of(s) > s->o->queue_seconds;
}

static bool arrive(struct sim *s, uint32_t i)
{
    struct dg_sim_request *r = &s->requests[i];
    struct pending *added = &s->pending[s->n_pending];
    enum dg_class class = r->bulk ? DG_CLASS_BULK : DG_CLASS_INTERACTIVE;
    uint64_t cost = 0, work = 0, ahead = s->waiting[DG_CLASS_INTERACTIVE] + s->live;
    ahead += r->bulk ? s->waiting[DG_CLASS_BULK] : 0;
    for (uint32_t k = 0; k < r->n; k++) {
        const struct dg_sim_sentence *x = &s->sentences[r->first + k];
        added[k] = (struct pending){.sentence = r->first + k,
            .request = i,
            .entry = {.source_tokens = x->source_tokens,
                .rows = x->rows,
                .blocks = s->o->blocks > 0 ? x->blocks : 0}};
        cost += dg_queue_cost(&added[k].entry, false);
        work += dg_entry_work(&added[k].entry);
    }
    if (is_refused(s, r, cost)) {
        s->out->refused++;
        return true;
    }
    if (!dg_batcher_reserve(&s->batcher, r->n))
        return false;
    s->n_pending += r->n;
    dg_patience_come(&s->patience, work);
    const bool patient = r->bulk || dg_patience_is_large(&s->patience, work, r->n);
    const double rate = rate_of(s);
    cost = work = 0;
    for (uint32_t k = 0; k < r->n; k++) {
        struct dg_entry *e = &added[k].entry;
        cost += dg_queue_cost(e, false);
        work += dg_entry_work(e);
        const uint64_t patience =
            dg_patience_ns(&s->patience, work, (double)ahead / rate, (double)cost / rate);
        e->node.key = dg_batcher_rank(&s->policy, class, r->at_ns, patience);
        e->patient = patient;
        dg_batcher_add(&s->batcher, e);
        s->waiting[dg_batcher_class(e->node.key)] += dg_queue_cost(e, false);
    }
    return true;
}

static void join(struct sim *s, struct worker *w, struct pending *p)
{
    const struct dg_sim_sentence *x = &s->sentences[p->sentence];
    uint32_t at = w->n++;
    for (; at > 0 && w->live[at - 1].pending->entry.node.key > p->entry.node.key; at--)
        w->live[at] = w->live[at - 1];
    w->live[at] = (struct live){.pending = p};
    w->rows += x->rows;
    w->blocks += x->blocks;
    s->waiting[dg_batcher_class(p->entry.node.key)] -= dg_queue_cost(&p->entry, false);
    s->live += dg_queue_cost(&p->entry, false);
}

static void list_entries(struct worker *w)
{
    for (uint32_t i = 0; i < w->n; i++)
        w->entries[i] = &w->live[i].pending->entry;
}

static void admit(struct sim *s, struct worker *w, uint64_t now)
{
    struct dg_entry *picked[PICK];
    struct dg_room room = {.rows = s->o->max_rows - w->rows,
        .sentences = s->o->max_sentences - w->n,
        .blocks = s->o->blocks - w->blocks,
        .step = w->steps};
    dg_room_set_knee(&room, s->o->step_rows, s->o->max_rows);
    bool waited = dg_batcher_count(&s->batcher) > 0;
    list_entries(w);
    size_t n = dg_batcher_pick(&s->batcher, &room, w->entries, w->n, picked, PICK);
    s->n_working += w->n == 0 && n > 0;
    for (size_t i = 0; i < n; i++)
        join(s, w, (struct pending *)(void *)picked[i]);
    list_entries(w);
    dg_batcher_run(&s->policy, &room, w->entries, w->n);
    w->steps++;
    if (waited && dg_batcher_count(&s->batcher) == 0) {
        s->out->backlog_ns = now;
        s->out->backlog_sentences = s->out->sentences;
    }
}

static void put(struct dg_heap *h, struct worker *w, uint64_t key)
{
    w->node.key = key;
    w->node.turn = w->number + 1; /* of those that end together, the lowest number first */
    dg_heap_put(h, &w->node);
}

static struct worker *first(const struct dg_heap *h)
{
    struct dg_heap_node *node = dg_heap_first(h);
    return node ? (struct worker *)(void *)((char *)node - offsetof(struct worker, node)) : NULL;
}

/* Put a worker that is between steps, or has no work, into its heap. */
static void rest(struct sim *s, struct worker *w)
{
    put(w->n > 0 ? &s->going : &s->idle, w, w->number);
}

static void begin_step(struct sim *s, struct worker *w, uint64_t now)
{
    struct dg_sim_step step = {0};
    admit(s, w, now);
    for (uint32_t i = 0; i < w->n; i++) {
        struct live *l = &w->live[i];
        const struct dg_sim_sentence *x = &s->sentences[l->pending->sentence];
        uint64_t own = l->t == 0 ? 1 : x->rows;
        if (!l->pending->entry.runs)
            continue;
        if (l->t == 0) {
            step.encode_tokens += x->source_tokens;
            step.encode_pairs += (uint64_t)x->source_tokens * x->source_tokens;
        }
        if (l->over && s->o->batching != DG_SIM_STATIC_PAD)
            continue;
        step.rows += own;
        step.cells += own * (x->source_tokens + l->t);
    }
    if (w->n == 0) {
        rest(s, w);
        return;
    }
    step.busy = s->n_working; /* they share the machine */
    uint64_t ns = dg_sim_cost_step_ns(s->cost, &step);
    w->began_ns = now;
    put(&s->busy, w, now + ns);
    w->step_rows = (uint32_t)step.rows;
    w->step_tokens = (uint32_t)step.encode_tokens;
    s->out->busy_ns += ns;
    s->out->steps++;
    s->out->rows += step.rows;
}

static void answer(struct sim *s, struct worker *w, const struct live *l, uint64_t now)
{
    struct dg_sim_request *r = &s->requests[l->pending->request];
    const struct dg_sim_sentence *x = &s->sentences[l->pending->sentence];
    s->out->sentences++;
    s->out->target_tokens += x->steps + x->again;
    dg_pace_answered(&w->pace, dg_queue_cost(&l->pending->entry, false));
    s->live -= dg_queue_cost(&l->pending->entry, false);
    if (--s->left[l->pending->request] > 0)
        return;
    r->done_ns = now + (uint64_t)(1e3 * s->cost->request_us);
    if (s->asked < s->n)
        s->requests[s->asked++].at_ns = r->done_ns;
}

static void end_step(struct sim *s, struct worker *w, uint64_t now)
{
    bool early = s->o->batching <= DG_SIM_STATIC_EARLY;
    uint32_t kept = 0;
    dg_heap_remove(&s->busy, &w->node);
    dg_pace_step(&w->pace, w->step_rows, w->step_tokens, now - w->began_ns, now);
    s->out->end_ns = now;
    for (uint32_t i = 0; i < w->n; i++) {
        struct live *l = &w->live[i];
        const struct dg_sim_sentence *x = &s->sentences[l->pending->sentence];
        l->t += l->pending->entry.runs;
        if (l->t == x->steps && x->again > 0 && !l->second) {
            l->t = 0;
            l->second = true;
        } else if (l->t == (l->second ? x->again : x->steps) && !l->over) {
            l->over = true;
            w->n_over++;
        }
        if (l->over && early) {
            answer(s, w, l, now);
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
            answer(s, w, &w->live[i], now);
        w->n = w->n_over = w->rows = w->blocks = 0;
    }
    s->n_working -= w->n == 0;
    rest(s, w);
}

static uint64_t next_event(const struct sim *s)
{
    uint64_t at = s->next < s->n ? s->requests[s->next].at_ns : UINT64_MAX;
    const struct dg_heap_node *node = dg_heap_first(&s->busy);
    return node && node->key < at ? node->key : at;
}

/* Begin all possible steps, in the order of the workers' numbers: a worker with sentences
 * continues, one without begins if some wait. */
static void begin_steps(struct sim *s, uint64_t now)
{
    bool asked = true; /* idle workers are asked until one finds nothing */
    for (;;) {
        struct worker *w = first(&s->going);
        struct worker *idle = asked && dg_batcher_count(&s->batcher) > 0 ? first(&s->idle) : NULL;
        if (!w && !idle)
            return;
        if (!w || (idle && idle->number < w->number))
            w = idle;
        dg_heap_remove(w == idle ? &s->idle : &s->going, &w->node);
        begin_step(s, w, now);
        asked = asked && w->n > 0;
    }
}

static int run(struct sim *s, struct dg_error *err)
{
    uint64_t now;
    while ((now = next_event(s)) != UINT64_MAX) {
        struct worker *w;
        while ((w = first(&s->busy)) != NULL && w->node.key == now)
            end_step(s, w, now);
        for (; s->next < s->n && s->requests[s->next].at_ns == now; s->next++)
            if (!arrive(s, (uint32_t)s->next))
                return dg_error_set(
                    err, DG_ENOMEM, "no memory for %zu waiting sentences", s->n_pending);
        begin_steps(s, now);
    }
    if (dg_batcher_count(&s->batcher) >
        0) /* nothing runs or arrives, and yet the policy picks nothing */
        return dg_error_set(err, DG_EINTERNAL, "the policy lets %zu sentences wait for ever",
            dg_batcher_count(&s->batcher));
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
    size_t total = 0;
    for (size_t i = 0; i < s->n; i++)
        total += s->requests[i].n;
    s->pending = calloc(total ? total : 1, sizeof *s->pending);
    bool ok = s->left && s->workers && s->pending && dg_heap_reserve(&s->busy, o->workers) &&
              dg_heap_reserve(&s->going, o->workers) && dg_heap_reserve(&s->idle, o->workers);
    for (uint32_t i = 0; i < o->workers && ok; i++) {
        struct worker *w = &s->workers[i];
        w->number = i;
        w->live = calloc(o->max_sentences, sizeof *w->live);
        w->entries = calloc(o->max_sentences, sizeof *w->entries);
        ok = w->live && w->entries;
        rest(s, w);
    }
    if (!ok)
        return dg_error_set(err, DG_ENOMEM, "no memory for %u workers", o->workers);
    for (size_t i = 0; i < s->n; i++) {
        s->requests[i].done_ns = 0;
        s->left[i] = s->requests[i].n;
        if (o->under_way > 0)
            s->requests[i].at_ns = i < o->under_way ? 0 : UINT64_MAX;
    }
    s->asked = o->under_way > 0 && o->under_way < s->n ? o->under_way : s->n;
    return DG_OK;
}

int dg_sim_run(const struct dg_sim_options *o, const struct dg_sim_cost *cost,
    const struct dg_sim_sentence *sentences, struct dg_sim_request *requests, size_t n,
    struct dg_sim_result *out, struct dg_error *err)
{
    struct sim s = {
        .o = o, .cost = cost, .sentences = sentences, .requests = requests, .n = n, .out = out};
    memset(out, 0, sizeof *out);
    s.policy = o->policy;
    s.policy.batching = o->batching == DG_SIM_CONTINUOUS ? DG_BATCHING_CONTINUOUS
                        : o->batching == DG_SIM_FIFO     ? DG_BATCHING_FIFO
                                                         : DG_BATCHING_STATIC;
    s.batcher.policy = s.policy;
    int rc = check(&s, err);
    if (rc == DG_OK)
        rc = prepare(&s, err);
    if (rc == DG_OK)
        rc = run(&s, err);
    for (uint32_t i = 0; i < o->workers && s.workers; i++)
        free(s.workers[i].live), free(s.workers[i].entries);
    free(s.workers), free(s.left), free(s.pending);
    dg_heap_free(&s.busy), dg_heap_free(&s.going), dg_heap_free(&s.idle);
    dg_batcher_free(&s.batcher);
    return rc;
}
