/* Switches that only help to find faults: words of the environment variable DRAGOMAN_DEBUG, with
 * commas between. Any thread. */
#ifndef DG_BASE_DEBUG_H
#define DG_BASE_DEBUG_H

#include "base/error.h"

#include <stdbool.h>

/* cuda-log: which algorithm each product got; cuda-graphs-off: steps are launched op by op;
 * cuda-plain-attention: none on tensor cores; cuda-one-stream: encoder passes follow steps in one
 * stream; cuda-one-algorithm: of cuBLASLt's for all numbers of rows;
 * cuda-late-launches: no kernel starts beside the end of another. */
bool dg_debug(const char *word);

/* DG_EINVAL: DRAGOMAN_DEBUG has an unknown word. */
int dg_debug_check(struct dg_error *err);

#endif
