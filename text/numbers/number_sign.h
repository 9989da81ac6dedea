/* ASCII signs beside numbers: 5 %, < 5 mg, -5 °C. Texts are UTF-8. Any thread. */
#ifndef DG_TEXT_NUMBERS_NUMBER_SIGN_H
#define DG_TEXT_NUMBERS_NUMBER_SIGN_H

#include <stdbool.h>
#include <stddef.h>

/* True if t[m], which should have the same meaning as s[n], lacks a sign of s and any word for it:
 * the "%" after a number, or "<", ">" or "-" before one. language: that of t; false unless it is
 * English, German or French, whose words are listed. */
bool dg_number_sign_lost(const char *language, const char *s, size_t n, const char *t, size_t m);

#endif
