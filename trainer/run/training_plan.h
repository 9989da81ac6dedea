/* Estimates a run's memory before it begins. Any thread. */
#ifndef DG_TRAINER_RUN_TRAINING_PLAN_H
#define DG_TRAINER_RUN_TRAINING_PLAN_H

#include "base/buffer.h"
#include "base/cgroup.h"
#include "model/train/tape.h"
#include "trainer/data/dataset.h"
#include "trainer/recipe/recipe.h"

/* Memory of a run, in bytes. */
struct dg_training_plan {
    /* number of parameters */
    uint64_t parameters;
    uint64_t threads, micro_tokens;
    /* of all threads together */
    size_t weights, optimizer, gradients, activations;
    /* for a second copy of the weights and the search's caches, or for averaging */
    size_t validation;
    /* for learning a shortlist after training has released its memory; 0: none is made. Set by the
     * caller: dg_bundle_list_bytes */
    size_t list;
    /* needed by this process; limit of the machine, its control group, ulimit or the device */
    size_t total, available;
    /* the control group sets the limit */
    bool grouped;
    /* `ulimit -v` or `ulimit -d` sets the limit, being lower than the other two */
    bool limited;
    /* `available` is a device's memory, which holds all of the above except `validation` and `list`
     */
    bool device;
};

/* The memory of a run's device. */
struct dg_training_place {
    /* free bytes of a device's own memory; unused on the host */
    size_t free;
    struct dg_tape_device tape;
};

/* Plan for a model. micro_tokens 0: as many as fit half of the available memory, 512 to 4096; on a
 * device up to 50000, the paper's whole batch. longest: tokens of the longest sentence. */
void dg_training_plan_make(const struct dg_recipe *r, const struct dg_config *c, uint32_t longest,
    const struct dg_training_place *place, struct dg_training_plan *out);
void dg_training_plan_print(
    const struct dg_training_plan *p, const struct dg_dataset_worst *worst, struct dg_buffer *out);
/* Set `available` and `grouped`. machine: bytes of memory, 0 when unknown. */
void dg_training_plan_memory(
    struct dg_training_plan *p, double machine, const struct dg_cgroup *group);
/* DG_ELIMIT with the figures when the plan cannot fit. */
int dg_training_plan_check(const struct dg_training_plan *p, struct dg_error *err);

#endif
