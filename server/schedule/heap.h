/* A binary heap of nodes that live in what they order: the smallest key first, among equal ones the
 * one that was put in first. A node knows its place, so that any can be taken out. One thread at a
 * time. */
#ifndef DG_SERVER_SCHEDULE_HEAP_H
#define DG_SERVER_SCHEDULE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_heap_node {
    uint64_t key;
    /* breaks ties; 0: dg_heap_put sets it, and it keeps its place if it comes back */
    uint64_t turn;
    /* place in the heap while it is in one */
    size_t at;
};

struct dg_heap {
    /* [n], borrowed */
    struct dg_heap_node **nodes;
    size_t n, cap;
    uint64_t turn;
};

void dg_heap_free(struct dg_heap *h); /* a zeroed heap is an empty one */
/* Room for `more` nodes besides those there are; false when memory is out. */
bool dg_heap_reserve(struct dg_heap *h, size_t more);
/* The node's key is set; room was reserved. O(log n), as is taking out. */
void dg_heap_put(struct dg_heap *h, struct dg_heap_node *node);
void dg_heap_remove(struct dg_heap *h, struct dg_heap_node *node);
/* The first, or NULL; it stays. */
struct dg_heap_node *dg_heap_first(const struct dg_heap *h);

#endif
