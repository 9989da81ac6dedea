/* Routes by which LibreTranslate's clients ask about the server. */
#include "server/api/files.h"
#include "server/api/libretranslate/languages.h"
#include "server/api/libretranslate/libretranslate.h"
#include "server/api/openapi.h"
#include "server/http/reply.h"

#include <string.h>

void dg_libretranslate_languages(struct dg_app *app, struct dg_http_exchange *x)
{
    dg_reply_with_take(x, 200, dg_lt_language_list(app->models));
}

void dg_libretranslate_health(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_json *root = dg_json_new_object();
    (void)app;
    dg_json_set_string(root, "status", "ok");
    dg_reply_with_take(x, 200, root);
}

/* The first language that is not `source`, else `source` itself. */
static const char *first_other(const struct dg_model_languages *l, const char *source)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->codes[i], source) != 0)
            return l->codes[i];
    return source;
}

/* Settings for a page that translates. */
void dg_libretranslate_settings(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_model_languages sources, targets;
    struct dg_json *root = dg_json_new_object(), *language = dg_json_new_object();
    const bool keys = app->auth != NULL;
    dg_models_languages(app->models, DG_SOURCES, &sources);
    dg_models_languages(app->models, DG_TARGETS, &targets);
    dg_json_set_int(root, "charLimit", app->config.max_characters);
    dg_json_set_int(root, "frontendTimeout", 500);
    dg_json_set_bool(root, "apiKeys", keys);
    dg_json_set_bool(root, "keyRequired", keys);
    dg_json_set_bool(root, "suggestions", app->suggestions != NULL);
    dg_json_set_bool(root, "filesTranslation", app->uploader != NULL);
    dg_json_set_take(root, "supportedFilesFormat", dg_file_suffixes(app));
    const char *source = sources.codes[0];
    dg_json_set_take(language, "source", dg_lt_language(source));
    dg_json_set_take(language, "target", dg_lt_language(first_other(&targets, source)));
    dg_json_set_take(root, "language", language);
    dg_reply_with_take(x, 200, root);
}

void dg_libretranslate_spec(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_http_reply r = {.content_type = "application/json"};
    (void)app;
    dg_reply_fixed(&r, dg_openapi_json, dg_openapi_json_size);
    dg_http_reply_take(x, &r);
}
