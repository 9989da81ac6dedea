/* The verb that makes a bundle's shortlist and decides where it is used. */
#include "trainer/verbs/verbs.h"

#include "base/alloc.h"
#include "trainer/align/shortlist.h"
#include "trainer/prepare/prepare.h"
#include "trainer/score/list_guard.h"
#include "trainer/verbs/sets.h"
#include "trainer/verbs/stop.h"

#include <stdio.h>
#include <string.h>

/* Returns the recipe's list of files of a direction, added if it is missing. NULL: no memory. */
static struct dg_json *files_of(struct dg_json *pairs, const struct dg_calibrate_set *text)
{
    for (size_t i = 0; i < dg_json_length(pairs); i++) {
        struct dg_json *p = dg_json_at(pairs, i);
        if (!strcmp(dg_json_string(dg_json_get(p, "source_lang"), NULL), text->source_lang) &&
            !strcmp(dg_json_string(dg_json_get(p, "target_lang"), NULL), text->target_lang))
            return dg_json_get(p, "train");
    }
    struct dg_json *p = dg_json_new_object();
    dg_json_set_string(p, "source_lang", text->source_lang);
    dg_json_set_string(p, "target_lang", text->target_lang);
    dg_json_set_take(p, "train", dg_json_new_array());
    return dg_json_append_take(pairs, p) ? NULL : dg_json_get(p, "train");
}

/* Makes a recipe that prepares these texts with the bundle's vocabulary. */
static struct dg_json *make_recipe(const char *bundle, const struct dg_sets *texts)
{
    struct dg_json *root = dg_json_new_object(), *data = dg_json_new_object(),
                   *pairs = dg_json_new_array(), *vocabulary = dg_json_new_object();
    for (size_t i = 0; i < texts->n; i++) {
        struct dg_json *file = dg_json_new_object();
        dg_json_set_string(file, "source", texts->list[i].source);
        dg_json_set_string(file, "target", texts->list[i].target);
        dg_json_append_take(files_of(pairs, &texts->list[i]), file);
    }
    dg_json_set_take(data, "pairs", pairs);
    /* A tag would be in every sentence and say nothing about words. */
    dg_json_set_string(data, "target_tags", "never");
    dg_json_set_string(vocabulary, "from", bundle);
    dg_json_set_take(root, "data", data);
    dg_json_set_take(root, "vocabulary", vocabulary);
    return root;
}

/* Prepares the texts in the folder of --prepared, which is left as it is if it matches them. */
static int prepare_texts(const struct dg_args *a, struct dg_error *err)
{
    struct dg_sets texts = {0};
    struct dg_recipe *r = NULL;
    int rc = dg_sets_read(a->texts.items, a->texts.n, &texts, err);
    struct dg_json *json = rc ? NULL : make_recipe(a->words[0], &texts);
    dg_alloc_check(rc || !dg_json_lost(), "a recipe");
    if (!rc)
        rc = dg_recipe_of_json(json, "", NULL, 0, &r, err);
    const struct dg_prepare_options o = {
        .dir = a->prepared, .threads = (int)a->threads, .quiet = a->quiet, .stop = dg_stop_flag()};
    if (!rc)
        rc = dg_prepare(r, &o, NULL, err);
    dg_recipe_free(r);
    dg_json_free(json);
    dg_sets_free(&texts);
    return rc;
}

static int make_list(const struct dg_args *a, struct dg_error *err)
{
    struct dg_made_shortlist made;
    const struct dg_make_shortlist o = {.bundle = a->words[0],
        .prepared_dir = a->prepared,
        .pairs = a->n_words == 1 ? a->lines : 0,
        .best = a->best > 0 ? (uint32_t)a->best : 0,
        .frequent = a->frequent,
        .stop = dg_stop_flag()};
    int rc = a->texts.n ? prepare_texts(a, err) : 0;
    if (!rc)
        rc = dg_shortlist_make(&o, &made, err);
    if (!rc)
        printf("%llu pairs: %.1f translations a source piece, %u pieces always; a sentence's list "
               "has %.0f pieces\nand holds %.2f %% of those of its translation\n",
            (unsigned long long)made.pairs, made.mean_best, made.frequent, made.mean_rows,
            100 * made.coverage);
    fflush(stdout);
    return rc;
}

static void print_trial(
    void *arg, const struct dg_calibrate_set *set, const struct dg_list_guard_trial *t)
{
    (void)arg;
    printf("%s-%s, %llu lines, beam %u: BLEU %.2f with the list, %.2f without; chrF2 %.2f and "
           "%.2f\n",
        set->source_lang, set->target_lang, (unsigned long long)t->lines, t->beam, t->bleu[0],
        t->bleu[1], t->chrf[0], t->chrf[1]);
    fflush(stdout);
}

static int measure_list(const struct dg_args *a, const struct dg_sets *sets, struct dg_error *err)
{
    const struct dg_list_guard o = {.bundle = a->words[0],
        .sets = sets->list,
        .n_sets = sets->n,
        .lines = a->lines,
        .threads = (int)a->threads,
        .tried = a->quiet ? NULL : print_trial,
        .stop = dg_stop_flag()};
    struct dg_json *decision = NULL;
    char words[1024];
    int rc = dg_list_guard(&o, &decision, err);
    if (rc)
        return rc;
    dg_list_guard_say(decision, words, sizeof words);
    printf("the list is %s\n", words);
    dg_json_free(decision);
    return 0;
}

int dg_verb_shortlist(const struct dg_args *a, struct dg_error *err)
{
    struct dg_sets sets = {0};
    if (!a->prepared && a->texts.n)
        return dg_error_field(
            err, DG_EINVAL, "prepared", "--text needs --prepared DIR, where the text is prepared");
    if (!a->prepared && a->n_words == 1)
        return dg_error_field(err, DG_EINVAL, "prepared",
            "--prepared DIR makes a list, FROM:TO:SOURCE:TARGET measures one: neither is given");
    dg_stop_watch();
    int rc = dg_sets_read(a->words + 1, a->n_words - 1, &sets, err);
    if (!rc)
        rc = dg_sets_match(&sets, a->words[0], err);
    if (!rc && a->prepared)
        rc = make_list(a, err);
    if (!rc && sets.n)
        rc = measure_list(a, &sets, err);
    dg_sets_free(&sets);
    return rc;
}
