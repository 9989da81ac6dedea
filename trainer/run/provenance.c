#include "trainer/run/provenance.h"

#include "base/alloc.h"
#include "base/file.h"
#include "trainer/data/hash.h"
#include "weights/bundle.h"

#include <stdlib.h>
#include <string.h>

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* Append FILE@HASH. A folder of SentencePiece files has the hash of its source.spm. */
static void describe_file(const char *path, struct dg_buffer *out)
{
    char hex[33],
        *inside = dg_alloc_print("%s%s", path, dg_file_is_folder(path) ? "/source.spm" : "");
    dg_buffer_adds(out, last_part(path));
    if (dg_hash_file(inside, hex, NULL, NULL) == 0)
        dg_buffer_addf(out, "@%s", hex);
    free(inside);
}

/* Set key to NAME@VERSION of the bundle, or FILE@HASH of the file, at the recipe's path. */
static int add(struct dg_json *o, const struct dg_recipe *r, const char *key, const char *path)
{
    struct dg_bundle *b = NULL;
    struct dg_buffer text;
    dg_buffer_init(&text);
    char *where = dg_recipe_path(r, path);
    if (dg_bundle_open(where, &b, NULL) == 0)
        dg_buffer_addf(&text, "%s@%s", dg_bundle_name(b), dg_bundle_version(b));
    else
        describe_file(where, &text);
    int rc = text.failed ? -1 : dg_json_set_string(o, key, text.data);
    dg_bundle_close(b);
    free(where);
    dg_buffer_deinit(&text);
    return rc;
}

struct dg_json *dg_provenance_find(const struct dg_recipe *r)
{
    struct dg_json *o = dg_json_new_object();
    int rc = o ? 0 : -1;
    if (!rc && r->init[0])
        rc = add(o, r, "init", r->init);
    if (!rc && r->vocabulary.from[0])
        rc = add(o, r, "vocabulary", r->vocabulary.from);
    if (!rc)
        return o;
    dg_json_free(o);
    return NULL;
}

/* An absolute path becomes relative to the data folder if it is inside, else its last part. */
static const char *without_folders(const char *path, const char *data_dir)
{
    const size_t n = strlen(data_dir);
    if (path[0] != '/')
        return path;
    if (n && !strncmp(path, data_dir, n) && path[n] == '/' && path[n + 1])
        return path + n + 1;
    return last_part(path);
}

static struct dg_json *shown(const struct dg_json *v, const char *data_dir);

static struct dg_json *shown_members(const struct dg_json *v, const char *data_dir)
{
    struct dg_json *o = dg_json_new_object();
    for (const char *key = dg_json_next_key(v, NULL); o && key; key = dg_json_next_key(v, key))
        if (dg_json_set_take(o, key, shown(dg_json_get(v, key), data_dir))) {
            dg_json_free(o);
            return NULL;
        }
    return o;
}

static struct dg_json *shown_items(const struct dg_json *v, const char *data_dir)
{
    struct dg_json *list = dg_json_new_array();
    for (size_t i = 0; list && i < dg_json_length(v); i++)
        if (dg_json_append_take(list, shown(dg_json_at(v, i), data_dir))) {
            dg_json_free(list);
            return NULL;
        }
    return list;
}

/* A copy in which no string is an absolute path. */
static struct dg_json *shown(const struct dg_json *v, const char *data_dir)
{
    if (dg_json_typeof(v) == DG_JSON_OBJECT)
        return shown_members(v, data_dir);
    if (dg_json_typeof(v) == DG_JSON_ARRAY)
        return shown_items(v, data_dir);
    const char *s = dg_json_string(v, NULL);
    if (!s)
        return dg_json_copy(v);
    s = without_folders(s, data_dir);
    return dg_json_new_string(s, strlen(s));
}

static int replace(struct dg_json *o, const char *key, const char *path, const char *origin)
{
    return path[0] ? dg_json_set_string(o, key, origin ? origin : last_part(path)) : 0;
}

struct dg_json *dg_provenance_recipe(const struct dg_recipe *r, const struct dg_json *origin)
{
    char *real = r->data_dir[0] ? realpath(r->data_dir, NULL) : NULL;
    struct dg_json *o = dg_json_copy(r->json),
                   *data = shown(dg_json_get(r->json, "data"), real ? real : r->data_dir);
    int rc = !o || dg_json_set_take(o, "data", data);
    if (!rc)
        rc = replace(o, "init", r->init, dg_json_string(dg_json_get(origin, "init"), NULL));
    if (!rc && r->vocabulary.from[0])
        rc = replace(dg_json_get(o, "vocabulary"), "from", r->vocabulary.from,
            dg_json_string(dg_json_get(origin, "vocabulary"), NULL));
    free(real);
    if (!rc)
        return o;
    dg_json_free(o);
    return NULL;
}
