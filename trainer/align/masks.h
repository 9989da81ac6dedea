/* Makes pairs in which words that translate each other are replaced on both sides: by reserved
 * pieces, so that a model learns to carry them over (they stand for addresses, placeholders and
 * terms that must survive), or by rare characters, so that it learns to copy them. The choice of
 * words depends only on the pair's number. One thread at a time. */
#ifndef DG_TRAINER_ALIGN_MASKS_H
#define DG_TRAINER_ALIGN_MASKS_H

#include "trainer/align/dictionary.h"
#include "trainer/data/pairs.h"
#include "trainer/recipe/recipe.h"

/* Part of the prepared data's key: change it whenever the result changes. */
#define DG_MASKS_METHOD "masks-1"

enum dg_mask_kind { DG_MASK_PIECES, DG_MASK_SIGNS };

struct dg_masks;

/* dictionaries[data.n_pairs]: which words translate which; borrowed; NULL: none. */
struct dg_masks *dg_masks_new(const struct dg_recipe *r, struct dg_dictionary *const *dictionaries);
void dg_masks_free(struct dg_masks *m); /* NULL is fine */

/* Make another form of the pair. Returns 1: *out is the form, valid until the next call,
 * with at most DG_MAX_RESERVED reserved pieces on each side; 2: there is none, because the sides
 * share nothing, a side is too long, or the recipe's share leaves the pair out. */
int dg_masks_make(
    struct dg_masks *m, const struct dg_pair *p, enum dg_mask_kind kind, struct dg_pair *out);

#endif
