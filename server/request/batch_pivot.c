/* An item of a batch that goes through a third language: its second hop is planned by the feeder
 * from the first one's answers. The answer is that of POST /v1/translate (pivot.h). */
#include "server/request/batch_internal.h"
#include "server/request/pivot.h"
#include "server/request/pivot_answers.h"

#include <stdlib.h>

int dg_batch_pivot_open_take(struct dg_batch_entry *e, struct dg_way *way, struct dg_error *err)
{
    struct dg_translate_options o;
    struct dg_batch_pivot *p = calloc(1, sizeof *p);
    if (!p)
        return dg_error_set(err, DG_ENOMEM, "no memory for an item");
    p->model = way->hops[1].model;
    p->pair[0] = way->hops[1].pair[0];
    p->pair[1] = way->hops[1].pair[1];
    way->n = 1;
    dg_arena_init(&p->arena, 0);
    e->pivot = p;
    /* What the second model cannot do is said before the first one's work. */
    return dg_request_options_plan(&e->request->options, p->model, p->pair, &o, err);
}

void dg_batch_pivot_free(struct dg_batch_pivot *p)
{
    if (!p)
        return;
    dg_job_free(p->first);
    dg_served_release(p->model);
    dg_arena_deinit(&p->arena);
    free(p);
}

bool dg_batch_entry_goes_on(const struct dg_batch_entry *e)
{
    return e->pivot && !e->pivot->first && !dg_task_over(e->task);
}

int dg_batch_entry_next(struct dg_batch_entry *e, struct dg_error *err)
{
    struct dg_batch_pivot *p = e->pivot;
    struct dg_served *first = e->model;
    struct dg_translate_options o;
    struct dg_job *job = NULL;
    struct dg_task *task = NULL;
    int rc = dg_request_options_plan(&e->request->options, p->model, p->pair, &o, err);
    if (rc == DG_OK)
        rc = dg_job_finish(e->job, &p->answers, err);
    if (rc == DG_OK)
        rc = dg_job_plan(
            p->model->translator, p->answers.best[0].text, p->answers.best[0].len, &o, &job, err);
    if (rc == DG_OK)
        rc = dg_task_open(p->model, &job, 1, &task, err);
    if (rc != DG_OK) {
        dg_job_free(job);
        return rc;
    }
    dg_task_free(e->task);
    p->first = e->job;
    e->model = p->model;
    p->model = first;
    e->job = job;
    e->task = task;
    return DG_OK;
}

int dg_batch_pivot_answers(struct dg_batch_pivot *p, struct dg_answers *a, struct dg_error *err)
{
    return dg_pivot_answers_map(&p->answers, &p->arena, a, err);
}
