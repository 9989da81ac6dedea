/* The keys in memory, as auth.c (requests) and sync.c (the file) see them. The lock guards
 * everything that is not const; a request waits for it, so the thread of sync.c holds it for a key
 * or a few only. Any thread. */
#ifndef DG_SERVER_ACCESS_AUTH_INTERNAL_H
#define DG_SERVER_ACCESS_AUTH_INTERNAL_H

#include "server/access/auth.h"
#include "server/access/quota.h"

#include <pthread.h>

/* days of usage to keep: midnight may fall between two writes, and the wall clock may be set */
#define DG_AUTH_DAYS 4

/* A key's usage on a day. */
struct dg_auth_used {
    /* INT64_MIN: none */
    int64_t day;
    /* characters that the file counts */
    int64_t stored;
    /* not in the file yet */
    int64_t requests, characters;
};

struct dg_auth_key {
    /* id and hash are const; only the thread changes the rest */
    struct dg_key key;
    /* in the tables; for the thread only */
    bool known;
    struct dg_bucket bucket;
    /* the most recently used one comes first */
    struct dg_auth_used days[DG_AUTH_DAYS];
};

struct dg_auth {
    /* after open, for the thread only */
    struct dg_keys *store;
    pthread_t thread;
    bool thread_runs;
    /* the last look at the file failed; the last write of usage did */
    bool look_failed, write_failed;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    /* guarded by lock */
    bool stop;
    /* [n] sorted; only the thread changes them */
    struct dg_auth_key **by_id, **by_hash;
    size_t n;
    struct dg_auth_counts counts;
};

/* The key of an id, also a revoked one; NULL: there is none. Lock held, except by the thread. */
struct dg_auth_key *dg_auth_find_id(const struct dg_auth *a, const char *id);

/* The counters of a day; if it has none, new ones at 0 replace those of a day whose usage is
 * written. If no day's usage is written, that of the least recently used day is added to the next
 * one. Lock held. */
struct dg_auth_used *dg_auth_used_on(struct dg_auth_key *k, int64_t day);
/* The counters of a day; NULL: it has none. Lock held. */
struct dg_auth_used *dg_auth_find_day(struct dg_auth_key *k, int64_t day);

/* Update memory from the file, or the file from memory. For the thread, and during open and
 * close. */
int dg_auth_read_keys(struct dg_auth *a, struct dg_error *err);
/* Today's characters, which other servers may count, too. */
int dg_auth_read_usage(struct dg_auth *a, struct dg_error *err);
int dg_auth_write_usage(struct dg_auth *a, struct dg_error *err);
/* The thread that does both at intervals; arg is the dg_auth. */
void *dg_auth_keep(void *arg);

#endif
