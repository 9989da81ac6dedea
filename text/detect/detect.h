/* Finds out which of several languages a text is in. The built-in language model (model.h) decides
 * if it knows all of them, because it needs few words; otherwise CLD2 decides. CLD2 also detects a
 * text that is in none of them. Languages are codes such as "en", "pt-BR"; only the first part
 * counts, and the script ("zh-Hant"). Any thread. */
#ifndef DG_TEXT_DETECT_DETECT_H
#define DG_TEXT_DETECT_DETECT_H

#include <stdbool.h>
#include <stddef.h>

struct dg_detected {
    /* index of the likeliest language */
    size_t language;
    /* confidence in `language`, 0 to 100; 0: the text has no letters, no language is written in its
     * script, none was recognised, or `doubtful` */
    int confidence;
    /* it is plainly in a language that is not among them */
    bool doubtful;
};

/* Find the language of text[len], valid UTF-8, among languages[n], n >= 1. */
void dg_detect(
    const char *const *languages, size_t n, const char *text, size_t len, struct dg_detected *out);

/* True if text[len] is clearly in another language than this one. Short texts rarely are. */
bool dg_detect_contradicts(const char *language, const char *text, size_t len);

#endif
