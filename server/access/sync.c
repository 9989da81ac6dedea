/* Synchronizes with the keys' file on a thread of its own: reads others' changes each second and
 * writes usage every few seconds. */
#include "server/access/auth_internal.h"

#include "base/clock.h"
#include "base/day.h"
#include "base/log.h"
#include "base/thread_name.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_S 1  /* seconds between checks of the file */
#define WRITE_S 5 /* seconds between writes */

static int by_hash(const void *a, const void *b)
{
    const struct dg_auth_key *const *x = a, *const *y = b;
    return memcmp((*x)->key.hash, (*y)->key.hash, DG_KEY_HASH);
}

static struct dg_auth_key *find_id(const struct dg_auth *a, const char *id)
{
    for (size_t i = 0; i < a->n; i++)
        if (strcmp(a->keys[i]->key.id, id) == 0)
            return a->keys[i];
    return NULL;
}

static bool make_room(struct dg_auth *a)
{
    if (a->n < a->cap)
        return true;
    size_t cap = a->cap > 0 ? 2 * a->cap : 64;
    struct dg_auth_key **keys = realloc(a->keys, cap * sizeof *keys);
    if (keys)
        a->keys = keys;
    struct dg_auth_key **sorted = realloc(a->by_hash, cap * sizeof *sorted);
    if (sorted)
        a->by_hash = sorted;
    if (!keys || !sorted)
        return false;
    a->cap = cap;
    return true;
}

/* Lock held. */
static int take_key(struct dg_auth *a, const struct dg_key *key, struct dg_error *err)
{
    struct dg_auth_key *k = find_id(a, key->id);
    if (!k) {
        k = make_room(a) ? calloc(1, sizeof *k) : NULL;
        if (!k)
            return dg_error_set(err, DG_ENOMEM, "no memory for %zu keys", a->n + 1);
        k->key = *key;
        for (int d = 0; d < DG_AUTH_DAYS; d++)
            k->days[d].day = INT64_MIN;
        a->by_hash[a->n] = k;
        a->keys[a->n++] = k;
    }
    k->key.scopes = key->scopes;
    k->key.revoked_s = key->revoked_s;
    k->key.expires_s = key->expires_s;
    k->key.requests_per_minute = key->requests_per_minute;
    k->key.characters_per_day = key->characters_per_day;
    k->listed = true;
    return DG_OK;
}

int dg_auth_read_keys(struct dg_auth *a, struct dg_error *err)
{
    struct dg_key *list = NULL;
    size_t n = 0;
    int rc = dg_keys_list(a->store, &list, &n, err);
    if (rc != DG_OK)
        return rc;
    pthread_mutex_lock(&a->lock);
    for (size_t i = 0; i < a->n; i++)
        a->keys[i]->listed = false;
    for (size_t i = 0; i < n && rc == DG_OK; i++)
        rc = take_key(a, &list[i], err);
    a->counts.keys = 0;
    for (size_t i = 0; i < a->n; i++) {
        struct dg_key *key = &a->keys[i]->key;
        if (!a->keys[i]->listed && rc == DG_OK && key->revoked_s == 0)
            key->revoked_s = 1;
        a->counts.keys += key->revoked_s == 0;
    }
    if (a->n > 0)
        qsort(a->by_hash, a->n, sizeof *a->by_hash, by_hash);
    pthread_mutex_unlock(&a->lock);
    free(list);
    return rc;
}

/* Reads today's characters from the file, where other servers may count, too. */
static int read_usage(struct dg_auth *a, struct dg_error *err)
{
    struct dg_key_usage *list = NULL;
    size_t n = 0;
    int64_t left, day = dg_day_of(dg_clock_wall_s(), &left);
    int rc = dg_keys_usage(a->store, day, &list, &n, err);
    if (rc != DG_OK)
        return rc;
    pthread_mutex_lock(&a->lock);
    for (size_t i = 0; i < n; i++) {
        struct dg_auth_key *k = list[i].day == day ? find_id(a, list[i].id) : NULL;
        if (k)
            dg_auth_used_on(k, day)->stored = list[i].characters;
    }
    pthread_mutex_unlock(&a->lock);
    free(list);
    return DG_OK;
}

