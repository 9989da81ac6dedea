/* One-line logs on stderr, logfmt (ts=... level=... event="..." key=value) or JSON with the same
 * keys. Any thread; a line is written whole. Logs contain no text of users. */
#ifndef DG_BASE_LOG_H
#define DG_BASE_LOG_H

#include "base/error.h"

#include <stdint.h>

enum dg_log_level { DG_LOG_DEBUG, DG_LOG_INFO, DG_LOG_WARN, DG_LOG_ERROR };
enum dg_log_format { DG_LOG_LOGFMT, DG_LOG_JSON };

void dg_log_set_level(enum dg_log_level level);
void dg_log_set_format(enum dg_log_format format);
/* format is "event key=%d other=%s"; the caller puts values with spaces in quotes: key="%s". */
void dg_log(enum dg_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* From here on, logging never waits for the reader of stderr: a separate thread writes, and lines
 * beyond a backlog of 256 KiB are dropped. Only the main thread calls this and dg_log_stop. */
int dg_log_start(struct dg_error *err);
/* Write the queued lines, for a second at most. */
void dg_log_stop(void);
/* Number of dropped lines. */
uint64_t dg_log_dropped(void);

#endif
