/* The samples of the last minutes, for an operator without Prometheus: text as on /metrics, of a
 * few families, oldest first. Zeros and histograms without observations are left out. Time is
 * passed in, from a monotonic clock. Any thread. */
#ifndef DG_SERVER_HISTORY_H
#define DG_SERVER_HISTORY_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_history;

/* families: names of samples, NULL-terminated, borrowed until close. most: number of texts that are
 * kept, at least one. DG_ENOMEM. */
int dg_history_open(
    const char *const *families, size_t most, struct dg_history **out, struct dg_error *err);
void dg_history_close(struct dg_history *h); /* NULL is fine */

/* Keep the families' lines of a text, taken at this time in seconds; it replaces the oldest text
 * once there are `most`. Out of memory: this sample is missing. */
void dg_history_add(struct dg_history *h, double at, const char *text);
/* Returns the next text after *cursor (0: the oldest), malloc'd, and moves *cursor; NULL: there is
 * none yet, or no memory. */
char *dg_history_next(struct dg_history *h, uint64_t *cursor, double *at);

#endif
