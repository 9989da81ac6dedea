#include "trainer/update/exchange.h"

#include "base/alloc.h"
#include "base/thread_name.h"
#include "kernels/cpu/cpu.h"
#include "trainer/update/exchange_device.h"
#include "trainer/update/grad_order.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct dg_exchange {
    struct dg_crew *crew;
    const struct dg_ranks *ranks;
    struct dg_crew_watch watch;
    struct dg_grad_order order;
    /* NULL on CPUs, which use the fields below */
    struct dg_exchange_device *device;
    /* owned by the exchange thread */
    struct dg_backend *be;
    struct dg_train *train;
    /* [workers] */
    const float **parts;
    bool started;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* guarded by lock */
    /* [workers] number of groups that each worker has finished in this pass */
    size_t *finished;
    bool busy, quit;
    /* written by the thread, read by others while it is not busy */
    int rc;
    struct dg_error err;
};

static void wait_for_group(struct dg_exchange *x, size_t group)
{
    pthread_mutex_lock(&x->lock);
    for (int i = 0; i < x->crew->n;) {
        if (x->finished[i] > group)
            i++;
        else
            pthread_cond_wait(&x->changed, &x->lock);
    }
    pthread_mutex_unlock(&x->lock);
}

static void exchange(struct dg_exchange *x)
{
    x->rc = 0;
    for (size_t i = 0; i < x->order.n && !x->rc; i++) {
        const struct dg_grad_range *s = &x->order.list[i];
        float *out = x->crew->w[0].grads->data + s->begin;
        wait_for_group(x, s->group);
        for (int k = 0; k < x->crew->n; k++)
            x->parts[k] = x->crew->w[k].grads->data + s->begin;
        if (x->crew->n > 1)
            x->train->ops->sum(x->train, x->parts, (size_t)x->crew->n, out, s->end - s->begin);
        x->rc = x->ranks->sum(x->ranks->ctx, out, s->end - s->begin, &x->err);
    }
}

static void *run(void *arg)
{
    struct dg_exchange *x = arg;
    dg_thread_name("gradients");
    pthread_mutex_lock(&x->lock);
    for (;;) {
        while (!x->busy && !x->quit)
            pthread_cond_wait(&x->changed, &x->lock);
        if (x->quit)
            break;
        pthread_mutex_unlock(&x->lock);
        exchange(x);
        pthread_mutex_lock(&x->lock);
        x->busy = false;
        pthread_cond_broadcast(&x->changed);
    }
    pthread_mutex_unlock(&x->lock);
    return NULL;
}

static void count(struct dg_exchange *x, size_t worker, size_t groups)
{
    if (x->device) { /* a device has one worker, and this is its thread */
        dg_exchange_device_reached(x->device, groups);
        return;
    }
    pthread_mutex_lock(&x->lock);
    x->finished[worker] = groups;
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
}

static void layer_done(void *arg, size_t worker, int side, uint32_t layer)
{
    struct dg_exchange *x = arg;
    count(x, worker, dg_grad_order_after(&x->crew->params->config, side, layer));
}

static void worker_done(void *arg, size_t worker)
{
    struct dg_exchange *x = arg;
    count(x, worker, x->order.n_groups);
}

/* Start the thread that adds gradients, with ops of its own. */
static int open_thread(struct dg_exchange *x, struct dg_error *err)
{
    struct dg_cpu_options cpu = {.threads = 1};
    x->finished = dg_alloc((size_t)x->crew->n, sizeof *x->finished, "the exchange of gradients");
    x->parts = dg_alloc((size_t)x->crew->n, sizeof *x->parts, "the exchange of gradients");
    int rc = dg_cpu_open(&cpu, &x->be, err);
    if (!rc)
        rc = dg_cpu_train_open(x->be, &x->train, err);
    if (!rc && pthread_create(&x->thread, NULL, run, x))
        rc = dg_error_set(err, DG_ENOMEM, "no thread for the exchange of gradients");
    x->started = !rc;
    return rc;
}

