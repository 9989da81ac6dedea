/* Prepares a request for translation: reads its body, plans its item and submits it to the queue.
 * Planner threads; HTTP threads if direct. */
#include "server/request/steps.h"

#include "base/clock.h"
#include "server/config.h"
#include "server/request/feeder.h"
#include "server/request/planner.h"
#include "server/request/stream.h"

/* Runs an item's own work, on the low-priority thread or that for files. */
static void work(void *arg)
{
    struct dg_item *item = arg;
    struct dg_request *r = item->request;
    if (dg_request_check(r, &item->failed) == DG_OK)
        item->answered = r->kind->work(item, &item->failed) == DG_OK;
    dg_request_over(r);
}

static int run(struct dg_request *r, struct dg_error *err)
{
    if (r->fed)
        return dg_feeder_add(r->app->feeder, r, err);
    if (!r->kind->work)
        return dg_request_submit(r->items, err);
    return dg_executor_post(dg_request_executor(r), &r->items->work)
               ? DG_OK
               : dg_error_set(err, DG_EAGAIN, "%d requests of this kind are waiting already",
                     r->kind->brief ? DG_MAX_FILES_WAITING : DG_MAX_LOW_WAITING);
}

/* Starts a fully prepared request, and its reply if that is a stream. */
static void start(struct dg_request *r)
{
    struct dg_error err = {0};
    r->planned_ns = dg_clock_ns();
    if (r->kind->work)
        r->items->work = (struct dg_work){.run = work, .arg = r->items};
    if (r->shape == DG_SHAPE_EVENTS)
        dg_request_say_version(r);
    /* A direct request has not waited yet, so its deadline is only set now; it needs none if the
     * cache has all its answers. */
    if (r->direct && r->deadline_ns == 0 &&
        (r->items->n_hops > 1 || r->items->hops[0].task->n_entries > 0))
        dg_request_set_deadline(r);
    atomic_store(&r->prepared, true);
    /* Read before it runs: its items may be over, and released, immediately. */
    const bool streams = r->stream && r->items->n_hops == 1;
    if (run(r, &err) != DG_OK) {
        dg_request_fail(r, &err);
        return;
    }
    if (streams) /* some sentences may be answered already */
        dg_request_news(r);
    if (atomic_load(&r->ended) != DG_TASK_OK) /* perhaps before there was anything to cancel */
        dg_request_tell(r);
    if (r->shape != DG_SHAPE_WHOLE)
        dg_http_turn(r->x, &dg_request_later[r->shape]);
    dg_request_arrive(r);
}

static size_t count_tokens(const struct dg_request *r)
{
    const struct dg_task *t = dg_item_hop(r->items)->task;
    size_t n = 0;
    for (size_t i = 0; t && i < t->n_entries; i++)
        n += t->entries[i].source_tokens;
    return n;
}

/* The models are open, or cannot be opened: a planner thread plans the item, however short it is.
 * came_ns moves, so that the wait for models does not count as time in the queue. */
static void models_are_open(void *arg)
{
    struct dg_item *item = arg;
    struct dg_request *r = item->request;
    r->came_ns += dg_clock_ns() - item->opening.since_ns;
    dg_planner_post(r->app->planner, DG_STEP_PLAN, r->bytes, &r->planning);
}

void dg_request_plan(void *request)
{
    struct dg_request *r = request;
    struct dg_error err = {0};
    uint64_t begin = dg_clock_ns();
    if (dg_request_check(r, &err) == DG_OK && !dg_item_get_models(r->items, models_are_open, &err))
        return; /* it is planned once they are open */
    int rc = err.code == DG_OK ? dg_item_plan(r->items, &err) : err.code;
    if (rc == DG_OK)
        rc = dg_item_take(r->items, &err);
    if (rc != DG_OK) {
        dg_request_waited(r, r->work_ns + dg_clock_ns() - begin, 0);
        dg_request_fail(r, &err);
        return;
    }
    dg_request_waited(r, r->work_ns + dg_clock_ns() - begin, count_tokens(r));
    if (!r->kind->work && r->items->n_hops == 1) {
        dg_json_free(r->body); /* the jobs have all of it now */
        r->body = NULL;
    }
    start(r);
}

/* Corrects the memory taken, which admission estimated from the body's length, now that the sizes
 * are known: of values and items, and for a fed request also of the answers, which are kept until
 * the last one is there, or of its lines. */
static int take_read(struct dg_request *r, struct dg_error *err)
{
    size_t n = dg_json_memory(r->body) + r->arena.held_bytes;
    if (r->fed && r->shape == DG_SHAPE_WHOLE) {
        for (size_t i = 0; i < r->n; i++)
            r->reserved += DG_BUDGET_ANSWER + DG_BUDGET_ANSWER_TEXT * dg_item_bytes(&r->items[i]);
        n += r->reserved;
    } else if (r->fed) {
        n += DG_BUDGET_LINES;
    }
    if (n > r->taken)
        return dg_request_take(r, n - r->taken, err);
    if (!r->fed && n < r->bytes * DG_BUDGET_READ) /* fed items take their own */
        n = r->bytes * DG_BUDGET_READ;
    if (n < r->taken) {
        dg_budget_give(&r->app->budget, r->taken - n);
        r->taken = n;
    }
    return DG_OK;
}

/* Takes the memory of the parsed body before it is parsed: a body of nothing but brackets grows
 * eightyfold. */
static int take_values(struct dg_request *r, struct dg_error *err)
{
    const struct dg_http_request *q = dg_http_request(r->x);
    if (q->body_len == 0 || (q->body[0] != '{' && q->body[0] != '['))
        return DG_OK;
    const size_t n = dg_json_memory_of_text(q->body, q->body_len);
    return n > r->taken ? dg_request_take(r, n - r->taken, err) : DG_OK;
}

static int read_body(struct dg_request *r, struct dg_error *err)
{
    int rc = dg_request_check(r, err);
    if (rc == DG_OK)
        rc = take_values(r, err);
    if (rc == DG_OK)
        rc = r->read(r, err);
    dg_http_drop_body(r->x); /* the request has what was read */
    if (rc == DG_OK)
        rc = take_read(r, err);
    if (rc != DG_OK)
        return rc;
    /* Texts in several languages turn the request into a fed one. */
    r->direct = r->direct && !r->fed;
    if (!r->direct)
        dg_request_set_deadline(r);
    return r->shape == DG_SHAPE_EVENTS ? dg_stream_open(&r->stream, err) : DG_OK;
}

void dg_request_read(void *request)
{
    struct dg_request *r = request;
    struct dg_error err = {0};
    uint64_t begin = dg_clock_ns();
    int rc = read_body(r, &err);
    r->work_ns = dg_clock_ns() - begin;
    if (rc != DG_OK) {
        dg_request_fail(r, &err);
    } else if (r->fed || (r->kind->at_once && r->kind->work)) {
        dg_request_waited(r, 0, 0);
        start(r);
    } else if (r->kind->at_once) {
        r->items->answered = true;
        dg_request_over(r);
        dg_request_arrive(r);
    } else if (r->bytes <= DG_SHORT_BYTES) {
        dg_request_plan(r);
    } else {
        dg_planner_post(r->app->planner, DG_STEP_PLAN, r->bytes, &r->planning);
    }
}
