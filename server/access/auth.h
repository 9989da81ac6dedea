/* The API keys of a running server: who may do what, how fast, how much. Keys and counters are in
 * memory. A separate thread reads changes of the file (each second) and writes usage (every few
 * seconds, and at the end), so that no request waits for a disk. Servers that share a file share
 * the day's limits to within those seconds, but not the rates. No HTTP here. Any thread. */
#ifndef DG_SERVER_ACCESS_AUTH_H
#define DG_SERVER_ACCESS_AUTH_H

#include "base/error.h"
#include "server/access/quota.h"
#include "store/keys.h"

#include <stdbool.h>
#include <stdint.h>

struct dg_auth;
struct dg_auth_key; /* lives as long as the dg_auth, also when it is revoked */

enum dg_auth_verdict {
    DG_AUTH_OK,
    DG_AUTH_MISSING, /* no key was sent */
    DG_AUTH_UNKNOWN, /* unknown or revoked */
    DG_AUTH_EXPIRED, /* its time is over */
    DG_AUTH_SCOPE,   /* it may not do this */
    DG_AUTH_RATE,    /* too many requests this minute */
    DG_AUTH_QUOTA,   /* the day's characters are used up */
    DG_AUTH_VERDICTS
};

/* Read the keys at path; fails when there are none to be read. */
int dg_auth_open(const char *path, struct dg_auth **out, struct dg_error *err);
/* Write the usage and stop. NULL is fine. */
void dg_auth_close(struct dg_auth *a);

/* May the sender of secret (NULL: none was sent) do something that needs scope (one bit, or any of
 * several)? OK counts as a request. Otherwise *wait_s says when to try again, if that helps. *key
 * is the key of the secret, also for a refusal; NULL: unknown. */
enum dg_auth_verdict dg_auth_enter(struct dg_auth *a, const char *secret, unsigned scope,
    struct dg_auth_key **key, int64_t *wait_s);

/* Charge n characters to today's quota, all or nothing; *day is the day charged. */
enum dg_auth_verdict dg_auth_use(
    struct dg_auth *a, struct dg_auth_key *key, int64_t n, int64_t *day);
/* Give n characters back to that day: their request failed. */
void dg_auth_give_back(struct dg_auth *a, struct dg_auth_key *key, int64_t day, int64_t n);

/* Find a key by its id, also a revoked one; NULL: there is none. */
const struct dg_auth_key *dg_auth_find(struct dg_auth *a, const char *id);
const char *dg_auth_id(const struct dg_auth_key *key);
int64_t dg_auth_daily_limit(struct dg_auth *a, const struct dg_auth_key *key);
/* Characters used today. */
int64_t dg_auth_used(struct dg_auth *a, struct dg_auth_key *key);
/* Expiry, in seconds since the epoch; 0: never. */
int64_t dg_auth_expires(struct dg_auth *a, const struct dg_auth_key *key);
/* What remains of the key's limits, in out; returns how many limits it has. */
#define DG_AUTH_LIMITS 2
size_t dg_auth_left(
    struct dg_auth *a, struct dg_auth_key *key, struct dg_quota_left out[DG_AUTH_LIMITS]);

struct dg_auth_counts {
    /* keys that are not revoked */
    uint64_t keys;
    uint64_t refused[DG_AUTH_VERDICTS];
    /* times the file could not be read or written */
    uint64_t store_errors;
};
void dg_auth_count(struct dg_auth *a, struct dg_auth_counts *out);

#endif
