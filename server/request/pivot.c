/* DESIGN. A call has one task at a time. When the first one is done, the call is handed to the
 * thread, which finishes its texts, plans them for the second model, exchanges the call's task,
 * jobs and model for the new ones under the pivot's lock (the client may be leaving just then, and
 * a stream may be asking for sentences) and submits. A queue that is full is asked again: half of
 * the work is done already, and would be done again if the client had to come back. */
#include "server/request/pivot.h"

#include "base/arena.h"
#include "base/clock.h"
#include "server/request/call_stream.h"
#include "server/request/pivot_answers.h"
#include "server/schedule/queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RETRY_NS 10000000 /* between tries when the queue is full */

struct dg_pivot {
    struct dg_pivots *all;
    struct dg_served *second; /* held until the exchange gives it to the call */
    const char *pair[2];      /* of the second hop */
    const char *language;     /* between; borrowed from the second model */
    char *prefix;             /* the second hop's target_prefix, owned */
    struct dg_call *next;     /* of who waits for the thread */
    pthread_mutex_t lock;     /* guards the call's task, and: */
    bool exchanged;
    enum dg_outcome ended; /* by the client's leaving, between the tasks */
    /* The first hop's, once exchanged. */
    struct dg_served *first;
    struct dg_job **jobs;       /* [n_jobs] */
    struct dg_answers *answers; /* [n_jobs] of these jobs */
    size_t n_jobs;
    struct dg_task *task;
    struct dg_arena arena; /* of the mapped answers */
};

struct dg_pivots {
    struct dg_app *app;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t some;
    /* guarded by lock */
    struct dg_call *arrived;
    bool stop;
};

const char *dg_pivot_language(const struct dg_pivot *p)
{
    return p->language;
}

void dg_pivot_models(const struct dg_call *c, const struct dg_served *models[2])
{
    struct dg_pivot *p = c->pivot;
    pthread_mutex_lock(&p->lock);
    models[0] = p->exchanged ? p->first : c->model;
    models[1] = p->exchanged ? c->model : p->second;
    pthread_mutex_unlock(&p->lock);
}

bool dg_pivot_exchanged(struct dg_pivot *p)
{
    pthread_mutex_lock(&p->lock);
    bool exchanged = p->exchanged;
    pthread_mutex_unlock(&p->lock);
    return exchanged;
}

void dg_pivot_sentence(const struct dg_pivot *p, size_t i, struct dg_answer_sentence *s)
{
    dg_pivot_answers_sentence(&p->answers[i], s);
}

struct dg_request_options dg_pivot_first_options(const struct dg_request_options *options)
{
    struct dg_request_options first = {
        .alignments = options->alignments, .format = options->format};
    first.search.beam = options->search.beam;
    first.search.alpha = options->search.alpha;
    return first;
}

int dg_pivot_open_take(struct dg_call *c, struct dg_way *way, struct dg_error *err)
{
    struct dg_translate_options o;
    const char *prefix = c->options.target_prefix;
    struct dg_pivot *p = calloc(1, sizeof *p);
    struct dg_job **jobs = calloc(c->n_jobs, sizeof *jobs);
    struct dg_answers *answers = calloc(c->n_jobs, sizeof *answers);
    char *copy = prefix ? strdup(prefix) : NULL;
    if (!p || !jobs || !answers || (prefix && !copy)) {
        free(p);
        free(jobs);
        free(answers);
        free(copy);
        return dg_error_set(err, DG_ENOMEM, "no memory for a request of %zu texts", c->n_jobs);
    }
    p->all = c->app->pivots;
    p->second = way->hops[1].model;
    p->pair[0] = p->language = way->hops[1].pair[0];
    p->pair[1] = way->hops[1].pair[1];
    p->prefix = copy;
    p->jobs = jobs;
    p->answers = answers;
    p->n_jobs = c->n_jobs;
    way->n = 1;
    pthread_mutex_init(&p->lock, NULL);
    dg_arena_init(&p->arena, 0);
    c->pivot = p;
    /* What the second model cannot do is said now and not after the first one's work. */
    return dg_request_options_plan(&c->options, p->second, p->pair, &o, err);
}

