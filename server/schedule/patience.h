/* How long a sentence lets later arrivals go before it: twice the time of its own work; and if its
 * request has more work than usual, as about half of them have, also 1.6 times the time of the work
 * ahead of it. No clock, no lock: times are arguments. One thread at a time.
 *
 * Why. The mean time of all requests follows from their number and the engine's speed, whatever the
 * order. Serving the shortest first takes all that most requests save from the few longest, which
 * then wait for seconds; in order of arrival nobody gains. Here the longer half shares the price,
 * each request about as much. A request of very many sentences leaves half of the server to others.
 *
 * Example. The usual request has 120 tokens x rows; the server has work for 150 ms. A request of
 * 80, which takes 4 ms itself, goes after those that arrive within the next 8 ms. One of 300, which
 * takes 15 ms, goes after those that arrive within 1.6 x 150 + 2 x 15 = 270 ms, and no later ones.
 */
#ifndef DG_SERVER_SCHEDULE_PATIENCE_H
#define DG_SERVER_SCHEDULE_PATIENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_patience {
    /* mean tokens x rows of a request, the newest counting most; 0: none came yet */
    double usual;
};

/* Record a request with this much work. */
void dg_patience_come(struct dg_patience *p, uint64_t work);

/* True if a request has several sentences and clearly more work than usual. A single sentence,
 * however long, leaves room in the step. */
bool dg_patience_is_large(const struct dg_patience *p, uint64_t work, size_t sentences);

/* The patience of a sentence. work: of its request up to and including it; own_s: seconds for that
 * work; ahead_s: seconds for all work already in the server. */
uint64_t dg_patience_ns(const struct dg_patience *p, uint64_t work, double ahead_s, double own_s);

#endif
