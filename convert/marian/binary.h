/* Reading Marian's binary model files (version 1, ".bin"), strictly: every length, shape and type
 * is checked when the file is opened. Layout (little-endian): u64 version, u64 n; n times u64 name
 * length (NUL counted), type, dimensions, data bytes; the names; the shapes (i32); u64 padding and
 * that many bytes; the data of the items in order. Const after open: any thread. */
#ifndef DG_CONVERT_MARIAN_BINARY_H
#define DG_CONVERT_MARIAN_BINARY_H

#include "convert/input.h"

#include <stddef.h>
#include <stdint.h>

struct dg_marian_binary;

/* Values as in the file; other types are refused by name. */
enum dg_marian_item_type {
    DG_MARIAN_ITEM_INT8 = 0x101,
    DG_MARIAN_ITEM_F16 = 0x402,
    DG_MARIAN_ITEM_F32 = 0x404,
    DG_MARIAN_ITEM_INTGEMM8 = 0x4101 /* int8 elements, then an f32: their multiplier */
};

struct dg_marian_item {
    const char *name;
    enum dg_marian_item_type type;
    /* slowest dimension first */
    uint64_t shape[4];
    /* 0..4 */
    size_t n_dims;
    /* elements, >= 1 */
    uint64_t count;
    /* of any alignment */
    const unsigned char *data;
};

int dg_marian_binary_open(struct dg_input in, struct dg_marian_binary **out, struct dg_error *err);
void dg_marian_binary_close(struct dg_marian_binary *b); /* NULL is fine */

/* Borrowed until close. */
size_t dg_marian_binary_count(const struct dg_marian_binary *b);
const struct dg_marian_item *dg_marian_binary_at(const struct dg_marian_binary *b, size_t i);

#endif
