/* The verbs of dragoman-train, one function each (rows of the table in main.c). Main thread. Each
 * returns 0 or a negative DG_E* code with the message in err; results go to stdout, progress to
 * stderr. */
#ifndef DG_TRAINER_VERBS_VERBS_H
#define DG_TRAINER_VERBS_VERBS_H

#include "trainer/args.h"
#include "trainer/recipe/recipe.h"

/* verbs/run.c: a run and its results. */
int dg_verb_run(const struct dg_args *a, struct dg_error *err);
int dg_verb_resume(const struct dg_args *a, struct dg_error *err);
int dg_verb_plan(const struct dg_args *a, struct dg_error *err);
int dg_verb_average(const struct dg_args *a, struct dg_error *err);

/* verbs/data.c: recipes and data, and verbs that use them without a run. */
int dg_verb_recipe(const struct dg_args *a, struct dg_error *err);
int dg_verb_prepare(const struct dg_args *a, struct dg_error *err);
int dg_verb_batches(const struct dg_args *a, struct dg_error *err);
int dg_verb_languages(const struct dg_args *a, struct dg_error *err);
int dg_verb_plot(const struct dg_args *a, struct dg_error *err);

/* verbs/score.c: scores of bundles and texts. */
int dg_verb_evaluate(const struct dg_args *a, struct dg_error *err);
int dg_verb_calibrate(const struct dg_args *a, struct dg_error *err);
int dg_verb_bleu(const struct dg_args *a, struct dg_error *err);

/* verbs/shortlist.c */
int dg_verb_shortlist(const struct dg_args *a, struct dg_error *err);

/* verbs/distill.c: a small model from a large one. */
int dg_verb_distill(const struct dg_args *a, struct dg_error *err);

/* verbs/synthetic.c: text that a model makes or judges. */
int dg_verb_backtranslate(const struct dg_args *a, struct dg_error *err);
int dg_verb_filter(const struct dg_args *a, struct dg_error *err);

/* verbs/trees.c: treebanks for a model that parses. */
int dg_verb_treebank(const struct dg_args *a, struct dg_error *err);
int dg_verb_evalb(const struct dg_args *a, struct dg_error *err);

/* Print a value, on one line (indent 0) or indented. Takes it. */
void dg_verb_print_json_take(struct dg_json *v, int indent);
/* Load the recipe named by the first word, with the command line's settings. Caller frees. */
int dg_verb_load_recipe(const struct dg_args *a, struct dg_recipe **out, struct dg_error *err);

#endif
