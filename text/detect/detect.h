/* Which of some languages is a text in? The built-in language model (model.h) decides if it knows
 * all of them, because it needs few words; CLD2 decides among others, and detects a text in none of
 * them. Languages are codes such as "en", "pt-BR"; only the first part counts, and the script
 * ("zh-Hant"). Any thread. */
#ifndef DG_TEXT_DETECT_DETECT_H
#define DG_TEXT_DETECT_DETECT_H

#include <stdbool.h>
#include <stddef.h>

struct dg_detected {
    /* index of the likeliest language */
    size_t language;
    /* that it is this one, 0 to 100; 0: the text has no letters, or none of its script */
    int confidence;
    /* it is plainly in a language that is not among them */
    bool doubtful;
};

/* languages[n], n >= 1; text[len] is valid UTF-8. */
void dg_detect(
    const char *const *languages, size_t n, const char *text, size_t len, struct dg_detected *out);

/* Is text[len] plainly in another language than this one? Short texts rarely are. */
bool dg_detect_contradicts(const char *language, const char *text, size_t len);

#endif
