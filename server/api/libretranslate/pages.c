/* What LibreTranslate's clients ask about the server, and POST /detect. */
#include "server/api/libretranslate/languages.h"
#include "server/api/libretranslate/libretranslate.h"
#include "server/api/openapi.h"
#include "server/api/parameters.h"
#include "server/http/reply.h"
#include "text/detect/detect.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

static void reply_take(struct dg_http_exchange *x, struct dg_json *value)
{
    struct dg_http_reply r = {0};
    dg_reply_json_take(&r, 200, value);
    dg_http_reply_take(x, &r);
}

void dg_libretranslate_languages(struct dg_app *app, struct dg_http_exchange *x)
{
    reply_take(x, dg_lt_language_list(app->models));
}

void dg_libretranslate_health(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_json *root = dg_json_new_object();
    (void)app;
    dg_json_set_string(root, "status", "ok");
    reply_take(x, root);
}

/* What a page that translates should offer. */
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
    dg_json_set_bool(root, "suggestions", false);
    dg_json_set_bool(root, "filesTranslation", false);
    dg_json_set_take(root, "supportedFilesFormat", dg_json_new_array());
    dg_json_set_take(language, "source", dg_lt_language(sources.n > 0 ? sources.codes[0] : "auto"));
    dg_json_set_take(language, "target", dg_lt_language(targets.n > 0 ? targets.codes[0] : "auto"));
    dg_json_set_take(root, "language", language);
    reply_take(x, root);
}

void dg_libretranslate_spec(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_http_reply r = {.status = 200, .content_type = "application/json"};
    (void)app;
    r.body = malloc(dg_openapi_json_size);
    if (r.body) {
        memcpy(r.body, dg_openapi_json, dg_openapi_json_size);
        r.body_len = dg_openapi_json_size;
    } else {
        r.status = 503;
    }
    dg_http_reply_take(x, &r);
}

/* q as one text: a list has one language. */
static int read_q(const struct dg_json *q, struct dg_buffer *out, struct dg_error *err)
{
    const bool array = dg_json_typeof(q) == DG_JSON_ARRAY;
    for (size_t i = 0; i < (array ? dg_json_length(q) : 1); i++) {
        size_t n;
        const char *s = dg_json_string(array ? dg_json_at(q, i) : q, &n);
        if (!s && q && dg_json_typeof(q) != DG_JSON_NULL)
            return dg_error_field(
                err, DG_EINVAL, "q", "Invalid request: q must be a string or an array of strings");
        if (s && out->len > 0)
            dg_buffer_adds(out, "\n");
        if (s)
            dg_buffer_add(out, s, n);
    }
    if (out->failed)
        return dg_error_set(err, DG_ENOMEM, "no memory for a text");
    return out->len > 0
               ? DG_OK
               : dg_error_field(err, DG_EINVAL, "q", "Invalid request: missing q parameter");
}

static int detect(struct dg_app *app, const struct dg_http_exchange *x, struct dg_buffer *text,
    struct dg_json **body, struct dg_error *err)
{
    struct dg_model_languages sources;
    struct dg_detected d;
    struct dg_json *parameters = NULL;
    bool form;
    int rc = dg_parameters_read(x, &parameters, &form, err);
    if (rc == DG_OK)
        rc = read_q(dg_json_get(parameters, "q"), text, err);
    dg_json_free(parameters);
    const size_t n = rc == DG_OK ? dg_utf8_count(text->data, text->len) : 0;
    if (n > (size_t)app->config.max_characters)
        rc = dg_error_field(err, DG_EINVAL, "q",
            "Invalid request: request (%zu) exceeds text limit (%lld)", n,
            (long long)app->config.max_characters);
    dg_models_languages(app->models, DG_SOURCES, &sources);
    if (rc == DG_OK && sources.n == 0)
        rc = dg_error_set(err, DG_EAGAIN, "the models are being loaded");
    if (rc != DG_OK)
        return rc;
    dg_detect(sources.codes, sources.n, text->data, text->len, &d);
    struct dg_json *list = dg_json_new_array(), *o = dg_json_new_object();
    dg_json_set_int(o, "confidence", d.confidence);
    dg_json_set_string(o, "language", sources.codes[d.language]);
    dg_json_append_take(list, o);
    *body = list;
    return DG_OK;
}

void dg_libretranslate_detect(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_buffer text;
    struct dg_json *body = NULL;
    struct dg_http_reply r = {0};
    struct dg_error err = {0};
    dg_buffer_init(&text);
    if (detect(app, x, &text, &body, &err) == DG_OK)
        dg_reply_json_take(&r, 200, body);
    else
        dg_libretranslate_fail(&r, &err);
    dg_http_reply_take(x, &r);
    dg_buffer_deinit(&text);
}
