#include "base/arena.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

static void memory_is_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    struct dg_arena a;
    dg_arena_init(&a, 0);
    unsigned char *before = NULL;
    for (size_t n = 0; n < 3000; n++) {
        unsigned char *p = dg_arena_alloc(&a, n);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        assert_ptr_not_equal(p, before);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xEE, n);
        before = p;
    }
    dg_arena_deinit(&a);
}

static void memory_is_zeroed_again_after_reset(void **state)
{
    (void)state;
    struct dg_arena a;
    dg_arena_init(&a, 0);
    unsigned char *first = dg_arena_alloc(&a, 1000);
    memset(first, 0xEE, 1000);
    assert_non_null(dg_arena_alloc(&a, 100000));
    dg_arena_reset(&a);
    assert_int_equal(a.used_bytes, 0);
    unsigned char *again = dg_arena_alloc(&a, 1000);
    assert_ptr_equal(again, first); /* the block was kept */
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(again[i], 0);
    dg_arena_deinit(&a);
    dg_arena_deinit(&a); /* twice is fine */
}

/* Short texts wait by the thousand, each with an arena, so the first block must be small. */
static void blocks_grow_and_are_counted(void **state)
{
    (void)state;
    struct dg_arena a;
    dg_arena_init(&a, 0);
    assert_int_equal(a.held_bytes, 0);
    assert_non_null(dg_arena_alloc(&a, 100));
    assert_in_range(a.held_bytes, 2048, 2200);
    for (int i = 0; i < 1000; i++) {
        assert_non_null(dg_arena_alloc(&a, 100));
        assert_in_range(a.held_bytes, a.used_bytes, 2 * a.used_bytes + 17000);
    }
    const size_t before = a.held_bytes;
    assert_non_null(dg_arena_alloc(&a, 100000));
    assert_in_range(a.held_bytes, before + 100000, before + 100100);
    dg_arena_reset(&a);
    assert_in_range(a.held_bytes, 2048, 16500); /* the one block that is kept */
    dg_arena_deinit(&a);
    assert_int_equal(a.held_bytes, 0);
}

static void limit_counts_rounded_bytes_and_frees_on_reset(void **state)
{
    (void)state;
    struct dg_arena a;
    dg_arena_init(&a, 64);
    assert_non_null(dg_arena_alloc(&a, 17)); /* 32 */
    assert_non_null(dg_arena_alloc(&a, 32));
    assert_int_equal(a.used_bytes, 64);
    assert_null(dg_arena_alloc(&a, 1));
    assert_null(dg_arena_alloc(&a, 0)); /* even an empty block needs an address of its own */
    assert_int_equal(a.used_bytes, 64);
    dg_arena_reset(&a);
    assert_non_null(dg_arena_alloc(&a, 64));
    dg_arena_deinit(&a);
}

static void sizes_that_wrap_are_refused(void **state)
{
    (void)state;
    struct dg_arena a;
    dg_arena_init(&a, 0);
    assert_null(dg_arena_alloc(&a, SIZE_MAX));
    assert_null(dg_arena_alloc(&a, SIZE_MAX - 7));
    assert_null(dg_arena_array(&a, SIZE_MAX / 2, 3));
    assert_null(dg_arena_array(&a, (size_t)1 << 33, (size_t)1 << 33));
    assert_null(dg_arena_strndup(&a, "x", SIZE_MAX));
    assert_int_equal(a.used_bytes, 0);
    assert_non_null(dg_arena_array(&a, 0, 8));
    assert_non_null(dg_arena_array(&a, 8, 0));
    dg_arena_deinit(&a);
}

static void large_pieces_do_not_waste_the_block(void **state)
{
    (void)state;
    struct dg_arena a;
    dg_arena_init(&a, 0);
    char *p = dg_arena_alloc(&a, 16);
    assert_non_null(dg_arena_alloc(&a, 1 << 20));
    assert_ptr_equal(dg_arena_alloc(&a, 16), p + 16);
    dg_arena_deinit(&a);
}

static void strings_are_copied_and_ended(void **state)
{
    (void)state;
    struct dg_arena a;
    dg_arena_init(&a, 0);
    assert_string_equal(dg_arena_strndup(&a, "dragoman", 6), "dragom");
    assert_string_equal(dg_arena_strdup(&a, "dragoman"), "dragoman");
    assert_string_equal(dg_arena_strndup(&a, NULL, 0), "");
    assert_memory_equal(dg_arena_strndup(&a, "a\0b", 3), "a\0b", 4);
    dg_arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_aligned_and_apart),
        cmocka_unit_test(memory_is_zeroed_again_after_reset),
        cmocka_unit_test(blocks_grow_and_are_counted),
        cmocka_unit_test(limit_counts_rounded_bytes_and_frees_on_reset),
        cmocka_unit_test(sizes_that_wrap_are_refused),
        cmocka_unit_test(large_pieces_do_not_waste_the_block),
        cmocka_unit_test(strings_are_copied_and_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
