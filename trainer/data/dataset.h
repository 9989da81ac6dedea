/* Batches of encoded pairs of similar length under a budget of tokens (paper section 5.1), in an
 * order that depends only on (seed, epoch), not on threads, ranks or machine. The epoch is a
 * pseudo-random permutation of all pairs (a pair of weight 2.5 occurs 2 or 3 times), taken in
 * windows; a window is sorted by length, cut into batches under the token budget, and the batches
 * are shuffled. So memory is bounded by the window, whatever the size of the corpus. One thread at
 * a time, except for the functions marked "any thread". */
#ifndef DG_TRAINER_DATA_DATASET_H
#define DG_TRAINER_DATA_DATASET_H

#include "base/error.h"
#include "kernels/train.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_dataset;

struct dg_recipe_direction;
struct dg_recipe_noise;
struct dg_recipe_stage;

struct dg_dataset_options {
    /* enum dg_batch_mode (trainer/recipe/recipe.h) */
    int mode;
    uint64_t batch_tokens;
    /* pairs; 0: 1,000,000 */
    uint64_t window;
    uint64_t seed;
    /* share of merges skipped, drawn anew in each epoch; 0 off; dg_dataset_open only */
    double bpe_dropout;
    /* noise in sources, and the recipe's directions, which give the source languages; NULL: none.
     * Borrowed until close; dg_dataset_open only, not with links */
    const struct dg_recipe_noise *noise;
    const struct dg_recipe_direction *directions;
    /* open the shards' alignments, too (dg_dataset_links); dg_dataset_open only, not with BPE
     * dropout */
    bool links;
    /* [n_stages] stages with domain weights of their own (dg_dataset_enter); borrowed during the
     * call. dg_dataset_open only */
    const struct dg_recipe_stage *stages;
    size_t n_stages;
    /* false: windows in the order of the files, weights ignored, each pair once an epoch */
    bool shuffle;
};

/* Position of the next batch; plain data for a checkpoint. Zero is the start. */
struct dg_dataset_position {
    uint64_t epoch;
    /* start of the current window in the epoch's permutation */
    uint64_t cursor;
    /* batches of that window already given */
    uint64_t batch;
    /* stage of the batches; n_stages: pairs have their own weights */
    uint64_t stage;
};

struct dg_batch {
    /* [count] indices for the readers below, similar lengths side by side */
    const uint64_t *sentences;
    size_t count;
    /* without padding, </s> included */
    uint64_t source_tokens, target_tokens;
    uint32_t max_source, max_target;
    /* epoch of the batch */
    uint64_t epoch;
};

/* Open one set ("train", "dev-0", ...) of a prepared folder. Reads its shards whole to verify
 * them. */
int dg_dataset_open(const char *prepared_dir, const char *name, const struct dg_dataset_options *o,
    struct dg_dataset **out, struct dg_error *err);
int dg_dataset_open_shards(const char *const *paths, size_t n, const struct dg_dataset_options *o,
    struct dg_dataset **out, struct dg_error *err);
void dg_dataset_close(struct dg_dataset *d); /* NULL is fine */

/* Any thread: */
uint64_t dg_dataset_count(const struct dg_dataset *d);
void dg_dataset_lengths(
    const struct dg_dataset *d, uint64_t sentence, uint32_t *source_len, uint32_t *target_len);
/* source[source_len] and target[target_len], both with </s> last; either may be NULL. */
void dg_dataset_ids(
    const struct dg_dataset *d, uint64_t sentence, int32_t *source, int32_t *target);
/* Links from target pieces (queries) to the source pieces (keys) that they translate, sorted by
 * query; *n may be 0. Borrowed. */
const struct dg_link *dg_dataset_links(const struct dg_dataset *d, uint64_t sentence, size_t *n);
uint32_t dg_dataset_direction(const struct dg_dataset *d, uint64_t sentence);

/* Get the next batch; continues with the next epoch automatically. Borrowed until the next call.
 * DG_EINVAL if the weights leave no pair in 100 epochs. */
int dg_dataset_next(struct dg_dataset *d, struct dg_batch *out, struct dg_error *err);

/* Switch to this stage (0 to n_stages) for the next batch. If the stage changes, drops the rest of
 * the current epoch, starts a new one and returns true. */
bool dg_dataset_enter(struct dg_dataset *d, size_t stage);

/* Store the position of the batch that dg_dataset_next would return; seek makes that batch the next
 * one again. */
void dg_dataset_tell(const struct dg_dataset *d, struct dg_dataset_position *out);
int dg_dataset_seek(
    struct dg_dataset *d, const struct dg_dataset_position *p, struct dg_error *err);

/* Epochs so far: 1.25 is a quarter into the second. Counted in places of the permutation, within a
 * window in batches. An epoch that a new stage ended early counts as whole. */
double dg_dataset_epochs(const struct dg_dataset *d);

/* Part i of n of a batch: sentences [*begin, *end), contiguous, balanced by tokens, some empty when
 * n is large. Any thread. */
void dg_batch_part(const struct dg_dataset *d, const struct dg_batch *b, size_t n, size_t i,
    size_t *begin, size_t *end);

/* The end of the longest run from `begin` (not past `end`) with at most max_tokens source + target
 * tokens; at least one sentence. For cutting a part into passes that fit in memory. Any thread. */
size_t dg_batch_cut(const struct dg_dataset *d, const struct dg_batch *b, size_t begin, size_t end,
    uint64_t max_tokens);

/* With noise or BPE dropout, batches are cut by the lengths before them, but the counts in a batch,
 * and what the functions above return for its sentences, are those after them. No sentence grows
 * past the recipe's cleaning.max_tokens. */

/* Upper limits over all batches that options can give, for planning memory. */
struct dg_dataset_worst {
    uint64_t sentences, source_tokens, target_tokens;
    /* longest sentences with </s> */
    uint32_t max_source, max_target;
};
void dg_dataset_worst(
    const struct dg_dataset *d, const struct dg_dataset_options *o, struct dg_dataset_worst *out);

#endif
