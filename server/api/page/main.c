/* Converts openapi.yaml to one readable HTML page and to JSON when the server is built. The page's
 * style and the script of its forms are web/docs.*; it loads nothing from elsewhere. Handles what
 * OpenAPI 3.0 documents hold; unknown parts are left out. usage: openapi-page IN.yaml OUT.html
 * OUT.json */
#include "base/buffer.h"
#include "server/api/page/html.h"

#include <stdio.h>
#include <string.h>

static const char *const methods[] = {"get", "post", "put", "patch", "delete"};

static void write_parameters(
    const struct dg_node *root, const struct dg_node *list, struct dg_buffer *b)
{
    if (dg_node_length(list) == 0)
        return;
    dg_buffer_adds(b, "<h3>Headers and parameters</h3>\n<table>\n");
    for (size_t i = 0; i < dg_node_length(list); i++) {
        const struct dg_node *p = dg_node_resolve(root, dg_node_at(list, i));
        dg_buffer_adds(b, "<tr><td>");
        dg_page_code(dg_node_text_of(p, "name"), b);
        dg_buffer_adds(b, "</td><td>");
        dg_page_type(dg_node_get(p, "schema"), b);
        dg_buffer_adds(b, "</td><td>");
        dg_page_prose(dg_node_text_of(p, "description"), b);
        dg_buffer_adds(b, "</td></tr>\n");
    }
    dg_buffer_adds(b, "</table>\n");
}

/* Writes media types, each with its schema and example. */
static void write_content(const struct dg_node *content, struct dg_buffer *b)
{
    for (size_t i = 0; i < dg_node_length(content); i++) {
        const struct dg_node *c = dg_node_at(content, i), *example = dg_node_get(c, "example");
        dg_buffer_adds(b, "<p>");
        dg_page_code(dg_node_key(content, i), b);
        dg_buffer_adds(b, ": ");
        dg_page_type(dg_node_get(c, "schema"), b);
        dg_buffer_adds(b, "</p>\n");
        dg_page_prose(dg_node_text_of(dg_node_get(c, "schema"), "description"), b);
        if (!example)
            continue;
        dg_buffer_adds(b, "<pre>");
        dg_page_json(example, b);
        dg_buffer_adds(b, "</pre>\n");
    }
}

static void write_responses(
    const struct dg_node *root, const struct dg_node *all, struct dg_buffer *b)
{
    dg_buffer_adds(b, "<h3>Answers</h3>\n<table>\n");
    for (size_t i = 0; i < dg_node_length(all); i++) {
        const struct dg_node *r = dg_node_resolve(root, dg_node_at(all, i));
        dg_buffer_adds(b, "<tr><td>");
        dg_page_code(dg_node_key(all, i), b);
        dg_buffer_adds(b, "</td><td>");
        dg_page_prose(dg_node_text_of(r, "description"), b);
        if (strcmp(dg_node_key(all, i), "200") == 0)
            write_content(dg_node_get(r, "content"), b);
        dg_buffer_adds(b, "</td></tr>\n");
    }
    dg_buffer_adds(b, "</table>\n");
}

/* Writes "GET /v1/models" as code. */
static void write_route(const char *method, const char *path, struct dg_buffer *b)
{
    dg_buffer_adds(b, "<code>");
    dg_page_upper(method, b);
    dg_buffer_adds(b, " ");
    dg_page_text(path, b);
    dg_buffer_adds(b, "</code>");
}

static void write_link(const struct dg_node *root, const char *method, const char *path,
    const struct dg_node *o, struct dg_buffer *b)
{
    (void)root;
    dg_buffer_addf(b, "<li><a href=\"#%s\">", dg_node_text_of(o, "operationId"));
    write_route(method, path, b);
    dg_buffer_adds(b, "</a> ");
    dg_page_text(dg_node_text_of(o, "summary"), b);
    dg_buffer_adds(b, "</li>\n");
}

static void write_operation(const struct dg_node *root, const char *method, const char *path,
    const struct dg_node *o, struct dg_buffer *b)
{
    dg_buffer_addf(
        b, "<section id=\"%s\">\n<h2 class=\"%s\">", dg_node_text_of(o, "operationId"), method);
    write_route(method, path, b);
    dg_buffer_adds(b, "</h2>\n<p><strong>");
    dg_page_text(dg_node_text_of(o, "summary"), b);
    dg_buffer_adds(b, "</strong></p>\n");
    dg_page_prose(dg_node_text_of(o, "description"), b);
    dg_page_try(root, method, path, o, b);
    write_parameters(root, dg_node_get(o, "parameters"), b);
    const struct dg_node *body = dg_node_resolve(root, dg_node_get(o, "requestBody"));
    if (body) {
        dg_buffer_adds(b, "<h3>Request</h3>\n");
        write_content(dg_node_get(body, "content"), b);
    }
    write_responses(root, dg_node_get(o, "responses"), b);
    dg_buffer_adds(b, "</section>\n");
}

