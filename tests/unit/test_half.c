/* fp16: rounding to nearest even; every half survives widening. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "weights/half.h"

#include <math.h>

/* Known values from the IEEE 754 tables; then, for many floats, that no other half is nearer, with
 * ties to even. */
static void halves_round_to_nearest_even(void **state)
{
    (void)state;
    static const struct {
        float x;
        uint16_t f16, bf16;
    } known[] = {{0, 0, 0}, {-0.0f, 0x8000, 0x8000}, {1, 0x3c00, 0x3f80}, {-2, 0xc000, 0xc000},
        {65504, 0x7bff, 0x4780}, {65519.996f, 0x7bff, 0x4780}, {65520, 0x7c00, 0x4780},
        {1e10f, 0x7c00, 0x5015}, {0x1p-24f, 0x0001, 0x3380}, {0x1p-25f, 0x0000, 0x3300},
        {0x1.000002p-25f, 0x0001, 0x3300}, {0x1.8p-24f, 0x0002, 0x33c0}, {0x1p-14f, 0x0400, 0x3880},
        {0x1.ff8p-15f, 0x03ff, 0x3880}, {0x1.002p0f, 0x3c00, 0x3f80}, {0x1.006p0f, 0x3c02, 0x3f80},
        {0x1.01p0f, 0x3c04, 0x3f80}, {0x1.03p0f, 0x3c0c, 0x3f82}, {INFINITY, 0x7c00, 0x7f80},
        {-INFINITY, 0xfc00, 0xff80}, {3.4028235e38f, 0x7c00, 0x7f80}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (dg_f16_from_f32(known[i].x) != known[i].f16 ||
            dg_bf16_from_f32(known[i].x) != known[i].bf16)
            fail_msg("%a gives %04x and %04x, expected %04x and %04x", (double)known[i].x,
                dg_f16_from_f32(known[i].x), dg_bf16_from_f32(known[i].x), known[i].f16,
                known[i].bf16);
    }
    assert_true(isnan(dg_f16_to_f32(dg_f16_from_f32(NAN))));
    assert_true(isnan(dg_bf16_to_f32(dg_bf16_from_f32(NAN))));
    uint32_t seed = 12345;
    for (int i = 0; i < 200000; i++) {
        seed = seed * 1664525u + 1013904223u;
        float x = ldexpf((float)(seed >> 8) / 0x1p24f, (int)(seed % 44) - 26);
        uint16_t h = dg_f16_from_f32(x);
        if (h >= 0x7bff)
            continue;
        double down = fabs((double)x - (h ? (double)dg_f16_to_f32((uint16_t)(h - 1)) : 0));
        double here = fabs((double)x - (double)dg_f16_to_f32(h));
        double up = fabs((double)x - (double)dg_f16_to_f32((uint16_t)(h + 1)));
        assert_true(here < up || (here == up && h % 2 == 0));
        assert_true(h == 0 || here < down || (here == down && h % 2 == 0));
    }
}

static void every_half_survives(void **state)
{
    (void)state;
    for (uint32_t h = 0; h < 65536; h++) {
        if (!isnan(dg_f16_to_f32((uint16_t)h)))
            assert_int_equal(dg_f16_from_f32(dg_f16_to_f32((uint16_t)h)), h);
        if (!isnan(dg_bf16_to_f32((uint16_t)h)))
            assert_int_equal(dg_bf16_from_f32(dg_bf16_to_f32((uint16_t)h)), h);
    }
    assert_true(dg_f16_to_f32(0x0001) == 0x1p-24f && dg_f16_to_f32(0x8400) == -0x1p-14f);
    assert_true(dg_f16_to_f32(0x3555) == 0x1.554p-2f && dg_bf16_to_f32(0x3eab) == 0x1.56p-2f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_round_to_nearest_even),
        cmocka_unit_test(every_half_survives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
