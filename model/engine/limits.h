/* An engine's capacity: its limits with the defaults filled in, and the resulting cache blocks and
 * encoder rows. Pure functions, any thread. */
#ifndef DG_MODEL_ENGINE_LIMITS_H
#define DG_MODEL_ENGINE_LIMITS_H

#include "model/engine/engine.h"

/* Copy `in` and fill in the fields that it leaves at 0 (in NULL: all of them), for this model and
 * device. */
void dg_engine_limits_resolve(const struct dg_model *m, const struct dg_ops *ops,
    const struct dg_engine_limits *in, struct dg_engine_limits *out);

/* Cache blocks for the hypotheses of one search; 0 for an SSRU decoder, which keeps no keys and
 * values of its own positions. */
uint32_t dg_engine_limits_search_blocks(const struct dg_config *c, uint32_t beam, uint32_t max_len);

/* Blocks of the whole cache. By default every row has room for 80 positions and every sentence's
 * memory for 64, and there is room at least for the largest search, and for the longest target that
 * is only scored. */
uint32_t dg_engine_limits_cache_blocks(const struct dg_config *c, const struct dg_engine_limits *l);

/* Rows of an encoder pass: as many as keep the device busy, but no more than all sentences have
 * together; at least DG_ENCODE_ROWS, and at least max_source. */
uint32_t dg_engine_limits_encode_rows(const struct dg_ops *ops, const struct dg_engine_limits *l);

#endif
