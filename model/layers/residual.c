#include "model/layers/layers.h"

void dg_residual_norm(const struct dg_pass *p, const struct dg_norm_params *w,
    const struct dg_dropout *drop, struct dg_rows x, struct dg_rows input,
    const struct dg_norm_slots *norm)
{
    struct dg_norm op = {.gain = w->gain,
        .bias = w->bias,
        .eps = p->config->norm_eps,
        .drop = drop,
        .xhat = norm->xhat,
        .rstd = norm->rstd,
        .sum = norm->stream};
    p->be->ops->add_norm(
        p->be, &op, x, norm->stream.buf ? norm->stream : input, norm->y, p->M, p->config->D);
}

struct dg_rows dg_stack_begin(const struct dg_pass *p, const struct dg_norm_params *w,
    struct dg_rows x, const struct dg_norm_slots *norm)
{
    struct dg_norm op = {.gain = w->gain,
        .bias = w->bias,
        .eps = p->config->norm_eps,
        .xhat = norm->xhat,
        .rstd = norm->rstd};
    p->be->ops->add_norm(p->be, &op, x, (struct dg_rows){0}, norm->y, p->M, p->config->D);
    return norm->y;
}
