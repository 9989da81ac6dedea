/* The end of a run, and the verb `average`: mean of checkpoints -> bundle, scored, with a card. */
#include "trainer/run/internal.h"

#include "base/alloc.h"
#include "base/file.h"
#include "trainer/run/average.h"
#include "trainer/run/bundle_list.h"
#include "trainer/run/bundle_settings.h"
#include "trainer/run/export.h"
#include "trainer/run/provenance.h"
#include "trainer/run/winner.h"
#include "trainer/score/calibrate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The checkpoints that an average takes. */
struct choice {
    uint64_t *steps;
    size_t n;
    /* their name in the manifest, e.g. "last checkpoints" */
    const char *averaged;
    /* NULL: not compared with other weights */
    struct dg_json *comparisons;
};

static int choose(const struct dg_checkpoint_dir *k, size_t n, bool best, struct choice *out,
    struct dg_error *err)
{
    out->steps = dg_alloc(n + 1, sizeof *out->steps, "checkpoints");
    out->averaged = best ? "best checkpoints" : "last checkpoints";
    out->n =
        best ? dg_checkpoint_dir_best(k, n, out->steps) : dg_checkpoint_dir_last(k, n, out->steps);
    return out->n ? 0
                  : dg_error_set(err, DG_ENOTFOUND, "there is no %scheckpoint in %s",
                        best ? "validated " : "", k->dir);
}

static struct dg_json *comparisons_json(const struct dg_winner *w)
{
    struct dg_json *all = dg_json_new_array();
    for (size_t i = 0; i < w->n; i++) {
        struct dg_json *o = dg_json_new_object();
        dg_json_set_string(o, "weights", w->trials[i].name);
        dg_json_set_real(o, "perplexity", w->trials[i].perplexity);
        dg_json_append_take(all, o);
    }
    return all;
}

/* If the recipe asks for it, there is a dev set and the run has just trained: choose the best of
 * the mean, the newest checkpoint alone and the best checkpoint alone. Overwrites the workers'
 * parameters. */
static int compare(struct dg_run *r, struct choice *c, struct dg_error *err)
{
    static const char *const alone[] = {"newest checkpoint", "best checkpoint"};
    struct dg_winner w;
    if (!r->workers || !r->recipe->training.average_compare ||
        !dg_prepared_sets(r->prepared, "dev"))
        return 0;
    int rc = dg_winner_choose(r, c->steps, c->n, &w, err);
    if (rc)
        return rc;
    const struct dg_winner_trial *best = &w.trials[w.chosen];
    if (w.n > 1)
        c->comparisons = comparisons_json(&w);
    for (size_t i = 0; i < w.n && w.n > 1; i++)
        dg_trainlog_say(r->log, "%-6s perplexity on dev %.3f%s", w.trials[i].name,
            w.trials[i].perplexity, i == w.chosen ? "  <- the bundle" : "");
    if (w.chosen) {
        c->averaged = alone[strcmp(best->name, "best") == 0];
        c->n = best->n;
        memcpy(c->steps, best->steps, best->n * sizeof *c->steps);
    }
    return 0;
}

/* The manifest's "training": where the weights come from. NULL when out of memory. */
static struct dg_json *provenance(
    const struct dg_run *r, const struct choice *c, const struct dg_checkpoint *newest)
{
    const struct dg_prepared *p = r->prepared;
    const char *begun_from = dg_json_string(dg_json_get(r->origin, "init"), NULL);
    struct dg_json *o = dg_json_new_object(), *steps = dg_json_new_array();
    char date[32] = "";
    time_t now = time(NULL);
    struct tm tm;
    if (gmtime_r(&now, &tm))
        strftime(date, sizeof date, "%Y-%m-%d", &tm);
    dg_json_set_string(o, "program", "dragoman-train " DG_VERSION);
    dg_json_set_string(o, "date", date);
    if (begun_from)
        dg_json_set_string(o, "begun_from", begun_from);
    dg_json_set_int(o, "updates", (int64_t)newest->state.step);
    dg_json_set_real(o, "hours", newest->state.seconds / 3600);
    dg_json_set_string(o, "backend", newest->state.backend);
    dg_json_set_int(o, "threads", (int64_t)newest->state.threads);
    dg_json_set_string(o, "averaged", c->averaged);
    if (c->comparisons)
        dg_json_set_take(o, "compared", dg_json_copy(c->comparisons));
    for (size_t i = 0; i < c->n; i++)
        dg_json_append_take(steps, dg_json_new_int((int64_t)c->steps[i]));
    dg_json_set_take(o, "checkpoints", steps);
    dg_json_set_string(o, "data_hash", dg_prepared_hash(p));
    dg_json_set_take(o, "counts",
        dg_json_copy(dg_json_get(dg_json_get(dg_prepared_manifest(p), "counts"), "total")));
    if (dg_json_set_take(o, "recipe", dg_provenance_recipe(r->recipe, r->origin)) == 0)
        return o;
    dg_json_free(o);
    return NULL;
}

