/* The keys in memory, as auth.c (requests) and sync.c (the file) see them. Guarded by
 * the lock but for what is const: any thread. */
#ifndef DG_SERVER_ACCESS_AUTH_INTERNAL_H
#define DG_SERVER_ACCESS_AUTH_INTERNAL_H

#include "server/access/auth.h"
#include "server/access/quota.h"

#include <pthread.h>

/* of usage that is not in the file yet: midnight may come in between */
#define DG_AUTH_DAYS 2

/* What a key used on a day. */
struct dg_auth_used {
    int64_t day, requests, characters;
};

struct dg_auth_key {
    /* id and hash are const */
    struct dg_key key;
    /* for the reading in progress */
    bool listed;
    struct dg_bucket bucket;
    /* characters of the day `today`, by the file when last read */
    int64_t today, stored;
    /* by day modulo DG_AUTH_DAYS: not in the file yet */
    struct dg_auth_used pending[DG_AUTH_DAYS];
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

/* Bring memory up to what the file says, or the file up to memory; the thread's, and while opening
 * and closing. */
int dg_auth_read_keys(struct dg_auth *a, struct dg_error *err);
int dg_auth_write_usage(struct dg_auth *a, struct dg_error *err);
/* The thread that does both now and then; arg is the dg_auth. */
void *dg_auth_keep(void *arg);

#endif
