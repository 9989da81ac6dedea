/* Declarations shared by runtime.cc, stream.cc and events.cc. */
#ifndef DG_TESTS_EMU_STREAM_H
#define DG_TESTS_EMU_STREAM_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include <functional>

/* Returns the stream's device, or the calling thread's for NULL. Ends the program if it differs
 * from the calling thread's and `what` is not NULL. */
int dg_emu_device_of(cudaStream_t stream, const char *what);
/* Returns the result of a call on this device: an error if the device is broken. */
cudaError_t dg_emu_state(int device);
/* Sets the calling thread's last error to cudaErrorNotReady. */
void dg_emu_not_ready();
/* Counts one more wait for a device; returns the wait's result. */
cudaError_t dg_emu_waited(int device);
/* Ends the program if a launch takes more than 48 KiB of dynamic shared memory that the kernel has
 * not requested. */
void dg_emu_may_share(const void *kernel, size_t bytes);
/* Runs `work` now, as this device. */
void dg_emu_on(int device, const std::function<void()> &work);

/* Queues `work` on a stream, which runs it now or when somebody waits. Fails if the stream records
 * a graph that has been invalidated. */
cudaError_t dg_emu_give(cudaStream_t stream, std::function<void()> work);
/* Makes `stream` wait until `other` has done `upto` items. Fails if `stream` records a graph. */
cudaError_t dg_emu_follow(cudaStream_t stream, cudaStream_t other, uint64_t upto);
/* Work items: how many a stream was given, how many are done, and finishing the first `upto`. */
uint64_t dg_emu_given(cudaStream_t stream);
uint64_t dg_emu_reached(cudaStream_t stream);
void dg_emu_finish(cudaStream_t stream, uint64_t upto);
/* Finishes the work of all streams, as freeing memory does. */
void dg_emu_finish_all();
/* True if the stream records a graph. A call that waits is then an error and spoils the
 * recording. */
bool dg_emu_recording(cudaStream_t stream);
void dg_emu_spoil(cudaStream_t stream);
/* True if the stream runs its work late. */
bool dg_emu_lazy(cudaStream_t stream);

#endif
