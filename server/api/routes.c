#include "server/api/routes.h"

#include "base/clock.h"
#include "base/log.h"
#include "server/api/api.h"
#include "server/api/collections.h"
#include "server/api/cors.h"
#include "server/api/deepl/deepl.h"
#include "server/api/documents.h"
#include "server/api/endpoints.h"
#include "server/api/extensions/extensions.h"
#include "server/api/google/google.h"
#include "server/api/status.h"
#include "server/api/web.h"
#include "server/access/gate.h"
#include "store/keys.h"
#include "server/api/health.h"
#include "server/api/libretranslate/libretranslate.h"
#include "server/api/metrics_page.h"
#include "server/http/reply.h"
#include "server/http/request_id.h"
#include "server/metrics.h"

#include <stdio.h>
#include <string.h>

#define LT &dg_libretranslate
#define DEEPL &dg_deepl
#define GOOGLE &dg_google

static const struct dg_route table[] = {
    {"GET", "/", dg_health_index, NULL, NULL},
    {"GET", "/status", dg_web_status, NULL, NULL},
    {"GET", "/web/{file}", dg_web_file, NULL, NULL},
    {"GET", "/livez", dg_health_live, NULL, NULL},
    {"GET", "/readyz", dg_health_ready, NULL, NULL},
    {"GET", "/metrics", dg_metrics_page, NULL, NULL},
    {"GET", "/openapi.yaml", dg_health_openapi, NULL, NULL},
    {"GET", "/docs", dg_health_docs, NULL, NULL},
    {"GET", "/v1/models", dg_api_models, NULL, NULL},
    {"GET", "/v1/models/{version}/card", dg_api_model_card, NULL, NULL},
    {"GET", "/v1/languages", dg_api_languages, NULL, NULL},
    {"GET", "/v1/usage", dg_api_usage, NULL, NULL},
    {"POST", "/v1/models/reload", dg_api_reload, NULL, NULL},
    {"GET", "/v1/status", dg_status_figures, NULL, NULL},
    {"GET", "/v1/glossaries", dg_api_collections, NULL, NULL},
    {"POST", "/v1/glossaries", dg_api_collections, NULL, NULL},
    {"GET", "/v1/glossaries/{id}", dg_api_collection, NULL, NULL},
    {"PUT", "/v1/glossaries/{id}", dg_api_collection, NULL, NULL},
    {"PATCH", "/v1/glossaries/{id}", dg_api_collection, NULL, NULL},
    {"DELETE", "/v1/glossaries/{id}", dg_api_collection, NULL, NULL},
    {"GET", "/v1/glossaries/{id}/entries", dg_api_collection_entries, NULL, NULL},
    {"GET", "/v1/memories", dg_api_collections, NULL, NULL},
    {"POST", "/v1/memories", dg_api_collections, NULL, NULL},
    {"GET", "/v1/memories/{id}", dg_api_collection, NULL, NULL},
    {"PUT", "/v1/memories/{id}", dg_api_collection, NULL, NULL},
    {"PATCH", "/v1/memories/{id}", dg_api_collection, NULL, NULL},
    {"DELETE", "/v1/memories/{id}", dg_api_collection, NULL, NULL},
    {"GET", "/v1/memories/{id}/entries", dg_api_collection_entries, NULL, NULL},
    {"POST", "/v1/documents", dg_api_documents, NULL, NULL},
    {"GET", "/v1/documents/{id}", dg_api_document, NULL, NULL},
    {"DELETE", "/v1/documents/{id}", dg_api_document, NULL, NULL},
    {"GET", "/v1/documents/{id}/result", dg_api_document_result, NULL, NULL},
    {"POST", "/v1/translate", NULL, &dg_endpoint_translate, NULL},
    {"POST", "/v1/batch", NULL, &dg_endpoint_batch, NULL},
    {"POST", "/v1/score", NULL, &dg_endpoint_score, NULL},
    {"POST", "/v1/detect", NULL, &dg_endpoint_detect, NULL},
    {"POST", "/v1/alternatives", NULL, &dg_endpoint_alternatives, NULL},
    {"POST", "/v1/attention", NULL, &dg_endpoint_attention, NULL},
    {"POST", "/translate", NULL, &dg_libretranslate_translate, LT},
    {"POST", "/detect", NULL, &dg_libretranslate_detect, LT},
    {"POST", "/suggest", NULL, &dg_libretranslate_suggest, LT},
    {"POST", "/translate_file", dg_libretranslate_file, NULL, LT},
    {"GET", "/download_file/{file}", dg_libretranslate_download, NULL, LT},
    {"GET", "/languages", dg_libretranslate_languages, NULL, LT},
    {"GET", "/frontend/settings", dg_libretranslate_settings, NULL, LT},
    {"GET", "/health", dg_libretranslate_health, NULL, LT},
    {"GET", "/spec", dg_libretranslate_spec, NULL, LT},
    {"POST", "/v2/translate", NULL, &dg_deepl_translate, DEEPL},
    {"POST", "/v2/document", dg_deepl_document, NULL, DEEPL},
    {"POST", "/v2/document/{id}", dg_deepl_document_status, NULL, DEEPL},
    {"POST", "/v2/document/{id}/result", dg_deepl_document_result, NULL, DEEPL},
    {"GET", "/v2/languages", dg_deepl_languages, NULL, DEEPL},
    {"POST", "/v2/languages", dg_deepl_languages, NULL, DEEPL},
    {"GET", "/v2/usage", dg_deepl_usage, NULL, DEEPL},
    {"POST", "/v2/usage", dg_deepl_usage, NULL, DEEPL},
    {"GET", "/v2/glossary-language-pairs", dg_deepl_glossary_pairs, NULL, DEEPL},
    {"GET", "/v2/glossaries", dg_deepl_glossaries, NULL, DEEPL},
    {"POST", "/v2/glossaries", dg_deepl_glossaries, NULL, DEEPL},
    {"GET", "/v2/glossaries/{id}", dg_deepl_glossary, NULL, DEEPL},
    {"DELETE", "/v2/glossaries/{id}", dg_deepl_glossary, NULL, DEEPL},
    {"GET", "/v2/glossaries/{id}/entries", dg_deepl_glossary_entries, NULL, DEEPL},
    {"GET", "/v3/glossaries", dg_deepl_glossaries, NULL, DEEPL},
    {"POST", "/v3/glossaries", dg_deepl_glossaries, NULL, DEEPL},
    {"GET", "/v3/glossaries/{id}", dg_deepl_glossary, NULL, DEEPL},
    {"PATCH", "/v3/glossaries/{id}", dg_deepl_glossary, NULL, DEEPL},
    {"DELETE", "/v3/glossaries/{id}", dg_deepl_glossary, NULL, DEEPL},
    {"GET", "/v3/glossaries/{id}/entries", dg_deepl_glossary_entries, NULL, DEEPL},
    {"PUT", "/v3/glossaries/{id}/dictionaries", dg_deepl_glossary_dictionaries, NULL, DEEPL},
    {"DELETE", "/v3/glossaries/{id}/dictionaries", dg_deepl_glossary_dictionaries, NULL, DEEPL},
    {"GET", "/v3/translation_memories", dg_deepl_memories, NULL, DEEPL},
    {"GET", "/v3/translation_memories/{id}", dg_deepl_memory, NULL, DEEPL},
    {"GET", "/v3/languages", dg_deepl_resource_languages, NULL, DEEPL},
    {"GET", "/v3/languages/resources", dg_deepl_resources, NULL, DEEPL},
    {"GET", "/language/translate/v2", NULL, &dg_google_translate, GOOGLE},
    {"POST", "/language/translate/v2", NULL, &dg_google_translate, GOOGLE},
    {"GET", "/language/translate/v2/detect", NULL, &dg_google_detect, GOOGLE},
    {"POST", "/language/translate/v2/detect", NULL, &dg_google_detect, GOOGLE},
    {"GET", "/language/translate/v2/languages", dg_google_languages, NULL, GOOGLE},
    {"POST", "/language/translate/v2/languages", dg_google_languages, NULL, GOOGLE},
    {"POST", "/imme", NULL, &dg_imme_translate, &dg_imme},
    {"POST", "/kiss", NULL, &dg_kiss_translate, &dg_kiss},
    {"POST", "/hcfy", NULL, &dg_hcfy_translate, &dg_hcfy},
    {"POST", "/deeplx", NULL, &dg_deeplx_translate, &dg_deeplx},
};

