/* A YAML document as a tree of nodes, and as JSON. The one place that knows libyaml here is node.c.
 * Part of a program that runs when the server is built; never in the server. One thread. */
#ifndef DG_SERVER_API_PAGE_NODE_H
#define DG_SERVER_API_PAGE_NODE_H

#include "base/error.h"
#include "base/json.h"

struct dg_node { /* scalar, list or mapping */
    char *text;  /* of a scalar, else NULL */
    bool plain;  /* a scalar without quotes: may be a number or a word such as true */
    bool mapping;
    size_t n;
    struct dg_node **keys, **values; /* [n]; keys for mappings only */
};

/* Read a document; its root owns all other nodes. */
int dg_node_read(const char *path, struct dg_node **root, struct dg_error *err);
void dg_node_free(struct dg_node *root); /* NULL is fine */

/* All accept NULL for absent nodes, and then return NULL, 0 or "". What they return is borrowed. */
const struct dg_node *dg_node_get(const struct dg_node *mapping, const char *key);
const struct dg_node *dg_node_at(const struct dg_node *n, size_t i);
const char *dg_node_key(const struct dg_node *mapping, size_t i);
size_t dg_node_length(const struct dg_node *n);
const char *dg_node_text(const struct dg_node *scalar);
const char *dg_node_text_of(const struct dg_node *mapping, const char *key); /* of the value */
/* True if `name` is in the schema's list of required fields. */
bool dg_node_requires(const struct dg_node *schema, const char *name);
/* The node that {$ref: '#/a/b'} points to; any other node is returned itself. */
const struct dg_node *dg_node_resolve(const struct dg_node *root, const struct dg_node *n);

/* The node as JSON; NULL when memory is out. */
struct dg_json *dg_node_json(const struct dg_node *n);

#endif
