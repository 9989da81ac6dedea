/* The prefixes of an office file's names. Programs other than the office's own may write others
 * than the usual ones, as Python's ElementTree does: <ns0:p xmlns:ns0="..."> for <w:p>. Any thread.
 * Only for documents/. */
#ifndef DG_DOCUMENTS_OFFICE_PREFIXES_H
#define DG_DOCUMENTS_OFFICE_PREFIXES_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

/* Write the member s[n] with the usual prefixes to *out, which must be empty. False: it has them
 * already, or would grow to more than twice its size; *out is then unspecified. */
bool dg_prefixes_usual(const char *s, size_t n, struct dg_buffer *out);

#endif
