/* Sentences that leave without an answer: their requests are over, or the engine rejected them. */
#include "server/schedule/worker_internal.h"

/* Ends e's task, unless it has ended already, and settles e: both may be freed. */
static void drop(struct dg_entry *e)
{
    struct dg_task *t = e->task;
    dg_task_end(t, DG_TASK_STOPPED, NULL); /* the first outcome stays */
    dg_task_settle(t);
}

/* Drops the duplicates of the live sentence with that id whose task has ended; true: none is left.
 */
static bool drop_duplicates(struct dg_worker *w, uint32_t id, bool stop)
{
    struct dg_entry *stays = NULL; /* the last entry kept so far */
    for (struct dg_entry *e = w->live.by_id[id], *next; e; e = next) {
        next = e->next; /* dropping may free e with its task */
        if (stop || dg_task_over(e->task)) {
            dg_live_set_unlink(&w->live, stays, e);
            drop(e);
        } else {
            stays = e;
        }
    }
    return !stays;
}

void dg_worker_drop_over(struct dg_worker *w)
{
    bool stop = dg_queue_stopped(w->queue);
    for (uint32_t i = 0; i < w->live.n;) {
        const uint32_t id = w->live.ranking[i]->id;
        struct dg_served *model = w->live.ranking[i]->task->model;
        dg_served_ref(model); /* the last entry may free its task, and that the model */
        if (drop_duplicates(w, id, stop)) { /* the one that ranked next is now at i */
            dg_engine_cancel(dg_worker_engine(w, model), id);
            dg_worker_publish(w, model);
        } else {
            i++;
        }
        dg_served_unref(model);
    }
}

void dg_worker_fail(struct dg_worker *w, struct dg_entry *e, const struct dg_error *err)
{
    for (struct dg_entry *next; e; e = next) {
        next = e->next; /* settling may free e with its task */
        dg_task_end(e->task, DG_TASK_FAILED, err);
        dg_queue_cancel(w->queue, e->task, DG_TASK_FAILED);
        dg_task_settle(e->task);
    }
}
