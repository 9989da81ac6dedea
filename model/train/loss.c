#include "model/train/loss.h"

/* Compute logits, loss and gradients a chunk of rows at a time. */
static void by_chunks(struct dg_tape *t, const struct dg_params *w, struct dg_params *grads,
    const struct dg_objective *o, struct dg_rows x, struct dg_loss_sums *sums)
{
    struct dg_loss loss = {.V = t->config.target_vocab,
        .epsilon = o->epsilon,
        .scale = o->scale,
        .gradient = grads != NULL};
    struct dg_pass pass = {.be = t->train->be, .config = &t->config};
    struct dg_rows logits = t->scratch.logits; /* [chunk,V], then their gradient */
    for (size_t m = 0; m < t->target.M; m += t->chunk) {
        pass.M = t->target.M - m < t->chunk ? t->target.M - m : t->chunk;
        loss.target = t->labels + m;
        dg_output_forward(&pass, w, dg_rows_from(x, m), logits);
        t->train->ops->loss(t->train, &loss, logits, pass.M, sums);
        if (!grads)
            continue;
        struct dg_linear op = {.w = w->out_w, .bias = w->out_b};
        struct dg_linear_grad g = {.op = &op,
            .x = dg_rows_from(x, m),
            .dy = logits,
            .dx = dg_rows_from(t->scratch.dx, m),
            .dw = grads->out_w,
            .dbias = grads->out_b};
        t->train->ops->linear_backward(t->train, &g, pass.M);
    }
}

int dg_loss_output(struct dg_tape *t, const struct dg_params *w, struct dg_params *grads,
    const struct dg_objective *o, struct dg_rows x, struct dg_loss_sums *sums, struct dg_error *err)
{
    if (!t->train->ops->output) {
        by_chunks(t, w, grads, o, x, sums);
        return 0;
    }
    const struct dg_output op = {.w = w->out_w,
        .bias = w->out_b,
        .target = t->labels,
        .epsilon = o->epsilon,
        .scale = o->scale,
        .dx = grads ? t->scratch.dx : (struct dg_rows){0},
        .dw = grads ? grads->out_w : NULL,
        .dbias = grads ? grads->out_b : NULL};
    return t->train->ops->output(t->train, &op, x, t->target.M, sums, err);
}
