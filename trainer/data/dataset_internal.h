/* Internals of the data set's files; no other file includes it. One thread at a time, but for what
 * dataset.h marks. */
#ifndef DG_TRAINER_DATA_DATASET_INTERNAL_H
#define DG_TRAINER_DATA_DATASET_INTERNAL_H

#include "trainer/data/dataset.h"
#include "trainer/data/sampling.h"
#include "trainer/data/link_file.h"
#include "trainer/data/prepared.h"
#include "trainer/data/shard.h"

enum { DG_DATASET_MAX_COPIES = 1024 };

struct dg_dataset_item {
    /* target length, source length, random bits */
    uint64_t key;
    uint64_t sentence;
};

struct dg_dataset_range {
    size_t begin, end;
};

/* Weights of a stage. */
struct dg_dataset_stage {
    /* [n_domains] times a pair's weight */
    double *factors;
    /* places of a pair in an epoch: the largest weight, rounded up */
    uint64_t copies;
};

struct dg_dataset {
    /* [n_shards] */
    struct dg_shard **shards;
    /* [n_shards] or NULL: without */
    struct dg_link_file **links;
    /* [n_shards + 1] index of each shard's first pair */
    uint64_t *first;
    size_t n_shards;
    struct dg_dataset_options o;
    /* [max_drawn] one sentence, before it is drawn */
    int32_t *source, *target;
    /* pieces of a side that is drawn */
    uint32_t max_drawn;
    /* of the batch given last; NULL: nothing is drawn */
    struct dg_sampling *draw;
    /* places of a pair in an epoch of this stage */
    uint64_t copies;
    /* [o.n_stages + 1], the last with the pairs' own weights; NULL without stages */
    struct dg_dataset_stage *stages;
    size_t n_domains;

    /* The window; built with its first batch. */
    struct dg_dataset_position position;
    bool built;
    /* place in the epoch after it */
    uint64_t window_end;
    /* [n_items], room for o.window */
    struct dg_dataset_item *items;
    /* [n_items] */
    uint64_t *sentences;
    /* [n_batches] of sentences */
    struct dg_dataset_range *batches;
    size_t n_items, n_batches, cap_batches;
};

/* As stored, before noise and BPE dropout. */
const struct dg_shard_entry *dg_dataset_entry(const struct dg_dataset *d, uint64_t sentence);

/* dataset_stages.c. Weights of the recipe's stages for the domains of a prepared folder; the first
 * stage is entered. */
int dg_dataset_open_stages(struct dg_dataset *d, const struct dg_prepared *p, struct dg_error *err);
/* The weights are those of the position's stage from here on. */
void dg_dataset_use_stage(struct dg_dataset *d);
/* A pair's weight in the stage. */
double dg_dataset_weight_now(const struct dg_dataset *d, const struct dg_shard_entry *e);
/* Its maximum. */
double dg_dataset_weight_most(const struct dg_dataset *d, const struct dg_shard_entry *e);
/* Room for a window, whichever the stage. */
void dg_dataset_make_window(struct dg_dataset *d);

/* Draw the sentences of a batch; a no-op without noise and BPE dropout. */
void dg_dataset_draw(struct dg_dataset *d, const uint64_t *sentences, size_t n, uint64_t epoch);

#endif
