/* A block of sentence pairs, filled by the caller, then encoded from text to ids in parallel. A
 * pair is encoded once; all its directions are cut out of the same ids. One calling thread. */
#ifndef DG_TRAINER_PREPARE_ENCODE_BLOCK_H
#define DG_TRAINER_PREPARE_ENCODE_BLOCK_H

#include "trainer/prepare/prepare_internal.h"

enum { DG_ENCODE_TASK_PAIRS = 64 };

struct dg_encode_side {
    /* Offset and length in block.text, in bytes. */
    size_t text, len;
    /* Offset in the task's ids: a slot for a tag, followed by n ids, the last of them </s>. */
    size_t ids, n;
    /* True if a model made this side: its first id is DG_BACK_TRANSLATED_PIECE. */
    bool back_translated;
};

struct dg_encoded_pair {
    /* Source and target of the recipe's pair. */
    struct dg_encode_side sides[2];
    struct dg_pair pair;
    /* Another form of a pair: not counted. */
    bool variant;
    /* True if the pair is left out of the forward and of the reversed direction. */
    bool left_out[2];
};

/* The work of one thread: DG_ENCODE_TASK_PAIRS consecutive pairs of a block. */
struct dg_encode_task {
    /* [cap], n in use. */
    int32_t *ids;
    size_t n, cap;
    struct dg_error err;
};

struct dg_encode_block {
    struct dg_prepare_job *job;
    struct dg_buffer text;
    /* [BLOCK_PAIRS], the first n in use. */
    struct dg_encoded_pair *pairs;
    size_t n;
    /* [TASKS] */
    struct dg_encode_task *tasks;
};

void dg_encode_block_init(struct dg_encode_block *b, struct dg_prepare_job *j);
void dg_encode_block_deinit(struct dg_encode_block *b);
/* Copy p's texts to the end of the block, which must not be full. */
void dg_encode_block_add(struct dg_encode_block *b, const struct dg_pair *p);
bool dg_encode_block_is_full(const struct dg_encode_block *b);
/* Encode all pairs on the job's pool; a task's failure is in its err. */
void dg_encode_block_run(struct dg_encode_block *b);
/* Empty the block for the next pairs. */
void dg_encode_block_reset(struct dg_encode_block *b);

#endif
