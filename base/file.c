#include "base/file_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

char *dg_file_join(const char *dir, const char *name)
{
    char *path;
    return asprintf(&path, "%s/%s", dir, name) < 0 ? NULL : path;
}

bool dg_file_ends_in(const char *path, const char *ending)
{
    const size_t n = strlen(path), m = strlen(ending);
    return n >= m && strcmp(path + n - m, ending) == 0;
}

int dg_file_fail(struct dg_error *err, const char *what, const char *path)
{
    int code = errno == ENOENT ? DG_ENOTFOUND : errno == ENOMEM ? DG_ENOMEM : DG_EIO;
    return dg_error_set(err, code, "cannot %s %s: %s", what, path, strerror(errno));
}

static int open_read(const char *path, struct stat *st, struct dg_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return dg_file_fail(err, "open", path);
    int rc = 0;
    if (fstat(fd, st) != 0)
        rc = dg_file_fail(err, "stat", path);
    else if (S_ISDIR(st->st_mode))
        rc = dg_error_set(err, DG_EIO, "cannot read %s: it is a directory", path);
    if (rc)
        close(fd);
    return rc ? rc : fd;
}

/* Read exactly n bytes and check that the file ends there. */
static int read_whole(int fd, const char *path, unsigned char *to, size_t n, struct dg_error *err)
{
    unsigned char more;
    size_t at = 0;
    for (;;) {
        ssize_t k = read(fd, at < n ? to + at : &more, at < n ? n - at : 1);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return dg_file_fail(err, "read", path);
        if (k == 0 && at == n)
            return 0;
        if (k == 0 || at == n)
            return dg_error_set(
                err, DG_EIO, "cannot read %s: its size changes while it is read", path);
        at += (size_t)k;
    }
}

/* Map the file, or with `load` read it. */
static int map(const char *path, bool load, struct dg_map *out, struct dg_error *err)
{
    struct stat st;
    memset(out, 0, sizeof *out);
    int fd = open_read(path, &st, err);
    if (fd < 0)
        return fd;
    const size_t n = (size_t)st.st_size;
    int rc = 0;
    if (!S_ISREG(st.st_mode)) {
        rc = dg_error_set(
            err, DG_EIO, "cannot %s %s: it is not a regular file", load ? "load" : "map", path);
    } else if (n == 0) {
        out->data = (const unsigned char *)""; /* mmap refuses a length of 0 */
    } else {
        void *p = load ? mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                       : mmap(NULL, n, PROT_READ, MAP_SHARED, fd, 0);
#ifdef MADV_HUGEPAGE
        if (load && p != MAP_FAILED)
            madvise(p, n, MADV_HUGEPAGE); /* a hint: refusal is fine */
#endif
        if (p == MAP_FAILED)
            rc = dg_file_fail(err, load ? "take memory for" : "map", path);
        else if (load && (rc = read_whole(fd, path, p, n, err)))
            munmap(p, n);
        if (!rc)
            *out = (struct dg_map){.data = p, .size = n, .loaded = load};
    }
    close(fd);
    return rc;
}

int dg_file_map(const char *path, struct dg_map *out, struct dg_error *err)
{
    return map(path, false, out, err);
}

int dg_file_load(const char *path, struct dg_map *out, struct dg_error *err)
{
    return map(path, true, out, err);
}

void dg_file_unmap(struct dg_map *map)
{
    if (map->size)
        munmap((void *)(uintptr_t)map->data, map->size);
    memset(map, 0, sizeof *map);
}

void dg_file_forget(const struct dg_map *map)
{
    if (map->size && !map->loaded)
        madvise((void *)(uintptr_t)map->data, map->size, MADV_DONTNEED);
}

int dg_file_read(const char *path, struct dg_buffer *b, struct dg_error *err)
{
    struct stat st;
    int fd = open_read(path, &st, err);
    if (fd < 0)
        return fd;
    int rc = 0;
    char chunk[65536]; /* read to the end, not st_size: pipes and /proc files have size 0 */
    for (;;) {
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            rc = dg_file_fail(err, "read", path);
        if (n <= 0)
            break;
        dg_buffer_add(b, chunk, (size_t)n);
    }
    close(fd);
    if (rc == 0 && b->failed)
        rc = dg_error_set(err, DG_ENOMEM, "cannot read %s: out of memory", path);
    return rc;
}

int dg_file_copy(const char *from, const char *to, struct dg_error *err)
{
    struct dg_map map = {0};
    int rc = dg_file_map(from, &map, err);
    if (!rc)
        rc = dg_file_write(to, map.data, map.size, err);
    dg_file_unmap(&map);
    return rc;
}

int dg_file_temporary(const char *dir, FILE **out, struct dg_error *err)
{
    char *path = dg_file_join(dir, ".temporary-XXXXXX");
    int fd = path ? mkstemp(path) : -1, rc = 0;
    if (fd >= 0)
        unlink(path);
    *out = fd >= 0 ? fdopen(fd, "w+b") : NULL;
    if (!*out) {
        rc = dg_error_set(
            err, DG_EIO, "cannot make a temporary file in %s: %s", dir, strerror(errno));
        if (fd >= 0)
            close(fd);
    }
    free(path);
    return rc;
}

int dg_file_same(const char *a, const char *b, bool *same, struct dg_error *err)
{
    struct dg_map x = {0}, y = {0};
    int rc = dg_file_map(a, &x, err);
    if (!rc)
        rc = dg_file_map(b, &y, err);
    *same = !rc && x.size == y.size && !memcmp(x.data, y.data, x.size);
    dg_file_unmap(&x);
    dg_file_unmap(&y);
    return rc;
}

bool dg_file_is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int dg_file_append_whole(int fd, const void *data, size_t n)
{
    struct stat before;
    if (fstat(fd, &before))
        return errno;
    if (dg_file_put(fd, data, n))
        return 0;
    const int why = errno;
    return S_ISREG(before.st_mode) && ftruncate(fd, before.st_size) ? errno : why;
}

int dg_file_spare(const char *path, const char *const *inputs, size_t n, struct dg_error *err)
{
    struct stat output, input;
    if (stat(path, &output) || !S_ISREG(output.st_mode))
        return 0;
    for (size_t i = 0; i < n; i++)
        if (stat(inputs[i], &input) == 0 && input.st_dev == output.st_dev &&
            input.st_ino == output.st_ino)
            return dg_error_set(err, DG_EINVAL,
                "%s is an input: it would be overwritten; name another output", path);
    return 0;
}

/* An existing folder is fine, an existing file is not. */
static int make_one(const char *path, struct dg_error *err)
{
    struct stat st;
    if (mkdir(path, 0777) == 0)
        return 0;
    int reason = errno;
    if (stat(path, &st) == 0) {
        if (S_ISDIR(st.st_mode))
            return 0;
        reason = reason == EEXIST ? ENOTDIR : reason;
    }
    errno = reason;
    return dg_file_fail(err, "make folder", path);
}

int dg_file_make_dir(const char *path, struct dg_error *err)
{
    char *p = strdup(path);
    if (!p)
        return dg_error_set(err, DG_ENOMEM, "cannot make folder %s: out of memory", path);
    int rc = 0;
    for (char *s = p + (p[0] == '/'); rc == 0 && (s = strchr(s, '/')); s++) {
        *s = '\0';
        rc = make_one(p, err);
        *s = '/';
    }
    if (rc == 0)
        rc = make_one(p, err);
    free(p);
    return rc;
}