/* Export the mean (*exported: the bundle is whole), then calibrate, add a shortlist and score as
 * the recipe asks. Scores use the bundle's own weights, so that f16's rounding counts; then seal
 * the bundle again with them. */
static int export_average(const struct dg_run *r, const struct choice *c, struct dg_json *training,
    bool *exported, struct dg_error *err)
{
    const size_t n = dg_param_block_size(&r->config);
    const bool scores = !r->o->no_scores;
    struct dg_calibrated calibrated = {0};
    struct dg_json *decision = NULL;
    float *params = dg_alloc(n, sizeof *params, "parameters");
    int rc = dg_average(r->keeper, c->steps, c->n, params, n, err);
    struct dg_export e = {.dir = r->bundle_dir,
        .recipe = r->recipe,
        .prepared_dir = r->prepared_dir,
        .prepared = r->prepared,
        .config = &r->config,
        .params = params,
        .training = training};
    if (!rc)
        rc = dg_export(&e, err);
    *exported = !rc;
    if (!rc && scores && r->recipe->validation.calibrate && dg_prepared_sets(r->prepared, "dev")) {
        rc = dg_bundle_settings_choose(r, &calibrated, training, err);
        e.calibrated = rc ? NULL : &calibrated;
        if (!rc)
            rc = dg_export_seal(&e, err);
    }
    if (!rc && scores && dg_bundle_list_wanted(r))
        rc = dg_bundle_list_add(r, &e, &decision, err);
    if (!rc && scores) {
        struct dg_json *all = dg_json_new_array();
        dg_trainlog_say(r->log, "scoring the dev and test sets");
        rc = dg_run_scores(r, "dev", all, err);
        if (!rc)
            rc = dg_run_scores(r, "test", all, err);
        dg_json_set_take(training, "scores", all);
        if (!rc)
            rc = dg_export_seal(&e, err);
    }
    dg_calibrated_free(&calibrated);
    dg_json_free(decision);
    free(params);
    return rc;
}

static void tell_choice(struct dg_trainlog *log, const struct choice *c)
{
    struct dg_buffer b;
    dg_buffer_init(&b);
    for (size_t i = 0; i < c->n; i++)
        dg_buffer_addf(&b, " %" PRIu64, c->steps[i]);
    dg_trainlog_say(log, "%s:%s", c->averaged, b.data ? b.data : "");
    dg_buffer_deinit(&b);
}

/* Make the bundle in r->bundle_dir. *exported: it was made, if only without what comes after the
 * export. */
static int make_bundle(struct dg_run *r, size_t n, bool best, struct dg_json **training,
    bool *exported, struct dg_error *err)
{
    struct choice c = {0};
    struct dg_checkpoint *newest = NULL;
    size_t damaged;
    *exported = false;
    int rc = choose(r->keeper, n, best, &c, err);
    if (!rc)
        rc = compare(r, &c, err);
    if (!rc)
        tell_choice(r->log, &c);
    dg_run_release(r);
    if (!rc)
        rc = dg_checkpoint_dir_newest(r->keeper, &newest, &damaged, err);
    if (!rc)
        rc = dg_run_check_data(r, newest, err);
    if (!rc) {
        *training = provenance(r, &c, newest);
        rc = *training ? export_average(r, &c, *training, exported, err)
                       : dg_error_set(err, DG_ENOMEM, "no memory for the manifest");
    }
    dg_checkpoint_close(newest);
    dg_json_free(c.comparisons);
    free(c.steps);
    return rc;
}

