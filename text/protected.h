/* Protected spans: what stays as it is in running text, whatever the language and the format:
 * addresses and names of files (text/address.h), placeholders and character references
 * (text/placeholder.h), emoji. Text is valid UTF-8. Any thread. */
#ifndef DG_TEXT_PROTECTED_H
#define DG_TEXT_PROTECTED_H

#include "text/alphabet.h"

#include <stddef.h>

/* The first such thing that begins at byte `from` of s[n] or later: *begin, and its end; 0: there
 * is none. known: words and signs outside it stay, too (text/foreign.h); NULL: all are known. */
size_t dg_protected_next(
    const struct dg_alphabet *known, const char *s, size_t n, size_t from, size_t *begin);
/* The same of those that begin before byte `until`, at most n; 0: *begin is where to go on. */
size_t dg_protected_within(const struct dg_alphabet *known, const char *s, size_t n, size_t from,
    size_t until, size_t *begin);

#endif
