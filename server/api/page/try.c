#include "server/api/page/html.h"

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
        dg_page_json(example, b);
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

/* attributes: of the input, which say what docs.js does with it. */
static void write_field(const char *id, const char *name, const char *attributes, const char *value,
    struct dg_buffer *b)
{
    dg_buffer_addf(b, "<label for=\"try-%s-%s\">%s</label>\n<input id=\"try-%s-%s\" name=\"%s\" %s",
        id, name, name, id, name, name, attributes);
    if (value[0]) {
        dg_buffer_adds(b, " value=\"");
        dg_page_text(value, b);
        dg_buffer_adds(b, "\"");
    }
    dg_buffer_adds(b, ">\n");
}

/* True for a parameter or field that has an API key: the page has one input for keys. */
static bool is_key(const char *name)
{
    static const char *const keys[] = {"api_key", "key", "token"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(name, keys[i]) == 0)
            return true;
    return false;
}

/* Writes a field for each {name} of the path and for each query parameter; next to a body, only for
 * parameters with an example, because the body says the others. */
static void write_parameters(const struct dg_node *root, const char *id, const struct dg_node *list,
    bool body, struct dg_buffer *b)
{
    for (size_t i = 0; i < dg_node_length(list); i++) {
        const struct dg_node *p = dg_node_resolve(root, dg_node_at(list, i));
        const char *name = dg_node_text_of(p, "name");
        const char *place = dg_node_text_of(p, "in");
        const bool said = body && !dg_node_get(p, "example");
        if (strcmp(place, "path") == 0)
            write_field(id, name, "required", example_of(p), b);
        else if (strcmp(place, "query") == 0 && !said && !is_key(name))
            write_field(id, name, "data-query", example_of(p), b);
    }
}

/* Writes the fields of a multipart body. */
static void write_parts(
    const struct dg_node *root, const char *id, const struct dg_node *body, struct dg_buffer *b)
{
    static const char *const attributes[2][2] = {{"data-part", "data-part required"},
        {"type=\"file\" data-part", "type=\"file\" data-part required"}};
    const struct dg_node *parts = dg_node_get(dg_node_get(body, "content"), "multipart/form-data");
    const struct dg_node *schema = dg_node_resolve(root, dg_node_get(parts, "schema"));
    const struct dg_node *fields = dg_node_get(schema, "properties");
    for (size_t i = 0; i < dg_node_length(fields); i++) {
        const char *name = dg_node_key(fields, i);
        const char *format = dg_node_text_of(dg_node_at(fields, i), "format");
        const bool file = strcmp(format, "binary") == 0;
        const bool required = dg_node_requires(schema, name);
        if (!is_key(name))
            write_field(id, name, attributes[file][required], "", b);
    }
}

void dg_page_try(const struct dg_node *root, const char *method, const char *path,
    const struct dg_node *operation, struct dg_buffer *b)
{
    const char *id = dg_node_text_of(operation, "operationId");
    dg_buffer_adds(
        b, "<details class=\"try\" hidden><summary>Try it</summary>\n<form data-method=\"");
    dg_page_upper(method, b);
    /* Relative, so that it also works where a proxy serves the server under a prefix. */
    dg_buffer_adds(b, "\" data-path=\"");
    dg_page_text(path + (path[0] == '/'), b);
    dg_buffer_adds(b, "\">\n");
    const struct dg_node *body = dg_node_resolve(root, dg_node_get(operation, "requestBody"));
    write_parameters(root, id, dg_node_get(operation, "parameters"), body != NULL, b);
    write_body(id, body, b);
    write_parts(root, id, body, b);
    dg_buffer_adds(b, "<button>Send</button>\n<p role=\"status\"></p>\n"
                      "<pre class=\"answer\" tabindex=\"0\" aria-label=\"Answer\" hidden></pre>\n"
                      "</form></details>\n");
}
