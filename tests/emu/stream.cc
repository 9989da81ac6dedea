/* Streams of the emulated CUDA, and graphs recorded from them. A stream executes work at once; or,
 * if it was created under DRAGOMAN_EMU_LAZY=1, only when the host or another stream waits for it,
 * and no more of it than is waited for. This is as late as a device may be, so it exposes code that
 * overwrites pinned memory or reads a result too early. DRAGOMAN_EMU_LAZY=even: the first stream
 * created and every second one after it are late; =odd: all the others. DRAGOMAN_EMU_WAITS=off: no
 * stream waits for another, to show that tests would notice. */
#include "tests/emu/stream.h"
#include "tests/emu/device.h"

#include <emu_stream.h>

#include <stdlib.h>
#include <string.h>

#include <atomic>
#include <deque>
#include <mutex>
#include <set>
#include <vector>

struct work {
    std::function<void()> todo;
    /* if set instead of todo: the stream waits until `other` has done `upto` items */
    dg_emu_stream *other;
    uint64_t upto;
};

struct dg_emu_queue {
    std::recursive_mutex lock; /* held while its work runs */
    std::deque<work> waiting;
    uint64_t given = 0, done = 0;
    bool lazy = false;
    bool recording = false, spoilt = false;
    std::vector<work> recorded;
};

struct dg_emu_graph {
    int device;
    std::vector<work> nodes;
};

namespace
{

std::mutex listing; /* guards the list; taken before a queue's lock */
std::set<dg_emu_stream *> streams;
/* Destroyed streams, which queued waits may still refer to. The set itself is never freed, so that
 * a leak checker can reach them. */
std::set<dg_emu_stream *> &gone = *new std::set<dg_emu_stream *>;
std::atomic<unsigned long> made, waits;

bool wants_lazy()
{
    const char *lazy = getenv("DRAGOMAN_EMU_LAZY");
    const unsigned long number = made++;
    return lazy && (!strcmp(lazy, "1") || !strcmp(lazy, number % 2 ? "odd" : "even"));
}

void finish(dg_emu_stream *s, uint64_t upto)
{
    dg_emu_queue *q = s->queue;
    const std::lock_guard<std::recursive_mutex> held(q->lock);
    while (q->done < upto && !q->waiting.empty()) {
        const work next = std::move(q->waiting.front());
        q->waiting.pop_front();
        if (next.other)
            finish(next.other, next.upto);
        else
            dg_emu_on(s->device, next.todo);
        q->done++;
    }
}

cudaError_t give(cudaStream_t stream, work w)
{
    dg_emu_queue *q = stream->queue;
    const std::lock_guard<std::recursive_mutex> held(q->lock);
    if (q->recording) {
        q->recorded.push_back(std::move(w));
        return q->spoilt ? cudaErrorStreamCaptureInvalidated : cudaSuccess;
    }
    q->given++;
    q->waiting.push_back(std::move(w));
    if (!q->lazy)
        finish(stream, q->given);
    return cudaSuccess;
}

} // namespace

cudaError_t dg_emu_give(cudaStream_t stream, std::function<void()> todo)
{
    if (!stream) {
        dg_emu_on(dg_emu_device_of(stream, nullptr), todo);
        return cudaSuccess;
    }
    return give(stream, {std::move(todo), nullptr, 0});
}

cudaError_t dg_emu_follow(cudaStream_t stream, cudaStream_t other, uint64_t upto)
{
    const char *wish = getenv("DRAGOMAN_EMU_WAITS");
    if (dg_emu_recording(stream)) {
        dg_emu_spoil(stream); /* CUDA would record it; no caller here wants that */
        return cudaErrorStreamCaptureUnsupported;
    }
    waits++;
    return wish && !strcmp(wish, "off") ? cudaSuccess : give(stream, {nullptr, other, upto});
}

uint64_t dg_emu_given(cudaStream_t stream)
{
    const std::lock_guard<std::recursive_mutex> held(stream->queue->lock);
    return stream->queue->given;
}

uint64_t dg_emu_reached(cudaStream_t stream)
{
    const std::lock_guard<std::recursive_mutex> held(stream->queue->lock);
    return stream->queue->done;
}

