/* The clean pairs between the passes of prepare: a temporary file of records, written and read
 * sequentially. A byte of each pair stays in memory once one is left out. One thread at a time. */
#ifndef DG_TRAINER_DATA_PAIRS_H
#define DG_TRAINER_DATA_PAIRS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_pair {
    /* its number: 0 for the first that was added. Set when reading */
    uint64_t item;
    /* enum dg_drop: why it is left out of training; DG_KEEP if it is not. Set when reading */
    int left_out;
    /* index in the recipe's data.pairs */
    uint32_t pair;
    /* index over all training files */
    uint32_t file;
    /* index in the prepared folder's list of domains */
    uint32_t domain;
    float weight;
    /* enum dg_back_translated */
    uint32_t back_translated;
    /* bytes */
    uint32_t source_len, target_len;
    /* when reading: valid until the next call */
    const char *source, *target;
    /* the texts have bytes that stand for reserved pieces (trainer/data/reserved.h); not kept in
     * the file */
    bool masked;
};

struct dg_pairs;

/* Create an unnamed temporary file in dir. */
int dg_pairs_open(const char *dir, struct dg_pairs **out, struct dg_error *err);
void dg_pairs_close(struct dg_pairs *p); /* NULL is fine */
int dg_pairs_add(struct dg_pairs *p, const struct dg_pair *pair, struct dg_error *err);
/* Begin reading, from the first pair; may be called again. */
int dg_pairs_rewind(struct dg_pairs *p, struct dg_error *err);
/* Returns 1 for a pair, 0 at the end, negative on error. */
int dg_pairs_next(struct dg_pairs *p, struct dg_pair *out, struct dg_error *err);
/* Leave a pair out of training for a reason other than DG_KEEP; add no pairs afterwards. Reading
 * still gives it. */
void dg_pairs_leave_out(struct dg_pairs *p, uint64_t item, int why);
uint64_t dg_pairs_count(const struct dg_pairs *p);      /* pairs added */
uint64_t dg_pairs_kept_count(const struct dg_pairs *p); /* those that are not left out */

#endif
