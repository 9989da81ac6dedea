#include "text/format/xml/scan.h"

#include "base/array.h"
#include "text/format/xml/check.h"
#include "text/scan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ATTRIBUTES 1000

size_t dg_xml_skip_other(const char *s, size_t at, size_t n)
{
    static const char *const kinds[][2] = {{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (dg_scan_begins(s, at, n, kinds[i][0]))
            return dg_scan_after(s, at + strlen(kinds[i][0]), n, kinds[i][1]);
    return at;
}

/* Returns the end of a tag, or of a document type with declarations within "[" and "]". */
static size_t tag_end(const char *s, size_t at, size_t n)
{
    char quote = 0;
    size_t depth = 0;
    const bool type = dg_scan_begins(s, at, n, "<!");
    for (; at < n; at++) {
        char c = s[at];
        if (quote) {
            quote = c == quote ? 0 : quote;
        } else if (type && dg_scan_begins(s, at, n, "<!--")) {
            at = dg_scan_after(s, at, n, "-->") - 1;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (type && (c == '[' || c == ']')) {
            depth += c == '[';
            depth -= c == ']' && depth > 0;
        } else if (c == '>' && depth == 0) {
            return at + 1;
        }
    }
    return n;
}

static bool is_name_end(char c)
{
    return strchr(" \t\r\n/>", c) != NULL;
}

/* The tag that begins at s[at] == '<'. */
static struct dg_xml_tag read_tag(const char *s, size_t at, size_t n)
{
    struct dg_xml_tag t = {.kind = DG_XML_OTHER, .begin = at, .parent = SIZE_MAX};
    t.end = dg_xml_skip_other(s, at, n);
    if (t.end > at) {
        t.kind = dg_scan_begins(s, at, n, "<![CDATA[") ? DG_XML_CDATA : DG_XML_OTHER;
    } else if (dg_scan_begins(s, at, n, "<!")) {
        t.end = tag_end(s, at, n);
    } else {
        bool closes = at + 1 < n && s[at + 1] == '/';
        t.end = tag_end(s, at, n);
        t.kind = closes                                  ? DG_XML_CLOSE
                 : t.end - at > 2 && s[t.end - 2] == '/' ? DG_XML_EMPTY
                                                         : DG_XML_OPEN;
        t.name = t.name_end = at + 1 + closes;
        while (t.name_end < t.end && !is_name_end(s[t.name_end]))
            t.name_end++;
    }
    return t;
}

/* Refuses a tag with so many attributes that the parser, which compares each with all others, would
 * take long. s[n] may be broken. */
static int check_attributes(const char *s, size_t n, struct dg_error *err)
{
    for (size_t at = 0; (at = dg_scan_find(s, at, n, "<")) < n;) {
        const struct dg_xml_tag t = read_tag(s, at, n);
        size_t attributes = 0;
        char quote = 0;
        for (size_t i = at; t.name && i < t.end; i++) {
            if (quote)
                quote = s[i] == quote ? 0 : quote;
            else if (s[i] == '"' || s[i] == '\'')
                quote = s[i];
            attributes += !quote && s[i] == '=';
        }
        if (attributes > MOST_ATTRIBUTES)
            return dg_error_field(err, DG_EINVAL, "text",
                "the XML has a tag with more than %d attributes", MOST_ATTRIBUTES);
        at = t.end;
    }
    return DG_OK;
}

static int check(const char *s, size_t n, struct dg_error *err)
{
    const int rc = check_attributes(s, n, err);
    return rc == DG_OK ? dg_xml_check(s, n, err) : rc;
}

static int add(struct dg_xml *x, struct dg_xml_tag t, struct dg_error *err)
{
    struct dg_xml_tag *p = dg_array_grow(x->tags, x->n_tags, &x->cap, sizeof *p);
    if (!p)
        return dg_error_set(err, DG_ENOMEM, "no memory for the tags of %zu bytes", x->n);
    x->tags = p;
    x->tags[x->n_tags++] = t;
    return DG_OK;
}

int dg_xml_scan(const char *s, size_t n, struct dg_xml *out, struct dg_error *err)
{
    *out = (struct dg_xml){.s = s, .n = n};
    size_t open = SIZE_MAX; /* the innermost open element */
    int rc = check(s, n, err);
    for (size_t at = 0; rc == DG_OK && (at = dg_scan_find(s, at, n, "<")) < n;) {
        struct dg_xml_tag t = read_tag(s, at, n);
        t.partner = out->n_tags;
        t.parent = open;
        if (t.kind == DG_XML_CLOSE && open != SIZE_MAX) {
            t.partner = open;
            out->tags[open].partner = out->n_tags;
            t.parent = out->tags[open].parent;
        }
        rc = add(out, t, err);
        if (t.kind == DG_XML_OPEN)
            open = out->n_tags - 1;
        else if (t.kind == DG_XML_CLOSE)
            open = t.parent;
        at = t.end;
    }
    return rc;
}

void dg_xml_close(struct dg_xml *x)
{
    free(x->tags);
    *x = (struct dg_xml){0};
}

int dg_xml_is_well_formed(const char *s, size_t n, bool *is, struct dg_error *err)
{
    struct dg_error why = {0};
    const int rc = check(s, n, &why);
    *is = rc == DG_OK;
    return rc == DG_ENOMEM ? dg_error_set(err, rc, "%s", why.message) : DG_OK;
}

bool dg_xml_is(const struct dg_xml *x, const struct dg_xml_tag *t, const char *name)
{
    size_t n = t->name_end - t->name;
    return strlen(name) == n && memcmp(x->s + t->name, name, n) == 0;
}

bool dg_xml_is_local(const struct dg_xml *x, const struct dg_xml_tag *t, const char *name)
{
    size_t len = t->name_end - t->name, n = strlen(name);
    return len >= n && memcmp(x->s + t->name_end - n, name, n) == 0 &&
           (len == n || x->s[t->name_end - n - 1] == ':');
}

const struct dg_xml_tag *dg_xml_root(const struct dg_xml *x)
{
    size_t root = 0;
    while (root < x->n_tags && x->tags[root].kind == DG_XML_OTHER)
        root++;
    return root < x->n_tags ? &x->tags[root] : NULL;
}

const struct dg_xml_tag *dg_xml_parent(const struct dg_xml *x, const struct dg_xml_tag *t)
{
    return t->parent == SIZE_MAX ? NULL : &x->tags[t->parent];
}

bool dg_xml_attribute(const struct dg_xml *x, const struct dg_xml_tag *t, const char *name,
    size_t *begin, size_t *end)
{
    const char *s = x->s;
    for (size_t at = t->name_end; at < t->end;) {
        while (at < t->end && strchr(" \t\r\n/>?", s[at]))
            at++;
        size_t from = at;
        while (at < t->end && !strchr(" \t\r\n=", s[at]))
            at++;
        const bool found = at - from == strlen(name) && memcmp(s + from, name, at - from) == 0;
        while (at < t->end && s[at] != '"' && s[at] != '\'')
            at++;
        const char *close = at < t->end ? memchr(s + at + 1, s[at], t->end - at - 1) : NULL;
        if (!close)
            return false;
        *begin = at + 1;
        *end = at = (size_t)(close - s);
        at++;
        if (found)
            return true;
    }
    return false;
}

bool dg_xml_attribute_is(
    const struct dg_xml *x, const struct dg_xml_tag *t, const char *name, const char *value)
{
    size_t begin, end;
    return dg_xml_attribute(x, t, name, &begin, &end) && end - begin == strlen(value) &&
           memcmp(x->s + begin, value, end - begin) == 0;
}
