/* From text files to a prepared folder: clean, remove duplicates and overlap, train the vocabulary,
 * encode. The folder holds
 *   source.spm, target.spm,    the same twice when joint;
 *   source.vocab, target.vocab ready for a bundle
 *   train-00000.shard ...      encoded pairs (trainer/data/shard.h)
 *   train-00000.links ...      their alignments (trainer/data/link_file.h), where the recipe guides
 * it dev-0.shard, dev-0.source.txt, dev-0.target.txt ...  a set for each direction that has any
 *   test-0.shard ...           likewise
 *   prepared.json              written last: what was made, from what, with which counts
 * Memory is bounded whatever the corpus; temporary files are in the folder. A folder whose
 * prepared.json matches the recipe's data part and the inputs' hashes is left as it is. Several
 * processes may ask for one folder: one makes it, the others wait. */
#ifndef DG_TRAINER_PREPARE_PREPARE_H
#define DG_TRAINER_PREPARE_PREPARE_H

#include "base/error.h"
#include "base/json.h"
#include "trainer/recipe/recipe.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_prepare_options {
    const char *dir; /* made when missing */
    int threads;     /* 0: all the machine has */
    bool force;      /* make it anew even when it matches */
    bool quiet;      /* no progress on the terminal */
    /* set to non-zero by a signal handler: stops with DG_ECANCELED; NULL never */
    const volatile int *stop;
    int *hold; /* the folder is held for the caller as by dg_prepared_hold; NULL: it is not */
};

/* *made (may be NULL) says whether anything had to be done. DG_EAGAIN: the folder would have to be
 * made anew, but is held by others. */
int dg_prepare(const struct dg_recipe *r, const struct dg_prepare_options *o, bool *made,
    struct dg_error *err);

/* Nobody makes the folder anew until *fd is closed; any number of processes may hold it. -1 where
 * no lock can be had: a read-only folder. DG_EAGAIN: it is being made. */
int dg_prepared_hold(const char *dir, int *fd, struct dg_error *err);

/* A prepared folder, opened. Const after open: any thread. */
struct dg_prepared;
int dg_prepared_open(const char *dir, struct dg_prepared **out, struct dg_error *err);
void dg_prepared_close(struct dg_prepared *p); /* NULL is fine */
const struct dg_json *dg_prepared_manifest(
    const struct dg_prepared *p); /* "counts", "inputs", "recipe", ... */
const char *dg_prepared_hash(
    const struct dg_prepared *p); /* 32 hex digits: data part and inputs; for checkpoints */
uint32_t dg_prepared_source_vocab(const struct dg_prepared *p);
uint32_t dg_prepared_target_vocab(const struct dg_prepared *p);
int32_t dg_prepared_eos(const struct dg_prepared *p);
int32_t dg_prepared_unk(const struct dg_prepared *p);

/* Sets for validation: kind "dev" or "test". Each is one direction of the recipe, all its files in
 * turn. */
struct dg_prepared_set {
    const char *name; /* "dev-0": for dg_dataset_open */
    /* path, one sentence a line, NFC, as in the recipe's files otherwise */
    const char *source_text;
    const char *target_text; /* path */
    size_t direction;        /* of the recipe */
    uint64_t sentences;
    uint64_t left_out; /* of them not in the shards: over cleaning.max_pieces */
    /* pieces of the longest line of either side, tag and </s> counted; 0: not known  (prepared by
     * an older program) */
    uint32_t longest;
};
size_t dg_prepared_sets(const struct dg_prepared *p, const char *kind);
void dg_prepared_set(
    const struct dg_prepared *p, const char *kind, size_t i, struct dg_prepared_set *out);

/* Paths of the shards of a set ("train", "dev-0", ...). */
size_t dg_prepared_shards(const struct dg_prepared *p, const char *set);
const char *dg_prepared_shard(const struct dg_prepared *p, const char *set, size_t i);
/* The alignments of shard i (trainer/data/link_file.h); NULL: it has none. */
const char *dg_prepared_links(const struct dg_prepared *p, const char *set, size_t i);

/* The counts as a table for people ("pairs read 29000, kept 28511 ..."). */
int dg_prepared_table(const struct dg_prepared *p, struct dg_buffer *out);

#endif
