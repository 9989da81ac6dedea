/* Footnotes of Markdown, which md4c gives as text. Any thread. Only for text/format. */
#ifndef DG_TEXT_FORMAT_FOOTNOTE_H
#define DG_TEXT_FORMAT_FOOTNOTE_H

#include <stddef.h>

/* Skip a footnote's number, "[^1]", at s[at]; `at` if there is none. It has no bracket within, so
 * that many beginnings of one take linear time. */
size_t dg_footnote_reference(const char *s, size_t at, size_t end);
/* Skips the "[^1]:" that begins a footnote; `at` if there is none. */
size_t dg_footnote_label(const char *s, size_t at, size_t end);

#endif
