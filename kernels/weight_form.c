#include "kernels/weight_form.h"

#include "kernels/cpu/pack.h"

#include <stdint.h>

const struct dg_stored *dg_weight_form(
    const struct dg_weight_spec *spec, enum dg_layout layout, int type)
{
    for (size_t i = 0; i < spec->n_stored; i++)
        if (spec->stored[i].layout == layout && (type < 0 || (int)spec->stored[i].type == type))
            return &spec->stored[i];
    return NULL;
}

int dg_weight_rows(
    const struct dg_weight_spec *spec, const struct dg_stored **out, struct dg_error *err)
{
    const char *name = spec->name;
    const struct dg_stored *rows = dg_weight_form(spec, DG_LAYOUT_ROWS, DG_F32);
    if (!rows)
        rows = dg_weight_form(spec, DG_LAYOUT_ROWS, -1);
    *out = rows;
    if (!spec->N || !spec->K || spec->N > SIZE_MAX / 64 / spec->K)
        return dg_error_field(err, DG_EINVAL, name, "tensor %s has the impossible shape [%zu,%zu]",
            name, spec->N, spec->K);
    if (!(spec->use & (DG_USE_MATRIX | DG_USE_TABLE | DG_USE_VECTOR)))
        return dg_error_field(err, DG_EINVAL, name, "tensor %s has no use (%u)", name, spec->use);
    if ((spec->use & DG_USE_VECTOR) && spec->N != 1)
        return dg_error_field(err, DG_EINVAL, name,
            "tensor %s is [%zu,%zu], expected a vector [1,%zu]", name, spec->N, spec->K, spec->K);
    if (!rows || !rows->data)
        return dg_error_field(err, DG_EFORMAT, name,
            "tensor %s [%zu,%zu] has no row-major form among its %zu", name, spec->N, spec->K,
            spec->n_stored);
    if (!dg_type_bytes(rows->type))
        return dg_error_field(err, DG_EUNSUP, name,
            "tensor %s has element type %d, which is not known", name, (int)rows->type);
    if (rows->type == DG_S8 && !rows->scales)
        return dg_error_field(err, DG_EFORMAT, name, "tensor %s is int8 without scales", name);
    if (spec->trainable && rows->type != DG_F32)
        return dg_error_field(
            err, DG_EUNSUP, name, "tensor %s is to be trained but is not fp32", name);
    return DG_OK;
}

void dg_stored_floats(const struct dg_stored *rows, size_t K, size_t m, size_t n, float *to)
{
    dg_convert_floats(rows->data, rows->type, m * K, n * K, to);
    for (size_t i = 0; rows->type == DG_S8 && i < n * K; i++)
        to[i] *= rows->scales[m + i / K];
}
