/* The verb that trains a student on a teacher's translations. */
#include "trainer/verbs/verbs.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "base/file.h"
#include "kernels/device.h"
#include "trainer/data/corpus.h"
#include "trainer/run/run.h"
#include "trainer/synthetic/growing.h"
#include "trainer/verbs/stop.h"
#include "trainer/verbs/synthetic.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder of a distillation:
 *   text/dev.*, text/train.*   the teacher's translations
 *   recipe.json                the recipe that trains the student, every default in it
 *   run/                       the student's run and bundle */
struct distillation {
    const struct dg_args *a;
    struct dg_synthetic_model teacher;
    /* dir/text/dev.from ... */
    char *dev[2], *train[2], *recipe, *run;
    /* Number of lines for dev, and of all lines to translate. */
    uint64_t n_dev, n;
};

static int count_lines(const char *path, uint64_t *out, struct dg_error *err)
{
    struct dg_corpus_lines *lines = NULL;
    struct dg_line line;
    int got = 1, rc = dg_growing_check_input(path, err);
    if (!rc)
        rc = dg_corpus_lines_open(path, &lines, err);
    for (*out = 0; !rc && (got = dg_corpus_lines_next(lines, &line, err)) > 0; (*out)++)
        continue;
    dg_corpus_lines_close(lines);
    return rc ? rc : got < 0 ? got : 0;
}

static int lay_out(struct distillation *d, struct dg_error *err)
{
    char *text = dg_alloc_path(d->a->out, "text");
    const char *const languages[2] = {d->teacher.from, d->teacher.to};
    for (size_t i = 0; i < 2; i++) {
        d->dev[i] = dg_alloc_print("%s/dev.%s", text, languages[i]);
        d->train[i] = dg_alloc_print("%s/train.%s", text, languages[i]);
    }
    d->recipe = dg_alloc_path(d->a->out, "recipe.json");
    d->run = dg_alloc_path(d->a->out, "run");
    int rc = dg_file_make_dir(text, err);
    free(text);
    if (!rc)
        rc = count_lines(d->a->words[1], &d->n, err);
    if (d->a->lines && d->a->lines < d->n)
        d->n = d->a->lines;
    d->n_dev = d->n / 20 < 1000 ? d->n / 20 : 1000;
    if (!rc && !d->n_dev)
        rc = dg_error_set(err, DG_EINVAL, "%s has %" PRIu64 " lines, a student needs at least 20",
            d->a->words[1], d->n);
    return rc;
}

static int translate_part(
    struct distillation *d, char *const out[2], uint64_t skip, uint64_t lines, struct dg_error *err)
{
    struct dg_translated done;
    const struct dg_translated_options o = {.model = dg_synthetic_model_options(d->a, &d->teacher),
        .text = d->a->words[1],
        .skip = skip,
        .lines = lines,
        .out_text = out[0],
        .out_translation = out[1],
        .quiet = d->a->quiet,
        .stop = dg_stop_flag()};
    int rc = dg_translated_write(&o, &done, err);
    if (!rc)
        dg_synthetic_print(&done, out[0], out[1]);
    return rc;
}

/* The recipe's list of files of a kind, "dev" or "train". */
static struct dg_json *files_json(const char *kind, const struct dg_synthetic_model *t)
{
    struct dg_json *list = dg_json_new_array(), *o = dg_json_new_object();
    char *source = dg_alloc_print("text/%s.%s", kind, t->from),
         *target = dg_alloc_print("text/%s.%s", kind, t->to);
    dg_json_set_string(o, "source", source);
    dg_json_set_string(o, "target", target);
    dg_json_append_take(list, o);
    free(source);
    free(target);
    return list;
}

/* Sets "extends" to the absolute path of the recipe's file or, if there is none (a folder does not
 * count), "preset" to the name. */
static void set_base(struct dg_json *recipe, const char *base)
{
    struct stat st;
    char *path = !stat(base, &st) && !S_ISDIR(st.st_mode) ? realpath(base, NULL) : NULL;
    dg_json_set_string(recipe, path ? "extends" : "preset", path ? path : base);
    free(path);
}

/* Makes the student's recipe from the command line's RECIPE or the default preset. */
static int make_recipe(const struct distillation *d, struct dg_recipe **out, struct dg_error *err)
{
    const struct dg_synthetic_model *t = &d->teacher;
    struct dg_json *o = dg_json_new_object(), *data = dg_json_new_object(),
                   *pairs = dg_json_new_array(), *pair = dg_json_new_object(),
                   *output = dg_json_new_object();
    char *name = dg_alloc_print("%s-%s-student", t->from, t->to),
         *about = dg_alloc_print("%s-%s student of %s (version %.12s), trained on its translations",
             t->from, t->to, t->name, t->version);
    dg_json_set_string(pair, "source_lang", t->from);
    dg_json_set_string(pair, "target_lang", t->to);
    dg_json_set_take(pair, "dev", files_json("dev", t));
    dg_json_set_take(pair, "train", files_json("train", t));
    dg_json_append_take(pairs, pair);
    dg_json_set_take(data, "pairs", pairs);
    /* those of RECIPE's own files */
    dg_json_set_take(data, "domain_weights", dg_json_new_null());
    set_base(o, d->a->n_words > 2 ? d->a->words[2] : "small");
    dg_json_set_string(o, "name", name);
    dg_json_set_take(o, "data", data);
    dg_json_set_string(output, "description", about);
    dg_json_set_string(output, "licence", t->licence);
    dg_json_set_take(o, "output", output);
    dg_alloc_check(!dg_json_lost(), "a recipe");
    int rc = dg_recipe_of_json(o, d->a->out, NULL, 0, out, err);
    free(name);
    free(about);
    dg_json_free(o);
    return rc;
}

