#include "trainer/update/exchange_device.h"

#include "base/alloc.h"
#include "kernels/team.h"
#include "trainer/data/hash.h"
#include "trainer/update/ranks_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 4 << 20 }; /* floats copied through the host at a time */

struct dg_exchange_device {
    struct dg_worker *w;
    const struct dg_ranks *ranks;
    const struct dg_grad_order *order;
    /* NULL: gradients go through the host */
    struct dg_team *team;
    /* [PIECE]; NULL with a team */
    float *piece;
    /* index of the first range not yet passed to the team in this pass */
    size_t next;
    /* first error of this pass */
    struct dg_error err;
    char what[512];
};

/* Find out whether every rank has NCCL, and check that all have the same version. `why` says what
 * is missing if one has none. */
static int find_team(
    struct dg_exchange_device *x, bool *all_have, struct dg_error *why, struct dg_error *err)
{
    const struct dg_team_ops *ops = x->w->train->ops->team;
    const struct dg_ranks *r = x->ranks;
    uint64_t *have = dg_alloc(r->ranks, sizeof *have, "ranks");
    const int found = ops ? ops->find(x->w->train, x->what, sizeof x->what, why)
                          : dg_error_set(why, DG_EUNSUP, "this device has no NCCL");
    int rc = dg_ranks_gather(r, !found, have, err);
    *all_have = true;
    for (size_t i = 0; i < r->ranks && !rc; i++) {
        if (!have[i] && *all_have && found == DG_OK)
            dg_error_set(why, DG_ENOTFOUND, "rank %zu has no NCCL", i);
        *all_have = *all_have && have[i];
    }
    free(have);
    if (!rc && *all_have)
        rc = dg_ranks_same(r, dg_hash64(x->what, strlen(x->what)), "a version of NCCL", err);
    return rc;
}

static int join_team(struct dg_exchange_device *x, struct dg_error *err)
{
    const struct dg_team_ops *ops = x->w->train->ops->team;
    struct dg_team_options o = {.rank = x->ranks->rank, .ranks = x->ranks->ranks};
    int rc = dg_ranks_device_wait(&o.wait_s, err);
    if (!rc && o.rank == 0)
        rc = ops->key(x->w->train, o.key, err);
    if (!rc)
        rc = dg_ranks_share(x->ranks, o.key, sizeof o.key, err);
    if (!rc)
        rc = ops->join(x->w->train, &o, &x->team, err);
    return rc;
}

static int take_way(struct dg_exchange_device *x, struct dg_error *err)
{
    enum dg_ranks_device_route way;
    struct dg_error why = {0};
    bool have = false;
    int rc = dg_ranks_device_route(&way, err);
    const bool wanted = way == DG_RANKS_AUTO || way == DG_RANKS_NCCL;
    if (!rc && wanted)
        rc = find_team(x, &have, &why, err);
    if (rc)
        return rc;
    if (have)
        return join_team(x, err);
    if (way == DG_RANKS_NCCL)
        return dg_error_set(err, why.code, "DRAGOMAN_RANKS is nccl, but %s", why.message);
    snprintf(x->what, sizeof x->what, "%s through the hosts' memory%s%.400s", x->ranks->what,
        wanted ? ", which is slow: " : "", wanted ? why.message : "");
    x->piece = dg_alloc(PIECE, sizeof *x->piece, "gradients on their way");
    return 0;
}

int dg_exchange_device_open(struct dg_worker *w, const struct dg_ranks *ranks,
    const struct dg_grad_order *order, struct dg_exchange_device **out, struct dg_error *err)
{
    struct dg_exchange_device *x = dg_alloc(1, sizeof *x, "the exchange of gradients");
    x->w = w;
    x->ranks = ranks;
    x->order = order;
    const int rc = take_way(x, err);
    if (rc)
        dg_exchange_device_close(x);
    else
        *out = x;
    return rc;
}

void dg_exchange_device_close(struct dg_exchange_device *x)
{
    if (!x)
        return;
    if (x->team)
        x->w->train->ops->team->leave(x->team);
    free(x->piece);
    free(x);
}

const char *dg_exchange_device_what(const struct dg_exchange_device *x)
{
    return x->what;
}

void dg_exchange_device_begin(struct dg_exchange_device *x)
{
    x->next = 0;
    dg_error_clear(&x->err);
}

void dg_exchange_device_reached(struct dg_exchange_device *x, size_t groups)
{
    const struct dg_grad_order *s = x->order;
    for (; x->team && x->next < s->n && s->list[x->next].group < groups && !x->err.code;
         x->next++) {
        const struct dg_grad_range *part = &s->list[x->next];
        x->w->train->ops->team->add(
            x->team, x->w->grads->data + part->begin, part->end - part->begin, &x->err);
    }
}

/* Sum the whole block through the host, a piece at a time. */
static int through_host(struct dg_exchange_device *x, struct dg_error *err)
{
    struct dg_train *t = x->w->train;
    const struct dg_param_block *grads = x->w->grads;
    int rc = 0;
    for (size_t at = 0; at < grads->n && !rc; at += PIECE) {
        const size_t n = grads->n - at < PIECE ? grads->n - at : PIECE;
        t->ops->block_read(t, grads->data + at, n, x->piece);
        rc = t->be->ops->status(t->be, err);
        if (!rc)
            rc = x->ranks->sum(x->ranks->ctx, x->piece, n, err);
        if (!rc)
            t->ops->block_write(t, grads->data + at, x->piece, n);
    }
    return rc;
}

int dg_exchange_device_finish(struct dg_exchange_device *x, struct dg_error *err)
{
    if (!x->team)
        return through_host(x, err);
    dg_exchange_device_reached(x, x->order->n_groups);
    if (x->err.code)
        return dg_error_set(err, x->err.code, "%s", x->err.message);
    return x->w->train->ops->team->wait(x->team, err);
}
