#include "server/schedule/usage.h"

#include <math.h>

#define HALF_NS 10e9          /* half-life of a client's use */
#define ALONE_NS 10000000000u /* a client is alone if no other came for this long */

static uint64_t place_of(uint64_t client)
{
    return (client * UINT64_C(0x9E3779B97F4A7C15)) >> 52;
}

static double decayed(const struct dg_usage_place *p, uint64_t now_ns)
{
    return now_ns > p->used_ns ? p->used * exp2(-(double)(now_ns - p->used_ns) / HALF_NS) : p->used;
}

void dg_usage_come(struct dg_usage_table *t, uint64_t client, uint64_t cost, uint64_t now_ns)
{
    struct dg_usage_place *p = &t->places[place_of(client)];
    if (t->last != client)
        t->other_ns = t->last_ns;
    t->last = client;
    t->last_ns = now_ns;
    p->used = decayed(p, now_ns) + (double)cost;
    p->used_ns = now_ns;
}

uint64_t dg_usage_of(const struct dg_usage_table *t, uint64_t client, uint64_t now_ns)
{
    if (client == DG_NO_CLIENT)
        return 0;
    return (uint64_t)decayed(&t->places[place_of(client)], now_ns);
}

void dg_usage_wait(struct dg_usage_table *t, uint64_t client, enum dg_class class, int64_t cost)
{
    t->places[place_of(client)].waits[class] += (uint64_t)cost;
}

static bool is_alone(const struct dg_usage_table *t, uint64_t client, uint64_t now_ns)
{
    const uint64_t other_ns = client == t->last ? t->other_ns : t->last_ns;
    return other_ns == 0 || now_ns > other_ns + ALONE_NS;
}

static uint64_t waiting(const struct dg_usage_table *t, uint64_t client, enum dg_class last)
{
    const struct dg_usage_place *p = &t->places[place_of(client)];
    uint64_t sum = 0;
    for (int c = 0; c <= (int)last; c++)
        sum += p->waits[c];
    return sum;
}

bool dg_usage_is_first(
    const struct dg_usage_table *t, uint64_t client, enum dg_class last, uint64_t now_ns)
{
    return client != DG_NO_CLIENT && !is_alone(t, client, now_ns) && waiting(t, client, last) == 0;
}

bool dg_usage_fits(const struct dg_usage_table *t, uint64_t client, enum dg_class last,
    uint64_t cost, uint64_t room, uint64_t now_ns)
{
    if (client == DG_NO_CLIENT || is_alone(t, client, now_ns))
        return true;
    const uint64_t waits = waiting(t, client, last);
    return waits == 0 || waits + cost <= room;
}
