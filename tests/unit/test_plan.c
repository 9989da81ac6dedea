/* The memory plan: the machine's limit, or its control group's; micro-batches on a device. */
#include "trainer/run/report.h"
#include "trainer/run/training_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define GIB ((double)(1 << 30))

static struct dg_training_plan limited(double machine, double group)
{
    struct dg_training_plan p = {0};
    const struct dg_cgroup g = {-1, group, -1};
    dg_training_plan_memory(&p, machine, &g);
    return p;
}

static void test_limit(void **state)
{
    (void)state;
    const struct {
        double machine, group, want;
        bool grouped;
    } cases[] = {
        {8, -1, 8, false},                  /* no control group, or one without a limit */
        {8, 2, 2, true}, {8, 16, 8, false}, /* more than the machine has */
        {0, 2, 2, true},                    /* a machine that reports no memory */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double group = cases[i].group < 0 ? -1 : cases[i].group * GIB;
        struct dg_training_plan p = limited(cases[i].machine * GIB, group);
        assert_true((double)p.available == cases[i].want * GIB);
        assert_int_equal(p.grouped, cases[i].grouped);
    }
    assert_int_equal(limited(0, -1).available, 0);
}

static void test_refusal_says_whose_limit(void **state)
{
    (void)state;
    struct dg_error err = {0};
    struct dg_training_plan p = limited(8 * GIB, 2 * GIB);
    p.total = (size_t)(3 * GIB);
    assert_int_equal(dg_training_plan_check(&p, &err), DG_ELIMIT);
    assert_string_equal(err.field, "training.micro_tokens");
    assert_non_null(strstr(err.message, "3.0 GiB and the control group allows 2.0 GiB"));
    dg_error_clear(&err);
    p = limited(2 * GIB, -1);
    p.total = (size_t)(3 * GIB);
    assert_int_equal(dg_training_plan_check(&p, &err), DG_ELIMIT);
    assert_non_null(strstr(err.message, "the machine has 2.0 GiB"));
    p = limited(0, -1); /* unknown: allowed */
    p.total = (size_t)(3 * GIB);
    assert_int_equal(dg_training_plan_check(&p, &err), 0);
}

/* Training releases its memory before a shortlist is learnt: each must fit, not their sum. */
static void test_shortlist(void **state)
{
    (void)state;
    struct dg_error err = {0};
    struct dg_buffer text;
    struct dg_training_plan p = limited(2 * GIB, -1);
    p.total = (size_t)(1.5 * GIB);
    p.list = (size_t)(1.5 * GIB);
    assert_int_equal(dg_training_plan_check(&p, &err), 0);
    dg_buffer_init(&text);
    dg_training_plan_print(&p, NULL, &text);
    assert_non_null(strstr(text.data, "  a shortlist, after training, about        1536.0 MiB\n"));
    p.list = (size_t)(2.5 * GIB);
    assert_int_equal(dg_training_plan_check(&p, &err), DG_ELIMIT);
    assert_string_equal(err.field, "validation.shortlist");
    assert_non_null(strstr(err.message, "needs up to 2.5 GiB and the machine has 2.0 GiB"));
    dg_error_clear(&err);
    p.device = true; /* the list is learnt on the host */
    assert_int_equal(dg_training_plan_check(&p, &err), 0);
    p.list = 0;
    dg_buffer_reset(&text);
    dg_training_plan_print(&p, NULL, &text);
    assert_null(strstr(text.data, "shortlist"));
    dg_buffer_deinit(&text);
}

enum { V = 37000, LONGEST = 256 };

/* Plans the paper's models on a device with this much free memory, using CUDA's training ops. */
static struct dg_training_plan on_device(bool big, double free, size_t element)
{
    const struct dg_recipe r = {.training = {.threads = 4}};
    const struct dg_training_place place = {(size_t)free, {.element = element,
                                                              .loss_bytes = 512 << 20,
                                                              .room_bytes = 18 << 20,
                                                              .weight_bytes = 5,
                                                              .masks = true,
                                                              .own_memory = true}};
    struct dg_training_plan p;
    struct dg_config c;
    dg_config_base(&c, V);
    if (big) {
        c.D = 1024;
        c.F = 4096;
        c.H = 16;
    }
    dg_training_plan_make(&r, &c, LONGEST, &place, &p);
    return p;
}

/* The paper's batch is one pass on devices of 80 and of 141 GB, in either precision. */
static void test_large_devices(void **state)
{
    (void)state;
    struct dg_error err = {0};
    for (int big = 0; big < 2; big++)
        for (int i = 0; i < 4; i++) {
            const struct dg_training_plan p = on_device(big, i % 2 ? 141e9 : 80e9, i / 2 ? 4 : 2);
            assert_int_equal(p.micro_tokens, 50000);
            assert_true(p.device && p.activations <= p.available / 2);
            assert_int_equal(dg_training_plan_check(&p, &err), 0);
        }
}

/* Fewer tokens with less free memory, down to a limit; beyond it an error. */
static void test_small_devices(void **state)
{
    (void)state;
    struct dg_error err = {0};
    uint64_t last = 50000;
    for (double gb = 32; gb >= 4; gb /= 2) {
        const struct dg_training_plan p = on_device(false, gb * 1e9, 2);
        assert_true(p.micro_tokens <= last && p.micro_tokens >= 512);
        assert_true(p.activations <= p.available / 2);
        assert_int_equal(dg_training_plan_check(&p, &err), 0);
        last = p.micro_tokens;
    }
    assert_true(last < 25000);
    const struct dg_training_plan p = on_device(true, 2e9, 4);
    assert_true(p.micro_tokens < 1000);
    assert_int_equal(dg_training_plan_check(&p, &err), DG_ELIMIT);
    assert_non_null(strstr(err.message, "the device has 1.9 GiB"));
    dg_error_clear(&err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_limit),
        cmocka_unit_test(test_refusal_says_whose_limit), cmocka_unit_test(test_shortlist),
        cmocka_unit_test(test_large_devices), cmocka_unit_test(test_small_devices)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
