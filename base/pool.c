/* DESIGN. A job is published by one store to `state` = generation << 32 | tasks not yet claimed. A
 * thread claims a task by decrementing it with compare-and-swap; success proves that the job fields
 * read before belong to this generation. The caller claims too, and waits only for tasks that were
 * claimed: it never waits for a worker that the machine has not woken yet. Every thread spins for
 * SPIN_NS first and then sleeps, each on a condition variable of its own: a run wakes no more
 * workers than it has tasks for, and none that the limit shuts out.
 *
 * Crowded cores. If the caller waits more than MARGIN_NS longer than it worked itself, the run lost
 * a thread in the middle of a task. Each such run adds STALL to a score, each other run subtracts
 * 1; above STALL_LIMIT the caller works alone for `alone_length` runs, which doubles each time
 * until the score is back at 0. A decoder step is about 70 runs. A pool that keeps shared has no
 * score. */
#include "base/pool.h"

#include "base/clock.h"
#include "base/thread_name.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define SPIN_NS 20000u
#define MAX_THREADS 1024
#define MARGIN_NS 100000u
#define STALL 16
#define STALL_LIMIT 64
#define ALONE_LEAST 1000u
#define ALONE_MOST 32000u
#define LINE 64 /* bytes of a cache line */

typedef void task_fn(void *arg, size_t i);

struct worker {
    struct dg_pool *pool;
    /* from 1; the caller counts as 0 */
    int index;
    pthread_t id;
    /* for its sleep only; signalled when there is something to claim */
    pthread_mutex_t mutex;
    pthread_cond_t work;
    /* in or about to enter cond_wait(work) */
    _Atomic bool sleeps;
};

struct dg_pool {
    _Alignas(LINE) _Atomic uint64_t state;
    /* the job; the caller writes it only while nothing is left to claim */
    _Atomic(task_fn *) task;
    _Atomic(void *) arg;
    /* added to the claimed number */
    _Atomic size_t first;

    /* tasks of the job that are not finished */
    _Alignas(LINE) _Atomic size_t pending;

    /* for the caller's sleep only */
    _Alignas(LINE) pthread_mutex_t mutex;
    /* signalled when pending falls to 0 */
    pthread_cond_t idle;
    _Atomic bool caller_sleeps;
    _Atomic bool stop;

    /* including the caller */
    int threads;
    /* of the workers */
    int nice;
    /* how many of the threads may run tasks */
    _Atomic int limit;
    uint64_t spin_ns;
    /* [threads-1] */
    struct worker *workers;

    /* used by the caller alone */
    bool keep_shared;
    int score;
    /* runs still to be done alone; how many it will be next time */
    unsigned alone, alone_length;
};

static uint32_t unclaimed(uint64_t state)
{
    return (uint32_t)state;
}

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Claim and run tasks until none is left; returns after the ones that ran here are counted as
 * finished. */
static void work_through(struct dg_pool *pool)
{
    size_t finished = 0;
    uint64_t state = atomic_load_explicit(&pool->state, memory_order_acquire);
    while (unclaimed(state) > 0) {
        task_fn *task = atomic_load_explicit(&pool->task, memory_order_relaxed);
        void *arg = atomic_load_explicit(&pool->arg, memory_order_relaxed);
        size_t first = atomic_load_explicit(&pool->first, memory_order_relaxed);
        if (!atomic_compare_exchange_weak_explicit(
                &pool->state, &state, state - 1, memory_order_acq_rel, memory_order_acquire))
            continue;
        task(arg, first + unclaimed(state) - 1);
        finished++;
        state = atomic_load_explicit(&pool->state, memory_order_acquire);
    }
    if (finished == 0 || atomic_fetch_sub(&pool->pending, finished) != finished)
        return;
    if (atomic_load(&pool->caller_sleeps)) {
        pthread_mutex_lock(&pool->mutex);
        pthread_cond_signal(&pool->idle);
        pthread_mutex_unlock(&pool->mutex);
    }
}

static bool has_work(const struct dg_pool *pool, int index)
{
    return (unclaimed(atomic_load(&pool->state)) > 0 && index < atomic_load(&pool->limit)) ||
           atomic_load(&pool->stop);
}

static bool is_done(const struct dg_pool *pool, int index)
{
    (void)index;
    return atomic_load(&pool->pending) == 0;
}

