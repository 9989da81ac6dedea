/* Activation memory and copies. */
#include "kernels/cpu/internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Allocates n elements of `bytes` bytes. calloc rather than aligned_alloc + memset: a large pool's
 * pages stay untouched until they are used. */
static int new_buffer(size_t n, size_t bytes, struct dg_buf **out, struct dg_error *err)
{
    struct dg_buf *buf = calloc(1, sizeof *buf);
    *out = NULL;
    if (buf && n <= (SIZE_MAX - 64) / bytes)
        buf->block = calloc(n * bytes + 64, 1);
    if (!buf || !buf->block) {
        free(buf);
        return dg_error_set(err, DG_ENOMEM, "no memory for a buffer of %zu elements", n);
    }
    void *data = (void *)(((uintptr_t)buf->block + 63) & ~(uintptr_t)63);
    buf->n = n;
    if (bytes == sizeof *buf->data)
        buf->data = data;
    else
        buf->halves = data;
    *out = buf;
    return 0;
}

int dg_cpu_buf_new(struct dg_backend *be, size_t n, struct dg_buf **out, struct dg_error *err)
{
    (void)be;
    return new_buffer(n, sizeof(float), out, err);
}

int dg_cpu_kv_new(
    struct dg_backend *be, size_t n, enum dg_type type, struct dg_buf **out, struct dg_error *err)
{
    (void)be;
    return new_buffer(n, type == DG_F16 ? sizeof(uint16_t) : sizeof(float), out, err);
}

void dg_cpu_buf_free(struct dg_backend *be, struct dg_buf *buf)
{
    (void)be;
    if (!buf)
        return;
    free(buf->block);
    free(buf);
}

void dg_cpu_write(struct dg_backend *be, const float *src, struct dg_rows y, size_t M, size_t N)
{
    (void)be;
    assert(!M || y.offset + (M - 1) * y.ld + N <= y.buf->n);
    for (size_t m = 0; m < M; m++)
        memcpy(dg_rows_at(y, m), src + m * N, N * sizeof(float));
}

void dg_cpu_read(struct dg_backend *be, struct dg_rows x, size_t M, size_t N, float *dst)
{
    (void)be;
    assert(!M || x.offset + (M - 1) * x.ld + N <= x.buf->n);
    for (size_t m = 0; m < M; m++)
        memcpy(dst + m * N, dg_rows_at(x, m), N * sizeof(float));
}

void dg_cpu_kv_write(struct dg_backend *be, struct dg_rows x, struct dg_rows pool,
    const int32_t *slots, size_t M, size_t N)
{
    const struct dg_cpu_isa *isa = dg_cpu_of(be)->isa;
    for (size_t m = 0; m < M; m++) {
        size_t at = pool.offset + (size_t)slots[m] * pool.ld;
        if (pool.buf->halves)
            isa->narrow(pool.buf->halves + at, dg_rows_at(x, m), N);
        else
            memcpy(pool.buf->data + at, dg_rows_at(x, m), N * sizeof(float));
    }
}
