/* The file of API keys: created, shared by two openers, refused if it is something else. */
#include "store/keys.h"
#include "tests/unit/database_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct dg_keys *must_open(bool create)
{
    struct dg_keys *k = NULL;
    struct dg_error err = {0};
    if (dg_keys_open(path, create, &k, &err) != DG_OK)
        fail_msg("%s", err.message);
    return k;
}

static void add_list_revoke(void **state)
{
    struct dg_key wanted = {.name = "shop",
                      .scopes = DG_SCOPE_TRANSLATE,
                      .requests_per_minute = 7,
                      .characters_per_day = 9},
                  made, *list;
    char secret[DG_KEY_SECRET], other[DG_KEY_SECRET];
    unsigned char hash[DG_KEY_HASH];
    struct dg_error err = {0};
    struct stat st;
    size_t n;
    (void)state;
    struct dg_keys *k = must_open(true);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(dg_keys_add(k, &wanted, 1000, &made, secret, &err), DG_OK);
    assert_int_equal(strlen(secret), DG_KEY_SECRET - 1);
    assert_memory_equal(secret, "dg_", 3);
    assert_int_equal(dg_keys_add(k, &wanted, 1001, &made, other, &err), DG_OK);
    assert_string_not_equal(secret, other);
    assert_int_equal(dg_keys_list(k, &list, &n, &err), DG_OK);
    assert_int_equal(n, 2);
    dg_keys_hash(secret, strlen(secret), hash);
    assert_memory_equal(list[0].hash, hash, sizeof hash);
    assert_string_equal(list[0].name, "shop");
    assert_int_equal(list[0].requests_per_minute, 7);
    assert_int_equal(list[0].characters_per_day, 9);
    assert_int_equal(dg_keys_revoke(k, list[0].id, 2000, &err), DG_OK);
    assert_int_equal(dg_keys_revoke(k, list[0].id, 3000, &err), DG_OK);
    assert_int_equal(dg_keys_revoke(k, "nobody", 3000, &err), DG_ENOTFOUND);
    free(list);
    dg_keys_close(k);
    k = must_open(false);
    assert_int_equal(dg_keys_list(k, &list, &n, &err), DG_OK);
    assert_int_equal(list[0].revoked_s, 2000);
    assert_int_equal(list[1].revoked_s, 0);
    free(list);
    dg_keys_close(k);
}

/* The published value for "abc" (FIPS 180-4). */
static void the_hash_is_sha256(void **state)
{
    unsigned char hash[DG_KEY_HASH];
    (void)state;
    dg_keys_hash("abc", 3, hash);
    assert_int_equal(hash[0], 0xba);
    assert_int_equal(hash[1], 0x78);
    assert_int_equal(hash[31], 0xad);
}

static void usage_adds_up_over_two_openers(void **state)
{
    struct dg_key wanted = {.name = "a", .scopes = DG_SCOPE_ADMIN}, made;
    struct dg_key_usage use[2] = {{.day = 5, .requests = 2, .characters = 30},
        {.id = "deadbeef", .day = 5, .requests = 1, .characters = 1}};
    struct dg_key_usage *list;
    char secret[DG_KEY_SECRET];
    struct dg_error err = {0};
    size_t n;
    bool changed = true;
    (void)state;
    struct dg_keys *a = must_open(true), *b = must_open(false);
    assert_int_equal(dg_keys_changed(b, &changed, &err), DG_OK);
    assert_false(changed);
    assert_int_equal(dg_keys_add(a, &wanted, 1, &made, secret, &err), DG_OK);
    memcpy(use[0].id, made.id, sizeof made.id);
    assert_int_equal(dg_keys_changed(b, &changed, &err), DG_OK);
    assert_true(changed);
    assert_int_equal(dg_keys_use(a, use, 2, &err), DG_OK); /* an unknown key is skipped */
    assert_int_equal(dg_keys_use(b, use, 1, &err), DG_OK);
    assert_int_equal(dg_keys_changed(b, &changed, &err), DG_OK);
    assert_int_equal(dg_keys_usage(b, 5, &list, &n, &err), DG_OK);
    assert_int_equal(n, 1);
    assert_int_equal(list[0].requests, 4);
    assert_int_equal(list[0].characters, 60);
    free(list);
    assert_int_equal(dg_keys_usage(b, 6, &list, &n, &err), DG_OK);
    assert_int_equal(n, 0);
    free(list);
    dg_keys_close(a);
    dg_keys_close(b);
}

