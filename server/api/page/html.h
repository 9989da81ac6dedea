/* Pieces of the page, appended as HTML. Part of a program that runs when the server is built; never
 * in the server. One thread. */
#ifndef DG_SERVER_API_PAGE_HTML_H
#define DG_SERVER_API_PAGE_HTML_H

#include "base/buffer.h"
#include "server/api/page/node.h"

void dg_page_text(const char *s, struct dg_buffer *b);  /* escaped */
void dg_page_code(const char *s, struct dg_buffer *b);  /* escaped, as code */
void dg_page_upper(const char *s, struct dg_buffer *b); /* escaped */
void dg_page_prose(const char *s, struct dg_buffer *b); /* Markdown's `code`, paragraphs, lists */
void dg_page_json(const struct dg_node *n, struct dg_buffer *b); /* an example, indented */
/* A form that sends the operation; web/docs.js shows the form and sends it. */
void dg_page_try(const struct dg_node *root, const char *method, const char *path,
    const struct dg_node *operation, struct dg_buffer *b);
void dg_page_type(const struct dg_node *schema, struct dg_buffer *b);   /* in a few words */
void dg_page_schema(const struct dg_node *schema, struct dg_buffer *b); /* with its properties */

#endif
