/* Reading CTranslate2's model.bin, strictly: every length and type is checked when the file is
 * opened. Layout (little-endian): u32 version; text name, u32 revision; u32 n; n variables (text
 * name, u8 rank, u32 sizes, u8 type, u32 bytes, data); u32 m; m pairs of texts (alias, name). A
 * text is a u16 length with its NUL. Versions 4 to 6. Const after open: any thread. */
#ifndef DG_CONVERT_CTRANSLATE2_READER_H
#define DG_CONVERT_CTRANSLATE2_READER_H

#include "convert/input.h"

#include <stddef.h>
#include <stdint.h>

struct dg_ct2;

enum dg_ct2_type { DG_CT2_F32, DG_CT2_S8, DG_CT2_S16, DG_CT2_S32, DG_CT2_F16, DG_CT2_BF16 };

struct dg_ct2_variable {
    const char *name;
    enum dg_ct2_type type;
    /* slowest dimension first */
    uint64_t shape[4];
    /* 0..4 */
    size_t n_dims;
    /* elements, >= 1 */
    uint64_t count;
    /* of any alignment */
    const unsigned char *data;
};

int dg_ct2_open(struct dg_input in, struct dg_ct2 **out, struct dg_error *err);
void dg_ct2_close(struct dg_ct2 *c); /* NULL is fine */

/* 4 to 6. */
uint32_t dg_ct2_version(const struct dg_ct2 *c);
/* The kind of model, such as "TransformerSpec". */
const char *dg_ct2_spec(const struct dg_ct2 *c);
/* Borrowed until close. Without aliases. */
size_t dg_ct2_count(const struct dg_ct2 *c);
const struct dg_ct2_variable *dg_ct2_at(const struct dg_ct2 *c, size_t i);
/* By its name or an alias; NULL when there is none. An alias of X/weight also applies to its
 * X/weight_scale. */
const struct dg_ct2_variable *dg_ct2_find(const struct dg_ct2 *c, const char *name);

/* Read the elements as numbers into dst[count], whatever their type; weights' scales are not
 * applied. */
void dg_ct2_read(const struct dg_ct2_variable *v, float *dst);

#endif
