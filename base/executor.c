/* DESIGN. A work item is in one of two lists: ready, in posting order, or timed, in order of due
 * time. A separate timer thread moves items from timed to ready. Most timed items, such as
 * deadlines, are cancelled before they are due, so posting an item for later than the timer's next
 * wake-up leaves the timer asleep. */
#include "base/executor.h"

#include "base/clock.h"
#include "base/thread_name.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { NOWHERE, READY, TIMED };

struct list {
    struct dg_work *first, *last;
};

struct thread {
    struct dg_executor *executor;
    pthread_t id;
    /* guarded by the executor's lock */
    /* the running item; it may have been freed, so only its address is compared */
    const struct dg_work *current;
    /* current was posted again while it runs, for again_ns (0: soon) */
    bool again;
    uint64_t again_ns;
};

struct dg_executor {
    struct dg_executor_options o;
    pthread_t timer;
    bool has_timer;
    pthread_mutex_t lock;
    pthread_cond_t some, sooner;
    /* guarded by lock */
    struct list ready, timed;
    uint32_t n_ready;
    /* when the timer thread wakes next */
    uint64_t look_ns;
    bool closed;
    uint32_t n_threads;
    struct thread threads[];
};

static void list_put(struct list *l, struct dg_work *before, struct dg_work *w)
{
    w->before = before;
    w->after = before ? before->after : l->first;
    *(before ? &before->after : &l->first) = w;
    *(w->after ? &w->after->before : &l->last) = w;
}

static void list_remove(struct list *l, struct dg_work *w)
{
    *(w->before ? &w->before->after : &l->first) = w->after;
    *(w->after ? &w->after->before : &l->last) = w->before;
    w->where = NOWHERE;
}

/* The lock is held here and in put_timed, take_out and run_again. */
static void put_ready(struct dg_executor *e, struct dg_work *w)
{
    list_put(&e->ready, e->ready.last, w);
    w->where = READY;
    e->n_ready++;
    pthread_cond_signal(&e->some);
}

static void put_timed(struct dg_executor *e, struct dg_work *w, uint64_t at_ns)
{
    struct dg_work *before = e->timed.last; /* times mostly arrive in order */
    while (before && before->at_ns > at_ns)
        before = before->before;
    w->at_ns = at_ns;
    list_put(&e->timed, before, w);
    w->where = TIMED;
    if (at_ns < e->look_ns) {
        e->look_ns = at_ns;
        pthread_cond_signal(&e->sooner);
    }
}

static bool take_out(struct dg_executor *e, struct dg_work *w)
{
    if (w->where == NOWHERE)
        return false;
    e->n_ready -= w->where == READY;
    list_remove(w->where == READY ? &e->ready : &e->timed, w);
    return true;
}

/* If w is running now, mark it to run again and return true. */
static bool run_again(struct dg_executor *e, const struct dg_work *w, uint64_t at_ns)
{
    for (uint32_t i = 0; i < e->n_threads; i++) {
        struct thread *t = &e->threads[i];
        if (t->current != w)
            continue;
        t->again_ns = t->again && t->again_ns < at_ns ? t->again_ns : at_ns;
        t->again = true;
        return true;
    }
    return false;
}

bool dg_executor_post(struct dg_executor *e, struct dg_work *w)
{
    bool taken = false;
    pthread_mutex_lock(&e->lock);
    if (w->where == READY)
        taken = true;
    else if (!e->closed && (e->o.max_ready == 0 || e->n_ready < e->o.max_ready)) {
        take_out(e, w);
        if (!run_again(e, w, 0))
            put_ready(e, w);
        taken = true;
    }
    pthread_mutex_unlock(&e->lock);
    return taken;
}

void dg_executor_post_at(struct dg_executor *e, struct dg_work *w, uint64_t at_ns)
{
    pthread_mutex_lock(&e->lock);
    bool sooner = w->where == TIMED && w->at_ns <= at_ns;
    if (!e->closed && w->where != READY && !sooner && !run_again(e, w, at_ns)) {
        take_out(e, w);
        put_timed(e, w, at_ns);
    }
    pthread_mutex_unlock(&e->lock);
}

