/* Reading .safetensors files, strictly: an eight-byte length, a JSON header, the tensors' bytes.
 * Everything the header says is checked when the file is opened: types (F32, F16, BF16), shapes,
 * and that the tensors' bytes fill the file without gap or overlap. No code in it is run. Const
 * after open: any thread. */
#ifndef DG_CONVERT_SAFETENSORS_H
#define DG_CONVERT_SAFETENSORS_H

#include "convert/input.h"
#include "kernels/backend.h" /* enum dg_type */

#include <stddef.h>
#include <stdint.h>

struct dg_safetensors;

struct dg_safetensor {
    const char *name;
    /* DG_F32, DG_F16 or DG_BF16 */
    enum dg_type type;
    /* slowest dimension first */
    uint64_t shape[4];
    /* 0..4 */
    size_t n_dims;
    /* elements, >= 1 */
    uint64_t count;
    /* little-endian, of any alignment: read it with dg_safetensors_read */
    const unsigned char *data;
};

/* DG_EFORMAT or DG_EUNSUP names the tensor. */
int dg_safetensors_open(struct dg_input in, struct dg_safetensors **out, struct dg_error *err);
void dg_safetensors_close(struct dg_safetensors *s); /* NULL is fine */

/* Borrowed until close. Ordered by their offsets in the file. */
size_t dg_safetensors_count(const struct dg_safetensors *s);
const struct dg_safetensor *dg_safetensors_at(const struct dg_safetensors *s, size_t i);

/* Read a tensor's elements as fp32 into dst[count]. */
void dg_safetensors_read(const struct dg_safetensor *t, float *dst);

#endif
