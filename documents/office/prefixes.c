#include "documents/office/prefixes.h"

#include "text/format/xml/scan.h"
#include "text/scan.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define OPEN_XML "http://schemas.openxmlformats.org/"
#define OPEN_DOCUMENT "urn:oasis:names:tc:opendocument:xmlns:"
#define LONGEST 64 /* bytes of a prefix */
#define ROOM 1024

/* The namespaces by whose prefixes texts are found. */
static const struct {
    const char *usual, *name;
} namespaces[] = {
    {"w", OPEN_XML "wordprocessingml/2006/main"},
    {"a", OPEN_XML "drawingml/2006/main"},
    {"c", OPEN_XML "drawingml/2006/chart"},
    {"p", OPEN_XML "presentationml/2006/main"},
    {"office", OPEN_DOCUMENT "office:1.0"},
    {"text", OPEN_DOCUMENT "text:1.0"},
    {"table", OPEN_DOCUMENT "table:1.0"},
    {"presentation", OPEN_DOCUMENT "presentation:1.0"},
};

enum { NAMESPACES = sizeof namespaces / sizeof *namespaces };

/* A prefix of the file, and the usual one. */
struct change {
    /* [n] */
    const char *from;
    size_t n;
    const char *to;
};

struct changes {
    struct change list[NAMESPACES];
    size_t n;
};

/* Finds the first element's tag. */
static bool find_root(const char *s, size_t n, size_t *begin, size_t *end)
{
    for (size_t at = 0; (at = dg_scan_find(s, at, n, "<")) + 1 < n; at++) {
        if (!isalpha((unsigned char)s[at + 1]))
            continue;
        *begin = at;
        *end = dg_scan_find(s, at, n, ">");
        return *end < n; /* if it does not end, no later tag does */
    }
    return false;
}

/* How often s[n] declares the prefix. */
static size_t count_declarations(const char *s, size_t n, const char *prefix, size_t n_prefix)
{
    char wanted[LONGEST + 16];
    const int len = snprintf(wanted, sizeof wanted, "xmlns:%.*s=", (int)n_prefix, prefix);
    size_t count = 0;
    for (const char *at = s; (at = memmem(at, n - (size_t)(at - s), wanted, (size_t)len)); at++)
        count++;
    return count;
}

/* Finds the prefix that the tag s[begin, end) declares for a namespace; 0: none. */
static size_t find_prefix(
    const char *s, size_t begin, size_t end, const char *uri, const char **prefix)
{
    const size_t len = strlen(uri);
    const char *value = memmem(s + begin, end - begin, uri, len);
    const char *name = value ? value - 2 : NULL; /* ="... */
    if (!value || !strchr("\"'", value[-1]) || *name != '=' || value[len] != value[-1])
        return 0;
    while (name > s + begin && !isspace((unsigned char)name[-1]))
        name--;
    const size_t n = (size_t)(value - 2 - name);
    if (n < 7 || n - 6 > LONGEST || memcmp(name, "xmlns:", 6) != 0)
        return 0;
    *prefix = name + 6;
    return n - 6;
}

static void find_changes(const char *s, size_t n, struct changes *c)
{
    size_t begin, end;
    if (!find_root(s, n, &begin, &end))
        return;
    for (size_t i = 0; i < NAMESPACES; i++) {
        const char *usual = namespaces[i].usual, *from;
        const size_t n_from = find_prefix(s, begin, end, namespaces[i].name, &from);
        if (n_from > 0 && !(n_from == strlen(usual) && memcmp(from, usual, n_from) == 0) &&
            count_declarations(s, n, usual, strlen(usual)) == 0 &&
            count_declarations(s, n, from, n_from) == 1)
            c->list[c->n++] = (struct change){from, n_from, usual};
    }
}

/* Appends the name that begins at s[at], up to its prefix; returns the byte after that. */
static size_t add_prefix(
    const struct changes *c, const char *s, size_t at, size_t n, struct dg_buffer *out)
{
    const size_t declares = n - at > 6 && memcmp(s + at, "xmlns:", 6) == 0 ? 6 : 0;
    const char *name = s + at + declares;
    for (const struct change *k = c->list; k < c->list + c->n; k++) {
        if (n - at - declares <= k->n || memcmp(name, k->from, k->n) != 0 ||
            name[k->n] != (declares ? '=' : ':'))
            continue;
        dg_buffer_add(out, s + at, declares);
        dg_buffer_adds(out, k->to);
        return at + declares + k->n;
    }
    return at;
}

/* The end of the comment, section, instruction or declaration at s[at] == '<'; at: none begins. */
static size_t skip_other(const char *s, size_t at, size_t n)
{
    const size_t other = dg_xml_skip_other(s, at, n);
    if (other > at || n - at < 2 || s[at + 1] != '!')
        return other;
    return dg_scan_find(s, at, n, ">");
}

/* Appends the tag s[at, n) up to its end; returns that. */
static size_t add_tag(
    const struct changes *c, const char *s, size_t at, size_t n, struct dg_buffer *out)
{
    char quote = 0;
    bool name = true; /* a name begins */
    while (at < n && (quote || s[at] != '>')) {
        const size_t to = name && !quote ? add_prefix(c, s, at, n, out) : at;
        name = !quote && (isspace((unsigned char)s[to]) || s[to] == '<' || s[to] == '/');
        if (quote ? s[to] == quote : s[to] == '"' || s[to] == '\'')
            quote = quote ? 0 : s[to];
        dg_buffer_add(out, s + to, 1);
        at = to + 1;
    }
    return at;
}

bool dg_prefixes_usual(const char *s, size_t n, struct dg_buffer *out)
{
    struct changes c = {.n = 0};
    const size_t most = 2 * n + ROOM;
    find_changes(s, n, &c);
    for (size_t at = 0, to; c.n > 0 && at < n && out->len <= most; at = to) {
        to = dg_scan_find(s, at, n, "<");
        if (to == at)
            to = skip_other(s, at, n);
        if (to > at)
            dg_buffer_add(out, s + at, to - at);
        else
            to = add_tag(&c, s, at, n, out);
    }
    return c.n > 0 && out->len <= most;
}
