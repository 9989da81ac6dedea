/* DESIGN. Keys are in tables that only grow, one sorted by id and one by hash; a key that
 * vanishes from the file counts as revoked. A key is found by comparing hashes; where they first
 * differ tells an attacker nothing, because he cannot choose hashes. Usage since the last write is
 * kept by key and day and added to the file's counters, which several servers may share
 * (sync.c). */
#include "server/access/auth_internal.h"

#include "base/clock.h"
#include "base/day.h"
#include "base/log.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

int dg_auth_open(const char *path, struct dg_auth **out, struct dg_error *err)
{
    pthread_condattr_t monotonic;
    struct dg_auth *a = calloc(1, sizeof *a);
    if (!a)
        return dg_error_set(err, DG_ENOMEM, "no memory for the API keys");
    pthread_mutex_init(&a->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&a->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    int rc = dg_keys_open(path, false, &a->store, err);
    if (rc == DG_OK)
        rc = dg_auth_read_keys(a, err);
    if (rc == DG_OK)
        rc = dg_auth_read_usage(a, err);
    if (rc == DG_OK) {
        int number = pthread_create(&a->thread, NULL, dg_auth_keep, a);
        a->thread_runs = number == 0;
        if (number != 0)
            rc = dg_error_set(err, DG_EIO, "cannot start a thread: %s", strerror(number));
    }
    if (rc != DG_OK) {
        dg_auth_close(a);
        return rc;
    }
    *out = a;
    return DG_OK;
}

void dg_auth_close(struct dg_auth *a)
{
    struct dg_error err = {0};
    if (!a)
        return;
    if (a->thread_runs) {
        pthread_mutex_lock(&a->lock);
        a->stop = true;
        pthread_cond_signal(&a->wake);
        pthread_mutex_unlock(&a->lock);
        pthread_join(a->thread, NULL);
        if (dg_auth_write_usage(a, &err) != DG_OK)
            dg_log(DG_LOG_ERROR, "keys store=failed message=\"%s\" lost=usage", err.message);
    }
    dg_keys_close(a->store);
    for (size_t i = 0; i < a->n; i++)
        free(a->by_id[i]);
    free(a->by_id);
    free(a->by_hash);
    pthread_cond_destroy(&a->wake);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

static int compare_hash(const void *hash, const void *key)
{
    const struct dg_auth_key *const *k = key;
    return memcmp(hash, (*k)->key.hash, DG_KEY_HASH);
}

static int compare_id(const void *id, const void *key)
{
    const struct dg_auth_key *const *k = key;
    return strcmp(id, (*k)->key.id);
}

/* Lock held. */
static struct dg_auth_key *find_secret(const struct dg_auth *a, const unsigned char *hash)
{
    struct dg_auth_key **found = bsearch(hash, a->by_hash, a->n, sizeof *a->by_hash, compare_hash);
    return found ? *found : NULL;
}

enum dg_auth_verdict dg_auth_enter(struct dg_auth *a, const char *secret, unsigned scope,
    struct dg_auth_key **key, int64_t *wait_s)
{
    unsigned char hash[DG_KEY_HASH];
    enum dg_auth_verdict v = DG_AUTH_OK;
    struct dg_auth_key *k = NULL;
    int64_t left, day = dg_day_of(dg_clock_wall_s(), &left);
    *wait_s = 0;
    if (secret)
        dg_keys_hash(secret, strlen(secret), hash);
    pthread_mutex_lock(&a->lock);
    if (secret)
        k = find_secret(a, hash);
    if (!secret)
        v = DG_AUTH_MISSING;
    else if (!k || k->key.revoked_s != 0)
        v = DG_AUTH_UNKNOWN;
    else if (k->key.expires_s != 0 && dg_clock_wall_s() >= (double)k->key.expires_s)
        v = DG_AUTH_EXPIRED;
    else if ((k->key.scopes & scope) == 0)
        v = DG_AUTH_SCOPE;
    else if (!dg_quota_take(&k->bucket, k->key.requests_per_minute, dg_clock_ns(), wait_s))
        v = DG_AUTH_RATE;
    else
        dg_auth_used_on(k, day)->requests++;
    a->counts.refused[v] += v != DG_AUTH_OK;
    pthread_mutex_unlock(&a->lock);
    *key = k;
    return v;
}

enum dg_auth_verdict dg_auth_use(
    struct dg_auth *a, struct dg_auth_key *key, int64_t n, int64_t *day)
{
    int64_t left;
    *day = dg_day_of(dg_clock_wall_s(), &left);
    pthread_mutex_lock(&a->lock);
    struct dg_auth_used *u = dg_auth_used_on(key, *day);
    bool fits = dg_quota_fits(u->stored + u->characters, n, key->key.characters_per_day);
    if (fits)
        u->characters += n;
    else
        a->counts.refused[DG_AUTH_QUOTA]++;
    pthread_mutex_unlock(&a->lock);
    return fits ? DG_AUTH_OK : DG_AUTH_QUOTA;
}

void dg_auth_give_back(struct dg_auth *a, struct dg_auth_key *key, int64_t day, int64_t n)
{
    pthread_mutex_lock(&a->lock);
    struct dg_auth_used *u = dg_auth_find_day(key, day);
    if (u)                  /* else that day is long over and limits nobody */
        u->characters -= n; /* may be below 0 for a moment, if it was written meanwhile */
    pthread_mutex_unlock(&a->lock);
}

struct dg_auth_key *dg_auth_find_id(const struct dg_auth *a, const char *id)
{
    struct dg_auth_key **found = bsearch(id, a->by_id, a->n, sizeof *a->by_id, compare_id);
    return found ? *found : NULL;
}

const struct dg_auth_key *dg_auth_find(struct dg_auth *a, const char *id)
{
    pthread_mutex_lock(&a->lock);
    const struct dg_auth_key *found = dg_auth_find_id(a, id);
    pthread_mutex_unlock(&a->lock);
    return found;
}

const char *dg_auth_id(const struct dg_auth_key *key)
{
    return key->key.id;
}

int64_t dg_auth_daily_limit(struct dg_auth *a, const struct dg_auth_key *key)
{
    pthread_mutex_lock(&a->lock);
    int64_t limit = key->key.characters_per_day;
    pthread_mutex_unlock(&a->lock);
    return limit;
}

int64_t dg_auth_used(struct dg_auth *a, struct dg_auth_key *key)
{
    int64_t left, day = dg_day_of(dg_clock_wall_s(), &left);
    pthread_mutex_lock(&a->lock);
    const struct dg_auth_used *u = dg_auth_used_on(key, day);
    int64_t characters = u->stored + u->characters;
    pthread_mutex_unlock(&a->lock);
    return characters;
}

int64_t dg_auth_expires(struct dg_auth *a, const struct dg_auth_key *key)
{
    pthread_mutex_lock(&a->lock);
    int64_t at = key->key.expires_s;
    pthread_mutex_unlock(&a->lock);
    return at;
}

size_t dg_auth_left(
    struct dg_auth *a, struct dg_auth_key *key, struct dg_quota_left out[DG_AUTH_LIMITS])
{
    size_t n = 0;
    int64_t left_s, day = dg_day_of(dg_clock_wall_s(), &left_s);
    pthread_mutex_lock(&a->lock);
    const struct dg_key *k = &key->key;
    if (k->requests_per_minute > 0)
        out[n++] = dg_quota_bucket_left(&key->bucket, k->requests_per_minute, dg_clock_ns());
    if (k->characters_per_day > 0) {
        const struct dg_auth_used *u = dg_auth_used_on(key, day);
        const int64_t used = u->stored + u->characters;
        out[n++] = (struct dg_quota_left){.name = "characters",
            .limit = k->characters_per_day,
            .window_s = 86400,
            .left = used < k->characters_per_day ? k->characters_per_day - used : 0,
            .reset_s = left_s};
    }
    pthread_mutex_unlock(&a->lock);
    return n;
}

void dg_auth_count(struct dg_auth *a, struct dg_auth_counts *out)
{
    pthread_mutex_lock(&a->lock);
    *out = a->counts;
    pthread_mutex_unlock(&a->lock);
}
