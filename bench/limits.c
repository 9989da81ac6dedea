/* limits-bench: measures the most that this machine's cores and memory give, with nothing but the
 * instructions in question, to compare the engine's figures with. One JSON object on stdout.
 * step_weights: a decoder step's weights (base, int8) read again and again, partly from the
 * last-level cache. */
#include "base/clock.h"
#include "kernels/cpu/cpu.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    MEMORY_BYTES = 384 << 20,
    STEP_BYTES = 38400000 / 4096 * 4096,
    STREAMS = 4,
    THREADS_MAX = 64
};

struct reader {
    const uint64_t *data;
    size_t n; /* a multiple of 8 STREAMS */
    uint64_t sum;
    pthread_t id;
};

/* Reads four streams at once, because one alone does not get the full memory bandwidth. */
static void *read_all(void *arg)
{
    struct reader *r = arg;
    uint64_t sum[8] = {0};
    size_t part = r->n / STREAMS;
    for (size_t i = 0; i < part; i += 8)
        for (size_t s = 0; s < STREAMS; s++)
            for (size_t j = 0; j < 8; j++)
                sum[j] += r->data[s * part + i + j];
    for (size_t j = 0; j < 8; j++)
        r->sum += sum[j];
    return NULL;
}

/* GB/s, the best of several passes over the first `bytes` of data. */
static double read_rate(const uint64_t *data, size_t bytes, size_t threads)
{
    double best = 0;
    for (int run = 0; run < 15; run++) {
        struct reader readers[THREADS_MAX];
        size_t share = bytes / 8 / threads / (8 * STREAMS) * (8 * STREAMS), started = 1;
        uint64_t start = dg_clock_ns();
        for (size_t i = 0; i < threads; i++)
            readers[i] = (struct reader){.data = data + i * share, .n = share};
        while (started < threads &&
               !pthread_create(&readers[started].id, NULL, read_all, &readers[started]))
            started++;
        read_all(&readers[0]);
        for (size_t i = 1; i < started; i++)
            pthread_join(readers[i].id, NULL);
        double rate = (double)(started * share * 8) / (double)(dg_clock_ns() - start);
        best = rate > best ? rate : best;
    }
    return best;
}

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
    size_t all = cores > THREADS_MAX ? THREADS_MAX : cores > 1 ? (size_t)cores : 1;
    printf("{\n \"memory_gb_s\": {\"1\": %.1f", read_rate(data, MEMORY_BYTES, 1));
    if (all > 1)
        printf(", \"%zu\": %.1f", all, read_rate(data, MEMORY_BYTES, all));
    printf("},\n \"step_weights_mb\": %.1f", STEP_BYTES * 1e-6);
    printf(",\n \"step_weights_gb_s\": {\"1\": %.1f", read_rate(data, STEP_BYTES, 1));
    if (all > 1)
        printf(", \"%zu\": %.1f", all, read_rate(data, STEP_BYTES, all));
    printf("}");
    print_operations();
    printf("\n}\n");
    free(data);
    return 0;
}
