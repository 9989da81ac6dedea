#include "server/models/listing.h"

#include "server/models/models.h"

#include <stdlib.h>

int dg_listing_open(const char *dir, struct dg_listing **out, struct dg_error *err)
{
    struct dg_listing *l = calloc(1, sizeof *l);
    if (!l)
        return dg_error_set(err, DG_ENOMEM, "no memory for a bundle");
    atomic_init(&l->refs, 1);
    int rc = dg_bundle_open(dir, &l->bundle, err);
    if (rc == DG_OK && (rc = dg_config_read(dg_bundle_manifest(l->bundle), &l->config, err)))
        dg_error_prefix(err, "%s", dir);
    if (rc != DG_OK) {
        dg_listing_unref(l);
        return rc;
    }
    dg_bundle_forget_weights(l->bundle);
    *out = l;
    return DG_OK;
}

void dg_listing_ref(struct dg_listing *l)
{
    atomic_fetch_add(&l->refs, 1);
}

void dg_listing_unref(struct dg_listing *l)
{
    if (!l || atomic_fetch_sub(&l->refs, 1) != 1)
        return;
    dg_served_unref(l->open);
    dg_bundle_close(l->bundle);
    free(l);
}
