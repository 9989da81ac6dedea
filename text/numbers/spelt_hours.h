/* Hours with halves and quarters that an English, German or French text says in words: "half past
 * two", "Viertel vor acht", "huit heures et demie". Texts are UTF-8. Any thread. */
#ifndef DG_TEXT_NUMBERS_SPELT_HOURS_H
#define DG_TEXT_NUMBERS_SPELT_HOURS_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>

struct dg_spelt_hour {
    /* 1 to 12; quarters after it, 1 to 3 */
    unsigned hour, quarters;
};

/* Return the end of the hour at s[at], in any of the languages, with "Uhr" or "o'clock" after it.
 * Returns `at` if none begins there. The caller has checked that no letter precedes byte `at`. A
 * French hour counts as a duration unless a word such as "à" precedes it. */
size_t dg_spelt_hour_end(const char *s, size_t at, size_t end);
/* Read all of s[n] as an hour of the language (NULL: of any of them). False: it is not one. */
bool dg_spelt_hour_read(const char *language, const char *s, size_t n, struct dg_spelt_hour *out);
/* Append the hour in words. False: the language is none of these. */
bool dg_spelt_hour_write(
    const char *language, const struct dg_spelt_hour *hour, struct dg_buffer *out);

#endif
