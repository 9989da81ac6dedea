/* Waits for the device: the thread sleeps while a timer limits the wait. A device that hangs never
 * answers, and the driver's call that waits for it never returns: all that is left is to end the
 * program, so that its supervisor starts it again. Until then a server's /livez says `stuck`. */
#include "kernels/cuda/internal.h"

#include "base/log.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { PATIENCE = 60, HUNG = 1 };

int dg_cuda_event(struct dg_cuda *cu, cudaEvent_t *out)
{
    const int rc = dg_cuda_here(cu);
    return rc ? rc
              : (int)cudaEventCreateWithFlags(out, cudaEventDisableTiming | cudaEventBlockingSync);
}

/* Set the timer to fire in this many seconds; 0: never. */
static void set_timer(struct dg_cuda *cu, double seconds)
{
    struct itimerspec at = {.it_value.tv_sec = (time_t)seconds};
    at.it_value.tv_nsec = (long)((seconds - (double)at.it_value.tv_sec) * 1e9);
    if (cu->patience_s > 0)
        timer_settime(cu->timer, 0, &at, NULL);
}

bool dg_cuda_reach(struct dg_cuda *cu, cudaEvent_t event, const char *what)
{
    set_timer(cu, cu->patience_s);
    const cudaError_t rc = cudaEventSynchronize(event);
    set_timer(cu, 0);
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
    const struct dg_cuda *cu = value.sival_ptr;
    dg_log(DG_LOG_ERROR,
        "cuda_hung msg=\"the device has not answered: the program ends\" device=%s seconds=%.1f",
        cu->name, cu->patience_s);
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

int dg_cuda_watch_open(struct dg_cuda *cu, struct dg_error *err)
{
    double seconds;
    const int rc = read_patience(&seconds, err);
    if (rc || seconds <= 0)
        return rc;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_value.sival_ptr = cu};
    event.sigev_notify_function = give_up;
    if (timer_create(CLOCK_MONOTONIC, &event, &cu->timer))
        return dg_error_set(err, DG_ENOMEM, "no timer to watch a device");
    cu->patience_s = seconds;
    return DG_OK;
}

void dg_cuda_watch_close(struct dg_cuda *cu)
{
    if (cu->patience_s > 0)
        timer_delete(cu->timer);
}
