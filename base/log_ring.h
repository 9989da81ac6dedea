/* Lines on their way to stderr: a ring that a thread of its own empties, so that no thread that
 * logs waits for the reader of the log. Where the ring is full, lines are dropped and counted. Any
 * thread but for start and stop, which are for one. */
#ifndef DG_BASE_LOG_RING_H
#define DG_BASE_LOG_RING_H

#include "base/error.h"
#include "base/log_line.h"

#include <stddef.h>
#include <stdint.h>

/* From here on lines go through the ring. Where lines were dropped, tell writes the line that says
 * how many, and returns its length; on the ring's thread. */
int dg_log_ring_start(
    size_t (*tell)(char line[DG_LOG_LINE], uint64_t dropped), struct dg_error *err);
/* Write what is in the ring, as far as somebody reads it within a second, and end. Later lines are
 * written by their own threads again, or dropped where nobody reads them. */
void dg_log_ring_stop(void);
/* A whole line with its line feed, below DG_LOG_LINE bytes. */
void dg_log_ring_put(const char *line, size_t n);
/* Lines dropped since the start. */
uint64_t dg_log_ring_dropped(void);

#endif
