/* Text files in UTF-16, as Windows' programs and Apple's save them: with a mark at their beginning
 * that says the order of bytes. They are read as UTF-8 and written as they were. Any thread. */
#ifndef DG_DOCUMENTS_UTF16_H
#define DG_DOCUMENTS_UTF16_H

#include "base/buffer.h"
#include "base/error.h"

#include <stdbool.h>

enum dg_utf16_order { DG_UTF16_NONE, DG_UTF16_LITTLE, DG_UTF16_BIG };

/* Encoding by the mark at the beginning of s[n]; none: not UTF-16. (UTF-32's mark counts as
 * none.) */
enum dg_utf16_order dg_utf16_mark(const char *s, size_t n);
/* s[n], which begins with its mark, as UTF-8 without one: malloc'd, its length in *len. DG_EINVAL
 * (field file): half a character, DG_ENOMEM. */
int dg_utf16_read(enum dg_utf16_order order, const char *s, size_t n, char **out, size_t *len,
    struct dg_error *err);
/* Append s[n], well-formed UTF-8, with a mark before it. */
void dg_utf16_write(enum dg_utf16_order order, const char *s, size_t n, struct dg_buffer *out);

#endif