bool dg_executor_cancel(struct dg_executor *e, struct dg_work *w)
{
    pthread_mutex_lock(&e->lock);
    bool waited = take_out(e, w);
    pthread_mutex_unlock(&e->lock);
    return waited;
}

static void *keep_time(void *arg)
{
    struct dg_executor *e = arg;
    dg_thread_name("timer");
    pthread_mutex_lock(&e->lock);
    while (!e->closed) {
        struct dg_work *w = e->timed.first;
        uint64_t now = dg_clock_ns();
        if (w && w->at_ns <= now) {
            take_out(e, w);
            put_ready(e, w);
            continue;
        }
        /* Keep a wake-up whose item was cancelled: posting an item for later than that then wakes
         * nobody. */
        uint64_t next = w ? w->at_ns : UINT64_MAX;
        if (e->look_ns <= now || next < e->look_ns)
            e->look_ns = next;
        struct timespec until = {
            (time_t)(e->look_ns / 1000000000), (long)(e->look_ns % 1000000000)};
        if (e->look_ns == UINT64_MAX)
            pthread_cond_wait(&e->sooner, &e->lock);
        else
            pthread_cond_timedwait(&e->sooner, &e->lock, &until);
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

static void *work(void *arg)
{
    struct thread *t = arg;
    struct dg_executor *e = t->executor;
    dg_thread_name("%s", e->o.name);
    /* On Linux this affects this thread alone. If it is not allowed, the thread still takes no more
     * than one core's share. */
    if (e->o.nice != 0)
        setpriority(PRIO_PROCESS, (id_t)gettid(), e->o.nice);
    pthread_mutex_lock(&e->lock);
    while (!e->closed) {
        struct dg_work *w = e->ready.first;
        if (!w) {
            pthread_cond_wait(&e->some, &e->lock);
            continue;
        }
        take_out(e, w);
        t->current = w;
        pthread_mutex_unlock(&e->lock);
        w->run(w->arg);
        pthread_mutex_lock(&e->lock);
        t->current = NULL;
        if (t->again && t->again_ns > 0) /* posted while it ran, so it still exists */
            put_timed(e, w, t->again_ns);
        else if (t->again)
            put_ready(e, w);
        t->again = false;
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}

int dg_executor_open(
    const struct dg_executor_options *options, struct dg_executor **out, struct dg_error *err)
{
    struct dg_executor *e = calloc(1, sizeof *e + options->threads * sizeof *e->threads);
    pthread_condattr_t monotonic;
    if (!e)
        return dg_error_set(err, DG_ENOMEM, "no memory for %u threads", options->threads);
    e->o = *options;
    e->look_ns = UINT64_MAX;
    pthread_mutex_init(&e->lock, NULL);
    pthread_cond_init(&e->some, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&e->sooner, &monotonic);
    pthread_condattr_destroy(&monotonic);
    int number = pthread_create(&e->timer, NULL, keep_time, e);
    e->has_timer = number == 0;
    pthread_mutex_lock(&e->lock); /* the threads read the table */
    while (number == 0 && e->n_threads < options->threads) {
        struct thread *t = &e->threads[e->n_threads];
        t->executor = e;
        number = pthread_create(&t->id, NULL, work, t);
        e->n_threads += number == 0;
    }
    pthread_mutex_unlock(&e->lock);
    if (number != 0) {
        dg_executor_close(e);
        return dg_error_set(err, DG_EIO, "cannot start a thread: %s", strerror(number));
    }
    *out = e;
    return DG_OK;
}

void dg_executor_close(struct dg_executor *e)
{
    if (!e)
        return;
    pthread_mutex_lock(&e->lock);
    e->closed = true;
    pthread_cond_broadcast(&e->some);
    pthread_cond_broadcast(&e->sooner);
    pthread_mutex_unlock(&e->lock);
    if (e->has_timer)
        pthread_join(e->timer, NULL);
    for (uint32_t i = 0; i < e->n_threads; i++)
        pthread_join(e->threads[i].id, NULL);
    pthread_cond_destroy(&e->sooner);
    pthread_cond_destroy(&e->some);
    pthread_mutex_destroy(&e->lock);
    free(e);
}
