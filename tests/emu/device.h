/* Runs work as an emulated device (runtime.cc), one at a time in the process, because the emulation
 * has a single machine for blocks and fibers. */
#ifndef DG_TESTS_EMU_DEVICE_H
#define DG_TESTS_EMU_DEVICE_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Queues f(a copy of arg[bytes]) on a stream. The stream must belong to the calling thread's
 * device, as CUDA requires; f can touch only that device's memory. */
void dg_emu_call(cudaStream_t stream, void (*f)(const void *), const void *arg, size_t bytes);

/* Returns how often the driver was asked for memory, on devices or pinned. The test plugin exports
 * it. */
unsigned long dg_emu_allocations(void);
/* Counts a launch that may begin before the one before it has ended, and returns their number. */
void dg_emu_launched_early(void);
unsigned long dg_emu_early_launches(void);
/* Returns how often the heuristic was asked for an algorithm (cublaslt.c). */
unsigned long dg_emu_choices(void);

#ifdef __cplusplus
}
#endif

#endif
