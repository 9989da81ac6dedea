/* Text -> sentences and the gaps between them (ICU). Gaps (blank lines, indentation, bullets, CRLF,
 * spaces) and sentences together are the text again, byte for byte. Any thread. */
#ifndef DG_TEXT_SENTENCES_SPLIT_H
#define DG_TEXT_SENTENCES_SPLIT_H

#include "base/error.h"

#include <stddef.h>

struct dg_span {
    /* bytes */
    size_t begin, end;
};

/* Sentence spans of text[n] (valid UTF-8), in order, none empty, no white space at either end; line
 * ends, tabs and other borders of columns (columns.h) always end a sentence; they, list bullets,
 * numbering and the dash before a speaker's words are left in the gap. lang may be "". *spans
 * malloc'd. A text of gaps only gives 0. */
int dg_split_sentences(const char *text, size_t n, const char *lang, struct dg_span **spans,
    size_t *count, struct dg_error *err);

/* Cut text[n], a sentence that is too long, near its middle: after a clause mark (; : , – and the
 * like), else at a space, else between code points. Sets the left part's end and the right part's
 * begin (white space between them is a gap). DG_ELIMIT: it is a single code point. */
int dg_split_long(
    const char *text, size_t n, size_t *left_end, size_t *right_begin, struct dg_error *err);

#endif
