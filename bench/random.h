/* Random numbers for benchmarks: the same seed gives the same numbers, so that all runs have the
 * same work. The state begins as the seed. One thread for each state. */
#ifndef DG_BENCH_RANDOM_H
#define DG_BENCH_RANDOM_H

#include <stdint.h>

/* 64 bits, by splitmix64. */
static inline uint64_t dg_bench_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

/* Uniform in (0, 1], from dg_bench_bits. */
static inline double dg_bench_unit(uint64_t *state)
{
    return (double)((dg_bench_bits(state) >> 11) + 1) * 0x1p-53;
}

/* 31 bits, by a linear congruential generator: for many weights and ids. */
static inline uint32_t dg_bench_number(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

#endif
