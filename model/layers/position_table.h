/* A model's sinusoidal positions (paper section 3.5) on a device. Learned positions are parameters
 * instead: src_pos and tgt_pos of params.h. Const after open: any thread. */
#ifndef DG_MODEL_LAYERS_POSITION_TABLE_H
#define DG_MODEL_LAYERS_POSITION_TABLE_H

#include "base/error.h"
#include "kernels/backend.h"
#include "model/config.h"

struct dg_position_table {
    /* most positions of a sentence on either side */
    uint32_t n;
    /* [n,D]; NULL with learned positions */
    struct dg_weight *sinusoids;
    /* [n,D] what sinusoids may refer to */
    float *rows;
};

/* Open `most` positions, or as many as the model has learned, if these are fewer. Close after an
 * error, too. DG_ENOMEM. */
int dg_position_table_open(struct dg_position_table *t, struct dg_backend *be,
    const struct dg_config *c, uint32_t most, struct dg_error *err);
/* A zeroed one is fine. */
void dg_position_table_close(struct dg_position_table *t, struct dg_backend *be);

/* Sinusoidal table [n,D] in the convention of `positions` (contract 6), row i is position first +
 * i. */
void dg_sinusoid_table(
    enum dg_positions positions, uint32_t first, uint32_t n, uint32_t D, float *table);

#endif