void dg_emu_finish(cudaStream_t stream, uint64_t upto)
{
    finish(stream, upto);
}

void dg_emu_finish_all()
{
    const std::lock_guard<std::mutex> held(listing);
    for (dg_emu_stream *s : streams)
        if (s->queue->lazy)
            finish(s, UINT64_MAX);
}

bool dg_emu_recording(cudaStream_t stream)
{
    if (!stream)
        return false;
    const std::lock_guard<std::recursive_mutex> held(stream->queue->lock);
    return stream->queue->recording;
}

void dg_emu_spoil(cudaStream_t stream)
{
    const std::lock_guard<std::recursive_mutex> held(stream->queue->lock);
    stream->queue->spoilt = true;
}

bool dg_emu_lazy(cudaStream_t stream)
{
    return stream && stream->queue->lazy;
}

extern "C" {

/* Returns how often a stream was told to wait for another. */
unsigned long dg_emu_stream_waits(void)
{
    return waits;
}

void dg_emu_call(cudaStream_t stream, void (*f)(const void *), const void *arg, size_t bytes)
{
    dg_emu_device_of(stream, "a product on another device's stream");
    const std::vector<unsigned char> copy(
        (const unsigned char *)arg, (const unsigned char *)arg + bytes);
    dg_emu_give(stream, [f, copy] { f(copy.data()); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned)
{
    const int d = dg_emu_device_of(nullptr, nullptr);
    *stream = nullptr;
    if (dg_emu_state(d))
        return dg_emu_state(d);
    *stream = new dg_emu_stream{d, 0, 0, new dg_emu_queue()};
    (*stream)->queue->lazy = wants_lazy();
    const std::lock_guard<std::mutex> held(listing);
    streams.insert(*stream);
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    const int d = dg_emu_device_of(stream, nullptr);
    if (dg_emu_recording(stream)) {
        dg_emu_spoil(stream);
        return cudaErrorStreamCaptureUnsupported;
    }
    if (stream)
        finish(stream, UINT64_MAX);
    return dg_emu_waited(d);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    finish(stream, UINT64_MAX);
    {
        const std::lock_guard<std::mutex> held(listing);
        streams.erase(stream);
        gone.insert(stream);
    }
    return cudaSuccess;
}

/* DRAGOMAN_EMU_CAPTURE=begin, end, instantiate or launch: that call fails, as a driver may. */
static bool refuses(const char *call)
{
    const char *fail = getenv("DRAGOMAN_EMU_CAPTURE");
    return fail && !strcmp(fail, call);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode)
{
    if (refuses("begin"))
        return cudaErrorStreamCaptureUnsupported;
    dg_emu_queue *q = stream->queue;
    const std::lock_guard<std::recursive_mutex> held(q->lock);
    if (q->recording)
        return cudaErrorInvalidValue;
    q->recording = true;
    q->spoilt = false;
    q->recorded.clear();
    return dg_emu_state(stream->device);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    dg_emu_queue *q = stream->queue;
    const std::lock_guard<std::recursive_mutex> held(q->lock);
    *graph = nullptr;
    if (!q->recording)
        return cudaErrorInvalidValue;
    q->recording = false;
    if (q->spoilt || refuses("end"))
        return cudaErrorStreamCaptureInvalidated;
    *graph = new dg_emu_graph{stream->device, std::move(q->recorded)};
    q->recorded.clear();
    return dg_emu_state(stream->device);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long)
{
    *exec = nullptr;
    if (refuses("instantiate"))
        return cudaErrorMemoryAllocation;
    *exec = new dg_emu_graph(*graph);
    return dg_emu_state(graph->device);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    delete graph;
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    delete exec;
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    /* a copy: the graph may be destroyed before they run */
    const std::vector<work> nodes = exec->nodes;
    dg_emu_device_of(stream, "a graph on another device's stream");
    if (refuses("launch"))
        return cudaErrorMemoryAllocation;
    const cudaError_t rc = dg_emu_give(stream, [nodes] {
        for (const work &node : nodes)
            node.todo();
    });
    return rc ? rc : dg_emu_state(stream->device);
}
}
