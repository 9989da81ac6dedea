/* An allocation succeeds or ends the program: the message and the exit code. */
#include "base/alloc.h"
#include "tests/sanitized.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void memory_is_zero_and_grows(void **state)
{
    (void)state;
    int *p = dg_alloc(3, sizeof *p, "numbers");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(p[i], 0);
        p[i] = i + 1;
    }
    p = dg_alloc_more(p, 1000, sizeof *p, "numbers");
    for (int i = 0; i < 3; i++)
        assert_int_equal(p[i], i + 1);
    p = dg_alloc_more(p, 0, sizeof *p, "numbers");
    assert_non_null(p);
    free(p);
    void *none = dg_alloc(0, 8, "nothing");
    assert_non_null(none);
    free(none);
    char *s = dg_alloc_string("as it is");
    assert_string_equal(s, "as it is");
    free(s);
    s = dg_alloc_print("%s-%d.part", "text", 7);
    assert_string_equal(s, "text-7.part");
    free(s);
    s = dg_alloc_path("a/b", "c.json");
    assert_string_equal(s, "a/b/c.json");
    free(s);
    dg_alloc_check(true, "what is there");
}

static void an_array_grows(void **state)
{
    (void)state;
    size_t cap = 0, moves = 0;
    int *p = NULL;
    for (int i = 0; i < 1000; i++) {
        const size_t before = cap;
        p = dg_alloc_grow(p, (size_t)i + 1, &cap, sizeof *p, "numbers");
        moves += cap != before;
        p[i] = i;
    }
    for (int i = 0; i < 1000; i++)
        assert_int_equal(p[i], i);
    assert_true(cap >= 1000 && cap <= 2000 && moves < 6);
    p = dg_alloc_grow(p, 10 * cap, &cap, sizeof *p, "numbers");
    assert_int_equal(p[999], 999);
    free(p);
    cap = 0;
    p = dg_alloc_grow(NULL, 0, &cap, sizeof *p, "numbers");
    assert_non_null(p);
    free(p);
}

/* Returns a child's stderr before it ends with exit code 1. */
static const char *last_words(void (*child)(void), char out[256])
{
    int ends[2], status = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        dup2(ends[1], 2);
        child();
        _exit(0);
    }
    close(ends[1]);
    size_t n = 0;
    for (ssize_t got; n < 255 && (got = read(ends[0], out + n, 255 - n)) > 0;)
        n += (size_t)got;
    out[n] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    return out;
}

#if !SANITIZED
/* More than the address space; not a constant, so that compilers do not warn. */
static volatile size_t too_many = (size_t)1 << 60;

static void too_much(void)
{
    dg_alloc(too_many, 1, "a giant");
}

static void product_overflows(void)
{
    dg_alloc(too_many, 64, "a giant");
}

static void too_much_more(void)
{
    dg_alloc_more(NULL, too_many, 64, "a giant");
}
#endif

static void not_there(void)
{
    dg_alloc_check(false, "a path");
}

static void without_memory_the_program_ends(void **state)
{
    char text[256];
    (void)state;
#if !SANITIZED /* a sanitizer's malloc ends the process first */
    assert_string_equal(last_words(too_much, text),
        "test_alloc: out of memory: 1152921504606846976 bytes for a giant\n");
    assert_non_null(strstr(last_words(product_overflows, text), "bytes for a giant\n"));
    assert_non_null(strstr(last_words(too_much_more, text), "bytes for a giant\n"));
#endif
    assert_string_equal(last_words(not_there, text), "test_alloc: out of memory for a path\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zero_and_grows),
        cmocka_unit_test(an_array_grows),
        cmocka_unit_test(without_memory_the_program_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
