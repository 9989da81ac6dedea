#include "base/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

static struct dg_json *parse(const char *s)
{
    struct dg_json *v = dg_json_parse(s, strlen(s), NULL);
    assert_non_null(v);
    return v;
}

enum kind { STRING, INT, NUMBER, BOOL };

/* One row: the object, the call, and the exact field and message expected; NULL if it must
 * succeed. */
struct row {
    const char *json, *where, *key;
    enum kind kind;
    const char *field, *message;
};

static const struct row rows[] = {
    {"{\"text\":\"ü\"}", NULL, "text", STRING, NULL, NULL},
    {"{}", NULL, "text", STRING, NULL, NULL},
    {"{\"text\":3}", NULL, "text", STRING, "text", "text must be a string, not an integer"},
    {"{\"text\":null}", "", "text", STRING, "text", "text must be a string, not null"},
    {"{\"text\":[\"a\"]}", "request", "text", STRING, "request.text",
        "request.text must be a string, not an array"},
    {"{\"text\":\"a\\u0000\"}", NULL, "text", STRING, "text",
        "text must not contain the character U+0000"},
    {"[]", NULL, "text", STRING, "", "must be an object, not an array"},
    {"3", "options", "text", STRING, "options", "options must be an object, not an integer"},
    {"{\"n\":1}", NULL, "n", INT, NULL, NULL},
    {"{\"n\":16}", NULL, "n", INT, NULL, NULL},
    {"{\"n\":4.0}", NULL, "n", INT, NULL, NULL},
    {"{\"n\":0}", NULL, "n", INT, "n", "n is 0, must be from 1 to 16"},
    {"{\"n\":17}", "items", "n", INT, "items.n", "items.n is 17, must be from 1 to 16"},
    {"{\"n\":17.0}", NULL, "n", INT, "n", "n is 17, must be from 1 to 16"},
    {"{\"n\":4.5}", NULL, "n", INT, "n", "n must be an integer, not a number"},
    {"{\"n\":1e300}", NULL, "n", INT, "n", "n must be an integer, not a number"},
    {"{\"n\":\"4\"}", NULL, "n", INT, "n", "n must be an integer, not a string"},
    {"{\"n\":true}", NULL, "n", INT, "n", "n must be an integer, not true or false"},
    {"{\"x\":0.5}", NULL, "x", NUMBER, NULL, NULL},
    {"{\"x\":1}", NULL, "x", NUMBER, NULL, NULL},
    {"{\"x\":1.25}", NULL, "x", NUMBER, "x", "x is 1.25, must be from 0 to 1"},
    {"{\"x\":-1}", NULL, "x", NUMBER, "x", "x is -1, must be from 0 to 1"},
    {"{\"x\":{}}", NULL, "x", NUMBER, "x", "x must be a number, not an object"},
    {"{\"b\":true}", NULL, "b", BOOL, NULL, NULL},
    {"{\"b\":1}", NULL, "b", BOOL, "b", "b must be true or false, not an integer"},
};

static int ask(const struct row *r, const struct dg_json *o, struct dg_error *err)
{
    const char *s = NULL;
    int64_t i = 0;
    double x = 0;
    bool b = false;
    switch (r->kind) {
    case STRING: return dg_json_field_string(o, r->where, r->key, &s, err);
    case INT: return dg_json_field_int(o, r->where, r->key, 1, 16, &i, err);
    case NUMBER: return dg_json_field_number(o, r->where, r->key, 0, 1, &x, err);
    default: return dg_json_field_bool(o, r->where, r->key, &b, err);
    }
}

static void messages_are_exact(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct dg_error err = {0};
        struct dg_json *o = parse(rows[i].json);
        int rc = ask(&rows[i], o, &err);
        assert_int_equal(rc, rows[i].message ? DG_EINVAL : 0);
        assert_int_equal(err.code, rc);
        assert_string_equal(err.message, rows[i].message ? rows[i].message : "");
        assert_string_equal(err.field, rows[i].field ? rows[i].field : "");
        assert_int_equal(ask(&rows[i], o, NULL), rc);
        dg_json_free(o);
    }
}

