#include "bench/read_rate.h"

#include "base/clock.h"

#include <pthread.h>

enum { STREAMS = 4, PASSES = 15 };

struct reader {
    const uint64_t *data;
    size_t n; /* a multiple of 8 STREAMS */
    uint64_t sum;
    pthread_t id;
};

/* Reads four streams at once, because one alone does not get the full memory bandwidth. */
static void *read_all(void *arg)
{
    struct reader *r = arg;
    uint64_t sum[8] = {0};
    size_t part = r->n / STREAMS;
    for (size_t i = 0; i < part; i += 8)
        for (size_t s = 0; s < STREAMS; s++)
            for (size_t j = 0; j < 8; j++)
                sum[j] += r->data[s * part + i + j];
    for (size_t j = 0; j < 8; j++)
        r->sum += sum[j];
    return NULL;
}

double dg_bench_read_rate(const void *data, size_t bytes, size_t threads)
{
    double best = 0;
    for (int pass = 0; pass < PASSES; pass++) {
        struct reader readers[DG_BENCH_THREADS_MAX];
        size_t share = bytes / 8 / threads / (8 * STREAMS) * (8 * STREAMS), started = 1;
        uint64_t start = dg_clock_ns();
        for (size_t i = 0; i < threads; i++)
            readers[i] = (struct reader){.data = (const uint64_t *)data + i * share, .n = share};
        while (started < threads &&
               !pthread_create(&readers[started].id, NULL, read_all, &readers[started]))
            started++;
        read_all(&readers[0]);
        for (size_t i = 1; i < started; i++)
            pthread_join(readers[i].id, NULL);
        double rate = (double)(started * share * 8) / (double)(dg_clock_ns() - start);
        best = rate > best ? rate : best;
    }
    return best;
}
