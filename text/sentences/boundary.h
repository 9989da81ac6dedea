/* Decides whether a sentence ends at a possible sentence end, by rules beyond ICU's own:
 * abbreviations, initials, ordinals, closing quotes, web addresses. Only for text/. Examines one
 * position at a time and keeps no state. Any thread. */
#ifndef DG_TEXT_SENTENCES_BOUNDARY_H
#define DG_TEXT_SENTENCES_BOUNDARY_H

#include "text/sentences/language.h"

#include <stdbool.h>
#include <stddef.h>

struct dg_boundary {
    const char *text;
    /* start of the sentence so far; end of its line */
    size_t sentence, line_end;
    const struct dg_language *language;
    /* true if there is a letter between `sentence` and the position */
    bool has_letter;
    /* number of guillemets opened and not yet closed at the position */
    size_t open_quotes;
};

/* `at` is a position after a full stop or the like (and its closing marks and white space). True if
 * the sentence ends there; *left_end is then its end, and *right_begin the start of the next one
 * (before line_end). */
bool dg_boundary_ends(
    const struct dg_boundary *b, size_t at, size_t *left_end, size_t *right_begin);

#endif
