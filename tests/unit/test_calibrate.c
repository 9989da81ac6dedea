/* trainer/score/calibrate.h: the threshold and what is written; whole calibrations are tested
 * through the program. */
#include "trainer/score/calibrate.h"

#include "model/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static size_t below(const double *x, size_t n, float threshold)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += x[i] < (double)threshold;
    return count;
}

static void test_threshold(void **state)
{
    (void)state;
    double x[1000];
    /* -0.0000, -0.0007, ... in no order: the lowest are -0.6993, -0.6986, ... */
    for (size_t i = 0; i < 1000; i++)
        x[i] = -0.0007 * (double)(i * 617 % 1000);
    const float t = dg_calibrate_threshold(x, 1000);
    assert_true(t > -0.6935f && t < -0.6925f); /* -0.6923 rounded down */
    assert_true(below(x, 1000, t) <= 10);
    /* the highest such threshold, up to the rounding */
    assert_true(below(x, 1000, t + 0.002f) > 10);
    double few[] = {-0.5, -0.25, -1.25};
    assert_true(dg_calibrate_threshold(few, 3) == -1.25f);
    double one[] = {-0.0004};
    assert_true(dg_calibrate_threshold(one, 1) == -0.001f);
}

static void test_no_sets(void **state)
{
    (void)state;
    const struct dg_calibrate_options o = {.bundle = "tests/data/en-de"};
    struct dg_calibrated c;
    struct dg_error err = {0};
    assert_int_equal(dg_calibrate(&o, &c, &err), DG_EINVAL);
}

/* A pair's new penalty replaces its old one; a pair without its own penalty loses the old one. */
static void test_penalties_of_pairs(void **state)
{
    (void)state;
    static const char pairs[] = "[[\"en\", \"de\"], [\"en\", \"pt-BR\"]]",
                      before[] = "{\"en-de\": {\"length_penalty\": 2}}";
    struct dg_error err = {0};
    struct dg_json *manifest = dg_json_load("tests/data/en-de/manifest.json", &err);
    struct dg_config config;
    assert_int_equal(dg_config_read(manifest, &config, &err), 0);
    dg_json_set_take(manifest, "pairs", dg_json_parse(pairs, strlen(pairs), &err));
    dg_json_set_take(manifest, "pair_decoding", dg_json_parse(before, strlen(before), &err));
    struct dg_calibrated_pair list[] = {
        {"en", "de", {.alpha = 1.5f}, .own = false}, {"en", "pt-BR", {.alpha = 1.5f}, .own = true}};
    const struct dg_calibrated c = {
        .chosen = {.beam = 4, .alpha = 1}, .low_confidence = -1, .pairs = list, .n_pairs = 2};
    assert_int_equal(dg_calibrated_write(&c, &config, manifest, &err), 0);
    const struct dg_json *written = dg_json_get(manifest, "pair_decoding");
    assert_int_equal(dg_json_length(written), 1);
    assert_true(
        dg_json_number(dg_json_get(dg_json_get(written, "en-pt-BR"), "length_penalty")) == 1.5);
    dg_json_free(manifest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_threshold),
        cmocka_unit_test(test_no_sets), cmocka_unit_test(test_penalties_of_pairs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
