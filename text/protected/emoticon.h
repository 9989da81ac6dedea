/* Emoticons: :-) ;) :( :D :'( =) :)) Any thread. */
#ifndef DG_TEXT_PROTECTED_EMOTICON_H
#define DG_TEXT_PROTECTED_EMOTICON_H

#include <stddef.h>

/* The end of the emoticon that begins at byte `at` of s, reading no further than `end`; `at`: none
 * does. White space or nothing precedes it; white space, punctuation or `end` follows it. */
size_t dg_emoticon_end(const char *s, size_t at, size_t end);

#endif
