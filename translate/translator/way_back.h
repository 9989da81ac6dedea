/* The opposite direction of a bundle's pair, in which answers are read back. Any thread. */
#ifndef DG_TRANSLATE_TRANSLATOR_WAY_BACK_H
#define DG_TRANSLATE_TRANSLATOR_WAY_BACK_H

#include "model/engine/beam.h"
#include "weights/bundle.h"

/* Find the bundle's pair from `to` to `from`, both in its spelling, for a search whose answers are
 * read back. Errors name the field rerank: DG_EINVAL, the search returns one answer; DG_EUNSUP, the
 * bundle has no such pair, or its two sides have different vocabularies. */
int dg_way_back_find(const struct dg_bundle *b, const struct dg_search *s, const char *from,
    const char *to, size_t *pair, struct dg_error *err);

/* The beam of such a search without one of its own: DG_RERANK_BEAM, but at most `most` (0: any),
 * and at least the model's. */
uint32_t dg_way_back_beam(uint32_t of_model, uint32_t most);

#endif