typedef void write_fn(const struct dg_node *root, const char *method, const char *path,
    const struct dg_node *operation, struct dg_buffer *b);

static void each_operation(const struct dg_node *root, write_fn *write, struct dg_buffer *b)
{
    const struct dg_node *paths = dg_node_get(root, "paths");
    for (size_t i = 0; i < dg_node_length(paths); i++)
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
            const struct dg_node *o = dg_node_get(dg_node_at(paths, i), methods[m]);
            if (o)
                write(root, methods[m], dg_node_key(paths, i), o, b);
        }
}

static void write_schemas(const struct dg_node *root, struct dg_buffer *b)
{
    const struct dg_node *all = dg_node_get(dg_node_get(root, "components"), "schemas");
    dg_buffer_adds(b, "<section><h2>Objects</h2>\n");
    for (size_t i = 0; i < dg_node_length(all); i++) {
        const struct dg_node *s = dg_node_at(all, i);
        dg_buffer_addf(
            b, "<h3 id=\"schema-%s\">%s</h3>\n", dg_node_key(all, i), dg_node_key(all, i));
        dg_page_prose(dg_node_text_of(s, "description"), b);
        dg_page_schema(s, b);
    }
    dg_buffer_adds(b, "</section>\n");
}

static void write_page(const struct dg_node *root, struct dg_buffer *b)
{
    const struct dg_node *info = dg_node_get(root, "info");
    dg_buffer_adds(b, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
    dg_page_text(dg_node_text_of(info, "title"), b);
    dg_buffer_adds(b,
        "</title>\n<link rel=\"stylesheet\" href=\"web/docs.css\">\n"
        "<script type=\"module\" src=\"web/docs.js\"></script>\n</head>\n<body>\n<header>\n<h1>");
    dg_page_text(dg_node_text_of(info, "title"), b);
    dg_buffer_adds(b, " ");
    dg_page_text(dg_node_text_of(info, "version"), b);
    dg_buffer_adds(b, "</h1>\n");
    dg_page_prose(dg_node_text_of(info, "description"), b);
    dg_buffer_adds(b,
        "<p>The same for programs: <a href=\"openapi.yaml\">openapi.yaml</a>.</p>\n"
        "<div class=\"key\" hidden><label for=\"key\">API key for the forms below, where "
        "the server asks for one; kept in this tab alone</label>\n"
        "<input id=\"key\" type=\"password\" autocomplete=\"off\"></div>\n"
        "</header>\n<nav aria-label=\"Operations\"><ul>\n");
    each_operation(root, write_link, b);
    dg_buffer_adds(b, "</ul></nav>\n<main>\n");
    each_operation(root, write_operation, b);
    write_schemas(root, b);
    dg_buffer_adds(b, "</main>\n</body>\n</html>\n");
}

static bool write_file(const char *path, const struct dg_buffer *b, struct dg_error *err)
{
    FILE *f = b->failed || b->len == 0 ? NULL : fopen(path, "wb");
    bool good = f && fwrite(b->data, 1, b->len, f) == b->len;
    if (f && fclose(f) != 0)
        good = false;
    if (!good)
        dg_error_set(err, DG_EIO, "cannot write %s", path);
    return good;
}

int main(int argc, char *argv[])
{
    struct dg_node *root = NULL;
    struct dg_buffer page, json;
    struct dg_error err = {0};
    if (argc != 4) {
        fprintf(stderr, "usage: openapi-page IN.yaml OUT.html OUT.json\n");
        return 2;
    }
    dg_buffer_init(&page);
    dg_buffer_init(&json);
    bool good = dg_node_read(argv[1], &root, &err) == DG_OK;
    if (good) {
        write_page(root, &page);
        struct dg_json *whole = dg_node_json(root);
        dg_json_write(whole, 0, &json);
        dg_json_free(whole);
        good = write_file(argv[2], &page, &err) && write_file(argv[3], &json, &err);
    }
    if (!good)
        fprintf(stderr, "openapi-page: %s\n", err.message);
    dg_node_free(root);
    dg_buffer_deinit(&page);
    dg_buffer_deinit(&json);
    return good ? 0 : 1;
}
