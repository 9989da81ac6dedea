/* What runtime.cc, stream.cc and events.cc share. */
#ifndef DG_TESTS_EMU_STREAM_H
#define DG_TESTS_EMU_STREAM_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include <functional>

/* The stream's device; the calling thread's for NULL. Ends the program where that is another than
 * the calling thread's and `what` is not NULL. */
int dg_emu_device_of(cudaStream_t stream, const char *what);
/* What a call on this device answers: whether it is broken. */
cudaError_t dg_emu_state(int device);
/* The calling thread's last error is from now on that something is not ready. */
void dg_emu_not_ready();
/* One more wait for a device; what it then answers. */
cudaError_t dg_emu_waited(int device);
/* A launch takes so much dynamic shared memory: ends the program where that is more than 48 KiB and
 * was not asked for. */
void dg_emu_may_share(const void *kernel, size_t bytes);
/* Do it now, as this device. */
void dg_emu_on(int device, const std::function<void()> &work);

/* Give a stream something to do: now, or when somebody waits. An error: it records a graph that has
 * failed. */
cudaError_t dg_emu_give(cudaStream_t stream, std::function<void()> work);
/* It waits until the other one has come so far. An error: it records a graph. */
cudaError_t dg_emu_follow(cudaStream_t stream, cudaStream_t other, uint64_t upto);
/* How much it was given, how far it is, and doing more. */
uint64_t dg_emu_given(cudaStream_t stream);
uint64_t dg_emu_reached(cudaStream_t stream);
void dg_emu_finish(cudaStream_t stream, uint64_t upto);
/* All streams' work: what freeing memory waits for. */
void dg_emu_finish_all();
/* Records a graph: a call that waits is an error, and ends the recording. */
bool dg_emu_recording(cudaStream_t stream);
void dg_emu_spoil(cudaStream_t stream);
/* Work is done late on it. */
bool dg_emu_lazy(cudaStream_t stream);

#endif
