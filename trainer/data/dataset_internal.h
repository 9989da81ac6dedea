/* Internals of dataset*.c; no other file includes it. One thread at a time, except where dataset.h
 * says otherwise. */
#ifndef DG_TRAINER_DATA_DATASET_INTERNAL_H
#define DG_TRAINER_DATA_DATASET_INTERNAL_H

#include "trainer/data/dataset.h"
#include "trainer/data/sampling.h"
#include "trainer/data/link_file.h"
#include "trainer/data/prepared.h"
#include "trainer/data/shard.h"

enum { DG_DATASET_MAX_COPIES = 1024 };

struct dg_dataset_item {
    /* sort key: target length, source length, random bits */
    uint64_t key;
    uint64_t sentence;
};

struct dg_dataset_range {
    size_t begin, end;
};

/* Weights of a stage. */
struct dg_dataset_stage {
    /* [domains of the prepared folder] factors on a pair's weight; NULL: all are 1 */
    double *factors;
    /* places of a pair in an epoch: the largest weight, rounded up */
    uint64_t copies;
};

struct dg_dataset {
    /* [n_shards] */
    struct dg_shard **shards;
    /* [n_shards]; NULL: without alignments */
    struct dg_link_file **links;
    /* [n_shards + 1] index of each shard's first pair */
    uint64_t *first;
    size_t n_shards;
    struct dg_dataset_options o;
    /* [max_drawn] scratch: one sentence as stored, before noise and BPE dropout */
    int32_t *source, *target;
    /* largest number of pieces of a drawn side */
    uint32_t max_drawn;
    /* drawn sentences of the last batch; NULL: no noise and no BPE dropout */
    struct dg_sampling *draw;
    /* [o.n_stages + 1], the last with the pairs' own weights */
    struct dg_dataset_stage *stages;

    /* The current window; built when its first batch is needed. */
    struct dg_dataset_position position;
    bool built;
    /* first place of the epoch after the window */
    uint64_t window_end;
    /* [n_items], room for o.window */
    struct dg_dataset_item *items;
    /* [n_items] */
    uint64_t *sentences;
    /* [n_batches] ranges of sentences */
    struct dg_dataset_range *batches;
    size_t n_items, n_batches, cap_batches;
};

/* The sentence's entry as stored, before noise and BPE dropout. */
const struct dg_shard_entry *dg_dataset_entry(const struct dg_dataset *d, uint64_t sentence);

/* dataset_stages.c. Put stages[n] with the weights of a prepared folder's domains before the one
 * with the pairs' own. */
int dg_dataset_open_stages(struct dg_dataset *d, const struct dg_recipe_stage *stages, size_t n,
    const struct dg_prepared *p, struct dg_error *err);
/* A pair's weight in the current stage. */
double dg_dataset_weight_now(const struct dg_dataset *d, const struct dg_shard_entry *e);
/* A pair's largest weight in any stage. */
double dg_dataset_weight_most(const struct dg_dataset *d, const struct dg_shard_entry *e);
/* Allocate a window that is large enough for every stage. */
void dg_dataset_make_window(struct dg_dataset *d);

/* Draw the sentences of a batch; a no-op without noise and BPE dropout. */
void dg_dataset_draw(struct dg_dataset *d, const uint64_t *sentences, size_t n, uint64_t epoch);

#endif
