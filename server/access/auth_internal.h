/* The keys in memory, as auth.c (requests) and sync.c (the file) see them. The lock guards
 * everything that is not const. Any thread. */
#ifndef DG_SERVER_ACCESS_AUTH_INTERNAL_H
#define DG_SERVER_ACCESS_AUTH_INTERNAL_H

#include "server/access/auth.h"
#include "server/access/quota.h"

#include <pthread.h>

/* whose usage is kept: midnight comes between two writes, and the wall clock may be set */
#define DG_AUTH_DAYS 4

/* A key's usage on a day. */
struct dg_auth_used {
    /* INT64_MIN: none */
    int64_t day;
    /* characters by the file */
    int64_t stored;
    /* not in the file yet */
    int64_t requests, characters;
};

struct dg_auth_key {
    /* id and hash are const */
    struct dg_key key;
    /* for the reading in progress */
    bool listed;
    struct dg_bucket bucket;
    /* the one that was asked for last comes first */
    struct dg_auth_used days[DG_AUTH_DAYS];
};

struct dg_auth {
    /* the thread's, after open */
    struct dg_keys *store;
    pthread_t thread;
    bool thread_runs, store_failed;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    /* guarded by lock */
    bool stop;
    /* [n] of cap, in the order they came */
    struct dg_auth_key **keys;
    /* [n] sorted */
    struct dg_auth_key **by_hash;
    size_t n, cap;
    struct dg_auth_counts counts;
};

/* The counters of a day, from 0 where it has none: another day that is written leaves for it. Where
 * none is written, what the oldest has goes to the next one. Lock held. */
struct dg_auth_used *dg_auth_used_on(struct dg_auth_key *k, int64_t day);
/* Those that it has; NULL: none. Lock held. */
struct dg_auth_used *dg_auth_find_day(struct dg_auth_key *k, int64_t day);

/* Update memory from the file, or the file from memory. For the thread, and during open and
 * close. */
int dg_auth_read_keys(struct dg_auth *a, struct dg_error *err);
int dg_auth_write_usage(struct dg_auth *a, struct dg_error *err);
/* The thread that does both now and then; arg is the dg_auth. */
void *dg_auth_keep(void *arg);

#endif
