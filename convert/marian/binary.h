/* Reading Marian's binary model files (version 1, ".bin"), strictly: every length, shape and type
 * is checked when the file is opened. Layout (little-endian): u64 version, u64 n; n times u64 name
 * length (NUL counted), type, dimensions, data bytes; the names; the shapes (i32); u64 padding and
 * that many bytes; the data of the items in order. Const after open: any thread. */
#ifndef DG_CONVERT_MARIAN_BINARY_H
#define DG_CONVERT_MARIAN_BINARY_H

#include "convert/input.h"
#include "convert/marian/arrays.h"

struct dg_marian_binary;

/* Types: 0x101 int8 (DG_MARIAN_BYTE), 0x402 float16, 0x404 float32, 0x4101 intgemm8 (DG_MARIAN_S8:
 * the elements, then their multiplier as an f32). Others are refused by name. */
int dg_marian_binary_open(struct dg_input in, struct dg_marian_binary **out, struct dg_error *err);
void dg_marian_binary_close(struct dg_marian_binary *b); /* NULL is fine */

/* Borrowed until close. */
size_t dg_marian_binary_count(const struct dg_marian_binary *b);
const struct dg_marian_array *dg_marian_binary_at(const struct dg_marian_binary *b, size_t i);

#endif
