/* List bullets and numbering at the start of a line. Only for text/. Any thread. */
#ifndef DG_TEXT_BULLET_H
#define DG_TEXT_BULLET_H

#include "text/language.h"

#include <stddef.h>

/* Where the words of the line s[begin, end) start, after "- ", "* ", "1. ", "a) ", "> ", "## ", "-
 * [x] " and such (several in a row too). `begin` itself when there is no bullet; begin is at no
 * white space. */
size_t dg_bullet_skip(const char *s, size_t begin, size_t end, const struct dg_language *language);

#endif
