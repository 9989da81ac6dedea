/* How kinds of files escape the characters of a string, mostly with backslashes. Any thread. Only
 * for documents/. */
#ifndef DG_DOCUMENTS_STRINGS_ESCAPES_H
#define DG_DOCUMENTS_STRINGS_ESCAPES_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

enum dg_escapes {
    DG_ESCAPES_JSON,
    DG_ESCAPES_C,       /* .strings, one line of PO */
    DG_ESCAPES_PO,      /* PO with its quotation marks, one string for each line of the text */
    DG_ESCAPES_PO_CRLF, /* the same in a file whose lines end so */
    DG_ESCAPES_PROPERTIES,
    DG_ESCAPES_ASCII,          /* properties in which characters beyond ASCII are \uXXXX */
    DG_ESCAPES_PHP_SINGLE,     /* PHP in single quotation marks: \\ and \' */
    DG_ESCAPES_PHP_DOUBLE,     /* the same in double ones, without variables */
    DG_ESCAPES_ANDROID,        /* XML, whose tags stay as they are */
    DG_ESCAPES_ANDROID_QUOTED, /* the same in quotation marks, where all spaces are shown */
    DG_ESCAPES_ANDROID_TEXT,   /* text in it: its tags are characters */
    DG_ESCAPES_ANDROID_CDATA,  /* HTML, whose tags stay, too */
    /* only written: text in XML, the same with quotation marks as references, as Qt Linguist
     * writes it, and text in a CDATA section */
    DG_ESCAPES_XML,
    DG_ESCAPES_LINGUIST,
    DG_ESCAPES_CDATA,
};

/* Append s[n] with its escapes decoded: \n, \t, \r, \f, \b, in C also \a, \v and bytes (\303,
 * \xC3), \uXXXX and \UXXXX (two of them for a surrogate pair); any other character after a
 * backslash stands for itself. In XML, \u0026, \u003C and \u003E are references, because they are
 * text. */
void dg_escapes_read(enum dg_escapes escapes, const char *s, size_t n, struct dg_buffer *out);
/* True if "$" at s[i] begins a variable in double quotation marks of PHP. */
bool dg_escapes_is_variable(const char *s, size_t i, size_t n);
/* Append the text s[n] with escapes. */
void dg_escapes_write(enum dg_escapes escapes, const char *s, size_t n, struct dg_buffer *out);

#endif
