#include "server/api/health.h"

#include "base/buffer.h"
#include "server/api/dialect.h"
#include "server/api/files.h"
#include "server/api/openapi.h"
#include "server/http/reply.h"
#include "server/api/routes.h"
#include "server/api/web.h"

void dg_health_index(struct dg_app *app, struct dg_http_exchange *x)
{
    if (dg_web_wanted(x)) {
        dg_web_page(app, x);
        return;
    }
    struct dg_http_reply r = {0};
    struct dg_json *root = dg_json_new_object(), *routes = dg_json_new_array();
    struct dg_buffer line;
    size_t n;
    const struct dg_route *table = dg_routes(&n);
    dg_buffer_init(&line);
    for (size_t i = 0; i < n; i++) {
        if (!dg_dialect_spoken(table[i].dialect, app->config.dialects))
            continue;
        dg_buffer_reset(&line);
        dg_buffer_addf(&line, "%s %s", table[i].method, table[i].path);
        dg_json_append_take(routes, line.failed ? NULL : dg_json_new_string(line.data, line.len));
    }
    dg_buffer_deinit(&line);
    dg_json_set_string(root, "name", "dragoman-server");
    dg_json_set_string(root, "version", DG_VERSION);
    dg_json_set_int(root, "max_characters", app->config.max_characters);
    dg_json_set_take(root, "documents", dg_file_suffixes(app));
    dg_json_set_bool(
        root, "glossaries", app->collections != NULL || app->config.glossaries[0] != '\0');
    dg_json_set_bool(root, "collections", app->collections != NULL);
    dg_json_set_take(root, "routes", routes);
    dg_reply_json_take(&r, 200, root);
    dg_http_reply_header(&r, "Vary", "Accept");
    dg_http_reply_take(x, &r);
}

static void reply_status(struct dg_http_exchange *x, int status, const char *word)
{
    struct dg_http_reply r = {0};
    struct dg_json *root = dg_json_new_object();
    dg_json_set_string(root, "status", word);
    dg_reply_json_take(&r, status, root);
    dg_http_reply_header(&r, "Cache-Control", "no-store");
    if (status == 503)
        dg_http_reply_header(&r, "Retry-After", "1");
    dg_http_reply_take(x, &r);
}

void dg_health_live(struct dg_app *app, struct dg_http_exchange *x)
{
    const bool stuck = atomic_load(&app->stuck);
    reply_status(x, stuck ? 503 : 200, stuck ? "stuck" : "ok");
}

void dg_health_ready(struct dg_app *app, struct dg_http_exchange *x)
{
    static const char *const words[] = {
        [DG_APP_STARTING] = "starting", [DG_APP_READY] = "ready", [DG_APP_DRAINING] = "draining"};
    const enum dg_app_state state = atomic_load(&app->state);
    const bool stuck = atomic_load(&app->stuck);
    reply_status(x, state == DG_APP_READY && !stuck ? 200 : 503, stuck ? "stuck" : words[state]);
}

void dg_health_openapi(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_http_reply r = {.content_type = "application/yaml"};
    (void)app;
    dg_reply_fixed(&r, dg_openapi, dg_openapi_size);
    dg_http_reply_take(x, &r);
}

void dg_health_docs(struct dg_app *app, struct dg_http_exchange *x)
{
    struct dg_http_reply r = {.content_type = "text/html; charset=utf-8"};
    (void)app;
    dg_web_policy(&r);
    dg_reply_fixed(&r, dg_docs_page, dg_docs_page_size);
    dg_http_reply_take(x, &r);
}
