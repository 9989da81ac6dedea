/* Ranges of the flat block of gradients in the order in which backward finishes them: the decoder's
 * layers, last first, then the encoder's, and finally all the rest (embeddings, to which backward
 * adds until the end). The order is the same on every rank. Pure. Any thread. */
#ifndef DG_TRAINER_UPDATE_GRAD_ORDER_H
#define DG_TRAINER_UPDATE_GRAD_ORDER_H

#include "base/error.h"
#include "model/config.h"

#include <stddef.h>

/* A range of elements whose gradients are finished together. */
struct dg_grad_range {
    size_t group, begin, end;
};

struct dg_grad_order {
    /* dec_layers + enc_layers + 1 */
    size_t n_groups;
    /* [n] in order of group */
    struct dg_grad_range *list;
    size_t n;
};

void dg_grad_order_init(struct dg_grad_order *s, const struct dg_config *c);
void dg_grad_order_deinit(struct dg_grad_order *s);

/* Number of groups that are finished once backward has left a layer; side as in struct
 * dg_tape_watch. */
size_t dg_grad_order_after(const struct dg_config *c, int side, uint32_t layer);

#endif
