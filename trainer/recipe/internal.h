/* Internals of the recipe's files; no other file includes it. Const: any thread. */
#ifndef DG_TRAINER_RECIPE_INTERNAL_H
#define DG_TRAINER_RECIPE_INTERNAL_H

#include "trainer/recipe/recipe.h"

/* The built-in defaults: every field of every section but "data". NULL: no memory. */
struct dg_json *dg_recipe_defaults(void);
/* A preset's changes to the defaults, as JSON; NULL if the name is unknown. */
const char *dg_recipe_preset(const char *name);
const char *dg_recipe_preset_names(void); /* for messages: "small, base, ..." */
/* If name is a preset's and no file has that name (a folder does not count), a recipe of just that
 * preset; otherwise NULL. */
struct dg_json *dg_recipe_preset_json(const char *name);

/* path or, if it is the former name of a shipped recipe and only the new place has a file, that new
 * place. Caller frees. */
char *dg_recipe_moved(const char *path);

/* dg_recipe_merge merges what the recipe extends (a preset or another file, relative to dir) and
 * then the recipe itself into base; dg_recipe_merge_setting merges one "section.key=value". */
int dg_recipe_merge(
    struct dg_json *base, const struct dg_json *recipe, const char *dir, struct dg_error *err);
int dg_recipe_merge_setting(struct dg_json *root, const char *setting, struct dg_error *err);
/* The folder of path: "a/b.json" gives "a/", "b.json" gives "". Caller frees. */
char *dg_recipe_folder(const char *path);

/* Read and write the sections with one value per field, by the tables in fields.c. */
int dg_recipe_fields_read(const struct dg_json *root, struct dg_recipe *r, struct dg_error *err);
int dg_recipe_fields_write(const struct dg_recipe *r, struct dg_json *root);
/* Replace former names by current ones, so that trees can be merged. */
void dg_recipe_fields_rename(struct dg_json *root);
/* "training.threads": may it change in a resumed run? */
bool dg_recipe_field_resumable(const char *name);

/* The section "data". */
int dg_recipe_data_read(const struct dg_json *data, struct dg_recipe *r, struct dg_error *err);
struct dg_json *dg_recipe_data_write(const struct dg_recipe *r);
/* Read an object of labels and weights, called `name` in messages. NULL or a JSON null: none; an
 * empty object would leave those of an extended recipe. */
int dg_recipe_weights_read(struct dg_recipe *r, const struct dg_json *o, const char *name,
    struct dg_recipe_weight **out, size_t *n, struct dg_error *err);
struct dg_json *dg_recipe_weights_write(const struct dg_recipe_weight *w, size_t n);

/* Read training.stages and check its labels; call after reading the section "data". */
int dg_recipe_stages_read(
    const struct dg_json *training, struct dg_recipe *r, struct dg_error *err);
struct dg_json *dg_recipe_stages_write(const struct dg_recipe *r);

#endif
