/* A key's usage by day. The wall clock may be set to any day at any time, and usage counted before
 * must be written all the same. */
#include "server/access/auth_internal.h"

#include <string.h>

static bool is_written(const struct dg_auth_used *u)
{
    return u->requests == 0 && u->characters == 0;
}

struct dg_auth_used *dg_auth_find_day(struct dg_auth_key *k, int64_t day)
{
    for (int i = 0; i < DG_AUTH_DAYS; i++)
        if (k->days[i].day == day)
            return &k->days[i];
    return NULL;
}

/* A place for a new day: that of the least recently used day whose usage is written; if there is
 * none, the last day is merged into the one before it. */
static struct dg_auth_used *make_room(struct dg_auth_key *k)
{
    struct dg_auth_used *last = &k->days[DG_AUTH_DAYS - 1];
    for (struct dg_auth_used *u = last; u >= k->days; u--)
        if (is_written(u))
            return u;
    last[-1].requests += last->requests;
    last[-1].characters += last->characters;
    return last;
}

struct dg_auth_used *dg_auth_used_on(struct dg_auth_key *k, int64_t day)
{
    struct dg_auth_used *u = dg_auth_find_day(k, day);
    if (!u) {
        u = make_room(k);
        *u = (struct dg_auth_used){.day = day};
    }
    const struct dg_auth_used found = *u;
    memmove(&k->days[1], &k->days[0], (size_t)(u - k->days) * sizeof *u);
    k->days[0] = found;
    return &k->days[0];
}
