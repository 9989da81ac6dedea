#include "convert/input.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int dg_input_open(const struct dg_input *in, struct dg_map *map, struct dg_input_cursor *all,
    struct dg_error *err)
{
    int rc = in->path ? dg_file_map(in->path, map, err) : 0;
    if (rc)
        return rc;
    all->at = in->path ? map->data : in->data;
    all->end = all->at + (in->path ? map->size : in->size);
    return 0;
}

int dg_input_result(const struct dg_input *in, int rc, struct dg_error *err)
{
    if (rc && in->path)
        dg_error_prefix(err, "%s", in->path);
    return rc;
}

bool dg_input_has(const char *dir, const char *name)
{
    char *path = dg_file_join(dir, name);
    const bool there = path && access(path, F_OK) == 0;
    free(path);
    return there;
}

int dg_input_json(
    const char *dir, const char *name, bool required, struct dg_json **out, struct dg_error *err)
{
    if (!required && !dg_input_has(dir, name))
        return 0;
    char *path = dg_file_join(dir, name);
    if (!path)
        return dg_error_set(err, DG_ENOMEM, "no memory for a path");
    struct dg_error why = {0};
    *out = dg_json_load(path, &why);
    free(path);
    if (!*out)
        return dg_error_field(err, why.code, name, "%s", why.message);
    if (dg_json_typeof(*out) != DG_JSON_OBJECT)
        return dg_error_field(err, DG_EFORMAT, name, "%s/%s is not an object", dir, name);
    return 0;
}
