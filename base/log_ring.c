#include "base/log_ring.h"

#include "base/thread_name.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RING_BYTES (256u << 10)
#define WRITE_BYTES 4096 /* PIPE_BUF: a write of this size is not mixed with other lines */
#define STOP_S 1
#define REST_NS 20000000 /* pause after a write, so that more lines are written together */
#define HURRY_BYTES (RING_BYTES / 2)

enum state { DIRECT, RUNNING, STOPPING, ENDED, STUCK };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t filled, ended;
    /* guarded by lock */
    enum state state;
    char bytes[RING_BYTES];
    /* position and number of the queued bytes */
    size_t at, n;
    /* the thread sleeps until a line comes */
    bool idle;
    uint64_t dropped, told;
    size_t (*tell)(char line[DG_LOG_LINE], uint64_t dropped);
} ring = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Returns how many bytes were written: fewer than n if stderr takes no more, as on a full disk. A
 * pipe that is full is waited for, also if another process, which shares it, has made it
 * non-blocking. */
static size_t write_all(const char *s, size_t n)
{
    struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};
    size_t done = 0;
    while (done < n) {
        ssize_t k = write(STDERR_FILENO, s + done, n - done);
        if (k < 0 && errno == EAGAIN)
            poll(&room, 1, -1);
        else if (k > 0)
            done += (size_t)k;
        else if (k == 0 || errno != EINTR)
            break;
    }
    return done;
}

/* Writes whole lines; returns how many are missing. *cut: the last line that was written has no
 * end, so that the next one begins with a line feed. */
static uint64_t write_whole(const char *s, size_t n, bool *cut)
{
    uint64_t missing = 0;
    if (n > 0 && *cut)
        *cut = write_all("\n", 1) == 0;
    size_t done = *cut ? 0 : write_all(s, n);
    if (done > 0)
        *cut = s[done - 1] != '\n';
    for (; done < n; done++)
        missing += s[done] == '\n';
    return missing;
}

/* False: the number of missing lines could not be written either. */
static bool tell_missing(uint64_t missing, bool *cut)
{
    char line[DG_LOG_LINE];
    return missing == 0 || write_whole(line, ring.tell(line, missing), cut) == 0;
}

/* Copy n bytes of the ring from `at` on, wrapping around its end. Lock held. */
static void copy_out(char *to, size_t n)
{
    size_t first = RING_BYTES - ring.at < n ? RING_BYTES - ring.at : n;
    memcpy(to, ring.bytes + ring.at, first);
    memcpy(to + first, ring.bytes, n - first);
}

/* Take as many whole lines as fit; returns their bytes. Lock held. */
static size_t take_lines(char *to)
{
    size_t n = ring.n < WRITE_BYTES ? ring.n : WRITE_BYTES;
    copy_out(to, n);
    while (n > 0 && to[n - 1] != '\n')
        n--;
    ring.at = (ring.at + n) % RING_BYTES;
    ring.n -= n;
    return n;
}

/* Pause, so that many requests with a line each do not wake the thread for each line. Lock held. */
static void rest(void)
{
    struct timespec until;
    int rc = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += REST_NS;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    while (ring.state == RUNNING && ring.n < HURRY_BYTES && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&ring.filled, &ring.lock, &until);
}

static void *write_lines(void *arg)
{
    char chunk[WRITE_BYTES];
    /* failed: lines before the next chunk are missing */
    bool cut = false, failed = false;
    (void)arg;
    dg_thread_name("log");
    pthread_mutex_lock(&ring.lock);
    for (;;) {
        while (ring.n == 0 && ring.state == RUNNING) {
            ring.idle = true;
            pthread_cond_wait(&ring.filled, &ring.lock);
        }
        ring.idle = false;
        if (ring.n == 0 && (failed || ring.told == ring.dropped))
            break;
        size_t n = take_lines(chunk);
        /* Report dropped lines in the place where they are missing: those that found no room in the
         * ring come after it, those that could not be written come before it. */
        const uint64_t lost = ring.dropped - ring.told;
        pthread_mutex_unlock(&ring.lock);
        bool told = failed && tell_missing(lost, &cut);
        const uint64_t missing = write_whole(chunk, n, &cut);
        if (!failed)
            told = missing == 0 && tell_missing(lost, &cut);
        failed = missing > 0 || !told;
        pthread_mutex_lock(&ring.lock);
        ring.told += told ? lost : 0;
        ring.dropped += missing;
        rest();
    }
    ring.state = ENDED;
    pthread_cond_signal(&ring.ended);
    pthread_mutex_unlock(&ring.lock);
    return NULL;
}

int dg_log_ring_start(
    size_t (*tell)(char line[DG_LOG_LINE], uint64_t dropped), struct dg_error *err)
{
    pthread_t thread;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&ring.ended, &monotonic);
    pthread_cond_init(&ring.filled, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_lock(&ring.lock);
    ring.state = RUNNING;
    ring.tell = tell;
    pthread_mutex_unlock(&ring.lock);
    int number = pthread_create(&thread, NULL, write_lines, NULL);
    if (number != 0) {
        ring.state = DIRECT;
        return dg_error_set(err, DG_EIO, "cannot start a thread: %s", strerror(number));
    }
    pthread_detach(thread); /* nobody waits for a write that may never return */
    return DG_OK;
}

void dg_log_ring_stop(void)
{
    struct timespec until;
    int rc = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += STOP_S;
    pthread_mutex_lock(&ring.lock);
    if (ring.state == RUNNING) {
        ring.state = STOPPING;
        pthread_cond_signal(&ring.filled);
        while (ring.state == STOPPING && rc != ETIMEDOUT)
            rc = pthread_cond_timedwait(&ring.ended, &ring.lock, &until);
        ring.state = ring.state == ENDED ? DIRECT : STUCK;
    }
    pthread_mutex_unlock(&ring.lock);
}

void dg_log_ring_put(const char *line, size_t n)
{
    pthread_mutex_lock(&ring.lock);
    if (ring.state == DIRECT) {
        pthread_mutex_unlock(&ring.lock);
        write_all(line, n);
        return;
    }
    if (ring.state == STUCK || n > RING_BYTES - ring.n) {
        ring.dropped++;
    } else {
        size_t to = (ring.at + ring.n) % RING_BYTES;
        size_t first = RING_BYTES - to < n ? RING_BYTES - to : n;
        memcpy(ring.bytes + to, line, first);
        memcpy(ring.bytes, line + first, n - first);
        ring.n += n;
        if (ring.idle || ring.n >= HURRY_BYTES)
            pthread_cond_signal(&ring.filled);
    }
    pthread_mutex_unlock(&ring.lock);
}

uint64_t dg_log_ring_dropped(void)
{
    pthread_mutex_lock(&ring.lock);
    uint64_t n = ring.dropped;
    pthread_mutex_unlock(&ring.lock);
    return n;
}
