/* Formulas that open and close English, German and French letters: "Sehr geehrte Frau Weber", "Dear
 * Sir or Madam", "Cordialement". Texts are UTF-8. Any thread. */
#ifndef DG_TEXT_PROTECTED_SALUTATION_H
#define DG_TEXT_PROTECTED_SALUTATION_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

/* Return the end of the formula at s[at], in any of the languages, with a comma that ends the line.
 * Returns `at` if none begins there. A name in it ends before a sign or a line end; a closing
 * formula begins a sentence or a line. */
size_t dg_salutation_end(const char *s, size_t at, size_t end);

/* True if all of s[n] is a formula of the language; NULL: of any. */
bool dg_salutation_is(const char *language, const char *s, size_t n);
/* Append to out what the formula s[n] of language `from` is in language `to`. False, with nothing
 * appended: s[n] is not a formula, or `to` is not one of the languages. */
bool dg_salutation_write(
    const char *from, const char *to, const char *s, size_t n, struct dg_buffer *out);

#endif
