#include "server/api/libretranslate/languages.h"

#include "server/models/ways.h"
#include "text/language_name.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *own_code(const char *code)
{
    static const char *const names[][2] = {{"pb", "pt-BR"}, {"zt", "zh-Hant"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(code, names[i][0]) == 0)
            return names[i][1];
    return code;
}

static bool knows(struct dg_models *m, const char *code)
{
    char near[DG_LANGUAGE_MAX];
    return dg_models_nearest(m, code, DG_SOURCES | DG_TARGETS, near);
}

/* Replaces a code by this server's if only that one is known; false: neither is. */
static bool find(struct dg_models *m, const char **code)
{
    if (knows(m, *code))
        return true;
    if (!knows(m, own_code(*code)))
        return false;
    *code = own_code(*code);
    return true;
}

int dg_lt_languages(
    struct dg_models *m, const char **source, const char **target, struct dg_error *err)
{
    char command[DG_WAY_COMMAND];
    const bool automatic = strcasecmp(*source, "auto") == 0;
    if (automatic)
        *source = "auto";
    const bool has_source = automatic || find(m, source);
    if (has_source && find(m, target))
        return DG_OK;
    dg_way_command(*source, *target, command);
    return dg_error_field(err, DG_ENOTFOUND, has_source ? "target" : "source",
        "%.32s is not supported%s", has_source ? *target : *source, command);
}

static bool has_way(struct dg_models *m, const char *source, const char *target)
{
    struct dg_way way;
    if (dg_models_way(m, source, target, true, &way, NULL) != DG_OK)
        return false;
    dg_way_release(&way);
    return true;
}

int dg_lt_pair(struct dg_models *m, const char *source, const char *target, struct dg_error *err)
{
    char from[DG_LANGUAGE_NAME], to[DG_LANGUAGE_NAME], command[DG_WAY_COMMAND];
    if (has_way(m, source, target))
        return DG_OK;
    dg_language_name(source, from);
    dg_language_name(target, to);
    dg_way_command(source, target, command);
    return dg_error_field(err, DG_ENOTFOUND, "target",
        "%s (%.32s) is not available as a target language from %s (%.32s)%s", to, target, from,
        source, command);
}

struct dg_json *dg_lt_language(const char *code)
{
    char name[DG_LANGUAGE_NAME];
    struct dg_json *o = dg_json_new_object();
    dg_language_name(code, name);
    dg_json_set_string(o, "code", code);
    dg_json_set_string(o, "name", name);
    return o;
}

struct dg_json *dg_lt_language_list(struct dg_models *m)
{
    struct dg_model_languages all;
    dg_models_languages(m, DG_SOURCES | DG_TARGETS, &all);
    struct dg_ways *ways = dg_models_ways(m, &all, &all);
    struct dg_json *list = ways ? dg_json_new_array() : NULL;
    for (size_t i = 0; ways && i < all.n; i++) {
        struct dg_json *o = dg_lt_language(all.codes[i]), *targets = dg_json_new_array();
        for (size_t k = 0; k < all.n; k++) {
            if (ways->kinds[i][k] != DG_WAY_NONE)
                dg_json_append_take(
                    targets, dg_json_new_string(all.codes[k], strlen(all.codes[k])));
        }
        dg_json_set_take(o, "targets", targets);
        dg_json_append_take(list, o);
    }
    free(ways);
    return list;
}
