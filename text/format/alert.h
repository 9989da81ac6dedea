/* Alerts, which GitHub and Obsidian write as a quotation that begins with "[!NOTE]"; text to md4c.
 * Any thread. Only for text/format. */
#ifndef DG_TEXT_FORMAT_ALERT_H
#define DG_TEXT_FORMAT_ALERT_H

#include <stddef.h>

/* Skips the "[!NOTE]", or "[!note]-" (folded) and "[!note]+", at s[at] that begins an alert; `at`
 * if there is none. A title may follow it. */
size_t dg_alert_label(const char *s, size_t at, size_t end);

#endif
