/* An engine's capacity: its limits with the defaults filled in, and the resulting cache blocks and
 * encoder rows. Pure functions, any thread. */
#ifndef DG_MODEL_ENGINE_LIMITS_H
#define DG_MODEL_ENGINE_LIMITS_H

#include "model/engine/engine.h"

/* Fill in what `in` leaves at 0 (NULL: everything), for this model and device. */
void dg_engine_limits_resolve(const struct dg_model *m, const struct dg_ops *ops,
    const struct dg_engine_limits *in, struct dg_engine_limits *out);

/* Blocks for the hypotheses of one search: an SSRU decoder keeps no keys and values. */
uint32_t dg_engine_limits_search_blocks(const struct dg_config *c, uint32_t beam, uint32_t max_len);

/* Blocks of the whole cache. By default every row has room at 80 positions and every sentence's
 * memory at 64; there is always room for the largest search, and for a longest target that is only
 * scored. */
uint32_t dg_engine_limits_cache_blocks(const struct dg_config *c, const struct dg_engine_limits *l);

/* Rows of an encoder pass: as many as keep the device busy, at most those of all sentences
 * together, at least those of one. */
uint32_t dg_engine_limits_encode_rows(const struct dg_ops *ops, const struct dg_engine_limits *l);

#endif
