/* List bullets and numbering at the start of a line. Only for text/. Any thread. */
#ifndef DG_TEXT_SENTENCES_BULLET_H
#define DG_TEXT_SENTENCES_BULLET_H

#include "text/sentences/language.h"

#include <stddef.h>

/* Start of the words of the line s[begin, end), after "- ", "* ", "1. ", "a) ", "> ", "## ", "- [x]
 * ", "[10:33] " and the like, also several in a row; `begin` if there is no bullet. s[begin] must
 * not be white space. */
size_t dg_bullet_skip(const char *s, size_t begin, size_t end, const struct dg_language *language);

#endif
