/* Finds the repeated items of a long stream, exactly (up to 128-bit hash collisions) and in bounded
 * memory: hashes go to partition files, which are sorted one at a time. Also a small in-memory set
 * of hashes for held-out lines. One thread at a time. */
#ifndef DG_TRAINER_DATA_DEDUP_H
#define DG_TRAINER_DATA_DEDUP_H

#include "base/error.h"
#include "trainer/data/hash.h"

#include <stdbool.h>
#include <stdint.h>

struct dg_dedup;

/* Temporary files are made in dir and unlinked at once, so none remain. */
int dg_dedup_open(const char *dir, struct dg_dedup **out, struct dg_error *err);
void dg_dedup_close(struct dg_dedup *d); /* NULL is fine */
/* Add the next item; items are numbered 0, 1, ... in the order of the calls. */
int dg_dedup_add(struct dg_dedup *d, struct dg_hash128 h, struct dg_error *err);
/* Call once, after the last add: calls `repeated` for each item with the hash of an earlier one, in
 * no particular order. */
int dg_dedup_finish(struct dg_dedup *d, void (*repeated)(void *arg, uint64_t item), void *arg,
    struct dg_error *err);

struct dg_hash_set;
struct dg_hash_set *dg_hash_set_new(void);
void dg_hash_set_free(struct dg_hash_set *s); /* NULL is fine */
void dg_hash_set_add(struct dg_hash_set *s, struct dg_hash128 h);
/* Any thread while no thread adds. */
bool dg_hash_set_has(const struct dg_hash_set *s, struct dg_hash128 h);

#endif
