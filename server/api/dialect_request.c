#include "server/api/dialect_request.h"

#include "server/api/mixed.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

int dg_dialect_request_texts(struct dg_body *b, const char *name, struct dg_error *err)
{
    const struct dg_json *v = dg_json_get(b->request->body, name);
    if (!v || dg_json_typeof(v) == DG_JSON_NULL)
        return dg_error_field(err, DG_EINVAL, name, "%s is missing", name);
    int rc = dg_body_read_texts(b, name, v, false, &b->texts, err);
    return rc == DG_OK ? dg_body_check_characters(b, NULL, err) : rc;
}

int dg_dialect_request_word(const struct dg_json *o, const char *name, const char *const *words,
    const char *allowed, struct dg_error *err)
{
    const struct dg_json *v = dg_json_get(o, name);
    const char *s = dg_json_string(v, NULL);
    if (dg_json_typeof(v) == DG_JSON_NULL || (s && s[0] == '\0'))
        return -1;
    for (int i = 0; s && words[i]; i++)
        if (strcmp(s, words[i]) == 0)
            return i;
    dg_error_field(err, DG_EINVAL, name, "%s is %s%.40s%s, expected %s", name, s ? "\"" : "",
        s ? s : dg_json_type_name(dg_json_typeof(v)), s ? "\"" : "", allowed);
    return -2;
}

int dg_dialect_request_not_served(
    struct dg_request *r, const char *name, const char *value, unsigned side, struct dg_error *err)
{
    struct dg_model_languages all;
    char list[200] = "", command[DG_WAY_COMMAND];
    size_t n = 0, i = 0;
    dg_models_languages(r->app->models, side, &all);
    for (; i < all.n && n + DG_LANGUAGE_MAX + 8 < sizeof list; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i > 0 ? ", " : "", all.codes[i]);
    dg_way_command(side == DG_SOURCES ? value : NULL, side == DG_TARGETS ? value : NULL, command);
    return dg_error_field(err, DG_EINVAL, name, "%s is \"%.40s\", expected one of %s%s%s", name,
        value, list, i < all.n ? ", ..." : "", command);
}

/* *out: the nearest served code of a side, the arena's; NULL: absent, "" or "auto". */
static int read_language(
    struct dg_request *r, const char *name, unsigned side, const char **out, struct dg_error *err)
{
    char served[DG_LANGUAGE_MAX];
    const struct dg_json *v = dg_json_get(r->body, name);
    const char *code = dg_json_string(v, NULL);
    *out = NULL;
    if (dg_json_typeof(v) != DG_JSON_NULL && !code)
        return dg_error_field(err, DG_EINVAL, name, "%s must be a string, not %s", name,
            dg_json_type_name(dg_json_typeof(v)));
    if (!code || !*code || strcasecmp(code, DG_SOURCE_AUTO) == 0)
        return DG_OK;
    if (!dg_models_nearest(r->app->models, code, side, served))
        return dg_dialect_request_not_served(r, name, code, side, err);
    *out = dg_arena_strdup(&r->arena, served);
    return *out ? DG_OK : dg_error_set(err, DG_ENOMEM, "no memory for a language code");
}

int dg_dialect_request_read(
    struct dg_body *b, const struct dg_dialect_request *names, struct dg_error *err)
{
    int rc = dg_dialect_request_texts(b, names->texts, err);
    if (rc == DG_OK)
        rc = read_language(b->request, names->source, DG_SOURCES, &b->source, err);
    if (rc == DG_OK)
        rc = read_language(b->request, names->target, DG_TARGETS, &b->target, err);
    if (rc == DG_OK && !b->target)
        rc = dg_error_field(err, DG_EINVAL, names->target, "%s is missing", names->target);
    if (!b->source)
        b->source = DG_SOURCE_AUTO;
    return rc;
}

const char *dg_dialect_code(const char *served)
{
    if (strcasecmp(served, "zh-Hans") == 0)
        return "zh-CN";
    return strcasecmp(served, "zh-Hant") == 0 ? "zh-TW" : served;
}
