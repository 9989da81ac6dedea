#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define WRITE_BUFFER_BYTES ((size_t)65536)

struct dg_file_writer {
    int fd;
    /* error code of the first failure; every later call returns it */
    int code;
    char *path, *tmp;
    /* bytes waiting in data */
    size_t used;
    unsigned char data[WRITE_BUFFER_BYTES];
};

char *dg_file_join(const char *dir, const char *name)
{
    char *path;
    return asprintf(&path, "%s/%s", dir, name) < 0 ? NULL : path;
}

/* "cannot WHAT PATH: reason" from errno. */
static int fail(struct dg_error *err, const char *what, const char *path)
{
    int code = errno == ENOENT ? DG_ENOTFOUND : errno == ENOMEM ? DG_ENOMEM : DG_EIO;
    return dg_error_set(err, code, "cannot %s %s: %s", what, path, strerror(errno));
}

static int open_read(const char *path, struct stat *st, struct dg_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(err, "open", path);
    int rc = 0;
    if (fstat(fd, st) != 0)
        rc = fail(err, "stat", path);
    else if (S_ISDIR(st->st_mode))
        rc = dg_error_set(err, DG_EIO, "cannot read %s: it is a directory", path);
    if (rc)
        close(fd);
    return rc ? rc : fd;
}

int dg_file_map(const char *path, struct dg_map *out, struct dg_error *err)
{
    struct stat st;
    memset(out, 0, sizeof *out);
    int fd = open_read(path, &st, err);
    if (fd < 0)
        return fd;
    int rc = 0;
    if (!S_ISREG(st.st_mode)) {
        rc = dg_error_set(err, DG_EIO, "cannot map %s: it is not a regular file", path);
    } else if (st.st_size == 0) {
        out->data = (const unsigned char *)""; /* mmap refuses a length of 0 */
    } else {
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
        if (p == MAP_FAILED) {
            rc = fail(err, "map", path);
        } else {
            out->data = p;
            out->size = (size_t)st.st_size;
        }
    }
    close(fd);
    return rc;
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
            return fail(err, "read", path);
        if (k == 0 && at == n)
            return 0;
        if (k == 0 || at == n)
            return dg_error_set(
                err, DG_EIO, "cannot read %s: its size changes while it is read", path);
        at += (size_t)k;
    }
}

int dg_file_load(const char *path, struct dg_map *out, struct dg_error *err)
{
    struct stat st;
    memset(out, 0, sizeof *out);
    int fd = open_read(path, &st, err);
    if (fd < 0)
        return fd;
    int rc = 0;
    void *p = NULL;
    if (!S_ISREG(st.st_mode)) {
        rc = dg_error_set(err, DG_EIO, "cannot load %s: it is not a regular file", path);
    } else if (st.st_size == 0) {
        out->data = (const unsigned char *)"";
    } else {
        p = mmap(
            NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#ifdef MADV_HUGEPAGE
        if (p != MAP_FAILED)
            madvise(p, (size_t)st.st_size, MADV_HUGEPAGE); /* a hint: refusal is fine */
#endif
        rc = p == MAP_FAILED ? fail(err, "take memory for", path)
                             : read_whole(fd, path, p, (size_t)st.st_size, err);
        if (rc && p != MAP_FAILED)
            munmap(p, (size_t)st.st_size);
    }
    close(fd);
    if (rc || !p)
        return rc;
    *out = (struct dg_map){.data = p, .size = (size_t)st.st_size, .loaded = true};
    return 0;
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
            rc = fail(err, "read", path);
        if (n <= 0)
            break;
        dg_buffer_add(b, chunk, (size_t)n);
    }
    close(fd);
    if (rc == 0 && b->failed)
        rc = dg_error_set(err, DG_ENOMEM, "cannot read %s: out of memory", path);
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

static void writer_free(struct dg_file_writer *w)
{
    free(w->tmp);
    free(w->path);
    free(w);
}

/* Open a new file beside path. The name is random because two containers that share a folder may
 * have the same PID; O_EXCL because another writer's file must never become ours. */
static int open_tmp(struct dg_file_writer *w)
{
    size_t cap = strlen(w->path) + 48;
    w->tmp = malloc(cap);
    if (!w->tmp)
        return -1;
    for (int tries = 0; tries < 100; tries++) {
        unsigned random = (unsigned)tries;
        if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0)
            random += (unsigned)getpid() * 1000u;
        snprintf(w->tmp, cap, "%s.tmp-%ld-%08x", w->path, (long)getpid(), random);
        w->fd = open(w->tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (w->fd >= 0 || errno != EEXIST)
            break;
    }
    return w->fd < 0 ? -1 : 0;
}

int dg_file_begin(const char *path, struct dg_file_writer **out, struct dg_error *err)
{
    struct stat old;
    *out = NULL;
    struct dg_file_writer *w = malloc(sizeof *w);
    if (!w)
        return dg_error_set(err, DG_ENOMEM, "cannot write %s: out of memory", path);
    w->fd = -1;
    w->code = 0;
    w->used = 0;
    w->tmp = NULL;
    w->path = strdup(path);
    if (!w->path || open_tmp(w) != 0) {
        int rc = fail(err, "write", path);
        writer_free(w);
        return rc;
    }
    /* A file that was private stays private. Best effort: a filesystem without modes is no reason
     * to fail. */
    if (stat(path, &old) == 0 && S_ISREG(old.st_mode))
        (void)!fchmod(w->fd, old.st_mode & 0777);
    *out = w;
    return 0;
}

static int write_all(
    struct dg_file_writer *w, const unsigned char *p, size_t n, struct dg_error *err)
{
    while (n > 0) {
        ssize_t k = write(w->fd, p, n);
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0)
            return w->code = fail(err, "write", w->path);
        p += k;
        n -= (size_t)k;
    }
    return 0;
}

