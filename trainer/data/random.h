/* Random numbers that are the same on every machine and for every number of threads: SplitMix64
 * (Steele, Lea & Flood 2014). Pure; any thread. */
#ifndef DG_TRAINER_DATA_RANDOM_H
#define DG_TRAINER_DATA_RANDOM_H

#include <stdint.h>

/* SplitMix64's finaliser: a bijection that mixes all bits of x. */
static inline uint64_t dg_random_mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* The next number after *state. */
static inline uint64_t dg_random_next(uint64_t *state)
{
    return dg_random_mix(*state += UINT64_C(0x9E3779B97F4A7C15));
}

/* The top 53 bits of a random number as a fraction in [0, 1). */
static inline double dg_random_share(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1p-53;
}

#endif
