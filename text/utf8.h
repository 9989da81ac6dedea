/* UTF-8 checks, counts and normalisation; scan.h steps over it. Any thread. */
#ifndef DG_TEXT_UTF8_H
#define DG_TEXT_UTF8_H

#include "base/buffer.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Check s[n]. DG_EINVAL, with the byte offset: it is not well-formed UTF-8 or contains a NUL. */
int dg_utf8_check(const char *s, size_t n, struct dg_error *err);
/* Replace by '?' each byte of s that is not part of a well-formed character, such as half of one
 * that was cut. */
void dg_utf8_mend(char *s);
/* Bytes of the byte order mark at the beginning of s[n], 3 or 0. */
size_t dg_utf8_bom(const char *s, size_t n);
/* Code points in valid UTF-8. */
size_t dg_utf8_count(const char *s, size_t n);
/* Append a character. */
void dg_utf8_add(uint32_t c, struct dg_buffer *out);
/* True if s[n] has a letter (Unicode L*). Text without one is not translated. */
bool dg_utf8_has_letter(const char *s, size_t n);
/* Convert s[n] to NFC; *out is malloc'd, NUL-terminated. DG_ELIMIT: too long; DG_EINVAL: not UTF-8;
 * DG_ENOMEM. */
int dg_utf8_nfc(const char *s, size_t n, char **out, size_t *len, struct dg_error *err);
/* The end of the characters from byte `at` < n of valid UTF-8 that may become one in NFC; nothing
 * before or after them changes what becomes of them. */
size_t dg_utf8_nfc_end(const char *s, size_t n, size_t at);

#endif
