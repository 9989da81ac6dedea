/* Waits for the device: the thread sleeps, and a thread of our own looks after it. A device that
 * hangs never answers, nor does the driver's call that waits for it: all that is left is to end the
 * program, so that whoever started it starts it again. Until then a server's /livez says `stuck`.
 */
#include "kernels/cuda/internal.h"

#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE = 60, HUNG = 1 };

struct dg_watch {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool closing; /* the lock's */
    uint64_t patience_ns;
    _Atomic(uint64_t) since; /* when the wait began; 0: nobody waits */
    char device[96];
};

int dg_cuda_event(struct dg_cuda *cu, cudaEvent_t *out)
{
    const int rc = dg_cuda_here(cu);
    return rc ? rc
              : (int)cudaEventCreateWithFlags(out, cudaEventDisableTiming | cudaEventBlockingSync);
}

bool dg_cuda_reach(struct dg_cuda *cu, cudaEvent_t event, const char *what)
{
    atomic_store(&cu->watch->since, dg_clock_ns());
    const cudaError_t rc = cudaEventSynchronize(event);
    atomic_store(&cu->watch->since, 0);
    return dg_cuda_ok(cu, rc, what);
}

static void look(const struct dg_watch *w)
{
    const uint64_t since = atomic_load(&w->since), now = dg_clock_ns();
    if (!since || now < since || now - since < w->patience_ns)
        return;
    dg_log(DG_LOG_ERROR,
        "cuda_hung msg=\"the device has not answered: the program ends\" device=%s seconds=%.1f",
        w->device, (double)(now - since) / 1e9);
    _exit(HUNG);
}

static void *keep_watch(void *arg)
{
    struct dg_watch *w = arg;
    pthread_mutex_lock(&w->lock);
    while (!w->closing) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        const uint64_t at = (uint64_t)until.tv_nsec + w->patience_ns / 4;
        until.tv_sec += (time_t)(at / 1000000000u);
        until.tv_nsec = (long)(at % 1000000000u);
        pthread_cond_timedwait(&w->wake, &w->lock, &until);
        look(w);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static int read_patience(double *out, struct dg_error *err)
{
    const char *text = getenv("DRAGOMAN_CUDA_PATIENCE");
    char *end = NULL;
    *out = PATIENCE;
    if (!text || !*text)
        return DG_OK;
    *out = strtod(text, &end);
    return !*end && *out >= 0 && *out <= 86400
               ? DG_OK
               : dg_error_set(err, DG_EINVAL,
                     "DRAGOMAN_CUDA_PATIENCE is \"%s\", it can be 0 to 86400 seconds", text);
}

int dg_watch_open(const char *device, struct dg_watch **out, struct dg_error *err)
{
    double seconds;
    pthread_condattr_t clock;
    const int rc = read_patience(&seconds, err);
    struct dg_watch *w = rc ? NULL : calloc(1, sizeof *w);
    *out = w;
    if (rc)
        return rc;
    if (!w)
        return dg_error_set(err, DG_ENOMEM, "no memory to watch a device");
    strncpy(w->device, device, sizeof w->device - 1);
    w->patience_ns = (uint64_t)(seconds * 1e9);
    if (!w->patience_ns)
        return DG_OK;
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&w->wake, &clock);
    pthread_condattr_destroy(&clock);
    if (!pthread_create(&w->thread, NULL, keep_watch, w))
        return DG_OK;
    w->patience_ns = 0;
    return dg_error_set(err, DG_ENOMEM, "no thread to watch a device");
}

void dg_watch_close(struct dg_watch *w)
{
    if (w && w->patience_ns) {
        pthread_mutex_lock(&w->lock);
        w->closing = true;
        pthread_cond_signal(&w->wake);
        pthread_mutex_unlock(&w->lock);
        pthread_join(w->thread, NULL);
        pthread_cond_destroy(&w->wake);
        pthread_mutex_destroy(&w->lock);
    }
    free(w);
}
