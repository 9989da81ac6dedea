#include "trainer/update/adam.h"

#include "base/alloc.h"

#include <stdlib.h>

int dg_adam_open(const struct dg_adam_options *o, struct dg_train *train, size_t n,
    struct dg_adam_state **out, struct dg_error *err)
{
    struct dg_adam_state *a = dg_alloc(1, sizeof *a, "the optimiser");
    a->options = *o;
    a->train = train;
    a->n = n;
    int rc = train->ops->block_new(train, n, &a->m, err);
    if (!rc)
        rc = train->ops->block_new(train, n, &a->v, err);
    if (!rc && o->ema > 0)
        rc = train->ops->block_new(train, n, &a->ema, err);
    if (rc) {
        dg_adam_close(a);
        return rc;
    }
    *out = a;
    return 0;
}

void dg_adam_close(struct dg_adam_state *a)
{
    if (!a)
        return;
    a->train->ops->block_free(a->train, a->m);
    a->train->ops->block_free(a->train, a->v);
    a->train->ops->block_free(a->train, a->ema);
    free(a);
}

void dg_adam_start(struct dg_adam_state *a, const float *p)
{
    if (a->ema)
        a->train->ops->sum(a->train, &p, 1, a->ema, a->n);
}

void dg_adam_update(const struct dg_adam_state *a, struct dg_train *train,
    const struct dg_adam_input *in, size_t begin, size_t end)
{
    struct dg_adam op = {.lr = (float)in->rate,
        .beta1 = (float)a->options.beta1,
        .beta2 = (float)a->options.beta2,
        .eps = (float)a->options.epsilon,
        .grad_scale = (float)in->grad_scale,
        .decay = (float)a->options.weight_decay,
        .ema_decay = (float)a->options.ema,
        .step = a->step,
        .g = in->g + begin,
        .p = in->p + begin,
        .m = a->m + begin,
        .v = a->v + begin,
        .ema = a->ema ? a->ema + begin : NULL};
    train->ops->adam(train, &op, end - begin);
}
