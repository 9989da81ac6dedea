/* Timers in a binary heap. One thread at a time. */
#ifndef DG_LOAD_TIMERS_H
#define DG_LOAD_TIMERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_load_timer {
    uint64_t at_ns;
    uint32_t conn, generation; /* for whom; stale once the connection has another generation */
    uint32_t what;
};

struct dg_load_timers {
    struct dg_load_timer *heap; /* [n] */
    size_t n, cap;
};

/* False: out of memory. */
bool dg_load_timers_add(struct dg_load_timers *t, struct dg_load_timer timer);
/* Remove the earliest timer if it is due at now_ns. */
bool dg_load_timers_due(struct dg_load_timers *t, uint64_t now_ns, struct dg_load_timer *out);
void dg_load_timers_deinit(struct dg_load_timers *t);

#endif
