/* Verbs of a run: run, resume, plan and average. */
#include "trainer/verbs/verbs.h"

#include "base/buffer.h"
#include "kernels/device.h"
#include "trainer/run/run.h"
#include "trainer/verbs/stop.h"

#include <stdio.h>
#include <string.h>

/* Checks the device options before anything is made; whether the device is available only shows
 * when the run begins. */
static int check_device(const struct dg_args *a, struct dg_error *err)
{
    const struct dg_device_options wish = {.device = a->device, .precision = a->precision};
    return dg_ranks_launched() > 1 ? dg_devices_check(&wish, err) : dg_device_check(&wish, err);
}

/* Appends a space and the word, quoted for a shell where needed. */
static void add_word(struct dg_buffer *b, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-+=./,:@%";
    const bool quoted = !word[0] || word[strspn(word, plain)];
    dg_buffer_adds(b, quoted ? " '" : " ");
    for (const char *p = word; *p; p++)
        dg_buffer_add(b, *p == '\'' ? "'\\''" : p, *p == '\'' ? 4 : 1);
    dg_buffer_adds(b, quoted ? "'" : "");
}

static void add_option(struct dg_buffer *b, const char *name, const char *value)
{
    if (!value)
        return;
    dg_buffer_addf(b, " %s", name);
    add_word(b, value);
}

/* Prints how to continue the run as before: with the options of the command line that the run's
 * folder does not keep. It does keep the recipe, and where the prepared data were when the run
 * began. */
static void tell_resume(const struct dg_run_options *o)
{
    struct dg_buffer b;
    dg_buffer_init(&b);
    add_word(&b, o->dir);
    add_option(&b, "--device", o->device);
    add_option(&b, "--precision", o->precision);
    add_option(&b, "--prepared", o->resume ? o->prepared : NULL);
    if (o->no_scores)
        dg_buffer_adds(&b, " --no-scores");
    add_option(&b, "--tensorboard", o->tensorboard);
    fprintf(stderr, "stopped by signal %d; continue with: dragoman-train resume%s\n",
        dg_stop_signal(), b.data && !b.failed ? b.data : "");
    dg_buffer_deinit(&b);
}

/* Trains, together with the other processes if mpirun started several. */
static int train(struct dg_run_options *o, struct dg_error *err)
{
    struct dg_ranks ranks = {0};
    bool stopped = false;
    if (dg_ranks_launched() > 1) {
        int rc = dg_ranks_open(&ranks, err);
        if (rc)
            return rc;
        o->ranks = &ranks;
    }
    int rc = dg_run(o, &stopped, err);
    const bool leads = ranks.rank == 0;
    if (rc && rc != DG_ECANCELED && o->ranks) {
        /* The other processes wait for this one: none of them can continue. */
        fprintf(stderr, "dragoman-train: rank %zu: %s\n", ranks.rank, err->message);
        ranks.abort(ranks.ctx, 1);
    }
    dg_ranks_close(&ranks);
    o->ranks = NULL;
    if (rc == DG_ECANCELED) { /* before the first update: there is nothing to save */
        if (leads)
            fprintf(stderr, "dragoman-train: %s\n", err->message);
        rc = 0;
    }
    if (!rc && stopped && leads)
        tell_resume(o);
    return rc;
}

static struct dg_run_options options_of(const struct dg_args *a, const char *dir)
{
    return (struct dg_run_options){.dir = dir,
        .prepared = a->prepared,
        .quiet = a->quiet,
        .no_scores = a->no_scores,
        .tensorboard = a->tensorboard,
        .device = a->device,
        .precision = a->precision,
        .stop = dg_stop_flag()};
}

int dg_verb_run(const struct dg_args *a, struct dg_error *err)
{
    struct dg_recipe *r = NULL;
    int rc = check_device(a, err);
    if (!rc)
        rc = dg_verb_load_recipe(a, &r, err);
    struct dg_run_options o = options_of(a, a->out);
    o.recipe = r;
    dg_stop_watch();
    if (!rc)
        rc = train(&o, err);
    dg_recipe_free(r);
    return rc;
}

int dg_verb_resume(const struct dg_args *a, struct dg_error *err)
{
    int rc = check_device(a, err);
    struct dg_run_options o = options_of(a, a->words[0]);
    o.settings = a->settings.items;
    o.n_settings = a->settings.n;
    o.resume = true;
    dg_stop_watch();
    return rc ? rc : train(&o, err);
}

int dg_verb_plan(const struct dg_args *a, struct dg_error *err)
{
    struct dg_recipe *r = NULL;
    struct dg_buffer text;
    dg_buffer_init(&text);
    int rc = dg_verb_load_recipe(a, &r, err);
    struct dg_run_options o = options_of(a, a->out);
    o.recipe = r;
    if (!rc)
        rc = check_device(a, err);
    if (!rc)
        rc = dg_run_plan(&o, &text, err);
    if (text.data)
        fputs(text.data, stdout);
    dg_buffer_deinit(&text);
    dg_recipe_free(r);
    return rc;
}

int dg_verb_average(const struct dg_args *a, struct dg_error *err)
{
    if (a->last >= 0 && a->best >= 0)
        return dg_error_set(err, DG_EINVAL, "--last or --best, not both");
    struct dg_run_average o = {.dir = a->words[0],
        .bundle = a->out,
        .best = a->best >= 0,
        .no_scores = a->no_scores,
        .quiet = a->quiet};
    o.n = a->best > 0 ? (size_t)a->best : a->last > 0 ? (size_t)a->last : 0;
    return dg_run_average(&o, err);
}
