/* A served bundle, open or closed: its manifest is always known, so requests find their model
 * without opening one. Const after open, except the fields that the models' lock guards. Any
 * thread. */
#ifndef DG_SERVER_MODELS_LISTING_H
#define DG_SERVER_MODELS_LISTING_H

#include "base/error.h"
#include "model/config.h"
#include "weights/bundle.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct dg_served;

struct dg_listing {
    /* its manifest, and only the header of its weights */
    struct dg_bundle *bundle;
    struct dg_config config;
    atomic_uint refs;
    /* Guarded by the models' lock. */
    /* referenced; NULL: closed */
    struct dg_served *open;
    /* when it was last opened; 0: never */
    uint64_t opened_ns;
    /* bytes that it took when it was last open; 0: never opened */
    size_t bytes;
    /* to be closed once its requests are over; new ones wait */
    bool leaving;
    /* when an attempt to open it last failed; 0: never */
    uint64_t failed_ns;
    struct dg_error failure;
};

/* List the bundle in dir, closed. The caller gets the one reference. */
int dg_listing_open(const char *dir, struct dg_listing **out, struct dg_error *err);
void dg_listing_ref(struct dg_listing *l);
/* The last reference releases its model, too. NULL is fine. */
void dg_listing_unref(struct dg_listing *l);

#endif
