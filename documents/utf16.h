/* Text files in UTF-16, as programs on Windows and by Apple save them: with a mark at the start
 * that gives the byte order. They are read as UTF-8 and written in their own encoding. Any
 * thread. */
#ifndef DG_DOCUMENTS_UTF16_H
#define DG_DOCUMENTS_UTF16_H

#include "base/buffer.h"
#include "base/error.h"

#include <stdbool.h>

enum dg_utf16_order { DG_UTF16_NONE, DG_UTF16_LITTLE, DG_UTF16_BIG };

/* Byte order from the mark at the start of s[n]; DG_UTF16_NONE: not UTF-16 (or a UTF-32 mark). */
enum dg_utf16_order dg_utf16_mark(const char *s, size_t n);
/* Convert s[n], which begins with its mark, to UTF-8 without one: malloc'd, its length in *len.
 * DG_EINVAL (field file): half a character; DG_ENOMEM. */
int dg_utf16_read(enum dg_utf16_order order, const char *s, size_t n, char **out, size_t *len,
    struct dg_error *err);
/* Append s[n], well-formed UTF-8, as UTF-16 with a mark before it. */
void dg_utf16_write(enum dg_utf16_order order, const char *s, size_t n, struct dg_buffer *out);

#endif
