/* Titles before names in English, German and French texts: Ms. Weber, Herrn Dr. Vogel, Mme Leroy.
 * Any thread. */
#ifndef DG_TEXT_PROTECTED_TITLE_H
#define DG_TEXT_PROTECTED_TITLE_H

#include "text/word_language.h"

#include <stdbool.h>
#include <stddef.h>

struct dg_title {
    /* bytes of the title, "Ms." */
    size_t begin, end;
    /* bytes of the first word of the name */
    size_t name, name_end;
    bool female;
    enum dg_word_language language;
    /* not a title but a word that a model may write for one, such as "wife" */
    bool is_word;
    /* a determiner says that it is a noun: "meine Frau Anna" */
    bool is_noun;
};

/* Find the next title with a name after it from byte `at` of s[n] on. False: there is none. */
bool dg_title_next(const char *s, size_t n, size_t at, struct dg_title *out);

/* Return the end of the name at s[at] that follows a title or a degree ("Dr."): one word of German,
 * or several of other languages. Returns `at` if there is no name, or if it is an office ("Frau
 * Ministerin"). */
size_t dg_title_name_end(const char *s, size_t at, size_t end);

/* Return the end of the name at s[at], of at most three words without a degree. Returns `at` if
 * there is none. */
size_t dg_title_full_name_end(const char *s, size_t at, size_t end);

/* The title of a woman or a man in a language; NULL: it is none of these. */
const char *dg_title_of(enum dg_word_language language, bool female);

#endif
