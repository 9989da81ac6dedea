/* Time from the monotonic clock. Any thread. */
#ifndef DG_BASE_CLOCK_H
#define DG_BASE_CLOCK_H
#include <stdint.h>

uint64_t dg_clock_ns(void);
/* Seconds since the epoch, for time stamps shown to people. */
double dg_clock_wall_s(void);
/* As dg_clock_ns, but includes the time that the machine was suspended. */
uint64_t dg_clock_boot_ns(void);
/* CPU time this process has used, all threads. */
uint64_t dg_clock_cpu_ns(void);
#endif
