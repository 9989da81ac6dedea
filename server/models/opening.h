/* Bundles opened when a request first needs them. Open ones may take --model-memory together: the
 * one that has been idle longest is closed for another, one that a request has is never closed, and
 * where all are in use the next request waits. A request asks for all its models at once and gets
 * them at once, so none holds a model while it waits for another.
 *
 * One bundle is opened at a time, on the executor, for all requests that wait for it. Requests
 * whose models are open pass those that wait; so that these come to their turn, a bundle that has
 * been open longest takes no new requests after a while. Any thread. */
#ifndef DG_SERVER_MODELS_OPENING_H
#define DG_SERVER_MODELS_OPENING_H

#include "base/error.h"
#include "server/models/listing.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dg_models;

#define DG_OPENING_MAX 2 /* models of one request: the hops of its way */

/* Who asks, and what for. Zeroed but for the first part; kept in place while it waits. */
struct dg_opening {
    /* [n], borrowed */
    struct dg_listing *listings[DG_OPENING_MAX];
    size_t n;
    /* not 0: the wait has ended. Or NULL */
    const atomic_int *ended;
    /* It waits no longer: any thread, once, no lock held. */
    void (*ready)(void *arg);
    void *arg;
    /* The result. */
    /* [n], each referenced */
    struct dg_served *models[DG_OPENING_MAX];
    /* why there are none */
    struct dg_error err;
    uint64_t since_ns;
    struct dg_opening *next;
};

/* True: its models are open, or err has the reason. False: ready will be called. */
bool dg_opening_begin(struct dg_models *m, struct dg_opening *o);
/* The same, but false means that they are not open, and nothing was begun. */
bool dg_opening_try(struct dg_models *m, struct dg_opening *o);
/* True: it waited, and ready will not be called. */
bool dg_opening_cancel(struct dg_models *m, struct dg_opening *o);
/* A request has finished with a model: it is idle from now on unless others use it. */
void dg_opening_done(struct dg_served *s);

/* Waiting and later requests are told that the server stops. */
void dg_opening_stop(struct dg_models *m);

struct dg_opening_counts {
    uint64_t opened, closed, failed;
    /* requests */
    size_t waiting;
    /* of open bundles; that they may take, 0: any number */
    size_t bytes, most_bytes;
};
void dg_opening_count(struct dg_models *m, struct dg_opening_counts *out);

#endif
