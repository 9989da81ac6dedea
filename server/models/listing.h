/* A served bundle, open or closed: its manifest is always known, so requests find their model
 * without opening one. Const after open, except the fields that the models' lock guards. Any
 * thread. */
#ifndef DG_SERVER_MODELS_LISTING_H
#define DG_SERVER_MODELS_LISTING_H

#include "base/error.h"
#include "model/config.h"
#include "server/models/languages.h"
#include "weights/bundle.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct dg_served;

/* A pair of a source language. */
struct dg_listing_pair {
    /* indexes of the target language, and of the pair in the bundle */
    uint32_t target, at;
};

struct dg_listing {
    /* its manifest, and only the header of its weights */
    struct dg_bundle *bundle;
    struct dg_config config;
    /* [dg_bundle_languages] their codes in canonical form */
    char (*codes)[DG_LANGUAGE_MAX];
    /* [dg_bundle_pairs] by source language, in the bundle's order */
    struct dg_listing_pair *pairs;
    /* [dg_bundle_languages + 1] index of each language's first pair: its pairs end where the next
     * one's begin. A model of two hundred languages has forty thousand pairs, and each request
     * looks for one. */
    uint32_t *first;
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
