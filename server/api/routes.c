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
    {"GET", "/", .handle = dg_health_index, .flags = PAGE},
    {"GET", "/status", .handle = dg_web_status, .flags = PAGE},
    {"GET", "/web/{file}", .handle = dg_web_file, .flags = PAGE},
    {"GET", "/livez", .handle = dg_health_live, .flags = PROBE},
    {"GET", "/readyz", .handle = dg_health_ready, .flags = PROBE},
    {"GET", "/metrics", .handle = dg_metrics_page, .flags = PAGE},
    {"GET", "/openapi.yaml", .handle = dg_health_openapi, .flags = PAGE},
    {"GET", "/docs", .handle = dg_health_docs, .flags = PAGE},
    {"GET", "/v1/models", .handle = dg_api_models, .flags = ANY_KEY},
    {"GET", "/v1/models/{version}/card", .handle = dg_api_model_card, .flags = ANY_KEY},
    {"GET", "/v1/languages", .handle = dg_api_languages, .flags = ANY_KEY | LANGUAGES},
    {"GET", "/v1/usage", .handle = dg_api_usage, .flags = ANY_KEY},
    {"POST", "/v1/models/reload", .handle = dg_api_reload, .flags = ADMIN},
    {"GET", "/v1/status", .handle = dg_status_figures, .flags = ADMIN},
    {"GET", "/v1/glossaries", .handle = dg_api_glossaries_list},
    {"POST", "/v1/glossaries", .answer = dg_api_collection_write},
    {"GET", "/v1/glossaries/{id}", .answer = dg_api_collection_get},
    {"PUT", "/v1/glossaries/{id}", .answer = dg_api_collection_write},
    {"PATCH", "/v1/glossaries/{id}", .answer = dg_api_collection_write},
    {"DELETE", "/v1/glossaries/{id}", .answer = dg_api_collection_remove},
    {"GET", "/v1/glossaries/{id}/entries", .answer = dg_api_collection_entries},
    {"GET", "/v1/memories", .answer = dg_api_collections_list},
    {"POST", "/v1/memories", .handle = dg_api_memory_write},
    {"GET", "/v1/memories/{id}", .answer = dg_api_collection_get},
    {"PUT", "/v1/memories/{id}", .handle = dg_api_memory_write},
    {"PATCH", "/v1/memories/{id}", .handle = dg_api_memory_write},
    {"DELETE", "/v1/memories/{id}", .handle = dg_api_memory_remove},
    {"GET", "/v1/memories/{id}/entries", .answer = dg_api_collection_entries},
    {"POST", "/v1/documents", .handle = dg_api_documents, .flags = LANGUAGES | UPLOAD},
    {"GET", "/v1/documents/{id}", .handle = dg_api_document},
    {"DELETE", "/v1/documents/{id}", .handle = dg_api_document},
    {"GET", "/v1/documents/{id}/result", .handle = dg_api_document_result},
    {"POST", "/v1/translate", .endpoint = &dg_endpoint_translate},
    {"POST", "/v1/batch", .endpoint = &dg_endpoint_batch},
    {"POST", "/v1/score", .endpoint = &dg_endpoint_score},
    {"POST", "/v1/detect", .endpoint = &dg_endpoint_detect},
    {"POST", "/v1/alternatives", .endpoint = &dg_endpoint_alternatives},
    {"POST", "/v1/attention", .endpoint = &dg_endpoint_attention},
    {"POST", "/translate", .endpoint = &dg_libretranslate_translate, .dialect = LT},
    {"POST", "/detect", .endpoint = &dg_libretranslate_detect, .dialect = LT},
    {"POST", "/suggest", .endpoint = &dg_libretranslate_suggest, .dialect = LT},
    {"POST", "/translate_file", .handle = dg_libretranslate_file, .dialect = LT,
        .flags = LANGUAGES | UPLOAD},
    {"GET", "/download_file/{file}", .handle = dg_libretranslate_download, .dialect = LT,
        .flags = PAGE},
    {"GET", "/languages", .handle = dg_libretranslate_languages, .dialect = LT,
        .flags = PAGE | LANGUAGES},
    {"GET", "/frontend/settings", .handle = dg_libretranslate_settings, .dialect = LT,
        .flags = PAGE | LANGUAGES},
    {"GET", "/health", .handle = dg_libretranslate_health, .dialect = LT, .flags = PROBE},
    {"GET", "/spec", .handle = dg_libretranslate_spec, .dialect = LT, .flags = PAGE},
    {"POST", "/v2/translate", .endpoint = &dg_deepl_translate, .dialect = DEEPL},
    {"POST", "/v2/document", .handle = dg_deepl_document, .dialect = DEEPL,
        .flags = LANGUAGES | UPLOAD},
    {"POST", "/v2/document/{id}", .handle = dg_deepl_document_status, .dialect = DEEPL},
    {"POST", "/v2/document/{id}/result", .handle = dg_deepl_document_result, .dialect = DEEPL},
    {"GET", "/v2/languages", .handle = dg_deepl_languages, .dialect = DEEPL,
        .flags = ANY_KEY | LANGUAGES},
    {"POST", "/v2/languages", .handle = dg_deepl_languages, .dialect = DEEPL,
        .flags = ANY_KEY | LANGUAGES},
    {"GET", "/v2/usage", .handle = dg_deepl_usage, .dialect = DEEPL, .flags = ANY_KEY},
    {"POST", "/v2/usage", .handle = dg_deepl_usage, .dialect = DEEPL, .flags = ANY_KEY},
    {"GET", "/v2/glossary-language-pairs", .handle = dg_deepl_glossary_pairs, .dialect = DEEPL,
        .flags = ANY_KEY | LANGUAGES},
    {"GET", "/v2/glossaries", .answer = dg_deepl_glossaries_list, .dialect = DEEPL},
    {"POST", "/v2/glossaries", .answer = dg_deepl_glossary_make, .dialect = DEEPL,
        .flags = LANGUAGES},
    {"GET", "/v2/glossaries/{id}", .answer = dg_deepl_glossary_get, .dialect = DEEPL},
    {"DELETE", "/v2/glossaries/{id}", .answer = dg_deepl_glossary_remove, .dialect = DEEPL},
    {"GET", "/v2/glossaries/{id}/entries", .answer = dg_deepl_glossary_entries, .dialect = DEEPL},
    {"GET", "/v3/glossaries", .answer = dg_deepl_glossaries_list, .dialect = DEEPL},
    {"POST", "/v3/glossaries", .answer = dg_deepl_glossary_make, .dialect = DEEPL,
        .flags = LANGUAGES},
    {"GET", "/v3/glossaries/{id}", .answer = dg_deepl_glossary_get, .dialect = DEEPL},
    {"PATCH", "/v3/glossaries/{id}", .answer = dg_deepl_glossary_change, .dialect = DEEPL,
        .flags = LANGUAGES},
    {"DELETE", "/v3/glossaries/{id}", .answer = dg_deepl_glossary_remove, .dialect = DEEPL},
    {"GET", "/v3/glossaries/{id}/entries", .answer = dg_deepl_glossary_entries, .dialect = DEEPL},
    {"PUT", "/v3/glossaries/{id}/dictionaries", .answer = dg_deepl_glossary_change,
        .dialect = DEEPL, .flags = LANGUAGES},
    {"DELETE", "/v3/glossaries/{id}/dictionaries", .answer = dg_deepl_dictionary_remove,
        .dialect = DEEPL},
    {"GET", "/v3/translation_memories", .answer = dg_deepl_memories_list, .dialect = DEEPL},
    {"GET", "/v3/translation_memories/{id}", .answer = dg_deepl_memory_get, .dialect = DEEPL},
    {"GET", "/v3/languages", .handle = dg_deepl_resource_languages, .dialect = DEEPL,
        .flags = ANY_KEY | LANGUAGES},
    {"GET", "/v3/languages/resources", .handle = dg_deepl_resources, .dialect = DEEPL,
        .flags = ANY_KEY},
    {"GET", "/language/translate/v2", .endpoint = &dg_google_translate, .dialect = GOOGLE},
    {"POST", "/language/translate/v2", .endpoint = &dg_google_translate, .dialect = GOOGLE},
    {"GET", "/language/translate/v2/detect", .endpoint = &dg_google_detect, .dialect = GOOGLE},
    {"POST", "/language/translate/v2/detect", .endpoint = &dg_google_detect, .dialect = GOOGLE},
    {"GET", "/language/translate/v2/languages", .handle = dg_google_languages, .dialect = GOOGLE,
        .flags = ANY_KEY | LANGUAGES},
    {"POST", "/language/translate/v2/languages", .handle = dg_google_languages, .dialect = GOOGLE,
        .flags = ANY_KEY | LANGUAGES},
    {"POST", "/imme", .endpoint = &dg_imme_translate, .dialect = &dg_imme},
    {"POST", "/kiss", .endpoint = &dg_kiss_translate, .dialect = &dg_kiss},
    {"POST", "/hcfy", .endpoint = &dg_hcfy_translate, .dialect = &dg_hcfy},
    {"POST", "/deeplx", .endpoint = &dg_deeplx_translate, .dialect = &dg_deeplx},
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

void dg_routes_id(const char *path, char *out, size_t cap)
{
    for (int i = 0; i < 3; i++)
        path = strchr(path, '/') + 1;
    const size_t n = strcspn(path, "/");
    snprintf(out, cap, "%.*s", (int)n, n < cap ? path : "");
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
