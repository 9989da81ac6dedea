/* What each client has waiting in the queue and has used recently, so that heavy users go after
 * others and are refused first. Clients are numbers; some may share a place in the table, and then
 * share their use. One thread at a time: the queue's lock. */
#ifndef DG_SERVER_SCHEDULE_USAGE_H
#define DG_SERVER_SCHEDULE_USAGE_H

#include "server/schedule/batcher.h"

#include <stdbool.h>
#include <stdint.h>

#define DG_USAGE_PLACES 4096
#define DG_NO_CLIENT 0 /* nobody in particular: a proxy of this machine, say */

struct dg_usage_place {
    /* cost of its waiting work, without requests that exceed the bound alone */
    uint64_t waits[DG_CLASSES];
    /* cost of its recent work, halved every ten seconds */
    double used;
    uint64_t used_ns;
};

struct dg_usage_table {
    struct dg_usage_place places[DG_USAGE_PLACES];
    /* the client that came last, its latest time, and the latest time of any other; 0: none */
    uint64_t last;
    uint64_t last_ns, other_ns;
};

/* Record that a client submits work of that cost. */
void dg_usage_come(struct dg_usage_table *t, uint64_t client, uint64_t cost, uint64_t now_ns);
/* A client's recent use; 0 for DG_NO_CLIENT. */
uint64_t dg_usage_of(const struct dg_usage_table *t, uint64_t client, uint64_t now_ns);
/* Add to the cost of its waiting work of a class, or subtract (negative). */
void dg_usage_wait(struct dg_usage_table *t, uint64_t client, enum dg_class class, int64_t cost);
/* True if the client, not DG_NO_CLIENT, is not alone and has nothing waiting in the classes up to
 * `last`. A client is alone if no other submitted work in the last ten seconds. */
bool dg_usage_is_first(
    const struct dg_usage_table *t, uint64_t client, enum dg_class last, uint64_t now_ns);
/* True if the client may have `cost` more in a queue that has `room` left, of which the classes up
 * to `last` count. Each of several clients may have as much waiting in them as is left free: a
 * single one half of the queue, two of them a third each, so that there is room for the next one. A
 * client with nothing waiting, one that is alone, and DG_NO_CLIENT may use all. */
bool dg_usage_fits(const struct dg_usage_table *t, uint64_t client, enum dg_class last,
    uint64_t cost, uint64_t room, uint64_t now_ns);

#endif
