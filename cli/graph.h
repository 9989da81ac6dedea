/* A model drawn like Figures 1 and 2 of the paper: boxes with the bundle's own shapes, and the
 * inputs of each. One thread at a time. */
#ifndef DG_CLI_GRAPH_H
#define DG_CLI_GRAPH_H

#include "base/buffer.h"
#include "model/config.h"

enum dg_graph_form {
    DG_GRAPH_TEXT, /* one line per box, its inputs after "<-" */
    DG_GRAPH_DOT   /* for Graphviz: dot -Tsvg */
};

/* Append the graph to out. Out of memory sets out->failed. */
void dg_graph_write(const struct dg_config *c, enum dg_graph_form form, struct dg_buffer *out);

#endif
