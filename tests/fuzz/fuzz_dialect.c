/* libFuzzer target for the readers of the other servers' APIs (LibreTranslate, DeepL v2 and v3,
 * Google, extensions) and of documents. The first byte chooses a reader, the second the body's
 * media type; the query follows up to the end of the line, then the body. Property: the request is
 * refused with a message and a code that becomes a 4xx, or has items whose texts are within the
 * limits and whose languages are served; no file name leaves its folder. */
#include "server/api/deepl/deepl.h"
#include "server/api/deepl/glossary_body.h"
#include "server/api/extensions/extensions.h"
#include "server/api/files.h"
#include "server/api/google/google.h"
#include "server/api/libretranslate/libretranslate.h"
#include "server/api/parameters.h"
#include "server/http/exchange.h"
#include "tests/fuzz/requests.h"
#include "tests/fuzz/serve.h"

#include <string.h>

static struct dg_service service;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    static char suggestions[128];
    snprintf(suggestions, sizeof suggestions, "%s/suggestions.db", fuzz_dir());
    char *const options[] = {"--http-threads", "1", "--suggestions", suggestions};
    (void)argc;
    (void)argv;
    fuzz_serve(&service, options, sizeof options / sizeof *options);
    return 0;
}

static void read_items(const struct dg_endpoint *endpoint, struct dg_http_exchange *x)
{
    struct dg_request *r = NULL;
    struct dg_error err = {0};
    require(dg_request_open(&service.app, NULL, &endpoint->kind, &r, &err) == DG_OK);
    r->x = x; /* without a connection, so that nothing is known of its client */
    int rc = endpoint->read(r, &limits, &err);
    require(rc == DG_OK || is_refusal(rc, &err));
    require(rc != DG_OK || endpoint->kind.at_once || r->n > 0);
    for (size_t i = 0; rc == DG_OK && i < r->n && !r->kind->at_once; i++) {
        const struct dg_item *item = &r->items[i];
        require(item->n_texts >= 1 && item->n_texts <= limits.texts);
        require(item->characters <= limits.characters && item->source && item->target);
        for (size_t k = 0; k < item->n_texts; k++)
            require(!memchr(item->texts[k].s, '\0', item->texts[k].len));
    }
    r->x = NULL;
    dg_request_free(r);
}

static void read_glossary(unsigned form, struct dg_http_exchange *x)
{
    const struct dg_side side = {.app = &service.app, .request = dg_http_request(x)};
    struct dg_deepl_glossary_body b = {0};
    struct dg_error err = {0};
    int rc = dg_deepl_glossary_read(&side, (enum dg_deepl_glossary_form)form, &b, &err);
    require(rc == DG_OK || is_refusal(rc, &err));
    for (size_t i = 0; rc == DG_OK && i < b.pairs.n; i++)
        require(b.pairs.list[i].source_len > 0 && b.pairs.list[i].target_len > 0);
    dg_deepl_glossary_body_deinit(&b);
}

static void read_file(struct dg_http_exchange *x)
{
    const struct dg_http_request *q = dg_http_request(x);
    struct dg_json *fields = NULL;
    struct dg_multipart_file file;
    struct dg_arena arena;
    const char *source = NULL, *target = NULL;
    struct dg_error err = {0};
    dg_arena_init(&arena, (size_t)1 << 20);
    int rc = dg_file_form_read(q, &fields, &file, &err);
    require(rc == DG_OK || is_refusal(rc, &err));
    require(rc != DG_OK || !file.data ||
            (file.data >= q->body && !strchr(file.name, '/') &&
                file.data + file.n <= q->body + q->body_len));
    if (rc == DG_OK)
        rc = dg_deepl_read_languages(service.app.models, &arena, fields, &source, &target, &err);
    if (rc == DG_OK)
        rc = dg_deepl_check_options(fields, "DE", &err);
    require(rc == DG_OK || is_refusal(rc, &err));
    dg_json_free(fields);
    dg_arena_deinit(&arena);
}

static void read_keys(struct dg_http_exchange *x)
{
    const struct dg_side side = {.app = &service.app, .request = dg_http_request(x)};
    char key[DG_GATE_KEY];
    const char *languages[2];
    struct dg_json *query = NULL;
    struct dg_error err = {0};
    require(!dg_parameters_key(x, "api_key", key) || strlen(key) < sizeof key);
    require(!dg_parameters_query_key(x, "key", key) || strlen(key) < sizeof key);
    int rc = dg_deepl_glossary_query(&side, &query, languages, &err);
    require(rc == DG_OK || is_refusal(rc, &err));
    dg_json_free(query);
}

static void read_request(unsigned which, struct dg_http_exchange *x)
{
    static const struct dg_endpoint *const endpoints[] = {&dg_libretranslate_translate,
        &dg_libretranslate_detect, &dg_libretranslate_suggest, &dg_deepl_translate,
        &dg_google_translate, &dg_google_detect, &dg_imme_translate, &dg_kiss_translate,
        &dg_hcfy_translate, &dg_deeplx_translate};
    enum { ENDPOINTS = sizeof endpoints / sizeof *endpoints, FORMS = 4 };
    which %= ENDPOINTS + FORMS + 2;
    if (which < ENDPOINTS)
        read_items(endpoints[which], x);
    else if (which < ENDPOINTS + FORMS)
        read_glossary(which - ENDPOINTS, x);
    else if (which == ENDPOINTS + FORMS)
        read_file(x);
    else
        read_keys(x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const types[] = {"application/json", "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x", "", "application/vnd.api+json; charset=utf-8",
        "multipart/form-data; boundary=\"a b\""};
    struct dg_http_exchange x = {0};
    if (size < 2)
        return 0;
    const uint8_t *rest = data + 2, *stop = memchr(rest, '\n', size - 2);
    const size_t n = stop ? (size_t)(stop - rest) : 0;
    char *query = strndup((const char *)rest, n);
    require(query != NULL);
    rest += n + (stop != NULL);
    x.request = (struct dg_http_request){.method = "POST",
        .path = "/",
        .query = query,
        .body = (const char *)rest,
        .body_len = (size_t)(data + size - rest),
        .type = types[data[1] % (sizeof types / sizeof *types)],
        .id = "fuzz",
        .trace = ""};
    dg_json_begin();
    read_request(data[0], &x);
    free(query);
    return 0;
}
