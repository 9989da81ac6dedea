/* DESIGN. Keys stand in a table that only grows, sorted by hash in a second one; a key that
 * vanishes from the file counts as revoked. Finding a key compares hashes, whose first differing
 * byte tells an attacker nothing: he cannot choose them. What was used since the last write is kept
 * by key and day (two days: midnight may come in between) and added to the file's counters, which
 * several servers may share. */
#include "server/access/auth.h"

#include "base/clock.h"
#include "base/day.h"
#include "base/log.h"
#include "server/access/quota.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_S 1  /* between looks at the file */
#define WRITE_S 5 /* between writes */
#define DAYS 2

struct used {
    int64_t day, requests, characters;
};

struct dg_auth_key {
    struct dg_key key; /* id and hash are const */
    bool listed;       /* for the reading in progress */
    struct dg_bucket bucket;
    int64_t today, stored;     /* characters of the day `today`, by the file when last read */
    struct used pending[DAYS]; /* by day modulo DAYS: not in the file yet */
};

struct dg_auth {
    struct dg_keys *store; /* the thread's, after open */
    pthread_t thread;
    bool thread_runs, store_failed;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    /* guarded by lock */
    bool stop;
    struct dg_auth_key **keys;    /* [n] of cap, in the order they came */
    struct dg_auth_key **by_hash; /* [n] sorted */
    size_t n, cap;
    struct dg_auth_counts counts;
};

static int by_hash(const void *a, const void *b)
{
    const struct dg_auth_key *const *x = a, *const *y = b;
    return memcmp((*x)->key.hash, (*y)->key.hash, DG_KEY_HASH);
}

/* ---- What the file says ---- */

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
        a->by_hash[a->n] = k;
        a->keys[a->n++] = k;
    }
    k->key.scopes = key->scopes;
    k->key.revoked_s = key->revoked_s;
    k->key.requests_per_minute = key->requests_per_minute;
    k->key.characters_per_day = key->characters_per_day;
    k->listed = true;
    return DG_OK;
}

static int read_keys(struct dg_auth *a, struct dg_error *err)
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

/* The day's characters by the file, which other servers may count in, too. */
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
        if (!k)
            continue;
        k->today = day;
        k->stored = list[i].characters;
    }
    pthread_mutex_unlock(&a->lock);
    free(list);
    return DG_OK;
}

/* ---- What was used, into the file ---- */

/* Take what is pending out; what could not be written is put back. Lock held. */
static size_t take_pending(struct dg_auth *a, struct dg_key_usage *list)
{
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++) {
        struct dg_auth_key *k = a->keys[i];
        for (int d = 0; d < DAYS; d++) {
            struct used *u = &k->pending[d];
            if (u->requests == 0 && u->characters == 0)
                continue;
            list[n] = (struct dg_key_usage){
                .day = u->day, .requests = u->requests, .characters = u->characters};
            memcpy(list[n++].id, k->key.id, sizeof list->id);
            if (k->today == u->day)
                k->stored += u->characters;
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
        struct used *u = &k->pending[list[i].day % DAYS];
        if (u->day != list[i].day && (u->requests != 0 || u->characters != 0))
            continue; /* two days later: the file was away too long */
        u->day = list[i].day;
        u->requests += list[i].requests;
        u->characters += list[i].characters;
        if (k->today == u->day)
            k->stored -= list[i].characters;
    }
    pthread_mutex_unlock(&a->lock);
}

static int write_usage(struct dg_auth *a, struct dg_error *err)
{
    pthread_mutex_lock(&a->lock);
    struct dg_key_usage *list = malloc((a->n * DAYS + 1) * sizeof *list);
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

/* ---- The thread ---- */

/* Said once, not every second. */
static void note(struct dg_auth *a, int rc, const struct dg_error *err)
{
    if (rc != DG_OK && !a->store_failed)
        dg_log(DG_LOG_ERROR, "keys store=failed message=\"%s\"", err->message);
    else if (rc == DG_OK && a->store_failed)
        dg_log(DG_LOG_INFO, "keys store=recovered");
    a->store_failed = rc != DG_OK;
    pthread_mutex_lock(&a->lock);
    a->counts.store_errors += rc != DG_OK;
    pthread_mutex_unlock(&a->lock);
}

/* Sleep a while; false: it is time to stop. */
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

static void *keep(void *arg)
{
    struct dg_auth *a = arg;
    bool reread = false;
    for (unsigned turn = 1; nap(a); turn++) {
        struct dg_error err = {0};
        bool changed = false;
        int rc = dg_keys_changed(a->store, &changed, &err);
        reread = reread || changed;
        if (rc == DG_OK && reread)
            rc = read_keys(a, &err);
        if (rc == DG_OK)
            reread = false;
        if (rc == DG_OK && turn % (WRITE_S / LOOK_S) == 0)
            rc = write_usage(a, &err);
        note(a, rc, &err);
    }
    return NULL;
}

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
        rc = read_keys(a, err);
    if (rc == DG_OK)
        rc = write_usage(a, err); /* nothing yet: can it be written, and what does it say? */
    if (rc == DG_OK) {
        int number = pthread_create(&a->thread, NULL, keep, a);
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
        if (write_usage(a, &err) != DG_OK)
            dg_log(DG_LOG_ERROR, "keys store=failed message=\"%s\" lost=usage", err.message);
    }
    dg_keys_close(a->store);
    for (size_t i = 0; i < a->n; i++)
        free(a->keys[i]);
    free(a->keys);
    free(a->by_hash);
    pthread_cond_destroy(&a->wake);
    pthread_mutex_destroy(&a->lock);
    free(a);
}

/* ---- Requests ---- */

/* Lock held. */
static struct dg_auth_key *find_secret(const struct dg_auth *a, const unsigned char *hash)
{
    size_t low = 0, high = a->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        int order = memcmp(a->by_hash[mid]->key.hash, hash, DG_KEY_HASH);
        if (order == 0)
            return a->by_hash[mid];
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

/* The counters of the day; lock held. */
static struct used *used_on(struct dg_auth_key *k, int64_t day)
{
    struct used *u = &k->pending[day % DAYS];
    if (u->day != day)
        *u = (struct used){.day = day}; /* what stood there is two days old and written long ago */
    if (k->today != day) {
        k->today = day;
        k->stored = 0;
    }
    return u;
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
    else if ((k->key.scopes & scope) == 0)
        v = DG_AUTH_SCOPE;
    else if (!dg_bucket_take(&k->bucket, k->key.requests_per_minute, dg_clock_ns(), wait_s))
        v = DG_AUTH_RATE;
    else
        used_on(k, day)->requests++;
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
    struct used *u = used_on(key, *day);
    bool fits = dg_quota_fits(key->stored + u->characters, n, key->key.characters_per_day);
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
    struct used *u = &key->pending[day % DAYS];
    if (u->day == day)      /* else it is two days ago, and nobody's limit any more */
        u->characters -= n; /* may go below 0 for a moment: it was written meanwhile */
    pthread_mutex_unlock(&a->lock);
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
    const struct used *u = used_on(key, day);
    int64_t characters = key->stored + u->characters;
    pthread_mutex_unlock(&a->lock);
    return characters;
}

void dg_auth_count(struct dg_auth *a, struct dg_auth_counts *out)
{
    pthread_mutex_lock(&a->lock);
    *out = a->counts;
    pthread_mutex_unlock(&a->lock);
}
