#include "trainer/align/guided.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

void dg_guided_deinit(struct dg_guided *g)
{
    free(g->links);
    free(g->first);
    *g = (struct dg_guided){0};
}

void dg_guided_pack(struct dg_guided *g, const struct dg_dataset *d, struct dg_micro_batch *pairs)
{
    size_t total = 0, n;
    for (size_t i = 0; i < pairs->n; i++) {
        dg_dataset_links(d, pairs->index[i], &n);
        total += n;
    }
    g->first = dg_alloc_grow(
        g->first, pairs->n + 1, &g->cap_first, sizeof *g->first, "a micro-batch's links");
    g->links = dg_alloc_grow(g->links, total, &g->cap, sizeof *g->links, "a micro-batch's links");
    total = 0;
    for (size_t i = 0; i < pairs->n; i++) {
        const struct dg_link *links = dg_dataset_links(d, pairs->index[i], &n);
        g->first[i] = total;
        if (n)
            memcpy(g->links + total, links, n * sizeof *links);
        total += n;
    }
    g->first[pairs->n] = total;
    pairs->links = g->links;
    pairs->first_link = g->first;
}

bool dg_guided_of(const struct dg_recipe *r, const struct dg_config *c, struct dg_guidance *out)
{
    const struct dg_recipe_guided *g = &r->guided;
    if (!dg_recipe_guides(r))
        return false;
    const uint32_t last_but_one = c->dec_layers > 1 ? c->dec_layers - 1 : 1;
    *out = (struct dg_guidance){.layer = (g->layer ? g->layer : last_but_one) - 1,
        .head = g->head ? g->head - 1 : 0,
        .n_heads = g->head ? 1 : c->H,
        .weight = (float)g->weight};
    return true;
}

int dg_guided_check(const struct dg_recipe *r, const struct dg_config *c, const struct dg_train *t,
    struct dg_error *err)
{
    struct dg_guidance g;
    if (!dg_guided_of(r, c, &g))
        return 0;
    if (g.layer >= c->dec_layers)
        return dg_error_field(err, DG_EINVAL, "guided_alignment.layer",
            "guided_alignment.layer is %u, the model has %u decoder layers", g.layer + 1,
            c->dec_layers);
    if (g.head >= c->H)
        return dg_error_field(err, DG_EINVAL, "guided_alignment.head",
            "guided_alignment.head is %u, the model has %u heads", g.head + 1, c->H);
    if (!t->ops->guides)
        return dg_error_field(err, DG_EUNSUP, "guided_alignment.weight",
            "guided_alignment.weight is %g, and %s has no guided alignment: train on a CPU, or set "
            "it to 0",
            r->guided.weight, t->be->ops->device);
    return 0;
}
