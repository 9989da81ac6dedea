/* Lines as readers of logfmt and JSON expect them, whatever the values are. */
#include "base/log_line.h"

#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

static const struct timespec now = {.tv_sec = 86400, .tv_nsec = 5000000};

static size_t line_of(char line[DG_LOG_LINE], enum dg_log_format format, const char *text)
{
    const size_t n = dg_log_line(line, format, DG_LOG_ERROR, &now, text);
    assert_true(n > 0 && n < DG_LOG_LINE && line[n] == '\0' && strchr(line, '\n') == line + n - 1);
    return n;
}

/* Quotation marks and backslashes within a value are escaped. Values with a space, an equals sign
 * or letters beyond ASCII, and empty ones, are quoted. */
static void logfmt_values_can_be_read(void **state)
{
    char line[DG_LOG_LINE];
    (void)state;
    line_of(line, DG_LOG_LOGFMT,
        "not reloaded message=\"gl/te\"rms.tsv: of \".\" and \\\" name=two dogs now=a=1,b=2 id=5f "
        "n=3 path=B\xc3\xbc"
        "cher none= last=\"a");
    assert_string_equal(line,
        "ts=1970-01-02T00:00:00.005Z level=error event=\"not reloaded\""
        " message=\"gl/te\\\"rms.tsv: of \\\".\\\" and \\\\\" name=\"two dogs\" now=\"a=1,b=2\""
        " id=5f n=3 path=\"B\xc3\xbc"
        "cher\" none=\"\" last=\"a\"\n");
}

/* Ids stay text when they have digits alone: 16 of them are more than a double holds. */
static void json_ids_are_text(void **state)
{
    static const char *const keys[] = {"id", "key", "name", "trace", "version", "worker"};
    char line[DG_LOG_LINE];
    (void)state;
    const size_t n = line_of(line, DG_LOG_JSON,
        "request status=200 id=9876543210987655 key=12345678 name=2024 trace=1 "
        "version=123456789012 worker=0 number=-0.5");
    struct dg_json *v = dg_json_parse(line, n, NULL);
    assert_non_null(v);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_int_equal(dg_json_typeof(dg_json_get(v, keys[i])), DG_JSON_STRING);
    assert_string_equal(dg_json_string(dg_json_get(v, "id"), NULL), "9876543210987655");
    assert_int_equal(dg_json_number(dg_json_get(v, "status")), 200);
    assert_true(dg_json_number(dg_json_get(v, "number")) == -0.5);
    dg_json_free(v);
}

/* A key that is none, because it is too long, does not break the line. */
static void json_of_a_long_key(void **state)
{
    char text[DG_LOG_LINE], line[DG_LOG_LINE];
    (void)state;
    memset(text, 'a', sizeof text);
    memcpy(text, "x path=", 7);
    memcpy(text + 3000, " b", 2);
    memcpy(text + 3600, "=", 2);
    struct dg_json *v = dg_json_parse(line, line_of(line, DG_LOG_JSON, text), NULL);
    assert_non_null(v);
    dg_json_free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logfmt_values_can_be_read),
        cmocka_unit_test(json_ids_are_text),
        cmocka_unit_test(json_of_a_long_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
