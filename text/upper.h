/* Text in capitals, by the language's rules ("straße" -> "STRASSE", Turkish "i" -> "İ"). Any
 * thread. */
#ifndef DG_TEXT_UPPER_H
#define DG_TEXT_UPPER_H

#include "base/buffer.h"
#include "base/error.h"

/* Append s[n], which is UTF-8. DG_EINVAL when it is not. */
int dg_text_upper(const char *language, const char *s, size_t n, struct dg_buffer *out,
    struct dg_error *err);

#endif
