#include "trainer/update/crew.h"

#include "base/alloc.h"
#include "base/cores.h"

#include <stdlib.h>

static int open_worker(struct dg_worker *w, const struct dg_crew_options *o, struct dg_error *err)
{
    const struct dg_device cpu = {.threads = 1};
    int rc = dg_device_open(o->device ? o->device : &cpu, &w->be, err);
    if (!rc)
        rc = dg_train_open(w->be, &w->train, err);
    if (!rc)
        rc = dg_tape_open(o->config, w->train, o->max_positions, &w->tape, err);
    if (!rc)
        rc = dg_param_block_open(o->config, w->train, &w->grads, err);
    return rc;
}

static void close_worker(struct dg_worker *w)
{
    dg_param_block_close(w->grads);
    dg_tape_close(w->tape);
    dg_train_close(w->train);
    dg_device_close(w->be);
    free(w->len);
    free(w->index);
    free(w->ids);
    dg_guided_deinit(&w->guided);
}

int dg_crew_open(const struct dg_crew_options *o, struct dg_crew **out, struct dg_error *err)
{
    int rc = 0;
    struct dg_crew *ws = dg_alloc(1, sizeof *ws, "a crew");
    int threads = o->threads > 0 ? o->threads : dg_cores_available();
    if (o->device && o->device->cuda) /* a GPU is parallel by itself */
        threads = 1;
    ws->w = dg_alloc((size_t)threads, sizeof *ws->w, "a crew");
    ws->n = threads;
    if ((rc = dg_pool_open(threads, 0, &ws->pool, err)))
        goto out;
    dg_pool_keep_shared(ws->pool); /* a share is a part of a batch: few sentences or many */
    for (int i = 0; i < threads; i++)
        if ((rc = open_worker(&ws->w[i], o, err)))
            goto out;
    if ((rc = dg_param_block_open(o->config, ws->w[0].train, &ws->params, err)))
        goto out;
    *out = ws;
    return 0;
out:
    dg_crew_close(ws);
    return rc;
}

void dg_crew_close(struct dg_crew *ws)
{
    if (!ws)
        return;
    dg_param_block_close(ws->params);
    for (int i = 0; i < ws->n; i++)
        close_worker(&ws->w[i]);
    dg_pool_close(ws->pool);
    free(ws->w);
    free(ws);
}

int dg_crew_host_block(struct dg_train *t, const float *block, size_t n,
    struct dg_crew_host_block *out, struct dg_error *err)
{
    *out = (struct dg_crew_host_block){block, NULL};
    if (!block || t->be->ops->on_host)
        return 0;
    out->copy = dg_alloc(n ? n : 1, sizeof *out->copy, "a copy of parameters");
    t->ops->block_read(t, block, n, out->copy);
    out->data = out->copy;
    return t->be->ops->status(t->be, err);
}

/* Grow the worker's buffers to hold a micro-batch. */
static void fit(struct dg_worker *w, size_t pairs, size_t ids)
{
    if (pairs > w->cap_pairs) {
        free(w->len);
        free(w->index);
        w->cap_pairs = pairs + pairs / 4;
        w->len = dg_alloc(2 * w->cap_pairs, sizeof *w->len, "a micro-batch");
        w->index = dg_alloc(w->cap_pairs, sizeof *w->index, "a micro-batch");
    }
    if (ids > w->cap_ids) {
        free(w->ids);
        w->cap_ids = ids + ids / 4;
        w->ids = dg_alloc(w->cap_ids, sizeof *w->ids, "a micro-batch");
    }
}