const struct dg_route *dg_routes(size_t *n)
{
    *n = sizeof table / sizeof *table;
    return table;
}

static const char *const admin_paths[] = {"/v1/models/reload", "/v1/status"};
static const char *const probe_paths[] = {"/livez", "/readyz", "/health"};
/* Pages about the server, or at an address that nobody can guess. */
static const char *const open_pages[] = {"/", "/status", "/web/{file}", "/metrics", "/openapi.yaml",
    "/docs", "/languages", "/frontend/settings", "/spec", "/download_file/{file}"};
/* Pages about the models and a key's usage: open to every key, whatever its scopes. */
static const char *const key_pages[] = {"/v1/models", "/v1/models/{version}/card", "/v1/languages",
    "/v1/usage", "/v2/languages", "/v2/usage", "/v2/glossary-language-pairs", "/v3/languages",
    "/v3/languages/resources", "/language/translate/v2/languages"};

/* Changes that name languages of the models; the endpoints do so, too. */
static const char *const language_paths[] = {"/v1/documents", "/translate_file", "/v2/document",
    "/v2/glossaries", "/v3/glossaries", "/v3/glossaries/{id}", "/v3/glossaries/{id}/dictionaries"};

/* Pages that list the languages of the models. */
static const char *const language_pages[] = {"/v1/languages", "/languages", "/frontend/settings",
    "/v2/languages", "/v2/glossary-language-pairs", "/v3/languages",
    "/language/translate/v2/languages"};

