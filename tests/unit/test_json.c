#include "base/json.h"

#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* From jansson, declared here to make its allocations fail in turn; only json.c includes its
 * header. */
void json_set_alloc_funcs(void *(*malloc_fn)(size_t), void (*free_fn)(void *));

static struct dg_json *parse(const char *s)
{
    struct dg_error err = {0};
    struct dg_json *v = dg_json_parse(s, strlen(s), &err);
    if (!v)
        fail_msg("%s: %s", s, err.message);
    return v;
}

static void assert_writes(const struct dg_json *v, int indent, const char *expected)
{
    struct dg_buffer b;
    dg_buffer_init(&b);
    assert_int_equal(dg_json_write(v, indent, &b), 0);
    assert_string_equal(b.data, expected);
    dg_buffer_deinit(&b);
}

static void text_comes_back(void **state)
{
    (void)state;
    static const char *const texts[] = {"null", "true", "false", "0", "-7", "9223372036854775807",
        "\"\"", "\"ü€😀\"", "\"a\\u0000b\"", "\"\\\"\\\\\\n\"", "[]", "{}", "[1,[2,{\"a\":[]}]]",
        "{\"z\":1,\"a\":2,\"m\":{\"y\":3,\"b\":4}}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct dg_json *v = parse(texts[i]), *copy = dg_json_copy(v);
        assert_writes(v, 0, texts[i]);
        dg_json_free(v);
        assert_writes(copy, 0, texts[i]);
        dg_json_free(copy);
    }
}

/* Positions are in characters, lines and columns from 1, as in editors. */
static void bad_text_is_refused_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *place, *reason;
    } cases[] = {
        {"", "line 1 column 0:", "empty"},
        {"  ", "line 1 column", "end of file"},
        {"[1,2", "line 1 column 4:", "expected"},
        {"{\"a\":1,}", "line 1 column 8:", "expected"},
        {"[1]\n[2]", "line 2 column 1:", "end of file expected"},
        {"[1] x", "line 1 column 5:", "end of file expected"},
        {"{\"a\":1,\n \"a\":2}", "line 2 column 4:", "duplicate object key near '\"a\"'"},
        {"\"\xff\"", "line 1", "0xff"},
        {"\"\xc3\"", "line 1", "0xc3"},
        {"\"\xed\xa0\x80\"", "line 1", "0xed"}, /* a surrogate in UTF-8 */
        {"\"\xc0\xaf\"", "line 1", "0xc0"},     /* overlong */
        {"\"\\ud800\"", "line 1", "invalid Unicode"},
        {"\"a\nb\"", "line 1", "unexpected newline"},
        {"[1e999]", "line 1 column 6:", "real number overflow"},
        {"[99999999999999999999]", "line 1", "too big integer"},
        {"[01]", "line 1", "invalid token"},
        {"[NaN]", "line 1", "invalid token"},
        {"[+1]", "line 1", "invalid token"},
        {"{a:1}", "line 1", "expected"},
        {"{\"a\\u0000b\":1}", "line 1", "NUL byte in object key"},
        {"\xef\xbb\xbf[]", "line 1", "invalid token"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_error err = {0};
        assert_null(dg_json_parse(cases[i].text, strlen(cases[i].text), &err));
        assert_int_equal(err.code, DG_EINVAL);
        if (!strstr(err.message, cases[i].place) || !strstr(err.message, cases[i].reason))
            fail_msg("case %zu: got \"%s\"", i, err.message);
    }
}

/* User text must not reach a log through an error message. */
static void messages_do_not_quote_the_text(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{\"k\": secret}", "[\"secret", "[1] secret", "{\"secret\" 1}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct dg_error err = {0};
        assert_null(dg_json_parse(texts[i], strlen(texts[i]), &err));
        assert_null(strstr(err.message, "secret"));
    }
}

static void length_is_respected(void **state)
{
    (void)state;
    struct dg_error err = {0};
    struct dg_json *v = dg_json_parse("[1]garbage", 3, &err);
    assert_non_null(v);
    dg_json_free(v);
    assert_null(dg_json_parse("[1]\0", 4, &err)); /* a NUL behind is a trailing byte too */
    dg_error_clear(&err);
    assert_null(dg_json_parse(NULL, 0, &err));
    assert_int_equal(err.code, DG_EINVAL);
}

static void nested(char *out, const char *open, const char *inner, const char *close, int depth)
{
    out[0] = '\0';
    for (int i = 0; i < depth; i++)
        strcat(out, open);
    strcat(out, inner);
    for (int i = 0; i < depth; i++)
        strcat(out, close);
}

