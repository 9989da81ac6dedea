/* A worker's own engine of a model. */
#include "server/schedule/worker_internal.h"

#include "server/schedule/pace.h"
#include "server/schedule/queue_internal.h"

struct dg_replica *dg_worker_replica(const struct dg_worker *w, const struct dg_served *model)
{
    return &model->replicas[w->number];
}

struct dg_engine *dg_worker_engine(const struct dg_worker *w, const struct dg_served *model)
{
    return dg_worker_replica(w, model)->engine;
}

void dg_worker_publish(const struct dg_worker *w, const struct dg_served *model)
{
    struct dg_replica *replica = dg_worker_replica(w, model);
    struct dg_capacity c;
    uint64_t cost = 0;
    for (uint32_t i = 0; i < w->live.n; i++)
        if (w->live.ranking[i]->task->model == model)
            cost += dg_queue_cost(w->live.ranking[i], false);
    atomic_store_explicit(&replica->cost_live, cost, memory_order_relaxed);
    dg_engine_capacity(replica->engine, &c);
    double rate = replica->pace ? dg_pace_rate(replica->pace) : 0;
    /* A whole number, at least 1 once the rate is known: 0 means that it is not. */
    uint32_t whole = rate < 1 ? rate > 0 : rate < 4e9 ? (uint32_t)rate : UINT32_MAX;
    atomic_store_explicit(
        &replica->blocks_used, c.blocks_total - c.blocks_free, memory_order_relaxed);
    atomic_store_explicit(&replica->blocks_total, c.blocks_total, memory_order_relaxed);
    atomic_store_explicit(&replica->sentences_live, c.sentences_live, memory_order_relaxed);
    atomic_store_explicit(&replica->cost_per_s, whole, memory_order_relaxed);
}

void dg_worker_take_cores(const struct dg_worker *w, struct dg_replica *replica)
{
    /* Other workers start and stop meanwhile: ask for the share before every step. */
    int n = dg_core_share_threads(w->share);
    if (n == 0 || n == replica->threads || !replica->be->ops->use_threads)
        return;
    replica->be->ops->use_threads(replica->be, n);
    replica->threads = n;
}
