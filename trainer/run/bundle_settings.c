#include "trainer/run/bundle_settings.h"

#include "trainer/run/internal.h"

#include <stdio.h>
#include <stdlib.h>

static struct dg_json *trial_json(const struct dg_calibrate_trial *t)
{
    struct dg_json *o = dg_json_new_object();
    dg_json_set_int(o, "beam", t->beam);
    dg_json_set_real(o, "alpha", (double)t->alpha);
    dg_json_set_real(o, "bleu", t->bleu);
    dg_json_set_real(o, "chrf", t->chrf);
    if (t->penalty_cap > 0)
        dg_json_set_real(o, "length_penalty_cap", (double)t->penalty_cap);
    return o;
}

/* Pairs with a length penalty of their own. */
static struct dg_json *pairs_json(const struct dg_calibrated *c)
{
    struct dg_json *o = dg_json_new_object();
    for (size_t i = 0; i < c->n_pairs; i++) {
        const struct dg_calibrated_pair *p = &c->pairs[i];
        char name[80];
        snprintf(name, sizeof name, "%s-%s", p->source_lang, p->target_lang);
        if (p->own)
            dg_json_set_take(o, name, trial_json(&p->chosen));
    }
    return o;
}

static void tell_trial(
    void *log, const struct dg_calibrated_pair *pair, const struct dg_calibrate_trial *t)
{
    struct dg_buffer b;
    dg_buffer_init(&b);
    dg_calibrate_say_trial(pair, t, &b);
    dg_trainlog_say(log, "  %s", b.data ? b.data : "");
    dg_buffer_deinit(&b);
}

static void tell_chosen(struct dg_trainlog *log, const struct dg_calibrated *c)
{
    struct dg_buffer b;
    dg_buffer_init(&b);
    dg_calibrate_say_chosen(c, &b);
    dg_trainlog_say(log, "%s", b.data ? b.data : "");
    dg_buffer_deinit(&b);
}

static struct dg_json *calibrated_json(const struct dg_calibrated *c, int64_t lines)
{
    struct dg_json *o = dg_json_new_object();
    dg_json_set_int(o, "lines", lines);
    dg_json_set_take(o, "before", trial_json(&c->before));
    dg_json_set_take(o, "chosen", trial_json(&c->chosen));
    dg_json_set_take(o, "pairs", pairs_json(c));
    dg_json_set_take(o, "after", trial_json(&c->after));
    dg_json_set_int(o, "sentences", (int64_t)c->sentences);
    dg_json_set_int(o, "flagged", (int64_t)c->flagged);
    dg_json_set_int(o, "good", (int64_t)c->good);
    dg_json_set_int(o, "good_flagged", (int64_t)c->good_flagged);
    return o;
}

int dg_bundle_settings_choose(const struct dg_run *r, struct dg_calibrated *out,
    struct dg_json *training, struct dg_error *err)
{
    const int64_t lines = r->recipe->validation.calibrate;
    size_t n;
    struct dg_calibrate_set *sets = dg_run_dev_sets(r, &n);
    const struct dg_calibrate_options o = {.bundle = r->bundle_dir,
        .sets = sets,
        .n_sets = n,
        .lines = (uint64_t)lines,
        .threads = (int)r->recipe->training.threads,
        .tried = r->o->quiet ? NULL : tell_trial,
        .arg = r->log,
        .stop = r->o->stop};
    dg_trainlog_say(r->log, "calibrating on at most %lld lines of each dev set", (long long)lines);
    int rc = dg_calibrate(&o, out, err);
    free(sets);
    if (rc)
        return rc;
    tell_chosen(r->log, out);
    return dg_json_set_take(training, "calibrated", calibrated_json(out, lines))
               ? dg_error_set(err, DG_ENOMEM, "no memory for the manifest")
               : 0;
}
