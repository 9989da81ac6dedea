/* Titles of Markdown's links and images. Any thread. Only for text/format. */
#ifndef DG_TEXT_FORMAT_LINK_TITLE_H
#define DG_TEXT_FORMAT_LINK_TITLE_H

#include "text/format/internal.h"

/* Add bytes begin..end, the title of a link without its quotation marks, as a unit of its own. Only
 * "\" and "&" have a meaning in a title. */
void dg_link_title(struct dg_document *d, const char *s, size_t begin, size_t end);

#endif
