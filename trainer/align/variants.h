/* Further forms of a training pair, as users write: in capitals, without the full stop, two
 * sentences on one line, with another number, with other names. The choice of pairs depends only on
 * their number. One thread at a time. */
#ifndef DG_TRAINER_ALIGN_VARIANTS_H
#define DG_TRAINER_ALIGN_VARIANTS_H

#include "base/buffer.h"
#include "trainer/align/names.h"
#include "trainer/data/pairs.h"
#include "trainer/recipe/recipe.h"

/* How forms and words that are lines of dev, test or held_out are handled: part of the prepared
 * data's hash. */
#define DG_VARIANTS_OVERLAP "dropped-1"

struct dg_variants {
    const struct dg_recipe *recipe;
    /* [recipe->data.n_names] */
    struct dg_names *const *names;
    /* texts of the previous pair */
    struct dg_buffer last[2];
    /* previous pair, with the texts in `last`; source NULL: none */
    struct dg_pair before;
    /* texts of the variant */
    struct dg_buffer text[2];
    /* where the pair has names of the current list */
    struct dg_name_places places;
    /* [recipe->data.n_names] whether the list has replaced a name so far */
    bool *names_used;
};

/* names [recipe->data.n_names]: the recipe's lists, borrowed. */
void dg_variants_init(
    struct dg_variants *v, const struct dg_recipe *recipe, struct dg_names *const *names);
void dg_variants_deinit(struct dg_variants *v);
/* True if the recipe wants any. */
bool dg_variants_wanted(const struct dg_recipe *recipe);

/* Make a form of the pair; call it with kind 0, 1, ... until it returns 0. Returns 1:
 * *out is the form, valid until the next call; 2: no form of this kind; negative: an error. */
int dg_variants_make(struct dg_variants *v, const struct dg_pair *p, int kind, struct dg_pair *out,
    struct dg_error *err);
/* Remember p as the previous pair. */
void dg_variants_next(struct dg_variants *v, const struct dg_pair *p);

#endif
