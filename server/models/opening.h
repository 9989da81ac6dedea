/* Opens bundles when a request first needs them. Together they may take --model-memory: the one
 * that has been idle longest is closed for another, one that a request uses is never closed, and if
 * all are in use the next request waits. A request asks for all its models at once and gets them at
 * once; only the first in line holds models while it waits for others.
 *
 * One bundle is opened at a time, on the executor, for all requests that wait for it. Requests
 * whose models are open overtake those that wait; so that the waiting ones get their turn, the
 * bundles that have been open longest take no new requests after a while. Any thread. */
#ifndef DG_SERVER_MODELS_OPENING_H
#define DG_SERVER_MODELS_OPENING_H

#include "base/error.h"
#include "server/models/listing.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_models;

#define DG_OPENING_MAX 2 /* models of one request: one for each hop */

/* One request for models. All but the first part is zeroed; it must not move while it waits. */
struct dg_opening {
    /* [n], borrowed */
    struct dg_listing *listings[DG_OPENING_MAX];
    /* [n] where to put their models, referenced. The caller releases those that are not NULL, also
     * if the request failed or was cancelled */
    struct dg_served **models[DG_OPENING_MAX];
    size_t n;
    /* not 0: the request has ended and must not wait */
    const atomic_int *ended;
    /* Called when the wait is over: any thread, once, no lock held. */
    void (*ready)(void *arg);
    void *arg;
    /* set if it cannot have all of them */
    struct dg_error *err;
    uint64_t since_ns;
    struct dg_opening *next;
};

/* Take its models. True: it has them, or err says why it cannot. False: they must be opened. */
bool dg_opening_try(struct dg_models *m, struct dg_opening *o);
/* Have them opened; ready will be called, perhaps before this returns. */
void dg_opening_begin(struct dg_models *m, struct dg_opening *o);
/* Stop waiting. True: it was waiting, and ready will not be called. */
bool dg_opening_cancel(struct dg_models *m, struct dg_opening *o);
/* Record that a request has finished with a model, which is idle from now on unless others use it.
 * NULL is fine. */
void dg_opening_done(struct dg_served *s);

/* Tell waiting and later requests that the server is stopping. NULL is fine. */
void dg_opening_stop(struct dg_models *m);

struct dg_opening_counts {
    uint64_t opened, closed, failed;
    /* waiting requests */
    size_t waiting;
    /* bytes of open bundles; and the limit of that, 0: none */
    size_t bytes, most_bytes;
};
void dg_opening_count(struct dg_models *m, struct dg_opening_counts *out);

#endif
