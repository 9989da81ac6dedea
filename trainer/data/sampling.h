/* The segmentations of a batch under BPE dropout: drawn when the batch is given, looked up by
 * sentence. One thread draws; any thread looks up until the next draw. */
#ifndef DG_TRAINER_DATA_SAMPLING_H
#define DG_TRAINER_DATA_SAMPLING_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

struct dg_sampling;

struct dg_sampled {
    uint64_t sentence;
    size_t source, target; /* where their ids begin, see dg_sampling_ids */
    uint32_t source_len, target_len;
};

/* Vocabularies from a prepared folder. No side grows past `max` pieces. */
int dg_sampling_open(const char *prepared_dir, double p, uint64_t seed, uint32_t max,
    struct dg_sampling **out, struct dg_error *err);
void dg_sampling_close(struct dg_sampling *d); /* NULL is fine */

/* Forget all; then add the batch's sentences in any order; then sort. Random numbers depend on
 * (seed, epoch, sentence). */
void dg_sampling_begin(struct dg_sampling *d, uint64_t epoch);
void dg_sampling_add(struct dg_sampling *d, uint64_t sentence, const int32_t *source,
    uint32_t source_len, const int32_t *target, uint32_t target_len);
void dg_sampling_end(struct dg_sampling *d);

const struct dg_sampled *dg_sampling_find(
    const struct dg_sampling *d, uint64_t sentence); /* NULL: not of this batch */
const int32_t *dg_sampling_ids(const struct dg_sampling *d, size_t begin);

#endif
