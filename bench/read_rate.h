/* How fast the machine's memory is read. Starts threads; one caller at a time. */
#ifndef DG_BENCH_READ_RATE_H
#define DG_BENCH_READ_RATE_H

#include <stddef.h>

enum { DG_BENCH_THREADS_MAX = 64 };

/* GB/s of reading bytes of data with this many threads (1 to DG_BENCH_THREADS_MAX), the best of
 * several passes. */
double dg_bench_read_rate(const void *data, size_t bytes, size_t threads);

#endif
