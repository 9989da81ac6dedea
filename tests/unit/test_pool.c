#include "base/pool.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static struct dg_pool *open_pool(int threads)
{
    struct dg_error err = {0};
    struct dg_pool *pool = NULL;
    assert_int_equal(dg_pool_open(threads, 0, &pool, &err), 0);
    assert_int_equal(dg_pool_threads(pool), threads);
    return pool;
}

/* Plain writes on purpose: run() itself must order them, and ThreadSanitizer reports if it does
 * not. */
static void count_plain(void *arg, size_t i)
{
    ((int *)arg)[i]++;
}

static void each_task_runs_once(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 4, 8, 17};
    enum { MAX = 300 };
    int counts[MAX];
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        struct dg_pool *pool = open_pool(threads[t]);
        for (size_t n = 0; n < MAX; n += n < 20 ? 1 : 31) {
            memset(counts, 0, sizeof counts);
            for (int run = 0; run < 20; run++)
                dg_pool_run(pool, n, count_plain, counts);
            for (size_t i = 0; i < MAX; i++)
                assert_int_equal(counts[i], i < n ? 20 : 0);
        }
        dg_pool_close(pool);
    }
}

struct job {
    const double *in; /* [N] */
    double *out;      /* [N] */
};

static void smooth(void *arg, size_t i)
{
    const struct job *job = arg;
    job->out[i] = 0.5 * job->in[i] + 0.25 * job->in[(i + 1) % 64] + (double)i;
}

/* Each run reads what the previous one wrote, with other arguments on the caller's stack, as in a
 * stack of layers. */
static void runs_follow_one_another(void **state)
{
    (void)state;
    enum { N = 64, RUNS = 20000 };
    double a[N] = {0}, b[N] = {0}, expect[N] = {0}, next[N];
    struct dg_pool *pool = open_pool(4);
    for (int run = 0; run < RUNS; run++) {
        struct job job = {run % 2 ? b : a, run % 2 ? a : b};
        dg_pool_run(pool, N, smooth, &job);
        struct job plain = {expect, next};
        for (size_t i = 0; i < N; i++)
            smooth(&plain, i);
        memcpy(expect, next, sizeof next);
    }
    assert_memory_equal(a, expect, sizeof expect);
    dg_pool_close(pool);
}

static void nap(long ns)
{
    struct timespec pause = {0, ns};
    nanosleep(&pause, NULL);
}

/* Tasks of unequal length, so that the caller sleeps for workers; pauses between runs, so that
 * workers sleep. */
static void uneven(void *arg, size_t i)
{
    if (i % 7 == 3)
        nap(200000);
    ((int *)arg)[i]++;
}

static void sleepers_are_woken(void **state)
{
    (void)state;
    int counts[24] = {0};
    struct dg_pool *pool = open_pool(3);
    for (int run = 0; run < 300; run++) {
        dg_pool_run(pool, 24, uneven, counts);
        nap(run % 3 * 40000); /* no pause, one during the spinning, one after it */
    }
    for (size_t i = 0; i < 24; i++)
        assert_int_equal(counts[i], 300);
    dg_pool_close(pool);
}

struct meeting {
    _Atomic int arrived;
    int expected;
};

static void meet(void *arg, size_t i)
{
    (void)i;
    struct meeting *m = arg;
    uint64_t end = dg_clock_ns() + 20000000000u;
    atomic_fetch_add(&m->arrived, 1);
    while (atomic_load(&m->arrived) < m->expected && dg_clock_ns() < end)
        nap(100000);
}

/* As many tasks as threads, each waiting for all others: they meet only if they truly run
 * concurrently. */
static void all_threads_take_part(void **state)
{
    (void)state;
    struct dg_pool *pool = NULL;
    for (int run = 0; run < 20; run++) {
        struct meeting m = {0, 5};
        if (run % 4 == 0) { /* too few runs to detect a crowded machine */
            dg_pool_close(pool);
            pool = open_pool(5);
        }
        uint64_t start = dg_clock_ns();
        dg_pool_run(pool, 5, meet, &m);
        assert_true(dg_clock_ns() - start < 15000000000u);
    }
    dg_pool_close(pool);
}

