#include "server/api/page/html.h"

#include <ctype.h>
#include <string.h>

static void add_escaped(const char *s, size_t n, struct dg_buffer *b)
{
    for (size_t i = 0; i < n; i++) {
        switch (s[i]) {
        case '&': dg_buffer_adds(b, "&amp;"); break;
        case '<': dg_buffer_adds(b, "&lt;"); break;
        case '>': dg_buffer_adds(b, "&gt;"); break;
        case '"': dg_buffer_adds(b, "&quot;"); break;
        default: dg_buffer_add(b, &s[i], 1);
        }
    }
}

void dg_page_text(const char *s, struct dg_buffer *b)
{
    add_escaped(s, strlen(s), b);
}

void dg_page_code(const char *s, struct dg_buffer *b)
{
    dg_buffer_adds(b, "<code>");
    dg_page_text(s, b);
    dg_buffer_adds(b, "</code>");
}

void dg_page_upper(const char *s, struct dg_buffer *b)
{
    for (; *s; s++) {
        char c = (char)toupper((unsigned char)*s);
        add_escaped(&c, 1, b);
    }
}

/* Text with `code` in it. */
static void add_inline(const char *s, size_t n, struct dg_buffer *b)
{
    bool code = false;
    for (size_t i = 0; i < n;) {
        const char *tick = memchr(s + i, '`', n - i);
        size_t end = tick ? (size_t)(tick - s) : n;
        add_escaped(s + i, end - i, b);
        if (tick)
            dg_buffer_adds(b, code ? "</code>" : "<code>");
        code = tick ? !code : code;
        i = end + 1;
    }
    if (code)
        dg_buffer_adds(b, "</code>");
}

/* Groups lines into paragraphs, which end at blank lines, and items, which begin with "* ". */
void dg_page_prose(const char *s, struct dg_buffer *b)
{
    enum { NONE, PARAGRAPH, ITEM } at = NONE;
    static const char *const closing[] = {"", "</p>\n", "</li></ul>\n"};
    while (*s) {
        size_t n = strcspn(s, "\n");
        const char *line = s;
        size_t len = n;
        s += n + (s[n] == '\n');
        while (len > 0 && *line == ' ') {
            line++;
            len--;
        }
        if (len == 0) {
            dg_buffer_adds(b, closing[at]);
            at = NONE;
        } else if (len > 1 && line[0] == '*' && line[1] == ' ') {
            dg_buffer_adds(b, at == PARAGRAPH ? "</p>\n<ul><li>"
                              : at == ITEM    ? "</li>\n<li>"
                                              : "<ul><li>");
            at = ITEM;
            add_inline(line + 2, len - 2, b);
        } else {
            dg_buffer_adds(b, at == NONE ? "<p>" : "\n");
            at = at == NONE ? PARAGRAPH : at;
            add_inline(line, len, b);
        }
    }
    dg_buffer_adds(b, closing[at]);
}

void dg_page_json(const struct dg_node *n, struct dg_buffer *b)
{
    struct dg_buffer text;
    struct dg_json *example = dg_node_json(n);
    dg_buffer_init(&text);
    if (dg_json_write(example, 2, &text) == 0)
        dg_page_text(text.data, b);
    else
        b->failed = true;
    dg_buffer_deinit(&text);
    dg_json_free(example);
}

static void add_limits(const struct dg_node *s, struct dg_buffer *b)
{
    static const char *const names[][2] = {{"minimum", "at least "}, {"maximum", "at most "},
        {"maxLength", "at most so many characters: "}, {"minItems", "items at least "},
        {"maxItems", "items at most "}, {"default", "default "}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const struct dg_node *v = dg_node_get(s, names[i][0]);
        if (!v || !v->text)
            continue;
        dg_buffer_addf(b, ", %s", names[i][1]);
        dg_page_code(v->text, b);
    }
}

static void add_value(const struct dg_node *scalar, struct dg_buffer *b)
{
    dg_page_code(dg_node_text(scalar), b);
}

static void add_choices(const struct dg_node *list,
    void (*add)(const struct dg_node *choice, struct dg_buffer *b), struct dg_buffer *b)
{
    for (size_t i = 0; i < dg_node_length(list); i++) {
        dg_buffer_adds(b, i > 0 ? " or " : "");
        add(dg_node_at(list, i), b);
    }
}

void dg_page_type(const struct dg_node *s, struct dg_buffer *b)
{
    const char *ref = strrchr(dg_node_text_of(s, "$ref"), '/');
    const char *type = dg_node_text_of(s, "type");
    const struct dg_node *one = dg_node_get(s, "oneOf"), *all = dg_node_get(s, "allOf");
    if (ref) {
        dg_buffer_addf(b, "<a href=\"#schema-%s\">%s</a>", ref + 1, ref + 1);
    } else if (one || all || dg_node_get(s, "anyOf")) {
        add_choices(one ? one : all ? all : dg_node_get(s, "anyOf"), dg_page_type, b);
    } else if (dg_node_get(s, "enum")) {
        add_choices(dg_node_get(s, "enum"), add_value, b);
    } else if (strcmp(type, "array") == 0) {
        dg_buffer_adds(b, "array of ");
        dg_page_type(dg_node_get(s, "items"), b);
    } else {
        dg_page_text(type, b);
    }
    add_limits(s, b);
}

void dg_page_schema(const struct dg_node *s, struct dg_buffer *b)
{
    const struct dg_node *items = dg_node_get(s, "items"), *p = dg_node_get(s, "properties");
    if (items && dg_node_get(items, "properties")) {
        dg_buffer_adds(b, "<p>An array; each of its items:</p>\n");
        dg_page_schema(items, b);
        return;
    }
    if (!p) {
        dg_buffer_adds(b, "<p>");
        dg_page_type(s, b);
        dg_buffer_adds(b, "</p>\n");
        return;
    }
    dg_buffer_adds(b, "<table>\n");
    for (size_t i = 0; i < dg_node_length(p); i++) {
        const struct dg_node *v = dg_node_at(p, i);
        dg_buffer_adds(b, "<tr><td>");
        dg_page_code(dg_node_key(p, i), b);
        dg_buffer_adds(b, "</td><td>");
        dg_page_type(v, b);
        dg_buffer_adds(b, dg_node_requires(s, dg_node_key(p, i)) ? ", always" : "");
        dg_buffer_adds(b, "</td><td>");
        dg_page_prose(dg_node_text_of(v, "description"), b);
        if (dg_node_get(v, "properties") || dg_node_get(dg_node_get(v, "items"), "properties"))
            dg_page_schema(v, b);
        dg_buffer_adds(b, "</td></tr>\n");
    }
    dg_buffer_adds(b, "</table>\n");
}
