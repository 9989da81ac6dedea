/* What steps teach: against devices that are made up, whose costs are known. */
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

/* As a worker would: as many rows as the pace says, of `wanted`. */
static uint32_t drive(struct dg_pace *p, const struct device *d, uint32_t most, uint32_t wanted,
    int steps, uint64_t *now)
{
    uint32_t rows = 0;
    for (int i = 0; i < steps; i++) {
        rows = dg_pace_rows(p, most, wanted, *now);
        rows = rows < wanted ? rows : wanted;
        one_step(p, d, rows, i % 3 == 0 ? rows * 5 : 0, now);
    }
    return dg_pace_rows(p, most, wanted, *now);
}

static void finds_the_knee(void **state)
{
    static const struct {
        const char *what;
        struct device d;
        uint32_t least, most; /* expected */
    } table[] = {
        {"every row costs the same", {0, 70, 0, 10}, 1, 1},
        {"the same up to far more than fit", {4000, 0, 3000, 0}, 256, 256},
        {"half of it is fixed at 16", {1600, 100, 0, 10}, 64, 256},
        {"a little is fixed", {200, 100, 0, 10}, 32, 64},
        {"next to nothing is fixed", {30, 100, 0, 10}, 4, 4},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct dg_pace p = {0};
        uint64_t now = S;
        uint32_t rows = drive(&p, &table[i].d, 256, 1000, 400, &now);
        if (rows < table[i].least || rows > table[i].most)
            fail_msg("%s: %u rows", table[i].what, rows);
    }
}

/* Little to do never teaches what large steps cost; there is no reason to hold anybody back until
 * it is known where the knee is, and none to wait for it. */
static void tries_only_what_there_is(void **state)
{
    const struct device d = {0, 70, 0, 10};
    struct dg_pace p = {0};
    uint64_t now = S;
    (void)state;
    assert_int_equal(drive(&p, &d, 128, 8, 100, &now), 1);
    assert_true(dg_pace_rows(&p, 128, 1000, now) == 16); /* the next size is tried */
    drive(&p, &d, 128, 1000, 400, &now);
    assert_int_equal(dg_pace_rows(&p, 128, 1000, now), 1);
    now += 61 * S; /* and all measured anew, as the machine may have changed */
    for (uint32_t rows = 1; rows <= 128; rows *= 2)
        for (int i = 0; i < 16; i++) {
            assert_int_equal(dg_pace_rows(&p, 128, 1000, now), rows);
            one_step(&p, &d, rows, 0, &now);
        }
    assert_int_equal(dg_pace_rows(&p, 128, 1000, now), 1);
}

/* Sentences of four rows never make a step of two, however often it is asked for. */
static void gives_up_on_steps_that_never_come(void **state)
{
    const struct device d = {0, 70, 0, 0};
    struct dg_pace p = {0};
    uint64_t now = S;
    (void)state;
    for (int i = 0; i < 10; i++)
        one_step(&p, &d, 2, 0, &now);
    now += 61 * S;
    uint32_t rows = 0;
    for (int i = 0; i < 400; i++) {
        rows = dg_pace_rows(&p, 128, 1000, now);
        one_step(&p, &d, rows < 4 ? 4 : rows, 0, &now);
    }
    assert_int_equal(rows, 4);
}

/* A size that was dear once, with nothing in the caches, is not avoided for ever. */
static void a_bad_start_is_forgotten(void **state)
{
    const struct device cold = {0, 200, 0, 0}, warm = {0, 70, 0, 0};
    struct dg_pace p = {0};
    uint64_t now = S;
    (void)state;
    for (int i = 0; i < 16; i++)
        one_step(&p, &cold, 16, 0, &now);
    for (int i = 0; i < 100; i++)
        one_step(&p, &warm, 32, 0, &now);
    assert_int_equal(dg_pace_rows(&p, 32, 1000, now), 32);
    now += 5 * S;
    one_step(&p, &warm, 32, 0, &now); /* that size is known all the time */
    now += 6 * S;
    for (int i = 0; i < 16; i++) {
        assert_int_equal(dg_pace_rows(&p, 32, 1000, now), 16);
        one_step(&p, &warm, 16, 0, &now);
    }
    assert_int_equal(dg_pace_rows(&p, 32, 1000, now), 16);
}

static void says_the_rate(void **state)
{
    const struct device d = {4000, 0, 3000, 0};
    struct dg_pace p = {0};
    uint64_t now = S;
    (void)state;
    assert_true(dg_pace_rate(&p) == 0);
    drive(&p, &d, 256, 1000, 200, &now);
    /* From here on 64 sentences of 20 pieces and 20 steps, with 4 rows each: 256 rows, 3.2 join and
     * leave in a step of 7 ms. */
    for (int i = 0; i < 20000; i++) {
        one_step(&p, &d, 256, 64, &now);
        for (int k = 0; k < (i % 5 == 0 ? 4 : 3); k++)
            dg_pace_answered(&p, 20);
    }
    double real = 3.2 * 20 / 7e-3;
    if (fabs(dg_pace_rate(&p) / real - 1) > 0.1)
        fail_msg("%.0f pieces a second, really %.0f", dg_pace_rate(&p), real);
    /* One at a time it does far less, but could do as much. */
    for (int i = 0; i < 20000; i++) {
        one_step(&p, &d, 4, i % 20 == 0 ? 20 : 0, &now);
        if (i % 20 == 0)
            dg_pace_answered(&p, 20);
    }
    assert_true(dg_pace_rate(&p) > real / 2);
}

/* One step in ten takes forty times as long, as where others use the machine: rows are still as
 * dear as they are, but the rate is what really comes out. */
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

/* A row costs the same in any company, but the machine is up to half as slow again for a while:
 * what a size costs is then not known well, and steps must not become large for a size's luck. */
static void luck_does_not_choose(void **state)
{
    struct device d = {0, 70, 0, 0};
    struct dg_pace p = {0};
    uint64_t now = S, rows_all = 0, seed = 1;
    (void)state;
    for (int i = 0; i < 100000; i++) {
        seed = i % 100 == 0 ? seed * 1664525 % 4294967291 : seed;
        d.row_us = 70 * (1 + 0.5 * (double)seed / 4294967291.0);
        uint32_t rows = dg_pace_rows(&p, 128, 1000, now);
        one_step(&p, &d, rows, 0, &now);
        rows_all += rows;
    }
    if (rows_all > 2 * 100000)
        fail_msg("%.1f rows a step", (double)rows_all / 100000);
}

/* Somebody else had the core for a while. */
static void forgives_interruptions(void **state)
{
    const struct device d = {0, 70, 0, 10};
    struct dg_pace p = {0};
    uint64_t now = S;
    (void)state;
    drive(&p, &d, 128, 1000, 100, &now);
    double before = p.step[2].ns;
    dg_pace_step(&p, 4, 0, 4 * 70 * 1000 * UINT64_C(1000), now);
    assert_true(
        p.step[2].ns <= before * 1.7); /* three times more than usual, as one of five or more */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_knee),
        cmocka_unit_test(tries_only_what_there_is),
        cmocka_unit_test(gives_up_on_steps_that_never_come),
        cmocka_unit_test(a_bad_start_is_forgotten),
        cmocka_unit_test(says_the_rate),
        cmocka_unit_test(a_busy_machine_is_slower),
        cmocka_unit_test(luck_does_not_choose),
        cmocka_unit_test(forgives_interruptions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
