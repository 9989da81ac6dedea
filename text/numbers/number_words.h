/* Numbers up to twelve as words: "drei", "third", "mars". Any thread. */
#ifndef DG_TEXT_NUMBERS_NUMBER_WORDS_H
#define DG_TEXT_NUMBERS_NUMBER_WORDS_H

#include <stdbool.h>
#include <stddef.h>

enum { DG_NUMBER_WORDS_LAST = 12 };

/* Set bit v of *values if a word of s[n] may say v: a number, an ordinal, a fraction, a month or an
 * hour. More words than these do ("Pracht" has "acht"), so that a bit that is not set is certain.
 * False: there is no list for this language (English, German and French have one), and *values is
 * as before. language: a code, or NULL. */
bool dg_number_words_find(const char *language, const char *s, size_t n, unsigned *values);

#endif
