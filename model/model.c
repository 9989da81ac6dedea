#include "model/model.h"
#include "model/model_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number stored as NAME.WHAT beside matrix NAME; 0: there is none. */
static float number_beside(const struct dg_weights *weights, const char *name, const char *what)
{
    char beside[80];
    snprintf(beside, sizeof beside, "%s.%s", name, what);
    const struct dg_tensor *t = dg_weights_find(weights, beside);
    const bool fits = t && t->shape[0] == 1 && t->shape[1] == 1 && t->stored[0].type == DG_F32;
    return fits ? *(const float *)t->stored[0].data : 0;
}

int dg_param_set_steps(struct dg_backend *be, const struct dg_weights *weights, const char *name,
    struct dg_weight *w, struct dg_error *err)
{
    const float steps = number_beside(weights, name, "steps");
    if (!(steps > 0) || !be->ops->weight_set_steps)
        return 0;
    return be->ops->weight_set_steps(be, w, steps <= 255 ? (unsigned)steps : 256, err);
}

static void spent(const void *of, const void *data, size_t n)
{
    dg_weights_spent(of, data, n);
}

/* Place one parameter; DG_EFORMAT names a missing or misshapen tensor. */
static int load_param(struct dg_backend *be, const struct dg_weights *weights,
    const struct dg_param_info *info, struct dg_weight **out, struct dg_error *err)
{
    const struct dg_tensor *t = dg_weights_find(weights, info->name);
    if (!t)
        return dg_error_set(
            err, DG_EFORMAT, "weights: tensor %s [%u,%u] is missing", info->name, info->N, info->K);
    if (t->shape[0] != info->N || t->shape[1] != info->K)
        return dg_error_set(err, DG_EFORMAT, "weights: tensor %s is [%llu,%llu], expected [%u,%u]",
            info->name, (unsigned long long)t->shape[0], (unsigned long long)t->shape[1], info->N,
            info->K);
    const void *in_place = NULL;
    struct dg_weight_spec spec = {.name = info->name,
        .use = info->use,
        .N = info->N,
        .K = info->K,
        .stored = t->stored,
        .n_stored = t->n_stored,
        .in_place = &in_place,
        .spent = spent,
        .spent_of = weights};
    int rc = be->ops->weight_new(be, &spec, out, err);
    if (rc)
        return rc;
    if (in_place)
        dg_weights_keep(weights, in_place);
    dg_weights_release(weights, t);
    if (!(info->use & DG_USE_MATRIX))
        return 0;
    rc = dg_param_set_steps(be, weights, info->name, *out, err);
    const float scale = number_beside(weights, info->name, "in");
    if (rc || !(scale > 0))
        return rc;
    if (!be->ops->weight_round_inputs || t->stored[0].type != DG_F32)
        return dg_error_field(err, DG_EUNSUP, info->name,
            "tensor %s has a scale for its inputs (%s.in): it must be fp32, and run on a CPU",
            info->name, info->name);
    be->ops->weight_round_inputs(be, *out, scale);
    return 0;
}

/* Join the weights for the memory's keys and values of all decoder layers into one product, if the
 * device gains by that. */
static int join_memory_kv(struct dg_model *m, struct dg_error *err)
{
    const struct dg_ops *ops = m->be->ops;
    const uint32_t n = m->config.dec_layers;
    struct dg_weight *w[DG_MAX_LAYERS], *b[DG_MAX_LAYERS];
    if (!ops->weight_join || n < 2)
        return 0;
    for (uint32_t l = 0; l < n; l++) {
        w[l] = m->params.dec[l].cross.kv_w;
        b[l] = m->params.dec[l].cross.kv_b;
    }
    int rc = ops->weight_join(m->be, w, n, &m->params.memory_kv_w, err);
    if (!rc && b[0])
        rc = ops->weight_join(m->be, b, n, &m->params.memory_kv_b, err);
    return rc;
}

int dg_model_open(const struct dg_config *config, const struct dg_weights *weights,
    struct dg_backend *be, uint32_t max_positions, struct dg_model **out, struct dg_error *err)
{
    int rc = dg_config_check(config, err);
    if (rc)
        return rc;
    struct dg_model *m = calloc(1, sizeof *m);
    if (!m)
        return dg_error_set(err, DG_ENOMEM, "no memory for a model");
    m->config = *config;
    /* If the products are int8, 16 bits for keys and values add a hundredth of their error. */
    m->config.kv = strcmp(dg_weights_main_type(weights), "int8") ? DG_F32 : DG_F16;
    m->be = be;
    for (size_t i = 0; i < dg_params_count(config); i++) {
        struct dg_param_info info;
        dg_params_info(config, i, &info);
        if ((rc = load_param(be, weights, &info, dg_params_slot(&m->params, &info), err)))
            goto out;
    }
    dg_params_tie(config, &m->params);
    if ((rc = join_memory_kv(m, err)) ||
        (rc = dg_position_table_open(&m->positions, be, config, max_positions, err)))
        goto out;
    dg_weights_forget(weights); /* most weights were packed into memory of their own */
    *out = m;
    return 0;
out:
    dg_model_close(m);
    return rc;
}

/* The tensor's row-major form; NULL: it has none. */
static const struct dg_stored *stored_rows(const struct dg_weights *weights, const char *name)
{
    const struct dg_tensor *t = dg_weights_find(weights, name);
    for (size_t k = 0; t && k < t->n_stored; k++)
        if (t->stored[k].layout == DG_LAYOUT_ROWS)
            return &t->stored[k];
    return NULL;
}

void dg_model_keep_output(const struct dg_config *config, const struct dg_weights *weights)
{
    const struct dg_stored *rows = stored_rows(weights, dg_params_output(config)),
                           *biases = stored_rows(weights, "out.b");
    if (rows)
        dg_weights_keep(weights, rows->data);
    if (biases)
        dg_weights_keep(weights, biases->data);
}

void dg_model_use_shortlist(
    struct dg_model *m, const struct dg_weights *weights, const struct dg_shortlist *list)
{
    m->shortlist = list;
    const char *name = dg_params_output(&m->config);
    m->out_biases = m->params.out_b ? stored_rows(weights, "out.b") : NULL;
    m->out_rows = stored_rows(weights, name);
    m->out_input_scale = m->out_rows ? number_beside(weights, name, "in") : 0;
}

void dg_model_own_take(struct dg_model *m, struct dg_weights *weights)
{
    m->own = weights;
}

void dg_model_use_byte_pieces(struct dg_model *m, const struct dg_byte_pieces *pieces)
{
    m->bytes = pieces;
}

void dg_model_close(struct dg_model *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < dg_params_count(&m->config); i++) {
        struct dg_param_info info;
        dg_params_info(&m->config, i, &info);
        m->be->ops->weight_free(m->be, *dg_params_slot(&m->params, &info));
    }
    m->be->ops->weight_free(m->be, m->params.memory_kv_w);
    m->be->ops->weight_free(m->be, m->params.memory_kv_b);
    dg_position_table_close(&m->positions, m->be);
    dg_weights_close(m->own);
    free(m);
}

const struct dg_config *dg_model_config(const struct dg_model *m)
{
    return &m->config;
}

uint32_t dg_model_max_positions(const struct dg_model *m)
{
    return m->positions.n;
}
