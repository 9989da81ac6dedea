/* Device memory and copies. The arena hands out blocks of its chunks, first fit, and joins free
 * neighbours again; what a server needs is asked for at its start, so that steps ask the driver for
 * nothing. Buffers are zeroed once and never move. */
#include "kernels/cuda/internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 256 };

struct block {
    struct block *next; /* in order of address */
    size_t at, bytes;
    bool used;
};

struct dg_arena_chunk {
    struct dg_arena_chunk *next;
    unsigned char *base;
    size_t bytes;
    struct block *blocks;
};

static struct dg_arena_chunk *add_chunk(struct dg_cuda *cu, size_t bytes)
{
    struct dg_arena_chunk *c = calloc(1, sizeof *c);
    struct block *b = calloc(1, sizeof *b);
    size_t all = bytes > cu->arena.chunk_bytes ? bytes : cu->arena.chunk_bytes;
    void *base = NULL;
    if (!c || !b || dg_cuda_here(cu) || cudaMalloc(&base, all) != cudaSuccess) {
        cudaGetLastError(); /* no memory is an answer, not a fault of the device */
        free(c);
        free(b);
        return NULL;
    }
    *b = (struct block){.bytes = all};
    *c = (struct dg_arena_chunk){cu->arena.chunks, base, all, b};
    cu->arena.chunks = c;
    cu->arena.bytes += all;
    return c;
}

static struct block *fit(struct dg_arena_chunk *c, size_t bytes)
{
    struct block *b = c->blocks;
    while (b && (b->used || b->bytes < bytes))
        b = b->next;
    return b;
}

void *dg_cuda_alloc(struct dg_cuda *cu, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    bytes = bytes ? bytes : ALIGN;
    struct dg_arena_chunk *c = cu->arena.chunks;
    struct block *b = NULL;
    for (; c && !(b = fit(c, bytes)); c = c->next)
        ;
    if (!b && (c = add_chunk(cu, bytes)))
        b = c->blocks;
    if (!b)
        return NULL;
    if (b->bytes > bytes) {
        struct block *rest = calloc(1, sizeof *rest);
        if (rest) { /* without: the whole block is handed out */
            *rest = (struct block){b->next, b->at + bytes, b->bytes - bytes, false};
            b->next = rest;
            b->bytes = bytes;
        }
    }
    b->used = true;
    return c->base + b->at;
}

/* Join b with a free neighbour behind it. */
static void join(struct block *b)
{
    struct block *n = b->next;
    if (n && !b->used && !n->used) {
        b->bytes += n->bytes;
        b->next = n->next;
        free(n);
    }
}

void dg_cuda_release(struct dg_cuda *cu, void *p)
{
    for (struct dg_arena_chunk *c = cu->arena.chunks; p && c; c = c->next) {
        if ((unsigned char *)p < c->base || (unsigned char *)p >= c->base + c->bytes)
            continue;
        size_t at = (size_t)((unsigned char *)p - c->base);
        struct block *before = NULL, *b = c->blocks;
        for (; b->at != at; b = b->next)
            before = b;
        b->used = false;
        join(b);
        if (before)
            join(before);
        return;
    }
}

void dg_cuda_arena_close(struct dg_cuda *cu)
{
    for (struct dg_arena_chunk *c = cu->arena.chunks, *next; c; c = next) {
        next = c->next;
        cudaFree(c->base);
        for (struct block *b = c->blocks, *after; b; b = after) {
            after = b->next;
            free(b);
        }
        free(c);
    }
    cu->arena.chunks = NULL;
    cu->arena.bytes = 0;
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
            cu->name, n, size, cu->arena.bytes);
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

/* The stream orders what still reads the block before whoever gets it next. */
void dg_cuda_buf_free(struct dg_backend *be, struct dg_buf *buf)
{
    if (!buf)
        return;
    dg_cuda_release(dg_cuda_of(be), buf->data);
    free(buf);
}

void *dg_cuda_scratch(struct dg_cuda *cu, size_t bytes)
{
    if (bytes > cu->scratch_bytes) {
        dg_cuda_release(cu, cu->scratch);
        cu->scratch = dg_cuda_alloc(cu, bytes + bytes / 8);
        cu->scratch_bytes = cu->scratch ? bytes + bytes / 8 : 0;
        /* Results come back with the holes between them, which nobody reads: checkers need not
         * know. */
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

/* Through fp32 rows side by side on the device, so that one copy crosses the bus. */
void dg_cuda_write(struct dg_backend *be, const float *src, struct dg_rows y, size_t M, size_t N)
{
    struct dg_cuda *cu = dg_cuda_of(be);
    assert(!M || y.offset + (M - 1) * y.ld + N <= y.buf->n);
    float *flat = M && N && dg_cuda_alive(cu) ? dg_cuda_scratch(cu, M * N * sizeof *flat) : NULL;
    if (!flat)
        return;
    struct dg_k_copy k = {.x = {flat, N, DG_F32}, .y = dg_k_rows_of(y), .M = M, .N = N};
    dg_cuda_ok(cu,
        cudaMemcpyAsync(flat, src, M * N * sizeof *flat, cudaMemcpyHostToDevice, cu->stream),
        "writing rows");
    dg_cuda_ok(cu, dg_launch_copy(cu->stream, &k), "writing rows");
    dg_cuda_wait(cu); /* src is the caller's again */
}

void dg_cuda_read(struct dg_backend *be, struct dg_rows x, size_t M, size_t N, float *dst)
{
    struct dg_cuda *cu = dg_cuda_of(be);
    assert(!M || x.offset + (M - 1) * x.ld + N <= x.buf->n);
    memset(dst, 0, M * N * sizeof *dst);
    float *flat = M && N && dg_cuda_alive(cu) ? dg_cuda_scratch(cu, M * N * sizeof *flat) : NULL;
    if (!flat)
        return;
    struct dg_k_copy k = {.x = dg_k_rows_of(x), .y = {flat, N, DG_F32}, .M = M, .N = N};
    dg_cuda_ok(cu, dg_launch_copy(cu->stream, &k), "reading rows");
    dg_cuda_ok(cu,
        cudaMemcpyAsync(dst, flat, M * N * sizeof *flat, cudaMemcpyDeviceToHost, cu->stream),
        "reading rows");
    dg_cuda_wait(cu);
}
