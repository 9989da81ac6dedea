/* Waits for the device: the thread sleeps while a timer limits the wait. A device that hangs never
 * answers, and the driver's call that waits for it never returns: all that is left is to end the
 * program, so that its supervisor starts it again. Until then a server's /livez says `stuck`. */
#include "kernels/cuda/internal.h"

#include "base/log.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE = 60, HUNG = 1 };

/* patience_s 0: no timer */
struct dg_watch {
    timer_t timer;
    double patience_s;
    char device[96];
};

int dg_cuda_event(struct dg_cuda *cu, cudaEvent_t *out)
{
    const int rc = dg_cuda_here(cu);
    return rc ? rc
              : (int)cudaEventCreateWithFlags(out, cudaEventDisableTiming | cudaEventBlockingSync);
}

/* Set the timer to fire in this many seconds; 0: never. */
static void set_timer(struct dg_watch *w, double seconds)
{
    struct itimerspec at = {.it_value.tv_sec = (time_t)seconds};
    at.it_value.tv_nsec = (long)((seconds - (double)at.it_value.tv_sec) * 1e9);
    if (w->patience_s > 0)
        timer_settime(w->timer, 0, &at, NULL);
}

bool dg_cuda_reach(struct dg_cuda *cu, cudaEvent_t event, const char *what)
{
    set_timer(cu->watch, cu->watch->patience_s);
    const cudaError_t rc = cudaEventSynchronize(event);
    set_timer(cu->watch, 0);
    return dg_cuda_ok(cu, rc, what);
}

bool dg_cuda_passed(struct dg_cuda *cu, cudaEvent_t event, const char *what)
{
    const cudaError_t rc = cudaEventQuery(event);
    if (rc == cudaErrorNotReady)
        cudaGetLastError(); /* clear it, or the next launch would find it */
    else
        dg_cuda_ok(cu, rc, what);
    return rc != cudaErrorNotReady;
}

/* Runs on a thread of the timer. */
static void give_up(union sigval value)
{
    const struct dg_watch *w = value.sival_ptr;
    dg_log(DG_LOG_ERROR,
        "cuda_hung msg=\"the device has not answered: the program ends\" device=%s seconds=%.1f",
        w->device, w->patience_s);
    _exit(HUNG);
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
    struct dg_watch *w = calloc(1, sizeof *w);
    *out = w;
    if (!w)
        return dg_error_set(err, DG_ENOMEM, "no memory to watch a device");
    double seconds;
    const int rc = read_patience(&seconds, err);
    if (rc || seconds <= 0)
        return rc;
    strncpy(w->device, device, sizeof w->device - 1);
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_value.sival_ptr = w};
    event.sigev_notify_function = give_up;
    if (timer_create(CLOCK_MONOTONIC, &event, &w->timer))
        return dg_error_set(err, DG_ENOMEM, "no timer to watch a device");
    w->patience_s = seconds;
    return DG_OK;
}

void dg_watch_close(struct dg_watch *w)
{
    if (w && w->patience_s > 0)
        timer_delete(w->timer);
    free(w);
}
