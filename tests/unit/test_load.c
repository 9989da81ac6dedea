/* Which folders of a directory are served, and which end a reload because nobody can tell. */
#include "server/models/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char root[64];

static const char *at(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

static void add(const char *name)
{
    char manifest[128];
    snprintf(manifest, sizeof manifest, "%s/manifest.json", name);
    assert_int_equal(mkdir(at(name), 0755), 0);
    FILE *f = fopen(at(manifest), "wb");
    assert_non_null(f);
    fclose(f);
}

static int make_folder(void **state)
{
    (void)state;
    strcpy(root, "/tmp/dragoman-load-XXXXXX");
    if (!mkdtemp(root) || chmod(root, 0755) != 0)
        return -1;
    add("b");
    add("a");
    add(".old");
    add("lost+found");
    return mkdir(at("notes"), 0755);
}

static int remove_folder(void **state)
{
    char command[96];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

/* Returns what dg_models_bundles does, and how many bundles it found; their paths are freed. */
static int list(size_t *n, struct dg_error *err)
{
    char *dirs[DG_MODELS_MAX];
    int rc = dg_models_bundles(root, dirs, n, err);
    for (size_t i = 0; i < *n; i++)
        free(dirs[i]);
    return rc;
}

static void test_bundles_are_folders_with_a_manifest(void **state)
{
    char *dirs[DG_MODELS_MAX];
    size_t n;
    struct dg_error err = {0};
    (void)state;
    assert_int_equal(dg_models_bundles(root, dirs, &n, &err), DG_OK);
    assert_int_equal(n, 2);
    assert_string_equal(dirs[0], at("a"));
    assert_string_equal(dirs[1], at("b"));
    for (size_t i = 0; i < n; i++)
        free(dirs[i]);
}

/* A bundle that root copied for itself alone. Root may enter all, so another user looks. */
static void look_as_another(void)
{
    size_t n;
    struct dg_error err = {0};
    if (geteuid() == 0 && setuid(65534) != 0)
        _exit(1);
    if (list(&n, &err) != DG_EIO)
        _exit(2);
    _exit(strstr(err.message, at("b")) ? 0 : 3);
}

static void test_a_folder_that_may_not_be_entered_is_named(void **state)
{
    int status;
    (void)state;
    assert_int_equal(chmod(at("b"), geteuid() == 0 ? 0700 : 0), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        look_as_another();
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(chmod(at("b"), 0755), 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* The folder that file systems have in their root, for root alone, hinders nobody. */
static void test_lost_and_found_is_not_looked_at(void **state)
{
    size_t n;
    struct dg_error err = {0};
    (void)state;
    assert_int_equal(chmod(at("lost+found"), 0), 0);
    assert_int_equal(list(&n, &err), DG_OK);
    assert_int_equal(n, 2);
    assert_int_equal(chmod(at("lost+found"), 0755), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_bundles_are_folders_with_a_manifest, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(
            test_a_folder_that_may_not_be_entered_is_named, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(
            test_lost_and_found_is_not_looked_at, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
