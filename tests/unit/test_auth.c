/* API keys across midnight, and when the clock is set: characters used and given back count for the
 * day that they were taken from. Keys are found by their ids. The clock is the test's own. */
#include "server/access/auth.h"

#include "base/clock.h"
#include "store/db.h"
#include "tests/unit/database_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define DAY_S 86400
#define FIRST 20000 /* a day since the epoch */

/* Replaces all of base/clock.c, so that the linker takes none of it from the library. */
static _Atomic double wall_s;

double dg_clock_wall_s(void)
{
    return wall_s;
}

uint64_t dg_clock_ns(void)
{
    return 1;
}

uint64_t dg_clock_cpu_ns(void)
{
    return 0;
}

/* Opens a server's keys: one key, with ten characters a day. */
static struct dg_auth *open_with_one_key(struct dg_auth_key **key)
{
    struct dg_key wanted = {.name = "ten", .scopes = DG_SCOPE_TRANSLATE, .characters_per_day = 10},
                  made;
    char secret[DG_KEY_SECRET];
    struct dg_keys *store = NULL;
    struct dg_auth *a = NULL;
    struct dg_error err = {0};
    int64_t wait_s;
    assert_int_equal(dg_keys_open(path, true, &store, &err), DG_OK);
    assert_int_equal(dg_keys_add(store, &wanted, 1000, &made, secret, &err), DG_OK);
    dg_keys_close(store);
    assert_int_equal(dg_auth_open(path, &a, &err), DG_OK);
    assert_int_equal(dg_auth_enter(a, secret, DG_SCOPE_TRANSLATE, key, &wait_s), DG_AUTH_OK);
    return a;
}

/* Returns the characters of a day as stored in the file. */
static int64_t written(int64_t day)
{
    struct dg_keys *store = NULL;
    struct dg_key_usage *list = NULL;
    struct dg_error err = {0};
    int64_t characters = 0;
    size_t n = 0;
    assert_int_equal(dg_keys_open(path, false, &store, &err), DG_OK);
    assert_int_equal(dg_keys_usage(store, day, &list, &n, &err), DG_OK);
    for (size_t i = 0; i < n; i++)
        characters += list[i].day == day ? list[i].characters : 0;
    free(list);
    dg_keys_close(store);
    return characters;
}

static void given_back_on_the_same_day(void **state)
{
    struct dg_auth_key *key;
    int64_t day, other;
    (void)state;
    wall_s = FIRST * (double)DAY_S + 100;
    struct dg_auth *a = open_with_one_key(&key);
    assert_int_equal(dg_auth_use(a, key, 10, &day), DG_AUTH_OK);
    assert_int_equal(day, FIRST);
    assert_int_equal(dg_auth_use(a, key, 1, &other), DG_AUTH_QUOTA);
    dg_auth_give_back(a, key, day, 4);
    assert_int_equal(dg_auth_use(a, key, 5, &other), DG_AUTH_QUOTA);
    assert_int_equal(dg_auth_use(a, key, 4, &other), DG_AUTH_OK);
    dg_auth_close(a);
    assert_int_equal(written(FIRST), 10);
}

static void given_back_after_midnight(void **state)
{
    struct dg_auth_key *key;
    int64_t day, next;
    (void)state;
    wall_s = (FIRST + 1) * (double)DAY_S - 1;
    struct dg_auth *a = open_with_one_key(&key);
    assert_int_equal(dg_auth_use(a, key, 8, &day), DG_AUTH_OK);
    wall_s = (FIRST + 1) * (double)DAY_S + 1;
    dg_auth_give_back(a, key, day, 8);
    /* no more than a day's allowance */
    assert_int_equal(dg_auth_use(a, key, 11, &next), DG_AUTH_QUOTA);
    assert_int_equal(dg_auth_use(a, key, 10, &next), DG_AUTH_OK);
    assert_int_equal(next, FIRST + 1);
    dg_auth_close(a);
    assert_int_equal(written(FIRST), 0);
    assert_int_equal(written(FIRST + 1), 10);
}

/* By then the key's counters are another day's. */
static void given_back_two_days_later(void **state)
{
    struct dg_auth_key *key;
    int64_t day, later;
    (void)state;
    wall_s = FIRST * (double)DAY_S;
    struct dg_auth *a = open_with_one_key(&key);
    assert_int_equal(dg_auth_use(a, key, 8, &day), DG_AUTH_OK);
    wall_s = (FIRST + 2) * (double)DAY_S;
    assert_int_equal(dg_auth_use(a, key, 3, &later), DG_AUTH_OK);
    dg_auth_give_back(a, key, day, 8);
    assert_int_equal(dg_auth_use(a, key, 8, &later), DG_AUTH_QUOTA);
    dg_auth_close(a);
    assert_int_equal(written(FIRST + 2), 3);
}

