/* How much a key may use: a bucket of requests that refills with time, and a day's characters.
 * Pure: the time is passed in. Plain data: any thread, under the
 * caller's lock. */
#ifndef DG_SERVER_ACCESS_QUOTA_H
#define DG_SERVER_ACCESS_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

/* Requests that may come now. Full at first: a minute's worth may come at once. */
struct dg_bucket {
    /* 0 .. per_minute */
    double filled;
    /* when it held that; 0: never used */
    uint64_t at_ns;
};

/* Take one request; false: none is left, and *wait_s is the time until the next. per_minute 0: no
 * limit. */
bool dg_quota_take(struct dg_bucket *b, int64_t per_minute, uint64_t now_ns, int64_t *wait_s);

/* A limit, and what remains of it. */
struct dg_quota_left {
    /* "requests", "characters" */
    const char *name;
    int64_t limit;
    /* its period in seconds */
    int64_t window_s;
    int64_t left;
    /* seconds until it is full again */
    int64_t reset_s;
};
struct dg_quota_left dg_quota_bucket_left(
    const struct dg_bucket *b, int64_t per_minute, uint64_t now_ns);

/* Do n more fit when `used` of limit are used? limit 0: always. */
bool dg_quota_fits(int64_t used, int64_t n, int64_t limit);

#endif
