#include "base/buffer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/no_memory.h"

#include <stdlib.h>
#include <string.h>

static void bytes_are_kept_in_order(void **state)
{
    (void)state;
    struct dg_buffer b;
    dg_buffer_init(&b);
    assert_null(b.data);
    for (int i = 0; i < 1000; i++) {
        dg_buffer_add(&b, "a\0b", 3);
        dg_buffer_adds(&b, "cd");
    }
    assert_false(b.failed);
    assert_int_equal(b.len, 5000);
    for (int i = 0; i < 1000; i++)
        assert_memory_equal(b.data + i * 5, "a\0bcd", 5);
    assert_int_equal(b.data[b.len], '\0');
    dg_buffer_deinit(&b);
    assert_null(b.data);
}

/* Every length around the doublings: there must be room for the NUL. */
static void nul_stands_behind_every_length(void **state)
{
    (void)state;
    char text[600];
    memset(text, 'x', sizeof text);
    for (size_t n = 0; n < sizeof text; n++) {
        struct dg_buffer b;
        dg_buffer_init(&b);
        dg_buffer_add(&b, text, n);
        assert_int_equal(strlen(b.data), n);
        dg_buffer_deinit(&b);
        dg_buffer_addf(&b, "%.*s", (int)n, text);
        assert_int_equal(strlen(b.data), n);
        assert_int_equal(b.len, n);
        dg_buffer_deinit(&b);
    }
}

static void format_appends(void **state)
{
    (void)state;
    struct dg_buffer b;
    dg_buffer_init(&b);
    dg_buffer_addf(&b, "%d+%s", 12, "ü");
    dg_buffer_addf(&b, "=%05.1f", 2.25);
    assert_string_equal(b.data, "12+ü=002.2");
    dg_buffer_deinit(&b);
}

/* The first attempt writes into the room that there is. */
static void format_that_fails_leaves_the_text(void **state)
{
    (void)state;
    struct dg_buffer b;
    static const wchar_t no_character[] = {0x7FFFFFFF, 0};
    dg_buffer_init(&b);
    dg_buffer_adds(&b, "kept");
    dg_buffer_addf(&b, "lost%ls", no_character);
    assert_true(b.failed);
    assert_int_equal(b.len, 4);
    assert_string_equal(b.data, "kept");
    dg_buffer_deinit(&b);
}

static void impossible_size_fails_and_stays_failed(void **state)
{
    (void)state;
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 2 - 100, SIZE_MAX / 4};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct dg_buffer b;
        volatile size_t n = sizes[i]; /* hides the size from the compiler's own warning */
        dg_buffer_init(&b);
        dg_buffer_adds(&b, "kept");
        dg_buffer_add(&b, "x", n);
        assert_true(b.failed);
        dg_buffer_adds(&b, "dropped");
        dg_buffer_addf(&b, "%d", 1);
        assert_string_equal(b.data, "kept");
        size_t len = 99;
        assert_null(dg_buffer_take(&b, &len));
        assert_int_equal(len, 0);
        assert_null(b.data);
        assert_false(b.failed);
        dg_buffer_deinit(&b);
    }
}

static void reset_forgets_text_and_failure(void **state)
{
    (void)state;
    struct dg_buffer b;
    volatile size_t huge = SIZE_MAX;
    dg_buffer_init(&b);
    dg_buffer_reset(&b);
    dg_buffer_adds(&b, "abc");
    dg_buffer_add(&b, "x", huge);
    const char *memory = b.data;
    dg_buffer_reset(&b);
    assert_false(b.failed);
    assert_int_equal(b.len, 0);
    assert_string_equal(b.data, "");
    dg_buffer_adds(&b, "de");
    assert_ptr_equal(b.data, memory);
    assert_string_equal(b.data, "de");
    dg_buffer_deinit(&b);
}

static void take_hands_over(void **state)
{
    (void)state;
    struct dg_buffer b;
    size_t len = 99;
    dg_buffer_init(&b);
    char *empty = dg_buffer_take(&b, &len);
    assert_string_equal(empty, "");
    assert_int_equal(len, 0);
    free(empty);
    dg_buffer_adds(&b, "abc");
    char *p = dg_buffer_take(&b, &len);
    assert_string_equal(p, "abc");
    assert_int_equal(len, 3);
    assert_null(b.data);
    assert_int_equal(b.cap, 0);
    free(p);
    dg_buffer_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_kept_in_order),
        cmocka_unit_test(nul_stands_behind_every_length),
        cmocka_unit_test(format_appends),
        cmocka_unit_test(format_that_fails_leaves_the_text),
        cmocka_unit_test(impossible_size_fails_and_stays_failed),
        cmocka_unit_test(reset_forgets_text_and_failure),
        cmocka_unit_test(take_hands_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
