/* English, German and French: the languages whose words (numbers, hours, signs, titles, formulas of
 * letters) text/ lists. Any thread. */
#ifndef DG_TEXT_WORD_LANGUAGE_H
#define DG_TEXT_WORD_LANGUAGE_H

/* Index of the languages' tables. */
enum dg_word_language { DG_ENGLISH, DG_GERMAN, DG_FRENCH, DG_WORD_LANGUAGES };

/* The one that a code names ("en-GB", as text/language_code.h compares codes); DG_WORD_LANGUAGES:
 * none of them, or NULL. */
enum dg_word_language dg_word_language_of(const char *code);

#endif
