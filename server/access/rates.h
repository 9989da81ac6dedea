/* Limits requests per address on a server without keys: one bucket each (quota.h), for a fixed
 * number of addresses; the one that has been quiet longest makes room. Any thread. */
#ifndef DG_SERVER_ACCESS_RATES_H
#define DG_SERVER_ACCESS_RATES_H

#include "base/error.h"
#include "server/access/quota.h"

#include <stdbool.h>
#include <stdint.h>

struct dg_rates;

/* per_minute 0: no limit. */
int dg_rates_open(int64_t per_minute, struct dg_rates **out, struct dg_error *err);
void dg_rates_close(struct dg_rates *r); /* NULL is fine */
void dg_rates_set(struct dg_rates *r, int64_t per_minute);
/* Count one request of a client (0: an unidentified client without limit). False: none is left, and
 * *wait_s is the time until the next. */
bool dg_rates_take(struct dg_rates *r, uint64_t client, uint64_t now_ns, int64_t *wait_s);
/* What remains of the client's limit. False: it has none. */
bool dg_rates_left(struct dg_rates *r, uint64_t client, uint64_t now_ns, struct dg_quota_left *out);

#endif
