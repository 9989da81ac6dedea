#include "trainer/data/dedup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void mark(void *arg, uint64_t item)
{
    bool *repeated = arg;
    assert_false(repeated[item]);
    repeated[item] = true;
}

/* Item i has the hash of i % 700, so the first 700 are new and all others are not. */
static void test_first_stays(void **state)
{
    (void)state;
    char dir[] = "/tmp/test_dedup_XXXXXX";
    struct dg_dedup *d;
    struct dg_error err = {0};
    assert_non_null(mkdtemp(dir));
    assert_int_equal(dg_dedup_open(dir, &d, &err), 0);
    for (uint64_t i = 0; i < 5000; i++) {
        uint64_t value = i % 700;
        assert_int_equal(dg_dedup_add(d, dg_hash128(&value, sizeof value, 1), &err), 0);
    }
    bool repeated[5000] = {false};
    assert_int_equal(dg_dedup_finish(d, mark, repeated, &err), 0);
    for (uint64_t i = 0; i < 5000; i++)
        assert_int_equal(repeated[i], i >= 700);
    dg_dedup_close(d);
    assert_int_equal(rmdir(dir), 0); /* nothing left behind */
    assert_int_equal(dg_dedup_open("/nowhere", &d, &err), DG_EIO);
    assert_null(d);
}

static void test_hashes_that_share_a_half_differ(void **state)
{
    (void)state;
    struct dg_dedup *d;
    assert_int_equal(dg_dedup_open("/tmp", &d, NULL), 0);
    struct dg_hash128 items[] = {{1, 2}, {1, 3}, {2, 2}, {1, 2}, {0, 0}, {0, 0}};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(dg_dedup_add(d, items[i], NULL), 0);
    bool repeated[6] = {false};
    assert_int_equal(dg_dedup_finish(d, mark, repeated, NULL), 0);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(repeated[i], i == 3 || i == 5);
    dg_dedup_close(d);
}

static void test_set(void **state)
{
    (void)state;
    struct dg_hash_set *s;
    s = dg_hash_set_new();
    for (int round = 0; round < 2; round++)
        for (uint64_t i = 0; i < 20000; i++)
            dg_hash_set_add(s, dg_hash128(&i, sizeof i, 0));
    for (uint64_t i = 0; i < 40000; i++)
        assert_int_equal(dg_hash_set_has(s, dg_hash128(&i, sizeof i, 0)), i < 20000);
    dg_hash_set_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_stays),
        cmocka_unit_test(test_hashes_that_share_a_half_differ),
        cmocka_unit_test(test_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
