/* A weights file: named tensors, mapped or loaded, and used in place. The format is described in
 * weights/FORMAT.md. Independent of the Transformer. Constant after open: any thread. */
#ifndef DG_WEIGHTS_WEIGHTS_H
#define DG_WEIGHTS_WEIGHTS_H

#include "base/error.h"
#include "kernels/backend.h" /* enum dg_type, dg_layout, struct dg_stored */

#include <stddef.h>
#include <stdint.h>

struct dg_weights;

#define DG_MAX_FORMS 8

struct dg_tensor {
    const char *name;
    /* [N,K], slowest first; vectors are [1,K] */
    uint64_t shape[2];
    /* [n_stored], the row-major one first; unknown layouts are left out */
    struct dg_stored stored[DG_MAX_FORMS];
    /* size of each form's data, without scales */
    size_t bytes[DG_MAX_FORMS];
    size_t n_stored;
};

/* Map the file and check magic, version, every offset, size, shape, type, layout, name and
 * alignment, and the header's own checksum; only dg_weights_verify checks the tensors' checksums.
 * DG_EFORMAT names the field and value. */
int dg_weights_open(const char *path, struct dg_weights **out, struct dg_error *err);
/* Read the file into memory and check every byte (dg_weights_verify). Later changes to the file
 * have no effect. */
int dg_weights_load(const char *path, struct dg_weights **out, struct dg_error *err);
/* Seconds for reading and checking; 0: the file was not loaded. */
double dg_weights_load_seconds(const struct dg_weights *w);
/* Mark a stored form's data as still in use, so that it is not freed. Only while a single thread
 * uses the file. */
void dg_weights_keep(const struct dg_weights *w, const void *data);
/* Declare that n bytes of a form's data are not read again: frees them if loaded and not kept. */
void dg_weights_spent(const struct dg_weights *w, const void *data, size_t n);
/* Declare that none of the tensor's forms except kept ones is read again: if loaded, their data is
 * freed (scales stay) and their `data` becomes NULL. No other thread may use t during the call. */
void dg_weights_release(const struct dg_weights *w, const struct dg_tensor *t);
/* dg_weights_follow announces a follower: a thread that reads the bytes of loaded weights in order
 * and reports with dg_weights_followed how many it has read (SIZE_MAX: it reads no more).
 * dg_weights_spent and dg_weights_release wait for it before they free bytes, so call
 * dg_weights_follow before them. */
void dg_weights_follow(const struct dg_weights *w);
void dg_weights_followed(const struct dg_weights *w, size_t n);

/* As dg_weights_open, for a file's bytes in memory, 64-byte aligned and borrowed until close. */
int dg_weights_open_memory(
    const void *data, size_t size, struct dg_weights **out, struct dg_error *err);
void dg_weights_close(struct dg_weights *w); /* NULL is fine */

/* Release the memory that reading the mapped file took, for a caller that has copied most of it.
 * Nothing becomes invalid. */
void dg_weights_forget(const struct dg_weights *w);

/* NULL if there is no such tensor. Borrowed until close. */
const struct dg_tensor *dg_weights_find(const struct dg_weights *w, const char *name);
size_t dg_weights_count(const struct dg_weights *w);
const struct dg_tensor *dg_weights_at(const struct dg_weights *w, size_t i);
size_t dg_weights_bytes(const struct dg_weights *w); /* size of the whole file */
/* The file's bytes [dg_weights_bytes] if it was loaded and all of them are still there or there is
 * a follower; otherwise NULL. */
const void *dg_weights_loaded(const struct dg_weights *w);
/* The header's checksum, which covers the tensors' checksums too. */
uint64_t dg_weights_fingerprint(const struct dg_weights *w);

/* "f32", "f16", "bf16" or "s8"; "?" for an unknown type. Static storage. */
const char *dg_weights_type_name(enum dg_type type);
/* The type of the largest tensor's preferred form: "float32", "float16", "bfloat16" or "int8".
 * Static storage. */
const char *dg_weights_main_type(const struct dg_weights *w);

/* Read every byte and compare the XXH3-64 checksums; DG_EFORMAT names the tensor. Loaded weights
 * were verified when they were loaded: returns 0 at once. */
int dg_weights_verify(const struct dg_weights *w, struct dg_error *err);

/* A writer collects tensors, then writes the file once (temporary name, sync, rename). */
struct dg_weights_writer;
int dg_weights_writer_open(struct dg_weights_writer **out, struct dg_error *err);
/* Add an [N,K] tensor from fp32 rows, stored as `type` (DG_F32, DG_F16 or DG_BF16; round to nearest
 * even). Copies. */
int dg_weights_writer_add(struct dg_weights_writer *w, const char *name, uint64_t N, uint64_t K,
    enum dg_type type, const float *rows, struct dg_error *err);
/* Add an [N,K] tensor with row-major elements in their stored type (DG_S8 with scales[N]).
 * Copies. */
int dg_weights_writer_add_rows(struct dg_weights_writer *w, const char *name, uint64_t N,
    uint64_t K, const struct dg_stored *rows, struct dg_error *err);
/* Add a further stored form (packed or quantised) of a tensor added before. Copies. DG_S8 has
 * scales[N]. `bytes` must be what the layout takes, if weights/FORMAT.md describes the layout. */
int dg_weights_writer_add_form(struct dg_weights_writer *w, const char *name,
    const struct dg_stored *form, size_t bytes, struct dg_error *err);
int dg_weights_writer_commit(struct dg_weights_writer *w, const char *path, struct dg_error *err);
/* Write everything under the temporary name; the caller commits or aborts the file. */
struct dg_file_writer;
int dg_weights_writer_write(const struct dg_weights_writer *w, const char *path,
    struct dg_file_writer **out, struct dg_error *err);
void dg_weights_writer_close(struct dg_weights_writer *w); /* NULL is fine; nothing is written */

#endif
