/* Merges the layers of a recipe, each over the one before: what it extends, the recipe itself,
 * settings. */
#include "trainer/recipe/internal.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define MAX_EXTENDS 8

/* Merges the values of `over` into base: objects member by member, everything else is replaced. */
static int merge(struct dg_json *base, const struct dg_json *over)
{
    int bad = 0;
    for (const char *key = dg_json_next_key(over, NULL); key; key = dg_json_next_key(over, key)) {
        struct dg_json *from = dg_json_get(over, key), *to = dg_json_get(base, key);
        if (to && dg_json_typeof(to) == DG_JSON_OBJECT && dg_json_typeof(from) == DG_JSON_OBJECT)
            bad |= merge(to, from);
        else
            bad |= dg_json_set_take(base, key, dg_json_copy(from));
    }
    return bad;
}

/* Likewise for a tree that may have former names. */
static int merge_tree(struct dg_json *base, const struct dg_json *over, struct dg_error *err)
{
    struct dg_json *copy = dg_json_copy(over);
    dg_recipe_fields_rename(copy);
    int rc = copy && !merge(base, copy)
                 ? 0
                 : dg_error_set(err, DG_ENOMEM, "out of memory for the recipe");
    dg_json_free(copy);
    return rc;
}

static int merge_text(struct dg_json *base, const char *text, struct dg_error *err)
{
    struct dg_json *v = dg_json_parse(text, strlen(text), err);
    int rc = v ? 0 : DG_EINTERNAL;
    if (v && merge(base, v))
        rc = dg_error_set(err, DG_ENOMEM, "out of memory for the recipe");
    dg_json_free(v);
    return rc;
}

static int merge_preset(struct dg_json *base, const char *name, struct dg_error *err)
{
    const char *preset = dg_recipe_preset(name);
    if (!preset)
        return dg_error_field(err, DG_EINVAL, "preset", "preset is \"%s\", must be one of %s", name,
            dg_recipe_preset_names());
    return merge_text(base, preset, err);
}

static int merge_recipe(struct dg_json *base, const struct dg_json *recipe, const char *dir,
    int depth, struct dg_error *err);

char *dg_recipe_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    return dg_alloc_print("%.*s", slash ? (int)(slash - path) + 1 : 0, path);
}

static int merge_extended(
    struct dg_json *base, const char *name, const char *dir, int depth, struct dg_error *err)
{
    struct dg_error why = {0};
    int rc;
    if (depth >= MAX_EXTENDS)
        return dg_error_field(err, DG_EINVAL, "extends",
            "extends goes deeper than %d recipes at %s", MAX_EXTENDS, name);
    const bool relative = name[0] != '/' && dir[0];
    char *path = relative ? dg_alloc_path(dir, name) : dg_alloc_string(name),
         *at = dg_recipe_moved(path), *folder = dg_recipe_folder(at);
    struct dg_json *v = dg_json_load(at, &why);
    if (v)
        rc = merge_recipe(base, v, folder, depth + 1, err);
    else
        rc = dg_error_field(err, why.code, "extends", "extends is \"%s\": %s%s", name, why.message,
            why.code == DG_EIO || why.code == DG_ENOTFOUND
                ? "; the path is relative to the folder of the recipe that has it"
                : "");
    dg_json_free(v);
    free(path);
    free(at);
    free(folder);
    return rc;
}

/* Merges what the recipe extends (a preset or another file), then the recipe itself. */
static int merge_recipe(struct dg_json *base, const struct dg_json *recipe, const char *dir,
    int depth, struct dg_error *err)
{
    const char *preset = "", *extends = "";
    if (dg_json_typeof(recipe) != DG_JSON_OBJECT)
        return dg_error_set(err, DG_EINVAL, "a recipe must be an object, not %s",
            dg_json_type_name(dg_json_typeof(recipe)));
    int rc = dg_json_field_string(recipe, NULL, "preset", &preset, err);
    if (rc == 0)
        rc = dg_json_field_string(recipe, NULL, "extends", &extends, err);
    if (rc == 0 && preset[0] && extends[0])
        rc = dg_error_field(err, DG_EINVAL, "extends", "a recipe has preset or extends, not both");
    if (rc == 0 && preset[0])
        rc = merge_preset(base, preset, err);
    if (rc == 0 && extends[0])
        rc = merge_extended(base, extends, dir, depth, err);
    return rc ? rc : merge_tree(base, recipe, err);
}

/* Put one "section.key=value" into the tree. */
static int apply_setting(struct dg_json *root, const char *setting, struct dg_error *err)
{
    const char *equals = strchr(setting, '=');
    char key[128];
    if (!equals || equals == setting || (size_t)(equals - setting) >= sizeof key)
        return dg_error_set(
            err, DG_EINVAL, "setting \"%s\" must be like training.updates=200", setting);
    memcpy(key, setting, (size_t)(equals - setting));
    key[equals - setting] = '\0';
    char *name = key;
    for (char *dot; (dot = strchr(name, '.')); name = dot + 1) {
        *dot = '\0';
        struct dg_json *next = dg_json_get(root, name);
        if (!next) {
            dg_json_set_take(root, name, dg_json_new_object());
            next = dg_json_get(root, name);
        }
        if (!next || dg_json_typeof(next) != DG_JSON_OBJECT)
            return dg_error_field(
                err, DG_EINVAL, name, "setting \"%s\": %s has no fields", setting, name);
        root = next;
    }
    struct dg_json *v = dg_json_parse(equals + 1, strlen(equals + 1), NULL);
    if (!v)
        v = dg_json_new_string(equals + 1, strlen(equals + 1));
    if (dg_json_set_take(root, name, v))
        return dg_error_set(err, DG_EINVAL, "setting \"%s\" is not text", setting);
    return 0;
}

/* Builds a tree of the setting alone first, because it may have a former name, and merges that.
 * What a recipe begins with comes before its own fields, so a setting would have no effect. */
int dg_recipe_merge_setting(struct dg_json *root, const char *setting, struct dg_error *err)
{
    struct dg_json *one = dg_json_new_object();
    int rc = apply_setting(one, setting, err);
    static const char *const begins[] = {"preset", "extends"};
    for (size_t i = 0; i < 2 && rc == 0; i++)
        if (dg_json_get(one, begins[i]))
            rc = dg_error_field(err, DG_EINVAL, begins[i],
                "setting \"%s\": %s cannot be set, as the recipe's own fields come after it; write "
                "it in the recipe",
                setting, begins[i]);
    if (rc == 0)
        rc = merge_tree(root, one, err);
    dg_json_free(one);
    return rc;
}

int dg_recipe_merge(
    struct dg_json *base, const struct dg_json *recipe, const char *dir, struct dg_error *err)
{
    return merge_recipe(base, recipe, dir, 0, err);
}