/* True if the run has a checkpoint to resume from. */
static bool has_begun(const struct distillation *d)
{
    char *path = dg_alloc_path(d->run, "checkpoints/index.json");
    const bool begun = access(path, F_OK) == 0;
    free(path);
    return begun;
}

/* Writes the recipe with every default, so that nothing can change it later, and reads it back with
 * the command line's settings. */
static int write_recipe(
    const struct distillation *d, const struct dg_recipe *made, struct dg_error *err)
{
    struct dg_recipe *whole = NULL;
    struct dg_buffer text;
    dg_buffer_init(&text);
    dg_recipe_print(made, &text);
    dg_buffer_adds(&text, "\n");
    dg_alloc_check(!text.failed, "a recipe");
    int rc = dg_file_write(d->recipe, text.data, text.len, err);
    if (!rc)
        rc = dg_recipe_load(
            d->recipe, d->a->out, d->a->settings.items, d->a->settings.n, &whole, err);
    dg_recipe_free(whole);
    dg_buffer_deinit(&text);
    return rc;
}

/* DG_EINVAL if the run was begun with another recipe. */
static int check_recipe(
    const struct distillation *d, const struct dg_recipe *made, struct dg_error *err)
{
    struct dg_recipe *was = NULL;
    struct dg_buffer list;
    dg_buffer_init(&list);
    int rc = dg_recipe_load(d->recipe, d->a->out, NULL, 0, &was, err);
    if (!rc && dg_recipe_difference(made->json, was->json, false, &list)) {
        while (list.len && list.data[list.len - 1] == '\n')
            list.data[--list.len] = '\0';
        rc = dg_error_set(err, DG_EINVAL,
            "%s was begun with another recipe (without RECIPE, it continues): %s", d->run,
            list.data);
    }
    dg_recipe_free(was);
    dg_buffer_deinit(&list);
    return rc;
}

/* Settles the recipe before anything is translated. A run that has begun keeps its own, which the
 * command line may leave out. */
static int settle_recipe(const struct distillation *d, struct dg_error *err)
{
    struct dg_recipe *made = NULL;
    const bool begun = has_begun(d);
    if (begun && d->a->n_words < 3)
        return 0;
    int rc = make_recipe(d, &made, err);
    if (!rc)
        rc = begun ? check_recipe(d, made, err) : write_recipe(d, made, err);
    dg_recipe_free(made);
    return rc;
}

/* Starts or resumes the student's run. */
static int train_student(const struct distillation *d, struct dg_error *err)
{
    struct dg_args run = *d->a;
    const bool resume = has_begun(d);
    const char *const words[1] = {resume ? d->run : d->recipe};
    run.words = words;
    run.n_words = 1;
    run.data = d->a->out;
    run.out = d->run;
    return resume ? dg_verb_resume(&run, err) : dg_verb_run(&run, err);
}

static void free_distillation(struct distillation *d)
{
    for (size_t i = 0; i < 2; i++) {
        free(d->dev[i]);
        free(d->train[i]);
    }
    free(d->recipe);
    free(d->run);
    dg_synthetic_model_free(&d->teacher);
}

/* Refuses now a device or precision that the run would refuse after all text is translated. */
static int check_device(const struct dg_args *a, struct dg_error *err)
{
    const struct dg_device_options wish = {
        .device = dg_run_device_word(a->device), .precision = a->precision};
    struct dg_device device;
    return dg_device_choose(&wish, &device, err);
}

int dg_verb_distill(const struct dg_args *a, struct dg_error *err)
{
    struct distillation d = {.a = a};
    dg_stop_watch();
    int rc = check_device(a, err);
    if (!rc)
        rc = dg_synthetic_model_read(a, &d.teacher, err);
    if (!rc)
        rc = lay_out(&d, err);
    if (!rc)
        rc = settle_recipe(&d, err);
    if (!rc)
        rc = translate_part(&d, d.dev, 0, d.n_dev, err);
    if (!rc)
        rc = translate_part(&d, d.train, d.n_dev, d.n - d.n_dev, err);
    if (!rc)
        rc = train_student(&d, err);
    free_distillation(&d);
    return rc;
}
