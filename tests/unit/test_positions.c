/* Section 3.5 of the paper: "for any fixed offset k, PE(pos+k) can be represented as a linear
 * function of PE(pos)". */
#include "model/layers/position_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

enum { D = 512, N = 1024 };

/* Rotates each pair (sin, cos) by k times its frequency: one matrix for every position. */
static void turn(const float *pe, uint32_t k, double *out)
{
    for (uint32_t i = 0; i < D / 2; i++) {
        double angle = k / pow(10000.0, 2.0 * i / D);
        double s = pe[2 * i], c = pe[2 * i + 1];
        out[2 * i] = cos(angle) * s + sin(angle) * c;
        out[2 * i + 1] = cos(angle) * c - sin(angle) * s;
    }
}

static void test_an_offset_is_a_linear_map(void **state)
{
    (void)state;
    static const uint32_t offsets[] = {1, 2, 7, 64, 300, 511};
    float *table = malloc(sizeof *table * N * D);
    double moved[D];
    assert_non_null(table);
    dg_sinusoid_table(DG_POS_PAPER, 0, N, D, table);
    for (size_t o = 0; o < sizeof offsets / sizeof offsets[0]; o++)
        for (uint32_t p = 0; p + offsets[o] < N; p++) {
            const float *there = table + (size_t)(p + offsets[o]) * D;
            turn(table + (size_t)p * D, offsets[o], moved);
            for (uint32_t i = 0; i < D; i++)
                /* Sines and cosines are rounded to float: 6e-8 each, two of them in a sum. */
                if (fabs(moved[i] - (double)there[i]) > 2e-7)
                    fail_msg("position %u + %u, dimension %u: %.9g, the table has %.9g", p,
                        offsets[o], i, moved[i], (double)there[i]);
        }
    free(table);
}

/* Wavelengths from 2 pi to nearly 10000 * 2 pi: the first pair repeats after 710 positions (710 =
 * 113 * 2 pi + 6e-5), when the last has gone through a hundredth of its circle. */
static void test_wavelengths(void **state)
{
    (void)state;
    float *table = malloc(sizeof *table * N * D);
    assert_non_null(table);
    dg_sinusoid_table(DG_POS_PAPER, 0, N, D, table);
    const float *far = table + (size_t)710 * D;
    assert_true(fabsf(far[0]) < 1e-4F && fabsf(far[1] - 1) < 1e-6F);
    assert_true(fabsf(far[D - 2] - 0.0735F) < 1e-3F);
    free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_offset_is_a_linear_map),
        cmocka_unit_test(test_wavelengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
