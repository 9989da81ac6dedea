/* Words of running text: letters in a row, of any script. Text is UTF-8. Any thread. */
#ifndef DG_TEXT_WORDS_H
#define DG_TEXT_WORDS_H

#include <stdbool.h>
#include <stddef.h>

/* Find the first word that begins at byte `from` of s[n] or later: sets *begin and returns its end;
 * 0 if there is none. *alone: it touches neither a digit nor a sign that joins words ("don't",
 * "T-shirt", "a@b"). */
size_t dg_word_next(const char *s, size_t n, size_t from, size_t *begin, bool *alone);

#endif
