/* C interface to CLD2: the languages that it detects in a text. Only cld2.cc includes it. Out of
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
    /* "en", "zh-Hant"; "": no more guesses */
    char code[16];
    /* of the text */
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

/* Does CLD2 know this language? (ISO 639-1 code; "zh-Hant" and the like by their first part.) */
bool dg_cld2_knows(const char *language);

/* text[n] is valid UTF-8; hint: the language expected, which wins where the text itself does not
 * decide, or NULL: none, and short texts get a guess rather than nothing. */
void dg_cld2_detect(const char *text, size_t n, const char *hint, struct dg_cld2_result *out);

#ifdef __cplusplus
}
#endif

#endif
