/* The tree of an HTML text, as libgumbo reads it, within limits of memory and time. Any thread.
 * Only for text/format/html. */
#ifndef DG_TEXT_FORMAT_HTML_TREE_H
#define DG_TEXT_FORMAT_HTML_TREE_H

#include "base/error.h"

#include <gumbo.h>

struct dg_html_tree;

/* Parse s[n], which must outlive the tree. DG_ELIMIT (field text): it would take too much memory or
 * time, as with thousands of tags that are never closed. DG_ENOMEM. */
int dg_html_tree_open(const char *s, size_t n, struct dg_html_tree **out, struct dg_error *err);
const GumboNode *dg_html_tree_document(const struct dg_html_tree *t);
void dg_html_tree_close(struct dg_html_tree *t);

#endif
