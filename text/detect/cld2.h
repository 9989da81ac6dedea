/* C interface to CLD2, which detects the languages of a text. Only cld2.cc includes CLD2. Out of
 * memory: no language. Any thread. */
#ifndef DG_TEXT_DETECT_CLD2_H
#define DG_TEXT_DETECT_CLD2_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DG_CLD2_GUESSES = 3 };

struct dg_cld2_guess {
    /* CLD2's own: "en", "zh-Hant", "iw" (compare by code.h); "": no more guesses */
    char code[16];
    /* share of the text */
    int percent;
};

struct dg_cld2_result {
    /* the language of the whole: mostly that of the first guess; "": unknown */
    char code[16];
    /* CLD2's opinion of code */
    bool reliable;
    /* best first */
    struct dg_cld2_guess guesses[DG_CLD2_GUESSES];
    /* letters and spaces examined */
    int bytes;
};

/* True if CLD2 knows this language (ISO 639-1 code; "zh-Hant" and the like by their first part). */
bool dg_cld2_knows(const char *language);

/* Detect the languages of text[n], valid UTF-8. hint: the expected language, which wins if the text
 * itself is undecided; NULL: none, and short texts get a guess rather than nothing. */
void dg_cld2_detect(const char *text, size_t n, const char *hint, struct dg_cld2_result *out);

#ifdef __cplusplus
}
#endif

#endif
