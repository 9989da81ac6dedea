/* DESIGN. A lane keeps two arrays side by side: what the policy may see, and the entries. A lane
 * exists while something waits in it; its entries' tasks hold the model. Done callbacks never run
 * under the lock: what is dropped is collected and settled after it. */
#include "server/queue.h"

#include "base/clock.h"

#include <stdlib.h>
#include <string.h>

#define MAX_LANES 256

struct lane {
    struct dg_served *model;
    struct dg_waiting *waiting; /* [n] */
    struct dg_entry **entries;  /* [n] */
    size_t *picked;             /* [cap] the policy's answer */
    size_t n, cap;
};

struct dg_queue {
    struct dg_queue_options o;
    atomic_bool stopped;
    pthread_mutex_t lock;
    pthread_cond_t some;
    /* guarded by lock */
    struct lane lanes[MAX_LANES];
    size_t n_lanes, n_entries, tokens;
};

int dg_queue_open(
    const struct dg_queue_options *options, struct dg_queue **out, struct dg_error *err)
{
    struct dg_queue *q = calloc(1, sizeof *q);
    if (!q)
        return dg_error_set(err, DG_ENOMEM, "no memory for the queue");
    q->o = *options;
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->some, NULL);
    *out = q;
    return DG_OK;
}

static void lane_free(struct lane *l)
{
    free(l->waiting);
    free(l->entries);
    free(l->picked);
}

void dg_queue_close(struct dg_queue *q)
{
    if (!q)
        return;
    for (size_t i = 0; i < q->n_lanes; i++)
        lane_free(&q->lanes[i]);
    pthread_mutex_destroy(&q->lock);
    pthread_cond_destroy(&q->some);
    free(q);
}

/* Room for `more` entries in a lane; false when memory is out. */
static bool lane_reserve(struct lane *l, size_t more)
{
    size_t cap = l->cap > 0 ? l->cap : 64;
    while (cap < l->n + more)
        cap *= 2;
    if (cap == l->cap)
        return true;
    struct dg_waiting *waiting = realloc(l->waiting, cap * sizeof *waiting);
    if (waiting)
        l->waiting = waiting;
    struct dg_entry **entries = realloc(l->entries, cap * sizeof *entries);
    if (entries)
        l->entries = entries;
    size_t *picked = realloc(l->picked, cap * sizeof *picked);
    if (picked)
        l->picked = picked;
    if (!waiting || !entries || !picked)
        return false;
    l->cap = cap;
    return true;
}

static void lane_put(struct lane *l, size_t at, struct dg_entry *e)
{
    l->entries[at] = e;
    l->waiting[at] = (struct dg_waiting){
        .task = (uint64_t)(uintptr_t)e->task,
        .arrived_ns = e->task->submitted_ns,
        .deadline_ns = e->task->deadline_ns,
        .source_tokens = e->source_tokens,
        .max_target_tokens = e->max_target_tokens,
        .rows = e->rows,
    };
}

/* The lane of a model, made when there is none; NULL when that cannot be. Lock held. */
static struct lane *lane_of(struct dg_queue *q, struct dg_served *model, bool make)
{
    for (size_t i = 0; i < q->n_lanes; i++)
        if (q->lanes[i].model == model)
            return &q->lanes[i];
    if (!make || q->n_lanes == MAX_LANES)
        return NULL;
    struct lane *l = &q->lanes[q->n_lanes++];
    memset(l, 0, sizeof *l);
    l->model = model;
    return l;
}

/* Forget a lane that has run empty. Lock held. */
static void lane_retire(struct dg_queue *q, struct lane *l)
{
    if (l->n > 0)
        return;
    lane_free(l);
    *l = q->lanes[--q->n_lanes];
}

int dg_queue_submit(struct dg_queue *q, struct dg_task *t, struct dg_error *err)
{
    size_t tokens = dg_task_tokens(t), waiting;
    int rc = DG_OK;
    pthread_mutex_lock(&q->lock);
    waiting = q->tokens;
    if (atomic_load(&q->stopped)) {
        rc = DG_ECANCELED;
    } else if (waiting > 0 && waiting + tokens > q->o.max_tokens) {
        rc = DG_EAGAIN;
    } else {
        struct lane *l = lane_of(q, t->model, true);
        if (!l || !lane_reserve(l, t->n_entries))
            rc = DG_ENOMEM;
        t->submitted_ns = dg_clock_ns();
        for (size_t i = 0; i < t->n_entries && rc == DG_OK; i++)
            lane_put(l, l->n++, &t->entries[i]);
        if (l)
            lane_retire(q, l);
    }
    if (rc == DG_OK) {
        q->tokens += tokens;
        q->n_entries += t->n_entries;
        pthread_cond_broadcast(&q->some);
    }
    pthread_mutex_unlock(&q->lock);
    switch (rc) {
    case DG_ECANCELED:
        return dg_error_set(err, rc, "the server is stopping");
    case DG_EAGAIN:
        return dg_error_set(err, rc,
            "%zu pieces are waiting, %zu more would be over the limit of %zu", waiting, tokens,
            q->o.max_tokens);
    case DG_ENOMEM:
        return dg_error_set(err, rc, "no memory for %zu waiting sentences", t->n_entries);
    default:
        return DG_OK;
    }
}

/* Take out the entries for which leaves(arg, entry) holds, and put them onto *list. Lock held. */
static void lane_sift(struct dg_queue *q, struct lane *l,
    bool (*leaves)(const void *arg, const struct dg_entry *e), const void *arg,
    struct dg_entry **list)
{
    size_t kept = 0;
    for (size_t i = 0; i < l->n; i++) {
        struct dg_entry *e = l->entries[i];
        if (leaves(arg, e)) {
            q->tokens -= e->source_tokens;
            q->n_entries--;
            e->next = *list;
            *list = e;
            continue;
        }
        l->waiting[kept] = l->waiting[i];
        l->entries[kept++] = e;
    }
    l->n = kept;
}

