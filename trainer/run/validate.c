/* Measures a run: loss on the dev sets by the training's own forward pass, BLEU and chrF of
 * translations by the server's search. */
#include "trainer/run/internal.h"

#include "base/alloc.h"
#include "trainer/score/evaluate.h"
#include "trainer/run/export.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The parameters to validate and export: averaged ones if the recipe keeps them. */
static struct dg_param_block *best_params(struct dg_run *r)
{
    struct dg_train *t = r->workers->w[0].train;
    const float *ema = r->optimizer->ema;
    if (!r->averaged)
        return r->workers->params;
    t->ops->sum(t, &ema, 1, r->averaged->data, r->averaged->n);
    return r->averaged;
}

static void sample(void *arg, const char *source, const char *reference, const char *translation)
{
    struct dg_run *r = arg;
    struct dg_error ignored = {0};
    dg_trainlog_sample(
        r->log, (int64_t)r->optimizer->step, source, reference, translation, &ignored);
}

static struct dg_calibrate_set set_of(const struct dg_run *r, const struct dg_prepared_set *set)
{
    const struct dg_recipe_direction *d = &r->recipe->data.directions[set->direction];
    return (struct dg_calibrate_set){
        set->source_text, set->target_text, d->source_lang, d->target_lang};
}

/* Translate a set with the bundle just written. */
static int translate_set(struct dg_run *r, const struct dg_prepared_set *set,
    struct dg_evaluated *out, struct dg_error *err)
{
    struct dg_evaluate_text o = {.bundle = r->validation_dir,
        .set = set_of(r, set),
        .lines = (uint64_t)r->recipe->validation.lines,
        .threads = (int)r->plan.threads, /* on the CPU, whatever device trains */
        .alpha = -1,
        .samples = (uint64_t)r->recipe->validation.samples,
        .sample = sample,
        .arg = r,
        .stop = r->o->stop};
    return dg_evaluate_text(&o, out, err);
}

static int write_bundle(struct dg_run *r, const struct dg_param_block *params, struct dg_error *err)
{
    struct dg_crew_host_block host;
    int rc = dg_crew_host_block(params->train, params->data, params->n, &host, err);
    struct dg_export e = {.dir = r->validation_dir,
        .recipe = r->recipe,
        .prepared_dir = r->prepared_dir,
        .prepared = r->prepared,
        .config = &r->config,
        .params = host.data,
        .full_precision = true};
    if (!rc)
        rc = dg_export(&e, err);
    free(host.copy);
    return rc;
}

int dg_run_dev_loss(
    struct dg_run *r, struct dg_params *params, struct dg_loss_sums *all, struct dg_error *err)
{
    const struct dg_prepared_set *set;
    *all = (struct dg_loss_sums){0};
    for (size_t i = 0; (set = dg_prepared_set(r->prepared, "dev", i)); i++) {
        struct dg_loss_sums sums;
        const struct dg_evaluate_set es = {.prepared_dir = r->prepared_dir,
            .name = set->name,
            .label_smoothing = r->recipe->training.label_smoothing,
            .micro_tokens = r->plan.micro_tokens,
            .stop = r->o->stop};
        int rc = dg_evaluate_loss(r->workers, params, &es, &sums, err);
        if (rc)
            return rc;
        dg_crew_add_sums(all, &sums);
    }
    return 0;
}

/* Loss over all dev sets together; BLEU and chrF as the mean over them. */
static int measure(struct dg_run *r, struct dg_trainlog_valid *v, struct dg_error *err)
{
    struct dg_param_block *params = best_params(r);
    struct dg_loss_sums all = {0};
    const size_t n = dg_prepared_sets(r->prepared, "dev");
    int rc = write_bundle(r, params, err);
    if (!rc)
        rc = dg_run_dev_loss(r, &params->params, &all, err);
    v->bleu = v->chrf = 0;
    for (size_t i = 0; i < n && !rc; i++) {
        struct dg_evaluated e;
        rc = translate_set(r, dg_prepared_set(r->prepared, "dev", i), &e, err);
        v->bleu += dg_bleu_score(&e.bleu) / (double)n;
        v->chrf += dg_chrf_score(&e.chrf) / (double)n;
        v->seconds += e.seconds;
    }
    if (!rc) {
        v->loss = all.smoothed / (double)all.n;
        v->nll = all.nll / (double)all.n;
    }
    return rc;
}

int dg_run_validate(struct dg_run *r, float *score, struct dg_error *err)
{
    struct dg_trainlog_valid v = {
        .update = (int64_t)r->optimizer->step, .bleu_signature = dg_bleu_signature()};
    struct dg_error failure = {0};
    int rc = measure(r, &v, &failure);
    if (rc)
        return dg_error_set(err, rc, "validation: %s", failure.message);
    *score = (float)(r->recipe->training.stop_metric == DG_STOP_LOSS ? -v.nll : v.bleu);
    rc = dg_trainlog_valid(r->log, &v, err);
    return rc ? rc : dg_checkpoint_dir_score(r->keeper, r->optimizer->step, *score, err);
}

struct dg_calibrate_set *dg_run_dev_sets(const struct dg_run *r, size_t *n)
{
    *n = dg_prepared_sets(r->prepared, "dev");
    struct dg_calibrate_set *sets = dg_alloc(*n, sizeof *sets, "sets");
    for (size_t i = 0; i < *n; i++)
        sets[i] = set_of(r, dg_prepared_set(r->prepared, "dev", i));
    return sets;
}

int dg_run_scores(
    const struct dg_run *r, const char *kind, struct dg_json *all, struct dg_error *err)
{
    const struct dg_prepared_set *set;
    for (size_t i = 0; (set = dg_prepared_set(r->prepared, kind, i)); i++) {
        struct dg_evaluated e;
        const struct dg_evaluate_text o = {.bundle = r->bundle_dir,
            .set = set_of(r, set),
            .threads = (int)r->recipe->training.threads,
            .alpha = -1,
            .score = true,
            .stop = r->o->stop};
        int rc = dg_evaluate_text(&o, &e, err);
        if (rc)
            return rc;
        struct dg_json *s = dg_json_new_object();
        char name[80];
        snprintf(name, sizeof name, "%s %s-%s", set->name, o.set.source_lang, o.set.target_lang);
        dg_json_set_string(s, "set", name);
        dg_json_set_int(s, "lines", (int64_t)e.lines);
        dg_json_set_real(s, "bleu", dg_bleu_score(&e.bleu));
        dg_json_set_real(s, "chrf", dg_chrf_score(&e.chrf));
        dg_json_set_real(s, "perplexity", exp(e.nll / (double)e.pieces));
        dg_json_set_string(s, "signature", dg_bleu_signature());
        dg_json_append_take(all, s);
    }
    return 0;
}
