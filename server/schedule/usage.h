/* What each client has in the queue and has used recently, so that heavy users go after
 * others and are refused first. Clients are numbers; some may share a place in the table, and then
 * what they use. One thread at a time: the queue's lock. */
#ifndef DG_SERVER_SCHEDULE_USAGE_H
#define DG_SERVER_SCHEDULE_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#define DG_USAGE_PLACES 4096
#define DG_NO_CLIENT 0 /* nobody in particular: a proxy of this machine, say */

struct dg_usage_place {
    /* cost of its waiting work */
    uint64_t waits;
    /* cost of what came, halved every ten seconds */
    double used;
    uint64_t used_ns;
};

struct dg_usage_table {
    struct dg_usage_place places[DG_USAGE_PLACES];
    /* the client that came last, and when a different one followed another */
    uint64_t last;
    uint64_t mixed_ns;
};

/* A client asks for work of that cost. */
void dg_usage_come(struct dg_usage_table *t, uint64_t client, uint64_t cost, uint64_t now_ns);
/* Its recent use; 0 for client 0, which is nobody. */
uint64_t dg_usage_of(const struct dg_usage_table *t, uint64_t client, uint64_t now_ns);
/* So much more of it waits, or less. */
void dg_usage_wait(struct dg_usage_table *t, uint64_t client, int64_t cost);
/* Do several clients ask, and has this one nothing waiting? Somebody in particular, that is. */
bool dg_usage_is_first(const struct dg_usage_table *t, uint64_t client, uint64_t now_ns);
/* May it have `cost` more in a queue that has `room` left? Each of several clients may have as much
 * as is left free: one of them half of the queue, two a third each, so that there is room for the
 * next one. A client alone, or nobody in particular, may have all. */
bool dg_usage_fits(
    const struct dg_usage_table *t, uint64_t client, uint64_t cost, uint64_t room, uint64_t now_ns);

#endif
