/* Events of the emulated CUDA: a stream's work up to a moment. Only the emulated NCCL leaves work
 * undone (include/emu_stream.h). */
#include <cuda_runtime_api.h>
#include <emu_stream.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

struct dg_emu_event {
    const dg_emu_stream *stream; /* NULL: never recorded, and so done */
    uint64_t given;              /* to the stream, when it was recorded */
    int device;
};

static void expect_here(int device, const char *what)
{
    int here = -1;
    cudaGetDevice(&here);
    if (here == device)
        return;
    fprintf(
        stderr, "emulation: %s: the thread's device is %d, it should be %d\n", what, here, device);
    abort();
}

extern "C" {

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned)
{
    int here = -1;
    cudaGetDevice(&here);
    *event = new dg_emu_event{nullptr, 0, here};
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    expect_here(stream->device, "recording an event on another device's stream");
    if (event->device != stream->device)
        return cudaErrorInvalidValue;
    event->stream = stream;
    event->given = __atomic_load_n(&stream->given, __ATOMIC_ACQUIRE);
    return cudaGetLastError();
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    const bool done =
        !event->stream || __atomic_load_n(&event->stream->done, __ATOMIC_ACQUIRE) >= event->given;
    return done ? cudaGetLastError() : cudaErrorNotReady;
}

/* What a stream is given after this waits; here the host does. */
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t event, unsigned)
{
    while (cudaEventQuery(event) == cudaErrorNotReady)
        sched_yield();
    return cudaGetLastError();
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return cudaSuccess;
}
}