static void values_arrive_and_missing_ones_do_not_change(void **state)
{
    (void)state;
    struct dg_json *o = parse("{\"s\":\"ü\",\"i\":-5,\"r\":7.0,\"x\":2.5,\"b\":true}");
    const char *s = "default";
    int64_t i = 99;
    double x = 0.5;
    bool b = false;
    assert_int_equal(dg_json_field_string(o, NULL, "none", &s, NULL), 0);
    assert_int_equal(dg_json_field_int(o, NULL, "none", 0, 1, &i, NULL), 0);
    assert_int_equal(dg_json_field_number(o, NULL, "none", 0, 1, &x, NULL), 0);
    assert_int_equal(dg_json_field_bool(o, NULL, "none", &b, NULL), 0);
    assert_int_equal(dg_json_field_int(NULL, NULL, "i", 0, 1, &i, NULL), 0);
    assert_string_equal(s, "default");
    assert_true(i == 99 && x == 0.5 && !b);
    assert_int_equal(dg_json_field_string(o, NULL, "s", &s, NULL), 0);
    assert_string_equal(s, "ü");
    assert_int_equal(dg_json_field_int(o, NULL, "i", INT64_MIN, INT64_MAX, &i, NULL), 0);
    assert_int_equal(i, -5);
    assert_int_equal(dg_json_field_int(o, NULL, "i", 0, 1, &i, NULL), DG_EINVAL);
    assert_int_equal(i, -5);
    assert_int_equal(dg_json_field_int(o, NULL, "r", 0, 10, &i, NULL), 0);
    assert_int_equal(i, 7);
    assert_int_equal(dg_json_field_number(o, NULL, "x", -HUGE_VAL, HUGE_VAL, &x, NULL), 0);
    assert_true(x == 2.5);
    assert_int_equal(dg_json_field_number(o, NULL, "i", -10, 0, &x, NULL), 0);
    assert_true(x == -5.0);
    assert_int_equal(dg_json_field_bool(o, NULL, "b", &b, NULL), 0);
    assert_true(b);
    dg_json_free(o);
}

static void open_bounds_are_not_printed(void **state)
{
    (void)state;
    struct dg_json *o = parse("{\"i\":-5,\"x\":-0.5}");
    struct dg_error err = {0};
    int64_t i;
    double x;
    dg_json_field_int(o, NULL, "i", 0, INT64_MAX, &i, &err);
    assert_string_equal(err.message, "i is -5, must be at least 0");
    dg_error_clear(&err);
    dg_json_field_int(o, NULL, "i", INT64_MIN, -6, &i, &err);
    assert_string_equal(err.message, "i is -5, must be at most -6");
    dg_error_clear(&err);
    dg_json_field_number(o, NULL, "x", 0, HUGE_VAL, &x, &err);
    assert_string_equal(err.message, "x is -0.5, must be at least 0");
    dg_error_clear(&err);
    dg_json_field_number(o, NULL, "x", -HUGE_VAL, -1, &x, &err);
    assert_string_equal(err.message, "x is -0.5, must be at most -1");
    dg_json_free(o);
}

static void only_names_the_first_unknown_field(void **state)
{
    (void)state;
    static const char *const allowed[] = {"text", "source", NULL};
    struct dg_json *o = parse("{\"source\":1,\"texts\":2,\"other\":3}");
    struct dg_error err = {0};
    assert_int_equal(dg_json_only(o, NULL, allowed, &err), DG_EINVAL);
    assert_string_equal(err.field, "texts");
    assert_string_equal(err.message, "unknown field texts");
    dg_error_clear(&err);
    assert_int_equal(dg_json_only(o, "options", allowed, &err), DG_EINVAL);
    assert_string_equal(err.field, "options.texts");
    dg_json_free(o);
    dg_error_clear(&err);
    o = parse("{\"source\":1,\"text\":2}");
    assert_int_equal(dg_json_only(o, NULL, allowed, &err), 0);
    dg_json_free(o);
    o = parse("\"text\"");
    assert_int_equal(dg_json_only(o, "body", allowed, &err), DG_EINVAL);
    assert_string_equal(err.message, "body must be an object, not a string");
    dg_json_free(o);
    assert_int_equal(dg_json_only(NULL, NULL, allowed, NULL), 0);
}

/* A very long key from the user is cut, and the cut name still fits into a JSON answer, wherever
 * the key is. */
static void long_names_stay_valid_utf8(void **state)
{
    (void)state;
    static const char *const allowed[] = {NULL};
    for (size_t shift = 0; shift < 4; shift++) {
        char key[400];
        memset(key, 'k', shift);
        for (size_t n = shift; n < 396; n += 4)
            memcpy(key + n, "😀", 5);
        struct dg_json *o = dg_json_new_object();
        assert_int_equal(dg_json_set_int(o, key, 1), 0);
        struct dg_error err = {0};
        assert_int_equal(dg_json_only(o, NULL, allowed, &err), DG_EINVAL);
        assert_int_equal(dg_json_set_string(o, "field", err.field), 0);
        assert_int_equal(dg_json_set_string(o, "message", err.message), 0);
        bool b;
        dg_error_clear(&err);
        assert_int_equal(dg_json_field_bool(o, NULL, key, &b, &err), DG_EINVAL);
        assert_int_equal(dg_json_set_string(o, "field", err.field), 0);
        assert_int_equal(dg_json_set_string(o, "message", err.message), 0);
        dg_json_free(o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_exact),
        cmocka_unit_test(values_arrive_and_missing_ones_do_not_change),
        cmocka_unit_test(open_bounds_are_not_printed),
        cmocka_unit_test(only_names_the_first_unknown_field),
        cmocka_unit_test(long_names_stay_valid_utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
