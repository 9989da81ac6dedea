/* Whether a sentence ends at a possible sentence end. The rules after ICU's own: abbreviations,
 * initials, ordinals, closing quotes, addresses of web pages. Only for text/. Examines one place at
 * a time and keeps no state. Any thread. */
#ifndef DG_TEXT_BOUNDARY_H
#define DG_TEXT_BOUNDARY_H

#include "text/language.h"

#include <stdbool.h>
#include <stddef.h>

struct dg_boundary {
    const char *text;
    /* start of the sentence so far; end of its line */
    size_t sentence, line_end;
    const struct dg_language *language;
    /* a letter is between `sentence` and the place */
    bool has_letter;
    /* guillemets opened and not yet closed there */
    size_t open_quotes;
};

/* The place is `at`, after a full stop or the like (and its closing marks, and white space). true:
 * the sentence ends; *left_end and *right_begin then say where, and where the next one begins
 * (before line_end). */
bool dg_boundary_ends(
    const struct dg_boundary *b, size_t at, size_t *left_end, size_t *right_begin);

#endif
