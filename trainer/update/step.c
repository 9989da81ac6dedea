#include "trainer/update/step.h"

#include <math.h>

/* Slices of the flat block: a fixed number, so that the norm's sum does not depend on the thread
 * count. A device takes the block whole: it is parallel by itself, and the host must wait for each
 * sum of squares. */
enum { SLICES = 64 };

struct update {
    struct dg_crew *ws;
    struct dg_adam_state *optimizer;
    double rate, grad_scale;
    /* SLICES or 1 */
    size_t slices;
    double squares[SLICES];
};

static void slice(const struct update *u, size_t i, size_t *begin, size_t *end)
{
    size_t each = (u->optimizer->n / u->slices / 16 + 1) * 16, n = u->optimizer->n;
    *begin = i * each < n ? i * each : n;
    *end = *begin + each < n ? *begin + each : n;
}

/* Replace worker 0's block by the sum over workers, in their order. */
static void sum_slice(void *arg, size_t i)
{
    struct update *u = arg;
    const float *parts[64];
    size_t begin, end, done = 1;
    struct dg_train *t = u->ws->w[0].train;
    slice(u, i, &begin, &end);
    float *out = u->ws->w[0].grads->data + begin;
    while (done < (size_t)u->ws->n) {
        size_t n = 1;
        for (parts[0] = out; n < 64 && done < (size_t)u->ws->n; done++)
            parts[n++] = u->ws->w[done].grads->data + begin;
        t->ops->sum(t, parts, n, out, end - begin);
    }
}

static void square_slice(void *arg, size_t i)
{
    struct update *u = arg;
    size_t begin, end;
    struct dg_train *t = u->ws->w[0].train;
    slice(u, i, &begin, &end);
    u->squares[i] = t->ops->square_sum(t, u->ws->w[0].grads->data + begin, end - begin);
}

/* Both at once while the slice is in cache. With other ranks, their gradients are added in
 * between. */
static void sum_and_square_slice(void *arg, size_t i)
{
    sum_slice(arg, i);
    square_slice(arg, i);
}

static void adam_slice(void *arg, size_t i)
{
    struct update *u = arg;
    size_t begin, end;
    slice(u, i, &begin, &end);
    dg_adam_update(u->optimizer, u->ws->w[0].train,
        &(struct dg_adam_input){
            u->rate, u->grad_scale, u->ws->w[0].grads->data, u->ws->params->data},
        begin, end);
}

/* Compute the batch's gradient and loss sums over all workers and all ranks. */
static int gradient(struct update *u, struct dg_crew_pass *pass, struct dg_exchange *ranks,
    struct dg_loss_sums *sums, struct dg_error *err)
{
    if (!ranks) {
        int rc = dg_crew_run(u->ws, pass, err);
        if (!rc) { /* in this order: a device's loss sums arrive with the squares */
            dg_pool_run(u->ws->pool, u->slices, sum_and_square_slice, u);
            dg_crew_sums(u->ws, sums);
        }
        return rc;
    }
    pass->rank = dg_exchange_ranks(ranks)->rank;
    pass->ranks = dg_exchange_ranks(ranks)->ranks;
    pass->watch = dg_exchange_begin(ranks);
    int failed = dg_crew_run(u->ws, pass, err);
    dg_crew_sums(u->ws, sums);
    int rc = dg_exchange_finish(ranks, failed, sums, err);
    if (!rc)
        dg_pool_run(u->ws->pool, u->slices, square_slice, u);
    return rc;
}

/* Guessing costs ln V per piece. A model ten times worse is beyond recovery, even if its numbers
 * are still finite (LayerNorm keeps them so for a long time). */
static bool has_diverged(const struct dg_crew *ws, const struct dg_step_result *r)
{
    double loss = r->sums.smoothed / (double)r->sums.n;
    return !isfinite(loss) || !isfinite(r->grad_norm) ||
           loss > 10 * log((double)ws->params->config.target_vocab) + 10;
}

int dg_step(struct dg_crew *ws, struct dg_adam_state *optimizer, const struct dg_step_options *o,
    const struct dg_step_input *in, struct dg_step_result *out, struct dg_error *err)
{
    struct update u = {.ws = ws,
        .optimizer = optimizer,
        .rate = in->rate,
        .grad_scale = 1,
        .slices = ws->w[0].be->ops->on_host ? SLICES : 1};
    struct dg_objective objective = {.epsilon = (float)o->label_smoothing,
        .scale = (float)(1.0 / (double)in->batch->target_tokens),
        .dropout = (float)o->dropout,
        .attention_dropout = (float)o->attention_dropout,
        .act_dropout = (float)o->relu_dropout,
        .seed = o->seed,
        .step = optimizer->step + 1,
        .guide = o->guide};
    struct dg_crew_pass pass = {.data = in->data,
        .batch = in->batch,
        .objective = &objective,
        .micro_tokens = o->micro_tokens,
        .gradients = true,
        .ranks = 1};
    int rc = gradient(&u, &pass, o->exchange, &out->sums, err);
    if (rc)
        return rc;
    /* Check the device first: if it failed, the loss is meaningless and not the model's fault. */
    rc = ws->w[0].be->ops->status(ws->w[0].be, err);
    if (rc)
        return rc;
    double squares = 0;
    for (size_t i = 0; i < u.slices; i++)
        squares += u.squares[i];
    out->grad_norm = sqrt(squares);
    if (o->exchange && (rc = dg_exchange_check(o->exchange, out->grad_norm, err)))
        return rc;
    if (has_diverged(ws, out))
        return dg_error_set(err, DG_EINTERNAL,
            "training diverged in update %llu: loss %g per target piece, gradient norm %g",
            (unsigned long long)optimizer->step + 1, out->sums.smoothed / (double)out->sums.n,
            out->grad_norm);
    if (o->clip > 0 && out->grad_norm > o->clip)
        u.grad_scale = o->clip / out->grad_norm;
    optimizer->step++;
    dg_pool_run(ws->pool, u.slices, adam_slice, &u);
    return 0;
}