void dg_pivot_free(struct dg_pivot *p)
{
    if (!p)
        return;
    dg_task_free(p->task);
    for (size_t i = 0; i < p->n_jobs; i++)
        dg_job_free(p->jobs[i]);
    free(p->jobs);
    free(p->answers);
    dg_served_release(p->first);
    dg_served_release(p->second);
    dg_arena_deinit(&p->arena);
    pthread_mutex_destroy(&p->lock);
    free(p->prefix);
    free(p);
}

/* ---- From one hop to the next ---- */

/* Jobs for the second hop into next[], planned from the first one's answers. */
static int plan(struct dg_call *c, struct dg_job **next, struct dg_error *err)
{
    struct dg_pivot *p = c->pivot;
    struct dg_translate_options o;
    c->options.target_prefix = p->prefix;
    int rc = dg_request_options_plan(&c->options, p->second, p->pair, &o, err);
    for (size_t i = 0; i < c->n_jobs && rc == DG_OK; i++) {
        const struct dg_answers *a = &p->answers[i];
        rc = dg_job_finish(c->jobs[i], &p->answers[i], err);
        if (rc == DG_OK)
            rc = dg_job_plan(
                p->second->translator, a->best[0].text, a->best[0].len, &o, &next[i], err);
    }
    return rc;
}

/* The second hop's task, models and jobs become the call's. */
static void exchange(struct dg_call *c, struct dg_task *task)
{
    struct dg_pivot *p = c->pivot;
    struct dg_job **jobs = c->jobs;
    task->deadline_ns = c->task->deadline_ns;
    task->class = c->task->class;
    task->progress = c->task->progress;
    task->done = c->task->done;
    task->arg = c;
    pthread_mutex_lock(&p->lock);
    p->task = c->task;
    p->first = c->model;
    c->jobs = p->jobs;
    p->jobs = jobs;
    c->task = task;
    c->model = p->second;
    p->second = NULL;
    p->exchanged = true;
    if (p->ended != DG_TASK_OK)
        dg_task_end(task, p->ended, NULL);
    pthread_mutex_unlock(&p->lock);
}

/* False: the queue is full, ask again. */
static bool submit(struct dg_call *c)
{
    struct dg_error err = {0};
    struct dg_task *t = c->task;
    bool late = t->deadline_ns != 0 && t->deadline_ns <= dg_clock_ns();
    if (late)
        dg_task_end(t, DG_TASK_LATE, NULL);
    int rc = DG_ECANCELED;
    if (t->n_entries > 0 && !dg_task_over(t)) {
        rc = dg_queue_submit(c->app->queue, t, &err);
        if (rc == DG_OK)
            return true; /* the call is not ours any more */
        if (rc == DG_EAGAIN)
            return false;
        dg_task_end(t, rc == DG_ECANCELED ? DG_TASK_STOPPED : DG_TASK_FAILED, &err);
    }
    dg_http_wake(c->x);
    return true;
}

/* The thread's part for one call. False: it is to be tried again. */
static bool advance(struct dg_call *c)
{
    struct dg_pivot *p = c->pivot;
    struct dg_error err = {0};
    struct dg_task *task = NULL;
    if (p->exchanged)
        return submit(c);
    int rc = plan(c, p->jobs, &err);
    if (rc == DG_OK)
        rc = dg_task_open(p->second, p->jobs, c->n_jobs, &task, &err);
    if (rc == DG_OK && c->stream)
        rc = dg_call_stream_plan(c->stream, p->jobs, c->n_jobs, &err);
    if (rc != DG_OK) {
        dg_task_free(task);
        dg_task_end(c->task, DG_TASK_FAILED, &err);
        dg_http_wake(c->x);
        return true;
    }
    exchange(c, task);
    if (c->stream) /* some sentences may be answered already */
        dg_http_poke(c->x);
    return submit(c);
}

/* The times of both hops, in the second one's task. */
static void add_times(struct dg_pivot *p, struct dg_task *t)
{
    const struct dg_task *first = p->task;
    t->queue_ns += first->queue_ns;
    t->encode_ns += first->encode_ns;
    if (t->first_admitted_ns > 0)
        t->first_admitted_ns -= first->last_finished_ns - first->first_admitted_ns;
}

