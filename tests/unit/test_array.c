/* Lists that grow: elements stay, and room that memory cannot have is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/array.h"

static void grows(void **state)
{
    int *list = NULL;
    size_t n = 0, cap = 0;
    (void)state;
    for (int i = 0; i < 100; i++) {
        int *more = dg_array_grow(list, n, &cap, sizeof *more);
        assert_non_null(more);
        assert_true(cap > n);
        list = more;
        list[n++] = i;
    }
    for (int i = 0; i < 100; i++)
        assert_int_equal(list[i], i);
    free(list);
}

static void refuses_more_than_there_is(void **state)
{
    char none;
    size_t cap = SIZE_MAX / 4;
    (void)state;
    assert_null(dg_array_grow(&none, cap, &cap, 8));
    assert_int_equal(cap, SIZE_MAX / 4);
    assert_ptr_equal(dg_array_grow(&none, cap - 1, &cap, 8), &none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows), cmocka_unit_test(refuses_more_than_there_is)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
