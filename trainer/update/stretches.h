/* The flat block of gradients in the order in which backward finishes it: the decoder's layers,
 * last first, the encoder's, and at the end all the rest (embeddings, which backward adds to until
 * then). The order is the same on every rank. Pure. */
#ifndef DG_TRAINER_UPDATE_STRETCHES_H
#define DG_TRAINER_UPDATE_STRETCHES_H

#include "base/error.h"
#include "model/config.h"

#include <stddef.h>

/* A stretch of the block whose gradients are finished together. */
struct dg_stretch {
    size_t group, begin, end;
};

struct dg_stretches {
    size_t n_groups;         /* dec_layers + enc_layers + 1 */
    struct dg_stretch *list; /* [n] by group */
    size_t n;
};

void dg_stretches_init(struct dg_stretches *s, const struct dg_config *c);
void dg_stretches_deinit(struct dg_stretches *s);

/* How many groups are finished when backward has left a layer; side as in struct dg_tape_watch. */
size_t dg_stretches_after(const struct dg_config *c, int side, uint32_t layer);

#endif
