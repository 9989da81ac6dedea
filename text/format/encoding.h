/* How a format writes the characters that mean something to it: an answer is text, and "Q&A" is
 * written "Q&amp;A" in HTML and "a \"b\"" with signs in front in JSON. Any thread. */
#ifndef DG_TEXT_FORMAT_ENCODING_H
#define DG_TEXT_FORMAT_ENCODING_H

#include "base/buffer.h"

#include <stddef.h>

enum dg_encoding {
    DG_ENCODING_PLAIN,         /* as it is */
    DG_ENCODING_MARKUP,        /* text of HTML and XML */
    DG_ENCODING_DOUBLE_QUOTED, /* an attribute's value in "" */
    DG_ENCODING_SINGLE_QUOTED, /* in '' */
    DG_ENCODING_UNQUOTED,      /* HTML's without quotation marks */
};

/* Append s[n] as it is written there. */
void dg_encoding_add(enum dg_encoding encoding, const char *s, size_t n, struct dg_buffer *out);

#endif
