/* Opening a device, and what happens when it fails: the first error is kept, every later op does
 * nothing, and status() says so until the backend is closed. A CUDA context does not recover from
 * most errors, and a program that went on would answer wrongly. */
#include "base/debug.h"
#include "kernels/cuda/beam.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The runtime keeps a current device for each thread: allocations and launches go there. In a new
 * thread it reads as 0, but libraries want it set explicitly. */
int dg_cuda_here(const struct dg_cuda *cu)
{
    static _Thread_local bool set;
    int current = -1;
    cudaError_t rc = cudaGetDevice(&current);
    if (rc == cudaSuccess && set && current == cu->device)
        return rc;
    rc = cudaSetDevice(cu->device);
    set = rc == cudaSuccess;
    return rc;
}

int dg_cuda_unusable(int device, int cuda_error, struct dg_error *err)
{
    cudaGetLastError();
    return dg_error_set(err, DG_ENOTFOUND, "CUDA device %d cannot be used: %s", device,
        cudaGetErrorString((cudaError_t)cuda_error));
}

bool dg_cuda_alive(struct dg_cuda *cu)
{
    return cu->failure.code == DG_OK && dg_cuda_ok(cu, dg_cuda_here(cu), "choosing the device");
}

cudaStream_t dg_cuda_stream(const struct dg_cuda *cu)
{
    return cu->stream;
}

bool dg_cuda_starts_early(const struct dg_cuda *cu)
{
    return cu->early;
}

void dg_cuda_fail(struct dg_cuda *cu, const struct dg_error *err)
{
    dg_error_set(&cu->failure, err->code, "%s: %s", cu->name, err->message);
}

bool dg_cuda_ok(struct dg_cuda *cu, int cuda_error, const char *what)
{
    if (cuda_error == cudaSuccess)
        return true;
    cudaGetLastError(); /* clear it, or the thread's next backend would find it */
    dg_error_set(&cu->failure, DG_EINTERNAL, "%s failed at %s: %s (%s)", cu->name, what,
        cudaGetErrorString((cudaError_t)cuda_error), cudaGetErrorName((cudaError_t)cuda_error));
    return false;
}

int dg_cuda_status(struct dg_backend *be, struct dg_error *err)
{
    const struct dg_error *f = &dg_cuda_of(be)->failure;
    return f->code == DG_OK ? DG_OK : dg_error_set(err, f->code, "%s", f->message);
}

int dg_cuda_memory(struct dg_backend *be, struct dg_memory *out, struct dg_error *err)
{
    struct dg_cuda *cu = dg_cuda_of(be);
    *out = (struct dg_memory){.held = cu->memory_bytes};
    if (dg_cuda_alive(cu))
        dg_cuda_ok(cu, cudaMemGetInfo(&out->free, &out->total), "asking for its memory");
    return dg_cuda_status(be, err);
}

static int count_devices(struct dg_error *err)
{
    int n = 0;
    const cudaError_t rc = cudaGetDeviceCount(&n);
    if (rc == cudaSuccess && n > 0)
        return n;
    cudaGetLastError();
    dg_error_set(err, DG_ENOTFOUND, "no CUDA device: %s",
        rc == cudaSuccess ? "the driver lists none" : cudaGetErrorString(rc));
    return 0;
}

static int properties(int device, struct cudaDeviceProp *out, struct dg_error *err)
{
    const cudaError_t rc = cudaGetDeviceProperties(out, device);
    if (rc == cudaSuccess)
        return DG_OK;
    cudaGetLastError();
    return dg_error_set(err, DG_ENOTFOUND, "CUDA device %d does not say which it is: %s", device,
        cudaGetErrorString(rc));
}

static int identity(int device, unsigned char id[DG_DEVICE_ID], struct dg_error *err)
{
    struct cudaDeviceProp p;
    _Static_assert(sizeof p.uuid == DG_DEVICE_ID, "the driver's number of a device");
    const int rc = properties(device, &p, err);
    if (!rc)
        memcpy(id, &p.uuid, sizeof p.uuid);
    return rc;
}

static const char *type_name(enum dg_type type)
{
    return type == DG_F32 ? "fp32" : type == DG_F16 ? "fp16" : "bf16";
}

/* Rows that keep the device busy in a step: up to eight for each multiprocessor, rounded down to a
 * power of two, 32 .. 1024, to which steps are padded. An H200 has 132 multiprocessors. */
static uint32_t step_rows(const struct cudaDeviceProp *p)
{
    uint32_t rows = 32;
    while (rows < 1024 && rows * 2 <= 8 * (uint32_t)p->multiProcessorCount)
        rows *= 2;
    return rows;
}

/* Make a device that can run the kernels the calling thread's. code: the virtual architecture that
 * its kernels were compiled from; they are refused where the plugin has none for the device. */
