#include "trainer/verbs/verbs.h"

#include "base/buffer.h"
#include "trainer/data/batches.h"
#include "trainer/data/prepared.h"
#include "trainer/detect/detector.h"
#include "trainer/prepare/prepare.h"
#include "trainer/run/plot.h"
#include "trainer/run/run.h"
#include "trainer/verbs/stop.h"

#include <stdio.h>

int dg_verb_load_recipe(const struct dg_args *a, struct dg_recipe **out, struct dg_error *err)
{
    return dg_recipe_load(
        a->words[0], a->data ? a->data : "", a->settings.items, a->settings.n, out, err);
}

int dg_verb_recipe(const struct dg_args *a, struct dg_error *err)
{
    struct dg_recipe *r = NULL;
    struct dg_buffer text;
    dg_buffer_init(&text);
    int rc = dg_verb_load_recipe(a, &r, err);
    if (!rc && a->describe) {
        struct dg_json *list = dg_recipe_describe();
        rc = dg_json_write(list, 2, &text);
        dg_json_free(list);
    } else if (!rc) {
        rc = dg_recipe_print(r, &text);
    }
    if (!rc)
        puts(text.data);
    dg_buffer_deinit(&text);
    dg_recipe_free(r);
    return rc;
}

int dg_verb_prepare(const struct dg_args *a, struct dg_error *err)
{
    struct dg_recipe *r = NULL;
    struct dg_prepared *p = NULL;
    struct dg_buffer text;
    dg_buffer_init(&text);
    int rc = dg_verb_load_recipe(a, &r, err);
    struct dg_prepare_options o = {.dir = a->out,
        .threads = (int)a->threads,
        .force = a->force,
        .quiet = a->quiet,
        .stop = dg_stop_flag()};
    dg_stop_watch();
    if (!rc)
        rc = dg_prepare(r, &o, NULL, err);
    if (!rc)
        rc = dg_prepared_open(a->out, &p, err);
    if (!rc)
        rc = dg_prepared_table(p, &text);
    if (!rc)
        fputs(text.data, stdout);
    dg_buffer_deinit(&text);
    dg_prepared_close(p);
    dg_recipe_free(r);
    return rc;
}

int dg_verb_batches(const struct dg_args *a, struct dg_error *err)
{
    struct dg_recipe *r = NULL;
    struct dg_dataset *d = NULL;
    if (!a->lines)
        return dg_error_set(
            err, DG_EINVAL, "--lines N is needed, 1 or more: training's batches have no end");
    int rc = dg_verb_load_recipe(a, &r, err);
    if (!rc) {
        struct dg_dataset_options o = dg_run_batches(r);
        rc = dg_dataset_open(a->prepared, "train", &o, &d, err);
    }
    for (uint64_t i = 1; i <= a->lines && !rc; i++) {
        dg_dataset_enter(d, dg_recipe_stage_of(r, (int64_t)i));
        rc = dg_batches_print(d, stdout, err);
    }
    dg_dataset_close(d);
    dg_recipe_free(r);
    return rc;
}

int dg_verb_languages(const struct dg_args *a, struct dg_error *err)
{
    struct dg_made_detector made;
    const struct dg_make_detector o = {.texts = a->words, .n = a->n_words, .out = a->out};
    int rc = dg_detector_make(&o, &made, err);
    if (!rc)
        printf("%zu languages, %llu lines, cross-entropy %.3f nats\n", made.languages,
            (unsigned long long)made.lines, made.loss);
    return rc;
}

int dg_verb_plot(const struct dg_args *a, struct dg_error *err)
{
    return dg_plot(a->words, a->n_words, a->out, err);
}