/* Spin until ready() or for spin_ns; returns whether it is ready. */
static bool spin(const struct dg_pool *pool, bool (*ready)(const struct dg_pool *, int), int index)
{
    if (ready(pool, index))
        return true;
    if (pool->spin_ns == 0)
        return false;
    uint64_t end = dg_clock_ns() + pool->spin_ns;
    do {
        for (int i = 0; i < 16; i++) {
            if (ready(pool, index))
                return true;
            relax();
        }
    } while (dg_clock_ns() < end);
    return false;
}

/* Sleeps until there is something to claim, for as long as the limit shuts this worker out. No
 * wake-up is lost: the worker says that it sleeps before it checks for work, and the caller
 * publishes work (after the limit) before it reads who sleeps, so one of the two sees the other. */
static void sleep_until_work(struct worker *self)
{
    pthread_mutex_lock(&self->mutex);
    atomic_store(&self->sleeps, true);
    while (!has_work(self->pool, self->index))
        pthread_cond_wait(&self->work, &self->mutex);
    atomic_store(&self->sleeps, false);
    pthread_mutex_unlock(&self->mutex);
}

/* Wakes a worker if it sleeps, after work or the stop was published: once the mutex was free, the
 * worker waits for the signal, or it finds what was published. The signal comes after the mutex, so
 * that nobody wakes only to wait for that. */
static void wake(struct worker *w)
{
    pthread_mutex_lock(&w->mutex);
    pthread_mutex_unlock(&w->mutex);
    pthread_cond_signal(&w->work);
}

static void *worker_main(void *p)
{
    struct worker *self = p;
    struct dg_pool *pool = self->pool;
    dg_thread_name("compute-%d", self->index);
    if (pool->nice > 0) /* on Linux for this thread alone */
        setpriority(PRIO_PROCESS, (id_t)gettid(), pool->nice);
    while (!atomic_load(&pool->stop)) {
        if (!spin(pool, has_work, self->index))
            sleep_until_work(self);
        if (has_work(pool, self->index))
            work_through(pool);
    }
    return NULL;
}

/* Threads beyond the cores we may use would only get in each other's way by spinning. */
static uint64_t choose_spin_ns(int threads)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) < threads)
        return 0;
    return SPIN_NS;
}

/* Workers take no signals: those are for the thread that set handlers up. */
static int start_workers(struct dg_pool *pool, int threads, struct dg_error *err)
{
    sigset_t all, before;
    sigfillset(&all);
    int rc = 0;
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (; rc == 0 && pool->threads < threads; pool->threads += rc == 0) {
        struct worker *w = &pool->workers[pool->threads - 1];
        *w = (struct worker){.pool = pool,
            .index = pool->threads,
            .mutex = PTHREAD_MUTEX_INITIALIZER,
            .work = PTHREAD_COND_INITIALIZER};
        rc = pthread_create(&w->id, NULL, worker_main, w);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc)
        return dg_error_set(err, DG_EIO, "pool: thread %d of %d did not start: %s",
            pool->threads + 1, threads, strerror(rc));
    return 0;
}

int dg_pool_open(int threads, int nice, struct dg_pool **out, struct dg_error *err)
{
    *out = NULL;
    if (threads < 1 || threads > MAX_THREADS)
        return dg_error_set(err, DG_EINVAL, "pool: %d threads asked for, from 1 to %d are possible",
            threads, MAX_THREADS);
    struct dg_pool *pool = aligned_alloc(LINE, sizeof *pool);
    if (!pool)
        return dg_error_set(err, DG_ENOMEM, "pool: out of memory");
    memset(pool, 0, sizeof *pool);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->idle, NULL);
    pool->nice = nice;
    pool->threads = 1; /* grows as they start, so that close joins exactly those that run */
    atomic_store(&pool->limit, threads);
    pool->alone_length = ALONE_LEAST;
    pool->spin_ns = choose_spin_ns(threads);
    int rc = 0;
    if (threads > 1) {
        pool->workers = calloc((size_t)threads - 1, sizeof *pool->workers);
        rc = pool->workers ? start_workers(pool, threads, err)
                           : dg_error_set(err, DG_ENOMEM, "pool: out of memory");
    }
    if (rc) {
        dg_pool_close(pool);
        return rc;
    }
    *out = pool;
    return 0;
}

