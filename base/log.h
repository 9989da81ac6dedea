/* One-line logs on stderr, logfmt: ts=... level=... event="..." key=value. Any thread; a line is
 * written whole. No text of users goes into a log. */
#ifndef DG_BASE_LOG_H
#define DG_BASE_LOG_H

enum dg_log_level { DG_LOG_DEBUG, DG_LOG_INFO, DG_LOG_WARN, DG_LOG_ERROR };

void dg_log_set_level(enum dg_log_level level);
/* format is "event key=%d other=%s"; values with spaces are quoted by the caller with %s inside
 * "". */
void dg_log(enum dg_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
