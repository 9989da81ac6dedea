/* Emulated devices at work (runtime.cc): one at a time in the process, because the emulation has
 * one machine for blocks and fibers. */
#ifndef DG_TESTS_EMU_DEVICE_H
#define DG_TESTS_EMU_DEVICE_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Around a kernel or a product on the stream. The stream must belong to the calling thread's
 * device, as CUDA wants it; from here on that device's memory alone can be touched. */
void dg_emu_begin(cudaStream_t stream);
void dg_emu_end(void);

/* How often the driver was asked for memory, on devices or pinned. The plugin for tests exports it.
 */
unsigned long dg_emu_allocations(void);

#ifdef __cplusplus
}
#endif

#endif
