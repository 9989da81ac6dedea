/* Forms with files as browsers, curl and Python send them, and broken ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "server/http/multipart.h"

#define TYPE "multipart/form-data; boundary=b1"
#define PART "\r\nContent-Disposition: form-data; name="

static int read(const char *type, const char *body, struct dg_json **o, struct dg_multipart_file *f,
    struct dg_error *err)
{
    *f = (struct dg_multipart_file){0};
    *o = dg_json_new_object();
    return dg_multipart_read(type, body, strlen(body), "file", *o, f, err);
}

static void fields_and_a_file(void **state)
{
    (void)state;
    struct dg_json *o;
    struct dg_multipart_file f;
    static const char *const bodies[] = {
        "--b1" PART "\"source\"\r\n\r\nen\r\n--b1" PART "\"file\"; filename=\"C:\\dir/a b.txt\"\r\n"
        "Content-Type: text/plain\r\n\r\none\r\n--b2\r\n\r\n--b1--\r\n",
        "preamble\r\n--b1\r\nContent-Type: text/plain\r\ncontent-disposition: form-data; name=source\r\n\r\nen\r\n--b1" PART
        "file; filename=\"a b.txt\"\r\n\r\none\r\n--b2\r\n\r\n--b1" PART
        "\"other\"; filename=\"no\"\r\n\r\nno\r\n--b1--",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        assert_int_equal(read(TYPE, bodies[i], &o, &f, NULL), 0);
        assert_string_equal(dg_json_string(dg_json_get(o, "source"), NULL), "en");
        assert_null(dg_json_get(o, "file"));
        assert_string_equal(f.name, "a b.txt");
        assert_int_equal(f.n, strlen("one\r\n--b2\r\n"));
        assert_memory_equal(f.data, "one\r\n--b2\r\n", f.n);
        dg_json_free(o);
    }
    assert_int_equal(read("multipart/form-data; charset=x; boundary=\"a b\"",
                         "--a b" PART "\"x\"\r\n\r\n\r\n--a b--", &o, &f, NULL),
        0);
    assert_string_equal(dg_json_string(dg_json_get(o, "x"), NULL), "");
    assert_string_equal(f.name, "");
    dg_json_free(o);
}

/* A name that comes again has an array of its values, as in a form without files. */
static void repeated_fields(void **state)
{
    (void)state;
    struct dg_json *o;
    struct dg_multipart_file f;
    struct dg_buffer b;
    dg_buffer_init(&b);
    assert_int_equal(read(TYPE,
                         "--b1" PART "text\r\n\r\none\r\n--b1" PART "text\r\n\r\n\r\n--b1" PART
                         "to\r\n\r\nde\r\n--b1" PART "text\r\n\r\ntwo\r\n--b1--",
                         &o, &f, NULL),
        0);
    dg_json_write(o, 0, &b);
    assert_string_equal(b.data, "{\"text\":[\"one\",\"\",\"two\"],\"to\":\"de\"}");
    dg_buffer_deinit(&b);
    dg_json_free(o);
}

/* File names as clients write them: RFC 5987's takes precedence (.NET sends both); a form without a
 * chosen file has a part without a name. */
static void names_of_files(void **state)
{
    (void)state;
    static const struct {
        const char *parameters, *want;
    } cases[] = {
        {"filename=\"\"", ""},
        {"filename=\"dir/\"", ""},
        {"filename=\"=?utf-8?B?w6QudHh0?=\"; filename*=utf-8''%C3%A4%20b.txt", "\xC3\xA4 b.txt"},
        {"filename*=UTF-8'de'a%2Fb%22.txt", "b\".txt"},
        {"filename=\"a.txt\"; filename*=utf-8''%FF.txt", "a.txt"},
        {"filename=\"a.txt\"; filename*=latin1''b.txt", "a.txt"},
        {"filename=\"a.txt\"; filename*=utf-8''%0", "a.txt"},
        {"filename=\"a; filename*=utf-8''b.txt\"", "a; filename*=utf-8''b.txt"},
        {"filename=\"a\\\"; filename*=utf-8''b\"", "a\"; filename*=utf-8''b"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_json *o;
        struct dg_multipart_file f;
        char body[300];
        snprintf(
            body, sizeof body, "--b1" PART "file; %s\r\n\r\none\r\n--b1--", cases[i].parameters);
        assert_int_equal(read(TYPE, body, &o, &f, NULL), 0);
        assert_string_equal(f.name, cases[i].want);
        dg_json_free(o);
    }
}

static void refuse(const char *type, const char *body, int code)
{
    struct dg_json *o;
    struct dg_multipart_file f;
    struct dg_error err = {0};
    assert_int_equal(read(type, body, &o, &f, &err), code);
    assert_string_equal(err.field, "body");
    dg_json_free(o);
}

static void broken_forms(void **state)
{
    (void)state;
    refuse("multipart/form-data", "", DG_EINVAL);
    refuse("multipart/form-data; boundary=", "--", DG_EINVAL);
    refuse(TYPE, "", DG_EINVAL);
    refuse(TYPE, "--b1", DG_EINVAL);
    refuse(TYPE, "--b1\r\n", DG_EINVAL);
    refuse(TYPE, "--b1\r\n\r\n", DG_EINVAL);
    refuse(TYPE, "--b1" PART "a\r\n\r\nx", DG_EINVAL);
    refuse(TYPE, "--b1" PART "a\r\n\r\nx\r\n--b1", DG_EINVAL);
    refuse(TYPE, "--b1\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b1--", DG_EINVAL);
    refuse(TYPE, "--b1" PART "a\r\n\r\n\xFF\r\n--b1--", DG_EINVAL);
    refuse(TYPE, "--b1" PART "file; filename=\"\xFF\"\r\n\r\nx\r\n--b1--", DG_EINVAL);
    char many[8192] = "--b1";
    for (int i = 0; i < 65; i++)
        strcat(many, PART "a\r\n\r\n\r\n--b1");
    refuse(TYPE, many, DG_ELIMIT);
}

static void types(void **state)
{
    (void)state;
    assert_true(dg_multipart_is(TYPE) && dg_multipart_is("Multipart/Form-Data ;boundary=x"));
    assert_false(dg_multipart_is("multipart/form-dataset") || dg_multipart_is("text/plain") ||
                 dg_multipart_is(NULL) || dg_multipart_is(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_and_a_file),
        cmocka_unit_test(repeated_fields),
        cmocka_unit_test(names_of_files),
        cmocka_unit_test(broken_forms),
        cmocka_unit_test(types),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
