/* CUDA's runtime API on host memory, with DRAGOMAN_EMU_DEVICES devices (default 1). With several,
 * each has a region of its own that is accessible only while that device works: using another
 * device's pointer, or a device pointer on the host, ends the program at once. Calls that CUDA
 * requires on the calling thread's device are checked. DRAGOMAN_EMU_MEMORY: bytes per device.
 * DRAGOMAN_EMU_CAPABILITY=7.5,9.0: compute capability of each device, the last one also of those
 * after it (default 9.0). DRAGOMAN_EMU_PTX=80: the virtual architecture that the kernels were
 * compiled from (default: the device's own).
 * DRAGOMAN_EMU_FAIL=N makes the N-th wait for a device fail, and all after it, as on a broken
 * device: on every device, or on DRAGOMAN_EMU_FAIL_DEVICE alone. */
#include "tests/emu/device.h"
#include "tests/emu/stream.h"

#include <emu_stream.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <atomic>
#include <map>
#include <mutex>
#include <vector>

namespace
{

constexpr int MOST = 16;
constexpr size_t REGION = (size_t)1 << 34, ALIGN = 256;

struct device {
    /* [REGION]; NULL: blocks come from the heap, where ASan sees their ends */
    unsigned char *region;
    std::map<size_t, size_t> blocks; /* address, or offset into the region -> bytes */
    size_t used;
    std::atomic<long> waits;
};

std::mutex working; /* guards devices and open_now; held while a device works */
device devices[MOST];
int open_now = -1; /* device whose region is accessible; -1: none */

std::mutex pinning;                             /* guards pinned */
std::map<const unsigned char *, size_t> pinned; /* memory that a device may read and write late */

std::mutex sharing;                         /* guards shared_most */
std::map<const void *, size_t> shared_most; /* by kernel: shared memory that it requested */

std::atomic<unsigned long> allocations, read_backs, early_launches;
thread_local int current;
thread_local bool not_ready;

int count()
{
    const char *n = getenv("DRAGOMAN_EMU_DEVICES");
    const int all = n ? atoi(n) : 1;
    return all < MOST ? all : MOST;
}

size_t most_bytes()
{
    const char *n = getenv("DRAGOMAN_EMU_MEMORY");
    return n ? strtoull(n, nullptr, 10) : REGION;
}

bool broken(int d)
{
    const char *at = getenv("DRAGOMAN_EMU_FAIL"), *who = getenv("DRAGOMAN_EMU_FAIL_DEVICE");
    return at && (!who || atoi(who) == d) && devices[d].waits >= atol(at);
}

[[noreturn]] void die(const char *what, int has, int wants)
{
    fprintf(
        stderr, "emulation: %s: the thread's device is %d, it should be %d\n", what, has, wants);
    abort();
}

/* Makes device d's region the accessible one. The lock must be held. */
void open_region(int d)
{
    if (count() < 2 || open_now == d)
        return;
    if (!devices[d].region) {
        void *p =
            mmap(nullptr, REGION, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED)
            abort();
        devices[d].region = (unsigned char *)p;
    }
    if (open_now >= 0)
        mprotect(devices[open_now].region, REGION, PROT_NONE);
    mprotect(devices[d].region, REGION, PROT_READ | PROT_WRITE);
    open_now = d;
}

/* Held while a device works on its memory. */
struct work {
    std::lock_guard<std::mutex> lock;
    explicit work(int d) : lock(working)
    {
        open_region(d);
    }
};

bool is_pinned(const void *p, size_t bytes)
{
    const unsigned char *at = (const unsigned char *)p;
    const std::lock_guard<std::mutex> held(pinning);
    auto block = pinned.upper_bound(at);
    if (block == pinned.begin())
        return false;
    --block;
    return at + bytes <= block->first + block->second;
}

/* Returns the offset of the first gap that is large enough. */
size_t find_gap(const device &d, size_t bytes)
{
    size_t at = 0;
    for (const auto &block : d.blocks) {
        if (block.first - at >= bytes)
            break;
        at = block.first + block.second;
    }
    return at;
}

} // namespace

int dg_emu_device_of(cudaStream_t stream, const char *what)
{
    const int d = stream ? stream->device : current;
    if (what && d != current)
        die(what, current, d);
    return d;
}

