/* A product over random int8 weights, for the tests of int8's kernels and ops. */
#ifndef DG_TESTS_OPS_INT8_PROBLEM_H
#define DG_TESTS_OPS_INT8_PROBLEM_H

#include "kernels/cpu/int8.h"
#include "tests/ops/ops.h"

/* One product for the kernels. With an odd seed the weights are small enough for paired sums. */
struct problem {
    size_t M, N, K, ldx, ldy;
    uint8_t *x; /* [M,ldx] */
    int8_t *w;  /* [N,K] */
    void *packed;
    float *scales, *bias;     /* [N] */
    struct dg_int8_act *acts; /* [M] */
    bool paired;
};

static inline void *aligned(size_t n)
{
    void *p = aligned_alloc(64, (n + 63) / 64 * 64);
    assert_non_null(p);
    return p;
}

static inline struct problem problem_new(size_t M, size_t N, size_t K, uint64_t seed)
{
    struct problem p = {M, N, K, (K + 63) / 64 * 64 + 64 * (seed % 2), N + seed % 3, NULL, NULL,
        NULL, NULL, NULL, NULL, false};
    int range = seed % 2 ? 64 : 127;
    p.x = aligned(M * p.ldx);
    p.w = ops_memory(N * K, 1);
    p.packed = aligned(dg_int8_packed_bytes(N, K));
    p.scales = ops_floats(N, seed);
    p.bias = ops_floats(N, seed + 1);
    p.acts = ops_memory(M, sizeof *p.acts);
    for (size_t i = 0; i < M * p.ldx; i++)
        p.x[i] = (uint8_t)(ops_random(&seed) % 128);
    for (size_t i = 0; i < N * K; i++)
        p.w[i] = (int8_t)((int)(ops_random(&seed) % (2 * (uint32_t)range + 1)) - range);
    p.paired = dg_int8_pack(p.w, N, K, p.packed);
    for (size_t m = 0; m < M; m++)
        p.acts[m] =
            (struct dg_int8_act){fabsf(ops_uniform(&seed)), (int32_t)(ops_random(&seed) % 128)};
    return p;
}

static inline void problem_free(struct problem *p)
{
    free(p->x), free(p->w), free(p->packed), free(p->scales), free(p->bias), free(p->acts);
}

/* Fills a row of one kind that range and zero point must handle. */
static inline void fill_row(int kind, float *x, size_t K, uint64_t seed)
{
    for (size_t k = 0; k < K; k++)
        x[k] = ops_uniform(&seed);
    for (size_t k = 0; k < K; k++)
        switch (kind) {
        case 1: x[k] = fabsf(x[k]); break;
        case 2: x[k] = -fabsf(x[k]) - 3; break;
        case 3: x[k] = 0; break;
        case 4: x[k] = -7.25f; break;
        case 5: x[k] *= 1e-31f; break;
        case 6: x[k] *= 1e37f; break;
        case 7: x[k] = (float)((int)(ops_random(&seed) % 128) - 64) + 0.5f; break; /* ties */
        case 8: x[k] = k ? x[k] : 1000; break;
        case 9: x[k] = k % 2 ? -0.0f : 0.0f; break;
        default: break;
        }
}
enum { KINDS = 10 };

#endif