static void depth_64_is_the_limit(void **state)
{
    (void)state;
    static const char *const opens[] = {"[", "{\"a\":", "\n["}, *const closes[] = {"]", "}", "]"};
    char text[2000];
    for (size_t i = 0; i < 3; i++) {
        struct dg_error err = {0};
        nested(text, opens[i], "1", closes[i], 64);
        dg_json_free(parse(text));
        nested(text, opens[i], "1", closes[i], 65);
        assert_null(dg_json_parse(text, strlen(text), &err));
        assert_int_equal(err.code, DG_EINVAL);
        assert_non_null(strstr(err.message, "nested deeper than 64"));
        if (i == 2)
            assert_non_null(strstr(err.message, "line 66 column 1:"));
    }
    /* Brackets in strings, also after escaped quotes, are text; siblings do not add up. */
    char brackets[200];
    memset(brackets, '[', 100);
    strcpy(brackets + 100, "\\\"{{{{");
    snprintf(text, sizeof text, "[\"%s\",\"\\\\\",\"%s\"]", brackets, brackets);
    dg_json_free(parse(text));
    char *wide = calloc(1, 3 * 1000 + 3);
    wide[0] = '[';
    for (int i = 0; i < 1000; i++)
        strcpy(wide + 1 + 3 * i, "[],");
    strcpy(wide + 3000, "]");
    dg_json_free(parse(wide));
    free(wide);
}

static void reals_have_nine_digits_and_stay_reals(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{1.0, "1.0"}, {0.0, "0.0"}, {0.1, "0.1"}, {-2.5, "-2.5"}, {1.0 / 3, "0.333333333"},
        {100000.0, "100000.0"}, {123456789.0, "123456789.0"}, {1e20, "1e20"}, {1.5e-7, "1.5e-7"},
        {-0.0, "-0.0"}, {HUGE_VAL, "null"}, {-HUGE_VAL, "null"}, {(double)NAN, "null"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_json *v = dg_json_new_real(cases[i].value);
        assert_writes(v, 0, cases[i].text);
        dg_json_free(v);
    }
    uint32_t bits = 1;
    for (int i = 0; i < 20000; i++) {
        bits = bits * 1664525u + 1013904223u;
        float f, back;
        memcpy(&f, &bits, sizeof f);
        if (!isfinite(f))
            continue;
        struct dg_buffer b;
        struct dg_json *v = dg_json_new_real((double)f);
        dg_buffer_init(&b);
        assert_int_equal(dg_json_write(v, 0, &b), 0);
        dg_json_free(v);
        v = parse(b.data);
        assert_int_equal(dg_json_typeof(v), DG_JSON_REAL);
        back = (float)dg_json_number(v);
        assert_memory_equal(&back, &f, sizeof f); /* every float comes back as itself */
        dg_json_free(v);
        dg_buffer_deinit(&b);
    }
}

static void getters_read_and_forgive(void **state)
{
    (void)state;
    struct dg_json *v = parse("{\"s\":\"ü\",\"i\":-3,\"r\":2.5,\"b\":true,\"n\":null,\"a\":[1,"
                              "\"x\"],\"z\":\"a\\u0000b\"}");
    size_t n = 0;
    assert_string_equal(dg_json_string(dg_json_get(v, "s"), &n), "ü");
    assert_int_equal(n, 2);
    assert_memory_equal(dg_json_string(dg_json_get(v, "z"), &n), "a\0b", 4);
    assert_int_equal(n, 3);
    assert_null(dg_json_string(dg_json_get(v, "z"), NULL));
    assert_null(dg_json_string(dg_json_get(v, "i"), &n));
    assert_int_equal(dg_json_int(dg_json_get(v, "i")), -3);
    assert_int_equal(dg_json_int(dg_json_get(v, "r")), 0);
    assert_true(dg_json_number(dg_json_get(v, "r")) == 2.5);
    assert_true(dg_json_number(dg_json_get(v, "i")) == -3.0);
    assert_true(dg_json_bool(dg_json_get(v, "b")));
    assert_false(dg_json_bool(dg_json_get(v, "i")));
    assert_int_equal(dg_json_length(v), 7);
    assert_int_equal(dg_json_length(dg_json_get(v, "a")), 2);
    assert_int_equal(dg_json_length(dg_json_get(v, "s")), 0);
    assert_string_equal(dg_json_string(dg_json_at(dg_json_get(v, "a"), 1), NULL), "x");
    assert_null(dg_json_at(dg_json_get(v, "a"), 2));
    assert_null(dg_json_at(v, 0));
    assert_null(dg_json_get(v, "missing"));
    assert_null(dg_json_get(NULL, "s"));
    assert_null(dg_json_get(dg_json_get(v, "a"), "s"));
    assert_int_equal(dg_json_length(NULL), 0);
    assert_int_equal(dg_json_typeof(NULL), DG_JSON_NULL);
    assert_int_equal(dg_json_typeof(dg_json_get(v, "n")), DG_JSON_NULL);
    const char *expected = "sirbnaz", *key = NULL;
    for (; (key = dg_json_next_key(v, key)); expected++) {
        assert_int_equal(key[0], *expected);
        assert_int_equal(key[1], '\0');
    }
    assert_int_equal(*expected, '\0');
    assert_null(dg_json_next_key(v, "no such key"));
    assert_null(dg_json_next_key(NULL, NULL));
    dg_json_free(v);
    dg_json_free(NULL);
}

