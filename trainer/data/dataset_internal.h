/* What the data set's files share; nobody else includes it. One thread at a time, but for what
 * dataset.h marks. */
#ifndef DG_TRAINER_DATA_DATASET_INTERNAL_H
#define DG_TRAINER_DATA_DATASET_INTERNAL_H

#include "trainer/data/dataset.h"
#include "trainer/data/sampling.h"
#include "trainer/data/link_file.h"
#include "trainer/data/shard.h"

struct dg_dataset_item {
    uint64_t key; /* target length, source length, random bits */
    uint64_t sentence;
};

struct dg_dataset_range {
    size_t begin, end;
};

struct dg_dataset {
    struct dg_shard **shards;    /* [n_shards] */
    struct dg_link_file **links; /* [n_shards] or NULL: without */
    uint64_t *first;             /* [n_shards + 1] index of each shard's first pair */
    size_t n_shards;
    struct dg_dataset_options o;
    int32_t *source, *target; /* one sentence, before it is drawn */
    uint32_t max_drawn;       /* pieces of a side that is drawn */
    struct dg_sampling *draw; /* of the batch given last; NULL: no BPE dropout */
    uint64_t copies;          /* places of a pair in an epoch: the largest weight, rounded up */

    /* The window; built when the first batch of it is asked for. */
    struct dg_dataset_position position;
    bool built;
    uint64_t window_end;              /* place in the epoch after it */
    struct dg_dataset_item *items;    /* [n_items], room for o.window */
    uint64_t *sentences;              /* [n_items] */
    struct dg_dataset_range *batches; /* [n_batches] of sentences */
    size_t n_items, n_batches, cap_batches;
};

/* As stored, before BPE dropout. */
const struct dg_shard_entry *dg_dataset_entry(const struct dg_dataset *d, uint64_t sentence);

/* Draw the segmentations of a batch; a no-op without BPE dropout. */
void dg_dataset_draw(struct dg_dataset *d, const uint64_t *sentences, size_t n, uint64_t epoch);

#endif
