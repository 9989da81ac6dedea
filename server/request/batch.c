/* DESIGN. The feeder's thread owns every batch from its start to its end; others only put things
 * into two lists under its lock (batches that arrived, items whose task is over) and take lines
 * out. So a task is opened, cancelled and freed by one thread, and the lock guards no call into
 * another module. While a batch is under way the feeder looks at least every TICK: a queue that has
 * room again does not say so. */
#include "server/request/batch_internal.h"

#include "base/clock.h"
#include "server/schedule/queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_BATCHES 64 /* as many as bodies of full size are held, main.c */
#define TICK_NS 5000000
#define LINES_BYTES 65536      /* written and not yet taken: above, no more items are begun */
#define STARTS 32              /* items begun before looking at what has finished */
#define INTERACTIVE_ENTRIES 64 /* waiting: above, a batch called interactive puts none in */

static void poke(struct dg_feeder *f)
{
    pthread_mutex_lock(&f->lock);
    f->poked = true;
    pthread_cond_signal(&f->some);
    pthread_mutex_unlock(&f->lock);
}

/* ---- From other threads ---- */

int dg_batch_open(struct dg_feeder *f, struct dg_v1_batch *request,
    const struct dg_batch_options *options, struct dg_batch **out, struct dg_error *err)
{
    struct dg_batch *b = calloc(1, sizeof *b);
    struct dg_batch_entry *entries = calloc(request->n, sizeof *entries);
    if (!b || !entries) {
        free(b);
        free(entries);
        dg_v1_batch_free(request);
        return dg_error_set(err, DG_ENOMEM, "no memory for a batch");
    }
    b->feeder = f;
    b->request = *request;
    b->o = *options;
    b->entries = entries;
    dg_buffer_init(&b->lines);
    for (size_t i = 0; i < request->n; i++) {
        entries[i].batch = b;
        entries[i].request = &b->request.items[i];
    }
    memset(request, 0, sizeof *request);
    *out = b;
    return DG_OK;
}

void dg_batch_free(struct dg_batch *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->request.n; i++)
        free(b->entries[i].answer);
    free(b->entries);
    dg_buffer_deinit(&b->lines);
    dg_v1_batch_free(&b->request);
    free(b);
}

int dg_batch_start(struct dg_batch *b, struct dg_error *err)
{
    struct dg_feeder *f = b->feeder;
    pthread_mutex_lock(&f->lock);
    bool room = f->n_batches < MAX_BATCHES;
    if (room) {
        f->n_batches++;
        b->next = f->arrived;
        f->arrived = b;
        f->poked = true;
        pthread_cond_signal(&f->some);
    }
    pthread_mutex_unlock(&f->lock);
    if (room)
        return DG_OK;
    return dg_error_set(
        err, DG_EAGAIN, "%d batches are under way, the most there may be", MAX_BATCHES);
}

void dg_batch_cancel(struct dg_batch *b)
{
    atomic_store(&b->cancelled, true);
    poke(b->feeder);
}

void dg_batch_take_lines(struct dg_batch *b, struct dg_buffer *out)
{
    struct dg_feeder *f = b->feeder;
    pthread_mutex_lock(&f->lock);
    bool full = b->lines.len >= LINES_BYTES;
    if (b->lines.failed)
        out->failed = true;
    dg_buffer_add(out, b->lines.data, b->lines.len);
    dg_buffer_reset(&b->lines);
    if (full) {
        f->poked = true;
        pthread_cond_signal(&f->some);
    }
    pthread_mutex_unlock(&f->lock);
}

int64_t dg_batch_answered(const struct dg_batch *b)
{
    return b->answered;
}

void dg_batch_write(struct dg_batch *b, struct dg_buffer *out)
{
    dg_buffer_adds(out, "{\"items\":[");
    for (size_t i = 0; i < b->request.n; i++) {
        if (i > 0)
            dg_buffer_adds(out, ",");
        if (b->entries[i].answer)
            dg_buffer_add(out, b->entries[i].answer, b->entries[i].answer_len);
        else
            out->failed = true; /* memory was out */
    }
    dg_buffer_adds(out, "]}");
}

static void item_done(void *arg)
{
    struct dg_batch_entry *e = arg;
    struct dg_feeder *f = e->batch->feeder;
    pthread_mutex_lock(&f->lock);
    e->next_over = f->over;
    f->over = e;
    pthread_cond_signal(&f->some);
    pthread_mutex_unlock(&f->lock);
}

/* ---- The feeder's thread ---- */

