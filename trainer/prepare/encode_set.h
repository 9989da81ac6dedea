/* The shards of one set: training, or a dev or test set. One thread at a time. */
#ifndef DG_TRAINER_PREPARE_ENCODE_SET_H
#define DG_TRAINER_PREPARE_ENCODE_SET_H

#include "trainer/data/shard.h"
#include "trainer/prepare/encode_block.h"

struct dg_encode_set {
    const char *name;
    /* Index of the one direction of a dev or test set, which keeps every pair except those over
     * cleaning.max_tokens; -1: the training set, which has all directions of a pair. */
    long direction;
    struct dg_shard_writer *shard;
    char file[64];
    /* Description of each written shard, with its counts, for the manifest. */
    struct dg_json *list;
    unsigned n_shards;
    /* Of a dev or test set: pairs over cleaning.max_tokens, which are not in the shards. */
    uint64_t left_out;
    /* Of a dev or test set: tokens of the longest side, including pairs that are left out. */
    uint32_t longest;
};

/* Encode the block, write the pairs that fit, and empty the block. */
int dg_encode_set_flush(struct dg_encode_set *s, struct dg_encode_block *b, struct dg_error *err);
/* Close the last shard. A caller that gives up calls dg_shard_abort(s->shard) and frees s->list
 * instead. */
int dg_encode_set_end(struct dg_encode_set *s, struct dg_error *err);
/* Add the set, described by o and its shards, to the job's manifest. Takes o and s->list. */
int dg_encode_set_list_take(
    struct dg_encode_set *s, struct dg_prepare_job *j, struct dg_json *o, struct dg_error *err);

#endif
