/* How much may wait (the bound of queue.h). The queue's lock is held. */
#include "server/schedule/queue_internal.h"

#include "base/clock.h"

#define ROWS 4       /* up to this many rows, a search costs just its tokens */
#define DUPLICATES 8 /* this many cost as much as one sentence */
#define SLOWEST 8    /* a measured rate is never taken below the engines' own / 8 */
/* after this long without room, a task may wait beside the bound */
#define OUTSIDE_NS 1000000000u

/* Cost per second of all workers together. */
static double rate_of(const struct dg_served *model)
{
    double rate = 0;
    for (uint32_t i = 0; i < model->n_replicas; i++) {
        uint32_t known = atomic_load_explicit(&model->replicas[i].cost_per_s, memory_order_relaxed);
        rate += known > 0 ? known : DG_QUEUE_START_RATE;
    }
    return rate > 0 ? rate : DG_QUEUE_START_RATE;
}

struct dg_backlog dg_queue_backlog(const struct dg_queue *q, enum dg_class last)
{
    struct dg_backlog b = {0};
    for (size_t i = 0; i < q->n_lanes; i++) {
        const struct dg_lane *l = &q->lanes[i];
        uint64_t cost = 0;
        for (int c = 0; c <= (int)last; c++) {
            cost += l->cost[c];
            b.large += l->large[c];
            b.entries += l->entries[c];
            b.tokens += l->tokens[c];
        }
        b.cost += cost;
        b.seconds += (double)cost / rate_of(l->model);
    }
    /* Use the measured rate if there is one; but a moment in which nothing left, such as when the
     * machine was suspended, must not keep everybody out. */
    const double measured = dg_drain_rate(&q->drains[last]);
    if (measured > 0 && b.seconds > 0) {
        const double least = (double)b.cost / b.seconds / SLOWEST;
        b.seconds = (double)b.cost / (measured > least ? measured : least);
    }
    return b;
}

/* True if any of the model's workers has measured its speed. */
static bool is_measured(const struct dg_served *model)
{
    for (uint32_t i = 0; i < model->n_replicas; i++)
        if (atomic_load_explicit(&model->replicas[i].cost_per_s, memory_order_relaxed) > 0)
            return true;
    return false;
}

struct dg_ahead dg_queue_ahead(
    const struct dg_queue *q, const struct dg_served *model, enum dg_class class)
{
    const struct dg_backlog b = dg_queue_backlog(q, class);
    double rate = DG_QUEUE_PATIENT_RATE;
    if (is_measured(model) || dg_drain_rate(&q->drains[class]) > 0)
        rate = b.seconds > 0 ? (double)b.cost / b.seconds : rate_of(model);
    uint64_t live = 0;
    for (uint32_t i = 0; i < model->n_replicas; i++)
        live += atomic_load_explicit(&model->replicas[i].cost_live, memory_order_relaxed);
    return (struct dg_ahead){((double)b.cost + (double)live) / rate, rate};
}

void dg_queue_pass(struct dg_queue *q, uint64_t now_ns)
{
    uint64_t cost = 0;
    for (int c = 0; c < DG_CLASSES; c++) {
        for (size_t i = 0; i < q->n_lanes; i++)
            cost += q->lanes[i].cost[c];
        dg_drain_pass(&q->drains[c], cost > 0, now_ns);
    }
}

void dg_queue_drained(struct dg_queue *q, const struct dg_entry *e, bool taken)
{
    for (int c = e->counts_class; c < DG_CLASSES; c++)
        dg_drain_left(&q->drains[c], taken ? (int64_t)e->counts : -(int64_t)e->counts);
}

bool dg_queue_overdue(
    const struct dg_queue *q, const struct dg_task *t, uint64_t now_ns, struct dg_error *err)
{
    const uint64_t since = t->came_ns > 0 ? t->came_ns : t->submitted_ns;
    const double waited = now_ns > since ? (double)(now_ns - since) / 1e9 : 0;
    if (t->class != DG_CLASS_INTERACTIVE || q->o.max_tokens > 0 || q->o.max_seconds <= 0 ||
        t->patient || t->begun > 0 || waited <= q->o.max_seconds)
        return false;
    dg_error_set(err, DG_EAGAIN,
        "the request waited for %.1f s without starting, over the limit of %g", waited,
        q->o.max_seconds);
    return true;
}