/* An item is over: its answer is written, and handed on when the batch is read line by line. */
static void settle(struct dg_feeder *f, struct dg_batch_entry *e, const struct dg_error *err)
{
    struct dg_batch *b = e->batch;
    e->running = false;
    dg_batch_entry_settle(f, e, err);
    b->n_over++;
    if (!b->o.lines || atomic_load(&b->cancelled))
        return;
    pthread_mutex_lock(&f->lock);
    if (e->answer)
        dg_buffer_add(&b->lines, e->answer, e->answer_len);
    else
        b->lines.failed = true;
    dg_buffer_adds(&b->lines, "\n");
    pthread_mutex_unlock(&f->lock);
    free(e->answer);
    e->answer = NULL;
    b->o.ready(b->o.arg);
}

/* Nobody waits for it any more. */
static void settle_late(struct dg_feeder *f, struct dg_batch_entry *e)
{
    struct dg_error late = {0};
    dg_error_set(&late, DG_ETIMEOUT, "the batch's deadline passed");
    settle(f, e, &late);
}

/* Its task is over, or had nothing to do: that was the item, unless another model is to go on. */
static void hop_over(struct dg_feeder *f, struct dg_batch_entry *e)
{
    struct dg_error err = {0};
    e->running = false;
    if (!dg_batch_entry_goes_on(e)) {
        settle(f, e, NULL);
    } else if (e->batch->cut) {
        settle_late(f, e);
    } else if (dg_batch_entry_next(e, &err) != DG_OK) {
        settle(f, e, &err);
    } else if (e->task->n_entries == 0) {
        settle(f, e, NULL);
    } else {
        e->next_between = NULL;
        *f->between_end = e;
        f->between_end = &e->next_between;
    }
}

static void take_over(struct dg_feeder *f, struct dg_batch_entry *list)
{
    struct dg_batch_entry *e, *turned = NULL;
    while ((e = list) != NULL) { /* they were put in front: back into the order they ended in */
        list = e->next_over;
        e->next_over = turned;
        turned = e;
    }
    while ((e = turned) != NULL) {
        turned = e->next_over;
        hop_over(f, e);
    }
}

/* Put an item's task into the queue. False: there is no room. */
static bool submit(struct dg_feeder *f, struct dg_batch_entry *e)
{
    struct dg_error err = {0};
    const struct dg_batch *b = e->batch;
    e->task->deadline_ns = b->o.deadline_ns;
    e->task->class = (uint8_t)b->request.priority;
    e->task->done = item_done;
    e->task->arg = e;
    e->running = true;
    int rc = dg_queue_submit(f->app->queue, e->task, &err);
    if (rc == DG_OK)
        return true;
    e->running = false;
    if (rc == DG_EAGAIN)
        return false;
    settle(f, e, &err);
    return true;
}

/* Second hops are put in before anything new is begun, also where has_room would not have it: half
 * of their work is done. */
static void go_on(struct dg_feeder *f)
{
    struct dg_batch_entry **at = &f->between, *e;
    while ((e = *at) != NULL) {
        struct dg_batch_entry *next = e->next_between; /* e may be over once it was submitted */
        if (e->batch->cut) {
            settle_late(f, e);
        } else if (!submit(f, e)) {
            at = &e->next_between;
            continue;
        }
        *at = next;
    }
    f->between_end = at;
}

/* May the batch put more into the queue? The queue sees to it that bulk work keeps nobody out, and
 * says when it is full; a batch that passes as interactive leaves room for those who are. */
static bool has_room(struct dg_feeder *f, const struct dg_batch *b)
{
    struct dg_queue_load load;
    if (b->request.priority == DG_CLASS_BULK)
        return true;
    dg_queue_load(f->app->queue, &load);
    return load.entries < INTERACTIVE_ENTRIES;
}

/* Begin the batch's next item. False: the queue has no room. */
static bool start_next(struct dg_feeder *f, struct dg_batch *b)
{
    struct dg_batch_entry *e = &b->entries[b->n_started];
    struct dg_error err = {0};
    int rc = e->request->error ? e->request->error->code : DG_OK;
    if (rc != DG_OK)
        err = *e->request->error;
    else if (dg_queue_stopped(f->app->queue)) /* nobody waits for the planning of what is left */
        rc = dg_error_set(&err, DG_ECANCELED, "the server is stopping");
    else if (!e->task)
        rc = dg_batch_entry_plan(f, e, &err);
    if (rc == DG_OK && e->task->n_entries > 0) {
        if (!has_room(f, b) || !submit(f, e))
            return false;
        b->n_started++;
        return true;
    }
    b->n_started++;
    if (rc == DG_OK)
        hop_over(f, e);
    else
        settle(f, e, &err);
    return true;
}

static bool may_start(struct dg_feeder *f, struct dg_batch *b)
{
    if (b->cut || b->n_started == b->request.n)
        return false;
    if (!b->o.lines)
        return true;
    pthread_mutex_lock(&f->lock);
    bool read = b->lines.len < LINES_BYTES;
    pthread_mutex_unlock(&f->lock);
    return read;
}

