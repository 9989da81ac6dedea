/* Packing of int8 matrices (int8.h). Portable C; where a bundle holds rows only, it runs once at
 * load. */
#include "kernels/cpu/int8.h"
#include "kernels/cpu/pack.h"

#include <stdlib.h>
#include <string.h>

int dg_int8_pair_sum(const int8_t *row, size_t K)
{
    int worst = 0;
    for (size_t k = 0; k < K; k += 8) {
        int sums[2][2] = {{0}}; /* of k mod 8 in {0,1,4,5} and {2,3,6,7}; positive and negative */
        for (size_t j = k; j < K && j < k + 8; j++)
            sums[j >> 1 & 1][row[j] < 0] += abs(row[j]);
        for (int i = 0; i < 4; i++)
            worst = sums[i >> 1][i & 1] > worst ? sums[i >> 1][i & 1] : worst;
    }
    return worst;
}

int dg_int8_two_sum(const int8_t *row, size_t K)
{
    /* In 16 bits and without branches, so that compilers vectorise it. */
    int16_t worst = 0;
    for (size_t k = 0; k + 2 <= K; k += 2) {
        const int8_t one = row[k], next = row[k + 1];
        const int16_t positive = (int16_t)((one > 0 ? one : 0) + (next > 0 ? next : 0));
        const int16_t negative = (int16_t)(positive - one - next);
        const int16_t larger = positive > negative ? positive : negative;
        worst = larger > worst ? larger : worst;
    }
    const int last = K % 2 ? abs(row[K - 1]) : 0;
    return last > worst ? last : worst;
}

int dg_int8_packed_two_sum(const void *packed, size_t N, size_t K)
{
    int worst = 0;
    for (size_t n = 0; n < N; n += DG_PANEL) { /* neighbouring k are neighbours in a panel, too */
        const int8_t *panel = (const int8_t *)packed + n / DG_PANEL * dg_int8_panel_bytes(K);
        int sum = dg_int8_two_sum(panel, dg_int8_groups(K) * 64);
        worst = sum > worst ? sum : worst;
    }
    return worst;
}

/* Computes the four sums of 8 k (two groups of k, two signs) in fields of 16 bits; bit 15 is set
 * where one is above DG_INT8_PAIRED. It takes eight bytes at a time in one word (compilers
 * vectorise it): a third of the time of a plain loop, which would take longer than packing. */
static uint64_t pairs_above(uint64_t w)
{
    const uint64_t ones = 0x0101010101010101u, low = 0x00FF00FF00FF00FFu;
    const uint64_t limit = (0x8000u - DG_INT8_PAIRED - 1) * 0x0001000100010001u;
    uint64_t minus = w >> 7 & ones, mask = minus * 255;
    uint64_t positive = w & ~mask, negative = (w ^ mask) + minus;
    negative &= mask; /* positive bytes got a wrong value */
    positive = (positive & low) + (positive >> 8 & low);
    negative = (negative & low) + (negative >> 8 & low);
    return (positive + (positive >> 32) + limit) | (negative + (negative >> 32) + limit);
}

static bool row_pairs(const int8_t *row, size_t K)
{
    uint64_t above = 0, w = 0;
    size_t k = 0;
    for (; k + 8 <= K; k += 8) {
        memcpy(&w, row + k, 8);
        above |= pairs_above(w);
    }
    w = 0;
    memcpy(&w, row + k, K - k);
    above |= pairs_above(w);
    return !(above & 0x80008000u); /* the lower two of four fields: the others hold half a sum */
}

/* Packs one panel of n rows: whole groups of four bytes, then the rest of K. */
static void pack_panel(const int8_t *rows, size_t n, size_t K, int8_t *panel)
{
    size_t whole = K / 4, rest = K % 4;
    int32_t *sums = (int32_t *)(void *)(panel + dg_int8_groups(K) * 64);
    if (n < DG_PANEL || rest)
        memset(panel, 0, dg_int8_groups(K) * 64);
    memset(sums, 0, DG_PANEL * sizeof *sums);
    for (size_t g = 0; g < whole; g++)
        for (size_t i = 0; i < n; i++)
            memcpy(panel + g * 64 + i * 4, rows + i * K + g * 4, 4);
    for (size_t i = 0; i < n; i++) {
        memcpy(panel + whole * 64 + i * 4, rows + i * K + whole * 4, rest);
        int32_t sum = 0;
        for (size_t k = 0; k < K; k++)
            sum += rows[i * K + k];
        sums[i] = sum;
    }
}

bool dg_int8_pack(const int8_t *rows, size_t N, size_t K, void *packed)
{
    bool paired = true;
    for (size_t n = 0; n < N && paired; n++)
        paired = row_pairs(rows + n * K, K);
    for (size_t n = 0; n < N; n += DG_PANEL)
        pack_panel(rows + n * K, N - n < DG_PANEL ? N - n : DG_PANEL, K,
            (int8_t *)packed + n / DG_PANEL * dg_int8_panel_bytes(K));
    return paired;
}

/* The four elements of a group are adjacent, groups are 64 bytes apart. */
void dg_int8_row(const void *packed, size_t n, size_t K, float *y)
{
    const int8_t *row =
        (const int8_t *)packed + n / DG_PANEL * dg_int8_panel_bytes(K) + n % DG_PANEL * 4;
    for (size_t k = 0; k < K; k++)
        y[k] = (float)row[k / 4 * 64 + k % 4];
}
