/* Runs of pieces that a sequence already has. Pure functions over ids; any thread. */
#ifndef DG_MODEL_ENGINE_NGRAM_H
#define DG_MODEL_ENGINE_NGRAM_H

#include <stdbool.h>
#include <stdint.h>

/* True if the last order - 1 of ids[n] also occur at ids[i], i + order <= n: then ids[i + order -
 * 1] would complete a run that already occurs. */
bool dg_ngram_tail_at(const int32_t *ids, uint32_t n, uint32_t order, uint32_t i);

/* Whether `next` after ids[n] would complete a run of `order` pieces (>= 1) that already occurs. */
bool dg_ngram_repeats(const int32_t *ids, uint32_t n, uint32_t order, int32_t next);

/* Most pieces for which that can be true: earlier occurrences of the last order - 1 pieces. */
uint32_t dg_ngram_blocked(const int32_t *ids, uint32_t n, uint32_t order);

#endif