static void other_files_are_refused(void **state)
{
    struct dg_keys *k = NULL;
    struct dg_error err = {0};
    (void)state;
    assert_int_equal(dg_keys_open(path, false, &k, &err), DG_ENOTFOUND);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    for (int i = 0; i < 2000; i++)
        fputs("no database", f);
    fclose(f);
    dg_error_clear(&err);
    assert_int_equal(dg_keys_open(path, true, &k, &err), DG_EFORMAT);
    assert_non_null(strstr(err.message, path));
    assert_int_equal(truncate(path, 0), 0);
    dg_error_clear(&err);
    assert_int_equal(
        dg_keys_open(path, false, &k, &err), DG_EFORMAT); /* empty: only add fills it */
}

static void scopes(void **state)
{
    static const char *const wrong[] = {"", ",", "translate,", "read", "translateadmin", "ADMIN"};
    unsigned s = 0;
    (void)state;
    assert_int_equal(dg_keys_scopes_read("admin,translate", &s, NULL), DG_OK);
    assert_int_equal(s, DG_SCOPE_ADMIN | DG_SCOPE_TRANSLATE);
    assert_string_equal(dg_keys_scopes_name(s), "translate,admin");
    assert_int_equal(dg_keys_scopes_read("admin", &s, NULL), DG_OK);
    assert_string_equal(dg_keys_scopes_name(s), "admin");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(dg_keys_scopes_read(wrong[i], &s, NULL), DG_EINVAL);
}

enum { NOBODY = 65534 };

static void assert_owned(const char *end, uid_t owner)
{
    char name[160];
    struct stat st;
    snprintf(name, sizeof name, "%s%s", path, end);
    assert_int_equal(stat(name, &st), 0);
    assert_int_equal(st.st_uid, owner);
    assert_int_equal(st.st_gid, owner);
    assert_int_equal(st.st_mode & 0777, 0600);
}

/* True if this user can add a key to the file. */
static bool can_add(uid_t user)
{
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
        struct dg_key made;
        char secret[DG_KEY_SECRET];
        struct dg_keys *k = NULL;
        struct dg_error err = {0};
        _exit(
            setgid(user) == 0 && setuid(user) == 0 &&
                    dg_keys_open(path, false, &k, &err) == DG_OK &&
                    dg_keys_add(k, &(struct dg_key){.name = "new"}, 1, &made, secret, &err) == DG_OK
                ? 0
                : 1);
    }
    return waitpid(child, &status, 0) == child && status == 0;
}

/* As `sudo dragoman keys add` in the systemd unit's StateDirectory, which is a dynamic user's. */
static void what_root_makes_is_the_folders_owners(void **state)
{
    struct dg_key made;
    char secret[DG_KEY_SECRET];
    struct dg_error err = {0};
    (void)state;
    if (geteuid() != 0 || chown(folder, NOBODY, NOBODY) != 0)
        skip();
    struct dg_keys *k = must_open(true);
    assert_int_equal(dg_keys_add(k, &(struct dg_key){.name = "shop"}, 1, &made, secret, &err), 0);
    assert_owned("", NOBODY);
    assert_owned("-wal", NOBODY);
    assert_owned("-shm", NOBODY);
    assert_true(can_add(NOBODY));
    dg_keys_close(k);
    assert_true(can_add(NOBODY));
}

static void a_file_that_is_there_keeps_its_owner(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    dg_keys_close(must_open(true));
    if (chown(folder, NOBODY, NOBODY) != 0)
        skip();
    dg_keys_close(must_open(true));
    assert_owned("", 0);
}

/* Else the folder's owner could have root make a file for them anywhere. */
static void no_file_is_made_where_a_link_leads(void **state)
{
    char target[160];
    struct dg_keys *k = NULL;
    struct dg_error err = {0};
    (void)state;
    snprintf(target, sizeof target, "%s/elsewhere", folder);
    assert_int_equal(symlink(target, path), 0);
    assert_int_equal(dg_keys_open(path, true, &k, &err), DG_EIO);
    assert_int_not_equal(access(target, F_OK), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_path, remove_path)

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(add_list_revoke), cmocka_unit_test(the_hash_is_sha256),
        TEST(usage_adds_up_over_two_openers), TEST(other_files_are_refused),
        cmocka_unit_test(scopes), TEST(what_root_makes_is_the_folders_owners),
        TEST(a_file_that_is_there_keeps_its_owner), TEST(no_file_is_made_where_a_link_leads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
