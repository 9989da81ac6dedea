/* A library for LD_PRELOAD that makes calls of a program fail: memory (malloc and its relatives,
 * C++'s new through them, mmap, threads), files (open, read, write, sync, rename, ...) and the wall
 * clock, which it shifts. The environment's FAULTS_CONTROL names a file with a struct
 * faults_control; without it nothing fails. Any thread. Not for programs built with a sanitizer,
 * which have an allocator of their own. */
#include "tests/faults/control.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* glibc's own allocator, under its other names */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t alignment, size_t n);
void __libc_free(void *p);

static struct faults_control *control;
/* Set while this library itself works: its own calls do not fail and are not counted. */
static __thread bool busy __attribute__((tls_model("initial-exec")));

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("FAULTS_CONTROL");
    void *frames[1];
    busy = true;
    int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd >= 0) {
        backtrace(frames, 1); /* loads what later calls need */
        void *p = (void *)syscall(
            SYS_mmap, NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        control = p == MAP_FAILED ? NULL : p;
        close(fd);
    }
    busy = false;
}

/* Memory ------------------------------------------------------------------------------------- */

static struct faults_place *place_of(uint64_t call)
{
    void *frames[FAULTS_FRAMES];
    const int depth = backtrace(frames, FAULTS_FRAMES);
    uint64_t hash = 14695981039346656037u;
    /* offset within a page: the same wherever libraries are loaded */
    for (int i = 2; i < depth; i++)
        hash = (hash ^ ((uint64_t)(uintptr_t)frames[i] & 0xFFF)) * 1099511628211u;
    hash += hash == 0;
    for (uint64_t i = 0; i < FAULTS_PLACES; i++) {
        struct faults_place *p = &control->places[(hash + i) % FAULTS_PLACES];
        uint64_t none = 0;
        if (atomic_compare_exchange_strong(&p->hash, &none, hash)) {
            for (int k = 2; k < depth; k++)
                p->frames[k - 2] = (uint64_t)(uintptr_t)frames[k];
            p->first = call;
            p->depth = (uint64_t)(depth > 2 ? depth - 2 : 0);
        }
        if (p->hash == hash) {
            p->count++;
            return p;
        }
    }
    return NULL;
}

static bool take_one(_Atomic uint64_t *n)
{
    uint64_t have = *n;
    while (have > 0)
        if (atomic_compare_exchange_weak(n, &have, have - 1))
            return true;
    return false;
}

static void say_where(void)
{
    void *frames[FAULTS_FRAMES];
    backtrace_symbols_fd(frames, backtrace(frames, FAULTS_FRAMES), STDERR_FILENO);
}

/* Counts an allocation; true if it is to fail. */
static bool out_of_memory(void)
{
    if (!control || busy)
        return false;
    busy = true;
    const uint64_t call = ++control->calls;
    bool fails = false;
    if (control->record || control->fail_place) {
        const struct faults_place *p = place_of(call);
        fails = p && p->hash == control->fail_place && !take_one(&control->fail_skip) &&
                take_one(&control->fail_times);
    }
    if (fails) {
        control->failed++;
        if (control->trace)
            say_where();
        errno = ENOMEM;
    }
    busy = false;
    return fails;
}

static void *counted(void *p)
{
    if (p && control && !busy)
        control->live++;
    return p;
}

void *malloc(size_t n)
{
    return out_of_memory() ? NULL : counted(__libc_malloc(n));
}

void *calloc(size_t n, size_t size)
{
    return out_of_memory() ? NULL : counted(__libc_calloc(n, size));
}

void *realloc(void *p, size_t n)
{
    if (n > 0 && out_of_memory())
        return NULL;
    if (p && n == 0 && control && !busy)
        control->live--;
    void *q = __libc_realloc(p, n);
    return p ? q : counted(q);
}

void *reallocarray(void *p, size_t n, size_t size)
{
    if (size && n > SIZE_MAX / size) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(p, n * size);
}

void *memalign(size_t alignment, size_t n)
{
    return out_of_memory() ? NULL : counted(__libc_memalign(alignment, n));
}

void *aligned_alloc(size_t alignment, size_t n)
{
    return memalign(alignment, n);
}

int posix_memalign(void **p, size_t alignment, size_t n)
{
    const int before = errno;
    void *q = memalign(alignment, n);
    errno = before;
    if (!q)
        return ENOMEM;
    *p = q;
    return 0;
}

void free(void *p)
{
    if (p && control && !busy)
        control->live--;
    __libc_free(p);
}

void *mmap(void *p, size_t n, int protection, int flags, int fd, off_t at)
{
    if (out_of_memory())
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, p, n, protection, flags, fd, at);
}
void *mmap64(void *p, size_t n, int protection, int flags, int fd, off_t at)
    __attribute__((alias("mmap")));

/* Returns the next library's function of this name. */
static void *real(const char *name)
{
    const bool was = busy;
    busy = true;
    void *f = dlsym(RTLD_NEXT, name);
    busy = was;
    return f;
}