/* The clock is set two days forward and back again before anything is written: each day keeps its
 * own use. */
static void the_clock_is_set(void **state)
{
    struct dg_auth_key *key;
    int64_t day;
    (void)state;
    wall_s = FIRST * (double)DAY_S + 100;
    struct dg_auth *a = open_with_one_key(&key);
    assert_int_equal(dg_auth_use(a, key, 10, &day), DG_AUTH_OK);
    wall_s = wall_s + 2 * DAY_S;
    assert_int_equal(dg_auth_use(a, key, 9, &day), DG_AUTH_OK);
    wall_s = wall_s - 2 * DAY_S;
    assert_int_equal(dg_auth_use(a, key, 1, &day), DG_AUTH_QUOTA);
    dg_auth_close(a);
    assert_int_equal(written(FIRST), 10);
    assert_int_equal(written(FIRST + 2), 9);
}

static void before_1970(void **state)
{
    struct dg_auth_key *key;
    int64_t day;
    (void)state;
    wall_s = FIRST * (double)DAY_S;
    struct dg_auth *a = open_with_one_key(&key);
    for (int i = 1; i <= 5; i++) {
        wall_s = -i * (double)DAY_S;
        assert_int_equal(dg_auth_use(a, key, 10, &day), DG_AUTH_OK);
        assert_int_equal(day, -i);
        assert_int_equal(dg_auth_use(a, key, 1, &day), DG_AUTH_QUOTA);
    }
    dg_auth_close(a);
    int64_t sum = 0; /* five unwritten days are more than it keeps apart; none is lost */
    for (int i = 1; i <= 5; i++)
        sum += written(-i);
    assert_int_equal(sum, 50);
}

static void keys_are_found_by_id(void **state)
{
    struct dg_auth_key *key;
    (void)state;
    wall_s = FIRST * (double)DAY_S;
    struct dg_auth *a = open_with_one_key(&key);
    assert_ptr_equal(dg_auth_find(a, dg_auth_id(key)), key);
    assert_null(dg_auth_find(a, ""));
    assert_null(dg_auth_find(a, "nobody"));
    dg_auth_close(a);
}

/* Makes a file of n keys, and returns the CPU seconds that reading it takes. */
static double seconds_to_read(int n)
{
    char sql[360];
    struct dg_keys *store = NULL;
    struct dg_auth *a = NULL;
    struct dg_db db;
    struct dg_error err = {0};
    struct dg_auth_counts counts;
    assert_int_equal(dg_keys_open(path, true, &store, &err), DG_OK);
    dg_keys_close(store);
    assert_int_equal(dg_db_open(path, false, &db, &err), DG_OK);
    snprintf(sql, sizeof sql,
        "DELETE FROM keys; INSERT INTO keys(id, name, hash, scopes, created_s)"
        " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT %d)"
        " SELECT printf('%%08x', i * 2654435761 & 4294967295), 'a', randomblob(32), 1, i FROM n",
        n);
    assert_int_equal(dg_db_run(&db, sql, &err), DG_OK);
    dg_db_close(&db);
    const clock_t begun = clock();
    assert_int_equal(dg_auth_open(path, &a, &err), DG_OK);
    const double seconds = (double)(clock() - begun) / CLOCKS_PER_SEC;
    dg_auth_count(a, &counts);
    assert_int_equal(counts.keys, n);
    for (int i = 1; i <= n; i += 97) {
        char id[12];
        snprintf(id, sizeof id, "%08x", (unsigned)i * 2654435761u);
        assert_non_null(dg_auth_find(a, id));
        assert_string_equal(dg_auth_id(dg_auth_find(a, id)), id);
    }
    dg_auth_close(a);
    return seconds;
}

/* Four times as many keys take four times as long, not sixteen times: requests wait for it. */
static void many_keys_are_read(void **state)
{
    (void)state;
    wall_s = FIRST * (double)DAY_S;
    bool linear = false;
    for (int i = 0; i < 3 && !linear; i++) {
        const double few = seconds_to_read(10000);
        linear = seconds_to_read(40000) < 8 * few;
    }
    assert_true(linear);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(given_back_on_the_same_day, make_path, remove_path),
        cmocka_unit_test_setup_teardown(given_back_after_midnight, make_path, remove_path),
        cmocka_unit_test_setup_teardown(given_back_two_days_later, make_path, remove_path),
        cmocka_unit_test_setup_teardown(the_clock_is_set, make_path, remove_path),
        cmocka_unit_test_setup_teardown(before_1970, make_path, remove_path),
        cmocka_unit_test_setup_teardown(keys_are_found_by_id, make_path, remove_path),
        cmocka_unit_test_setup_teardown(many_keys_are_read, make_path, remove_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
