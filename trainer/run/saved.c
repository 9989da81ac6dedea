/* run.json: describes a run, so that it can resume with nothing but its folder. */
#include "trainer/run/internal.h"

#include "base/alloc.h"
#include "trainer/run/provenance.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Append the relative path from one folder to another, both absolute: "../shared". */
static void put_way(const char *from, const char *to, struct dg_buffer *out)
{
    size_t same = 0, i = 0;
    for (; from[i] && from[i] == to[i]; i++)
        if (from[i] == '/')
            same = i;
    if ((!from[i] || from[i] == '/') && (!to[i] || to[i] == '/'))
        same = i; /* one contains the other */
    for (const char *c = from + same; *c; c++)
        if (*c == '/')
            dg_buffer_adds(out, "../");
    dg_buffer_adds(out, to[same] == '/' ? to + same + 1 : to + same);
}

/* Data beside the run may be moved with it, so record also its path relative to the run's
 * folder. */
static int describe_way(const struct dg_run *r, const char *prepared, struct dg_json *o)
{
    struct dg_buffer way;
    dg_buffer_init(&way);
    char *dir = realpath(r->o->dir, NULL);
    if (dir && prepared)
        put_way(dir, prepared, &way);
    int rc = dir && prepared ? dg_json_set_string(o, "prepared_from_here", way.data) : 0;
    dg_buffer_deinit(&way);
    free(dir);
    return rc;
}

/* Contents of run.json: data_dir and prepared as absolute paths; recipe with every default; origin
 * (trainer/run/provenance.h); model and decoding as in a bundle's manifest, so that the bundle that
 * the run started from may be deleted. */
static struct dg_json *describe(const struct dg_run *r)
{
    struct dg_json *o = dg_json_new_object();
    char *data = realpath(r->recipe->data_dir[0] ? r->recipe->data_dir : ".", NULL),
         *prepared = realpath(r->prepared_dir, NULL);
    int rc = dg_json_set_string(o, "program", DG_VERSION);
    if (!rc)
        rc = dg_json_set_string(o, "data_dir", data ? data : r->recipe->data_dir);
    /* Absent if the data is in the run's own folder, so that the folder can be moved. */
    if (!rc && r->o->prepared)
        rc = dg_json_set_string(o, "prepared", prepared ? prepared : r->prepared_dir);
    if (!rc && r->o->prepared)
        rc = describe_way(r, prepared, o);
    if (!rc)
        rc = dg_json_set_take(o, "recipe", dg_json_copy(r->recipe->json));
    if (!rc)
        rc = dg_json_set_take(o, "origin", dg_json_copy(r->origin));
    if (!rc)
        rc = dg_config_write(&r->config, o);
    free(data);
    free(prepared);
    if (!rc)
        return o;
    dg_json_free(o);
    return NULL;
}

static int write_take(const struct dg_run *r, struct dg_json *o, struct dg_error *err)
{
    char *path = dg_alloc_path(r->o->dir, "run.json");
    int rc = dg_json_save(path, o, err);
    dg_json_free(o);
    free(path);
    return rc;
}

int dg_run_save(struct dg_run *r, struct dg_error *err)
{
    r->origin = dg_provenance_find(r->recipe);
    return write_take(r, r->origin ? describe(r) : NULL, err);
}

static struct dg_json *load(const struct dg_run *r, struct dg_error *err)
{
    char *path = dg_alloc_path(r->o->dir, "run.json");
    struct dg_json *o = dg_json_load(path, err);
    free(path);
    return o;
}

int dg_run_save_settings(const struct dg_run *r, struct dg_error *err)
{
    struct dg_json *o = load(r, err);
    if (!o)
        return DG_EFORMAT;
    if (dg_json_set_take(o, "recipe", dg_json_copy(r->recipe->json))) {
        dg_json_free(o);
        o = NULL;
    }
    return write_take(r, o, err);
}

/* Load the saved recipe with the settings of this session applied. */
static int take_recipe(
    struct dg_run *r, const struct dg_json *o, const char *data_dir, struct dg_error *err)
{
    int rc = dg_recipe_of_json(
        dg_json_get(o, "recipe"), data_dir, r->o->settings, r->o->n_settings, &r->own_recipe, err);
    r->recipe = r->own_recipe;
    return rc;
}

/* Load origin and configuration. Runs of older programs have saved neither: both then come from
 * what the recipe names. */
static int take_rest(struct dg_run *r, const struct dg_json *o, struct dg_error *err)
{
    const struct dg_json *origin = dg_json_get(o, "origin");
    r->origin = origin ? dg_json_copy(origin) : dg_provenance_find(r->recipe);
    if (!r->origin)
        return dg_error_set(err, DG_ENOMEM, "no memory for where the run began");
    r->has_config = dg_json_get(o, "model") != NULL;
    return r->has_config ? dg_config_read(o, &r->config, err) : 0;
}

/* Folder of the prepared data: `was`, or, if the data is no longer there, `way` relative to the
 * run's folder. Caller frees. */
static char *find_prepared(const struct dg_run *r, const char *was, const char *way)
{
    char *path = dg_alloc_path(was, "prepared.json");
    const bool there = access(path, F_OK) == 0;
    free(path);
    return there || !way ? dg_alloc_string(was) : dg_alloc_path(r->o->dir, way);
}

int dg_run_load(struct dg_run *r, struct dg_error *err)
{
    const char *data_dir = "", *prepared = NULL, *way = NULL;
    struct dg_json *o = load(r, err);
    if (!o)
        return DG_EFORMAT;
    int rc = dg_json_field_string(o, NULL, "data_dir", &data_dir, err);
    if (!rc)
        rc = dg_json_field_string(o, NULL, "prepared", &prepared, err);
    if (!rc)
        rc = dg_json_field_string(o, NULL, "prepared_from_here", &way, err);
    if (!rc)
        rc = take_recipe(r, o, data_dir, err);
    if (!rc)
        rc = take_rest(r, o, err);
    if (!rc && prepared && !r->o->prepared) {
        free(r->prepared_dir);
        r->prepared_dir = find_prepared(r, prepared, way);
    }
    dg_json_free(o);
    if (rc)
        dg_error_prefix(err, "%s/run.json", r->o->dir);
    return rc;
}
