/* A model as the paper's Figures 1 and 2 draw it: boxes with the bundle's own shapes, and which box
 * reads which. One thread at a time. */
#ifndef DG_CLI_GRAPH_H
#define DG_CLI_GRAPH_H

#include "base/buffer.h"
#include "model/config.h"

enum dg_graph_form {
    DG_GRAPH_TEXT, /* a line a box, its inputs after "<-" */
    DG_GRAPH_DOT   /* for Graphviz: dot -Tsvg */
};

/* Append the graph to out; out->failed tells when memory was out. */
void dg_graph_write(const struct dg_config *c, enum dg_graph_form form, struct dg_buffer *out);

#endif
