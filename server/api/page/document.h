/* A YAML document as a tree, as JSON, and its parts as HTML. The one place that knows libyaml here
 * is document.c. Part of a program that runs when the server is built; never in the server. One
 * thread. */
#ifndef DG_SERVER_API_PAGE_DOCUMENT_H
#define DG_SERVER_API_PAGE_DOCUMENT_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"

struct dg_doc;
struct dg_node { /* scalar, list or mapping; borrowed from the document */
    char *text;  /* of a scalar, else NULL */
    bool plain;  /* a scalar without quotes: may be a number or a word such as true */
    bool mapping;
    size_t n;
    struct dg_node **keys, **values; /* [n]; keys for mappings only */
};

int dg_doc_open(const char *path, struct dg_doc **out, struct dg_error *err);
void dg_doc_close(struct dg_doc *d); /* NULL is fine */
const struct dg_node *dg_doc_root(const struct dg_doc *d);

/* All accept NULL for absent nodes, and then return NULL, 0 or "". */
const struct dg_node *dg_node_get(const struct dg_node *mapping, const char *key);
const struct dg_node *dg_node_at(const struct dg_node *n, size_t i);
const char *dg_node_key(const struct dg_node *mapping, size_t i);
size_t dg_node_length(const struct dg_node *n);
const char *dg_node_text(const struct dg_node *scalar);
/* The node that {$ref: '#/a/b'} points to; any other node is returned itself. */
const struct dg_node *dg_node_resolve(const struct dg_doc *d, const struct dg_node *n);

/* The node as JSON; NULL when memory is out. */
struct dg_json *dg_node_json(const struct dg_node *n);

/* Append as HTML. */
void dg_page_text(const char *s, struct dg_buffer *b);  /* escaped */
void dg_page_upper(const char *s, struct dg_buffer *b); /* escaped */
void dg_page_prose(const char *s, struct dg_buffer *b); /* Markdown's `code`, paragraphs, lists */
void dg_page_json(const struct dg_node *n, unsigned indent, struct dg_buffer *b); /* an example */
/* A form that sends the operation; web/docs.js shows the form and sends it. */
void dg_page_try(const struct dg_doc *d, const char *method, const char *path,
    const struct dg_node *operation, struct dg_buffer *b);
void dg_page_type(const struct dg_node *schema, struct dg_buffer *b);   /* in a few words */
void dg_page_schema(const struct dg_node *schema, struct dg_buffer *b); /* with its properties */

#endif
