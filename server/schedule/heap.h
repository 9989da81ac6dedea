/* An intrusive binary heap: the smallest key first, and of equal keys the one that was put in
 * first. A node knows its index, so that any node can be removed. One thread at a time. */
#ifndef DG_SERVER_SCHEDULE_HEAP_H
#define DG_SERVER_SCHEDULE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_heap_node {
    uint64_t key;
    /* breaks ties; 0: dg_heap_put sets it. A node that is put back keeps its turn */
    uint64_t turn;
    /* index in the heap while it is in one */
    size_t at;
};

struct dg_heap {
    /* [n], borrowed */
    struct dg_heap_node **nodes;
    size_t n, cap;
    uint64_t turn;
};

void dg_heap_free(struct dg_heap *h); /* a zeroed heap is an empty one */
/* Reserve room for `more` additional nodes; false: out of memory. */
bool dg_heap_reserve(struct dg_heap *h, size_t more);
/* Insert a node; its key is set and room was reserved. O(log n), as is removal. */
void dg_heap_put(struct dg_heap *h, struct dg_heap_node *node);
void dg_heap_remove(struct dg_heap *h, struct dg_heap_node *node);
/* The first node, which stays in the heap, or NULL. */
struct dg_heap_node *dg_heap_first(const struct dg_heap *h);

#endif
