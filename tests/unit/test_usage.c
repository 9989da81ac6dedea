/* When a client counts as alone, and what the others may have waiting beside it. */
#include "server/schedule/usage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define S UINT64_C(1000000000)
#define START (3600 * S) /* the machine's clock when the server starts */
#define A 7
#define B 8
#define C 9

static struct dg_usage_table table;

static int begin(void **state)
{
    (void)state;
    memset(&table, 0, sizeof table);
    return 0;
}

/* The client submits work of 10, which waits from now on. */
static void come(uint64_t client, uint64_t now)
{
    dg_usage_come(&table, client, 10, now);
    dg_usage_wait(&table, client, DG_CLASS_INTERACTIVE, 10);
}

/* True if the client may have 10 more although less is left: only one that is alone may. */
static bool may_use_all(uint64_t client, uint64_t now)
{
    return dg_usage_fits(&table, client, DG_CLASS_INTERACTIVE, 10, 10, now);
}

static void the_first_client_is_alone(void **state)
{
    (void)state;
    come(A, START);
    assert_true(may_use_all(A, START));
    assert_false(dg_usage_is_first(&table, A, DG_CLASS_INTERACTIVE, START));
    come(A, START + S);
    assert_true(may_use_all(A, START + S));
}

static void a_client_is_alone_ten_seconds_after_the_others(void **state)
{
    (void)state;
    come(A, START);
    assert_true(
        dg_usage_is_first(&table, B, DG_CLASS_INTERACTIVE, START + 9 * S)); /* A came before it */
    come(B, START + 9 * S);
    assert_false(may_use_all(B, START + 9 * S));
    assert_false(may_use_all(A, START + 18 * S)); /* B was there nine seconds ago */
    assert_true(may_use_all(A, START + 20 * S));
    assert_true(may_use_all(B, START + 11 * S));
}

/* Another client's last request was long ago: the next client's first one is no mix with it. */
static void a_change_after_a_pause_is_no_mix(void **state)
{
    (void)state;
    come(A, START);
    come(B, START + 3600 * S);
    assert_true(may_use_all(B, START + 3600 * S));
    assert_false(may_use_all(A, START + 3600 * S)); /* A, in turn, would come beside B */
    come(B, START + 3601 * S);
    assert_true(may_use_all(B, START + 3601 * S));
}

static void clients_that_alternate_are_not_alone(void **state)
{
    uint64_t now = START;
    (void)state;
    for (int i = 0; i < 10; i++) {
        come(A, now += 4 * S);
        come(B, now += 4 * S);
        assert_false(may_use_all(A, now));
        assert_false(may_use_all(B, now));
    }
    come(C, now += 4 * S);
    assert_false(may_use_all(A, now));
    assert_false(may_use_all(C, now + 5 * S));
    come(C, now += 8 * S); /* B was there twelve seconds ago */
    assert_true(may_use_all(C, now));
}

static void nobody_in_particular_is_another_client(void **state)
{
    (void)state;
    come(DG_NO_CLIENT, START);
    come(A, START + S);
    assert_false(may_use_all(A, START + S));
    assert_true(may_use_all(DG_NO_CLIENT, START + S));
    assert_false(dg_usage_is_first(&table, DG_NO_CLIENT, DG_CLASS_INTERACTIVE, START + S));
}

/* Bulk work is nothing to interactive work, but not the other way round. */
static void classes_before_count(void **state)
{
    const uint64_t now = START + S;
    (void)state;
    come(B, START);
    dg_usage_come(&table, A, 10, now);
    dg_usage_wait(&table, A, DG_CLASS_BULK, 10);
    assert_true(dg_usage_is_first(&table, A, DG_CLASS_INTERACTIVE, now));
    assert_false(dg_usage_is_first(&table, A, DG_CLASS_BULK, now));
    assert_true(dg_usage_fits(&table, A, DG_CLASS_INTERACTIVE, 10, 10, now));
    assert_false(dg_usage_fits(&table, A, DG_CLASS_BULK, 10, 10, now));
    assert_false(dg_usage_fits(&table, B, DG_CLASS_BULK, 10, 10, now));
    dg_usage_wait(&table, A, DG_CLASS_BULK, -10);
    assert_true(dg_usage_is_first(&table, A, DG_CLASS_BULK, now));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_first_client_is_alone, begin),
        cmocka_unit_test_setup(a_client_is_alone_ten_seconds_after_the_others, begin),
        cmocka_unit_test_setup(a_change_after_a_pause_is_no_mix, begin),
        cmocka_unit_test_setup(clients_that_alternate_are_not_alone, begin),
        cmocka_unit_test_setup(nobody_in_particular_is_another_client, begin),
        cmocka_unit_test_setup(classes_before_count, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
