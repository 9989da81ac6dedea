/* The sentences of a batch after noise and BPE dropout, drawn anew in each epoch: drawn with the
 * batch, looked up by sentence. One thread draws; any thread looks up until the next draw. */
#ifndef DG_TRAINER_DATA_SAMPLING_H
#define DG_TRAINER_DATA_SAMPLING_H

#include "base/error.h"

#include "trainer/recipe/recipe.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_sampling;

struct dg_sampled {
    uint64_t sentence;
    /* index of the first id of each side, for dg_sampling_ids */
    size_t source, target;
    uint32_t source_len, target_len;
};

struct dg_sampling_options {
    /* segment again, with share p of the merges skipped */
    bool dropout;
    double p;
    /* NULL: none; borrowed until close */
    const struct dg_recipe_noise *noise;
    uint64_t seed;
    /* pieces; no side grows past it */
    uint32_t max;
};

/* Open with the vocabularies of a prepared folder. */
int dg_sampling_open(const char *prepared_dir, const struct dg_sampling_options *o,
    struct dg_sampling **out, struct dg_error *err);
void dg_sampling_close(struct dg_sampling *d); /* NULL is fine */

/* begin forgets all sentences; add draws the sentences of the batch, in any order; end sorts them
 * for lookup. Random numbers depend on (seed, epoch, sentence). language: of the source. */
void dg_sampling_begin(struct dg_sampling *d, uint64_t epoch);
void dg_sampling_add(struct dg_sampling *d, uint64_t sentence, const char *language,
    const int32_t *source, uint32_t source_len, const int32_t *target, uint32_t target_len);
void dg_sampling_end(struct dg_sampling *d);

/* NULL: it is not of this batch. */
const struct dg_sampled *dg_sampling_find(const struct dg_sampling *d, uint64_t sentence);
const int32_t *dg_sampling_ids(const struct dg_sampling *d, size_t begin);

#endif
