/* Builds the units of a block of Markdown from md4c's events: its lines that are directives of site
 * generators (directive.h) stay as they are, but for their titles. Any thread. Only for
 * text/format. */
#ifndef DG_TEXT_FORMAT_MARKDOWN_BLOCK_H
#define DG_TEXT_FORMAT_MARKDOWN_BLOCK_H

#include "text/format/markdown_unit.h"

/* Add the units of events e, which may be changed, to d; they begin at byte `floor` of s[n] or
 * later. Returns the byte where they end. *indents: set if lines indented by four spaces after the
 * block are content of one of its directives. */
size_t dg_markdown_block(struct dg_document *d, const char *s, size_t n, struct dg_md_events *e,
    size_t floor, struct dg_md_titles *titles, bool *indents);

#endif
