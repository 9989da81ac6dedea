/* Titles before names in English, German and French texts: Ms. Weber, Herrn Dr. Vogel, Mme Leroy.
 * Any thread. */
#ifndef DG_TEXT_PROTECTED_TITLE_H
#define DG_TEXT_PROTECTED_TITLE_H

#include <stdbool.h>
#include <stddef.h>

struct dg_title {
    /* bytes of the title, "Ms." */
    size_t begin, end;
    /* bytes of the first word of the name */
    size_t name, name_end;
    bool female;
    /* its language's code; a word such as "wife" is no title, but a model may write it for one */
    const char *language;
    bool is_word;
    /* a determiner says that it is a noun: "meine Frau Anna" */
    bool is_noun;
};

/* Find the next title with a name after it from byte `at` of s[n] on. False: there is none. */
bool dg_title_next(const char *s, size_t n, size_t at, struct dg_title *out);

/* The end of the name at s[at] if a title or a degree ("Dr.") is before it: a word of German,
 * several of other languages; `at`: there is none, or an office ("Frau Ministerin"). */
size_t dg_title_name_end(const char *s, size_t at, size_t end);

/* The end of up to three words of a name at s[at], of which none is a degree; `at`: none is there.
 */
size_t dg_title_full_name_end(const char *s, size_t at, size_t end);

/* The title of a woman or a man in a language; NULL: not known. */
const char *dg_title_of(const char *language, bool female);

#endif
