#include "convert/marian/arrays.h"

#include "base/file.h"
#include "convert/marian/binary.h"
#include "convert/npz.h"
#include "weights/half.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dg_marian_arrays {
    /* one of the two is NULL */
    struct dg_npz *npz;
    struct dg_marian_binary *binary;
    /* [n] in the file's order: the binary file's, or `own` */
    const struct dg_marian_array *list;
    struct dg_marian_array *own;
    size_t n;
};

static int open_npz(struct dg_marian_arrays *a, const char *path, struct dg_error *err)
{
    int rc = dg_npz_open(dg_input_path(path), &a->npz, err);
    if (rc)
        return rc;
    a->n = dg_npz_count(a->npz);
    a->list = a->own = calloc(a->n, sizeof *a->own);
    if (!a->own)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu arrays", a->n);
    for (size_t i = 0; i < a->n; i++) {
        const struct dg_npy *from = dg_npz_at(a->npz, i);
        a->own[i] = (struct dg_marian_array){.name = from->name,
            .type = from->type == DG_NPY_BYTE ? DG_MARIAN_BYTE : DG_MARIAN_F32,
            .half = from->type == DG_NPY_F16,
            .n_dims = from->n_dims,
            .count = from->count};
        memcpy(a->own[i].shape, from->shape, sizeof from->shape);
    }
    return 0;
}

static int open_binary(struct dg_marian_arrays *a, const char *path, struct dg_error *err)
{
    int rc = dg_marian_binary_open(dg_input_path(path), &a->binary, err);
    if (rc)
        return rc;
    a->list = dg_marian_binary_at(a->binary, 0);
    a->n = dg_marian_binary_count(a->binary);
    return 0;
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
    int rc = is_binary(path) ? open_binary(a, path, err) : open_npz(a, path, err);
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
    free(a->own);
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
    char *to = array->half ? (char *)dst + dg_marian_array_bytes(array) : dst;
    int rc = 0;
    if (array->data)
        memcpy(to, array->data, dg_marian_array_bytes(array));
    else
        rc = dg_npz_read(a->npz, dg_npz_at(a->npz, (size_t)(array - a->list)), to, err);
    if (!rc && array->half)
        widen(dst, array->count);
    return rc;
}
