/* A shard: encoded sentence pairs in one file, mapped read-only and used in place (little endian).
 *   0  "DGSHARD1", then zeros to 64
 *  64  ids (u16 or u32) of each pair: source with </s>, then target with </s>;
 *      zeros to a multiple of 8
 *   …  struct dg_shard_entry [sentences]
 *   …  the last 72 bytes: struct dg_shard_info, then XXH3-64 of that struct
 * Reader: const after open, any thread. Writer: one thread. */
#ifndef DG_TRAINER_DATA_SHARD_H
#define DG_TRAINER_DATA_SHARD_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct dg_shard_entry {
    /* first id, counted from the first id of the file */
    uint64_t begin;
    /* tokens with </s> */
    uint32_t source_len;
    uint32_t target_len;
    /* occurrences per epoch */
    float weight;
    /* index in the recipe's directions */
    uint16_t direction;
    /* index in the prepared folder's list of domains */
    uint16_t domain;
};

struct dg_shard_info {
    /* 2 or 4 */
    uint32_t id_bytes;
    uint32_t source_vocab, target_vocab, zero;
    uint64_t sentences, source_tokens, target_tokens;
    /* XXH3-64 of ids and entries, padding included */
    uint64_t checksum;
    /* size of the whole file */
    uint64_t bytes;
    uint64_t reserved;
};

struct dg_shard;

/* Map PATH; size, magic, counts and every entry's range are checked, the checksum by
 * dg_shard_verify only. */
int dg_shard_open(const char *path, struct dg_shard **out, struct dg_error *err);
void dg_shard_close(struct dg_shard *s); /* NULL is fine */
const struct dg_shard_info *dg_shard_info(const struct dg_shard *s);
const struct dg_shard_entry *dg_shard_entries(const struct dg_shard *s); /* [sentences], borrowed */
/* Copy a pair's ids; either may be NULL. source[source_len], target[target_len]. */
void dg_shard_ids(const struct dg_shard *s, uint64_t i, int32_t *source, int32_t *target);
/* Read every byte, compare the checksum and check every id against its vocabulary. */
int dg_shard_verify(const struct dg_shard *s, struct dg_error *err);

/* Writing: ids go straight to a temporary file, entries are kept until commit (24 bytes a pair). */
struct dg_shard_writer;
int dg_shard_begin(const char *path, uint32_t source_vocab, uint32_t target_vocab,
    struct dg_shard_writer **out, struct dg_error *err);
/* entry's begin is filled in here. source[source_len], target[target_len]. */
int dg_shard_add(struct dg_shard_writer *w, const struct dg_shard_entry *entry,
    const int32_t *source, const int32_t *target, struct dg_error *err);
/* Sync and rename; w is freed in every case. info may be NULL. */
int dg_shard_commit_take(
    struct dg_shard_writer *w, struct dg_shard_info *info, struct dg_error *err);
void dg_shard_abort(struct dg_shard_writer *w);            /* NULL is fine */
uint64_t dg_shard_tokens(const struct dg_shard_writer *w); /* tokens written so far, both sides */

#endif
