/* Front matter of Markdown, of which the title is text: YAML between lines of hyphens, or TOML
 * between lines of plus signs. Any thread. */
#ifndef DG_TEXT_FORMAT_FRONT_MATTER_H
#define DG_TEXT_FORMAT_FRONT_MATTER_H

#include "text/format/internal.h"

/* Add the title in the front matter of source s[n] to d. The front matter extends from "---" in the
 * first line (after any byte-order mark) to the next "---" or "...", or from "+++" to the next
 * "+++"; returns the byte after it. */
size_t dg_front_matter_read(struct dg_document *d, const char *s, size_t n);

#endif
