/* Routes by which DeepL's clients ask about the server: /v3/languages, /v3/languages/resources and
 * /v2/glossary-language-pairs.
 * A resource is a kind of work, such as translating documents; a feature is an option that it
 * supports. */
#include "server/api/deepl/deepl.h"
#include "server/api/parameters.h"
#include "server/http/reply.h"
#include "server/models/ways.h"
#include "text/language_name.h"

#include <stdlib.h>
#include <string.h>

enum { SOURCE = 1, TARGET = 2 }; /* the language that must support a feature */

static const struct feature {
    const char *resource, *name;
    unsigned sides;
} features[] = {
    {"translate_text", "tag_handling", SOURCE | TARGET},
    {"translate_text", "glossary", SOURCE | TARGET},
    {"translate_text", "auto_detection", SOURCE},
    {"translate_document", "glossary", SOURCE | TARGET},
    {"translate_document", "auto_detection", SOURCE},
};

enum { N_FEATURES = sizeof features / sizeof *features };

/* Served resources come first; the others have no languages. */
static const char *const resources[] = {"translate_text", "translate_document", "glossary", "voice",
    "write", "style_rules", "translation_memory", NULL};

static bool is_served(const struct dg_app *app, const char *resource)
{
    return strcmp(resource, "translate_text") == 0 ||
           (strcmp(resource, "translate_document") == 0 && app->uploader) ||
           (strcmp(resource, "glossary") == 0 && app->collections);
}

static void add_language(
    struct dg_json *list, const char *resource, const char *code, unsigned sides)
{
    char name[DG_LANGUAGE_NAME];
    struct dg_json *o = dg_json_new_object(), *has = dg_json_new_object();
    dg_language_name(code, name);
    for (size_t i = 0; i < N_FEATURES; i++) {
        if (strcmp(features[i].resource, resource) != 0 || !(features[i].sides & sides))
            continue;
        struct dg_json *status = dg_json_new_object();
        dg_json_set_string(status, "status", "stable");
        dg_json_set_take(has, features[i].name, status);
    }
    dg_json_set_string(o, "lang", code);
    dg_json_set_string(o, "name", name);
    dg_json_set_bool(o, "usable_as_source", sides & SOURCE);
    dg_json_set_bool(o, "usable_as_target", sides & TARGET);
    dg_json_set_string(o, "status", "stable");
    dg_json_set_take(o, "features", has);
    dg_json_append_take(list, o);
}

static bool has_code(const struct dg_model_languages *l, const char *code)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->codes[i], code) == 0)
            return true;
    return false;
}

static void list_languages(struct dg_app *app, const char *resource, struct dg_json *list)
{
    struct dg_model_languages all, sources, targets;
    dg_models_languages(app->models, DG_SOURCES | DG_TARGETS, &all);
    dg_models_languages(app->models, DG_SOURCES, &sources);
    dg_models_languages(app->models, DG_TARGETS, &targets);
    for (size_t i = 0; i < all.n; i++) {
        const bool source = has_code(&sources, all.codes[i]);
        const char *names[2];
        size_t n = has_code(&targets, all.codes[i]) ? dg_deepl_varieties(all.codes[i], names) : 0;
        /* A glossary is for a language, including all its varieties. */
        const bool itself = n == 1 || (n > 0 && strcmp(resource, "glossary") == 0);
        if (source || itself)
            add_language(
                list, resource, all.codes[i], (source ? SOURCE : 0) | (itself ? TARGET : 0));
        for (size_t k = 0; k < n && !itself; k++)
            add_language(list, resource, names[k], TARGET);
    }
}

void dg_deepl_resource_languages(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_http_reply r = {0};
    struct dg_error err = {0};
    struct dg_json *parameters = NULL, *list = dg_json_new_array();
    size_t i = 0;
    int rc = dg_parameters_read(dg_http_request(x), &parameters, NULL, &err);
    const char *resource = dg_parameter_string(parameters, "resource");
    while (resource && resources[i] && strcmp(resources[i], resource) != 0)
        i++;
    if (rc == DG_OK && !resource)
        dg_error_field(&err, DG_EINVAL, "resource", "Parameter 'resource' not specified");
    else if (rc == DG_OK && !resources[i])
        dg_deepl_not_supported("resource", &err);
    else if (rc == DG_OK && is_served(app, resource))
        list_languages(app, resource, list);
    dg_deepl_reply_take(&r, 200, list, &err);
    dg_json_free(parameters);
    dg_http_reply_take(x, &r);
}

static struct dg_json *feature_of(const struct feature *f)
{
    struct dg_json *o = dg_json_new_object();
    dg_json_set_string(o, "name", f->name);
    if (f->sides & SOURCE)
        dg_json_set_bool(o, "needs_source_support", true);
    if (f->sides & TARGET)
        dg_json_set_bool(o, "needs_target_support", true);
    return o;
}

void dg_deepl_resources(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_json *list = dg_json_new_array();
    for (size_t i = 0; resources[i]; i++) {
        if (!is_served(app, resources[i]))
            continue;
        struct dg_json *o = dg_json_new_object(), *has = dg_json_new_array();
        for (size_t k = 0; k < N_FEATURES; k++)
            if (strcmp(features[k].resource, resources[i]) == 0)
                dg_json_append_take(has, feature_of(&features[k]));
        dg_json_set_string(o, "name", resources[i]);
        dg_json_set_take(o, "features", has);
        dg_json_append_take(list, o);
    }
    dg_reply_with_take(x, 200, list);
}

/* The pairs that have their own model, so that a glossary can be used; none where clients can have
 * no glossary, because they ask for their glossaries of each pair that is listed. */
void dg_deepl_glossary_pairs(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_model_languages sources, targets;
    dg_models_languages(app->models, DG_SOURCES, &sources);
    dg_models_languages(app->models, DG_TARGETS, &targets);
    const bool none = !app->collections;
    struct dg_ways *ways = none ? NULL : dg_models_ways(app->models, &sources, &targets);
    struct dg_json *root = ways || none ? dg_json_new_object() : NULL, *all = dg_json_new_array();
    for (size_t i = 0; ways && i < sources.n; i++) {
        for (size_t k = 0; k < targets.n; k++) {
            if (ways->kinds[i][k] != DG_WAY_DIRECT)
                continue;
            struct dg_json *o = dg_json_new_object();
            dg_json_set_string(o, "source_lang", sources.codes[i]);
            dg_json_set_string(o, "target_lang", targets.codes[k]);
            dg_json_append_take(all, o);
        }
    }
    free(ways);
    dg_json_set_take(root, "supported_languages", all);
    dg_reply_with_take(x, 200, root);
}
