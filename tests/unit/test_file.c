#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/test_file_XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[4][256];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    return path[turn];
}

static int folder_new(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/test_file_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int folder_free(void **state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static int files_in_folder(void)
{
    int n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void assert_holds(const char *path, const char *expected)
{
    struct dg_buffer b;
    struct dg_error err = {0};
    dg_buffer_init(&b);
    assert_int_equal(dg_file_read(path, &b, &err), 0);
    assert_string_equal(b.data ? b.data : "", expected);
    dg_buffer_deinit(&b);
}

static void written_files_are_read_and_mapped(void **state)
{
    (void)state;
    /* Around the writer's 64 KiB buffer and the reader's chunks. */
    static const size_t sizes[] = {0, 1, 4096, 65535, 65536, 65537, 131072, 1000003};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t n = sizes[i];
        unsigned char *data = malloc(n + 1);
        for (size_t k = 0; k < n; k++)
            data[k] = (unsigned char)(k * 2654435761u >> 13);
        struct dg_error err = {0};
        const char *path = in_folder("data");
        assert_int_equal(dg_file_write(path, data, n, &err), 0);
        struct dg_map map;
        assert_int_equal(dg_file_map(path, &map, &err), 0);
        assert_int_equal(map.size, n);
        assert_non_null(map.data);
        assert_memory_equal(map.data, data, n);
        struct dg_buffer b;
        dg_buffer_init(&b);
        dg_buffer_adds(&b, "kept");
        assert_int_equal(dg_file_read(path, &b, &err), 0);
        assert_int_equal(b.len, n + 4);
        assert_memory_equal(b.data + 4, data, n);
        dg_buffer_deinit(&b);
        dg_file_unmap(&map);
        dg_file_unmap(&map); /* zeroed by the first */
        free(data);
    }
    assert_int_equal(files_in_folder(), 1);
}

/* A map stays unchanged while the file is replaced: a running server keeps its weights. */
static void map_survives_replacement(void **state)
{
    (void)state;
    struct dg_map map;
    const char *path = in_folder("weights");
    assert_int_equal(dg_file_write(path, "old bytes", 9, NULL), 0);
    assert_int_equal(dg_file_map(path, &map, NULL), 0);
    assert_int_equal(dg_file_write(path, "new", 3, NULL), 0);
    assert_memory_equal(map.data, "old bytes", 9);
    dg_file_unmap(&map);
    assert_holds(path, "new");
}

static void pieces_of_all_sizes_stay_in_order(void **state)
{
    (void)state;
    struct dg_file_writer *w;
    struct dg_buffer expect, got;
    const char *path = in_folder("pieces");
    dg_buffer_init(&expect);
    dg_buffer_init(&got);
    assert_int_equal(dg_file_begin(path, &w, NULL), 0);
    for (size_t n = 0; n < 200000; n = n * 2 + 1) {
        char *piece = malloc(n + 1);
        memset(piece, 'a' + (int)(n % 23), n);
        assert_int_equal(dg_file_append(w, piece, n, NULL), 0);
        dg_buffer_add(&expect, piece, n);
        assert_int_equal(dg_file_append(w, "|", 1, NULL), 0);
        dg_buffer_adds(&expect, "|");
        free(piece);
    }
    assert_int_equal(access(path, F_OK), -1); /* nothing visible before the commit */
    assert_int_equal(dg_file_commit_take(w, NULL), 0);
    assert_int_equal(dg_file_read(path, &got, NULL), 0);
    assert_int_equal(got.len, expect.len);
    assert_memory_equal(got.data, expect.data, expect.len);
    dg_buffer_deinit(&got);
    dg_buffer_deinit(&expect);
}

static void abort_leaves_nothing(void **state)
{
    (void)state;
    struct dg_file_writer *w;
    const char *path = in_folder("kept");
    assert_int_equal(dg_file_write(path, "old", 3, NULL), 0);
    assert_int_equal(dg_file_begin(path, &w, NULL), 0);
    assert_int_equal(dg_file_append(w, "new", 3, NULL), 0);
    assert_int_equal(files_in_folder(), 2);
    dg_file_abort(w);
    dg_file_abort(NULL);
    assert_int_equal(files_in_folder(), 1);
    assert_holds(path, "old");
}

static void killed_writer_leaves_the_old_file(void **state)
{
    (void)state;
    const char *path = in_folder("kept");
    assert_int_equal(dg_file_write(path, "old", 3, NULL), 0);
    pid_t child = fork();
    if (child == 0) {
        struct dg_file_writer *w;
        char block[100000] = {0};
        if (dg_file_begin(path, &w, NULL) || dg_file_append(w, block, sizeof block, NULL))
            _exit(1);
        raise(SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_holds(path, "old");
    /* The leftover temporary file is not in the way. */
    assert_int_equal(dg_file_write(path, "new", 3, NULL), 0);
    assert_holds(path, "new");
    /* It is removed, and no other file. */
    const char *const others[] = {"a.tmp-", "b.tmp-1", "c.tmp-1-zz", "d.tmp-12-0123abcd.txt"};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(dg_file_write(in_folder(others[i]), "", 0, NULL), 0);
    assert_int_equal(files_in_folder(), 6);
    dg_file_drop_unfinished(folder);
    assert_int_equal(files_in_folder(), 5);
    dg_file_drop_unfinished(in_folder("nowhere"));
    assert_holds(in_folder("kept"), "new");
}

/* RLIMIT_FSIZE simulates a full disk: write() fails with EFBIG half-way. In a child process,
 * because limits persist. */
static int write_beyond_limit(const char *path)
{
    struct rlimit limit = {150000, 150000};
    struct dg_error err = {0};
    struct dg_file_writer *w;
    static char block[100000];
    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) || dg_file_begin(path, &w, &err))
        return 1;
    if (dg_file_append(w, block, sizeof block, &err))
        return 2;
    if (dg_file_append(w, block, sizeof block, &err) != DG_EIO || !strstr(err.message, path))
        return 3;
    if (dg_file_append(w, "x", 1, NULL) != DG_EIO) /* the failure sticks */
        return 4;
    if (dg_file_commit_take(w, NULL) != DG_EIO)
        return 5;
    dg_error_clear(&err);
    static char big[200000];
    if (dg_file_write(path, big, sizeof big, &err) != DG_EIO || !strstr(err.message, "too large"))
        return 6;
    return 0;
}

static void full_disk_leaves_the_old_file(void **state)
{
    (void)state;
    const char *path = in_folder("kept");
    assert_int_equal(dg_file_write(path, "old", 3, NULL), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(write_beyond_limit(path));
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_holds(path, "old");
    assert_int_equal(files_in_folder(), 1);
}

static void failed_rename_cleans_up(void **state)
{
    (void)state;
    struct dg_error err = {0};
    const char *path = in_folder("target");
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(dg_file_write(path, "x", 1, &err), DG_EIO);
    assert_non_null(strstr(err.message, path));
    assert_int_equal(files_in_folder(), 1);
}

static void refusals_name_path_and_reason(void **state)
{
    (void)state;
    struct dg_error err = {0};
    struct dg_map map;
    struct dg_buffer b;
    dg_buffer_init(&b);
    assert_int_equal(dg_file_map(in_folder("none"), &map, &err), DG_ENOTFOUND);
    assert_null(map.data);
    assert_non_null(strstr(err.message, "none: No such file"));
    dg_error_clear(&err);
    assert_int_equal(dg_file_read(in_folder("none"), &b, &err), DG_ENOTFOUND);
    dg_error_clear(&err);
    assert_int_equal(dg_file_read(folder, &b, &err), DG_EIO);
    assert_non_null(strstr(err.message, "it is a directory"));
    dg_error_clear(&err);
    assert_int_equal(dg_file_map("/dev/null", &map, &err), DG_EIO);
    assert_non_null(strstr(err.message, "not a regular file"));
    dg_error_clear(&err);
    assert_int_equal(dg_file_write(in_folder("no/such/folder"), "x", 1, &err), DG_ENOTFOUND);
    assert_non_null(strstr(err.message, "no/such/folder"));
    dg_buffer_deinit(&b);
}

static void files_without_a_size_are_read_whole(void **state)
{
    (void)state;
    struct dg_buffer b;
    dg_buffer_init(&b);
    assert_int_equal(dg_file_read("/proc/self/status", &b, NULL), 0);
    assert_non_null(strstr(b.data, "VmSize"));
    dg_buffer_deinit(&b);
}

static void mode_is_kept(void **state)
{
    (void)state;
    struct stat st;
    const char *path = in_folder("secret");
    umask(022);
    assert_int_equal(dg_file_write(path, "a", 1, NULL), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0644);
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(dg_file_write(path, "b", 1, NULL), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void relative_names_work(void **state)
{
    (void)state;
    int here = open(".", O_RDONLY | O_DIRECTORY);
    assert_int_equal(chdir(folder), 0);
    int rc = dg_file_write("plain", "x", 1, NULL) | dg_file_make_dir("a/b", NULL);
    assert_int_equal(fchdir(here), 0);
    close(here);
    assert_int_equal(rc, 0);
    assert_holds(in_folder("plain"), "x");
    assert_int_equal(access(in_folder("a/b"), X_OK), 0);
}

static void *write_often(void *text)
{
    intptr_t failures = 0;
    for (int i = 0; i < 50; i++)
        failures += dg_file_write(in_folder("shared"), text, strlen(text), NULL) != 0;
    return (void *)failures;
}

/* Two writers of one name: the last one wins, and a mixture is never seen. */
static void writers_do_not_mix(void **state)
{
    (void)state;
    char path[256];
    static char a[3000], b[5000];
    memset(a, 'a', sizeof a - 1);
    memset(b, 'b', sizeof b - 1);
    snprintf(path, sizeof path, "%s/shared", folder);
    assert_int_equal(dg_file_write(path, a, sizeof a - 1, NULL), 0);
    pid_t child = fork();
    if (child == 0)
        _exit(write_often(b) != NULL);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, write_often, a), 0);
    for (int i = 0; i < 300; i++) {
        struct dg_buffer got;
        dg_buffer_init(&got);
        assert_int_equal(dg_file_read(path, &got, NULL), 0);
        assert_true(strcmp(got.data, a) == 0 || strcmp(got.data, b) == 0);
        dg_buffer_deinit(&got);
    }
    void *failures;
    int status;
    pthread_join(thread, &failures);
    assert_null(failures);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(files_in_folder(), 1);
}

static void folders_are_made(void **state)
{
    (void)state;
    struct dg_error err = {0};
    struct stat st;
    assert_int_equal(dg_file_make_dir(in_folder("a//b/c/"), &err), 0);
    assert_int_equal(dg_file_make_dir(in_folder("a/b/c"), &err), 0);
    assert_int_equal(stat(in_folder("a/b/c"), &st), 0);
    assert_true(S_ISDIR(st.st_mode));
    assert_int_equal(dg_file_make_dir("/", &err), 0);
    assert_int_equal(dg_file_write(in_folder("file"), "x", 1, &err), 0);
    assert_int_equal(dg_file_make_dir(in_folder("file"), &err), DG_EIO);
    assert_non_null(strstr(err.message, "Not a directory"));
    dg_error_clear(&err);
    assert_int_equal(dg_file_make_dir(in_folder("file/below"), &err), DG_EIO);
    dg_error_clear(&err);
    assert_int_equal(dg_file_make_dir("", &err), DG_ENOTFOUND);
}

static void folder_and_name_are_joined(void **state)
{
    (void)state;
    char *path = dg_file_join("a/b", "c.json");
    assert_string_equal(path, "a/b/c.json");
    free(path);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, folder_new, folder_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(written_files_are_read_and_mapped),
        TEST(map_survives_replacement),
        TEST(pieces_of_all_sizes_stay_in_order),
        TEST(abort_leaves_nothing),
        TEST(killed_writer_leaves_the_old_file),
        TEST(full_disk_leaves_the_old_file),
        TEST(failed_rename_cleans_up),
        TEST(refusals_name_path_and_reason),
        TEST(files_without_a_size_are_read_whole),
        TEST(mode_is_kept),
        TEST(relative_names_work),
        TEST(writers_do_not_mix),
        TEST(folders_are_made),
        TEST(folder_and_name_are_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
