/* Reads a dictionary of tensors as torch.save writes it (pytorch_model.bin), in a zip or, before
 * torch 1.6, as five pickles followed by the elements. Nothing in it is run: see machine.h.
 * Contiguous tensors of 32 and 16 bits are read; everything else is refused by name. Const after
 * open: any thread. */
#ifndef DG_CONVERT_PICKLE_TORCH_FILE_H
#define DG_CONVERT_PICKLE_TORCH_FILE_H

#include "convert/safetensors.h" /* struct dg_safetensor: a tensor */

struct dg_torch_file;

/* DG_EFORMAT or DG_EUNSUP names the fault. */
int dg_torch_file_open(struct dg_input in, struct dg_torch_file **out, struct dg_error *err);
void dg_torch_file_close(struct dg_torch_file *f); /* NULL is fine */

/* Borrowed until close. Tensors of one storage (tied matrices) share their data. */
size_t dg_torch_file_count(const struct dg_torch_file *f);
const struct dg_safetensor *dg_torch_file_at(const struct dg_torch_file *f, size_t i);

#endif
