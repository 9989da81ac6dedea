/* The mark that SentencePiece's pieces have where a text has a blank. Pure; any thread. */
#ifndef DG_TOKENIZER_WORD_MARK_H
#define DG_TOKENIZER_WORD_MARK_H

#include <stddef.h>
#include <string.h>

#define DG_WORD_MARK "\xE2\x96\x81" /* U+2581 */

/* Bytes of the mark that s begins with; 0: it begins with none. */
static inline size_t dg_word_mark(const char *s)
{
    const size_t n = sizeof DG_WORD_MARK - 1;
    return strncmp(s, DG_WORD_MARK, n) == 0 ? n : 0;
}

#endif