void dg_emu_not_ready()
{
    not_ready = true;
}

cudaError_t dg_emu_state(int d)
{
    return broken(d) ? cudaErrorLaunchFailure : cudaSuccess;
}

cudaError_t dg_emu_waited(int d)
{
    devices[d].waits++;
    return dg_emu_state(d);
}

void dg_emu_on(int d, const std::function<void()> &todo)
{
    const work w(d);
    todo();
}

extern "C" {

cudaError_t cudaGetDeviceCount(int *n)
{
    *n = count();
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    if (device < 0 || device >= count())
        return cudaErrorInvalidDevice;
    current = device;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    *device = current;
    return cudaSuccess;
}

/* As DRAGOMAN_EMU_CAPABILITY says. */
static void find_capability(int device, int *major, int *minor)
{
    const char *at = getenv("DRAGOMAN_EMU_CAPABILITY");
    at = at ? at : "9.0";
    for (const char *next; device > 0 && (next = strchr(at, ',')); device--)
        at = next + 1;
    *major = atoi(at);
    *minor = atoi(strchr(at, '.') + 1);
}

/* DRAGOMAN_EMU_FIRST: the device that is this process's number 0, as with CUDA_VISIBLE_DEVICES. */
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
    const char *first = getenv("DRAGOMAN_EMU_FIRST");
    memset(p, 0, sizeof *p);
    snprintf(
        p->uuid.bytes, sizeof p->uuid.bytes, "emulated %d", device + (first ? atoi(first) : 0));
    snprintf(p->name, sizeof p->name, "emulated on the host");
    find_capability(device, &p->major, &p->minor);
    const char *processors = getenv("DRAGOMAN_EMU_PROCESSORS");
    p->multiProcessorCount = processors ? atoi(processors) : 4;
    return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    const work w(current);
    *total = most_bytes();
    *free_bytes = *total - devices[current].used;
    return cudaSuccess;
}

/* As in CUDA, cudaErrorNotReady stays the last error until it is read, although it is no fault. */
cudaError_t cudaGetLastError(void)
{
    const cudaError_t last = not_ready ? cudaErrorNotReady : cudaSuccess;
    not_ready = false;
    return last ? last : dg_emu_state(current);
}

const char *cudaGetErrorString(cudaError_t e)
{
    return e == cudaSuccess                 ? "no error"
           : e == cudaErrorMemoryAllocation ? "out of memory"
           : e == cudaErrorInvalidDevice    ? "invalid device ordinal"
           : e == cudaErrorNotReady         ? "device not ready"
           : e == cudaErrorStreamCaptureInvalidated
               ? "operation failed due to a previous error during capture"
           : e == cudaErrorStreamCaptureUnsupported
               ? "operation not permitted when stream is capturing"
               : "unspecified launch failure";
}

const char *cudaGetErrorName(cudaError_t e)
{
    return e == cudaSuccess                         ? "cudaSuccess"
           : e == cudaErrorMemoryAllocation         ? "cudaErrorMemoryAllocation"
           : e == cudaErrorInvalidDevice            ? "cudaErrorInvalidDevice"
           : e == cudaErrorStreamCaptureInvalidated ? "cudaErrorStreamCaptureInvalidated"
           : e == cudaErrorStreamCaptureUnsupported ? "cudaErrorStreamCaptureUnsupported"
                                                    : "cudaErrorLaunchFailure";
}

unsigned long dg_emu_allocations(void)
{
    return allocations;
}

/* Returns the number of copies to the host. */
unsigned long dg_emu_read_backs(void)
{
    return read_backs;
}

void dg_emu_launched_early(void)
{
    early_launches++;
}

unsigned long dg_emu_early_launches(void)
{
    return early_launches;
}

/* Returns the number of waits for the first device. */
unsigned long dg_emu_waits(void)
{
    return (unsigned long)devices[0].waits;
}

