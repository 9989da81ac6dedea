/* Tells a GPU's profiler where to begin, if it waits for that (ncu --profile-from-start off): only
 * the last repetition is worth its time. One thread, the one that uses the device. */
#ifndef DG_BENCH_STEP_PROFILER_H
#define DG_BENCH_STEP_PROFILER_H

/* No effect if no CUDA driver is open. */
void bench_profile_from_here(void);

#endif
