/* Faces of signs, as chats have them: :-) ;) :( :D :'( =) :)) Only for text/ and what finds spans
 * that are no words. Any thread. */
#ifndef DG_TEXT_EMOTICON_H
#define DG_TEXT_EMOTICON_H

#include <stddef.h>

/* The end of the face that begins at byte `at` of s, reading no further than `end`; `at`: none
 * does. A blank or nothing is before it; one, or the end of a sentence, is after it. */
size_t dg_emoticon_end(const char *s, size_t at, size_t end);

#endif
