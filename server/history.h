/* The samples of the last minutes, for an operator without Prometheus: text as /metrics writes it,
 * of a few families, oldest first. Zeros and histograms without observations are left out. Time is
 * passed in, from a clock that nobody sets. Any thread. */
#ifndef DG_SERVER_HISTORY_H
#define DG_SERVER_HISTORY_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_history;

/* families: names of samples, NULL-ended, borrowed until close. most: texts that are kept, at least
 * one. DG_ENOMEM. */
int dg_history_open(
    const char *const *families, size_t most, struct dg_history **out, struct dg_error *err);
void dg_history_close(struct dg_history *h); /* NULL is fine */

/* Keep the families' lines of a text, at a time in seconds; the oldest text leaves for it. Out of
 * memory: this sample is missing. */
void dg_history_add(struct dg_history *h, double at, const char *text);
/* The next text after those that *cursor has had (0: the oldest), malloc'd; NULL: there is none
 * yet, or no memory. */
char *dg_history_next(struct dg_history *h, uint64_t *cursor, double *at);

#endif
