/* English, German and French numbers up to 99 that a text spells out: "forty-seven",
 * "siebenundvierzig", "quarante-sept". Texts are UTF-8. Any thread. */
#ifndef DG_TEXT_NUMBERS_SPELT_NUMBERS_H
#define DG_TEXT_NUMBERS_SPELT_NUMBERS_H

#include "base/buffer.h"
#include "text/numbers/numbers.h"

/* The end of a number from 13 to 99 that s spells out at byte `at`, in any of the languages; `at`:
 * none begins there. No letter precedes byte `at`. Not part of a larger number, an ordinal or a
 * year ("two hundred and fifty", "twenty-first", "nineteen fifty"), nor an hour ("vingt heures").
 */
size_t dg_spelt_number_end(const char *s, size_t at, size_t end);
/* The value of such a number that all of s[n] is; 0: it is none. language: it is a number of this
 * one; NULL: of any. */
unsigned dg_spelt_number_value(const char *language, const char *s, size_t n);
/* Append a value from 13 to 99 as words. False, with nothing appended: the language is none of
 * these. */
bool dg_spelt_number_write(const char *language, unsigned value, struct dg_buffer *out);

/* False if each of a and b spells out a number of 2 or more that the other has neither in words nor
 * in digits: "forty-seven dogs" and "vierundsiebzig Hunde". True for ordinals, for texts with words
 * for hundreds and more, and unless both languages are English, German or French. */
bool dg_spelt_numbers_agree(const struct dg_numbered *a, const struct dg_numbered *b);

#endif
