/* Words of running text: letters in a row, of any script. Text is UTF-8. Any thread. */
#ifndef DG_TEXT_WORDS_H
#define DG_TEXT_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* The first word that begins at byte `from` of s[n] or later: *begin, and its end; 0: there is
 * none. *alone: neither a digit nor a sign that ties words together ("don't", "T-shirt", "a@b")
 * touches it. */
size_t dg_word_next(const char *s, size_t n, size_t from, size_t *begin, bool *alone);

#endif
