/* What follows a link's text in Markdown: "](address "title")", "][name]", "]". Any thread. Only
 * for text/format. */
#ifndef DG_TEXT_FORMAT_LINK_H
#define DG_TEXT_FORMAT_LINK_H

#include "text/sentences/split.h"

#include <stdbool.h>
#include <stddef.h>

struct dg_link_end {
    size_t end;
    /* bytes of the title within its quotation marks; equal: there is none */
    size_t title, title_end;
    /* the text, if it is also the label of the link's definition; else 0, 0 */
    struct dg_span label;
};

/* Finds the end of a link whose "]" is at s[at]; it must be known to be a link. Bytes from `end` on
 * are not read. */
void dg_link_end_find(const char *s, size_t at, size_t end, struct dg_link_end *out);

/* True if the text s[begin, at) of a link that ends with s[at, end), "]" or "][]", is its label. It
 * must be known to be a link. */
bool dg_link_has_own_label(const char *s, size_t begin, size_t at, size_t end);

/* Skips blanks and line ends, and ">" at the start of the next lines. */
size_t dg_link_skip_space(const char *s, size_t at, size_t end);

#endif
