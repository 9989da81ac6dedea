/* Reading NumPy's .npz archives of fp32, fp16 and byte arrays, strictly. Only npz.c uses libzip.
 * One thread at a time. Other types, Fortran order, more than four dimensions, empty arrays and
 * inconsistent sizes are refused when the archive is opened. */
#ifndef DG_CONVERT_NPZ_H
#define DG_CONVERT_NPZ_H

#include "convert/input.h"

#include <stddef.h>
#include <stdint.h>

struct dg_npz;

enum dg_npy_type { DG_NPY_F32, DG_NPY_F16, DG_NPY_BYTE };

struct dg_npy {
    /* without ".npy" */
    const char *name;
    enum dg_npy_type type;
    /* slowest dimension first */
    uint64_t shape[4];
    /* 0..4 */
    size_t n_dims;
    /* elements, >= 1 */
    uint64_t count;
};

int dg_npz_open(struct dg_input in, struct dg_npz **out, struct dg_error *err);
void dg_npz_close(struct dg_npz *z); /* NULL is fine */

/* Borrowed until close. */
size_t dg_npz_count(const struct dg_npz *z);
const struct dg_npy *dg_npz_at(const struct dg_npz *z, size_t i);
const struct dg_npy *dg_npz_find(
    const struct dg_npz *z, const char *name); /* NULL when there is none */

/* Read an array's elements (4 bytes each for DG_NPY_F32, 2 for DG_NPY_F16, else 1) into dst[count]
 * and check the archive's CRC. */
int dg_npz_read(struct dg_npz *z, const struct dg_npy *array, void *dst, struct dg_error *err);

#endif
