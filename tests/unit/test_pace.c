/* Estimates from steps, against made-up devices with known costs. */
#include "server/schedule/pace.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define US 1000.0
#define S UINT64_C(1000000000)

struct device {
    double fixed_us, row_us;    /* of a step */
    double encode_us, piece_us; /* of encoding */
};

static void one_step(
    struct dg_pace *p, const struct device *d, uint32_t rows, uint32_t encoded, uint64_t *now)
{
    double us = d->fixed_us + d->row_us * rows;
    us += encoded > 0 ? d->encode_us + d->piece_us * encoded : 0;
    *now += (uint64_t)(us * US);
    dg_pace_step(p, rows, encoded, (uint64_t)(us * US), *now);
}

static void says_the_rate(void **state)
{
    const struct device d = {4000, 0, 3000, 0};
    struct dg_pace p = {0};
    uint64_t now = S;
    (void)state;
    assert_true(dg_pace_rate(&p) == 0);
    for (int i = 0; i < 200; i++)
        one_step(&p, &d, 256, i % 3 == 0 ? 64 : 0, &now);
    /* From here on 64 sentences of 20 pieces and 20 steps, with 4 rows each: 256 rows; 3.2 join and
     * leave per step of 7 ms. */
    for (int i = 0; i < 20000; i++) {
        one_step(&p, &d, 256, 64, &now);
        for (int k = 0; k < (i % 5 == 0 ? 4 : 3); k++)
            dg_pace_answered(&p, 20);
    }
    double real = 3.2 * 20 / 7e-3;
    if (fabs(dg_pace_rate(&p) / real - 1) > 0.1)
        fail_msg("%.0f pieces a second, really %.0f", dg_pace_rate(&p), real);
    /* One at a time, the device does far less but could do as much. */
    for (int i = 0; i < 20000; i++) {
        one_step(&p, &d, 4, i % 20 == 0 ? 20 : 0, &now);
        if (i % 20 == 0)
            dg_pace_answered(&p, 20);
    }
    assert_true(dg_pace_rate(&p) > real / 2);
}

/* One step in ten takes forty times as long, as on a machine shared with others: the rate is the
 * real throughput. */
static void a_busy_machine_is_slower(void **state)
{
    const struct device d = {0, 70, 0, 0};
    struct dg_pace p = {0};
    uint64_t now = S, from = S;
    uint32_t answered = 0;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        one_step(&p, &d, 4, 0, &now);
        if (i % 10 == 0) {
            now += 40 * 280 * UINT64_C(1000);
            dg_pace_step(&p, 4, 0, 40 * 280 * UINT64_C(1000), now);
        }
        if (i % 20 == 0) {
            dg_pace_answered(&p, 20);
            answered += 20;
        }
    }
    double real = answered / ((double)(now - from) / 1e9);
    if (fabs(dg_pace_rate(&p) / real - 1) > 0.1)
        fail_msg("%.0f pieces a second, really %.0f", dg_pace_rate(&p), real);
}

/* Another process had the core for a while. */
static void forgives_interruptions(void **state)
{
    const struct device d = {0, 70, 0, 10};
    struct dg_pace p = {0};
    uint64_t now = S;
    (void)state;
    for (int i = 0; i < 100; i++)
        one_step(&p, &d, 4, i % 3 == 0 ? 20 : 0, &now);
    double before = p.step[2].ns;
    dg_pace_step(&p, 4, 0, 4 * 70 * 1000 * UINT64_C(1000), now);
    assert_true(
        p.step[2].ns <= before * 1.7); /* three times more than usual, as one of five or more */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_the_rate),
        cmocka_unit_test(a_busy_machine_is_slower),
        cmocka_unit_test(forgives_interruptions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
