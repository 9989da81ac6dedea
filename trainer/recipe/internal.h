/* Internals of the recipe's files; no other file includes it. Const: any thread. */
#ifndef DG_TRAINER_RECIPE_INTERNAL_H
#define DG_TRAINER_RECIPE_INTERNAL_H

#include "trainer/recipe/recipe.h"

/* The built-in defaults: every field of every section but "data". NULL: no memory. */
struct dg_json *dg_recipe_defaults(void);
/* A preset's changes to them; NULL when unknown. */
const char *dg_recipe_preset(const char *name);
const char *dg_recipe_preset_names(void); /* for messages: "small, base, ..." */
/* For a preset's name without such a file (a folder does not count): the recipe of only that
 * preset; otherwise NULL. */
struct dg_json *dg_recipe_preset_json(const char *name);

/* path, or the new place of a shipped recipe with that former name, stored in out (initialised), if
 * only the new place has a file. */
const char *dg_recipe_moved(const char *path, struct dg_buffer *out);

/* The recipe that this one extends (a preset or another file, relative to dir), then the recipe
 * itself over base; and one setting "section.key=value". */
int dg_recipe_merge(
    struct dg_json *base, const struct dg_json *recipe, const char *dir, struct dg_error *err);
int dg_recipe_merge_setting(struct dg_json *root, const char *setting, struct dg_error *err);
/* dir of path into b: "a/b.json" gives "a/", "b.json" gives "". */
void dg_recipe_folder(const char *path, struct dg_buffer *b);

/* Sections with one value a field, by the one table of fields. */
int dg_recipe_fields_read(const struct dg_json *root, struct dg_recipe *r, struct dg_error *err);
int dg_recipe_fields_write(const struct dg_recipe *r, struct dg_json *root);
/* Put today's names in place of former ones, so that trees can be merged. */
void dg_recipe_fields_rename(struct dg_json *root);
bool dg_recipe_field_resumable(
    const char *name); /* "training.threads": may change in a resumed run */

/* The section "data". */
int dg_recipe_data_read(const struct dg_json *data, struct dg_recipe *r, struct dg_error *err);
struct dg_json *dg_recipe_data_write(const struct dg_recipe *r);
/* An object of labels and weights (NULL: none), called `name` in messages. */
int dg_recipe_weights_read(struct dg_recipe *r, const struct dg_json *o, const char *name,
    struct dg_recipe_weight **out, size_t *n, struct dg_error *err);
struct dg_json *dg_recipe_weights_write(const struct dg_recipe_weight *w, size_t n);

/* training.stages, after the section "data", whose labels are checked here, too. */
int dg_recipe_stages_read(
    const struct dg_json *training, struct dg_recipe *r, struct dg_error *err);
struct dg_json *dg_recipe_stages_write(const struct dg_recipe *r);

#endif