/* Pack sentences begin..end-1 of the batch. */
static void pack(struct dg_worker *w, const struct dg_crew_pass *p, size_t begin, size_t end,
    struct dg_micro_batch *pairs)
{
    const size_t n = end - begin;
    size_t S = 0, T = 0;
    for (size_t i = begin; i < end; i++) {
        uint32_t s, t;
        dg_dataset_lengths(p->data, p->batch->sentences[i], &s, &t);
        S += s;
        T += t;
    }
    fit(w, n, S + T);
    int32_t *source = w->ids, *target = w->ids + S;
    uint32_t *source_len = w->len, *target_len = w->len + n;
    *pairs = (struct dg_micro_batch){.n = n,
        .source_len = source_len,
        .target_len = target_len,
        .source = source,
        .target = target,
        .index = w->index};
    for (size_t i = 0; i < n; i++) {
        w->index[i] = p->batch->sentences[begin + i];
        dg_dataset_lengths(p->data, w->index[i], &source_len[i], &target_len[i]);
        dg_dataset_ids(p->data, w->index[i], source, target);
        source += source_len[i];
        target += target_len[i];
    }
}

struct job {
    struct dg_crew *ws;
    const struct dg_crew_pass *pass;
};

/* Forwards one worker's progress together with its number. */
struct news {
    const struct dg_crew_watch *watch;
    size_t worker;
};

static void pass_on(void *arg, int side, uint32_t layer)
{
    const struct news *n = arg;
    n->watch->layer_done(n->watch->arg, n->worker, side, layer);
}

static void run_share(void *arg, size_t i)
{
    const struct job *j = arg;
    const struct dg_crew_pass *p = j->pass;
    struct dg_worker *w = &j->ws->w[i];
    struct dg_params *params = p->params ? p->params : &j->ws->params->params;
    struct dg_params *grads = p->gradients ? &w->grads->params : NULL;
    struct dg_objective objective = *p->objective;
    struct news news = {p->watch, i};
    struct dg_tape_watch watch = {pass_on, &news};
    size_t begin, end;
    dg_error_clear(&w->err);
    w->sums = (struct dg_loss_sums){0};
    dg_train_sums(w->train, NULL);
    if (grads)
        w->train->ops->zero(w->train, w->grads->data, w->grads->n);
    dg_batch_part(p->data, p->batch, (size_t)j->ws->n * p->ranks, (size_t)j->ws->n * p->rank + i,
        &begin, &end);
    while (begin < end && !w->err.code) {
        size_t cut = dg_batch_cut(p->data, p->batch, begin, end, p->micro_tokens);
        struct dg_micro_batch pairs;
        /* Only the last micro-batch completes the gradients. */
        objective.watch = p->watch && cut == end ? &watch : NULL;
        pack(w, p, begin, cut, &pairs);
        if (grads && objective.guide)
            dg_guided_pack(&w->guided, p->data, &pairs);
        dg_tape_run(w->tape, params, grads, &pairs, &objective, &w->sums, &w->err);
        begin = cut;
    }
    if (p->watch)
        p->watch->worker_done(p->watch->arg, i);
}

int dg_crew_run(struct dg_crew *ws, const struct dg_crew_pass *pass, struct dg_error *err)
{
    struct job j = {ws, pass};
    dg_pool_run(ws->pool, (size_t)ws->n, run_share, &j);
    for (int i = 0; i < ws->n; i++)
        if (ws->w[i].err.code)
            return dg_error_set(err, ws->w[i].err.code, "%s", ws->w[i].err.message);
    return 0;
}

void dg_crew_add_sums(struct dg_loss_sums *whole, const struct dg_loss_sums *part)
{
    whole->smoothed += part->smoothed;
    whole->nll += part->nll;
    whole->n += part->n;
    whole->correct += part->correct;
    whole->guided += part->guided;
    whole->n_guided += part->n_guided;
}

void dg_crew_sums(struct dg_crew *ws, struct dg_loss_sums *sums)
{
    *sums = (struct dg_loss_sums){0};
    for (int i = 0; i < ws->n; i++) {
        struct dg_worker *w = &ws->w[i];
        dg_train_sums(w->train, &w->sums);
        dg_crew_add_sums(sums, &w->sums);
    }
}
