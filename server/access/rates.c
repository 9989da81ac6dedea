#include "server/access/rates.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SETS 1024
#define WAYS 8 /* places per set, any of which a client may take */

struct place {
    /* 0: none */
    uint64_t client;
    struct dg_bucket bucket;
};

struct dg_rates {
    _Atomic int64_t per_minute;
    pthread_mutex_t lock;
    /* guarded by lock */
    struct place places[SETS][WAYS];
};

int dg_rates_open(int64_t per_minute, struct dg_rates **out, struct dg_error *err)
{
    struct dg_rates *r = calloc(1, sizeof *r);
    if (!r)
        return dg_error_set(err, DG_ENOMEM, "no memory for addresses");
    r->per_minute = per_minute;
    pthread_mutex_init(&r->lock, NULL);
    *out = r;
    return DG_OK;
}

void dg_rates_close(struct dg_rates *r)
{
    if (!r)
        return;
    pthread_mutex_destroy(&r->lock);
    free(r);
}

void dg_rates_set(struct dg_rates *r, int64_t per_minute)
{
    atomic_store(&r->per_minute, per_minute);
}

/* The client's place; without one it takes that of the client that has been idle longest. */
static struct place *place_of(struct dg_rates *r, uint64_t client)
{
    struct place *set = r->places[((client * UINT64_C(0x9E3779B97F4A7C15)) >> 32) % SETS];
    struct place *oldest = &set[0];
    for (int i = 0; i < WAYS; i++) {
        if (set[i].client == client)
            return &set[i];
        if (set[i].bucket.at_ns < oldest->bucket.at_ns)
            oldest = &set[i];
    }
    *oldest = (struct place){.client = client};
    return oldest;
}

bool dg_rates_take(struct dg_rates *r, uint64_t client, uint64_t now_ns, int64_t *wait_s)
{
    const int64_t per_minute = atomic_load(&r->per_minute);
    if (client == 0 || per_minute == 0)
        return true;
    pthread_mutex_lock(&r->lock);
    bool taken = dg_quota_take(&place_of(r, client)->bucket, per_minute, now_ns, wait_s);
    pthread_mutex_unlock(&r->lock);
    return taken;
}

bool dg_rates_left(struct dg_rates *r, uint64_t client, uint64_t now_ns, struct dg_quota_left *out)
{
    const int64_t per_minute = atomic_load(&r->per_minute);
    if (client == 0 || per_minute == 0)
        return false;
    pthread_mutex_lock(&r->lock);
    *out = dg_quota_bucket_left(&place_of(r, client)->bucket, per_minute, now_ns);
    pthread_mutex_unlock(&r->lock);
    return true;
}
