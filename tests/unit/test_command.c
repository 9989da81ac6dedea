/* base/command.h: how many tables of options a command may have. The programs' tests
 * (test_cli_options.py) check what the tables do. */
#include "base/command.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct dg_field row[] = {{"depth", DG_FIELD_BOOL, 0, sizeof(bool), .help = "x"}};

static int read_with(size_t n_groups)
{
    struct dg_fields groups[DG_COMMAND_GROUPS + 4];
    bool depth = false;
    for (size_t g = 0; g < DG_COMMAND_GROUPS + 4; g++)
        groups[g] = (struct dg_fields){row, 1, &depth, NULL, NULL};
    const struct dg_command c = {
        .name = "test", .usage = "usage: test\n", .groups = groups, .n_groups = n_groups};
    char *argv[] = {"test", "--depth", NULL};
    const int status = dg_command_read(&c, 2, argv, NULL);
    assert_int_equal(depth, status == -1);
    return status;
}

/* The last place is for --help. */
static void test_tables_have_room(void **state)
{
    (void)state;
    assert_int_equal(read_with(1), -1);
    assert_int_equal(read_with(DG_COMMAND_GROUPS - 1), -1);
}

static void test_too_many_tables_are_refused(void **state)
{
    (void)state;
    assert_int_equal(read_with(DG_COMMAND_GROUPS), DG_COMMAND_BROKEN);
    assert_int_equal(read_with(DG_COMMAND_GROUPS + 4), DG_COMMAND_BROKEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables_have_room),
        cmocka_unit_test(test_too_many_tables_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
