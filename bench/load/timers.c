#include "bench/load/timers.h"

#include <stdlib.h>

bool dg_load_timers_add(struct dg_load_timers *t, struct dg_load_timer timer)
{
    if (t->n == t->cap) {
        size_t cap = t->cap ? 2 * t->cap : 256;
        struct dg_load_timer *heap = realloc(t->heap, cap * sizeof *heap);
        if (!heap)
            return false;
        t->heap = heap;
        t->cap = cap;
    }
    size_t i = t->n++;
    for (; i > 0 && t->heap[(i - 1) / 2].at_ns > timer.at_ns; i = (i - 1) / 2)
        t->heap[i] = t->heap[(i - 1) / 2];
    t->heap[i] = timer;
    return true;
}

bool dg_load_timers_due(struct dg_load_timers *t, uint64_t now_ns, struct dg_load_timer *out)
{
    if (t->n == 0 || t->heap[0].at_ns > now_ns)
        return false;
    *out = t->heap[0];
    struct dg_load_timer last = t->heap[--t->n];
    size_t i = 0, child;
    while ((child = 2 * i + 1) < t->n) {
        if (child + 1 < t->n && t->heap[child + 1].at_ns < t->heap[child].at_ns)
            child++;
        if (last.at_ns <= t->heap[child].at_ns)
            break;
        t->heap[i] = t->heap[child];
        i = child;
    }
    t->heap[i] = last;
    return true;
}

void dg_load_timers_deinit(struct dg_load_timers *t)
{
    free(t->heap);
    t->heap = NULL;
    t->n = t->cap = 0;
}
