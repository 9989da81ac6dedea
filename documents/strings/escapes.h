/* How kinds of files write a string's characters: backslashes before some of them. Any thread. Only
 * for documents/. */
#ifndef DG_DOCUMENTS_STRINGS_ESCAPES_H
#define DG_DOCUMENTS_STRINGS_ESCAPES_H

#include "base/buffer.h"

#include <stddef.h>

enum dg_escapes {
    DG_ESCAPES_JSON,
    DG_ESCAPES_C,  /* .strings, one line of PO */
    DG_ESCAPES_PO, /* with its quotation marks, a line for each that the text has */
    DG_ESCAPES_PROPERTIES,
    DG_ESCAPES_MESSAGE, /* Java's MessageFormat in properties: '' is ' */
    DG_ESCAPES_ASCII,   /* properties in which other characters are \\uXXXX */
    DG_ESCAPES_ASCII_MESSAGE,
    DG_ESCAPES_ANDROID, /* XML, whose tags stay as they are */
};

/* Append s[n] without its escapes: \\n, \\t, \\", \\uXXXX and \\UXXXX (two of them for some), and
 * any other character after a backslash is itself. */
void dg_escapes_read(enum dg_escapes escapes, const char *s, size_t n, struct dg_buffer *out);
/* Append the text s[n] with them. */
void dg_escapes_write(enum dg_escapes escapes, const char *s, size_t n, struct dg_buffer *out);

#endif
