/* Guided alignment in a run: the links of a micro-batch, gathered from the data set for the model.
 * Belongs to one worker: one thread at a time. */
#ifndef DG_TRAINER_ALIGN_GUIDED_H
#define DG_TRAINER_ALIGN_GUIDED_H

#include "model/train/tape.h"
#include "trainer/data/dataset.h"
#include "trainer/recipe/recipe.h"

/* Buffers for links; all zero: empty. */
struct dg_guided {
    /* [cap] */
    struct dg_link *links;
    /* [cap_first] */
    size_t *first;
    size_t cap, cap_first;
};

void dg_guided_deinit(struct dg_guided *g);

/* Give the micro-batch (whose pairs->index is filled) its links; borrowed until the next call. */
void dg_guided_pack(struct dg_guided *g, const struct dg_dataset *d, struct dg_micro_batch *pairs);

/* The layer and heads that the recipe guides in this model. False: it guides none. */
bool dg_guided_of(const struct dg_recipe *r, const struct dg_config *c, struct dg_guidance *out);

/* DG_EINVAL, with the field, when the model has no such layer or head; DG_EUNSUP when the device
 * does not support guided alignment. Returns 0 if the recipe guides none. */
int dg_guided_check(const struct dg_recipe *r, const struct dg_config *c, const struct dg_train *t,
    struct dg_error *err);

#endif
