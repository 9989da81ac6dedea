/* An open prepared folder (made by trainer/prepare/prepare.h): its sets, shards and vocabulary
 * sizes as prepared.json lists them. After open, every shard and alignment file that it lists
 * exists in full size. Const after open: any thread. */
#ifndef DG_TRAINER_DATA_PREPARED_H
#define DG_TRAINER_DATA_PREPARED_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "tokenizer/tokenizer.h"

#include <stddef.h>
#include <stdint.h>

#define DG_PREPARED_FORMAT 1

struct dg_prepared;
int dg_prepared_open(const char *dir, struct dg_prepared **out, struct dg_error *err);
void dg_prepared_close(struct dg_prepared *p); /* NULL is fine */
/* "counts", "inputs", "recipe", ... */
const struct dg_json *dg_prepared_manifest(const struct dg_prepared *p);
/* 32 hex digits: data part and inputs; for checkpoints. */
const char *dg_prepared_hash(const struct dg_prepared *p);
uint32_t dg_prepared_source_vocab(const struct dg_prepared *p);
uint32_t dg_prepared_target_vocab(const struct dg_prepared *p);
int32_t dg_prepared_eos(const struct dg_prepared *p);
int32_t dg_prepared_unk(const struct dg_prepared *p);

/* The training set, or a validation set: one direction of the recipe with all its files, one after
 * the other. */
struct dg_prepared_set {
    /* "train", "dev-0", ...; for dg_dataset_open */
    const char *name;
    /* "train", "dev" or "test" */
    const char *kind;
    /* [n_shards] paths */
    const char **shards;
    /* [n_shards] paths of their alignments (trainer/data/link_file.h); NULL: it has none */
    const char **links;
    size_t n_shards;
    /* From here on, of validation sets only: */
    /* paths; one sentence per line, as in the recipe's files */
    const char *source_text, *target_text;
    /* index in the recipe's directions */
    size_t direction;
    uint64_t sentences;
    /* of these, sentences left out of the shards: over cleaning.max_tokens */
    uint64_t left_out;
    /* pieces in the longest line of either side, tag and </s> included; 0: unknown (prepared by an
     * older program) */
    uint32_t longest;
};
size_t dg_prepared_sets(const struct dg_prepared *p, const char *kind);
/* Set i of this kind, or of this name; NULL: there is none. Borrowed. */
const struct dg_prepared_set *dg_prepared_set(
    const struct dg_prepared *p, const char *kind, size_t i);
const struct dg_prepared_set *dg_prepared_find(const struct dg_prepared *p, const char *name);

/* Open the tokenizer of one side, "source" or "target", of the prepared folder `dir`. */
int dg_prepared_tokenizer(
    const char *dir, const char *side, struct dg_tokenizer **out, struct dg_error *err);
/* *same: both sides have the same file of a kind, "spm" or "vocab". */
int dg_prepared_same(const char *dir, const char *kind, bool *same, struct dg_error *err);

/* Append the counts as a table for people ("pairs read 29000, kept 28511 ..."). */
int dg_prepared_table(const struct dg_prepared *p, struct dg_buffer *out);

#endif