int dg_exchange_open(struct dg_crew *crew, const struct dg_ranks *ranks, struct dg_exchange **out,
    struct dg_error *err)
{
    struct dg_exchange *x = dg_alloc(1, sizeof *x, "the exchange of gradients");
    struct dg_worker *first = &crew->w[0];
    *x = (struct dg_exchange){.crew = crew, .ranks = ranks, .watch = {layer_done, worker_done, x}};
    pthread_mutex_init(&x->lock, NULL);
    pthread_cond_init(&x->changed, NULL);
    int rc;
    dg_grad_order_init(&x->order, &crew->params->config);
    if (!first->be->ops->on_host)
        rc = dg_exchange_device_open(first, ranks, &x->order, &x->device, err);
    else
        rc = open_thread(x, err);
    if (rc)
        dg_exchange_close(x);
    else
        *out = x;
    return rc;
}

void dg_exchange_close(struct dg_exchange *x)
{
    if (!x)
        return;
    if (x->started) {
        pthread_mutex_lock(&x->lock);
        x->quit = true;
        pthread_cond_broadcast(&x->changed);
        pthread_mutex_unlock(&x->lock);
        pthread_join(x->thread, NULL);
    }
    pthread_cond_destroy(&x->changed);
    pthread_mutex_destroy(&x->lock);
    dg_exchange_device_close(x->device);
    dg_cpu_train_close(x->train);
    dg_cpu_close(x->be);
    dg_grad_order_deinit(&x->order);
    free(x->finished);
    free(x->parts);
    free(x);
}

const struct dg_ranks *dg_exchange_ranks(const struct dg_exchange *x)
{
    return x->ranks;
}

const char *dg_exchange_what(const struct dg_exchange *x)
{
    return x->device ? dg_exchange_device_what(x->device) : x->ranks->what;
}

const struct dg_crew_watch *dg_exchange_begin(struct dg_exchange *x)
{
    if (x->device) {
        dg_exchange_device_begin(x->device);
        return &x->watch;
    }
    pthread_mutex_lock(&x->lock);
    for (int i = 0; i < x->crew->n; i++)
        x->finished[i] = 0;
    x->busy = true;
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
    return &x->watch;
}

/* Wait until worker 0's block holds the sum over all ranks. */
static int gradients_done(struct dg_exchange *x, struct dg_error *err)
{
    if (x->device)
        return dg_exchange_device_finish(x->device, err);
    pthread_mutex_lock(&x->lock);
    while (x->busy)
        pthread_cond_wait(&x->changed, &x->lock);
    pthread_mutex_unlock(&x->lock);
    return x->rc ? dg_error_set(err, x->rc, "%s", x->err.message) : 0;
}

int dg_exchange_finish(
    struct dg_exchange *x, bool failed, struct dg_loss_sums *sums, struct dg_error *err)
{
    int rc = gradients_done(x, err);
    if (rc)
        return failed ? err->code : rc;
    double all[7] = {sums->smoothed, sums->nll, (double)sums->n, (double)sums->correct,
        failed ? 1 : 0, sums->guided, (double)sums->n_guided};
    rc = x->ranks->sum_doubles(x->ranks->ctx, all, 7, failed ? &x->err : err);
    if (failed)
        return err->code;
    if (rc)
        return rc;
    if (all[4] > 0)
        return dg_error_set(err, DG_EIO, "%.0f of the %zu ranks failed", all[4], x->ranks->ranks);
    sums->smoothed = all[0];
    sums->nll = all[1];
    sums->n = (uint64_t)all[2];
    sums->correct = (uint64_t)all[3];
    sums->guided = all[5];
    sums->n_guided = (uint64_t)all[6];
    return 0;
}

int dg_exchange_check(struct dg_exchange *x, double grad_norm, struct dg_error *err)
{
    uint64_t bits;
    memcpy(&bits, &grad_norm, sizeof bits);
    return x->device ? dg_ranks_same(x->ranks, bits, "a gradient", err) : 0;
}
