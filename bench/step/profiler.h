/* Where a GPU's profiler is to begin, when it was told to wait for that (ncu --profile-from-start
 * off): nothing but the last repetition is worth its time. One thread, the one that uses the
 * device. */
#ifndef DG_BENCH_STEP_PROFILER_H
#define DG_BENCH_STEP_PROFILER_H

/* Nothing where no driver of CUDA's is open. */
void bench_profile_from_here(void);

#endif
