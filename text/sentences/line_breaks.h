/* Where a line of running text may end (Unicode's line breaking, with ICU's dictionaries for
 * scripts without spaces). Text is UTF-8. Any thread. */
#ifndef DG_TEXT_SENTENCES_LINE_BREAKS_H
#define DG_TEXT_SENTENCES_LINE_BREAKS_H

#include "base/error.h"

#include <stddef.h>

struct dg_line_break {
    /* end of a line's text, and the first byte of the next line: equal, or with white space
     * between them */
    size_t end, next;
};

/* The breaks within s[n], in order: at white space, and between words and signs of scripts that are
 * written without it (Korean has it). The caller frees *out, [*count]. DG_ENOMEM, DG_EINTERNAL. */
int dg_line_breaks(
    const char *s, size_t n, struct dg_line_break **out, size_t *count, struct dg_error *err);

#endif
