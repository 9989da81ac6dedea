/* Pairs in which something is put on both sides in place of words that translate each other:
 * reserved pieces, so that a model learns to carry them over (they replace addresses, placeholders
 * and terms that must survive), or characters that text seldom has, so that it learns to copy them.
 * The choice of words depends only on the pair's number. One thread at a time. */
#ifndef DG_TRAINER_ALIGN_MASKS_H
#define DG_TRAINER_ALIGN_MASKS_H

#include "trainer/align/dictionary.h"
#include "trainer/data/pairs.h"
#include "trainer/recipe/recipe.h"

/* Part of the prepared data's key: change it whenever the result changes. */
#define DG_MASKS_METHOD "masks-1"

enum dg_mask_kind { DG_MASK_PIECES, DG_MASK_SIGNS };

struct dg_masks;

/* dictionaries[data.n_pairs]: which words translate which; borrowed. */
int dg_masks_open(const struct dg_recipe *r, struct dg_dictionary *const *dictionaries,
    struct dg_masks **out, struct dg_error *err);
void dg_masks_close(struct dg_masks *m); /* NULL is fine */

/* Another form of pair number `item`: 1: *out is one, valid until the next call; 2: its sides share
 * nothing, or the recipe's share leaves it out; negative: an error. */
int dg_masks_make(struct dg_masks *m, const struct dg_pair *p, uint64_t item,
    enum dg_mask_kind kind, struct dg_pair *out);

#endif
