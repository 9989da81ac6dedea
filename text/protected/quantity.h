/* Protected spans that a translation writes in its own notation: amounts (amount.h), and words with
 * a value or a meaning (spelt numbers and hours, text/numbers/; salutations and closings,
 * salutation.h). Text is valid UTF-8. Any thread. */
#ifndef DG_TEXT_PROTECTED_QUANTITY_H
#define DG_TEXT_PROTECTED_QUANTITY_H

#include "base/buffer.h"
#include "text/protected/alphabet.h"

#include <stdbool.h>
#include <stddef.h>

/* True if all of s[n] is one of these. */
bool dg_quantity_is(const char *s, size_t n);
/* True if all of s[n] is such words, in English, German or French. */
bool dg_quantity_is_words(const char *s, size_t n);

/* Append what the words s[n] of language `from` are in language `to`, a number or an hour with a
 * capital or in capitals as s is. False, with nothing appended: s is no such words of `from`, or
 * `to` has none. */
bool dg_quantity_write_words(
    const char *from, const char *to, const char *s, size_t n, struct dg_buffer *out);
/* True if it would append something. */
bool dg_quantity_has_words(const char *from, const char *to, const char *s, size_t n);

/* Append the amount s[n] of language `from`, or signs and one number ("£3.50"), with its numbers in
 * the notation of language `to`, and the sign of a price on the side where that language writes it,
 * unless the sign is outside the alphabet. False, with nothing appended: s is none, or needs no
 * change. */
bool dg_quantity_write_amount(const struct dg_alphabet *known, const char *from, const char *to,
    const char *s, size_t n, struct dg_buffer *out);

#endif
