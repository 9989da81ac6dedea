/* Starts from a trained model with another vocabulary: all layers as they are; each new piece
 * begins with the embedding of the same old piece, or with the mean of the old pieces that spell
 * it. One thread. */
#ifndef DG_TRAINER_UPDATE_TRANSFER_H
#define DG_TRAINER_UPDATE_TRANSFER_H

#include "model/param_block.h"
#include "trainer/update/init.h"
#include "weights/bundle.h"

#include <stdint.h>

/* Fill b from the bundle; `from` describes its weights and layers. The new vocabularies are
 * prepared_dir's. Pieces that no old piece spells are drawn from seed as by dg_init_random. */
int dg_transfer_init(struct dg_param_block *b, const struct dg_bundle *bundle,
    const struct dg_init_from *from, const char *prepared_dir, uint64_t seed, struct dg_error *err);

#endif
