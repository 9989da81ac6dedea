/* bf16 with AMX: products in tiles, the rest with AVX-512. Compiled with the matching compiler
 * flags; called only if the machine supports them (open.c). */
#include "kernels/cpu/bf16_avx512.h"
#include "kernels/cpu/tiles_amx.h"
#include "kernels/cpu/vec_avx512.h"

/* Transposes 16 x 16 pairs. */
static inline void bf16_turn(const uint16_t *from, uint16_t *to)
{
    dg_bf16_avx512_turn((const uint32_t *)(const void *)from, 16, 16, (uint32_t *)(void *)to, 16);
}

/* The body builds on the tiles and the vector. */
#include "kernels/cpu/tiles_bf16.h"

const struct dg_cpu_bf16 dg_bf16_amx = {.round = dg_bf16_avx512_round,
    .gemm = tiles_bf16_gemm,
    .gemm_turned = tiles_bf16_gemm_turned,
    .exps = dg_bf16_avx512_exps,
    .pair = dg_bf16_avx512_pair,
    .turn = dg_bf16_avx512_turn};