/* The memory is not zeroed, as on a device. */
cudaError_t cudaMalloc(void **p, size_t bytes)
{
    allocations++;
    const work w(current);
    device &d = devices[current];
    const size_t whole = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    *p = nullptr;
    if (whole < bytes || whole > most_bytes() - d.used)
        return cudaErrorMemoryAllocation;
    size_t at = d.region ? find_gap(d, whole) : 0;
    if (d.region)
        *p = at + whole <= REGION ? d.region + at : nullptr;
    else
        at = (size_t)(*p = aligned_alloc(ALIGN, whole));
    if (!*p)
        return cudaErrorMemoryAllocation;
    d.blocks[at] = whole;
    d.used += whole;
    memset(*p, 0xFF, bytes < 1 << 20 ? bytes : 1 << 20);
    return cudaSuccess;
}

cudaError_t cudaFree(void *p)
{
    if (!p)
        return cudaSuccess;
    dg_emu_finish_all();
    const work w(current);
    for (device &d : devices) {
        const auto block =
            d.blocks.find(d.region ? (size_t)((unsigned char *)p - d.region) : (size_t)p);
        if (block == d.blocks.end())
            continue;
        d.used -= block->second;
        d.blocks.erase(block);
        if (!d.region)
            free(p);
        return cudaSuccess;
    }
    return cudaErrorInvalidValue;
}

cudaError_t cudaMallocHost(void **p, size_t bytes)
{
    allocations++;
    *p = malloc(bytes ? bytes : 1);
    if (!*p)
        return cudaErrorMemoryAllocation;
    const std::lock_guard<std::mutex> held(pinning);
    pinned[(const unsigned char *)*p] = bytes;
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *p)
{
    if (p)
        dg_emu_finish_all();
    const std::lock_guard<std::mutex> held(pinning);
    pinned.erase((const unsigned char *)p);
    free(p);
    return cudaSuccess;
}

/* As in CUDA, pageable memory is the caller's again when the call returns: data to send has been
 * copied, data to fetch has arrived. */
cudaError_t cudaMemcpyAsync(
    void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    const int d = dg_emu_device_of(stream, nullptr);
    read_backs += kind == cudaMemcpyDeviceToHost;
    const void *host = kind == cudaMemcpyHostToDevice ? from : to;
    const bool pageable = kind != cudaMemcpyDeviceToDevice && !is_pinned(host, bytes);
    if (pageable && dg_emu_recording(stream)) {
        dg_emu_spoil(stream);
        return cudaErrorStreamCaptureUnsupported;
    }
    cudaError_t rc;
    if (pageable && kind == cudaMemcpyHostToDevice && dg_emu_lazy(stream)) {
        const std::vector<unsigned char> copy(
            (const unsigned char *)from, (const unsigned char *)from + bytes);
        rc = dg_emu_give(stream, [to, copy] { memcpy(to, copy.data(), copy.size()); });
    } else {
        rc = dg_emu_give(stream, [to, from, bytes] { memcpy(to, from, bytes); });
        if (pageable && stream)
            dg_emu_finish(stream, UINT64_MAX);
    }
    return rc ? rc : dg_emu_state(d);
}

cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream)
{
    dg_emu_device_of(stream, "clearing memory on another device's stream");
    return dg_emu_give(stream, [p, value, bytes] { memset(p, value, bytes); });
}

/* A driver compiles PTX for the device, so that binaryVersion is the device's in any case. */
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *a, const void *)
{
    int major, minor;
    find_capability(current, &major, &minor);
    const char *ptx = getenv("DRAGOMAN_EMU_PTX");
    a->binaryVersion = major * 10 + minor;
    a->ptxVersion = ptx ? atoi(ptx) : a->binaryVersion;
    return cudaSuccess;
}

/* An A100 has 164 KB of shared memory, of which a block may use 163 KB. */
cudaError_t cudaFuncSetAttribute(const void *kernel, enum cudaFuncAttribute, int value)
{
    if (value > 163 * 1024)
        return cudaErrorInvalidValue;
    const std::lock_guard<std::mutex> lock(sharing);
    shared_most[kernel] = (size_t)value;
    return cudaSuccess;
}
}

void dg_emu_may_share(const void *kernel, size_t bytes)
{
    const std::lock_guard<std::mutex> lock(sharing);
    if (bytes > 48 * 1024 && bytes > shared_most[kernel]) {
        fprintf(stderr, "emulation: a launch takes %zu bytes of shared memory unasked\n", bytes);
        abort();
    }
}
