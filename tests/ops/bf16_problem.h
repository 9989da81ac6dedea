/* Shared by the tests of bf16's kernels: each implementation in turn, and a product's operands. */
#ifndef DG_TESTS_OPS_BF16_PROBLEM_H
#define DG_TESTS_OPS_BF16_PROBLEM_H

#ifdef __x86_64__
#define DG_X86 /* as in the build of kernels/ */
#endif
#include "kernels/cpu/bf16.h"
#include "kernels/cpu/pack.h"
#include "tests/ops/ops.h"
#include "weights/half.h"

#include <float.h>

/* Needed by tiles_bf16.h. */
static inline void bf16_turn(const uint16_t *from, uint16_t *to)
{
    dg_bf16_plain.turn((const uint32_t *)(const void *)from, 16, 16, (uint32_t *)(void *)to, 16);
}

/* The bodies build on the vector and the tiles. */
#include "tests/ops/vec_emulated_bf16.h"
#include "tests/ops/tiles_emulated.h"
#include "kernels/cpu/simd_bf16.h"
#include "kernels/cpu/tiles_bf16.h"

/* each_path adds the remaining plain functions */
static struct dg_cpu_bf16 emulated = {.gemm = bf16_gemm, .gemm_turned = bf16_gemm_turned},
                          emulated_tiles = {
                              .gemm = tiles_bf16_gemm, .gemm_turned = tiles_bf16_gemm_turned};

struct path {
    const char *name, *isa; /* instruction set that the machine needs; NULL: none */
    const struct dg_cpu_bf16 *bf16;
    /* the plain definition that it must equal */
    const struct dg_cpu_bf16 *plain;
};

static const struct path paths[] = {
    {"plain", NULL, &dg_bf16_plain, &dg_bf16_plain},
    {"AVX-512's body, emulated", NULL, &emulated, &dg_bf16_plain},
    {"plain, in tiles", NULL, &dg_bf16_plain_tiles, &dg_bf16_plain_tiles},
    {"AMX's body, emulated", NULL, &emulated_tiles, &dg_bf16_plain_tiles},
#ifdef DG_X86
    {"avx512bf16", "avx512bf16", &dg_bf16_avx512, &dg_bf16_plain},
    {"amx", "amx", &dg_bf16_amx, &dg_bf16_plain_tiles},
#endif
};
enum { PATHS = sizeof paths / sizeof *paths, M_MOST = 33, GAP = 3 };

static inline void each_path(void (*f)(const struct path *path))
{
    for (size_t i = 0; i < 2; i++) {
        struct dg_cpu_bf16 *to = i ? &emulated_tiles : &emulated;
        to->round = dg_bf16_plain.round;
        to->pair = dg_bf16_plain.pair;
        to->turn = dg_bf16_plain.turn;
        to->exps = dg_bf16_plain.exps;
    }
    for (size_t i = 0; i < PATHS; i++) {
        bool can = !paths[i].isa || ops_has_isa(paths[i].isa);
        printf("bf16: %s %s\n", paths[i].name,
            can ? "runs" : "is compiled, but this machine cannot run it");
        if (can)
            f(&paths[i]);
    }
}

/* Rows x[M_MOST,K] and weights w[N,K] in bf16, rounded and packed. */
struct problem {
    size_t N, K, ldx, ldy;
    uint16_t *x, *w, *packed;
    float *y; /* [M_MOST,ldy] */
};

static inline struct problem problem_new(size_t N, size_t K)
{
    struct problem p = {.N = N, .K = K, .ldx = (K + 1) / 2 * 2 + 4, .ldy = N + GAP};
    p.x = ops_memory(M_MOST * p.ldx, sizeof *p.x);
    p.w = ops_memory(N * K, sizeof *p.w);
    p.packed = ops_memory(dg_bf16_packed(N, K), sizeof *p.packed);
    p.y = ops_memory(M_MOST * p.ldy, sizeof *p.y);
    float *x = ops_floats(M_MOST * K, 1), *w = ops_floats(N * K, 2);
    for (size_t m = 0; m < M_MOST; m++)
        dg_bf16_plain.round(x + m * K, K, p.x + m * p.ldx);
    for (size_t i = 0; i < N * K; i++)
        p.w[i] = dg_bf16_from_f32(w[i]);
    dg_bf16_pack(p.w, N, K, p.packed);
    free(x), free(w);
    return p;
}

static inline void problem_free(struct problem *p)
{
    free(p->x), free(p->w), free(p->packed), free(p->y);
}

/* Multiplies M rows from row m on into y; the gaps between rows must stay unchanged. */
static inline void multiply(
    const struct problem *p, const struct dg_cpu_bf16 *bf16, size_t m, size_t M, float *y)
{
    for (size_t i = 0; i < M * p->ldy; i++)
        y[i] = 1234;
    bf16->gemm(&(struct dg_bf16_gemm){M, p->N, dg_bf16_pairs(p->K), p->x + m * p->ldx, p->ldx,
        p->packed, y, p->ldy, .add = false});
    for (size_t i = 0; i < M; i++)
        for (size_t n = p->N; n < p->ldy; n++)
            assert_true(y[i * p->ldy + n] == 1234);
}

#endif
