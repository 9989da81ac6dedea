/* How long requests let others go first: the usual work, and a server of one place that is always
 * full. Time is what the tests say. */
#include "server/schedule/patience.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)

static void the_longer_half_is_patient(void **state)
{
    const struct dg_patience p = {.usual = 100};
    static const struct {
        uint64_t work;
        double ahead_s, own_s;
        uint64_t ms;
    } table[] = {
        {1, 10, 0.01, 20},
        {90, 10, 0.01, 20},
        {100, 0.2, 0.01, 180}, /* half-way: half of 1.6 x 0.2 s, and 2 x 0.01 s */
        {110, 0.2, 0.01, 340},
        {100000, 0.2, 10, 20320},
        {110, 0, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const uint64_t ns = dg_patience_ns(&p, table[i].work, table[i].ahead_s, table[i].own_s);
        const uint64_t off = ns > table[i].ms * MS ? ns - table[i].ms * MS : table[i].ms * MS - ns;
        if (off > MS / 1000)
            fail_msg("work %llu: %f ms, not %llu", (unsigned long long)table[i].work,
                (double)ns / 1e6, (unsigned long long)table[i].ms);
    }
    assert_true(
        dg_patience_ns(&p, UINT64_MAX, 1e300, 1e300) < UINT64_MAX / 2); /* ranks do not overflow */
}

/* One request in a hundred is a book, others have two lengths: the usual one is between these. */
static void a_book_makes_nothing_short(void **state)
{
    struct dg_patience p = {0};
    (void)state;
    assert_true(dg_patience_ns(&p, 1, 1, 0) == 1600 * MS); /* nothing known: as for long ones */
    for (int i = 0; i < 3000; i++)
        dg_patience_come(&p, i % 100 == 0 ? 10000000 : i % 5 == 0 ? 600 : 80);
    assert_true(p.usual > 80 / 0.9 && p.usual < 600 / 1.1);
}

struct request {
    uint64_t came_ms, rank_ms, work;
};

/* Sixteen clients send again as soon as they are answered; the server takes the request of the
 * least rank, a millisecond per ten of its work. Writes the latencies of n requests in ascending
 * order. */
static void serve(uint64_t n, int patient, uint64_t *latency)
{
    struct request all[16] = {{0, 0, 0}};
    struct dg_patience p = {0};
    uint64_t now = 0, seed = 7;
    for (uint64_t done = 0; done < n + 16; done++) {
        struct request *next = &all[0];
        uint64_t ahead = 0;
        for (int i = 0; i < 16; i++) {
            ahead += all[i].work;
            if (all[i].rank_ms < next->rank_ms)
                next = &all[i];
        }
        now += next->work / 10;
        if (done >= 16)
            latency[done - 16] = now - next->came_ms;
        ahead -= next->work;
        seed = seed * 1664525 % 4294967291;
        *next = (struct request){.came_ms = now, .work = 20 + 10 * (seed % 18)};
        dg_patience_come(&p, next->work);
        next->rank_ms = now + (patient ? dg_patience_ns(&p, next->work, (double)ahead / 1e4,
                                             (double)next->work / 1e4) /
                                             MS
                                       : 0);
    }
}

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Nearly half of the requests take less than half of their time in order of arrival; none takes
 * twice as long. */
static void most_gain_and_none_starves(void **state)
{
    enum { N = 4000 };
    static uint64_t fifo[N], patient[N];
    (void)state;
    serve(N, 0, fifo);
    serve(N, 1, patient);
    qsort(fifo, N, sizeof *fifo, ascending);
    qsort(patient, N, sizeof *patient, ascending);
    if (2 * patient[N * 45 / 100] > fifo[N / 2] || patient[N - 1] > 2 * fifo[N - 1])
        fail_msg("p45 %llu ms, in order of arrival p50 %llu; most %llu and %llu",
            (unsigned long long)patient[N * 45 / 100], (unsigned long long)fifo[N / 2],
            (unsigned long long)patient[N - 1], (unsigned long long)fifo[N - 1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longer_half_is_patient),
        cmocka_unit_test(a_book_makes_nothing_short),
        cmocka_unit_test(most_gain_and_none_starves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
