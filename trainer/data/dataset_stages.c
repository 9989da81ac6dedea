/* Weights that change during a run: those of the recipe's stages, one factor for each domain. */
#include "trainer/data/dataset_internal.h"

#include "base/alloc.h"
#include "trainer/recipe/recipe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double factor(const struct dg_dataset_stage *s, const struct dg_shard_entry *e)
{
    return s->factors ? s->factors[e->domain] : 1;
}

double dg_dataset_weight_now(const struct dg_dataset *d, const struct dg_shard_entry *e)
{
    return (double)e->weight * factor(&d->stages[d->position.stage], e);
}

double dg_dataset_weight_most(const struct dg_dataset *d, const struct dg_shard_entry *e)
{
    double most = 0;
    for (size_t i = 0; i <= d->o.n_stages; i++)
        most = fmax(most, factor(&d->stages[i], e));
    return (double)e->weight * most;
}

bool dg_dataset_enter(struct dg_dataset *d, size_t stage)
{
    if (d->position.stage == stage)
        return false;
    d->position = (struct dg_dataset_position){.epoch = d->position.epoch + 1, .stage = stage};
    d->built = false;
    return true;
}

/* Sets factors[n] to those of stage i; DG_EINVAL: it names a domain that the folder does not
 * have. */
static int read_factors(const struct dg_recipe_stage *s, size_t i, const struct dg_json *domains,
    double *factors, struct dg_error *err)
{
    const size_t n = dg_json_length(domains);
    for (size_t k = 0; k < n; k++)
        factors[k] = 1;
    for (size_t w = 0; w < s->n_domain_weights; w++) {
        size_t k = 0;
        while (k < n && strcmp(dg_json_string(dg_json_at(domains, k), NULL),
                            s->domain_weights[w].domain) != 0)
            k++;
        if (k == n)
            return dg_error_field(err, DG_EINVAL, "training.stages",
                "training.stages[%zu].domain_weights names the domain \"%s\", which no training "
                "pair has",
                i, s->domain_weights[w].domain);
        factors[k] = s->domain_weights[w].weight;
    }
    return 0;
}

/* Finds the largest weight among each domain's pairs: largest[n]. */
static int find_largest(const struct dg_dataset *d, float *largest, size_t n, struct dg_error *err)
{
    for (size_t i = 0; i < d->n_shards; i++) {
        const struct dg_shard_entry *e = dg_shard_entries(d->shards[i]);
        const uint64_t sentences = dg_shard_info(d->shards[i])->sentences;
        for (uint64_t k = 0; k < sentences; k++) {
            if (e[k].domain >= n)
                return dg_error_set(
                    err, DG_EFORMAT, "a pair is of domain %u of %zu", (unsigned)e[k].domain, n);
            largest[e[k].domain] = fmaxf(largest[e[k].domain], e[k].weight);
        }
    }
    return 0;
}

/* Computes how many places a pair needs in stage i; largest[n]. */
static int count_copies(
    struct dg_dataset_stage *s, size_t i, const float *largest, size_t n, struct dg_error *err)
{
    double most = 0;
    /* Not fmax: gcc 12.2 for 64-bit ARM has an internal error in its vectoriser on it. */
    for (size_t k = 0; k < n; k++) {
        const double copies = (double)largest[k] * s->factors[k];
        if (copies > most)
            most = copies;
    }
    if (most <= 0)
        return dg_error_field(err, DG_EINVAL, "training.stages",
            "training.stages[%zu].domain_weights leaves no training pair any weight", i);
    if (most > DG_DATASET_MAX_COPIES)
        return dg_error_field(err, DG_EINVAL, "training.stages",
            "training.stages[%zu].domain_weights gives a pair the weight %g, at most %d", i, most,
            DG_DATASET_MAX_COPIES);
    s->copies = (uint64_t)fmax(ceil(most), 1);
    return 0;
}

int dg_dataset_open_stages(struct dg_dataset *d, const struct dg_recipe_stage *stages, size_t n,
    const struct dg_prepared *p, struct dg_error *err)
{
    const struct dg_json *domains = dg_json_get(dg_prepared_manifest(p), "domains");
    const size_t n_domains = dg_json_length(domains);
    const struct dg_dataset_stage own = d->stages[0];
    float *largest = dg_alloc(n_domains, sizeof *largest, "weights of domains");
    free(d->stages);
    d->stages = dg_alloc(n + 1, sizeof *d->stages, "stages");
    d->o.n_stages = n;
    d->stages[n] = own;
    int rc = find_largest(d, largest, n_domains, err);
    for (size_t i = 0; i < n && !rc; i++) {
        struct dg_dataset_stage *s = &d->stages[i];
        s->factors = dg_alloc(n_domains, sizeof *s->factors, "weights of domains");
        rc = read_factors(&stages[i], i, domains, s->factors, err);
        if (!rc)
            rc = count_copies(s, i, largest, n_domains, err);
    }
    free(largest);
    if (!rc)
        dg_dataset_make_window(d);
    return rc;
}
