#include "model/engine/output_rows.h"

#include "model/model_internal.h"

#include <stdlib.h>
#include <string.h>

/* Copy rows ids[n] of a matrix [.,K] of elements of `size` bytes. NULL: no memory. */
static void *gather(const void *data, size_t size, size_t K, const int32_t *ids, uint32_t n)
{
    char *rows = aligned_alloc(64, (n * K * size + 63) / 64 * 64);
    for (uint32_t i = 0; rows && i < n; i++)
        memcpy(rows + i * K * size, (const char *)data + (size_t)ids[i] * K * size, K * size);
    return rows;
}

static int make_matrix(struct dg_output_rows *o, const struct dg_model *m, struct dg_error *err)
{
    const struct dg_stored *from = m->out_rows;
    const size_t K = m->config.D;
    if (!from)
        return dg_error_set(err, DG_EINTERNAL, "the output matrix has no row-major form");
    o->rows = gather(from->data, dg_type_bytes(from->type), K, o->ids, o->n);
    if (from->scales)
        o->scales = gather(from->scales, sizeof(float), 1, o->ids, o->n);
    if (!o->rows || (from->scales && !o->scales))
        return dg_error_set(err, DG_ENOMEM, "no memory for %u output rows", o->n);
    struct dg_stored stored = {from->type, DG_LAYOUT_ROWS, o->rows, o->scales};
    const void *in_place = NULL;
    struct dg_weight_spec spec = {.name = "output rows",
        .use = DG_USE_MATRIX,
        .N = o->n,
        .K = K,
        .stored = &stored,
        .n_stored = 1,
        .in_place = &in_place};
    int rc = o->be->ops->weight_new(o->be, &spec, &o->w, err);
    if (!in_place) { /* the backend copied them: the next sentence's rows reuse this memory */
        free(o->rows);
        o->rows = NULL;
    }
    if (!rc && m->out_input_scale > 0)
        o->be->ops->weight_round_inputs(o->be, o->w, m->out_input_scale);
    return rc;
}

static int make_bias(struct dg_output_rows *o, const struct dg_model *m, struct dg_error *err)
{
    const struct dg_stored *from = m->out_biases;
    if (!from)
        return 0;
    o->biases = gather(from->data, dg_type_bytes(from->type), 1, o->ids, o->n);
    if (!o->biases)
        return dg_error_set(err, DG_ENOMEM, "no memory for %u output biases", o->n);
    struct dg_stored stored = {from->type, DG_LAYOUT_ROWS, o->biases, NULL};
    struct dg_weight_spec spec = {.name = "output biases",
        .use = DG_USE_VECTOR,
        .N = 1,
        .K = o->n,
        .stored = &stored,
        .n_stored = 1};
    return o->be->ops->weight_new(o->be, &spec, &o->bias, err);
}

int dg_output_rows_open(const struct dg_model *m, struct dg_backend *be, const int32_t *ids,
    uint32_t n, bool own, struct dg_output_rows **out, struct dg_error *err)
{
    struct dg_output_rows *o = calloc(1, sizeof *o);
    int rc = 0;
    if (!o || !(o->ids = malloc(n * sizeof *o->ids))) {
        free(o);
        return dg_error_set(err, DG_ENOMEM, "no memory for %u output rows", n);
    }
    memcpy(o->ids, ids, n * sizeof *o->ids);
    o->n = n;
    o->be = be;
    if (own && !(rc = make_matrix(o, m, err)))
        rc = make_bias(o, m, err);
    if (rc)
        dg_output_rows_close(o);
    else
        *out = o;
    return rc;
}

void dg_output_rows_close(struct dg_output_rows *o)
{
    if (!o)
        return;
    o->be->ops->weight_free(o->be, o->w);
    o->be->ops->weight_free(o->be, o->bias);
    free(o->rows);
    free(o->biases);
    free(o->scales);
    free(o->ids);
    free(o);
}

size_t dg_output_rows_bytes(const struct dg_model *m)
{
    const bool int8 = m->out_rows && m->out_rows->type == DG_S8;
    /* Other elements may be widened; beside them are a bias, an id, and int8's scale and sum. */
    return m->config.D * (int8 ? 1 : sizeof(float)) + 4 * sizeof(float);
}

int32_t dg_output_rows_find(const struct dg_output_rows *o, int32_t id)
{
    uint32_t low = 0, high = o->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (o->ids[middle] < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < o->n && o->ids[low] == id ? (int32_t)low : -1;
}
