/* The tensors of a Hugging Face directory: of model.safetensors, or else of pytorch_model.bin, each
 * in one piece or in shards that an index lists. Const after open: any thread. */
#ifndef DG_CONVERT_HUGGINGFACE_TENSOR_SET_H
#define DG_CONVERT_HUGGINGFACE_TENSOR_SET_H

#include "convert/safetensors.h"

struct dg_tensor_set;

int dg_tensor_set_open(const char *dir, struct dg_tensor_set **out, struct dg_error *err);
void dg_tensor_set_close(struct dg_tensor_set *s); /* NULL is fine */

/* Borrowed until close. */
size_t dg_tensor_set_count(const struct dg_tensor_set *s);
const struct dg_safetensor *dg_tensor_set_at(const struct dg_tensor_set *s, size_t i);
/* NULL when there is none. */
const struct dg_safetensor *dg_tensor_set_find(const struct dg_tensor_set *s, const char *name);

#endif