static void remove_bundle(const char *dir)
{
    static const char *const names[] = {"manifest.json", "weights.dgw", "joint.spm", "joint.vocab",
        "source.spm", "source.vocab", "target.spm", "target.vocab"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *path = dg_alloc_path(dir, names[i]);
        unlink(path);
        free(path);
    }
    rmdir(dir);
}

static void tell(struct dg_run *r, const struct dg_json *training)
{
    const struct dg_json *scores = dg_json_get(training, "scores");
    for (size_t i = 0; i < dg_json_length(scores); i++) {
        const struct dg_json *s = dg_json_at(scores, i);
        dg_trainlog_say(r->log, "%s: BLEU %.2f, chrF2 %.2f, perplexity %.2f",
            dg_json_string(dg_json_get(s, "set"), NULL), dg_json_number(dg_json_get(s, "bleu")),
            dg_json_number(dg_json_get(s, "chrf")), dg_json_number(dg_json_get(s, "perplexity")));
    }
    dg_trainlog_say(r->log, "bundle: %s", r->bundle_dir);
}

/* Say what bundle there is after a stop, for the reason `why`. */
static void tell_stopped(const struct dg_run *r, bool exported, const char *why)
{
    char *manifest = dg_alloc_path(r->bundle_dir, "manifest.json");
    if (exported)
        dg_trainlog_say(r->log, "%s; bundle, without scores: %s", why, r->bundle_dir);
    else if (access(manifest, F_OK) == 0)
        dg_trainlog_say(
            r->log, "%s; the bundle there is the one from before: %s", why, r->bundle_dir);
    else
        dg_trainlog_say(r->log, "%s; no bundle yet", why);
    free(manifest);
}

int dg_run_finish(struct dg_run *r, bool *stopped, struct dg_error *err)
{
    const struct dg_recipe_training *t = &r->recipe->training;
    struct dg_json *training = NULL;
    const bool best = t->average_best > 0;
    bool exported;
    int rc = make_bundle(
        r, (size_t)(best ? t->average_best : t->average_last), best, &training, &exported, err);
    if (!rc) {
        tell(r, training);
        rc = dg_trainlog_event_take(r->log, "finished", training, err);
        remove_bundle(r->validation_dir);
    } else {
        dg_json_free(training);
    }
    *stopped = rc == DG_ECANCELED;
    if (*stopped)
        tell_stopped(r, exported, err->message);
    return *stopped ? 0 : rc;
}

/* Refuse a run's directory, which would become a bundle as well. */
static int check_out(const char *dir, struct dg_error *err)
{
    char *path = dg_alloc_path(dir, "run.json");
    const bool is_run = access(path, F_OK) == 0;
    free(path);
    return is_run ? dg_error_set(err, DG_EINVAL,
                        "--out %s is the directory of a run; name another for the bundle", dir)
                  : 0;
}

int dg_run_average(const struct dg_run_average *o, struct dg_error *err)
{
    struct dg_run_options ro = {.dir = o->dir,
        .resume = true,
        .look = o->bundle != NULL,
        .quiet = o->quiet,
        .no_scores = o->no_scores};
    struct dg_json *training = NULL;
    struct dg_run r;
    dg_run_init(&r, &ro);
    int rc = o->bundle ? check_out(o->bundle, err) : 0;
    if (!rc)
        rc = dg_run_open(&r, err);
    if (!rc && o->bundle) {
        free(r.bundle_dir);
        r.bundle_dir = dg_alloc_string(o->bundle);
    }
    if (!rc)
        rc = dg_run_data(&r, err);
    if (!rc)
        rc = dg_checkpoint_dir_open(r.checkpoint_dir, 1, 0, &r.keeper, err);
    if (!rc)
        rc = dg_trainlog_open(NULL, -1, !o->quiet, &r.log, err); /* says, but writes no lines */
    if (!rc) {
        const struct dg_recipe_training *t = &r.recipe->training;
        size_t n =
            o->n ? o->n : (size_t)(o->best && t->average_best ? t->average_best : t->average_last);
        bool exported;
        rc = make_bundle(&r, n, o->best, &training, &exported, err);
    }
    if (!rc)
        tell(&r, training);
    dg_json_free(training);
    dg_run_close(&r);
    return rc;
}