static bool is_one_of(const char *path, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(path, list[i]) == 0)
            return true;
    return false;
}

#define IS_ONE_OF(path, list) is_one_of(path, list, sizeof(list) / sizeof *(list))

/* Decided by path, with lists rather than a column of the table: a new route, whatever its method,
 * needs the translate scope, and is never open by oversight. */
unsigned dg_routes_scope(const char *method, const char *path, bool pages_open)
{
    const bool reads = strcmp(method, "GET") == 0, page = IS_ONE_OF(path, open_pages);
    if (IS_ONE_OF(path, admin_paths))
        return DG_SCOPE_ADMIN;
    if (reads && (IS_ONE_OF(path, probe_paths) || (page && pages_open)))
        return 0;
    if (IS_ONE_OF(path, key_pages) || (reads && page))
        return DG_SCOPE_TRANSLATE | DG_SCOPE_ADMIN;
    return DG_SCOPE_TRANSLATE;
}

/* Is this the route's path? A {name} takes any part. A slash at the end does not count in other
 * APIs' paths: DeepL's Java client sends /v2/document/, and many clients Google's /v2/. */
static bool matches(const char *route, const char *path, bool other)
{
    for (; *route == '{' ? *path != '\0' : *route == *path; route++, path++) {
        if (*route == '\0')
            return true;
        if (*route != '{')
            continue;
        size_t part = strcspn(path, "/");
        if (part == 0)
            return false;
        route += strcspn(route, "}");
        path += part - 1;
    }
    return other && *route == '\0' && strcmp(path, "/") == 0;
}

static void allow_add(char allow[64], const char *method)
{
    size_t n = strlen(allow);
    snprintf(allow + n, 64 - n, "%s%s", n > 0 ? ", " : "", method);
}

const struct dg_route *dg_routes_find(const char *method, const char *path, const char *dialects,
    int *status, char allow[64], const struct dg_dialect **dialect)
{
    const char *wanted = strcmp(method, "HEAD") == 0 ? "GET" : method;
    allow[0] = '\0';
    *dialect = NULL;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (!matches(table[i].path, path, table[i].dialect) ||
            !dg_dialect_spoken(table[i].dialect, dialects))
            continue;
        *dialect = table[i].dialect;
        if (strcmp(table[i].method, wanted) == 0) {
            *status = 200;
            return &table[i];
        }
        allow_add(allow, table[i].method);
        if (strcmp(table[i].method, "GET") == 0)
            allow_add(allow, "HEAD");
    }
    if (!*dialect)
        *dialect = dg_dialect_of(path, dialects);
    *status = allow[0] == '\0' ? 404 : strcmp(method, "OPTIONS") == 0 ? 204 : 405;
    if (allow[0] != '\0')
        allow_add(allow, "OPTIONS");
    return NULL;
}

