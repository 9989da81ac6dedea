/* Characters that a format writes otherwise: "\*", "&amp;", "&#233;". Any thread. Only for
 * text/format. */
#ifndef DG_TEXT_FORMAT_ESCAPE_H
#define DG_TEXT_FORMAT_ESCAPE_H

#include "text/format/internal.h"

/* The character reference that begins with s[at] == '&': the byte after its ";"; `at`: none does.
 * Any name counts, whether or not it means a character. */
size_t dg_escape_entity_end(const char *s, size_t at, size_t end);

/* Add the character reference s[begin, end) to the unit: one for a letter is running text, other
 * ones are protected, and a space that does not break is a break. */
void dg_escape_entity(struct dg_document *d, const char *s, size_t begin, size_t end);
/* The same in HTML and XML: there any character may be written so, and is text, but for "<" and
 * ">". */
void dg_escape_reference(struct dg_document *d, const char *s, size_t begin, size_t end);

#endif
