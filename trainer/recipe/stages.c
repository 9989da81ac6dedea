/* The stages of a run (training.stages): domain weights that change at given updates. Also checks
 * the labels that are given weights. */
#include "trainer/recipe/internal.h"

#include "base/alloc.h"

#include <stdio.h>
#include <string.h>

/* True if training pairs can have the label; also if files of labels, which are not read yet, may
 * contain it, and if there are no pairs yet. */
static bool may_be_there(const struct dg_recipe *r, const char *domain)
{
    bool known = r->variants.words > 0 && !strcmp(domain, "words");
    for (size_t i = 0; i < r->data.n_pairs; i++)
        for (size_t k = 0; k < r->data.pairs[i].n_train; k++) {
            const struct dg_recipe_file *f = &r->data.pairs[i].train[k];
            known = known || f->domains[0] || !strcmp(f->domain, domain);
        }
    return known || !r->data.n_pairs;
}

/* Checks that training pairs can have these labels. `name`: the field, in messages. */
static int check_labels(const struct dg_recipe *r, const char *name,
    const struct dg_recipe_weight *weights, size_t n, struct dg_error *err)
{
    for (size_t k = 0; k < n; k++)
        if (!may_be_there(r, weights[k].domain))
            return dg_error_field(err, DG_EINVAL, name,
                "%s names the domain \"%s\", which no training file of data.pairs has", name,
                weights[k].domain);
    return DG_OK;
}

/* A stage's factors multiply data.domain_weights: a domain that has 0 there is not prepared, and no
 * stage can bring it back. */
static int check_factors(const struct dg_recipe *r, const char *name,
    const struct dg_recipe_stage *s, struct dg_error *err)
{
    for (size_t k = 0; k < s->n_domain_weights; k++)
        if (s->domain_weights[k].weight > 0 &&
            dg_recipe_domain_weight(r, s->domain_weights[k].domain) <= 0)
            return dg_error_field(err, DG_EINVAL, name,
                "%s multiplies the weight of \"%s\", which data.domain_weights sets to 0: give "
                "it a weight there, and 0 in the stages that leave it out",
                name, s->domain_weights[k].domain);
    return DG_OK;
}

static int read_stage(struct dg_recipe *r, const struct dg_json *v, size_t i, size_t n,
    struct dg_recipe_stage *s, struct dg_error *err)
{
    static const char *const allowed[] = {"until_update", "domain_weights", NULL};
    const int64_t before = i ? s[-1].until_update : 0;
    char name[64], weights[96];
    snprintf(name, sizeof name, "training.stages[%zu]", i);
    snprintf(weights, sizeof weights, "%s.domain_weights", name);
    s->until_update = i + 1 == n ? INT64_MAX : 0;
    int rc = dg_json_only(v, name, allowed, err);
    if (!rc)
        rc = dg_json_field_int(v, name, "until_update", 1, INT64_MAX, &s->until_update, err);
    if (!rc && !s->until_update)
        rc = dg_error_field(err, DG_EINVAL, name,
            "%s.until_update is missing: only the last stage may last to the end", name);
    if (!rc && s->until_update <= before)
        rc = dg_error_field(err, DG_EINVAL, name,
            "%s.until_update is %lld, must be more than the stage before it has (%lld)", name,
            (long long)s->until_update, (long long)before);
    if (!rc)
        rc = dg_recipe_weights_read(r, dg_json_get(v, "domain_weights"), weights,
            &s->domain_weights, &s->n_domain_weights, err);
    if (!rc)
        rc = check_labels(r, weights, s->domain_weights, s->n_domain_weights, err);
    return rc ? rc : check_factors(r, weights, s, err);
}

int dg_recipe_stages_read(const struct dg_json *training, struct dg_recipe *r, struct dg_error *err)
{
    const struct dg_json *list = dg_json_get(training, "stages");
    struct dg_recipe_training *t = &r->training;
    int rc = check_labels(
        r, "data.domain_weights", r->data.domain_weights, r->data.n_domain_weights, err);
    if (rc || !list)
        return rc;
    if (dg_json_typeof(list) != DG_JSON_ARRAY)
        return dg_error_field(err, DG_EINVAL, "training.stages",
            "training.stages must be an array, not %s", dg_json_type_name(dg_json_typeof(list)));
    t->n_stages = dg_json_length(list);
    t->stages = dg_alloc_arena(&r->arena, t->n_stages, sizeof *t->stages);
    for (size_t i = 0; i < t->n_stages && !rc; i++)
        rc = read_stage(r, dg_json_at(list, i), i, t->n_stages, &t->stages[i], err);
    return rc;
}

struct dg_json *dg_recipe_stages_write(const struct dg_recipe *r)
{
    struct dg_json *list = dg_json_new_array();
    for (size_t i = 0; i < r->training.n_stages; i++) {
        const struct dg_recipe_stage *s = &r->training.stages[i];
        struct dg_json *o = dg_json_new_object();
        if (s->until_update < INT64_MAX)
            dg_json_set_int(o, "until_update", s->until_update);
        dg_json_set_take(
            o, "domain_weights", dg_recipe_weights_write(s->domain_weights, s->n_domain_weights));
        dg_json_append_take(list, o);
    }
    return list;
}

size_t dg_recipe_stage_of(const struct dg_recipe *r, int64_t update)
{
    size_t i = 0;
    while (i < r->training.n_stages && r->training.stages[i].until_update < update)
        i++;
    return i;
}
