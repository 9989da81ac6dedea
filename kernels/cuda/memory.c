/* Device memory and copies. A block that was released is reused for requests of at least half its
 * size, so that steps ask the driver for nothing, and a trace asks once. Buffers are zeroed once
 * and never move. The stream orders earlier readers of a block before its next user. */
#include "kernels/cuda/internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct dg_memory_block {
    struct dg_memory_block *next;
    void *p;
    size_t bytes;
    bool used;
};

/* Return unused blocks to the driver; all: used blocks, too. */
static void give_back(struct dg_cuda *cu, bool all)
{
    struct dg_memory_block **link = &cu->memory, *b;
    dg_cuda_here(cu);
    while ((b = *link)) {
        if (b->used && !all) {
            link = &b->next;
            continue;
        }
        *link = b->next;
        cu->memory_bytes -= b->bytes;
        cudaFree(b->p);
        free(b);
    }
}

static bool ask_driver(struct dg_cuda *cu, void **p, size_t bytes)
{
    const bool ok = !dg_cuda_here(cu) && cudaMalloc(p, bytes) == cudaSuccess;
    if (!ok)
        cudaGetLastError(); /* no memory is an answer, not a fault of the device */
    return ok;
}

void *dg_cuda_alloc(struct dg_cuda *cu, size_t bytes)
{
    struct dg_memory_block *best = NULL;
    void *p;
    if (bytes > SIZE_MAX / 4)
        return NULL;
    bytes = bytes ? bytes : 1;
    for (struct dg_memory_block *b = cu->memory; b; b = b->next)
        if (!b->used && b->bytes >= bytes && b->bytes / 2 <= bytes &&
            (!best || b->bytes < best->bytes))
            best = b;
    if (!best) {
        if (!ask_driver(cu, &p, bytes)) {
            give_back(cu, false);
            if (!ask_driver(cu, &p, bytes))
                return NULL;
        }
        best = malloc(sizeof *best);
        if (!best) {
            cudaFree(p);
            return NULL;
        }
        *best = (struct dg_memory_block){cu->memory, p, bytes, true};
        cu->memory = best;
        cu->memory_bytes += bytes;
    }
    best->used = true;
    return best->p;
}

void dg_cuda_release(struct dg_cuda *cu, void *p)
{
    for (struct dg_memory_block *b = cu->memory; p && b; b = b->next)
        if (b->p == p) {
            b->used = false;
            return;
        }
}

void dg_cuda_memory_close(struct dg_cuda *cu)
{
    give_back(cu, true);
}

static int buf_new(
    struct dg_cuda *cu, size_t n, enum dg_type type, struct dg_buf **out, struct dg_error *err)
{
    const size_t size = dg_cuda_type_bytes(type);
    *out = NULL;
    struct dg_buf *buf = calloc(1, sizeof *buf);
    if (buf && n <= SIZE_MAX / 2 / size)
        buf->data = dg_cuda_alloc(cu, n * size);
    if (!buf || !buf->data) {
        free(buf);
        return dg_error_set(err, DG_ENOMEM,
            "no memory on %s for a buffer of %zu elements of %zu bytes (%zu bytes are held)",
            cu->name, n, size, cu->memory_bytes);
    }
    buf->n = n;
    buf->type = type;
    if (n && dg_cuda_alive(cu))
        dg_cuda_ok(cu, cudaMemsetAsync(buf->data, 0, n * size, cu->stream), "clearing a buffer");
    *out = buf;
    return 0;
}

int dg_cuda_buf_new(struct dg_backend *be, size_t n, struct dg_buf **out, struct dg_error *err)
{
    return buf_new(dg_cuda_of(be), n, dg_cuda_of(be)->type, out, err);
}

int dg_cuda_buf_new_wide(struct dg_backend *be, size_t n, struct dg_buf **out, struct dg_error *err)
{
    return buf_new(dg_cuda_of(be), n, DG_F32, out, err);
}

void dg_cuda_buf_free(struct dg_backend *be, struct dg_buf *buf)
{
    if (!buf)
        return;
    dg_cuda_release(dg_cuda_of(be), buf->data);
    free(buf);
}

