/* Sums over ranks with NCCL, on a stream beside the backend's: an event makes each sum wait for the
 * ops called before it, and no op waits for a sum, so that backward goes on. Only the host waits,
 * with a limit, and polls NCCL for errors meanwhile: a lost rank must end the run, not hold it.
 * NCCL's calls return before they are done (a configuration of 2.14): each is polled until it is.
 * The host's wait costs the device nothing but the launch of what follows it. */

#include "kernels/cuda/internal.h"
#include "base/clock.h"
#include "kernels/cuda/nccl.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ABORT_S = 5 };

struct dg_team {
    struct dg_cuda *cu;
    struct dg_nccl nccl;
    struct ncclComm *comm;
    cudaStream_t stream;
    /* ready: the ops before a sum are done; done: all sums are done */
    cudaEvent_t ready, done;
    double wait_s;
    /* there are sums that nobody has waited for yet */
    bool busy;
    /* the team's first failure; the device keeps its own */
    struct dg_error failure;
};

/* DG_OK, or why the team or its device failed. */
static int state(const struct dg_team *t, struct dg_error *err)
{
    if (t->failure.code)
        return dg_error_set(err, t->failure.code, "%s", t->failure.message);
    return dg_cuda_alive(t->cu) ? DG_OK : dg_cuda_status(&t->cu->base, err);
}

static void note(struct dg_team *t, int result, const char *what)
{
    const char *more = t->nccl.last_error(t->comm);
    dg_error_set(&t->failure, DG_EIO, "%s failed at %s between ranks: %s%s%.200s", t->nccl.what,
        what, t->nccl.error_string(result), more && *more ? ": " : "", more ? more : "");
}

/* How long a wait has lasted so far. A step of it counts at most a second: time for which the
 * process was suspended, as batch systems do, is not waiting time. */
struct patience {
    uint64_t last_ns;
    double waited_s;
};

/* Sleeps a little as part of a wait. False: the limit is reached, and t->failure is set. */
static bool endure(struct dg_team *t, struct patience *p, const char *what)
{
    const struct timespec nap = {0, 20000};
    const uint64_t now = dg_clock_ns();
    const double step = p->last_ns ? (double)(now - p->last_ns) * 1e-9 : 0;
    p->last_ns = now;
    p->waited_s += step < 1 ? step : 1;
    if (p->waited_s > t->wait_s) {
        dg_error_set(&t->failure, DG_ETIMEOUT,
            "no news from the other ranks for %g seconds at %s (DRAGOMAN_RANKS_WAIT sets how long)",
            t->wait_s, what);
        return false;
    }
    nanosleep(&nap, NULL);
    return true;
}

/* NCCL's result so far: DG_NCCL_IN_PROGRESS while a call that has returned is not done. */
static int progress(struct dg_team *t)
{
    int state = DG_NCCL_IN_PROGRESS;
    const int result = t->nccl.async_error(t->comm, &state);
    return result == DG_NCCL_SUCCESS ? state : result;
}

/* Waits until NCCL reports that a call which has returned is done. False: t->failure is set. */
static bool settled(struct dg_team *t, int result, const char *what)
{
    struct patience patience = {0};
    while (result == DG_NCCL_IN_PROGRESS) {
        result = progress(t);
        if (result == DG_NCCL_IN_PROGRESS && !endure(t, &patience, what))
            return false;
    }
    if (result == DG_NCCL_SUCCESS)
        return true;
    note(t, result, what);
    return false;
}

static int find(struct dg_train *t, char *what, size_t size, struct dg_error *err)
{
    struct dg_nccl nccl;
    (void)t;
    int rc = dg_nccl_open(&nccl, err);
    if (!rc)
        snprintf(what, size, "%s", nccl.what);
    return rc;
}

static int key(struct dg_train *train, unsigned char out[DG_TEAM_KEY], struct dg_error *err)
{
    struct dg_nccl nccl;
    struct dg_nccl_id id;
    _Static_assert(sizeof id == DG_TEAM_KEY, "NCCL's unique id is the key");
    if (!dg_cuda_alive(dg_cuda_of(train->be)))
        return dg_cuda_status(train->be, err);
    int rc = dg_nccl_open(&nccl, err);
    if (rc)
        return rc;
    const int result = nccl.new_id(&id);
    if (result != DG_NCCL_SUCCESS)
        return dg_error_set(err, DG_EIO, "%s has no address for the other ranks: %s", nccl.what,
            nccl.error_string(result));
    memcpy(out, &id, sizeof id);
    return DG_OK;
}

