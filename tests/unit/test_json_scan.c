/* Scanning a text before it is parsed, and parsing that is given up. */
#include "base/json_scan.h"

#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static void strings_end_where_json_says(void **state)
{
    static const struct {
        const char *text;
        size_t end;
    } cases[] = {{"\"\"", 1}, {"\"abc\":1", 4}, {"\"a\\\"b\" \"", 5}, {"\"\\\\\" \"", 3},
        {"\"\\\\\\\"\" \"", 5}, {"\"\\\"\\\"\\\"\"", 7}, {"\"{[,:\"", 5},
        /* unterminated */
        {"\"", 1}, {"\"abc", 4}, {"\"abc\\", 5}, {"\"abc\\\"", 6}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (dg_json_scan_string(cases[i].text, strlen(cases[i].text), 0) != cases[i].end)
            fail_msg("%s: %zu, expected %zu", cases[i].text,
                dg_json_scan_string(cases[i].text, strlen(cases[i].text), 0), cases[i].end);
    assert_int_equal(dg_json_scan_string("[\"ab\"]", 6, 1), 4);
    assert_int_equal(dg_json_scan_string("\"ab\"", 3, 0), 3); /* the given length is respected */
}

static void an_integer_is_found(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {{"{\"ms\":200}", 200}, {" { \"ms\" :\n 7 , \"a\":1}", 7},
        {"{\"a\":[1],\"ms\":0}", 0}, {"{\"a\":{\"ms\":1},\"b\":[{\"ms\":2}],\"ms\":3}", 3},
        {"{\"a\":\"ms\",\"ms\":4}", 4}, {"{\"a\":\"\\\",\\\"ms\\\":1,\",\"ms\":5}", 5},
        {"{\"ms\":999999999999999999}", 999999999999999999},
        /* missing, or not an integer in digits */
        {"", -1}, {"{}", -1}, {"{\"ms\":1999999999999999999}", -1}, {"{\"ms\":2.5}", -1},
        {"{\"ms\":2e3}", -1}, {"{\"ms\":-2}", -1}, {"{\"ms\":\"2\"}", -1}, {"{\"ms\":null}", -1},
        {"{\"ms\":", -1}, {"{\"ms\":12", -1}, {"{\"ms", -1}, {"{\"ms\"}", -1},
        {"{\"mss\":1,\"m\":2}", -1}, {"[\"ms\",1]", -1}, {"{\"a\":{\"ms\":1}}", -1},
        {"\"ms\":1", -1}, {"]]\"ms\":1", -1}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        /* without a byte after it, so that a sanitizer sees a read beyond the end */
        const size_t n = strlen(cases[i].text);
        char *text = malloc(n + (n == 0));
        assert_non_null(text);
        memcpy(text, cases[i].text, n);
        const int64_t value = dg_json_scan_int(text, n, "ms");
        if (value != cases[i].value)
            fail_msg("%s: %lld", cases[i].text, (long long)value);
        free(text);
    }
}

static void a_value_is_found(void **state)
{
    static const struct {
        const char *text, *value;
    } cases[] = {{"{\"k\":\"a\"}", "\"a\"}"}, {"{\"a\":{\"k\":1},\"k\" :\n [2]}", "[2]}"},
        {"{\"a\":\"k\",\"k\":null}", "null}"}, {"{\"k\":", ""},
        /* missing */
        {"", ""}, {"{}", ""}, {"{\"a\":\"k\"}", ""}, {"{\"k\"}", ""}, {"[\"k\",1]", ""}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t n = strlen(cases[i].text);
        assert_string_equal(
            cases[i].text + dg_json_scan_key(cases[i].text, n, "k"), cases[i].value);
    }
}

/* A check that fails at its n-th call. */
struct patience {
    int calls, most;
};

static int lose_patience(const void *arg, struct dg_error *err)
{
    struct patience *p = (struct patience *)(uintptr_t)arg;
    return ++p->calls == p->most ? dg_error_set(err, DG_ETIMEOUT, "enough") : DG_OK;
}

/* Parsing a long text ends wherever the check fails. */
static void a_check_ends_parsing(void **state)
{
    struct dg_buffer text;
    (void)state;
    dg_buffer_init(&text);
    dg_buffer_adds(&text, "{\"a\":[");
    for (int i = 0; i < 30000; i++)
        dg_buffer_adds(&text, "[1,\"bcd\",{\"e\":2.5}],");
    dg_buffer_adds(&text, "\"");
    for (int i = 0; i < 30000; i++)
        dg_buffer_adds(&text, "a long string ");
    dg_buffer_adds(&text, "\"]}");
    struct patience p = {0, 0};
    const struct dg_json_check check = {lose_patience, &p};
    struct dg_error err = {0};
    struct dg_json *v = dg_json_parse_checked(text.data, text.len, &check, &err);
    assert_non_null(v);
    assert_int_equal(dg_json_length(dg_json_get(v, "a")), 30001);
    dg_json_free(v);
    assert_true(p.calls >= 10);
    for (p.most = p.calls; p.most > 0; p.most--) {
        p.calls = 0;
        dg_error_clear(&err);
        assert_null(dg_json_parse_checked(text.data, text.len, &check, &err));
        assert_int_equal(p.calls, p.most);
        assert_int_equal(err.code, DG_ETIMEOUT);
        assert_string_equal(err.message, "enough");
    }
    dg_buffer_deinit(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(strings_end_where_json_says),
        cmocka_unit_test(an_integer_is_found), cmocka_unit_test(a_value_is_found),
        cmocka_unit_test(a_check_ends_parsing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
