#include "convert/marian/arrays.h"

#include "base/file.h"
#include "convert/marian/binary.h"
#include "convert/npz.h"
#include "weights/half.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dg_marian_arrays {
    /* one of the two is NULL */
    struct dg_npz *npz;
    struct dg_marian_binary *binary;
    /* [n] in the file's order */
    struct dg_marian_array *list;
    size_t n;
};

static void describe_npy(const struct dg_npy *from, struct dg_marian_array *to)
{
    to->name = from->name;
    to->type = from->type == DG_NPY_BYTE ? DG_MARIAN_BYTE : DG_MARIAN_F32;
    memcpy(to->shape, from->shape, sizeof to->shape);
    to->n_dims = from->n_dims;
    to->count = from->count;
}

static int describe_item(
    const struct dg_marian_item *from, struct dg_marian_array *to, struct dg_error *err)
{
    to->name = from->name;
    to->type = from->type == DG_MARIAN_ITEM_INT8       ? DG_MARIAN_BYTE
               : from->type == DG_MARIAN_ITEM_INTGEMM8 ? DG_MARIAN_S8
                                                       : DG_MARIAN_F32;
    memcpy(to->shape, from->shape, sizeof to->shape);
    to->n_dims = from->n_dims;
    to->count = from->count;
    if (to->type != DG_MARIAN_S8)
        return 0;
    memcpy(&to->multiplier, from->data + from->count, sizeof to->multiplier);
    if (!(to->multiplier > 0) || !isfinite(1 / to->multiplier))
        return dg_error_field(err, DG_EFORMAT, to->name, "item %s was multiplied by %g", to->name,
            (double)to->multiplier);
    return 0;
}

static int describe(struct dg_marian_arrays *a, struct dg_error *err)
{
    int rc = 0;
    a->n = a->npz ? dg_npz_count(a->npz) : dg_marian_binary_count(a->binary);
    a->list = calloc(a->n, sizeof *a->list);
    if (!a->list)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu arrays", a->n);
    for (size_t i = 0; i < a->n && !rc; i++) {
        if (a->npz)
            describe_npy(dg_npz_at(a->npz, i), &a->list[i]);
        else
            rc = describe_item(dg_marian_binary_at(a->binary, i), &a->list[i], err);
    }
    return rc;
}

/* A binary file begins with its version, a small number of eight bytes. */
static bool is_binary(const char *path)
{
    unsigned char start[8] = {0};
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(start, 1, sizeof start, f) : 0;
    if (f)
        fclose(f);
    return n == sizeof start && (start[0] == 1 || start[0] == 2) &&
           memcmp(start + 1, "\0\0\0\0\0\0", 7) == 0;
}

int dg_marian_arrays_open(const char *path, struct dg_marian_arrays **out, struct dg_error *err)
{
    struct dg_marian_arrays *a = calloc(1, sizeof *a);
    if (!a)
        return dg_error_set(err, DG_ENOMEM, "no memory for a model file");
    int rc = is_binary(path) ? dg_marian_binary_open(dg_input_path(path), &a->binary, err)
                             : dg_npz_open(dg_input_path(path), &a->npz, err);
    if (!rc)
        rc = describe(a, err);
    if (rc)
        dg_marian_arrays_close(a);
    else
        *out = a;
    return rc;
}

void dg_marian_arrays_close(struct dg_marian_arrays *a)
{
    if (!a)
        return;
    dg_npz_close(a->npz);
    dg_marian_binary_close(a->binary);
    free(a->list);
    free(a);
}

size_t dg_marian_arrays_count(const struct dg_marian_arrays *a)
{
    return a->n;
}

const struct dg_marian_array *dg_marian_arrays_at(const struct dg_marian_arrays *a, size_t i)
{
    return i < a->n ? &a->list[i] : NULL;
}

const struct dg_marian_array *dg_marian_arrays_find(
    const struct dg_marian_arrays *a, const char *name)
{
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->list[i].name, name) == 0)
            return &a->list[i];
    return NULL;
}

/* Widen into dst[count] the half-precision numbers in its own second half: each is read before its
 * bytes are overwritten. */
static void widen(float *dst, uint64_t count)
{
    const char *halves = (const char *)dst + count * sizeof(uint16_t);
    for (uint64_t i = 0; i < count; i++) {
        uint16_t h;
        memcpy(&h, halves + i * sizeof h, sizeof h);
        dst[i] = dg_f16_to_f32(h);
    }
}

int dg_marian_arrays_read(struct dg_marian_arrays *a, const struct dg_marian_array *array,
    void *dst, struct dg_error *err)
{
    const size_t i = (size_t)(array - a->list);
    bool half;
    char *to = dst;
    if (a->npz) {
        const struct dg_npy *npy = dg_npz_at(a->npz, i);
        half = npy->type == DG_NPY_F16;
        int rc = dg_npz_read(a->npz, npy, half ? to + array->count * 2 : to, err);
        if (rc)
            return rc;
    } else {
        const struct dg_marian_item *it = dg_marian_binary_at(a->binary, i);
        half = it->type == DG_MARIAN_ITEM_F16;
        memcpy(half ? to + array->count * 2 : to, it->data,
            array->count * (half                              ? 2
                               : array->type == DG_MARIAN_F32 ? 4
                                                              : 1));
    }
    if (half)
        widen(dst, array->count);
    return 0;
}
