/* Finds what dialects of Markdown add to running text (dialect.h) in md4c's events. Any thread.
 * Only for text/format. */
#ifndef DG_TEXT_FORMAT_MARKDOWN_SPANS_H
#define DG_TEXT_FORMAT_MARKDOWN_SPANS_H

#include "text/format/markdown_unit.h"

/* Copies events e of source s to *out, which the caller frees, with KEPT, OPEN and CLOSE in place
 * of such parts; out->failed: out of memory. */
void dg_markdown_spans(const char *s, const struct dg_md_events *e, struct dg_md_events *out);

#endif