static int flush(struct dg_file_writer *w, struct dg_error *err)
{
    size_t n = w->used;
    w->used = 0;
    return write_all(w, w->data, n, err);
}

int dg_file_append(struct dg_file_writer *w, const void *data, size_t n, struct dg_error *err)
{
    if (w->code)
        return dg_error_set(err, w->code, "cannot write %s: an earlier write failed", w->path);
    if (n > sizeof w->data - w->used) {
        int rc = flush(w, err);
        if (rc)
            return rc;
    }
    if (n >= sizeof w->data)
        return write_all(w, data, n, err);
    if (n)
        memcpy(w->data + w->used, data, n);
    w->used += n;
    return 0;
}

/* Make the new name itself durable. Some filesystems cannot fsync a folder (EINVAL); that is not an
 * error. */
static int sync_folder(const char *path, struct dg_error *err)
{
    char *folder = strdup(path);
    if (!folder)
        return dg_error_set(err, DG_ENOMEM, "cannot sync the folder of %s: out of memory", path);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    const char *name = slash ? folder : ".";
    int rc = 0;
    int fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 || (fsync(fd) != 0 && errno != EINVAL))
        rc = fail(err, "sync the folder", name);
    if (fd >= 0)
        close(fd);
    free(folder);
    return rc;
}

int dg_file_commit_take(struct dg_file_writer *w, struct dg_error *err)
{
    int rc = w->code
                 ? dg_error_set(err, w->code, "cannot write %s: an earlier write failed", w->path)
                 : flush(w, err);
    if (rc == 0 && fsync(w->fd) != 0)
        rc = fail(err, "sync", w->path);
    if (close(w->fd) != 0 && rc == 0)
        rc = fail(err, "close", w->path);
    if (rc == 0 && rename(w->tmp, w->path) != 0)
        rc = fail(err, "replace", w->path);
    if (rc)
        unlink(w->tmp);
    else
        rc = sync_folder(w->path, err);
    writer_free(w);
    return rc;
}

void dg_file_abort(struct dg_file_writer *w)
{
    if (!w)
        return;
    close(w->fd);
    unlink(w->tmp);
    writer_free(w);
}

int dg_file_write(const char *path, const void *data, size_t n, struct dg_error *err)
{
    struct dg_file_writer *w;
    int rc = dg_file_begin(path, &w, err);
    if (rc)
        return rc;
    rc = dg_file_append(w, data, n, err);
    if (rc) {
        dg_file_abort(w);
        return rc;
    }
    return dg_file_commit_take(w, err);
}

/* True for names that open_tmp makes. */
static bool is_unfinished(const char *name)
{
    const char *at = strstr(name, ".tmp-");
    unsigned random;
    long pid;
    int n = 0;
    return at && sscanf(at, ".tmp-%ld-%8x%n", &pid, &random, &n) == 2 && !at[n];
}

void dg_file_drop_unfinished(const char *dir)
{
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));)
        if (is_unfinished(e->d_name))
            unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
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
    return fail(err, "make folder", path);
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
