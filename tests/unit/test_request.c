/* Request bodies; tests/api/test_errors.py sends the long list of wrong ones to a server. */
#include "server/api/request.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct dg_request_limits limits = {
    .characters = 10, .texts = 3, .beam = 8, .timeout_ms = 5000};

static int read_translate(const char *body, struct dg_v1_translate *r, struct dg_error *err)
{
    dg_error_clear(err);
    return dg_v1_translate_read(body, strlen(body), &limits, r, err);
}

static void translate(void **state)
{
    struct dg_v1_translate r;
    struct dg_error err;
    (void)state;
    assert_int_equal(
        read_translate(
            "{\"text\":[\"a\",\"\xc3\xa9\"],\"source\":\"en\",\"target\":\"de\",\"beam_size\":5,"
            "\"n_best\":2,\"length_penalty\":0.5,\"scores\":true,\"timeout_ms\":9000}",
            &r, &err),
        0);
    assert_int_equal(r.text.n, 2);
    assert_int_equal(r.text.list[1].len, 2);
    assert_memory_equal(r.text.list[1].s, "\xc3\xa9", 2);
    assert_string_equal(r.source, "en");
    assert_string_equal(r.target, "de");
    assert_int_equal(r.options.search.beam, 5);
    assert_int_equal(r.options.search.n_best, 2);
    assert_true(r.options.search.alpha == 0.5f);
    assert_true(r.options.scores);
    assert_int_equal(r.timeout_ms, 5000); /* no more than the server's */
    dg_v1_translate_free(&r);
    assert_int_equal(
        read_translate("{\"text\":\"a\",\"source\":\"en\",\"target\":\"de\"}", &r, &err), 0);
    assert_int_equal(r.options.search.beam, 0);
    assert_true(r.options.search.alpha < 0); /* the model's */
    assert_int_equal(r.timeout_ms, 0);
    dg_v1_translate_free(&r);
}

static void characters_are_code_points(void **state)
{
    struct dg_v1_translate r;
    struct dg_error err;
    (void)state;
    /* Ten of four bytes each are ten. */
    assert_int_equal(
        read_translate(
            "{\"text\":\"\U0001F600\U0001F600\U0001F600\U0001F600\U0001F600\U0001F600\U0001F600"
            "\U0001F600\U0001F600\U0001F600\",\"source\":\"en\",\"target\":\"de\"}",
            &r, &err),
        0);
    dg_v1_translate_free(&r);
    assert_int_equal(
        read_translate(
            "{\"text\":[\"12345\",\"67890\",\"1\"],\"source\":\"en\",\"target\":\"de\"}", &r, &err),
        DG_ELIMIT);
    assert_string_equal(err.field, "text");
    dg_v1_translate_free(&r);
    assert_int_equal(
        read_translate(
            "{\"text\":[\"\",\"\",\"\",\"\"],\"source\":\"en\",\"target\":\"de\"}", &r, &err),
        DG_ELIMIT);
    dg_v1_translate_free(&r);
}

static void score(void **state)
{
    static const char body[] = "{\"source\":[\"a\",\"b\"],\"target\":[\"c\",\"d\"],\"source_lang\":"
                               "\"en\",\"target_lang\":\"de\"}";
    static const char uneven[] =
        "{\"source\":[\"a\",\"b\"],\"target\":\"c\",\"source_lang\":\"en\",\"target_lang\":\"de\"}";
    struct dg_v1_score r;
    struct dg_error err = {0};
    (void)state;
    assert_int_equal(dg_v1_score_read(body, sizeof body - 1, &limits, &r, &err), 0);
    assert_int_equal(r.source.n, 2);
    assert_string_equal(r.target.list[1].s, "d");
    dg_v1_score_free(&r);
    assert_int_equal(dg_v1_score_read(uneven, sizeof uneven - 1, &limits, &r, &err), DG_EINVAL);
    assert_string_equal(err.field, "target");
    dg_v1_score_free(&r);
}

static void timeouts(void **state)
{
    static const struct {
        const char *text;
        int64_t ms; /* 0: wrong */
    } cases[] = {{"1", 1000}, {"0.5", 500}, {".25", 250}, {"1e-6", 1}, {"9999999", 5000}, {"0", 0},
        {"-1", 0}, {"", 0}, {"1 s", 0}, {"nan", 0}, {"inf", 0}, {"1e999", 0}, {"abc", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_error err = {0};
        int64_t ms = 0;
        int rc = dg_request_timeout_read(cases[i].text, 5000, &ms, &err);
        assert_int_equal(rc == 0, cases[i].ms > 0);
        assert_int_equal(ms, cases[i].ms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(translate),
        cmocka_unit_test(characters_are_code_points), cmocka_unit_test(score),
        cmocka_unit_test(timeouts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
