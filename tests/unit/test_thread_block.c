#include "base/thread_block.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static void a_block_is_kept(void **state)
{
    (void)state;
    void *first = dg_thread_block_take(DG_THREAD_BLOCK_JSON, 100000);
    assert_non_null(first);
    memset(first, 1, 100000);
    dg_thread_block_give(DG_THREAD_BLOCK_JSON, first);
    void *again = dg_thread_block_take(DG_THREAD_BLOCK_JSON, 120000);
    assert_ptr_equal(again, first); /* sizes are rounded up */
    void *other = dg_thread_block_take(DG_THREAD_BLOCK_SPM, 100000);
    assert_ptr_not_equal(other, first);
    dg_thread_block_give(DG_THREAD_BLOCK_JSON, again);
    dg_thread_block_give(DG_THREAD_BLOCK_SPM, other);
}

static void a_larger_one_takes_its_place(void **state)
{
    (void)state;
    dg_thread_block_give(DG_THREAD_BLOCK_JSON, dg_thread_block_take(DG_THREAD_BLOCK_JSON, 1000));
    char *larger = dg_thread_block_take(DG_THREAD_BLOCK_JSON, DG_THREAD_BLOCK_KEPT);
    assert_non_null(larger);
    memset(larger, 1, DG_THREAD_BLOCK_KEPT);
    dg_thread_block_give(DG_THREAD_BLOCK_JSON, larger);
    assert_ptr_equal(dg_thread_block_take(DG_THREAD_BLOCK_JSON, 1), larger);
    dg_thread_block_give(DG_THREAD_BLOCK_JSON, larger);
}

/* The sanitizer presets' leak checker sees whether these are freed. */
static void a_very_large_one_is_not_kept(void **state)
{
    (void)state;
    dg_thread_block_give(DG_THREAD_BLOCK_SPM,
        dg_thread_block_take(DG_THREAD_BLOCK_SPM, 4 * (size_t)DG_THREAD_BLOCK_KEPT));
    assert_null(dg_thread_block_take(DG_THREAD_BLOCK_SPM, SIZE_MAX));
    dg_thread_block_give(DG_THREAD_BLOCK_SPM, NULL);
}

static void *use(void *mine)
{
    void *block = dg_thread_block_take(DG_THREAD_BLOCK_SPM, 1000);
    *(void **)mine = block;
    dg_thread_block_give(DG_THREAD_BLOCK_SPM, block);
    return NULL;
}

static void threads_have_their_own(void **state)
{
    (void)state;
    pthread_t thread;
    void *theirs = NULL;
    void *mine = dg_thread_block_take(DG_THREAD_BLOCK_SPM, 1000);
    assert_int_equal(pthread_create(&thread, NULL, use, &theirs), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_non_null(theirs);
    assert_ptr_not_equal(theirs, mine);
    dg_thread_block_give(DG_THREAD_BLOCK_SPM, mine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_is_kept),
        cmocka_unit_test(a_larger_one_takes_its_place),
        cmocka_unit_test(a_very_large_one_is_not_kept),
        cmocka_unit_test(threads_have_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
