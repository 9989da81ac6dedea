/* Switches for debugging only: comma-separated words in the environment variable DRAGOMAN_DEBUG.
 * Any thread. */
#ifndef DG_BASE_DEBUG_H
#define DG_BASE_DEBUG_H

#include "base/error.h"

#include <stdbool.h>

/* True if the word is set. The words: cuda-log: log which algorithm each product got;
 * cuda-graphs-off: launch steps op by op; cuda-plain-attention: no attention on tensor cores;
 * cuda-one-stream: encoder passes and steps follow each other in one stream; cuda-one-algorithm:
 * the same cuBLASLt algorithm for all numbers of rows; cuda-late-launches: no kernel starts before
 * the one ahead of it has ended. */
bool dg_debug(const char *word);

/* DG_EINVAL: DRAGOMAN_DEBUG has an unknown word. */
int dg_debug_check(struct dg_error *err);

#endif