/* Fills in an error as the path's API writes it. */
static void fill_error(const struct dg_dialect *dialect, struct dg_http_reply *r, int status,
    const char *code, const char *field, const char *message)
{
    if (dialect)
        dialect->refuse(r, status, message);
    else
        dg_reply_error(r, status, code, field, message);
}

static void reply_error(struct dg_http_exchange *x, const struct dg_dialect *dialect, int status,
    const char *code, const char *message)
{
    struct dg_http_reply r = {0};
    fill_error(dialect, &r, status, code, NULL, message);
    dg_http_reply_take(x, &r);
}

/* Refuses a change that names languages, and a list of them, while the models load: until then
 * there are none, and clients keep an empty list for days. The endpoints refuse such requests
 * themselves. */
static bool refuse_early(
    const struct dg_app *app, struct dg_http_exchange *x, const struct dg_route *route)
{
    const bool changes = route->method[0] == 'P' && IS_ONE_OF(route->path, language_paths);
    if (atomic_load(&app->state) != DG_APP_STARTING ||
        (!changes && !IS_ONE_OF(route->path, language_pages)))
        return false;
    reply_error(x, route->dialect, 503, "starting", "the models are loading");
    return true;
}

/* Sets the headers that every reply of a dialect has. */
static void mark(
    const struct dg_app *app, struct dg_http_exchange *x, const struct dg_dialect *dialect)
{
    dg_cors_mark(app->cors, x, dialect);
    dg_http_set_id_header(x, dialect ? dialect->id_header : NULL);
}

/* Refuses a request that has no route. */
static void refuse(
    struct dg_http_exchange *x, int status, const char *allow, const struct dg_dialect *dialect)
{
    const struct dg_http_request *request = dg_http_request(x);
    struct dg_http_reply r = {.status = status};
    char message[192] = "no such path: GET / lists the routes";
    if (status == 405)
        snprintf(message, sizeof message, "%.80s takes %s, not %.16s", request->path, allow,
            request->method);
    if (status != 204)
        fill_error(
            dialect, &r, status, status == 405 ? "method_not_allowed" : "not_found", NULL, message);
    if (status != 404)
        dg_http_reply_header(&r, "Allow", "%s", allow);
    dg_http_reply_take(x, &r);
}

void dg_routes_handle(void *arg, struct dg_http_exchange *x)
{
    const struct dg_http_request *request = dg_http_request(x);
    struct dg_app *app = arg;
    char allow[64];
    int status;
    const struct dg_dialect *dialect;
    dg_json_begin();
    const struct dg_route *route = dg_routes_find(
        request->method, request->path, app->config.dialects, &status, allow, &dialect);
    mark(app, x, dialect);
    if (!route) {
        refuse(x, status, allow, dialect);
        return;
    }
    atomic_fetch_add(&app->in_flight, 1);
    bool pages_open = strcmp(app->config.keys_open, "pages") == 0;
    unsigned scope = dg_routes_scope(route->method, route->path, pages_open);
    /* Without keys anybody may read, as at /metrics; changes need the Unix socket. */
    if (!app->auth && strcmp(route->method, "GET") == 0 && !route->endpoint)
        scope = 0;
    const struct dg_gate gate = {app->auth, app->rates};
    if (!dg_gate_enter(&gate, x, scope, dialect ? &dialect->gate : NULL, route)) {
        if (!dg_gate_route(x)) /* out of memory: without a route its end is not counted */
            atomic_fetch_sub(&app->in_flight, 1);
        return;
    }
    /* Without keys, every page that somebody on this machine opens can reach the server. */
    const char *why = app->auth ? NULL : dg_cors_refusal(app->cors, x, route->dialect);
    if (why)
        reply_error(x, route->dialect, 403, "forbidden", why);
    else if (route->endpoint)
        dg_endpoint_handle(app, x, route->endpoint);
    else if (!refuse_early(app, x, route))
        route->handle(app, x);
}

