#include "server/http/form.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static void test_forms(void **state)
{
    (void)state;
    static const struct {
        const char *form, *json;
    } cases[] = {{"", "{}"}, {"q=Hello", "{\"q\":\"Hello\"}"},
        {"q=Hello+world%21&source=en", "{\"q\":\"Hello world!\",\"source\":\"en\"}"},
        {"q=a%0Ab&q=c&q=d", "{\"q\":[\"a\\nb\",\"c\",\"d\"]}"}, {"q=1=2", "{\"q\":\"1=2\"}"},
        {"q", "{\"q\":\"\"}"}, {"q=", "{\"q\":\"\"}"}, {"=x", "{\"\":\"x\"}"},
        {"&&a=1&", "{\"a\":\"1\"}"}, {"a%26b=%c3%A4", "{\"a&b\":\"\xC3\xA4\"}"},
        {"q=100%&r=%4&s=%zz", "{\"q\":\"100%\",\"r\":\"%4\",\"s\":\"%zz\"}"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct dg_json *o = dg_json_new_object();
        struct dg_error err = {0};
        struct dg_buffer b;
        dg_buffer_init(&b);
        assert_int_equal(dg_form_read(cases[i].form, strlen(cases[i].form), o, &err), DG_OK);
        dg_json_write(o, 0, &b);
        assert_string_equal(b.data, cases[i].json);
        dg_buffer_deinit(&b);
        dg_json_free(o);
    }
}

static void refuse(const char *form, size_t n, int code, const char *field)
{
    struct dg_json *o = dg_json_new_object();
    struct dg_error err = {0};
    assert_int_equal(dg_form_read(form, n, o, &err), code);
    assert_string_equal(err.field, field);
    dg_json_free(o);
}

static void test_wrong_forms(void **state)
{
    (void)state;
    refuse("q=%ff", 5, DG_EINVAL, "q");
    refuse("q=\xC3", 3, DG_EINVAL, "q");
    refuse("q=a%00b", 7, DG_EINVAL, "q");
    refuse("%00=a", 5, DG_EINVAL, "body");
    char many[3 * (DG_FORM_MAX_PARAMETERS + 1)];
    for (size_t i = 0; i <= DG_FORM_MAX_PARAMETERS; i++)
        memcpy(many + 3 * i, "a=&", 3);
    refuse(many, sizeof many, DG_ELIMIT, "body");
}

/* Two forms parsed into one object: a link's parameters and a body's. */
static void test_both(void **state)
{
    (void)state;
    struct dg_json *o = dg_json_new_object();
    struct dg_buffer b;
    dg_buffer_init(&b);
    assert_int_equal(dg_form_read("q=1", 3, o, NULL), DG_OK);
    assert_int_equal(dg_form_read("q=2&r=3", 7, o, NULL), DG_OK);
    dg_json_write(o, 0, &b);
    assert_string_equal(b.data, "{\"q\":[\"1\",\"2\"],\"r\":\"3\"}");
    dg_buffer_deinit(&b);
    dg_json_free(o);
}

static void test_find(void **state)
{
    (void)state;
    static const struct {
        const char *form, *value;
    } cases[] = {{"key=a", "a"}, {"q=1&key=b%2Bc+d&key=e", "b+c d"}, {"k%65y=f", "f"},
        {"key=&key=g&", "g"}, {"key=%41%42%43%44%45%46%47%48", "ABCDEFG"},
        {"key=123456789", "1234567"},
        /* missing */
        {"", NULL}, {"key", NULL}, {"key=", NULL}, {"key&key=", NULL}, {"=key", NULL},
        {"q=key", NULL}, {"keys=1&ke=2&keykeykey=3", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char out[8];
        const bool found =
            dg_form_find(cases[i].form, strlen(cases[i].form), "key", out, sizeof out);
        assert_int_equal(found, cases[i].value != NULL);
        if (found)
            assert_string_equal(out, cases[i].value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms),
        cmocka_unit_test(test_wrong_forms), cmocka_unit_test(test_both),
        cmocka_unit_test(test_find)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
