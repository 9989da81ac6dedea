/* Weights that change during a run: those of the recipe's stages, one factor for each domain. */
#include "trainer/data/dataset_internal.h"

#include "base/alloc.h"
#include "trainer/recipe/recipe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double dg_dataset_weight_now(const struct dg_dataset *d, const struct dg_shard_entry *e)
{
    return (double)e->weight * (d->stages ? d->stages[d->position.stage].factors[e->domain] : 1);
}

double dg_dataset_weight_most(const struct dg_dataset *d, const struct dg_shard_entry *e)
{
    double most = d->stages ? 0 : 1;
    for (size_t i = 0; d->stages && i <= d->o.n_stages; i++)
        most = fmax(most, d->stages[i].factors[e->domain]);
    return (double)e->weight * most;
}

void dg_dataset_use_stage(struct dg_dataset *d)
{
    if (d->stages)
        d->copies = d->stages[d->position.stage].copies;
    d->built = false;
}

bool dg_dataset_enter(struct dg_dataset *d, size_t stage)
{
    if (!d->stages || d->position.stage == stage)
        return false;
    d->position = (struct dg_dataset_position){.epoch = d->position.epoch + 1, .stage = stage};
    dg_dataset_use_stage(d);
    return true;
}

/* Reads the factors of stage i; DG_EINVAL: it names a domain that the folder does not have. */
static int read_factors(
    struct dg_dataset *d, size_t i, const struct dg_json *domains, struct dg_error *err)
{
    double *factors = d->stages[i].factors;
    for (size_t k = 0; k < d->n_domains; k++)
        factors[k] = 1;
    if (i == d->o.n_stages)
        return 0;
    const struct dg_recipe_stage *s = &d->o.stages[i];
    for (size_t w = 0; w < s->n_domain_weights; w++) {
        size_t k = 0;
        while (k < d->n_domains && strcmp(dg_json_string(dg_json_at(domains, k), NULL),
                                       s->domain_weights[w].domain) != 0)
            k++;
        if (k == d->n_domains)
            return dg_error_field(err, DG_EINVAL, "training.stages",
                "training.stages[%zu].domain_weights names the domain \"%s\", which no training "
                "pair has",
                i, s->domain_weights[w].domain);
        factors[k] = s->domain_weights[w].weight;
    }
    return 0;
}

/* Finds the largest weight among each domain's pairs: largest[n_domains]. */
static int find_largest(const struct dg_dataset *d, float *largest, struct dg_error *err)
{
    for (size_t i = 0; i < d->n_shards; i++) {
        const struct dg_shard_entry *e = dg_shard_entries(d->shards[i]);
        const uint64_t n = dg_shard_info(d->shards[i])->sentences;
        for (uint64_t k = 0; k < n; k++) {
            if (e[k].domain >= d->n_domains)
                return dg_error_set(err, DG_EFORMAT, "a pair is of domain %u of %zu",
                    (unsigned)e[k].domain, d->n_domains);
            largest[e[k].domain] = fmaxf(largest[e[k].domain], e[k].weight);
        }
    }
    return 0;
}

/* Computes how many places a pair needs in stage i. */
static int count_copies(struct dg_dataset *d, size_t i, const float *largest, struct dg_error *err)
{
    double most = 0;
    /* Not fmax: gcc 12.2 for 64-bit ARM has an internal error in its vectoriser on it. */
    for (size_t k = 0; k < d->n_domains; k++) {
        const double copies = (double)largest[k] * d->stages[i].factors[k];
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
    d->stages[i].copies = (uint64_t)fmax(ceil(most), 1);
    return 0;
}

int dg_dataset_open_stages(struct dg_dataset *d, const struct dg_prepared *p, struct dg_error *err)
{
    const struct dg_json *domains = dg_json_get(dg_prepared_manifest(p), "domains");
    d->n_domains = dg_json_length(domains);
    d->stages = dg_alloc(d->o.n_stages + 1, sizeof *d->stages, "stages");
    float *largest = dg_alloc(d->n_domains, sizeof *largest, "weights of domains");
    int rc = find_largest(d, largest, err);
    for (size_t i = 0; i <= d->o.n_stages; i++)
        d->stages[i].factors =
            dg_alloc(d->n_domains, sizeof *d->stages[i].factors, "weights of domains");
    for (size_t i = 0; i <= d->o.n_stages && !rc; i++) {
        rc = read_factors(d, i, domains, err);
        if (!rc)
            rc = count_copies(d, i, largest, err);
    }
    free(largest);
    if (rc)
        return rc;
    dg_dataset_make_window(d);
    dg_dataset_use_stage(d);
    return 0;
}
