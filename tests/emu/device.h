/* Emulated devices at work (runtime.cc): one at a time in the process, because the emulation has
 * one machine for blocks and fibers. */
#ifndef DG_TESTS_EMU_DEVICE_H
#define DG_TESTS_EMU_DEVICE_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Give a stream something to do: f(a copy of arg[bytes]), when its turn comes. The stream must
 * belong to the calling thread's device, as CUDA wants it; f can touch that device's memory
 * alone. */
void dg_emu_call(cudaStream_t stream, void (*f)(const void *), const void *arg, size_t bytes);

/* How often the driver was asked for memory, on devices or pinned. The plugin for tests exports
 * it. */
unsigned long dg_emu_allocations(void);
/* How often an algorithm was asked for (cublaslt.c). */
unsigned long dg_emu_choices(void);

#ifdef __cplusplus
}
#endif

#endif