static void pool_at_rest_uses_no_cpu(void **state)
{
    (void)state;
    int counts[64] = {0};
    struct dg_pool *pool = open_pool(8);
    dg_pool_run(pool, 64, count_plain, counts);
    nap(50000000);
    uint64_t start = dg_clock_cpu_ns();
    nap(200000000);
    assert_true(dg_clock_cpu_ns() - start < 20000000u);
    dg_pool_close(pool);
}

struct masks {
    pthread_t caller;
    _Atomic int wrong, workers;
};

static void check_mask(void *arg, size_t i)
{
    struct masks *m = arg;
    sigset_t set;
    (void)i;
    nap(300000);
    if (pthread_equal(pthread_self(), m->caller))
        return;
    atomic_fetch_add(&m->workers, 1);
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    if (!sigismember(&set, SIGTERM) || !sigismember(&set, SIGINT))
        atomic_fetch_add(&m->wrong, 1);
}

static void workers_take_no_signals(void **state)
{
    (void)state;
    sigset_t set;
    struct masks m = {pthread_self(), 0, 0};
    struct dg_pool *pool = open_pool(4);
    for (int run = 0; run < 50 && atomic_load(&m.workers) == 0; run++)
        dg_pool_run(pool, 32, check_mask, &m);
    assert_true(atomic_load(&m.workers) > 0);
    assert_int_equal(atomic_load(&m.wrong), 0);
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    assert_false(sigismember(&set, SIGTERM)); /* the caller's own mask was restored */
    dg_pool_close(pool);
}

struct priorities {
    pthread_t caller;
    _Atomic int workers, wrong;
};

static void check_priority(void *arg, size_t i)
{
    struct priorities *p = arg;
    (void)i;
    nap(300000);
    if (pthread_equal(pthread_self(), p->caller))
        return;
    atomic_fetch_add(&p->workers, 1);
    if (getpriority(PRIO_PROCESS, (id_t)gettid()) != 19)
        atomic_fetch_add(&p->wrong, 1);
}

static void workers_have_a_nice_value_of_their_own(void **state)
{
    (void)state;
    const int own = getpriority(PRIO_PROCESS, (id_t)gettid());
    struct dg_error err = {0};
    struct priorities p = {pthread_self(), 0, 0};
    struct dg_pool *pool = NULL;
    assert_int_equal(dg_pool_open(4, 19, &pool, &err), 0);
    dg_pool_keep_shared(pool);
    for (int run = 0; run < 50; run++)
        dg_pool_run(pool, 32, check_priority, &p);
    assert_true(atomic_load(&p.workers) > 0);
    assert_int_equal(atomic_load(&p.wrong), 0);
    assert_int_equal(getpriority(PRIO_PROCESS, (id_t)gettid()), own);
    dg_pool_close(pool);
}

/* Closing races with workers in every phase: starting, spinning, falling asleep, asleep. */
static void open_and_close_many_times(void **state)
{
    (void)state;
    int counts[8] = {0};
    for (int run = 0; run < 300; run++) {
        struct dg_pool *pool = open_pool(3);
        if (run % 2)
            dg_pool_run(pool, 8, count_plain, counts);
        nap(run % 4 * 15000);
        dg_pool_close(pool);
    }
    assert_int_equal(counts[0], 150);
}

static void without_pool_it_runs_here_in_order(void **state)
{
    (void)state;
    int counts[5] = {0};
    dg_pool_run(NULL, 5, count_plain, counts);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(counts[i], 1);
    assert_int_equal(dg_pool_threads(NULL), 1);
    dg_pool_close(NULL);
}

struct place {
    pthread_t caller;
    atomic_int elsewhere; /* tasks that another thread ran */
    long nap_ns;          /* nap of such a task, as if it had lost its core */
};

