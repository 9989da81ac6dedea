/* Words that an answer took over from its source untranslated. Texts are UTF-8. Any thread. */
#ifndef DG_TRANSLATE_ANSWER_COPIED_H
#define DG_TRANSLATE_ANSWER_COPIED_H

#include <stdbool.h>
#include <stddef.h>

/* True if the answer t[m] has a word of the source s[n] that clearly belongs to the source's
 * language and not to the answer's. Only words that the source writes in small letters count:
 * others may be names. */
bool dg_copied_word(const char *source_language, const char *target_language, const char *s,
    size_t n, const char *t, size_t m);

#endif
