/* Admission: puts the sentences that the batcher picks into the engine, and pauses live ones that
 * would make the step too expensive. */
#include "server/schedule/worker_internal.h"

#include "base/clock.h"
#include "server/schedule/queue_internal.h"

#define PICK 256 /* entries asked for at once */

static void joined(struct dg_worker *w, struct dg_entry *e, uint64_t now)
{
    e->paused = false;
    e->admitted_ns = now;
    e->encoded_ns = 0;
    dg_live_set_put(&w->live, e);
    dg_worker_replica(w, e->task->model)->newcomer_tokens += e->source_tokens;
    const unsigned label = dg_served_label(e->task->model, w->metrics);
    /* Each request has its own waiting time, also for a sentence that it shares. */
    for (; e; e = e->next)
        dg_metrics_waited(
            w->metrics, label, e->task->class, (double)(now - e->task->submitted_ns) / 1e9);
}

/* False: no room now. */
static bool admit_one(struct dg_worker *w, struct dg_entry *e, uint64_t now)
{
    struct dg_sentence s;
    struct dg_error err = {0};
    uint32_t id; /* in use once the engine has admitted the sentence */
    if (!dg_live_set_next_id(&w->live, &id))
        return false;
    dg_job_sentence(e->job, e->index, &s);
    int rc = dg_engine_admit(dg_worker_engine(w, e->task->model), id, &s, &err);
    if (rc == DG_OK) {
        joined(w, e, now);
        return true;
    }
    /* Anything but "no room" is the sentence's own fault: it fails, and the next one may still be
     * admitted. */
    if (rc != DG_EAGAIN)
        dg_worker_fail(w, e, &err);
    return rc != DG_EAGAIN;
}

/* Pause and resume live sentences for the step to come, as the batcher says. */
static void pause_others(struct dg_worker *w, struct dg_served *model, const struct dg_room *room)
{
    /* once more: some have just joined */
    const size_t n = dg_live_set_of_model(&w->live, model, w->of_model);
    dg_batcher_run(&w->queue->o.policy, room, w->of_model, n);
    for (size_t i = 0; i < n; i++) {
        struct dg_entry *e = w->of_model[i];
        if (e->paused == !e->runs)
            continue;
        e->paused = !e->runs;
        dg_engine_pause(dg_worker_engine(w, model), e->id, e->paused);
    }
}

void dg_worker_admit(struct dg_worker *w, struct dg_served *model, uint64_t now)
{
    struct dg_entry *picked[PICK];
    struct dg_replica *replica = dg_worker_replica(w, model);
    struct dg_capacity c;
    dg_engine_capacity(replica->engine, &c);
    struct dg_turn turn = {.now_ns = now,
        .live = w->of_model,
        .n_live = dg_live_set_of_model(&w->live, model, w->of_model),
        .room = {.rows = c.rows_free,
            .sentences = c.sentences_free,
            .step = atomic_load_explicit(&replica->steps, memory_order_relaxed)}};
    dg_room_set_knee(&turn.room, replica->step_rows, c.rows_free + c.rows_live);
    size_t n = dg_queue_pick(w->queue, model, &turn, picked, PICK);
    now = n > 0 ? dg_clock_ns() : now; /* some may have arrived by then */
    for (size_t i = 0; i < n; i++) {
        if (!admit_one(w, picked[i], now)) {
            /* The engine counts cache blocks, which the batcher does not know: this one and those
             * after it go back to their places in the queue. */
            picked[i]->refused = true;
            dg_queue_return(w->queue, picked + i, n - i);
            break;
        }
    }
    pause_others(w, model, &turn.room);
}

bool dg_worker_admit_again(struct dg_worker *w, struct dg_entry *e)
{
    struct dg_sentence s;
    struct dg_error err = {0};
    dg_job_sentence(e->job, e->index, &s);
    if (dg_engine_admit(dg_worker_engine(w, e->task->model), e->id, &s, &err) != DG_OK) {
        dg_live_set_leave(&w->live, e);
        dg_worker_fail(w, e, &err);
        return false;
    }
    e->paused = false;
    dg_worker_replica(w, e->task->model)->newcomer_tokens += e->source_tokens;
    return true;
}
