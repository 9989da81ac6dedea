/* Routes by which DeepL's clients ask about the server: /v2/languages and /v2/usage. */
#include "server/api/deepl/deepl.h"
#include "server/api/parameters.h"
#include "server/http/reply.h"
#include "server/models/models.h"
#include "text/language_name.h"

#include <string.h>

#define NO_LIMIT 1000000000000 /* DeepL's value for no limit */

static void add_language(struct dg_json *list, const char *code, bool target)
{
    char name[DG_LANGUAGE_NAME], upper[DG_LANGUAGE_MAX];
    struct dg_json *o = dg_json_new_object();
    dg_language_name(code, name);
    dg_deepl_code(code, upper);
    dg_json_set_string(o, "language", upper);
    dg_json_set_string(o, "name", name);
    if (target)
        dg_json_set_bool(o, "supports_formality", false);
    dg_json_append_take(list, o);
}

size_t dg_deepl_varieties(const char *code, const char *out[2])
{
    static const char *const varieties[][3] = {{"en", "en-GB", "en-US"}, {"pt", "pt-BR", "pt-PT"}};
    for (size_t i = 0; i < sizeof varieties / sizeof *varieties; i++) {
        if (strcmp(code, varieties[i][0]) != 0)
            continue;
        out[0] = varieties[i][1];
        out[1] = varieties[i][2];
        return 2;
    }
    out[0] = code;
    return 1;
}

static void add_target(struct dg_json *list, const char *code)
{
    const char *names[2];
    const size_t n = dg_deepl_varieties(code, names);
    for (size_t i = 0; i < n; i++)
        add_language(list, names[i], true);
}

static int list_languages(
    struct dg_app *app, const struct dg_http_request *q, struct dg_json *list, struct dg_error *err)
{
    struct dg_model_languages all;
    struct dg_json *parameters = NULL;
    const char *type = "source";
    int rc = q->body_len > 0 || q->query[0] != '\0' ? dg_parameters_read(q, &parameters, NULL, err)
                                                    : DG_OK;
    if (rc == DG_OK && dg_parameter(parameters, "type"))
        type = dg_parameter_string(parameters, "type");
    const bool target = type && strcmp(type, "target") == 0;
    if (rc == DG_OK && !target && (!type || strcmp(type, "source") != 0))
        rc = dg_deepl_not_supported("type", err);
    dg_models_languages(app->models, target ? DG_TARGETS : DG_SOURCES, &all);
    for (size_t i = 0; i < all.n; i++) {
        if (target)
            add_target(list, all.codes[i]);
        else
            add_language(list, all.codes[i], false);
    }
    dg_json_free(parameters);
    return rc;
}

void dg_deepl_languages(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_http_reply r = {0};
    struct dg_error err = {0};
    struct dg_json *list = dg_json_new_array();
    list_languages(app, dg_http_request(x), list, &err);
    dg_deepl_reply_take(&r, 200, list, &err);
    dg_http_reply_take(x, &r);
}

/* The key's usage today (UTC). */
void dg_deepl_usage(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_json *root = dg_json_new_object();
    int64_t used, limit;
    dg_gate_usage(app->auth, x, &used, &limit);
    dg_json_set_int(root, "character_count", used);
    dg_json_set_int(root, "character_limit", limit > 0 ? limit : NO_LIMIT);
    dg_reply_with_take(x, 200, root);
}
