/* Files written whole or not at all: a temporary file beside the target, renamed over it at the
 * end. What is no regular file (a device, a pipe) is written in place. */
#include "base/file_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define WRITE_BUFFER_BYTES ((size_t)65536)
#define MOST_LINKS 40 /* as in the kernel */

struct dg_file_writer {
    int fd;
    /* error code of the first failure; every later call returns it */
    int code;
    /* as given */
    char *path;
    /* the file at the end of all links, which tmp replaces; both NULL: path is written in place */
    char *target, *tmp;
    /* bytes waiting in data */
    size_t used;
    unsigned char data[WRITE_BUFFER_BYTES];
};

static void writer_free(struct dg_file_writer *w)
{
    free(w->tmp);
    free(w->target);
    free(w->path);
    free(w);
}

/* Open a new file beside the target. The name is random because two containers that share a folder
 * may have the same PID; O_EXCL because another writer's file must never become ours. */
static int open_tmp(struct dg_file_writer *w)
{
    size_t cap = strlen(w->target) + 48;
    w->tmp = malloc(cap);
    if (!w->tmp)
        return -1;
    for (int tries = 0; tries < 100; tries++) {
        unsigned random = (unsigned)tries;
        if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0)
            random += (unsigned)getpid() * 1000u;
        snprintf(w->tmp, cap, "%s.tmp-%ld-%08x", w->target, (long)getpid(), random);
        w->fd = open(w->tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (w->fd >= 0 || errno != EEXIST)
            break;
    }
    return w->fd < 0 ? -1 : 0;
}

/* True if the link at `at` is one of procfs, such as /proc/self/fd/1: its text is no path. */
static bool is_descriptor(const char *at)
{
    struct statfs fs;
    const int fd = open(at, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    const bool proc = fd >= 0 && fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
    if (fd >= 0)
        close(fd);
    return proc;
}

/* As the kernel's fs.protected_symlinks: in a folder such as /tmp, another user's link is not
 * followed, because it could lead to any file of ours. False: errno. */
static bool may_follow(const char *at)
{
    struct stat link, in;
    const char *slash = strrchr(at, '/');
    char *folder = slash ? strndup(at, (size_t)(slash + (slash == at) - at)) : strdup(".");
    const bool known = folder && lstat(at, &link) == 0 && stat(folder, &in) == 0;
    const mode_t shared = S_ISVTX | S_IWOTH;
    free(folder);
    if (!known)
        return false;
    if ((in.st_mode & shared) != shared || link.st_uid == geteuid() || link.st_uid == in.st_uid)
        return true;
    errno = EACCES;
    return false;
}

/* The file that a chain of links ends at, whether it exists or not, or the link of a descriptor.
 * Owned by the caller; NULL: errno. */
static char *follow_links(const char *path)
{
    char link[PATH_MAX];
    char *at = strdup(path);
    for (int links = 0; at; links++) {
        const ssize_t n = readlink(at, link, sizeof link - 1);
        if (n < 0 || is_descriptor(at))
            return at;
        link[n] = '\0';
        const char *slash = strrchr(at, '/');
        const int folder = link[0] == '/' || !slash ? 0 : (int)(slash + 1 - at);
        char *next = NULL;
        if (links == MOST_LINKS)
            errno = ELOOP;
        else if (may_follow(at) && asprintf(&next, "%.*s%s", folder, at, link) < 0)
            next = NULL;
        free(at);
        at = next;
    }
    return NULL;
}

/* Opens a descriptor's link. Our own is duplicated, so that the bytes go where its next ones would
 * go: opened again, a file would be written from its beginning. */
static int open_descriptor(const char *at)
{
    struct stat there, ours;
    const int fd = atoi(strrchr(at, '/') + 1);
    if (stat(at, &there) == 0 && fstat(fd, &ours) == 0 && there.st_dev == ours.st_dev &&
        there.st_ino == ours.st_ino)
        return fcntl(fd, F_DUPFD_CLOEXEC, 0);
    return open(at, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
}

/* Opens what is no file of its own (a device, a pipe, a descriptor) in place. False: at is one that
 * can be replaced. */
static bool open_in_place(struct dg_file_writer *w, const char *at)
{
    struct stat old;
    if (at[0] == '/' && is_descriptor(at))
        w->fd = open_descriptor(at);
    else if (stat(at, &old) == 0 && !S_ISREG(old.st_mode) && !S_ISDIR(old.st_mode))
        w->fd = open(at, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    else
        return false;
    return true;
}

/* Open the file to write to: in place, or a temporary one beside it. */
static int open_target(struct dg_file_writer *w)
{
    struct stat old;
    char *at = follow_links(w->path);
    if (!at)
        return -1;
    if (open_in_place(w, at)) {
        free(at);
        return w->fd < 0 ? -1 : 0;
    }
    w->target = at;
    if (open_tmp(w) != 0)
        return -1;
    /* A file that was private stays private. Best effort: a filesystem without modes is no reason
     * to fail. */
    if (stat(at, &old) == 0 && S_ISREG(old.st_mode))
        (void)!fchmod(w->fd, old.st_mode & 0777);
    return 0;
}

int dg_file_begin(const char *path, struct dg_file_writer **out, struct dg_error *err)
{
    *out = NULL;
    struct dg_file_writer *w = malloc(sizeof *w);
    if (!w)
        return dg_error_set(err, DG_ENOMEM, "cannot write %s: out of memory", path);
    w->fd = -1;
    w->code = 0;
    w->used = 0;
    w->target = w->tmp = NULL;
    w->path = strdup(path);
    if (!w->path || open_target(w) != 0) {
        int rc = dg_file_fail(err, "write", path);
        writer_free(w);
        return rc;
    }
    *out = w;
    return 0;
}

/* A nearly full disk accepts a part; the next write fails with the reason. */
bool dg_file_put(int fd, const void *data, size_t n)
{
    const char *p = data;
    while (n > 0) {
        const ssize_t k = write(fd, p, n);
        if (k == 0)
            errno = ENOSPC;
        if (k == 0 || (k < 0 && errno != EINTR))
            return false;
        p += k > 0 ? k : 0;
        n -= k > 0 ? (size_t)k : 0;
    }
    return true;
}

static int write_all(struct dg_file_writer *w, const void *data, size_t n, struct dg_error *err)
{
    if (!dg_file_put(w->fd, data, n))
        w->code = dg_file_fail(err, "write", w->path);
    return w->code;
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
        rc = dg_file_fail(err, "sync the folder", name);
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
    if (rc == 0 && w->tmp && fsync(w->fd) != 0) /* pipes and devices cannot */
        rc = dg_file_fail(err, "sync", w->path);
    if (close(w->fd) != 0 && rc == 0)
        rc = dg_file_fail(err, "close", w->path);
    if (rc == 0 && w->tmp && rename(w->tmp, w->target) != 0)
        rc = dg_file_fail(err, "replace", w->path);
    if (rc && w->tmp)
        unlink(w->tmp);
    else if (!rc && w->tmp)
        rc = sync_folder(w->target, err);
    writer_free(w);
    return rc;
}

void dg_file_abort(struct dg_file_writer *w)
{
    if (!w)
        return;
    close(w->fd);
    if (w->tmp)
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
