/* Verbs on recipes, data and logs. */
#include "trainer/verbs/verbs.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "trainer/data/dataset.h"
#include "trainer/data/prepared.h"
#include "trainer/detect/detector.h"
#include "trainer/prepare/prepare.h"
#include "trainer/run/plot.h"
#include "trainer/run/run.h"
#include "trainer/verbs/stop.h"

#include <stdio.h>
#include <stdlib.h>

int dg_verb_load_recipe(const struct dg_args *a, struct dg_recipe **out, struct dg_error *err)
{
    return dg_recipe_load(
        a->words[0], a->data ? a->data : "", a->settings.items, a->settings.n, out, err);
}

void dg_verb_print_json_take(struct dg_json *v, int indent)
{
    struct dg_buffer text;
    dg_buffer_init(&text);
    dg_alloc_check(!dg_json_write(v, indent, &text) && !text.failed, "JSON");
    puts(text.data);
    dg_buffer_deinit(&text);
    dg_json_free(v);
}

int dg_verb_recipe(const struct dg_args *a, struct dg_error *err)
{
    struct dg_recipe *r = NULL;
    int rc = dg_verb_load_recipe(a, &r, err);
    if (!rc)
        dg_verb_print_json_take(a->describe ? dg_recipe_describe() : dg_json_copy(r->json), 2);
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

/* One side of a sentence. */
static struct dg_json *ids_json(const int32_t *ids, uint32_t n)
{
    struct dg_json *list = dg_json_new_array();
    for (uint32_t i = 0; i < n; i++)
        dg_json_append_take(list, dg_json_new_int(ids[i]));
    return list;
}

/* Prints a batch: {"source":[[ids of a sentence, </s> last], ...],"target":[...]}. */
static void print_batch(const struct dg_dataset *d, const struct dg_batch *b)
{
    struct dg_json *o = dg_json_new_object(), *source = dg_json_new_array(),
                   *target = dg_json_new_array();
    int32_t *ids = dg_alloc((size_t)b->max_source + b->max_target, sizeof *ids, "a batch");
    for (size_t i = 0; i < b->count; i++) {
        uint32_t s, t;
        dg_dataset_lengths(d, b->sentences[i], &s, &t);
        dg_dataset_ids(d, b->sentences[i], ids, ids + s);
        dg_json_append_take(source, ids_json(ids, s));
        dg_json_append_take(target, ids_json(ids + s, t));
    }
    dg_json_set_take(o, "source", source);
    dg_json_set_take(o, "target", target);
    dg_verb_print_json_take(o, 0);
    free(ids);
}

int dg_verb_batches(const struct dg_args *a, struct dg_error *err)
{
    struct dg_recipe *r = NULL;
    struct dg_dataset *d = NULL;
    struct dg_batch b;
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
        rc = dg_dataset_next(d, &b, err);
        if (!rc)
            print_batch(d, &b);
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
