/* XXH3 of bytes and files, for duplicates, checksums and "has this input changed". Not secure
 * against attackers. Any thread. */
#ifndef DG_TRAINER_DATA_HASH_H
#define DG_TRAINER_DATA_HASH_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct dg_hash128 {
    uint64_t high, low;
};

uint64_t dg_hash64(const void *data, size_t n);
struct dg_hash128 dg_hash128(const void *data, size_t n, uint64_t seed);
/* Write 32 hex digits and a NUL. */
void dg_hash_print(struct dg_hash128 h, char out[33]);
/* Hash a whole file, as dg_hash_print writes it; *bytes (may be NULL) gets its size. */
int dg_hash_file(const char *path, char out[33], uint64_t *bytes, struct dg_error *err);

/* Hash in pieces; dg_hasher_new never returns NULL. */
struct dg_hasher;
struct dg_hasher *dg_hasher_new(void);
void dg_hasher_free(struct dg_hasher *h); /* NULL is fine */
void dg_hasher_add(struct dg_hasher *h, const void *data, size_t n);
uint64_t dg_hasher_64(const struct dg_hasher *h);

#endif