int pthread_create(
    pthread_t *thread, const pthread_attr_t *attr, void *(*run)(void *), void *argument)
{
    int (*f)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (out_of_memory())
        return EAGAIN;
    *(void **)&f = real("pthread_create");
    return f(thread, attr, run, argument);
}

/* Files -------------------------------------------------------------------------------------- */

/* Counts a call; true if it is to fail, with errno set. The call is on fd, or on the file `path` if
 * fd is -1. */
static bool io_fails(unsigned kind, int fd, const char *path)
{
    char link[32], name[1024];
    if (!control || busy || !(control->io_mask & kind) || control->io_path[0] == '\0')
        return false;
    busy = true;
    if (fd >= 0) {
        ssize_t n;
        strcpy(link, "/proc/self/fd/");
        char digits[12], *d = digits + sizeof digits;
        *--d = '\0';
        for (unsigned k = (unsigned)fd; k || d == digits + sizeof digits - 1; k /= 10)
            *--d = (char)('0' + k % 10);
        strcat(link, d);
        n = readlink(link, name, sizeof name - 1);
        name[n > 0 ? n : 0] = '\0';
        path = name;
    }
    bool fails = false;
    if (strstr(path, control->io_path)) {
        const uint64_t call = ++control->io_calls, at = control->io_at;
        fails = at && call >= at && call - at < control->io_n;
        control->io_failed += fails;
        if (fails && control->trace)
            say_where();
        errno = fails ? (int)control->io_errno : errno;
    }
    busy = false;
    return fails;
}

/* How many of n bytes a failing call transfers: half of them for a short read or write, else -1. */
static ssize_t half(size_t n)
{
    return control->io_errno ? -1 : (ssize_t)(n / 2 + n % 2);
}

int open(const char *path, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (io_fails(FAULTS_OPEN, -1, path) && control->io_errno)
        return -1;
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) __attribute__((alias("open")));

ssize_t read(int fd, void *to, size_t n)
{
    if (io_fails(FAULTS_READ, fd, NULL) && (n = (size_t)half(n)) == (size_t)-1)
        return -1;
    return syscall(SYS_read, fd, to, n);
}

ssize_t pread(int fd, void *to, size_t n, off_t at)
{
    if (io_fails(FAULTS_READ, fd, NULL) && (n = (size_t)half(n)) == (size_t)-1)
        return -1;
    return syscall(SYS_pread64, fd, to, n, at);
}
ssize_t pread64(int fd, void *to, size_t n, off_t at) __attribute__((alias("pread")));

ssize_t write(int fd, const void *from, size_t n)
{
    if (io_fails(FAULTS_WRITE, fd, NULL) && (n = (size_t)half(n)) == (size_t)-1)
        return -1;
    return syscall(SYS_write, fd, from, n);
}

ssize_t pwrite(int fd, const void *from, size_t n, off_t at)
{
    if (io_fails(FAULTS_WRITE, fd, NULL) && (n = (size_t)half(n)) == (size_t)-1)
        return -1;
    return syscall(SYS_pwrite64, fd, from, n, at);
}
ssize_t pwrite64(int fd, const void *from, size_t n, off_t at) __attribute__((alias("pwrite")));

int fsync(int fd)
{
    if (io_fails(FAULTS_SYNC, fd, NULL) && control->io_errno)
        return -1;
    return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
    if (io_fails(FAULTS_SYNC, fd, NULL) && control->io_errno)
        return -1;
    return (int)syscall(SYS_fdatasync, fd);
}

int rename(const char *from, const char *to)
{
    if (io_fails(FAULTS_RENAME, -1, to) && control->io_errno)
        return -1;
    return (int)syscall(SYS_rename, from, to);
}

int ftruncate(int fd, off_t n)
{
    if (io_fails(FAULTS_TRUNCATE, fd, NULL) && control->io_errno)
        return -1;
    return (int)syscall(SYS_ftruncate, fd, n);
}
int ftruncate64(int fd, off_t n) __attribute__((alias("ftruncate")));

int mkdir(const char *path, mode_t mode)
{
    if (io_fails(FAULTS_MKDIR, -1, path) && control->io_errno)
        return -1;
    return (int)syscall(SYS_mkdir, path, mode);
}

/* The wall clock ------------------------------------------------------------------------------ */

int clock_gettime(clockid_t clock, struct timespec *t)
{
    static int (*f)(clockid_t, struct timespec *);
    if (!f)
        *(void **)&f = real("clock_gettime");
    const int rc = f(clock, t);
    if (rc == 0 && control && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        const int64_t ns = (int64_t)t->tv_sec * 1000000000 + t->tv_nsec + control->clock_ns;
        *t = (struct timespec){ns / 1000000000, ns % 1000000000};
    }
    return rc;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    const int rc = clock_gettime(CLOCK_REALTIME, &now);
    *t = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return rc;
}

time_t time(time_t *out)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    if (out)
        *out = now.tv_sec;
    return now.tv_sec;
}