int dg_pivot_answers(struct dg_call *c, size_t i, struct dg_answers *a, struct dg_error *err)
{
    struct dg_pivot *p = c->pivot;
    return dg_pivot_answers_map(&p->answers[i], &p->arena, a, err);
}

bool dg_pivot_next(struct dg_call *c)
{
    struct dg_pivot *p = c->pivot;
    struct dg_pivots *all = p->all;
    if (p->exchanged) {
        add_times(p, c->task);
        return false;
    }
    if (dg_task_over(c->task))
        return false;
    pthread_mutex_lock(&all->lock);
    bool taken = !all->stop;
    if (taken) {
        p->next = all->arrived;
        all->arrived = c;
        pthread_cond_signal(&all->some);
    }
    pthread_mutex_unlock(&all->lock);
    if (!taken)
        dg_task_end(c->task, DG_TASK_STOPPED, NULL);
    return taken;
}

void dg_pivot_cancel(struct dg_call *c, enum dg_outcome outcome)
{
    struct dg_pivot *p = c->pivot;
    pthread_mutex_lock(&p->lock);
    p->ended = outcome;
    struct dg_task *task = c->task; /* lives as long as the call */
    pthread_mutex_unlock(&p->lock);
    dg_queue_cancel(c->app->queue, task, outcome);
}

/* ---- The thread ---- */

/* What has arrived, the first first, in front of what has to be tried again. */
static struct dg_call *take(struct dg_pivots *all, struct dg_call *again, bool *stop)
{
    pthread_mutex_lock(&all->lock);
    while (!all->arrived && !all->stop && !again)
        pthread_cond_wait(&all->some, &all->lock);
    if (!all->arrived && !all->stop) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += RETRY_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&all->some, &all->lock, &until);
    }
    struct dg_call *list = again;
    for (struct dg_call *c = all->arrived, *next; c; c = next) {
        next = c->pivot->next;
        c->pivot->next = list;
        list = c;
    }
    all->arrived = NULL;
    *stop = all->stop;
    pthread_mutex_unlock(&all->lock);
    return list;
}

static void *work(void *arg)
{
    struct dg_pivots *all = arg;
    struct dg_call *again = NULL;
    bool stop = false;
    while (!stop) {
        struct dg_call *c = take(all, again, &stop), *next;
        for (again = NULL; c; c = next) {
            next = c->pivot->next; /* it may be freed once it has been woken */
            if (stop) {
                dg_task_end(c->task, DG_TASK_STOPPED, NULL);
                dg_http_wake(c->x);
            } else if (!advance(c)) {
                c->pivot->next = again;
                again = c;
            }
        }
    }
    return NULL;
}

int dg_pivots_open(struct dg_app *app, struct dg_pivots **out, struct dg_error *err)
{
    pthread_condattr_t monotonic;
    struct dg_pivots *all = calloc(1, sizeof *all);
    if (!all)
        return dg_error_set(err, DG_ENOMEM, "no memory for pivots");
    all->app = app;
    pthread_mutex_init(&all->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&all->some, &monotonic);
    pthread_condattr_destroy(&monotonic);
    int number = pthread_create(&all->thread, NULL, work, all);
    if (number != 0) {
        pthread_mutex_destroy(&all->lock);
        pthread_cond_destroy(&all->some);
        free(all);
        return dg_error_set(err, DG_EIO, "cannot start a thread: %s", strerror(number));
    }
    *out = all;
    return DG_OK;
}

void dg_pivots_stop(struct dg_pivots *all)
{
    if (!all)
        return;
    pthread_mutex_lock(&all->lock);
    bool first = !all->stop;
    all->stop = true;
    pthread_cond_signal(&all->some);
    pthread_mutex_unlock(&all->lock);
    if (first)
        pthread_join(all->thread, NULL);
}

void dg_pivots_close(struct dg_pivots *all)
{
    if (!all)
        return;
    dg_pivots_stop(all);
    pthread_mutex_destroy(&all->lock);
    pthread_cond_destroy(&all->some);
    free(all);
}
