/* Strings of YAML in the five ways it writes them. Any thread. Only for documents/. */
#ifndef DG_DOCUMENTS_STRINGS_YAML_SCALAR_H
#define DG_DOCUMENTS_STRINGS_YAML_SCALAR_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

enum dg_yaml_style {
    DG_YAML_PLAIN,   /* text */
    DG_YAML_FLOW,    /* text within [ ] or { } */
    DG_YAML_SINGLE,  /* 'text' */
    DG_YAML_DOUBLE,  /* "text" */
    DG_YAML_LITERAL, /* | and lines */
    DG_YAML_FOLDED,  /* > and lines, whose ends are spaces */
};

/* A scalar in the bytes of a file. */
struct dg_yaml_scalar {
    size_t begin, end;
    enum dg_yaml_style style;
    /* [n] what it says, borrowed */
    const char *text;
    size_t n;
};

/* Move the begin past an anchor and a tag: &name !!str. */
void dg_yaml_skip_properties(const char *s, struct dg_yaml_scalar *a);
/* True if a sign that is a line end in YAML alone is in s[n]: U+0085, U+2028, U+2029. */
bool dg_yaml_has_own_line_end(const char *s, size_t n);
/* Narrow a block, and its text, to the lines from the first to the last that has words, without the
 * first one's indentation. False: it has none, or ends a line as YAML alone does (U+0085). */
bool dg_yaml_find_lines(const char *s, struct dg_yaml_scalar *a);

/* Append the text s[n] in this style, or in quotation marks where the style cannot write it.
 * `before`: for the lines of a block but its first, their line end and indentation. */
void dg_yaml_write(
    enum dg_yaml_style style, const char *before, const char *s, size_t n, struct dg_buffer *out);

#endif
