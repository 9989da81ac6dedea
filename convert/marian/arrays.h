/* The arrays of a Marian model from either kind of file: .npz or binary (.bin). One thread at a
 * time. Private to convert/. */
#ifndef DG_CONVERT_MARIAN_ARRAYS_H
#define DG_CONVERT_MARIAN_ARRAYS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_marian_arrays;

enum dg_marian_type {
    DG_MARIAN_F32,
    DG_MARIAN_S8, /* value = element / multiplier; matrices [outputs,inputs] as bytes, transposed */
    DG_MARIAN_BYTE
};

struct dg_marian_array {
    const char *name;
    enum dg_marian_type type;
    /* DG_MARIAN_F32 that is fp16 in the file */
    bool half;
    /* slowest dimension first */
    uint64_t shape[4];
    /* 0..4 */
    size_t n_dims;
    /* elements, >= 1 */
    uint64_t count;
    /* for DG_MARIAN_S8 */
    float multiplier;
    /* the elements of a binary file, of any alignment; NULL: they are in an .npz */
    const unsigned char *data;
};

/* Bytes of the elements in the file. */
static inline uint64_t dg_marian_array_bytes(const struct dg_marian_array *a)
{
    return a->count * (a->type != DG_MARIAN_F32 ? 1 : a->half ? 2 : 4);
}

/* Open a file of either kind; its first bytes tell which. */
int dg_marian_arrays_open(const char *path, struct dg_marian_arrays **out, struct dg_error *err);
void dg_marian_arrays_close(struct dg_marian_arrays *a); /* NULL is fine */

/* Borrowed until close. */
size_t dg_marian_arrays_count(const struct dg_marian_arrays *a);
const struct dg_marian_array *dg_marian_arrays_at(const struct dg_marian_arrays *a, size_t i);
/* NULL when there is none. */
const struct dg_marian_array *dg_marian_arrays_find(
    const struct dg_marian_arrays *a, const char *name);

/* Read the elements into dst[count] as they are in the file (fp16 as fp32): float, int8_t or char
 * by the type. */
int dg_marian_arrays_read(struct dg_marian_arrays *a, const struct dg_marian_array *array,
    void *dst, struct dg_error *err);

#endif
