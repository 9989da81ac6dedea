/* Events of the emulated CUDA: a stream's work up to a moment. Work of the emulated NCCL
 * (include/emu_stream.h) and work that a lazy stream has postponed (stream.cc) may complete
 * late. */
#include "tests/emu/stream.h"

#include <emu_stream.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct dg_emu_event {
    dg_emu_stream *stream; /* NULL: never recorded, and so complete */
    /* counts given to the stream when it was recorded: by NCCL, by the runtime */
    uint64_t sums, given;
    int device;
    unsigned flags;
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

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    int here = -1;
    cudaGetDevice(&here);
    *event = new dg_emu_event{nullptr, 0, 0, here, flags};
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    expect_here(stream->device, "recording an event on another device's stream");
    if (event->device != stream->device)
        return cudaErrorInvalidValue;
    if (dg_emu_recording(stream)) {
        dg_emu_spoil(stream); /* CUDA would record it; no caller here wants that */
        return cudaErrorStreamCaptureUnsupported;
    }
    event->stream = stream;
    event->sums = __atomic_load_n(&stream->given, __ATOMIC_ACQUIRE);
    event->given = dg_emu_given(stream);
    return cudaGetLastError();
}

/* Each query of an incomplete event advances its stream by one item; not with
 * DRAGOMAN_EMU_QUERY=never. */
cudaError_t cudaEventQuery(cudaEvent_t event)
{
    const char *never = getenv("DRAGOMAN_EMU_QUERY");
    if (!event->stream)
        return cudaGetLastError();
    const bool done = dg_emu_reached(event->stream) >= event->given &&
                      __atomic_load_n(&event->stream->done, __ATOMIC_ACQUIRE) >= event->sums;
    if (done)
        return cudaGetLastError();
    if (!never || strcmp(never, "never") != 0)
        dg_emu_finish(event->stream, dg_emu_reached(event->stream) + 1);
    dg_emu_not_ready();
    return cudaErrorNotReady;
}

static void await_sums(cudaEvent_t event)
{
    while (__atomic_load_n(&event->stream->done, __ATOMIC_ACQUIRE) < event->sums)
        sched_yield();
}

static void await(cudaEvent_t event)
{
    if (!event->stream)
        return;
    dg_emu_finish(event->stream, event->given);
    await_sums(event);
}

/* DRAGOMAN_EMU_HANG=N: the process' N-th wait, and all after it, never end. */
cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    if (!(event->flags & cudaEventBlockingSync)) {
        fprintf(stderr, "emulation: a thread spins while it waits for an event\n");
        abort();
    }
    static unsigned long waits;
    const char *hang = getenv("DRAGOMAN_EMU_HANG");
    if (hang && __atomic_add_fetch(&waits, 1, __ATOMIC_RELAXED) >= strtoul(hang, nullptr, 10))
        for (;;)
            sleep(1);
    if (event->stream && dg_emu_recording(event->stream)) {
        dg_emu_spoil(event->stream);
        return cudaErrorStreamCaptureUnsupported;
    }
    await(event);
    return dg_emu_waited(event->device);
}

/* Work given to the stream after this call waits for what the event means now. NCCL's sums are
 * awaited by the host instead. */
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned)
{
    if (!event->stream)
        return cudaGetLastError();
    const cudaError_t rc = dg_emu_follow(stream, event->stream, event->given);
    await_sums(event);
    return rc ? rc : cudaGetLastError();
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    delete event;
    return cudaSuccess;
}
}
