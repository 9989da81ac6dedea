/* Synchronizes with the keys' file on a thread of its own: reads others' changes each second and
 * writes usage every few seconds. Work that takes long with many keys is done without the lock. */
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
#define FEW 256   /* keys that are examined each time the lock is held */

static int by_hash(const void *a, const void *b)
{
    const struct dg_auth_key *const *x = a, *const *y = b;
    return memcmp((*x)->key.hash, (*y)->key.hash, DG_KEY_HASH);
}

static int by_id(const void *a, const void *b)
{
    const struct dg_key *x = a, *y = b;
    return strcmp(x->id, y->id);
}

/* The tables that will replace those in use. */
struct tables {
    /* [n] */
    struct dg_auth_key **by_id, **by_hash;
    size_t n;
};

/* Frees tables that were not put into use, and their new keys. */
static void drop(struct tables *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (!t->by_id[i]->known)
            free(t->by_id[i]);
    free(t->by_id);
    free(t->by_hash);
}

static bool add_new(struct tables *t, const struct dg_key *key)
{
    struct dg_auth_key *k = calloc(1, sizeof *k);
    if (!k)
        return false;
    k->key = *key;
    for (int d = 0; d < DG_AUTH_DAYS; d++)
        k->days[d].day = INT64_MIN;
    t->by_id[t->n++] = k;
    return true;
}

/* Makes tables of the known keys and of those that are new in list[n], which is sorted by id. */
static int make_tables(const struct dg_auth *a, const struct dg_key *list, size_t n,
    struct tables *t, struct dg_error *err)
{
    size_t at = 0;
    t->by_id = malloc((a->n + n + 1) * sizeof *t->by_id);
    t->by_hash = malloc((a->n + n + 1) * sizeof *t->by_hash);
    bool whole = t->by_id && t->by_hash;
    for (size_t i = 0; i < n && whole; i++) {
        while (at < a->n && strcmp(a->by_id[at]->key.id, list[i].id) <= 0)
            t->by_id[t->n++] = a->by_id[at++];
        if (t->n == 0 || strcmp(t->by_id[t->n - 1]->key.id, list[i].id) != 0)
            whole = add_new(t, &list[i]);
    }
    while (whole && at < a->n)
        t->by_id[t->n++] = a->by_id[at++];
    if (!whole)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu keys", a->n + n);
    memcpy(t->by_hash, t->by_id, t->n * sizeof *t->by_hash);
    if (t->n > 0)
        qsort(t->by_hash, t->n, sizeof *t->by_hash, by_hash);
    return DG_OK;
}

/* Updates a key from the file; listed NULL: it is no longer there and counts as revoked. */
static void update(struct dg_auth *a, struct dg_auth_key *k, const struct dg_key *listed)
{
    const struct dg_key *old = &k->key;
    struct dg_key now = listed ? *listed : *old;
    if (!listed && now.revoked_s == 0)
        now.revoked_s = 1;
    if (now.scopes == old->scopes && now.revoked_s == old->revoked_s &&
        now.expires_s == old->expires_s && now.requests_per_minute == old->requests_per_minute &&
        now.characters_per_day == old->characters_per_day)
        return;
    pthread_mutex_lock(&a->lock);
    k->key.scopes = now.scopes;
    k->key.revoked_s = now.revoked_s;
    k->key.expires_s = now.expires_s;
    k->key.requests_per_minute = now.requests_per_minute;
    k->key.characters_per_day = now.characters_per_day;
    pthread_mutex_unlock(&a->lock);
}

/* Puts tables into use, and counts the keys that are not revoked. */
static void use_tables(struct dg_auth *a, const struct tables *t)
{
    size_t valid = 0;
    for (size_t i = 0; i < t->n; i++) {
        t->by_id[i]->known = true;
        valid += t->by_id[i]->key.revoked_s == 0;
    }
    struct dg_auth_key **const before[] = {a->by_id, a->by_hash};
    pthread_mutex_lock(&a->lock);
    a->by_id = t->by_id;
    a->by_hash = t->by_hash;
    a->n = t->n;
    a->counts.keys = valid;
    pthread_mutex_unlock(&a->lock);
    free(before[0]);
    free(before[1]);
}

int dg_auth_read_keys(struct dg_auth *a, struct dg_error *err)
{
    struct dg_key *list = NULL;
    struct tables t = {0};
    size_t n = 0, at = 0;
    int rc = dg_keys_list(a->store, &list, &n, err);
    if (rc != DG_OK)
        return rc;
    if (n > 0)
        qsort(list, n, sizeof *list, by_id);
    rc = make_tables(a, list, n, &t, err);
    if (rc == DG_OK) {
        for (size_t i = 0; i < t.n; i++) {
            const bool listed = at < n && strcmp(list[at].id, t.by_id[i]->key.id) == 0;
            update(a, t.by_id[i], listed ? &list[at] : NULL);
            at += listed;
        }
        use_tables(a, &t);
    } else {
        drop(&t);
    }
    free(list);
    return rc;
}

int dg_auth_read_usage(struct dg_auth *a, struct dg_error *err)
{
    struct dg_key_usage *list = NULL;
    size_t n = 0;
    int64_t left, day = dg_day_of(dg_clock_wall_s(), &left);
    int rc = dg_keys_usage(a->store, day, &list, &n, err);
    if (rc != DG_OK)
        return rc;
    for (size_t i = 0; i < n; i++) {
        struct dg_auth_key *k = list[i].day == day ? dg_auth_find_id(a, list[i].id) : NULL;
        pthread_mutex_lock(&a->lock);
        if (k)
            dg_auth_used_on(k, day)->stored = list[i].characters;
        pthread_mutex_unlock(&a->lock);
    }
    free(list);
    return DG_OK;
}

/* Moves a key's pending usage to list; returns how many days it has. Lock held. */
static size_t take_days(struct dg_auth_key *k, struct dg_key_usage *list)
{
    size_t n = 0;
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
    return n;
}

/* Moves the pending usage to list; put_back returns what could not be written. */
static size_t take_pending(struct dg_auth *a, struct dg_key_usage *list)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n;) {
        pthread_mutex_lock(&a->lock);
        for (const size_t end = a->n - i < FEW ? a->n : i + FEW; i < end; i++)
            n += take_days(a->by_id[i], &list[n]);
        pthread_mutex_unlock(&a->lock);
    }
    return n;
}

static void put_back(struct dg_auth *a, const struct dg_key_usage *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct dg_auth_key *k = dg_auth_find_id(a, list[i].id);
        pthread_mutex_lock(&a->lock);
        const bool counted = dg_auth_find_day(k, list[i].day) != NULL;
        struct dg_auth_used *u = dg_auth_used_on(k, list[i].day);
        u->requests += list[i].requests;
        u->characters += list[i].characters;
        u->stored -= counted ? list[i].characters : 0;
        pthread_mutex_unlock(&a->lock);
    }
}

int dg_auth_write_usage(struct dg_auth *a, struct dg_error *err)
{
    struct dg_key_usage *list = calloc(a->n * DG_AUTH_DAYS + 1, sizeof *list);
    if (!list)
        return dg_error_set(err, DG_ENOMEM, "no memory to write the keys' usage");
    const size_t n = take_pending(a, list);
    int rc = dg_keys_use(a->store, list, n, err);
    if (rc != DG_OK)
        put_back(a, list, n);
    free(list);
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
        if (writes && rc == DG_OK)
            rc = dg_auth_read_usage(a, &err);
        note(a, writes, rc, &err);
    }
    return NULL;
}
