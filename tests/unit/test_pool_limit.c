/* A pool whose limit is below its threads: those beyond it sleep on while others work, and take
 * part as soon as a limit lets them in. */
#include "base/clock.h"
#include "base/pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

enum { THREADS = 8 };

static struct dg_pool *open_pool(void)
{
    struct dg_error err = {0};
    struct dg_pool *pool = NULL;
    assert_int_equal(dg_pool_open(THREADS, 0, &pool, &err), 0);
    dg_pool_keep_shared(pool);
    return pool;
}

static void nap(long ns)
{
    struct timespec pause = {0, ns};
    nanosleep(&pause, NULL);
}

/* Returns how often the pool's threads of these indices have gone to sleep: Linux counts it as
 * voluntary context switches. */
static long count_sleeps(int from, int to)
{
    glob_t found;
    long all = 0;
    assert_int_equal(glob("/proc/self/task/*/status", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char line[256];
        int index = -1;
        long n = 0;
        FILE *f = fopen(found.gl_pathv[i], "r");
        while (f && fgets(line, sizeof line, f))
            if (sscanf(line, "Name: dg-compute-%d", &index) != 1)
                sscanf(line, "voluntary_ctxt_switches: %ld", &n);
        if (f)
            fclose(f);
        all += index >= from && index <= to ? n : 0;
    }
    globfree(&found);
    return all;
}

static void count_plain(void *arg, size_t i)
{
    ((int *)arg)[i]++;
}

static void threads_beyond_the_limit_sleep_on(void **state)
{
    (void)state;
    enum { LIMIT = 2, RUNS = 200 };
    int counts[THREADS] = {0};
    struct dg_pool *pool = open_pool();
    dg_pool_limit(pool, LIMIT);
    nap(100000000); /* until all sleep */
    const long within = count_sleeps(1, LIMIT - 1), beyond = count_sleeps(LIMIT, THREADS);
    for (int run = 0; run < RUNS; run++) {
        dg_pool_run(pool, THREADS, count_plain, counts);
        nap(100000); /* longer than a thread spins */
    }
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(counts[i], RUNS);
    const long woken = count_sleeps(LIMIT, THREADS) - beyond;
    print_message("%d runs: threads within the limit slept %ld times, those beyond it %ld\n", RUNS,
        count_sleeps(1, LIMIT - 1) - within, woken);
    assert_true(woken <= THREADS - LIMIT); /* on a busy machine some fell asleep late, once */
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
    const uint64_t end = dg_clock_ns() + 20000000000u;
    atomic_fetch_add(&m->arrived, 1);
    while (atomic_load(&m->arrived) < m->expected && dg_clock_ns() < end)
        nap(100000);
}

/* As many tasks as threads may work, each waiting for all others: whichever threads sleep when the
 * limit changes, those that it lets in are woken. */
static void a_limit_that_changes_loses_no_thread(void **state)
{
    (void)state;
    static const int limits[] = {8, 2, 3, 8, 5, 1, 6, 2, 7, 4};
    struct dg_pool *pool = open_pool();
    for (int run = 0; run < 300; run++) {
        const int limit = limits[run % 10];
        struct meeting m = {0, limit};
        const uint64_t start = dg_clock_ns();
        dg_pool_limit(pool, limit);
        dg_pool_run(pool, (size_t)limit, meet, &m);
        assert_true(dg_clock_ns() - start < 15000000000u);
        nap(run % 3 * 40000); /* no pause, and pauses after which threads sleep */
    }
    dg_pool_close(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_beyond_the_limit_sleep_on),
        cmocka_unit_test(a_limit_that_changes_loses_no_thread)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
