#include "trainer/exchange.h"

#include "kernels/cpu/cpu.h"

#include <pthread.h>
#include <stdlib.h>

/* A stretch of the flat block whose gradients are finished together. */
struct stretch {
    size_t group, begin, end;
};

struct dg_exchange {
    struct dg_crew *crew;
    const struct dg_ranks *ranks;
    struct dg_crew_watch watch;
    size_t n_groups; /* dec_layers + enc_layers + 1 for all the rest, in backward's order */
    struct stretch *stretches; /* [n_stretches] by group */
    size_t n_stretches;
    struct dg_backend *be; /* the thread's own */
    struct dg_train *train;
    const float **parts; /* [workers] */
    bool started;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* guarded by lock */
    size_t *finished; /* [workers] groups that each has finished in this pass */
    bool busy, quit;
    /* the thread's, read by others when it is not busy */
    int rc;
    struct dg_error err;
};

static size_t group_of(const struct dg_config *c, size_t offset)
{
    const size_t enc = offsetof(struct dg_params, enc), dec = offsetof(struct dg_params, dec);
    if (offset >= dec && offset < dec + c->dec_layers * sizeof(struct dg_dec_params))
        return c->dec_layers - 1 - (offset - dec) / sizeof(struct dg_dec_params);
    if (offset >= enc && offset < enc + c->enc_layers * sizeof(struct dg_enc_params))
        return c->dec_layers + c->enc_layers - 1 - (offset - enc) / sizeof(struct dg_enc_params);
    return c->dec_layers + c->enc_layers;
}

/* Tensors that lie side by side and belong together become one stretch. */
static int find_stretches(struct dg_exchange *x, const struct dg_config *c, struct dg_error *err)
{
    const size_t tensors = dg_params_count(c);
    x->stretches = calloc(tensors, sizeof *x->stretches);
    if (!x->stretches)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu stretches", tensors);
    for (size_t g = 0; g < x->n_groups; g++) {
        for (size_t i = 0; i < tensors; i++) {
            struct dg_param_info info;
            dg_params_info(c, i, &info);
            if (group_of(c, info.offset) != g)
                continue;
            size_t begin = dg_param_block_offset(c, i), end = dg_param_block_offset(c, i + 1);
            struct stretch *last = x->n_stretches ? &x->stretches[x->n_stretches - 1] : NULL;
            if (last && last->group == g && last->end == begin)
                last->end = end;
            else
                x->stretches[x->n_stretches++] = (struct stretch){g, begin, end};
        }
    }
    return 0;
}

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
    for (size_t i = 0; i < x->n_stretches && !x->rc; i++) {
        const struct stretch *s = &x->stretches[i];
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
    pthread_mutex_lock(&x->lock);
    x->finished[worker] = groups;
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
}

static void layer_done(void *arg, size_t worker, int side, uint32_t layer)
{
    struct dg_exchange *x = arg;
    const struct dg_config *c = &x->crew->params->config;
    count(x, worker, side ? c->dec_layers - layer : c->dec_layers + c->enc_layers - layer);
}

static void worker_done(void *arg, size_t worker)
{
    struct dg_exchange *x = arg;
    count(x, worker, x->n_groups);
}

int dg_exchange_open(struct dg_crew *crew, const struct dg_ranks *ranks, struct dg_exchange **out,
    struct dg_error *err)
{
    struct dg_exchange *x = calloc(1, sizeof *x);
    struct dg_cpu_options cpu = {.threads = 1};
    const struct dg_config *c = &crew->params->config;
    if (!x)
        return dg_error_set(err, DG_ENOMEM, "no memory for the exchange of gradients");
    *x = (struct dg_exchange){.crew = crew,
        .ranks = ranks,
        .watch = {layer_done, worker_done, x},
        .n_groups = c->dec_layers + c->enc_layers + 1,
        .finished = calloc((size_t)crew->n, sizeof *x->finished),
        .parts = calloc((size_t)crew->n, sizeof *x->parts)};
    pthread_mutex_init(&x->lock, NULL);
    pthread_cond_init(&x->changed, NULL);
    int rc = x->finished && x->parts
                 ? find_stretches(x, c, err)
                 : dg_error_set(err, DG_ENOMEM, "no memory for the exchange of gradients");
    if (!rc)
        rc = dg_cpu_open(&cpu, &x->be, err);
    if (!rc)
        rc = dg_cpu_train_open(x->be, &x->train, err);
    if (!rc && pthread_create(&x->thread, NULL, run, x))
        rc = dg_error_set(err, DG_ENOMEM, "no thread for the exchange of gradients");
    x->started = !rc;
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
    dg_cpu_train_close(x->train);
    dg_cpu_close(x->be);
    free(x->stretches);
    free(x->finished);
    free(x->parts);
    free(x);
}

size_t dg_exchange_rank(const struct dg_exchange *x)
{
    return x->ranks->rank;
}

size_t dg_exchange_ranks(const struct dg_exchange *x)
{
    return x->ranks->ranks;
}

const struct dg_crew_watch *dg_exchange_begin(struct dg_exchange *x)
{
    pthread_mutex_lock(&x->lock);
    for (int i = 0; i < x->crew->n; i++)
        x->finished[i] = 0;
    x->busy = true;
    pthread_cond_broadcast(&x->changed);
    pthread_mutex_unlock(&x->lock);
    return &x->watch;
}

int dg_exchange_finish(
    struct dg_exchange *x, bool failed, struct dg_loss_sums *sums, struct dg_error *err)
{
    pthread_mutex_lock(&x->lock);
    while (x->busy)
        pthread_cond_wait(&x->changed, &x->lock);
    pthread_mutex_unlock(&x->lock);
    if (x->rc)
        return failed ? err->code : dg_error_set(err, x->rc, "%s", x->err.message);
    double all[7] = {sums->smoothed, sums->nll, (double)sums->n, (double)sums->correct,
        failed ? 1 : 0, sums->guided, (double)sums->n_guided};
    int rc = x->ranks->sum_doubles(x->ranks->ctx, all, 7, failed ? &x->err : err);
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