uint32_t dg_queue_cost(const struct dg_entry *e, bool duplicate)
{
    uint64_t cost =
        ((uint64_t)e->source_tokens * (e->rows > ROWS ? e->rows : ROWS) + ROWS - 1) / ROWS;
    cost = duplicate ? (cost + DUPLICATES - 1) / DUPLICATES : cost;
    return cost < UINT32_MAX ? (uint32_t)cost : UINT32_MAX;
}

/* The bound, and the work waiting ahead of a newcomer, both as cost; of the classes up to last.
 * large: requests that exceed the bound alone and wait beside it. */
struct room {
    enum dg_class last;
    uint64_t waits, large;
    uint64_t most;
};

/* rate: cost per second, used if nothing waits. */
static struct room room_of(const struct dg_queue *q, enum dg_class last, double rate)
{
    const struct dg_backlog b = dg_queue_backlog(q, last);
    if (b.seconds > 0)
        rate = (double)b.cost / b.seconds;
    return (struct room){.last = last,
        .waits = b.cost - b.large,
        .large = b.large,
        .most = q->o.max_tokens > 0 ? q->o.max_tokens : (uint64_t)(q->o.max_seconds * rate)};
}

static int refuse(
    const struct dg_queue *q, const struct room *r, uint64_t cost, struct dg_error *err)
{
    if (q->o.max_tokens > 0)
        return dg_error_set(err, DG_EAGAIN,
            "%llu tokens are waiting, %llu more would exceed the limit of %zu",
            (unsigned long long)r->waits, (unsigned long long)cost, q->o.max_tokens);
    const double each = q->o.max_seconds / (double)(r->most > 0 ? r->most : 1);
    return dg_error_set(err, DG_EAGAIN,
        "%.1f s of work are waiting, %.1f s more would exceed the limit of %g",
        (double)r->waits * each, (double)cost * each, q->o.max_seconds);
}

static int check(const struct dg_queue *q, const struct room *r, uint64_t client, uint64_t cost,
    uint64_t now_ns, struct dg_error *err)
{
    if (r->waits == 0)
        return DG_OK;
    /* Work accepted when the machine was faster must not keep out a client that has none here. */
    if (r->waits + cost <= r->most + r->most / 2 &&
        dg_usage_is_first(&q->usage, client, r->last, now_ns))
        return DG_OK;
    if (r->waits + cost > r->most)
        return refuse(q, r, cost, err);
    return dg_usage_fits(&q->usage, client, r->last, cost, r->most - r->waits, now_ns)
               ? DG_OK
               : dg_error_set(err, DG_EAGAIN,
                     "this client's waiting requests use up its share of the queue");
}

/* True if t has been submitted again and again. Smaller work that refills the queue would keep it
 * out for as long as there is any. */
static bool has_waited(const struct dg_task *t, uint64_t now_ns)
{
    return t->refused_ns > 0 && now_ns > t->refused_ns + OUTSIDE_NS;
}

int dg_queue_check_bound(const struct dg_queue *q, const struct dg_task *t, uint64_t now_ns,
    struct dg_demand *out, struct dg_error *err)
{
    *out = (struct dg_demand){.class = (enum dg_class)t->class};
    for (size_t i = 0; i < t->n_entries; i++)
        out->cost += dg_queue_cost(
            &t->entries[i], dg_duplicates_find(&q->duplicates, &t->entries[i]) != NULL);
    const double rate = rate_of(t->model);
    struct room r = room_of(q, out->class, rate);
    if (out->cost > r.most) {
        out->class = DG_CLASS_BULK; /* too large to be interactive */
    } else {
        const int rc = check(q, &r, t->client, out->cost, now_ns, err);
        if (rc == DG_OK || !has_waited(t, now_ns))
            return rc;
    }
    /* One at a time waits beside the others. */
    out->large = true;
    r = room_of(q, DG_CLASS_BULK, rate);
    if (r.large == 0)
        return DG_OK;
    r.waits += r.large; /* what the message says */
    return refuse(q, &r, out->cost, err);
}

int dg_queue_check(struct dg_queue *q, uint64_t client, size_t tokens, struct dg_error *err)
{
    if (dg_queue_stopped(q))
        return dg_error_set(err, DG_ECANCELED, "the server is stopping");
    pthread_mutex_lock(&q->lock);
    struct room r = room_of(q, DG_CLASS_INTERACTIVE, DG_QUEUE_START_RATE);
    int rc = tokens > r.most ? DG_OK : check(q, &r, client, tokens / 2, dg_clock_ns(), err);
    pthread_mutex_unlock(&q->lock);
    return rc;
}
