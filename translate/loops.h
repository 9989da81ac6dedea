/* Detection of loops: an answer that repeats the same text, as searches do when a model has lost
 * its place. Finding one, and the block that keeps a second search out of it. Pure functions over
 * ids; any thread. */
#ifndef DG_TRANSLATE_LOOPS_H
#define DG_TRANSLATE_LOOPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ids[begin .. begin + period * count) is one unit of `period` tokens, `count` times. */
struct dg_loop {
    uint32_t begin, period, count;
};

/* The run that repeats most tokens (ties: the shorter period, then the earlier one); false when
 * nothing occurs twice in a row. Time grows with n². */
bool dg_loop_longest(const int32_t *ids, uint32_t n, struct dg_loop *out);

/* Is the answer caught in a loop? A unit of one token must occur four times in a row, a longer one
 * three times; and more often than anything in the source does, with one to spare: "very, very,
 * very", rows of dots and 1,000,000 are no loops. */
bool dg_loop_in_answer(const int32_t *source, uint32_t n_source, const int32_t *answer,
    uint32_t n_answer, struct dg_loop *out);

/* The order of the block (struct dg_search's no_repeat_ngram) that ends this loop before it is one,
 * and forbids as little else as it can. */
uint32_t dg_loop_block_order(const struct dg_loop *loop);

/* Length of runs that an answer to this source may not repeat: three, or longer if the source
 * itself repeats a run, which may take twice as many tokens. Time grows with n². */
uint32_t dg_loop_free_order(const int32_t *source, uint32_t n);

#endif
