/* limits-bench: measures the most that this machine's cores and memory give, with nothing but the
 * instructions in question, to compare the engine's figures with. One JSON object on stdout.
 * step_weights: a decoder step's weights (base, int8) read again and again, partly from the
 * last-level cache. */
#include "base/clock.h"
#include "bench/read_rate.h"
#include "kernels/cpu/cpu.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MEMORY_BYTES = 384 << 20, STEP_BYTES = 38400000 / 4096 * 4096 };

#ifdef __x86_64__
#include <immintrin.h>

#pragma GCC push_options
#pragma GCC target("amx-tile,amx-int8")
#include "kernels/cpu/tiles_amx.h"
#pragma GCC pop_options

enum { ROUNDS = 1000000 };

#define TARGET(x) __attribute__((target(x), noinline))

/* Keeps the compiler from computing something only once, or leaving it out. */
#define AGAIN(x, constraint) __asm__ volatile("" : "+" constraint(x))

TARGET("avx2,fma") static double fma_avx2(void)
{
    __m256 a[12], x = _mm256_set1_ps(1);
#pragma GCC unroll 12
    for (int i = 0; i < 12; i++)
        a[i] = _mm256_setzero_ps();
    for (int n = 0; n < ROUNDS; n++)
#pragma GCC unroll 12
        for (int i = 0; i < 12; i++) {
            a[i] = _mm256_fmadd_ps(x, x, a[i]);
            AGAIN(a[i], "x");
        }
    return 2.0 * 12 * 8 * ROUNDS;
}

/* The textbook's step, valid for any weights: four products per 32-bit lane, two of them added in
 * 16 bits. */
TARGET("avx2") static double int8_avx2(void)
{
    __m256i a[8], x = _mm256_set1_epi8(3), w = _mm256_set1_epi8(5), one = _mm256_set1_epi16(1);
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        a[i] = _mm256_setzero_si256();
    for (int n = 0; n < ROUNDS; n++)
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) {
            AGAIN(x, "x");
            a[i] = _mm256_add_epi32(a[i], _mm256_madd_epi16(_mm256_maddubs_epi16(x, w), one));
            AGAIN(a[i], "x");
        }
    return 2.0 * 8 * 32 * ROUNDS;
}

/* Eight products per 32-bit lane, four of them added in 16 bits: the paired sums of simd_int8.h. */
TARGET("avx2") static double int8_avx2_paired(void)
{
    __m256i a[8], x = _mm256_set1_epi8(3), w = _mm256_set1_epi8(5), one = _mm256_set1_epi16(1);
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        a[i] = _mm256_setzero_si256();
    for (int n = 0; n < ROUNDS; n++)
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) {
            AGAIN(x, "x");
            __m256i first = _mm256_maddubs_epi16(x, w);
            AGAIN(x, "x");
            __m256i four = _mm256_add_epi16(first, _mm256_maddubs_epi16(x, w));
            a[i] = _mm256_add_epi32(a[i], _mm256_madd_epi16(four, one));
            AGAIN(a[i], "x");
        }
    return 2.0 * 8 * 64 * ROUNDS;
}

TARGET("avx512f") static double fma_avx512(void)
{
    __m512 a[12], x = _mm512_set1_ps(1);
#pragma GCC unroll 12
    for (int i = 0; i < 12; i++)
        a[i] = _mm512_setzero_ps();
    for (int n = 0; n < ROUNDS; n++)
#pragma GCC unroll 12
        for (int i = 0; i < 12; i++) {
            a[i] = _mm512_fmadd_ps(x, x, a[i]);
            AGAIN(a[i], "v");
        }
    return 2.0 * 12 * 16 * ROUNDS;
}

TARGET("avx512f,avx512vnni") static double int8_vnni(void)
{
    __m512i a[12], x = _mm512_set1_epi8(3), w = _mm512_set1_epi8(5);
#pragma GCC unroll 12
    for (int i = 0; i < 12; i++)
        a[i] = _mm512_setzero_si512();
    for (int n = 0; n < ROUNDS; n++)
#pragma GCC unroll 12
        for (int i = 0; i < 12; i++) {
            a[i] = _mm512_dpbusd_epi32(a[i], x, w);
            AGAIN(a[i], "v");
        }
    return 2.0 * 12 * 64 * ROUNDS;
}

/* Tiles: 16 x 64 bytes times 64 x 16. */
TARGET("amx-tile,amx-int8") static double int8_amx(void)
{
    tiles_open(16);
    for (int n = 0; n < ROUNDS; n++) {
        tile_dot_int8(0, 4, 6);
        tile_dot_int8(1, 4, 7);
        tile_dot_int8(2, 5, 6);
        tile_dot_int8(3, 5, 7);
    }
    tiles_close();
    return 2.0 * 4 * 16 * 16 * 64 * ROUNDS;
}

/* 10^9 operations per second on one core, the best of several runs. */
static double operation_rate(double (*run)(void))
{
    double best = 0;
    for (int i = 0; i < 9; i++) {
        uint64_t start = dg_clock_ns();
        double operations = run();
        double rate = operations / (double)(dg_clock_ns() - start);
        best = rate > best ? rate : best;
    }
    return best;
}

static void print_operations(void)
{
    bool avx512 = __builtin_cpu_supports("avx512f"),
         vnni = avx512 && __builtin_cpu_supports("avx512vnni");
    if (!__builtin_cpu_supports("avx2"))
        return;
    printf(",\n \"fp32_gflop_s\": %.1f", operation_rate(avx512 ? fma_avx512 : fma_avx2));
    const bool amx = !strcmp(dg_cpu_isas()[0], "amx");
    printf(",\n \"int8_gop_s\": %.1f", operation_rate(amx    ? int8_amx
                                                      : vnni ? int8_vnni
                                                             : int8_avx2));
    if (!vnni)
        printf(",\n \"int8_paired_gop_s\": %.1f", operation_rate(int8_avx2_paired));
}
#else
static void print_operations(void)
{
}
#endif

/* {number of threads: GB/s of reading with them}, for one and for all. */
static void print_rates(const uint64_t *data, size_t bytes, size_t all)
{
    printf("{\"1\": %.1f", dg_bench_read_rate(data, bytes, 1));
    if (all > 1)
        printf(", \"%zu\": %.1f", all, dg_bench_read_rate(data, bytes, all));
    printf("}");
}

int main(void)
{
    uint64_t *data = aligned_alloc(2 << 20, MEMORY_BYTES);
    if (!data) {
        fprintf(stderr, "limits-bench: no memory for %d MiB\n", MEMORY_BYTES >> 20);
        return 1;
    }
    madvise(data, MEMORY_BYTES, MADV_HUGEPAGE);
    memset(data, 1, MEMORY_BYTES);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t all = cores > DG_BENCH_THREADS_MAX ? DG_BENCH_THREADS_MAX
                 : cores > 1                  ? (size_t)cores
                                              : 1;
    printf("{\n \"memory_gb_s\": ");
    print_rates(data, MEMORY_BYTES, all);
    printf(",\n \"step_weights_mb\": %.1f,\n \"step_weights_gb_s\": ", STEP_BYTES * 1e-6);
    print_rates(data, STEP_BYTES, all);
    print_operations();
    printf("\n}\n");
    free(data);
    return 0;
}