static void building_refuses_what_json_cannot_hold(void **state)
{
    (void)state;
    struct dg_json *o = dg_json_new_object(), *a = dg_json_new_array();
    assert_null(dg_json_new_string("\xff", 1));
    assert_null(dg_json_new_string("\xe2\x82", 2));
    assert_int_equal(dg_json_set_string(o, "k", "\xff"), -1);
    assert_int_equal(dg_json_set_string(o, "k", NULL), -1);
    assert_int_equal(dg_json_set_int(o, "\xff", 1), -1);
    assert_int_equal(dg_json_set_int(NULL, "k", 1), -1);
    assert_int_equal(dg_json_set_take(a, "k", dg_json_new_int(1)), -1);
    assert_int_equal(dg_json_set_take(o, "k", NULL), -1);
    assert_int_equal(dg_json_append_take(NULL, dg_json_new_int(1)), -1);
    assert_int_equal(dg_json_append_take(a, NULL), -1);
    assert_int_equal(dg_json_append_take(o, dg_json_new_int(1)), -1);
    struct dg_buffer b;
    dg_buffer_init(&b);
    assert_int_equal(dg_json_write(NULL, 0, &b), -1);
    dg_buffer_deinit(&b);
    assert_writes(o, 0, "{}");
    assert_writes(a, 0, "[]");
    dg_json_free(a);
    dg_json_free(o);
}

static void built_values_are_written_in_order(void **state)
{
    (void)state;
    struct dg_json *o = dg_json_new_object(), *a = dg_json_new_array();
    assert_int_equal(dg_json_set_string(o, "text", "Größe"), 0);
    assert_int_equal(dg_json_set_int(o, "n", INT64_MIN), 0);
    assert_int_equal(dg_json_set_real(o, "score", -0.25), 0);
    assert_int_equal(dg_json_set_bool(o, "ok", false), 0);
    assert_int_equal(dg_json_append_take(a, dg_json_new_null()), 0);
    assert_int_equal(dg_json_append_take(a, dg_json_new_string("a\0b", 3)), 0);
    assert_int_equal(dg_json_append_take(a, dg_json_new_string(NULL, 0)), 0);
    assert_int_equal(dg_json_set_take(o, "list", a), 0);
    assert_int_equal(dg_json_set_int(o, "n", 2), 0); /* replaced in its place */
    assert_writes(o, 0,
        "{\"text\":\"Größe\",\"n\":2,\"score\":-0.25,\"ok\":false,\"list\":[null,\"a\\u0000b\","
        "\"\"]}");
    assert_writes(dg_json_get(o, "list"), 2, "[\n  null,\n  \"a\\u0000b\",\n  \"\"\n]");
    struct dg_buffer b;
    dg_buffer_init(&b);
    dg_buffer_adds(&b, "before ");
    assert_int_equal(dg_json_write(dg_json_get(o, "n"), 0, &b), 0);
    assert_string_equal(b.data, "before 2"); /* appended */
    b.failed = true;
    assert_int_equal(dg_json_write(o, 0, &b), -1);
    dg_buffer_deinit(&b);
    dg_json_free(o);
}

