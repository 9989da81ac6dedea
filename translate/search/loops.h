/* Detection of loops: answers that repeat the same text, as searches do when a model has lost its
 * place; and the block that keeps a second search out of the loop. Pure functions over ids; any
 * thread. */
#ifndef DG_TRANSLATE_SEARCH_LOOPS_H
#define DG_TRANSLATE_SEARCH_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ids[begin .. begin + period * count) is one unit of `period` tokens, `count` times. */
struct dg_loop {
    uint32_t begin, period, count;
};

/* True if the answer is caught in a loop: the run that repeats most tokens (ties: the shorter
 * period, then the earlier one). A unit of one token must occur at least four times in a row, a
 * longer one three times, and at least two more times than anything in the source: "very, very,
 * very", rows of dots and 1,000,000 are no loops. Time grows with n². */
bool dg_loop_in_answer(const int32_t *source, uint32_t n_source, const int32_t *answer,
    uint32_t n_answer, struct dg_loop *out);

/* The n-gram order (struct dg_search's no_repeat_ngram) that stops this loop before it counts as
 * one, and forbids as little else as possible. */
uint32_t dg_loop_block_order(const struct dg_loop *loop);

/* Length of the runs that an answer to this source may not repeat: three, or twice the length of
 * the longest run that the source itself repeats, since its translation may take that many tokens.
 * Takes O(n²) time. */
uint32_t dg_loop_free_order(const int32_t *source, uint32_t n);

#endif