/* The lock is free: done may be called in here. */
static void settle_all(struct dg_entry *list, enum dg_outcome outcome)
{
    while (list) {
        struct dg_task *t = list->task;
        list = list->next; /* settling the last entry of a task frees them all */
        dg_task_end(t, outcome, NULL);
        dg_task_settle(t, 1);
    }
}

static bool is_of_task(const void *arg, const struct dg_entry *e)
{
    return e->task == arg;
}

static bool is_any(const void *arg, const struct dg_entry *e)
{
    (void)arg;
    (void)e;
    return true;
}

/* Past its deadline at *arg, or ended early. */
static bool is_over(const void *arg, const struct dg_entry *e)
{
    const uint64_t *now_ns = arg;
    return dg_task_over(e->task) || (e->task->deadline_ns != 0 && e->task->deadline_ns <= *now_ns);
}

void dg_queue_cancel(struct dg_queue *q, struct dg_task *t, enum dg_outcome outcome)
{
    struct dg_entry *list = NULL;
    dg_task_end(t, outcome, NULL);
    pthread_mutex_lock(&q->lock);
    struct lane *l = lane_of(q, t->model, false);
    if (l) {
        lane_sift(q, l, is_of_task, t, &list);
        lane_retire(q, l);
    }
    pthread_mutex_unlock(&q->lock);
    settle_all(list, outcome);
}

void dg_queue_stop(struct dg_queue *q)
{
    struct dg_entry *list = NULL;
    pthread_mutex_lock(&q->lock);
    atomic_store(&q->stopped, true);
    while (q->n_lanes > 0) {
        lane_sift(q, &q->lanes[0], is_any, NULL, &list);
        lane_retire(q, &q->lanes[0]);
    }
    pthread_cond_broadcast(&q->some);
    pthread_mutex_unlock(&q->lock);
    settle_all(list, DG_TASK_STOPPED);
}

bool dg_queue_stopped(const struct dg_queue *q)
{
    return atomic_load(&q->stopped);
}

void dg_queue_load(struct dg_queue *q, struct dg_queue_load *out)
{
    pthread_mutex_lock(&q->lock);
    out->entries = q->n_entries;
    out->tokens = q->tokens;
    pthread_mutex_unlock(&q->lock);
}

bool dg_queue_wait(struct dg_queue *q)
{
    pthread_mutex_lock(&q->lock);
    while (q->n_entries == 0 && !atomic_load(&q->stopped))
        pthread_cond_wait(&q->some, &q->lock);
    pthread_mutex_unlock(&q->lock);
    return !atomic_load(&q->stopped);
}

size_t dg_queue_models(struct dg_queue *q, struct dg_served **out, size_t cap)
{
    pthread_mutex_lock(&q->lock);
    size_t n = q->n_lanes < cap ? q->n_lanes : cap;
    for (size_t i = 0; i < n; i++) {
        out[i] = q->lanes[i].model;
        dg_served_hold(out[i]);
    }
    pthread_mutex_unlock(&q->lock);
    return n;
}

/* Move the picked entries, given by ascending index, to out[n]. Lock held. */
static void lane_take(struct dg_queue *q, struct lane *l, size_t n, struct dg_entry **out)
{
    size_t kept = 0, next = 0;
    for (size_t i = 0; i < l->n; i++) {
        if (next < n && l->picked[next] == i) {
            out[next++] = l->entries[i];
            q->tokens -= l->entries[i]->source_tokens;
            continue;
        }
        l->waiting[kept] = l->waiting[i];
        l->entries[kept++] = l->entries[i];
    }
    l->n = kept;
    q->n_entries -= n;
}

size_t dg_queue_pick(struct dg_queue *q, struct dg_served *model, const struct dg_room *room,
    uint64_t now_ns, struct dg_entry **out, size_t cap)
{
    struct dg_entry *late = NULL;
    size_t n = 0;
    pthread_mutex_lock(&q->lock);
    struct lane *l = lane_of(q, model, false);
    if (l) {
        lane_sift(q, l, is_over, &now_ns, &late);
        n = dg_batcher_pick(&q->o.policy, l->waiting, l->n, room, now_ns, l->picked);
        if (n > cap)
            n = cap;
        lane_take(q, l, n, out);
        lane_retire(q, l);
    }
    pthread_mutex_unlock(&q->lock);
    settle_all(late, DG_TASK_LATE);
    return n;
}

void dg_queue_return(struct dg_queue *q, struct dg_entry *const *entries, size_t n)
{
    struct dg_entry *list = NULL;
    if (n == 0)
        return;
    pthread_mutex_lock(&q->lock);
    struct lane *l = atomic_load(&q->stopped) ? NULL : lane_of(q, entries[0]->task->model, true);
    if (l && lane_reserve(l, n)) {
        memmove(l->waiting + n, l->waiting, l->n * sizeof *l->waiting);
        memmove(l->entries + n, l->entries, l->n * sizeof *l->entries);
        l->n += n;
        for (size_t i = 0; i < n; i++) {
            lane_put(l, i, entries[i]);
            q->tokens += entries[i]->source_tokens;
        }
        q->n_entries += n;
    } else {
        for (size_t i = 0; i < n; i++) {
            entries[i]->next = list;
            list = entries[i];
        }
        if (l)
            lane_retire(q, l);
    }
    pthread_mutex_unlock(&q->lock);
    settle_all(list, DG_TASK_STOPPED);
}
