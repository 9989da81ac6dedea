/* How a format writes characters that have a meaning in it: an answer is plain text, and "Q&A" is
 * written "Q&amp;A" in HTML. Any thread. */
#ifndef DG_TEXT_FORMAT_ENCODING_H
#define DG_TEXT_FORMAT_ENCODING_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

enum dg_encoding {
    DG_ENCODING_PLAIN,         /* as it is */
    DG_ENCODING_MARKUP,        /* text of HTML and XML */
    DG_ENCODING_DOUBLE_QUOTED, /* an attribute's value in "" */
    DG_ENCODING_SINGLE_QUOTED, /* in '' */
    DG_ENCODING_UNQUOTED,      /* an HTML value without quotation marks */
    /* a title in Markdown: each sign that encloses it, and "\", has a "\" before it */
    DG_ENCODING_ESCAPED_DOUBLE,   /* in "", also of YAML and TOML */
    DG_ENCODING_ESCAPED_SINGLE,   /* in '' */
    DG_ENCODING_ESCAPED_BRACKETS, /* in () */
    DG_ENCODING_YAML_SINGLE,      /* a YAML value in '' */
    DG_ENCODING_YAML_UNQUOTED,    /* a whole YAML value without quotation marks */
    DG_ENCODING_TOML_LITERAL,     /* a TOML value in '', which can hold no "'": it becomes "’" */
};

/* True for encodings of HTML and XML. */
bool dg_encoding_is_markup(enum dg_encoding encoding);

/* True if s[n] must be written between quotation marks, as DG_ENCODING_YAML_SINGLE. */
bool dg_encoding_needs_quotes(enum dg_encoding encoding, const char *s, size_t n);

/* Append s[n] in this encoding. */
void dg_encoding_add(enum dg_encoding encoding, const char *s, size_t n, struct dg_buffer *out);

#endif
