#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/test_file_writer_XXXXXX";

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
    strcpy(folder, "/tmp/test_file_writer_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int folder_free(void **state)
{
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static int files_in(const char *dir)
{
    int n = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void assert_holds(const char *path, const char *expected)
{
    struct dg_buffer b;
    dg_buffer_init(&b);
    assert_int_equal(dg_file_read(path, &b, NULL), 0);
    assert_string_equal(b.data ? b.data : "", expected);
    dg_buffer_deinit(&b);
}

static mode_t kind_of(const char *path)
{
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    return st.st_mode & S_IFMT;
}

/* A device stays a device: /dev/null, for root, too. */
static void devices_stay(void **state)
{
    (void)state;
    struct dg_error err = {0};
    const char *path = in_folder("null");
    if (mknod(path, S_IFCHR | 0666, makedev(1, 3)) != 0)
        skip(); /* only root makes devices */
    const int fd = open(path, O_WRONLY);
    if (fd < 0)
        skip(); /* the filesystem is mounted without devices */
    close(fd);
    assert_int_equal(dg_file_write(path, "x", 1, &err), 0);
    assert_int_equal(kind_of(path), S_IFCHR);
    assert_int_equal(files_in(folder), 1);
}

static void failures_of_devices_are_told(void **state)
{
    (void)state;
    struct dg_error err = {0};
    /* a link, so that no fault of the writer replaces the machine's device */
    assert_int_equal(symlink("/dev/full", in_folder("full")), 0);
    assert_int_equal(dg_file_write(in_folder("full"), "x", 1, &err), DG_EIO);
    assert_non_null(strstr(err.message, in_folder("full")));
    assert_int_equal(kind_of(in_folder("full")), S_IFLNK);
    assert_int_equal(files_in(folder), 1);
}

static void pipes_get_the_bytes(void **state)
{
    (void)state;
    char got[8] = "";
    const char *path = in_folder("fifo");
    assert_int_equal(mkfifo(path, 0600), 0);
    const int fd = open(path, O_RDONLY | O_NONBLOCK);
    assert_int_equal(dg_file_write(path, "piped", 5, NULL), 0);
    assert_int_equal(read(fd, got, sizeof got), 5);
    assert_string_equal(got, "piped");
    struct dg_file_writer *w;
    assert_int_equal(dg_file_begin(path, &w, NULL), 0);
    dg_file_abort(w);
    close(fd);
    assert_int_equal(kind_of(path), S_IFIFO);
    assert_int_equal(files_in(folder), 1);
}

/* As /dev/stdout does: a link to an open descriptor. */
static void descriptors_get_the_bytes(void **state)
{
    (void)state;
    char target[64], got[8] = "";
    int ends[2];
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    snprintf(target, sizeof target, "/proc/self/fd/%d", ends[1]);
    assert_int_equal(symlink(target, in_folder("out")), 0);
    assert_int_equal(dg_file_write(in_folder("out"), "piped", 5, NULL), 0);
    assert_int_equal(read(ends[0], got, sizeof got), 5);
    assert_string_equal(got, "piped");
    assert_int_equal(kind_of(in_folder("out")), S_IFLNK);
    close(ends[0]);
    close(ends[1]);
}

/* As `>> all` and as a temporary file without a name: the bytes follow those that are there, and no
 * file is made or replaced. */
static void descriptors_of_files_are_written_where_they_are(void **state)
{
    (void)state;
    char target[64], got[32] = "";
    const int all = open(in_folder("all"), O_RDWR | O_CREAT | O_APPEND, 0600);
    assert_true(all >= 0);
    assert_int_equal(write(all, "head ", 5), 5);
    snprintf(target, sizeof target, "/proc/self/fd/%d", all);
    assert_int_equal(symlink(target, in_folder("out")), 0);
    assert_int_equal(dg_file_write(in_folder("out"), "one ", 4, NULL), 0);
    assert_int_equal(dg_file_write(target, "two ", 4, NULL), 0);
    assert_int_equal(write(all, "tail", 4), 4);
    assert_holds(in_folder("all"), "head one two tail");
    assert_int_equal(unlink(in_folder("all")), 0);
    assert_int_equal(dg_file_write(in_folder("out"), " more", 5, NULL), 0);
    assert_int_equal(pread(all, got, sizeof got - 1, 0), 22);
    assert_string_equal(got, "head one two tail more");
    assert_int_equal(files_in(folder), 1);
    close(all);
}

/* Without O_APPEND, too: the offset is the descriptor's. */
static void descriptors_keep_their_place(void **state)
{
    (void)state;
    char target[64];
    const int all = open(in_folder("all"), O_RDWR | O_CREAT, 0600);
    assert_int_equal(write(all, "head ", 5), 5);
    snprintf(target, sizeof target, "/proc/self/fd/%d", all);
    assert_int_equal(dg_file_write(target, "one ", 4, NULL), 0);
    assert_int_equal(write(all, "tail", 4), 4);
    assert_holds(in_folder("all"), "head one tail");
    close(all);
}

/* In a folder such as /tmp nobody follows another user's link. */
static void strangers_links_are_not_followed_in_shared_folders(void **state)
{
    enum { NOBODY = 65534 };
    struct dg_error err = {0};
    (void)state;
    if (geteuid() != 0)
        skip();
    assert_int_equal(chmod(folder, 01777), 0);
    assert_int_equal(dg_file_write(in_folder("ours"), "ours", 4, NULL), 0);
    for (int dangling = 0; dangling < 2; dangling++) {
        unlink(in_folder("link"));
        assert_int_equal(symlink(dangling ? "made" : "ours", in_folder("link")), 0);
        assert_int_equal(lchown(in_folder("link"), NOBODY, NOBODY), 0);
        assert_int_equal(dg_file_write(in_folder("link"), "x", 1, &err), DG_EIO);
        assert_int_equal(lchown(in_folder("link"), 0, 0), 0);
        assert_int_equal(dg_file_write(in_folder("link"), "ours", 4, NULL), 0);
    }
    assert_holds(in_folder("ours"), "ours");
    assert_holds(in_folder("made"), "ours");
}

static void links_stay_and_their_files_are_replaced(void **state)
{
    (void)state;
    struct stat st;
    assert_int_equal(mkdir(in_folder("below"), 0700), 0);
    assert_int_equal(dg_file_write(in_folder("below/file"), "old", 3, NULL), 0);
    assert_int_equal(chmod(in_folder("below/file"), 0600), 0);
    assert_int_equal(symlink("file", in_folder("below/near")), 0);
    assert_int_equal(symlink("below/near", in_folder("link")), 0);
    assert_int_equal(dg_file_write(in_folder("link"), "new", 3, NULL), 0);
    assert_int_equal(kind_of(in_folder("link")), S_IFLNK);
    assert_int_equal(kind_of(in_folder("below/near")), S_IFLNK);
    assert_int_equal(kind_of(in_folder("below/file")), S_IFREG);
    assert_holds(in_folder("below/file"), "new");
    assert_int_equal(stat(in_folder("below/file"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(files_in(folder), 2);
    assert_int_equal(files_in(in_folder("below")), 2);
}

/* A link to nothing names the file to make, as for a shell's `>`. */
static void dangling_links_name_the_file(void **state)
{
    (void)state;
    struct dg_error err = {0};
    char target[256];
    snprintf(target, sizeof target, "%s", in_folder("made"));
    assert_int_equal(symlink(target, in_folder("link")), 0);
    assert_int_equal(dg_file_write(in_folder("link"), "new", 3, NULL), 0);
    assert_int_equal(kind_of(in_folder("link")), S_IFLNK);
    assert_holds(target, "new");
    assert_int_equal(symlink("no/such/folder", in_folder("lost")), 0);
    assert_int_equal(dg_file_write(in_folder("lost"), "x", 1, &err), DG_ENOTFOUND);
    assert_non_null(strstr(err.message, in_folder("lost")));
}

static void circles_of_links_are_refused(void **state)
{
    (void)state;
    struct dg_error err = {0};
    assert_int_equal(symlink("b", in_folder("a")), 0);
    assert_int_equal(symlink("a", in_folder("b")), 0);
    assert_int_equal(dg_file_write(in_folder("a"), "x", 1, &err), DG_EIO);
    assert_non_null(strstr(err.message, strerror(ELOOP)));
    assert_int_equal(kind_of(in_folder("a")), S_IFLNK);
    assert_int_equal(files_in(folder), 2);
}

static void links_to_folders_are_refused(void **state)
{
    (void)state;
    assert_int_equal(mkdir(in_folder("below"), 0700), 0);
    assert_int_equal(symlink("below", in_folder("link")), 0);
    assert_int_equal(dg_file_write(in_folder("link"), "x", 1, NULL), DG_EIO);
    assert_int_equal(kind_of(in_folder("link")), S_IFLNK);
    assert_int_equal(files_in(folder), 2);
}

static void inputs_are_spared(void **state)
{
    (void)state;
    const char *const inputs[] = {in_folder("none"), in_folder("text"), "/dev/null"};
    const char *other = in_folder("other");
    struct dg_error err = {0};
    assert_int_equal(dg_file_write(inputs[1], "a", 1, NULL), 0);
    assert_int_equal(symlink(inputs[1], other), 0);
    assert_int_equal(dg_file_spare(inputs[0], inputs, 3, &err), 0);
    assert_int_equal(dg_file_spare("/dev/null", inputs, 3, &err), 0);
    assert_int_equal(dg_file_spare(other, inputs, 1, &err), 0);
    assert_int_equal(dg_file_spare(other, inputs, 3, &err), DG_EINVAL);
    assert_non_null(strstr(err.message, "other is an input: it would be overwritten"));
}

static void assert_copied(const char *content, size_t n)
{
    char from[256], to[256];
    bool same = false;
    struct dg_error err = {0};
    snprintf(from, sizeof from, "%s", in_folder("from"));
    snprintf(to, sizeof to, "%s", in_folder("to"));
    assert_int_equal(dg_file_write(from, content, n, &err), 0);
    assert_int_equal(dg_file_copy(from, to, &err), 0);
    assert_int_equal(dg_file_same(from, to, &same, &err), 0);
    assert_true(same);
    assert_int_equal(dg_file_copy(in_folder("none"), to, &err), DG_ENOTFOUND);
    assert_int_equal(dg_file_same(from, to, &same, &err), 0);
    assert_true(same);
}

static void files_are_copied(void **state)
{
    (void)state;
    assert_copied("\0two\nlines", 10);
    assert_copied("", 0);
}

/* Appends to a file until a disk of 150,000 bytes is full. Returns 0, or the step that went wrong.
 */
static int append_until_full(const char *path)
{
    static const char block[100000];
    const struct rlimit limit = {150000, 150000};
    struct stat st;
    signal(SIGXFSZ, SIG_IGN);
    const int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || setrlimit(RLIMIT_FSIZE, &limit))
        return 1;
    if (dg_file_append_whole(fd, block, sizeof block))
        return 2;
    if (dg_file_append_whole(fd, block, sizeof block) != EFBIG)
        return 3;
    if (fstat(fd, &st) || st.st_size != sizeof block)
        return 4;
    return close(fd) || dg_file_append_whole(fd, block, 1) != EBADF ? 5 : 0;
}

static void full_disk_leaves_a_growing_file_as_it_was(void **state)
{
    (void)state;
    int status;
    const pid_t child = fork();
    if (child == 0)
        _exit(append_until_full(in_folder("growing")));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, folder_new, folder_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(devices_stay),
        TEST(failures_of_devices_are_told),
        TEST(pipes_get_the_bytes),
        TEST(descriptors_get_the_bytes),
        TEST(descriptors_of_files_are_written_where_they_are),
        TEST(descriptors_keep_their_place),
        TEST(strangers_links_are_not_followed_in_shared_folders),
        TEST(links_stay_and_their_files_are_replaced),
        TEST(dangling_links_name_the_file),
        TEST(circles_of_links_are_refused),
        TEST(links_to_folders_are_refused),
        TEST(inputs_are_spared),
        TEST(files_are_copied),
        TEST(full_disk_leaves_a_growing_file_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
