/* How much may wait (the bound of queue.h). The queue's lock is held. */
#include "server/schedule/queue_internal.h"

/* Source tokens a second of all workers together. */
static double rate_of(const struct dg_served *model)
{
    double rate = 0;
    for (uint32_t i = 0; i < model->n_replicas; i++) {
        uint32_t known =
            atomic_load_explicit(&model->replicas[i].tokens_per_s, memory_order_relaxed);
        rate += known > 0 ? known : DG_QUEUE_START_RATE;
    }
    return rate > 0 ? rate : DG_QUEUE_START_RATE;
}

/* What waits of the classes up to `last`, in all lanes: they share the workers. */
struct dg_backlog dg_queue_backlog(const struct dg_queue *q, int last)
{
    struct dg_backlog b = {0, 0};
    for (size_t i = 0; i < q->n_lanes; i++) {
        uint64_t tokens = 0;
        for (int c = 0; c <= last; c++)
            tokens += q->lanes[i].tokens[c];
        b.tokens += tokens;
        b.seconds += (double)tokens / rate_of(q->lanes[i].model);
    }
    return b;
}

/* Source tokens of t that no waiting sentence is translated for anyway. */
static uint64_t fresh_tokens(const struct dg_queue *q, const struct dg_task *t)
{
    uint64_t n = 0;
    for (size_t i = 0; i < t->n_entries; i++)
        if (!dg_duplicates_find(&q->duplicates, &t->entries[i]))
            n += t->entries[i].source_tokens;
    return n;
}

int dg_queue_check_bound(const struct dg_queue *q, const struct dg_task *t, struct dg_error *err)
{
    struct dg_backlog b = dg_queue_backlog(q, t->class);
    uint64_t tokens = fresh_tokens(q, t);
    if (b.tokens == 0)
        return DG_OK;
    if (q->o.max_tokens > 0)
        return b.tokens + tokens <= q->o.max_tokens
                   ? DG_OK
                   : dg_error_set(err, DG_EAGAIN,
                         "%llu tokens are waiting, %llu more would be over the limit of %zu",
                         (unsigned long long)b.tokens, (unsigned long long)tokens, q->o.max_tokens);
    double more = (double)tokens / rate_of(t->model);
    return b.seconds + more <= q->o.max_seconds
               ? DG_OK
               : dg_error_set(err, DG_EAGAIN,
                     "%.1f s of work are waiting, %.1f more would be over the limit of %g",
                     b.seconds, more, q->o.max_seconds);
}

int dg_queue_check(struct dg_queue *q, size_t tokens, struct dg_error *err)
{
    int rc = DG_OK;
    if (dg_queue_stopped(q))
        return dg_error_set(err, DG_ECANCELED, "the server is stopping");
    pthread_mutex_lock(&q->lock);
    struct dg_backlog b = dg_queue_backlog(q, DG_CLASS_INTERACTIVE);
    pthread_mutex_unlock(&q->lock);
    double more = (double)tokens / 2;
    if (b.tokens > 0 && q->o.max_tokens > 0 && (double)b.tokens + more > (double)q->o.max_tokens)
        rc = dg_error_set(err, DG_EAGAIN,
            "%llu tokens are waiting, about %zu more would be over the limit of %zu",
            (unsigned long long)b.tokens, tokens, q->o.max_tokens);
    more *= b.tokens > 0 ? b.seconds / (double)b.tokens : 0;
    if (b.tokens > 0 && q->o.max_tokens == 0 && b.seconds + more > q->o.max_seconds)
        rc = dg_error_set(err, DG_EAGAIN,
            "%.1f s of work are waiting, about %.1f more would be over the limit of %g", b.seconds,
            2 * more, q->o.max_seconds);
    return rc;
}