void *dg_cuda_scratch(struct dg_cuda *cu, size_t bytes)
{
    assert(cu->lane == &cu->lanes[DG_LANE_STEPS]);
    if (bytes > cu->scratch_bytes) {
        dg_cuda_release(cu, cu->scratch);
        cu->scratch = dg_cuda_alloc(cu, bytes + bytes / 8);
        cu->scratch_bytes = cu->scratch ? bytes + bytes / 8 : 0;
        /* Results are copied back together with gaps that nobody reads; cleared memory keeps
         * checkers from reporting them. */
        if (cu->scratch && dg_cuda_alive(cu))
            dg_cuda_ok(cu, cudaMemsetAsync(cu->scratch, 0, cu->scratch_bytes, cu->stream),
                "clearing scratch space");
    }
    if (!cu->scratch)
        dg_cuda_ok(cu, cudaErrorMemoryAllocation, "scratch space");
    return cu->scratch;
}

void *dg_cuda_results(struct dg_cuda *cu, size_t bytes)
{
    if (bytes > cu->results_bytes) {
        void *p = NULL;
        if (!dg_cuda_wait(cu))
            return NULL;
        cudaFreeHost(cu->results);
        cu->results = NULL;
        cu->results_bytes = 0;
        if (!dg_cuda_ok(cu, cudaMallocHost(&p, bytes * 2), "pinned memory for results"))
            return NULL;
        cu->results = p;
        cu->results_bytes = bytes * 2;
    }
    return cu->results;
}

bool dg_cuda_copy(struct dg_cuda *cu, void *to, const void *from, size_t bytes,
    enum cudaMemcpyKind kind, const char *what)
{
    return dg_cuda_ok(cu, cudaMemcpyAsync(to, from, bytes, kind, cu->stream), what);
}

/* Scratch for contiguous fp32 rows on the device, so that one copy crosses the bus; NULL: nothing
 * to do, or a failure. */
static float *flat_rows(struct dg_cuda *cu, size_t M, size_t N)
{
    return M && N && dg_cuda_alive(cu) ? dg_cuda_scratch(cu, M * N * sizeof(float)) : NULL;
}

void dg_cuda_write(struct dg_backend *be, const float *src, struct dg_rows y, size_t M, size_t N)
{
    struct dg_cuda *cu = dg_cuda_of(be);
    assert(!M || y.offset + (M - 1) * y.ld + N <= y.buf->n);
    float *flat = flat_rows(cu, M, N);
    const struct dg_k_copy k = {.x = {flat, N, DG_F32}, .y = dg_k_rows_of(y), .M = M, .N = N};
    if (!flat)
        return;
    dg_cuda_copy(cu, flat, src, M * N * sizeof *flat, cudaMemcpyHostToDevice, "writing rows");
    dg_launch_copy(cu, &k);
    dg_cuda_wait(cu); /* the caller may reuse src now */
}

/* Where the rows are contiguous and fp32: in place, or in scratch space; NULL: nothing to do, or a
 * failure. */
static const void *flattened(struct dg_cuda *cu, struct dg_k_rows x, size_t M, size_t N)
{
    if (x.type == DG_F32 && (M == 1 || x.ld == N))
        return M && N && dg_cuda_alive(cu) ? x.p : NULL;
    float *flat = flat_rows(cu, M, N);
    const struct dg_k_copy k = {.x = x, .y = {flat, N, DG_F32}, .M = M, .N = N};
    if (flat)
        dg_launch_copy(cu, &k);
    return flat;
}

/* Copies through pinned memory where there is enough of it, as for the reads of an engine
 * (dg_most.read): the thread then waits in dg_cuda_wait, and not in the driver. */
void dg_cuda_read(struct dg_backend *be, struct dg_rows x, size_t M, size_t N, float *dst)
{
    struct dg_cuda *cu = dg_cuda_of(be);
    const size_t bytes = M * N * sizeof *dst;
    assert(!M || x.offset + (M - 1) * x.ld + N <= x.buf->n);
    const void *from = flattened(cu, dg_k_rows_of(x), M, N);
    void *to = bytes <= cu->results_bytes ? cu->results : (void *)dst;
    memset(dst, 0, bytes);
    if (from && dg_cuda_copy(cu, to, from, bytes, cudaMemcpyDeviceToHost, "reading rows") &&
        dg_cuda_wait(cu) && to != dst)
        memcpy(dst, to, bytes);
}
