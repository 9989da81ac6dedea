#include "trainer/run/winner.h"

#include "base/alloc.h"
#include "trainer/run/average.h"
#include "trainer/run/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int measure(struct dg_run *r, struct dg_winner_trial *t, struct dg_error *err)
{
    struct dg_train *train = r->workers->w[0].train;
    const size_t n = r->workers->params->n;
    float *mean = dg_alloc(n, sizeof *mean, "parameters");
    struct dg_loss_sums loss = {0};
    int rc = dg_average(r->keeper, t->steps, t->n, mean, n, err);
    if (!rc) {
        train->ops->block_write(train, r->workers->params->data, mean, n);
        rc = dg_run_dev_loss(r, NULL, &loss, err);
    }
    const double nll = loss.n ? loss.nll / (double)loss.n : INFINITY;
    t->perplexity = exp(nll < 700 ? nll : 700);
    free(mean);
    return rc;
}

static bool same_steps(const struct dg_winner_trial *a, const struct dg_winner_trial *b)
{
    return a->n == b->n && !memcmp(a->steps, b->steps, a->n * sizeof *a->steps);
}

static void add(struct dg_winner *w, const char *name, const uint64_t *steps, size_t n)
{
    const struct dg_winner_trial t = {.name = name, .steps = steps, .n = n};
    bool known = n == 0;
    for (size_t i = 0; i < w->n && !known; i++)
        known = same_steps(&w->trials[i], &t);
    if (!known)
        w->trials[w->n++] = t;
}

int dg_winner_choose(
    struct dg_run *r, const uint64_t *steps, size_t n, struct dg_winner *out, struct dg_error *err)
{
    memset(out, 0, sizeof *out);
    add(out, "mean", steps, n);
    add(out, "newest", &out->newest, dg_checkpoint_dir_last(r->keeper, 1, &out->newest));
    add(out, "best", &out->best, dg_checkpoint_dir_best(r->keeper, 1, &out->best));
    int rc = 0;
    /* A single trial is not measured: there is nothing to compare it with. */
    for (size_t i = 0; i < out->n && out->n > 1 && !rc; i++) {
        rc = measure(r, &out->trials[i], err);
        if (!rc && out->trials[i].perplexity < out->trials[out->chosen].perplexity)
            out->chosen = i;
    }
    return rc;
}
