/* For how long a sentence lets others pass that come after it: for twice the time of its own work;
 * and if its request has more work than is usual, as about half of them have, also for 1.6 times
 * what is ahead of it. No clock, no lock: times are arguments. One thread at a time.
 *
 * Why so. The mean time of all requests follows from their number and the engine's speed, whatever
 * the order. To serve the shortest first takes the time that most save from the longest alone, and
 * these wait for seconds; in order of arrival nobody gains. Here the longer half shares the price,
 * each about as much. A request of very many sentences leaves half of the server to others.
 *
 * Example. The usual request has 120 tokens x rows; work for 150 ms is in the server. One of 80,
 * itself worth 4 ms, lets pass who comes within the next 8 ms. One of 300, worth 15 ms, lets pass
 * who comes within 1.6 x 150 + 2 x 15 = 270 ms, and none later. */
#ifndef DG_SERVER_SCHEDULE_PATIENCE_H
#define DG_SERVER_SCHEDULE_PATIENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_patience {
    /* tokens x rows of a request, the newest counting most; 0: none came yet */
    double usual;
};

/* A request comes with so much work. */
void dg_patience_come(struct dg_patience *p, uint64_t work);

/* Has a request several sentences, and clearly more work than is usual? A single sentence, however
 * long, leaves room in the step. */
bool dg_patience_is_large(const struct dg_patience *p, uint64_t work, size_t sentences);

/* work: of the request up to and including the sentence; own_s: what that takes. ahead_s: what all
 * takes that is in the server already. */
uint64_t dg_patience_ns(const struct dg_patience *p, uint64_t work, double ahead_s, double own_s);

#endif
