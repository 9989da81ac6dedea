#include "model/layers/layers.h"

/* The probability with which elements are dropped there. */
static float rate_at(const struct dg_dropouts *d, enum dg_site site)
{
    if (site == DG_SITE_ACT)
        return d->act;
    const bool probs = site == DG_SITE_SELF_PROBS || site == DG_SITE_CROSS_PROBS;
    return probs ? d->attention : d->residual;
}

const struct dg_dropout *dg_dropout_at(const struct dg_dropouts *d, int side, uint32_t layer,
    enum dg_site site, struct dg_dropout *drop)
{
    const float rate = d ? rate_at(d, site) : 0;
    if (rate <= 0)
        return NULL;
    const uint32_t of_layer = dg_dropout_hash(d->step_key, 2 * layer + (uint32_t)side);
    *drop = (struct dg_dropout){rate, dg_dropout_hash(of_layer, (uint32_t)site), d->row_key};
    return drop;
}