static void *abort_comm(void *arg)
{
    struct dg_team *t = arg;
    t->nccl.abort(t->comm);
    return NULL;
}

/* Aborts the communicator. NCCL's abort may itself wait for lost ranks: then its thread, and all
 * that the thread uses, are left until the process ends (false). */
static bool break_up(struct dg_team *t)
{
    struct timespec end;
    pthread_t thread;
    if (!t->comm)
        return true;
    if (pthread_create(&thread, NULL, abort_comm, t))
        return false;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += ABORT_S;
    if (!pthread_timedjoin_np(thread, NULL, &end))
        return true;
    pthread_detach(thread);
    return false;
}

static void leave(struct dg_team *t)
{
    if (!t)
        return;
    bool whole = !t->failure.code && !t->busy && dg_cuda_alive(t->cu) && t->comm;
    if (whole)
        whole = settled(t, t->nccl.finalize(t->comm), "the end");
    if (whole)
        t->nccl.destroy(t->comm);
    else if (!break_up(t))
        return;
    if (t->ready)
        cudaEventDestroy(t->ready);
    if (t->done)
        cudaEventDestroy(t->done);
    if (t->stream)
        cudaStreamDestroy(t->stream);
    free(t);
}

static void meet(struct dg_team *t, const struct dg_team_options *o)
{
    struct dg_nccl_config config = dg_nccl_config();
    struct dg_nccl_id id;
    memcpy(&id, o->key, sizeof id);
    if (dg_cuda_alive(t->cu) &&
        dg_cuda_ok(t->cu, cudaStreamCreateWithFlags(&t->stream, cudaStreamNonBlocking),
            "a stream for sums over ranks") &&
        dg_cuda_ok(t->cu, dg_cuda_event(t->cu, &t->ready), "an event") &&
        dg_cuda_ok(t->cu, dg_cuda_event(t->cu, &t->done), "an event"))
        settled(t, t->nccl.init(&t->comm, (int)o->ranks, id, (int)o->rank, &config), "meeting");
}

static int join(struct dg_train *train, const struct dg_team_options *o, struct dg_team **out,
    struct dg_error *err)
{
    struct dg_team *t = calloc(1, sizeof *t);
    *out = NULL;
    if (!t)
        return dg_error_set(err, DG_ENOMEM, "no memory for a team of %zu ranks", o->ranks);
    t->cu = dg_cuda_of(train->be);
    t->wait_s = o->wait_s;
    if (!dg_nccl_open(&t->nccl, &t->failure))
        meet(t, o);
    const int rc = state(t, err);
    if (rc)
        leave(t);
    else
        *out = t;
    return rc;
}

static int add(struct dg_team *t, float *x, size_t n, struct dg_error *err)
{
    assert(!dg_cuda_block_shadow(t->cu, x)); /* gradients are not multiplied: no copy */
    const int rc = state(t, err);
    if (rc || !n)
        return rc;
    t->busy = true;
    if (dg_cuda_ok(t->cu, cudaEventRecord(t->ready, t->cu->stream), "an event before a sum") &&
        dg_cuda_ok(t->cu, cudaStreamWaitEvent(t->stream, t->ready, 0), "waiting before a sum"))
        settled(t, t->nccl.all_reduce(x, x, n, DG_NCCL_FLOAT32, DG_NCCL_SUM, t->comm, t->stream),
            "adding gradients");
    return state(t, err);
}

static int wait_all(struct dg_team *t, struct dg_error *err)
{
    struct patience patience = {0};
    int rc = state(t, err);
    if (!rc && t->busy)
        dg_cuda_ok(t->cu, cudaEventRecord(t->done, t->stream), "an event after the sums");
    while (t->busy && !(rc = state(t, err))) {
        const bool over = dg_cuda_passed(t->cu, t->done, "the sums over ranks");
        const int now = progress(t);
        if (now != DG_NCCL_SUCCESS && now != DG_NCCL_IN_PROGRESS) /* a rank or connection is lost */
            note(t, now, "adding gradients");
        else if (over)
            t->busy = false;
        else
            endure(t, &patience, "adding gradients");
    }
    return rc;
}

const struct dg_team_ops dg_cuda_team_ops = {
    .find = find, .key = key, .join = join, .add = add, .wait = wait_all, .leave = leave};
