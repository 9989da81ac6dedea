/* What people read about a run: the memory plan before it, the model card after it. Any thread. */
#ifndef DG_TRAINER_RUN_REPORT_H
#define DG_TRAINER_RUN_REPORT_H

#include "base/buffer.h"
#include "base/cgroup.h"
#include "trainer/data/dataset.h"
#include "trainer/recipe/recipe.h"

/* What a run will hold, in bytes. */
struct dg_plan {
    uint64_t parameters; /* their number */
    uint64_t threads, micro_tokens;
    size_t weights, optimizer, gradients, activations; /* over all threads */
    /* a second copy of the weights and the search's caches, or averaging */
    size_t validation;
    size_t total, available; /* of this process; of the machine or its control group */
    bool grouped;            /* it is the control group's */
};

/* Plan for a model. micro_tokens 0: the most that fit half of what is available, 512 to 4096.
 * longest: pieces of the longest sentence. */
void dg_plan_make(
    const struct dg_recipe *r, const struct dg_config *c, uint32_t longest, struct dg_plan *out);
void dg_plan_print(
    const struct dg_plan *p, const struct dg_dataset_worst *worst, struct dg_buffer *out);
/* Sets available and grouped. machine: bytes it has, 0 when unknown. */
void dg_plan_memory(struct dg_plan *p, double machine, const struct dg_cgroup *group);
/* DG_ELIMIT with the figures when it cannot fit. */
int dg_plan_check(const struct dg_plan *p, struct dg_error *err);

/* DIR/MODEL_CARD.md from the manifest's "training" object. */
int dg_report_card(const char *dir, const struct dg_recipe *r, const struct dg_config *c,
    const struct dg_json *training, struct dg_error *err);

#endif
