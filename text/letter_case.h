/* Capitals and small letters, by the language's rules ("straße" -> "STRASSE", Turkish "i" -> "İ").
 * Text is UTF-8. Any thread. */
#ifndef DG_TEXT_LETTER_CASE_H
#define DG_TEXT_LETTER_CASE_H

#include "base/buffer.h"
#include "base/error.h"

#include <stdbool.h>

/* Append s[n] in capitals, or in small letters. DG_EINVAL: it is not UTF-8; DG_ENOMEM. */
int dg_letter_case_upper(
    const char *language, const char *s, size_t n, struct dg_buffer *out, struct dg_error *err);
int dg_letter_case_lower(
    const char *language, const char *s, size_t n, struct dg_buffer *out, struct dg_error *err);
/* True if s[n] is all in capitals: at least two words of two letters, and no lower-case letter. (A
 * single word is more likely an abbreviation.) */
bool dg_letter_case_is_capitals(const char *s, size_t n);
/* Number of bytes up to and including the first letter; 0 if there is none. */
size_t dg_letter_case_first_letter(const char *s, size_t n);

#endif
