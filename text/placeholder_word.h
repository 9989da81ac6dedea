/* Words of placeholders: names of arguments and variables. Only for text/placeholder*.c. Any
 * thread. */
#ifndef DG_TEXT_PLACEHOLDER_WORD_H
#define DG_TEXT_PLACEHOLDER_WORD_H

#include "text/scan.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>

/* maximum bytes of a name */
#define DG_PLACEHOLDER_NAME 64

static inline bool dg_placeholder_is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The end of the word that begins at `at`; `at`: none does. */
static inline size_t dg_placeholder_skip_word(const char *s, size_t at, size_t end)
{
    size_t i = at;
    while (i < end && i < at + DG_PLACEHOLDER_NAME && dg_placeholder_is_word(s[i]))
        i++;
    return i;
}

/* True if the character before `at` is part of a word. */
static inline bool dg_placeholder_follows_word(const char *s, size_t at)
{
    int32_t c = at > 0 ? dg_scan_prev(s, 0, &at) : ' ';
    return c == '_' || dg_scan_is_letter(c) || dg_scan_is_digit(c);
}

#endif