void dg_pool_close(struct dg_pool *pool)
{
    if (!pool)
        return;
    atomic_store(&pool->stop, true);
    for (int i = 0; i < pool->threads - 1; i++)
        wake(&pool->workers[i]);
    for (int i = 0; i < pool->threads - 1; i++) {
        pthread_join(pool->workers[i].id, NULL);
        pthread_cond_destroy(&pool->workers[i].work);
        pthread_mutex_destroy(&pool->workers[i].mutex);
    }
    pthread_cond_destroy(&pool->idle);
    pthread_mutex_destroy(&pool->mutex);
    free(pool->workers);
    free(pool);
}

int dg_pool_threads(const struct dg_pool *pool)
{
    return pool ? pool->threads : 1;
}

void dg_pool_limit(struct dg_pool *pool, int n)
{
    if (pool)
        atomic_store(&pool->limit, n < 1 ? 1 : n > pool->threads ? pool->threads : n);
}

void dg_pool_keep_shared(struct dg_pool *pool)
{
    pool->keep_shared = true;
}

bool dg_pool_crowded(const struct dg_pool *pool)
{
    return pool && pool->alone > 0;
}

/* Wakes at most `most` of the sleeping workers that may run tasks. */
static void wake_workers(struct dg_pool *pool, size_t most)
{
    const int n = atomic_load(&pool->limit) - 1;
    for (int i = 0; i < n && most > 0; i++)
        if (atomic_load(&pool->workers[i].sleeps)) {
            wake(&pool->workers[i]);
            most--;
        }
}

static void wait_done(struct dg_pool *pool)
{
    if (spin(pool, is_done, 0))
        return;
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->caller_sleeps, true);
    while (!is_done(pool, 0))
        pthread_cond_wait(&pool->idle, &pool->mutex);
    atomic_store(&pool->caller_sleeps, false);
    pthread_mutex_unlock(&pool->mutex);
}

/* Judge a run by the times at which it began, its caller had no task left, and all were done. */
static void judge(struct dg_pool *pool, uint64_t begin, uint64_t idle, uint64_t end)
{
    bool stalled = end - idle > idle - begin + MARGIN_NS;
    pool->score = stalled ? pool->score + STALL : pool->score > 0 ? pool->score - 1 : 0;
    if (pool->score == 0)
        pool->alone_length = ALONE_LEAST;
    if (pool->score <= STALL_LIMIT)
        return;
    pool->alone = pool->alone_length;
    pool->alone_length = 2 * pool->alone_length < ALONE_MOST ? 2 * pool->alone_length : ALONE_MOST;
    pool->score = STALL_LIMIT - STALL; /* from here, two stalls are enough */
}

static void run_shared(struct dg_pool *pool, size_t first, uint32_t n, task_fn *task, void *arg)
{
    uint64_t generation = (atomic_load_explicit(&pool->state, memory_order_relaxed) >> 32) + 1;
    atomic_store_explicit(&pool->task, task, memory_order_relaxed);
    atomic_store_explicit(&pool->arg, arg, memory_order_relaxed);
    atomic_store_explicit(&pool->first, first, memory_order_relaxed);
    atomic_store(&pool->pending, n);
    atomic_store(&pool->state, generation << 32 | n);
    uint64_t begin = dg_clock_ns();
    wake_workers(pool, n - 1);
    work_through(pool);
    uint64_t idle = dg_clock_ns();
    wait_done(pool);
    if (!pool->keep_shared)
        judge(pool, begin, idle, dg_clock_ns());
}

void dg_pool_run(struct dg_pool *pool, size_t n, void (*task)(void *arg, size_t i), void *arg)
{
    bool alone = pool && pool->alone > 0;
    if (alone)
        pool->alone--;
    if (!pool || alone || n == 1 || atomic_load_explicit(&pool->limit, memory_order_relaxed) == 1) {
        for (size_t i = 0; i < n; i++)
            task(arg, i);
        return;
    }
    for (size_t first = 0; first < n;) {
        size_t piece = n - first < UINT32_MAX ? n - first : UINT32_MAX;
        run_shared(pool, first, (uint32_t)piece, task, arg);
        first += piece;
    }
}