/* Moves the pending usage to list; put_back returns what could not be written. Lock held. */
static size_t take_pending(struct dg_auth *a, struct dg_key_usage *list)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++) {
        struct dg_auth_key *k = a->keys[i];
        for (int d = 0; d < DG_AUTH_DAYS; d++) {
            struct dg_auth_used *u = &k->days[d];
            if (u->requests == 0 && u->characters == 0)
                continue;
            list[n] = (struct dg_key_usage){
                .day = u->day, .requests = u->requests, .characters = u->characters};
            memcpy(list[n++].id, k->key.id, sizeof list->id);
            u->stored += u->characters;
            u->requests = u->characters = 0;
        }
    }
    return n;
}

static void put_back(struct dg_auth *a, const struct dg_key_usage *list, size_t n)
{
    pthread_mutex_lock(&a->lock);
    for (size_t i = 0; i < n; i++) {
        struct dg_auth_key *k = find_id(a, list[i].id);
        const bool counted = dg_auth_find_day(k, list[i].day) != NULL;
        struct dg_auth_used *u = dg_auth_used_on(k, list[i].day);
        u->requests += list[i].requests;
        u->characters += list[i].characters;
        u->stored -= counted ? list[i].characters : 0;
    }
    pthread_mutex_unlock(&a->lock);
}

int dg_auth_write_usage(struct dg_auth *a, struct dg_error *err)
{
    pthread_mutex_lock(&a->lock);
    struct dg_key_usage *list = malloc((a->n * DG_AUTH_DAYS + 1) * sizeof *list);
    size_t n = list ? take_pending(a, list) : 0;
    pthread_mutex_unlock(&a->lock);
    if (!list)
        return dg_error_set(err, DG_ENOMEM, "no memory to write the keys' usage");
    int rc = dg_keys_use(a->store, list, n, err);
    if (rc != DG_OK)
        put_back(a, list, n);
    free(list);
    if (rc == DG_OK)
        rc = read_usage(a, err);
    return rc;
}

/* Logs a failure once, not every second, and a recovery when nothing fails any more: a look that
 * succeeds says nothing about a write that did not. wrote: usage was to be written. */
static void note(struct dg_auth *a, bool wrote, int rc, const struct dg_error *err)
{
    const bool failed_before = a->look_failed || a->write_failed;
    a->look_failed = rc != DG_OK && !wrote;
    if (wrote)
        a->write_failed = rc != DG_OK;
    const bool failed = a->look_failed || a->write_failed;
    if (failed && !failed_before)
        dg_log(DG_LOG_ERROR, "keys store=failed message=\"%s\"", err->message);
    else if (!failed && failed_before)
        dg_log(DG_LOG_INFO, "keys store=recovered");
    pthread_mutex_lock(&a->lock);
    a->counts.store_errors += rc != DG_OK;
    pthread_mutex_unlock(&a->lock);
}

/* Sleeps for LOOK_S; false: it is time to stop. */
static bool nap(struct dg_auth *a)
{
    struct timespec until;
    int rc = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += LOOK_S;
    pthread_mutex_lock(&a->lock);
    while (!a->stop && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&a->wake, &a->lock, &until);
    bool goes_on = !a->stop;
    pthread_mutex_unlock(&a->lock);
    return goes_on;
}

void *dg_auth_keep(void *arg)
{
    struct dg_auth *a = arg;
    bool reread = false;
    dg_thread_name("keys");
    for (unsigned turn = 1; nap(a); turn++) {
        struct dg_error err = {0};
        bool changed = false;
        int rc = dg_keys_changed(a->store, &changed, &err);
        reread = reread || changed;
        if (rc == DG_OK && reread)
            rc = dg_auth_read_keys(a, &err);
        if (rc == DG_OK)
            reread = false;
        const bool writes = rc == DG_OK && turn % (WRITE_S / LOOK_S) == 0;
        if (writes)
            rc = dg_auth_write_usage(a, &err);
        note(a, writes, rc, &err);
    }
    return NULL;
}
