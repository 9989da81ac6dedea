/* A weights file: named tensors, mapped or loaded, and used in place. The format is
 * weights/FORMAT.md. Knows no Transformer. Const after open: any thread. */
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
    /* [n_stored], the row-major one first */
    struct dg_stored stored[DG_MAX_FORMS];
    /* of each form's data, scales not counted */
    size_t bytes[DG_MAX_FORMS];
    size_t n_stored;
    /* further forms in layouts this build does not know: left out of `stored` */
    size_t n_unknown;
};

/* Map and check: magic, version, every offset, size, shape, type, layout, name, alignment; the
 * header's own checksum always, the tensors' checksums only by dg_weights_verify. DG_EFORMAT names
 * the field and value. */
int dg_weights_open(const char *path, struct dg_weights **out, struct dg_error *err);
/* Read the file into memory and check every byte (dg_weights_verify). Later changes to the file
 * have no effect. */
int dg_weights_load(const char *path, struct dg_weights **out, struct dg_error *err);
/* Time for reading and checking, if loaded; 0: it was mapped. */
double dg_weights_load_seconds(const struct dg_weights *w);
/* These data of a stored form stay in use. While the file is loaded by one thread. */
void dg_weights_keep(const struct dg_weights *w, const void *data);
/* These n bytes of a form's data are not read again: loaded ones are freed, unless they are kept.
 */
void dg_weights_spent(const struct dg_weights *w, const void *data, size_t n);
/* None of the tensor's forms is read again, but those that are kept: the data of loaded ones are
 * freed (scales stay), and their `data` are NULL from then on. No other thread may use t during the
 * call. */
void dg_weights_release(const struct dg_weights *w, const struct dg_tensor *t);
/* Somebody reads the bytes of loaded weights in order, on a thread of its own, and says how many it
 * has read (SIZE_MAX: it reads no more). Until then nothing is freed that it has still to read:
 * spent and release wait for it. Begins before they are called. */
void dg_weights_follow(const struct dg_weights *w);
void dg_weights_followed(const struct dg_weights *w, size_t n);

/* The same over a file's bytes in memory, 64-byte aligned and borrowed until close. */
int dg_weights_open_memory(
    const void *data, size_t size, struct dg_weights **out, struct dg_error *err);
void dg_weights_close(struct dg_weights *w); /* NULL is fine */

/* Let go of the memory that reading the file took: for a caller that copied most of it. Nothing
 * becomes invalid. */
void dg_weights_forget(const struct dg_weights *w);

/* NULL if there is no such tensor. Borrowed until close. */
const struct dg_tensor *dg_weights_find(const struct dg_weights *w, const char *name);
size_t dg_weights_count(const struct dg_weights *w);
const struct dg_tensor *dg_weights_at(const struct dg_weights *w, size_t i);
size_t dg_weights_bytes(const struct dg_weights *w); /* of the whole file */
/* The file's bytes [dg_weights_bytes] if it was loaded, and all of them are still there or are
 * followed; otherwise NULL. */
const void *dg_weights_loaded(const struct dg_weights *w);
/* The header's checksum, which covers the tensors' checksums too. */
uint64_t dg_weights_fingerprint(const struct dg_weights *w);

/* The type most of the weights are computed from: "float32", "float16", "bfloat16" or "int8".
 * Static storage. */
const char *dg_weights_main_type(const struct dg_weights *w);

/* Read every byte and compare the XXH3-64 checksums; DG_EFORMAT names the tensor. */
int dg_weights_verify(const struct dg_weights *w, struct dg_error *err);

/* Writing: collect, then write once (temporary name, sync, rename). */
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
/* Add a further stored form of a tensor added before (a packed or quantised one). Copies. DG_S8 has
 * scales[N]. `bytes` must be what the layout takes, where weights/FORMAT.md knows the layout. */
int dg_weights_writer_add_form(struct dg_weights_writer *w, const char *name,
    const struct dg_stored *form, size_t bytes, struct dg_error *err);
int dg_weights_writer_commit(struct dg_weights_writer *w, const char *path, struct dg_error *err);
void dg_weights_writer_close(struct dg_weights_writer *w); /* NULL is fine; nothing is written */

#endif