/* An item of each batch in turn, as long as the queue takes any. True: there may be more to do. */
static bool start_some(struct dg_feeder *f)
{
    int started = 0;
    for (bool any = true; any && started < STARTS;) {
        any = false;
        for (struct dg_batch *b = f->batches; b; b = b->next) {
            if (may_start(f, b) && start_next(f, b)) {
                any = true;
                started++;
            }
        }
    }
    return started >= STARTS;
}

/* The client has gone, or time is up: end what runs, and settle what was not begun. */
static void cut(struct dg_feeder *f, struct dg_batch *b, enum dg_outcome outcome)
{
    b->cut = true;
    for (size_t i = 0; i < b->n_started; i++)
        if (b->entries[i].running)
            dg_queue_cancel(f->app->queue, b->entries[i].task, outcome);
    while (b->n_started < b->request.n) {
        struct dg_batch_entry *e = &b->entries[b->n_started++];
        if (e->request->error)
            settle(f, e, e->request->error);
        else
            settle_late(f, e);
    }
}

static void cut_some(struct dg_feeder *f)
{
    uint64_t now = dg_clock_ns();
    for (struct dg_batch *b = f->batches; b; b = b->next) {
        if (b->cut)
            continue;
        if (atomic_load(&b->cancelled))
            cut(f, b, DG_TASK_GONE);
        else if (b->o.deadline_ns <= now)
            cut(f, b, DG_TASK_LATE);
    }
}

/* Let go of batches whose items are all over. */
static void retire(struct dg_feeder *f)
{
    for (struct dg_batch **at = &f->batches; *at;) {
        struct dg_batch *b = *at;
        if (b->n_over < b->request.n) {
            at = &b->next;
            continue;
        }
        *at = b->next;
        pthread_mutex_lock(&f->lock);
        f->n_batches--;
        pthread_mutex_unlock(&f->lock);
        b->o.done(b->o.arg);
    }
}

/* Take what has come, or wait for it; false: stop. */
static bool receive(struct dg_feeder *f, bool busy, struct dg_batch_entry **over)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += TICK_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
    pthread_mutex_lock(&f->lock);
    while (!busy && !f->stop && !f->poked && !f->over) {
        if (!f->batches)
            pthread_cond_wait(&f->some, &f->lock);
        else if (pthread_cond_timedwait(&f->some, &f->lock, &until) == ETIMEDOUT)
            break;
    }
    f->poked = false;
    *over = f->over;
    f->over = NULL;
    struct dg_batch *arrived = f->arrived;
    f->arrived = NULL;
    bool go_on = !f->stop;
    pthread_mutex_unlock(&f->lock);
    while (arrived) {
        struct dg_batch *b = arrived;
        arrived = b->next;
        b->next = f->batches;
        f->batches = b;
    }
    return go_on;
}

static void *feed(void *arg)
{
    struct dg_feeder *f = arg;
    struct dg_batch_entry *over;
    bool busy = false;
    while (receive(f, busy, &over)) {
        take_over(f, over);
        cut_some(f);
        go_on(f);
        busy = start_some(f);
        retire(f);
    }
    return NULL;
}

int dg_feeder_open(struct dg_app *app, struct dg_feeder **out, struct dg_error *err)
{
    struct dg_feeder *f = calloc(1, sizeof *f);
    pthread_condattr_t attr;
    if (!f)
        return dg_error_set(err, DG_ENOMEM, "no memory for the feeder of batches");
    f->app = app;
    f->between_end = &f->between;
    pthread_mutex_init(&f->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&f->some, &attr);
    pthread_condattr_destroy(&attr);
    int number = pthread_create(&f->thread, NULL, feed, f);
    if (number != 0) {
        pthread_mutex_destroy(&f->lock);
        pthread_cond_destroy(&f->some);
        free(f);
        return dg_error_set(
            err, DG_EIO, "cannot start the feeder of batches: %s", strerror(number));
    }
    *out = f;
    return DG_OK;
}

size_t dg_feeder_batches(struct dg_feeder *f)
{
    pthread_mutex_lock(&f->lock);
    size_t n = f->n_batches;
    pthread_mutex_unlock(&f->lock);
    return n;
}

void dg_feeder_close(struct dg_feeder *f)
{
    if (!f)
        return;
    pthread_mutex_lock(&f->lock);
    f->stop = true;
    pthread_cond_signal(&f->some);
    pthread_mutex_unlock(&f->lock);
    pthread_join(f->thread, NULL);
    pthread_mutex_destroy(&f->lock);
    pthread_cond_destroy(&f->some);
    free(f);
}
