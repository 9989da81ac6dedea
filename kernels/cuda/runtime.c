/* Opening a device, and what happens when it fails: the first error is kept, every later op does
 * nothing, and status() says so until the backend is closed. A CUDA context does not recover from
 * most errors, and a program that went on would answer wrongly. */
#include "base/debug.h"
#include "kernels/cuda/beam.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64 << 20 };

static void cuda_close(struct dg_backend *be);
static int cuda_memory(struct dg_backend *be, struct dg_memory *out, struct dg_error *err);

static const struct dg_ops table = {
    .device = "cuda",
    .busy_rows =
        4096, /* tiles of 128 x 128 of a product with 512 columns: one for each of 128 SMs */
    .buf_new = dg_cuda_buf_new,
    .buf_new_wide = dg_cuda_buf_new_wide,
    .buf_free = dg_cuda_buf_free,
    .write = dg_cuda_write,
    .read = dg_cuda_read,
    .weight_new = dg_cuda_weight_new,
    .weight_free = dg_cuda_weight_free,
    .embed = dg_cuda_embed,
    .linear = dg_cuda_linear,
    .add_norm = dg_cuda_add_norm,
    .ssru = dg_cuda_ssru,
    .attention = dg_cuda_attention,
    .kv_write = dg_cuda_kv_write,
    .topk = dg_cuda_topk,
    .reserve = dg_cuda_reserve,
    .status = dg_cuda_status,
    .memory = cuda_memory,
    .device_search = &dg_cuda_device_search_ops,
    .train_open = dg_cuda_train_open,
    .close = cuda_close,
};

/* The runtime keeps a device for each thread: allocations and launches go there. A new thread's is
 * 0, but only in name: libraries want it set. */
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

bool dg_cuda_alive(struct dg_cuda *cu)
{
    return cu->failure.code == DG_OK && dg_cuda_ok(cu, dg_cuda_here(cu), "choosing the device");
}

void dg_cuda_fail(struct dg_cuda *cu, const struct dg_error *err)
{
    dg_error_set(&cu->failure, err->code, "%s: %s", cu->name, err->message);
}

bool dg_cuda_ok(struct dg_cuda *cu, int cuda_error, const char *what)
{
    if (cuda_error == cudaSuccess)
        return true;
    cudaGetLastError(); /* else the thread's next backend would find it */
    dg_error_set(&cu->failure, DG_EINTERNAL, "%s failed at %s: %s (%s)", cu->name, what,
        cudaGetErrorString((cudaError_t)cuda_error), cudaGetErrorName((cudaError_t)cuda_error));
    return false;
}

int dg_cuda_status(struct dg_backend *be, struct dg_error *err)
{
    const struct dg_error *f = &dg_cuda_of(be)->failure;
    return f->code == DG_OK ? DG_OK : dg_error_set(err, f->code, "%s", f->message);
}

