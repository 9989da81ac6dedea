/* A string of XML whose markup is text: <![CDATA[a <b>dog</b>]]> or a &lt;b&gt;dog&lt;/b&gt;. It is
 * read as plain text, in which tags are kept. Any thread. Only for documents/. */
#ifndef DG_DOCUMENTS_XML_STRING_H
#define DG_DOCUMENTS_XML_STRING_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

/* Moves the ends of s[*begin, *end) past the white space at either. */
void dg_xml_string_trim(const char *s, size_t *begin, size_t *end);

/* Moves the ends of s[*begin, *end) to the content of the one CDATA section that it is; false: it
 * is something else. */
bool dg_xml_string_cdata(const char *s, size_t *begin, size_t *end);

/* Appends what the XML s[n] says, with line ends as spaces unless they are kept; false: it has
 * tags, or a reference that is not XML's own. */
bool dg_xml_string_read(const char *s, size_t n, bool keeps_lines, struct dg_buffer *out);

#endif
