/* Steps of a beam search with candidates written by hand. */
#ifndef DG_TESTS_UNIT_BEAM_STEPS_H
#define DG_TESTS_UNIT_BEAM_STEPS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "model/engine/beam.h"

#include <stdint.h>

#define EOS 0

static inline struct dg_search search(uint32_t beam, uint32_t n_best, uint32_t max_len, float alpha)
{
    return (struct dg_search){.beam = beam, .n_best = n_best, .max_len = max_len, .alpha = alpha};
}

static inline void begin(struct dg_beam *b, struct dg_search s)
{
    assert_int_equal(dg_beam_begin(b, &s, EOS, NULL, 0, false, NULL), 0);
}

/* Advances by the candidates of a step in which the rows' sources do not matter. */
static inline void advance(
    struct dg_beam *b, const float *logprob, const int32_t *ids, uint32_t k, size_t ld)
{
    const struct dg_candidates c = {.logprob = logprob, .ids = ids, .k = k, .ld = ld};
    dg_beam_advance(b, &c);
}

#endif