static int cuda_memory(struct dg_backend *be, struct dg_memory *out, struct dg_error *err)
{
    struct dg_cuda *cu = dg_cuda_of(be);
    *out = (struct dg_memory){.held = cu->arena.bytes + dg_cuda_gemm_bytes()};
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

static int identity(int device, unsigned char id[DG_DEVICE_ID], struct dg_error *err)
{
    struct cudaDeviceProp p;
    const cudaError_t rc = cudaGetDeviceProperties(&p, device);
    _Static_assert(sizeof p.uuid == DG_DEVICE_ID, "the driver's number of a device");
    if (rc != cudaSuccess) {
        cudaGetLastError();
        return dg_error_set(err, DG_ENOTFOUND, "CUDA device %d does not say which it is: %s",
            device, cudaGetErrorString(rc));
    }
    memcpy(id, &p.uuid, sizeof p.uuid);
    return DG_OK;
}

static const char *type_name(enum dg_type type)
{
    return type == DG_F32 ? "fp32" : type == DG_F16 ? "fp16" : "bf16";
}

/* Rows that keep the device busy in a step: eight for each multiprocessor, a number that steps are
 * padded to. An H200 has 132. */
static uint32_t step_rows(const struct cudaDeviceProp *p)
{
    uint32_t rows = 32;
    while (rows < 1024 && rows * 2 <= 8 * (uint32_t)p->multiProcessorCount)
        rows *= 2;
    return rows;
}

static int choose_device(struct dg_cuda *cu, struct dg_error *err)
{
    struct cudaDeviceProp p;
    cudaError_t rc = (cudaError_t)dg_cuda_here(cu);
    if (rc == cudaSuccess)
        rc = cudaGetDeviceProperties(&p, cu->device);
    if (rc == cudaSuccess)
        rc = cudaStreamCreateWithFlags(&cu->stream, cudaStreamNonBlocking);
    if (rc == cudaSuccess)
        rc = (cudaError_t)dg_cuda_event(cu, &cu->done);
    if (rc != cudaSuccess) {
        cudaGetLastError();
        return dg_error_set(err, DG_ENOTFOUND, "CUDA device %d cannot be used: %s", cu->device,
            cudaGetErrorString(rc));
    }
    cu->ops.step_rows = step_rows(&p);
    if (p.major < 8)
        return dg_error_set(err, DG_EUNSUP,
            "CUDA device %d (%s) has compute capability %d.%d: 8.0 or later is needed", cu->device,
            p.name, p.major, p.minor);
    for (char *c = p.name; *c; c++) /* names stand in log lines, as one word */
        *c = *c == ' ' ? '-' : *c;
    snprintf(
        cu->name, sizeof cu->name, "cuda:%d/%s/%.48s", cu->device, type_name(cu->type), p.name);
    return DG_OK;
}

/* Which of `names`, up to a NULL, an environment variable has; `otherwise` where it is not set. */
static int choose(
    const char *variable, const char *const *names, int otherwise, int *out, struct dg_error *err)
{
    const char *wish = getenv(variable);
    char list[64];
    size_t n = 0;
    *out = otherwise;
    if (!wish || !*wish)
        return DG_OK;
    for (int i = 0; names[i]; i++) {
        if (!strcmp(wish, names[i])) {
            *out = i;
            return DG_OK;
        }
        const char *between = i == 0 ? "" : names[i + 1] ? ", " : " or ";
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", between, names[i]);
    }
    return dg_error_set(err, DG_EINVAL, "%s is \"%s\", it can be %s", variable, wish, list);
}

static int choose_ways(struct dg_cuda *cu, struct dg_error *err)
{
    static const char *const steps[] = {"host", "device", "graph", NULL};
    static const char *const products[] = {"one", "own", NULL};
    int step, gemm;
    int rc = choose("DRAGOMAN_CUDA_STEP", steps, DG_STEP_GRAPH, &step, err);
    if (!rc)
        rc = choose("DRAGOMAN_CUDA_GEMM", products, 0, &gemm, err);
    if (!rc)
        rc = dg_debug_check(err);
    if (rc)
        return rc;
    cu->step_mode = (enum dg_step_mode)step;
    cu->own_products = gemm == 1;
    cu->plain_attention = dg_debug("cuda-plain-attention");
    return DG_OK;
}

static int cuda_open(
    const struct dg_plugin_options *o, struct dg_backend **out, struct dg_error *err)
{
    *out = NULL;
    struct dg_cuda *cu = calloc(1, sizeof *cu);
    if (!cu)
        return dg_error_set(err, DG_ENOMEM, "no memory for a CUDA backend");
    cu->ops = table;
    cu->base.ops = &cu->ops;
    cu->base.name = cu->name;
    cu->device = o->device;
    cu->type = o->type;
    /* One block a chunk lets checkers of the host build see every buffer's end. */
    cu->arena.chunk_bytes = dg_debug("cuda-chunks-off") ? 0 : CHUNK;
    snprintf(cu->name, sizeof cu->name, "cuda:%d", cu->device);
    int rc = choose_ways(cu, err);
    if (!rc)
        rc = choose_device(cu, err);
    if (!rc)
        rc = dg_watch_open(cu->name, &cu->watch, err);
    if (!rc)
        rc = dg_cuda_gemm_open(&cu->gemm, err);
    if (rc) {
        cuda_close(&cu->base);
        return rc;
    }
    *out = &cu->base;
    return DG_OK;
}

static void cuda_close(struct dg_backend *be)
{
    if (!be)
        return;
    struct dg_cuda *cu = dg_cuda_of(be);
    dg_cuda_here(cu);
    if (cu->stream && cu->done && cu->watch)
        dg_cuda_wait(cu);
    dg_cuda_gemm_close(cu->gemm);
    dg_cuda_stage_close(cu);
    cudaFreeHost(cu->results);
    dg_cuda_arena_close(cu);
    if (cu->done)
        cudaEventDestroy(cu->done);
    if (cu->stream)
        cudaStreamDestroy(cu->stream);
    dg_watch_close(cu->watch);
    free(cu);
}

/* The one symbol that leaves the library. */
const struct dg_plugin *dg_plugin_cuda(uint32_t abi);
const struct dg_plugin *dg_plugin_cuda(uint32_t abi)
{
    static const struct dg_plugin plugin = {DG_PLUGIN_ABI, count_devices, cuda_open, identity};
    return abi == DG_PLUGIN_ABI ? &plugin : NULL;
}
