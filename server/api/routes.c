#include "server/api/routes.h"

#include "server/api/api.h"
#include "server/api/collections.h"
#include "server/api/deepl/deepl.h"
#include "server/api/documents.h"
#include "server/api/endpoints.h"
#include "server/api/extensions/extensions.h"
#include "server/api/google/google.h"
#include "server/api/health.h"
#include "server/api/libretranslate/libretranslate.h"
#include "server/api/metrics_page.h"
#include "server/api/status.h"
#include "server/api/web.h"
#include "store/keys.h"

#include <stdio.h>
#include <string.h>

#define LT &dg_libretranslate
#define DEEPL &dg_deepl
#define GOOGLE &dg_google

#define PAGE DG_ROUTE_PAGE
#define PROBE DG_ROUTE_PROBE
#define ANY_KEY DG_ROUTE_ANY_KEY
#define ADMIN DG_ROUTE_ADMIN
#define LANGUAGES DG_ROUTE_LANGUAGES
#define UPLOAD DG_ROUTE_UPLOAD

static const struct dg_route table[] = {
    {"GET", "/", dg_health_index, NULL, NULL, PAGE},
    {"GET", "/status", dg_web_status, NULL, NULL, PAGE},
    {"GET", "/web/{file}", dg_web_file, NULL, NULL, PAGE},
    {"GET", "/livez", dg_health_live, NULL, NULL, PROBE},
    {"GET", "/readyz", dg_health_ready, NULL, NULL, PROBE},
    {"GET", "/metrics", dg_metrics_page, NULL, NULL, PAGE},
    {"GET", "/openapi.yaml", dg_health_openapi, NULL, NULL, PAGE},
    {"GET", "/docs", dg_health_docs, NULL, NULL, PAGE},
    {"GET", "/v1/models", dg_api_models, NULL, NULL, ANY_KEY},
    {"GET", "/v1/models/{version}/card", dg_api_model_card, NULL, NULL, ANY_KEY},
    {"GET", "/v1/languages", dg_api_languages, NULL, NULL, ANY_KEY | LANGUAGES},
    {"GET", "/v1/usage", dg_api_usage, NULL, NULL, ANY_KEY},
    {"POST", "/v1/models/reload", dg_api_reload, NULL, NULL, ADMIN},
    {"GET", "/v1/status", dg_status_figures, NULL, NULL, ADMIN},
    {"GET", "/v1/glossaries", dg_api_collections, NULL, NULL, 0},
    {"POST", "/v1/glossaries", dg_api_collections, NULL, NULL, 0},
    {"GET", "/v1/glossaries/{id}", dg_api_collection, NULL, NULL, 0},
    {"PUT", "/v1/glossaries/{id}", dg_api_collection, NULL, NULL, 0},
    {"PATCH", "/v1/glossaries/{id}", dg_api_collection, NULL, NULL, 0},
    {"DELETE", "/v1/glossaries/{id}", dg_api_collection, NULL, NULL, 0},
    {"GET", "/v1/glossaries/{id}/entries", dg_api_collection_entries, NULL, NULL, 0},
    {"GET", "/v1/memories", dg_api_collections, NULL, NULL, 0},
    {"POST", "/v1/memories", dg_api_collections, NULL, NULL, 0},
    {"GET", "/v1/memories/{id}", dg_api_collection, NULL, NULL, 0},
    {"PUT", "/v1/memories/{id}", dg_api_collection, NULL, NULL, 0},
    {"PATCH", "/v1/memories/{id}", dg_api_collection, NULL, NULL, 0},
    {"DELETE", "/v1/memories/{id}", dg_api_collection, NULL, NULL, 0},
    {"GET", "/v1/memories/{id}/entries", dg_api_collection_entries, NULL, NULL, 0},
    {"POST", "/v1/documents", dg_api_documents, NULL, NULL, LANGUAGES | UPLOAD},
    {"GET", "/v1/documents/{id}", dg_api_document, NULL, NULL, 0},
    {"DELETE", "/v1/documents/{id}", dg_api_document, NULL, NULL, 0},
    {"GET", "/v1/documents/{id}/result", dg_api_document_result, NULL, NULL, 0},
    {"POST", "/v1/translate", NULL, &dg_endpoint_translate, NULL, 0},
    {"POST", "/v1/batch", NULL, &dg_endpoint_batch, NULL, 0},
    {"POST", "/v1/score", NULL, &dg_endpoint_score, NULL, 0},
    {"POST", "/v1/detect", NULL, &dg_endpoint_detect, NULL, 0},
    {"POST", "/v1/alternatives", NULL, &dg_endpoint_alternatives, NULL, 0},
    {"POST", "/v1/attention", NULL, &dg_endpoint_attention, NULL, 0},
    {"POST", "/translate", NULL, &dg_libretranslate_translate, LT, 0},
    {"POST", "/detect", NULL, &dg_libretranslate_detect, LT, 0},
    {"POST", "/suggest", NULL, &dg_libretranslate_suggest, LT, 0},
    {"POST", "/translate_file", dg_libretranslate_file, NULL, LT, LANGUAGES | UPLOAD},
    {"GET", "/download_file/{file}", dg_libretranslate_download, NULL, LT, PAGE},
    {"GET", "/languages", dg_libretranslate_languages, NULL, LT, PAGE | LANGUAGES},
    {"GET", "/frontend/settings", dg_libretranslate_settings, NULL, LT, PAGE | LANGUAGES},
    {"GET", "/health", dg_libretranslate_health, NULL, LT, PROBE},
    {"GET", "/spec", dg_libretranslate_spec, NULL, LT, PAGE},
    {"POST", "/v2/translate", NULL, &dg_deepl_translate, DEEPL, 0},
    {"POST", "/v2/document", dg_deepl_document, NULL, DEEPL, LANGUAGES | UPLOAD},
    {"POST", "/v2/document/{id}", dg_deepl_document_status, NULL, DEEPL, 0},
    {"POST", "/v2/document/{id}/result", dg_deepl_document_result, NULL, DEEPL, 0},
    {"GET", "/v2/languages", dg_deepl_languages, NULL, DEEPL, ANY_KEY | LANGUAGES},
    {"POST", "/v2/languages", dg_deepl_languages, NULL, DEEPL, ANY_KEY | LANGUAGES},
    {"GET", "/v2/usage", dg_deepl_usage, NULL, DEEPL, ANY_KEY},
    {"POST", "/v2/usage", dg_deepl_usage, NULL, DEEPL, ANY_KEY},
    {"GET", "/v2/glossary-language-pairs", dg_deepl_glossary_pairs, NULL, DEEPL,
        ANY_KEY | LANGUAGES},
    {"GET", "/v2/glossaries", dg_deepl_glossaries, NULL, DEEPL, 0},
    {"POST", "/v2/glossaries", dg_deepl_glossaries, NULL, DEEPL, LANGUAGES},
    {"GET", "/v2/glossaries/{id}", dg_deepl_glossary, NULL, DEEPL, 0},
    {"DELETE", "/v2/glossaries/{id}", dg_deepl_glossary, NULL, DEEPL, 0},
    {"GET", "/v2/glossaries/{id}/entries", dg_deepl_glossary_entries, NULL, DEEPL, 0},
    {"GET", "/v3/glossaries", dg_deepl_glossaries, NULL, DEEPL, 0},
    {"POST", "/v3/glossaries", dg_deepl_glossaries, NULL, DEEPL, LANGUAGES},
    {"GET", "/v3/glossaries/{id}", dg_deepl_glossary, NULL, DEEPL, 0},
    {"PATCH", "/v3/glossaries/{id}", dg_deepl_glossary, NULL, DEEPL, LANGUAGES},
    {"DELETE", "/v3/glossaries/{id}", dg_deepl_glossary, NULL, DEEPL, 0},
    {"GET", "/v3/glossaries/{id}/entries", dg_deepl_glossary_entries, NULL, DEEPL, 0},
    {"PUT", "/v3/glossaries/{id}/dictionaries", dg_deepl_glossary_dictionaries, NULL, DEEPL,
        LANGUAGES},
    {"DELETE", "/v3/glossaries/{id}/dictionaries", dg_deepl_glossary_dictionaries, NULL, DEEPL, 0},
    {"GET", "/v3/translation_memories", dg_deepl_memories, NULL, DEEPL, 0},
    {"GET", "/v3/translation_memories/{id}", dg_deepl_memory, NULL, DEEPL, 0},
    {"GET", "/v3/languages", dg_deepl_resource_languages, NULL, DEEPL, ANY_KEY | LANGUAGES},
    {"GET", "/v3/languages/resources", dg_deepl_resources, NULL, DEEPL, ANY_KEY},
    {"GET", "/language/translate/v2", NULL, &dg_google_translate, GOOGLE, 0},
    {"POST", "/language/translate/v2", NULL, &dg_google_translate, GOOGLE, 0},
    {"GET", "/language/translate/v2/detect", NULL, &dg_google_detect, GOOGLE, 0},
    {"POST", "/language/translate/v2/detect", NULL, &dg_google_detect, GOOGLE, 0},
    {"GET", "/language/translate/v2/languages", dg_google_languages, NULL, GOOGLE,
        ANY_KEY | LANGUAGES},
    {"POST", "/language/translate/v2/languages", dg_google_languages, NULL, GOOGLE,
        ANY_KEY | LANGUAGES},
    {"POST", "/imme", NULL, &dg_imme_translate, &dg_imme, 0},
    {"POST", "/kiss", NULL, &dg_kiss_translate, &dg_kiss, 0},
    {"POST", "/hcfy", NULL, &dg_hcfy_translate, &dg_hcfy, 0},
    {"POST", "/deeplx", NULL, &dg_deeplx_translate, &dg_deeplx, 0},
};

const struct dg_route *dg_routes(size_t *n)
{
    *n = sizeof table / sizeof *table;
    return table;
}

unsigned dg_routes_scope(const struct dg_route *route, bool pages_open)
{
    const bool page = (route->flags & PAGE) != 0, probe = (route->flags & PROBE) != 0;
    if (route->flags & ADMIN)
        return DG_SCOPE_ADMIN;
    if (probe || (page && pages_open))
        return 0;
    if (page || route->flags & ANY_KEY)
        return DG_SCOPE_TRANSLATE | DG_SCOPE_ADMIN;
    return DG_SCOPE_TRANSLATE;
}

bool dg_routes_need_models(const struct dg_route *route)
{
    return route->endpoint || route->flags & LANGUAGES;
}

bool dg_routes_translate(const struct dg_route *route)
{
    return route->endpoint || route->flags & UPLOAD;
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

void dg_routes_part(const char *path, const char *prefix, char *out, size_t cap)
{
    const char *part = path + strlen(prefix);
    const size_t n = strcspn(part, "/");
    snprintf(out, cap, "%.*s", (int)n, n < cap ? part : "");
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
