/* Further forms of a training pair, as users write: in capitals, without the full stop, two
 * sentences on one line, with another number. The choice of pairs depends only on their number. One
 * thread at a time. */
#ifndef DG_TRAINER_ALIGN_VARIANTS_H
#define DG_TRAINER_ALIGN_VARIANTS_H

#include "base/buffer.h"
#include "trainer/data/pairs.h"
#include "trainer/recipe/recipe.h"

/* Handling of forms and words that are lines of dev, test or held_out: a part of the prepared
 * data's hash. */
#define DG_VARIANTS_OVERLAP "dropped-1"

struct dg_variants {
    const struct dg_recipe *recipe;
    /* texts of the pair before */
    struct dg_buffer last[2];
    /* with them; source NULL: none */
    struct dg_pair before;
    /* of the variant */
    struct dg_buffer text[2];
};

void dg_variants_init(struct dg_variants *v, const struct dg_recipe *recipe);
void dg_variants_deinit(struct dg_variants *v);
/* Does the recipe want any? */
bool dg_variants_wanted(const struct dg_recipe *recipe);

/* The forms of pair number `item`: called with kind 0, 1, ... until it gives 0. 1: *out is one,
 * valid until the next call; 2: none of this kind; negative: an error. */
int dg_variants_make(struct dg_variants *v, const struct dg_pair *p, uint64_t item, int kind,
    struct dg_pair *out, struct dg_error *err);
/* Remember p as the pair before the next. */
void dg_variants_next(struct dg_variants *v, const struct dg_pair *p);

#endif
