#include "server/api/page/document.h"

#include <string.h>

/* Writes the initial JSON body: its example, or an empty object if there is none. */
static void write_body(const char *id, const struct dg_node *body, struct dg_buffer *b)
{
    const struct dg_node *json = dg_node_get(dg_node_get(body, "content"), "application/json");
    const struct dg_node *example = dg_node_get(json, "example");
    if (!json)
        return;
    dg_buffer_addf(b,
        "<label for=\"try-%s-body\">Body (JSON)</label>\n<textarea id=\"try-%s-body\" "
        "name=\"body\" rows=\"%d\" spellcheck=\"false\">",
        id, id, example ? 8 : 2);
    if (example)
        dg_page_json(example, 0, b);
    else
        dg_buffer_adds(b, "{}");
    dg_buffer_adds(b, "</textarea>\n");
}

/* The parameter's example; the first item if it is an array. */
static const char *example_of(const struct dg_node *parameter)
{
    const struct dg_node *example = dg_node_get(parameter, "example");
    return dg_node_text(dg_node_length(example) > 0 ? dg_node_at(example, 0) : example);
}

/* Writes a field for each {name} of the path, and for each query parameter that has an example. */
static void write_fields(
    const struct dg_doc *d, const char *id, const struct dg_node *list, struct dg_buffer *b)
{
    for (size_t i = 0; i < dg_node_length(list); i++) {
        const struct dg_node *p = dg_node_resolve(d, dg_node_at(list, i));
        const char *name = dg_node_text(dg_node_get(p, "name"));
        const char *place = dg_node_text(dg_node_get(p, "in"));
        const bool query = strcmp(place, "query") == 0 && dg_node_get(p, "example");
        if (strcmp(place, "path") != 0 && !query)
            continue;
        dg_buffer_addf(b,
            "<label for=\"try-%s-%s\">%s</label>\n<input id=\"try-%s-%s\" name=\"%s\" "
            "%s value=\"",
            id, name, name, id, name, name, query ? "data-query" : "required");
        dg_page_text(example_of(p), b);
        dg_buffer_adds(b, "\">\n");
    }
}

void dg_page_try(const struct dg_doc *d, const char *method, const char *path,
    const struct dg_node *operation, struct dg_buffer *b)
{
    const char *id = dg_node_text(dg_node_get(operation, "operationId"));
    dg_buffer_adds(
        b, "<details class=\"try\" hidden><summary>Try it</summary>\n<form data-method=\"");
    dg_page_upper(method, b);
    /* Relative, so that it also works where a proxy serves the server under a prefix. */
    dg_buffer_adds(b, "\" data-path=\"");
    dg_page_text(path + (path[0] == '/'), b);
    dg_buffer_adds(b, "\">\n");
    write_fields(d, id, dg_node_get(operation, "parameters"), b);
    write_body(id, dg_node_resolve(d, dg_node_get(operation, "requestBody")), b);
    dg_buffer_adds(b, "<button>Send</button>\n<p role=\"status\"></p>\n"
                      "<pre class=\"answer\" tabindex=\"0\" aria-label=\"Answer\" hidden></pre>\n"
                      "</form></details>\n");
}