void dg_routes_mark(void *arg, struct dg_http_exchange *x, struct dg_http_reply *r)
{
    const struct dg_app *app = arg;
    const struct dg_gate gate = {app->auth, app->rates};
    dg_gate_mark(&gate, x, r);
}

void dg_routes_refuse(void *arg, struct dg_http_exchange *x, int status, const char *code,
    const char *message, struct dg_http_reply *r)
{
    const struct dg_http_request *request = dg_http_request(x);
    const struct dg_app *app = arg;
    const struct dg_dialect *dialect;
    char allow[64];
    int found;
    dg_routes_find(request->method, request->path, app->config.dialects, &found, allow, &dialect);
    mark(app, x, dialect);
    fill_error(dialect, r, status, code, status == 413 ? "body" : NULL, message);
}

/* The metrics' name for how a translation request ended. */
static enum dg_metrics_outcome outcome_of(int status)
{
    switch (status) {
    case 200:
    case 201: return DG_OUTCOME_OK;
    case 503: return DG_OUTCOME_OVERLOADED;
    case 401:
    case 403:
    case 429:
    case 456: return DG_OUTCOME_REFUSED;
    case 499: return DG_OUTCOME_CANCELLED;
    case 504: return DG_OUTCOME_TIMEOUT;
    default: return status < 500 ? DG_OUTCOME_INVALID : DG_OUTCOME_ERROR;
    }
}

static void count(struct dg_app *app, const struct dg_route *route,
    const struct dg_metrics_exchange *e, int outcome)
{
    size_t i = route ? (size_t)(route - table) : sizeof table / sizeof *table;
    dg_metrics_http(app->metrics, i, e);
    if (!route)
        return;
    atomic_fetch_sub(&app->in_flight, 1);
    /* Some dialects translate on GET, too, and some read pages by POST. */
    if ((strcmp(route->method, "POST") != 0 && !route->endpoint) ||
        IS_ONE_OF(route->path, key_pages) || route->handle == dg_api_reload ||
        dg_api_is_collections(route->path))
        return;
    dg_metrics_request(app->metrics, i, outcome_of(outcome));
}

/* True for one in --access-log requests, and for all server errors. */
static bool is_logged(struct dg_app *app, int status)
{
    uint64_t every = (uint64_t)app->config.access_log;
    return status >= 500 || (every > 0 && atomic_fetch_add(&app->answered, 1) % every == 0);
}

/* The access log: paths of known routes only, no text and no address. */
void dg_routes_finished(void *arg, struct dg_http_exchange *x, int status)
{
    struct dg_app *app = arg;
    const struct dg_http_request *request = dg_http_request(x);
    const struct dg_route *route = dg_gate_route(x);
    double ms = request->start_ns > 0 ? (double)(dg_clock_ns() - request->start_ns) / 1e6 : 0;
    const struct dg_metrics_exchange e = {.status = status,
        .seconds = ms / 1e3,
        .bytes_in = request->body_len,
        .bytes_out = dg_http_sent(x)};
    /* A stream sends 200 before it can fail, or before its client leaves. */
    int outcome = status == 200 && dg_http_outcome(x) != 0 ? dg_http_outcome(x) : status;
    count(app, route, &e, outcome);
    /* Successful probes come every few seconds and are no news: they are logged at debug level. */
    bool probe = status == 200 && route &&
                 (route->handle == dg_health_live || route->handle == dg_health_ready ||
                     route->handle == dg_metrics_page);
    if (!is_logged(app, status))
        return dg_gate_leave(app->auth, x, outcome);
    char trace[33];
    dg_trace_id(request->trace, trace);
    dg_log(probe ? DG_LOG_DEBUG : DG_LOG_INFO,
        "request method=%s route=%s status=%d ms=%.2f bytes_in=%zu bytes_out=%zu id=%s trace=%s "
        "key=%s",
        route ? route->method : "-", route ? route->path : "-", status, ms, request->body_len,
        e.bytes_out, request->id[0] != '\0' ? request->id : "-", trace, dg_gate_key(x));
    dg_gate_leave(app->auth, x, outcome);
}
