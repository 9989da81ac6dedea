/* Formats one line of the log: logfmt or JSON. No allocation. Any thread. */
#ifndef DG_BASE_LOG_LINE_H
#define DG_BASE_LOG_LINE_H

#include "base/log.h"

#include <stddef.h>
#include <time.h>

/* Below PIPE_BUF: one write() is not mixed with another process's line. */
#define DG_LOG_LINE 4000

/* text is "event key=value key="other value"", without control characters and with any quotation
 * marks within a value, which are escaped here; the line ends in a line feed. Returns its length,
 * below DG_LOG_LINE; longer text is cut. */
size_t dg_log_line(char out[DG_LOG_LINE], enum dg_log_format format, enum dg_log_level level,
    const struct timespec *now, const char *text);

#endif
