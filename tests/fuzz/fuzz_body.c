/* libFuzzer target for the readers of request bodies: the first byte chooses an endpoint's JSON, a
 * form or a form with files; from 128 on DeepL's tag lists. Property: each body is refused with a
 * message and a code that becomes a 4xx, or has items whose texts are within the limits. */
#include "server/api/deepl/tags.h"
#include "server/http/form.h"
#include "server/http/multipart.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/requests.h"

#include <string.h>

static struct dg_app app;

static void read_json(const struct dg_endpoint *endpoint, const char *body, size_t n)
{
    struct dg_request *r = NULL;
    struct dg_error err = {0};
    require(dg_request_open(&app, NULL, &endpoint->kind, &r, &err) == DG_OK);
    int rc = dg_endpoint_read(endpoint, r, body, n, &limits, &err);
    require(rc == DG_OK || is_refusal(rc, &err));
    for (size_t i = 0; rc == DG_OK && i < r->n; i++) {
        const struct dg_item *item = &r->items[i];
        require(r->n <= limits.items && item->n_texts <= limits.texts);
        require(item->wrong || item->characters <= limits.characters);
        for (size_t k = 0; k < item->n_texts; k++)
            require(item->texts[k].len <= n && !memchr(item->texts[k].s, '\0', item->texts[k].len));
    }
    dg_request_free(r);
}

static void read_form(const char *body, size_t n)
{
    struct dg_json *o = dg_json_new_object();
    struct dg_error err = {0};
    require(o != NULL);
    int rc = dg_form_read(body, n, o, &err);
    require(rc == DG_OK ? dg_json_length(o) <= DG_FORM_MAX_PARAMETERS : is_refusal(rc, &err));
    dg_json_free(o);
}

static void read_multipart(const char *body, size_t n)
{
    struct dg_multipart_file file = {0};
    struct dg_json *o = dg_json_new_object();
    struct dg_error err = {0};
    require(o != NULL);
    int rc = dg_multipart_read("multipart/form-data; boundary=x", body, n, "file", o, &file, &err);
    require(rc == DG_OK || is_refusal(rc, &err));
    if (rc == DG_OK && file.data) {
        require(memchr(file.name, '\0', sizeof file.name) && !strchr(file.name, '/'));
        require(file.data >= body && file.n <= n && file.data + file.n <= body + n);
    }
    dg_json_free(o);
}

/* Reads tag_handling, ignore_tags and the like, as lists and as one comma-separated string. */
static void read_tags(const char *body, size_t n)
{
    struct dg_request_options options = {0};
    struct dg_arena arena;
    struct dg_error err = {0};
    bool first = false;
    struct dg_json *o = dg_json_parse(body, n, &err);
    if (!o)
        return;
    dg_arena_init(&arena, (size_t)1 << 20);
    const int rc = dg_deepl_read_tags(o, &arena, &options, &first, &err);
    require(rc == DG_OK || is_refusal(rc, &err));
    dg_arena_deinit(&arena);
    dg_json_free(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct dg_endpoint *const endpoints[] = {&dg_endpoint_translate,
        &dg_endpoint_batch, &dg_endpoint_score, &dg_endpoint_alternatives, &dg_endpoint_attention,
        &dg_endpoint_detect};
    enum { ENDPOINTS = sizeof endpoints / sizeof *endpoints };
    if (size == 0)
        return 0;
    const char *body = (const char *)data + 1;
    const size_t which = data[0] % (ENDPOINTS + 2);
    if (data[0] >= 128)
        read_tags(body, size - 1);
    else if (which < ENDPOINTS)
        read_json(endpoints[which], body, size - 1);
    else if (which == ENDPOINTS)
        read_form(body, size - 1);
    else
        read_multipart(body, size - 1);
    return 0;
}
