/* A ring of log lines that its own thread writes to stderr, so that no logging thread waits for the
 * log's reader. Lines that find no room in the ring, or that stderr does not take (full disk, no
 * reader any more), are dropped and counted. Any thread, except that one thread calls start and
 * stop. */
#ifndef DG_BASE_LOG_RING_H
#define DG_BASE_LOG_RING_H

#include "base/error.h"
#include "base/log_line.h"

#include <stddef.h>
#include <stdint.h>

/* From here on lines go through the ring. After dropped lines, tell writes a line with their number
 * and returns its length; it runs on the ring's thread. */
int dg_log_ring_start(
    size_t (*tell)(char line[DG_LOG_LINE], uint64_t dropped), struct dg_error *err);
/* Write the ring's lines, for a second at most, and stop. Later lines are written by the logging
 * threads themselves, or dropped if the ring's thread is stuck in a write. */
void dg_log_ring_stop(void);
/* Log a whole line with its line feed, below DG_LOG_LINE bytes. */
void dg_log_ring_put(const char *line, size_t n);
/* Lines dropped since the start. */
uint64_t dg_log_ring_dropped(void);

#endif
