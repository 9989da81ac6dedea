#include "model/param_block.h"

#include <stdlib.h>

static size_t aligned(size_t n)
{
    return (n + 15) / 16 * 16;
}

size_t dg_param_block_offset(const struct dg_config *c, size_t i)
{
    size_t at = 0;
    for (size_t k = 0; k < i; k++) {
        struct dg_param_info info;
        dg_params_info(c, k, &info);
        at += aligned((size_t)info.N * info.K);
    }
    return at;
}

size_t dg_param_block_size(const struct dg_config *c)
{
    return dg_param_block_offset(c, dg_params_count(c));
}

/* Make the weights that refer to b->data. */
static int make_views(struct dg_param_block *b, struct dg_error *err)
{
    struct dg_backend *be = b->train->be;
    float *at = b->data;
    for (size_t i = 0; i < dg_params_count(&b->config); i++) {
        struct dg_param_info info;
        dg_params_info(&b->config, i, &info);
        struct dg_stored stored = {DG_F32, DG_LAYOUT_ROWS, at, NULL};
        struct dg_weight_spec spec = {.name = info.name,
            .use = info.use,
            .N = info.N,
            .K = info.K,
            .trainable = true,
            .stored = &stored,
            .n_stored = 1};
        int rc = be->ops->weight_new(be, &spec, dg_params_slot(&b->params, &info), err);
        if (rc)
            return rc;
        at += aligned((size_t)info.N * info.K);
    }
    dg_params_tie(&b->config, &b->params);
    return 0;
}

int dg_param_block_open(const struct dg_config *c, struct dg_train *train,
    struct dg_param_block **out, struct dg_error *err)
{
    struct dg_param_block *b = calloc(1, sizeof *b);
    if (!b)
        return dg_error_set(err, DG_ENOMEM, "no memory for a parameter block");
    b->config = *c;
    b->train = train;
    b->n = dg_param_block_size(c);
    int rc = train->ops->block_new(train, b->n, &b->data, err);
    if (!rc)
        rc = make_views(b, err);
    if (rc) {
        dg_param_block_close(b);
        return rc;
    }
    *out = b;
    return 0;
}

void dg_param_block_close(struct dg_param_block *b)
{
    if (!b)
        return;
    struct dg_backend *be = b->train->be;
    for (size_t i = 0; i < dg_params_count(&b->config); i++) {
        struct dg_param_info info;
        dg_params_info(&b->config, i, &info);
        be->ops->weight_free(be, *dg_params_slot(&b->params, &info));
    }
    b->train->ops->block_free(b->train, b->data);
    free(b);
}