static void note_place(void *arg, size_t i)
{
    struct place *p = arg;
    (void)i;
    if (pthread_equal(pthread_self(), p->caller)) {
        nap(100000);
        return;
    }
    atomic_fetch_add(&p->elsewhere, 1);
    nap(p->nap_ns);
}

static void a_limit_keeps_threads_out(void **state)
{
    (void)state;
    struct dg_pool *pool = open_pool(3);
    struct place p = {.caller = pthread_self(), .nap_ns = 100000};
    dg_pool_limit(pool, 1);
    for (int run = 0; run < 50; run++)
        dg_pool_run(pool, 8, note_place, &p);
    assert_int_equal(atomic_load(&p.elsewhere), 0);
    for (int limit = 2; limit <= 9; limit++) { /* 4 and more: all three */
        int before = atomic_load(&p.elsewhere);
        dg_pool_limit(pool, limit);
        for (int run = 0; run < 200 && atomic_load(&p.elsewhere) == before; run++)
            dg_pool_run(pool, 8, note_place, &p);
        assert_true(atomic_load(&p.elsewhere) > before);
    }
    dg_pool_limit(NULL, 1);
    dg_pool_close(pool);
}

static void a_caller_kept_waiting_works_alone_for_a_while(void **state)
{
    (void)state;
    struct dg_pool *pool = open_pool(2);
    struct place p = {.caller = pthread_self(), .nap_ns = 5000000};
    int runs = 0;
    while (!dg_pool_crowded(pool) && runs++ < 500)
        dg_pool_run(pool, 4, note_place, &p);
    assert_true(dg_pool_crowded(pool));
    assert_true(atomic_load(&p.elsewhere) >= 4); /* one slow run is not enough */
    int before = atomic_load(&p.elsewhere), counts[4] = {0};
    for (runs = 0; dg_pool_crowded(pool); runs++)
        dg_pool_run(pool, 4, count_plain, counts);
    assert_true(runs >= 500 && runs < 100000);
    assert_int_equal(atomic_load(&p.elsewhere), before);
    p.nap_ns = 100000;
    for (int run = 0; run < 500 && atomic_load(&p.elsewhere) == before; run++)
        dg_pool_run(pool, 4, note_place, &p);
    assert_true(atomic_load(&p.elsewhere) > before); /* it tried again */
    dg_pool_close(pool);
}

/* Shares of a training update differ in length, although nobody else uses the cores. */
static void a_pool_that_keeps_shared_never_works_alone(void **state)
{
    (void)state;
    struct dg_pool *pool = open_pool(2);
    struct place p = {.caller = pthread_self(), .nap_ns = 5000000};
    dg_pool_keep_shared(pool);
    for (int run = 0; run < 50; run++) {
        dg_pool_run(pool, 4, note_place, &p);
        assert_false(dg_pool_crowded(pool));
    }
    dg_pool_close(pool);
}

static void bad_thread_counts_are_refused(void **state)
{
    (void)state;
    static const int bad[] = {0, -1, 1025, 1 << 30};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct dg_error err = {0};
        struct dg_pool *pool = (struct dg_pool *)&err;
        assert_int_equal(dg_pool_open(bad[i], 0, &pool, &err), DG_EINVAL);
        assert_null(pool);
        assert_non_null(strstr(err.message, "1024"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_task_runs_once),
        cmocka_unit_test(runs_follow_one_another),
        cmocka_unit_test(sleepers_are_woken),
        cmocka_unit_test(all_threads_take_part),
        cmocka_unit_test(pool_at_rest_uses_no_cpu),
        cmocka_unit_test(workers_take_no_signals),
        cmocka_unit_test(workers_have_a_nice_value_of_their_own),
        cmocka_unit_test(open_and_close_many_times),
        cmocka_unit_test(without_pool_it_runs_here_in_order),
        cmocka_unit_test(a_limit_keeps_threads_out),
        cmocka_unit_test(a_caller_kept_waiting_works_alone_for_a_while),
        cmocka_unit_test(a_pool_that_keeps_shared_never_works_alone),
        cmocka_unit_test(bad_thread_counts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
