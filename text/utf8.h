/* UTF-8 checks, counts and normalisation. Any thread. */
#ifndef DG_TEXT_UTF8_H
#define DG_TEXT_UTF8_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* DG_EINVAL with the byte offset when s[n] is not well-formed UTF-8 or holds a NUL. */
int dg_utf8_check(const char *s, size_t n, struct dg_error *err);
/* Put '?' in the place of each byte of s that is in no well-formed character, such as the half of
 * one that was cut. */
void dg_utf8_mend(char *s);
/* The code point at s[*at] of valid UTF-8, *at < n; moves *at after it. */
uint32_t dg_utf8_next(const char *s, size_t n, size_t *at);
/* Code points in valid UTF-8. */
size_t dg_utf8_count(const char *s, size_t n);
/* Any letter (Unicode L*) in it? Text without one is not translated. */
bool dg_utf8_has_letter(const char *s, size_t n);
/* NFC of s[n]; *out malloc'd, NUL-terminated. */
int dg_utf8_nfc(const char *s, size_t n, char **out, size_t *len, struct dg_error *err);

#endif
