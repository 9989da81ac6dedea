/* Parsing JSON when memory runs out: each allocation fails in turn, alone or with all after it.
 * jansson alone would then drop characters from strings, read beyond its buffer, or end the
 * process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/json.h"
#include "tests/sanitized.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#if SANITIZED
int main(void)
{
    return 0; /* a sanitizer has an allocator of its own */
}
#else

void *__libc_malloc(size_t n);
void *__libc_realloc(void *p, size_t n);
void __libc_free(void *p);

static size_t countdown; /* 1: the next malloc fails; 0: none does */
static bool for_good;    /* all later ones fail, too */
static size_t failures;  /* so far */
static long live;        /* allocated blocks */

void *malloc(size_t n)
{
    if (countdown && --countdown == 0) {
        countdown = for_good;
        failures++;
        errno = ENOMEM;
        return NULL;
    }
    live++;
    return __libc_malloc(n);
}

void *realloc(void *p, size_t n)
{
    live += p == NULL;
    return __libc_realloc(p, n);
}

void free(void *p)
{
    live -= p != NULL;
    __libc_free(p);
}

/* Returns the number of blocks once the thread has its own for parsing. */
static long settled(void)
{
    struct dg_error err = {0};
    struct dg_json *v = dg_json_parse("1", 1, &err);
    assert_non_null(v);
    dg_json_free(v);
    return live;
}

/* Parses the text with allocation `at` failing; returns whether there was such an allocation. */
static bool parse(const char *text, size_t at, bool all)
{
    const long before = settled();
    struct dg_error err = {0};
    for_good = all;
    failures = 0;
    countdown = at;
    struct dg_json *v = dg_json_parse(text, strlen(text), &err);
    const bool failed = failures > 0;
    countdown = 0;
    if (failed) {
        assert_null(v);
        assert_int_equal(err.code, DG_ENOMEM);
    } else {
        struct dg_buffer b;
        dg_buffer_init(&b);
        assert_int_equal(dg_json_write(v, 0, &b), 0);
        assert_string_equal(b.data, text);
        dg_buffer_deinit(&b);
    }
    dg_json_free(v);
    assert_int_equal(settled(), before);
    return failed;
}

static void each_fails(const char *text)
{
    for (int all = 0; all < 2; all++) {
        size_t at = 1;
        while (parse(text, at, all))
            at++;
        assert_true(at > 3);
    }
}

/* The thread's block, which the first text allocates and later ones reuse. */
static void test_no_block(void **state)
{
    struct dg_error err = {0};
    (void)state;
    for_good = false;
    failures = 0;
    countdown = 1;
    assert_null(dg_json_parse("[1]", 3, &err));
    assert_int_equal(failures, 1);
    assert_int_equal(err.code, DG_ENOMEM);
}

static void test_values(void **state)
{
    (void)state;
    each_fails("{\"a\":[1,2.5,true,null,\"x\"]}");
    each_fails("[{},{},[],[[]],{\"b\":{\"c\":{}}}]");
}

/* Tokens longer than jansson's first buffer. */
static void test_tokens(void **state)
{
    static const char text[] =
        "{\"de935cb2e4c7728cd637751902f2e9f88a9547ddcfd54176d5df83bfe365fb1\":"
        "[1234567890123456789,12345678901234567,\"0123456789abcdef\",\"0123456789abcd\xC3\xA4 and "
        "more than that, so that it is doubled twice and once more: 0123456789012345678901234\"]}";
    (void)state;
    each_fails(text);
}

/* A long text: after the failure jansson is given no more of it, so no more values are made. */
static void test_long(void **state)
{
    enum { N = 20000 };
    static char text[3 * N + 3];
    struct dg_error err = {0};
    (void)state;
    text[0] = '[';
    for (size_t i = 0; i < N; i++)
        memcpy(text + 1 + 3 * i, "{},", 3);
    memcpy(text + 3 * N, "]", 2);
    for (size_t at = 1; at < 60; at++) {
        const long before = settled();
        for_good = true;
        countdown = at * at;
        assert_null(dg_json_parse(text, strlen(text), &err));
        countdown = 0;
        assert_int_equal(err.code, DG_ENOMEM);
        assert_int_equal(settled(), before);
        err = (struct dg_error){0};
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_block),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_tokens),
        cmocka_unit_test(test_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
