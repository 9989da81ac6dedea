#include "base/clock.h"

#include <time.h>

/* None of these clocks can fail on Linux with valid arguments, so no error is returned. */
static uint64_t read_ns(clockid_t id)
{
    struct timespec ts = {0};
    clock_gettime(id, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t dg_clock_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

double dg_clock_wall_s(void)
{
    struct timespec ts = {0}; /* not read_ns: negative before 1970 */
    clock_gettime(CLOCK_REALTIME, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

uint64_t dg_clock_boot_ns(void)
{
    return read_ns(CLOCK_BOOTTIME);
}

uint64_t dg_clock_cpu_ns(void)
{
    return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}
