#include "server/schedule/heap.h"

#include <stdlib.h>

void dg_heap_free(struct dg_heap *h)
{
    free(h->nodes);
    *h = (struct dg_heap){0};
}

bool dg_heap_reserve(struct dg_heap *h, size_t more)
{
    size_t cap = h->cap > 0 ? h->cap : 64;
    while (cap < h->n + more)
        cap *= 2;
    if (cap == h->cap)
        return true;
    struct dg_heap_node **nodes = realloc(h->nodes, cap * sizeof *nodes);
    if (!nodes)
        return false;
    h->nodes = nodes;
    h->cap = cap;
    return true;
}

static bool before(const struct dg_heap_node *a, const struct dg_heap_node *b)
{
    return a->key != b->key ? a->key < b->key : a->turn < b->turn;
}

static void place(struct dg_heap *h, size_t at, struct dg_heap_node *node)
{
    h->nodes[at] = node;
    node->at = at;
}

/* Move node from the hole `at` to where it belongs. */
static void settle(struct dg_heap *h, size_t at, struct dg_heap_node *node)
{
    for (; at > 0 && before(node, h->nodes[(at - 1) / 2]); at = (at - 1) / 2)
        place(h, at, h->nodes[(at - 1) / 2]);
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < h->n && before(h->nodes[child + 1], h->nodes[child]))
            child++;
        if (child >= h->n || !before(h->nodes[child], node))
            break;
        place(h, at, h->nodes[child]);
        at = child;
    }
    place(h, at, node);
}

void dg_heap_put(struct dg_heap *h, struct dg_heap_node *node)
{
    if (node->turn == 0)
        node->turn = ++h->turn;
    settle(h, h->n++, node);
}

void dg_heap_remove(struct dg_heap *h, struct dg_heap_node *node)
{
    struct dg_heap_node *last = h->nodes[--h->n];
    if (last != node)
        settle(h, node->at, last);
}

struct dg_heap_node *dg_heap_first(const struct dg_heap *h)
{
    return h->n > 0 ? h->nodes[0] : NULL;
}