static int take(int device, struct cudaDeviceProp *p, int *code, struct dg_error *err)
{
    const int rc = properties(device, p, err);
    if (rc)
        return rc;
    if (p->major < 8)
        return dg_error_set(err, DG_EUNSUP,
            "CUDA device %d (%s) has compute capability %d.%d: 8.0 or later is needed", device,
            p->name, p->major, p->minor);
    int failed = cudaSetDevice(device);
    if (!failed)
        failed = dg_kernel_architecture(code);
    return failed ? dg_cuda_unusable(device, failed, err) : DG_OK;
}

/* A stream is what a driver that is at fault, or a device that is reserved for another process,
 * refuses first. */
static int probe(int device, struct dg_error *err)
{
    struct cudaDeviceProp p;
    cudaStream_t stream = NULL;
    int code;
    const int rc = take(device, &p, &code, err);
    if (rc)
        return rc;
    int failed = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (!failed)
        failed = cudaStreamDestroy(stream);
    return failed ? dg_cuda_unusable(device, failed, err) : DG_OK;
}

/* The first virtual architecture whose kernels have DG_AFTER_THE_LAST's wait. What counts is the
 * code that runs, not the device: a driver may have compiled it from an older architecture's
 * PTX. */
enum { WAITING_CODE = 90 };

static int choose_device(struct dg_cuda *cu, struct dg_error *err)
{
    struct cudaDeviceProp p;
    int code;
    const int rc = take(cu->device, &p, &code, err);
    if (rc)
        return rc;
    cu->ops.step_rows = step_rows(&p);
    cu->early = code >= WAITING_CODE && !dg_debug("cuda-late-launches");
    for (char *c = p.name; *c; c++) /* the name must be one word in log lines */
        *c = *c == ' ' ? '-' : *c;
    snprintf(
        cu->name, sizeof cu->name, "cuda:%d/%s/%.48s", cu->device, type_name(cu->type), p.name);
    return DG_OK;
}

/* Set *out if an environment variable is `word`; `otherwise` is its default, anything else an
 * error. */
static int choose(
    const char *variable, const char *word, const char *otherwise, bool *out, struct dg_error *err)
{
    const char *wish = getenv(variable);
    *out = wish && !strcmp(wish, word);
    if (!wish || !*wish || *out || !strcmp(wish, otherwise))
        return DG_OK;
    return dg_error_set(
        err, DG_EINVAL, "%s is \"%s\", it can be %s or %s", variable, wish, word, otherwise);
}

static int choose_ways(struct dg_cuda *cu, struct dg_error *err)
{
    int rc = choose("DRAGOMAN_CUDA_STEP", "host", "graph", &cu->host_search, err);
    if (!rc)
        rc = choose("DRAGOMAN_CUDA_GEMM", "own", "one", &cu->own_products, err);
    cu->graphs = !dg_debug("cuda-graphs-off");
    cu->plain_attention = dg_debug("cuda-plain-attention");
    if (dg_debug("cuda-one-stream"))
        cu->ops.side_begin = NULL;
    return rc ? rc : dg_debug_check(err);
}

static int cuda_open(
    const struct dg_plugin_options *o, struct dg_backend **out, struct dg_error *err)
{
    *out = NULL;
    struct dg_cuda *cu = calloc(1, sizeof *cu);
    if (!cu)
        return dg_error_set(err, DG_ENOMEM, "no memory for a CUDA backend");
    cu->ops = dg_cuda_ops;
    cu->base.ops = &cu->ops;
    cu->base.name = cu->name;
    cu->device = o->device;
    cu->type = o->type;
    snprintf(cu->name, sizeof cu->name, "cuda:%d", cu->device);
    int rc = choose_ways(cu, err);
    if (!rc)
        rc = choose_device(cu, err);
    if (!rc)
        rc = dg_cuda_lanes_open(cu, err);
    if (!rc)
        rc = dg_cuda_watch_open(cu, err);
    if (!rc)
        rc = dg_cuda_gemm_open(cu, err);
    if (rc) {
        dg_cuda_close(&cu->base);
        return rc;
    }
    *out = &cu->base;
    return DG_OK;
}

void dg_cuda_close(struct dg_backend *be)
{
    if (!be)
        return;
    struct dg_cuda *cu = dg_cuda_of(be);
    dg_cuda_here(cu);
    dg_cuda_lanes_close(cu);
    dg_cuda_gemm_close(cu);
    cudaFreeHost(cu->results);
    dg_cuda_memory_close(cu);
    dg_cuda_watch_close(cu);
    free(cu);
}

/* The only symbol that the library exports. */
const struct dg_plugin *dg_plugin_cuda(uint32_t abi);
const struct dg_plugin *dg_plugin_cuda(uint32_t abi)
{
    static const struct dg_plugin plugin = {
        DG_PLUGIN_ABI, count_devices, cuda_open, probe, identity};
    return abi == DG_PLUGIN_ABI ? &plugin : NULL;
}