static void detached_values_outlive_their_object(void **state)
{
    (void)state;
    struct dg_json *o = dg_json_parse("{\"a\":[1],\"b\":2}", 15, NULL);
    struct dg_json *a = dg_json_detach(o, "a");
    assert_null(dg_json_detach(o, "a"));
    assert_int_equal(dg_json_length(o), 1);
    dg_json_free(o);
    assert_int_equal(dg_json_int(dg_json_at(a, 0)), 1);
    dg_json_free(a);
}

static void load_names_the_file(void **state)
{
    (void)state;
    char path[] = "/tmp/test_json_XXXXXX";
    close(mkstemp(path));
    struct dg_error err = {0};
    assert_int_equal(dg_file_write(path, "{\"a\":[1,2]}\n", 12, &err), 0);
    struct dg_json *v = dg_json_load(path, &err);
    assert_int_equal(dg_json_length(dg_json_get(v, "a")), 2);
    dg_json_free(v);
    assert_int_equal(dg_file_write(path, "\xEF\xBB\xBF{\"a\":[1]}", 12, &err), 0);
    v = dg_json_load(path, &err); /* an editor's byte order mark */
    assert_int_equal(dg_json_length(dg_json_get(v, "a")), 1);
    assert_int_equal(dg_json_save(path, v, &err), 0);
    struct dg_json *saved = dg_json_load(path, &err);
    assert_true(dg_json_same(saved, v));
    dg_json_free(saved);
    dg_json_free(v);
    assert_int_equal(dg_json_save(path, NULL, &err), DG_ENOMEM);
    dg_error_clear(&err);
    assert_int_equal(dg_file_write(path, "{\n\"a\" 1}", 8, &err), 0);
    assert_null(dg_json_load(path, &err));
    assert_int_equal(err.code, DG_EFORMAT);
    assert_memory_equal(err.message, path, strlen(path));
    assert_non_null(strstr(err.message, ": line 2 column 5: "));
    dg_error_clear(&err);
    assert_int_equal(dg_file_write(path, "", 0, &err), 0);
    assert_null(dg_json_load(path, &err));
    assert_int_equal(err.code, DG_EFORMAT);
    unlink(path);
    dg_error_clear(&err);
    assert_null(dg_json_load(path, &err));
    assert_int_equal(err.code, DG_ENOTFOUND);
}

static int allowed_allocations;

static void *counted_malloc(size_t n)
{
    return allowed_allocations-- > 0 ? malloc(n) : NULL;
}

/* Every allocation fails in turn. LeakSanitizer finds leaks; the message must name memory. */
static void out_of_memory_leaks_nothing(void **state)
{
    (void)state;
    static const char text[] =
        "{\"a\":[1,2.5,\"text\",{\"b\":null}],\"c\":{\"d\":true,\"e\":[[],{}]}}";
    json_set_alloc_funcs(counted_malloc, free);
    int n = 0;
    bool parsed = false;
    for (; !parsed && n < 1000; n++) {
        struct dg_error err = {0};
        allowed_allocations = n;
        struct dg_json *v = dg_json_parse(text, sizeof text - 1, &err);
        parsed = v != NULL;
        if (!v)
            assert_true(err.code != DG_OK && err.message[0]);
        dg_json_free(v);
    }
    assert_true(parsed && n > 20);
    bool built = false;
    for (n = 0; !built && n < 1000; n++) {
        allowed_allocations = n;
        struct dg_json *o = dg_json_new_object(), *a = dg_json_new_array(), *copy;
        built = dg_json_append_take(a, dg_json_new_string("x", 1)) == 0;
        built &= dg_json_set_take(o, "a", a) == 0;
        built &= dg_json_set_string(o, "s", "text") == 0;
        built &= dg_json_set_real(o, "r", 1.5) == 0;
        built &= (copy = dg_json_copy(o)) != NULL;
        dg_json_free(copy);
        dg_json_free(o);
    }
    json_set_alloc_funcs(malloc, free);
    assert_true(built && n > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_comes_back),
        cmocka_unit_test(bad_text_is_refused_with_its_place),
        cmocka_unit_test(messages_do_not_quote_the_text),
        cmocka_unit_test(length_is_respected),
        cmocka_unit_test(depth_64_is_the_limit),
        cmocka_unit_test(reals_have_nine_digits_and_stay_reals),
        cmocka_unit_test(getters_read_and_forgive),
        cmocka_unit_test(building_refuses_what_json_cannot_hold),
        cmocka_unit_test(built_values_are_written_in_order),
        cmocka_unit_test(detached_values_outlive_their_object),
        cmocka_unit_test(load_names_the_file),
        cmocka_unit_test(out_of_memory_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
