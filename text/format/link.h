/* What follows a link's text in Markdown: "](address "title")", "][name]", "]". Any thread. Only
 * for text/format. */
#ifndef DG_TEXT_FORMAT_LINK_H
#define DG_TEXT_FORMAT_LINK_H

#include <stddef.h>

struct dg_link_end {
    size_t end;
    /* between its quotation marks; equal: there is none */
    size_t title, title_end;
};

/* s[at] is the "]" of something that is known to be a link; bytes from `end` on are not looked at.
 */
void dg_link_end_find(const char *s, size_t at, size_t end, struct dg_link_end *out);

/* After the blanks, a line's end, and the blanks and ">" that the next line begins with. */
size_t dg_link_skip_space(const char *s, size_t at, size_t end);

#endif
