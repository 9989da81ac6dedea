/* Protected spans: parts of running text that stay as they are, whatever the language and the
 * format: addresses and file names (text/protected/address.h), placeholders and character
 * references (text/placeholder.h), emoji, code between backticks, names after titles
 * (text/protected/title.h). So are quantities (text/protected/quantity.h), which a translation
 * writes in its own notation. Text is valid UTF-8. Any thread. */
#ifndef DG_TEXT_PROTECTED_PROTECTED_H
#define DG_TEXT_PROTECTED_PROTECTED_H

#include "text/protected/alphabet.h"

#include <stdbool.h>
#include <stddef.h>

/* Find the first protected span that begins at byte `from` of s[n] or later: sets *begin and
 * returns its end; 0 if there is none. known: words and signs outside this alphabet are protected,
 * too (text/protected/foreign.h); NULL: none are. */
size_t dg_protected_next(
    const struct dg_alphabet *known, const char *s, size_t n, size_t from, size_t *begin);
/* The same for spans that begin before byte `until`, at most n; if it returns 0, *begin is where to
 * continue. */
size_t dg_protected_within(const struct dg_alphabet *known, const char *s, size_t n, size_t from,
    size_t until, size_t *begin);

#endif
