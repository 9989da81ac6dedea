/* Characters that a format writes as escapes or references: "\*", "&amp;", "&#233;". Any thread.
 * Only for text/format. */
#ifndef DG_TEXT_FORMAT_ESCAPE_H
#define DG_TEXT_FORMAT_ESCAPE_H

#include "text/format/internal.h"

/* Returns the byte after the ";" of the character reference that begins with s[at] == '&'; `at` if
 * none does. Any name counts, known or not. */
size_t dg_escape_entity_end(const char *s, size_t at, size_t end);

/* Add the character reference s[begin, end) to the unit: a letter is running text, white space is a
 * break, anything else is protected. */
void dg_escape_entity(struct dg_document *d, const char *s, size_t begin, size_t end);
/* The same in HTML and XML, where any character may be written as a reference: all known ones are
 * text except "<" and ">", which are protected. */
void dg_escape_reference(struct dg_document *d, const char *s, size_t begin, size_t end);

#endif
