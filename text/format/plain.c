/* Plain text: one unit, including line ends. Markup sent as plain text is not damaged: if it has a
 * closing tag of HTML, a <br>, or a tag of any name that is closed or has an attribute, its tags
 * become marks, and a unit ends at tags that end a sentence in HTML. Character references stay
 * plain text, in the source as in the answer. */
#include "text/format/html/elements.h"
#include "text/format/internal.h"
#include "text/placeholder.h"
#include "text/utf8.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* A tag s[begin, end) and its name, s[name, name_end). */
struct tag {
    size_t begin, name, name_end, end;
    bool closes;
    /* its name if that is HTML's, else "" */
    char html[16];
};

static bool is_of_name(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("_:.-", c));
}

/* Reads the tag that begins with s[at] == '<', such as HTML's, <gui style="menu">, <_:link-1/> or
 * <0>; false: none does. Names that do not begin with a letter have no attributes: "<3" is text. */
static bool read_tag(struct dg_document *d, const char *s, size_t at, size_t n, struct tag *t)
{
    *t = (struct tag){.begin = at, .name = at + 1};
    t->closes = t->name < n && s[t->name] == '/';
    t->name += t->closes;
    for (t->name_end = t->name; t->name_end < n && is_of_name(s[t->name_end]);)
        t->name_end++;
    if (t->name_end == t->name || t->name_end == n || s[t->name_end - 1] == ':' ||
        !strchr(" \t\r\n/>", s[t->name_end]))
        return false; /* "<https://example.org/>" is an address */
    t->end = t->name_end + (s[t->name_end] == '/') + 1;
    if (isalpha((unsigned char)s[t->name]))
        t->end = dg_tag_end(d, s, at, n);
    else if (t->end > n || s[t->end - 1] != '>')
        return false;
    for (size_t i = t->name; i < t->name_end && t->name_end - t->name < sizeof t->html; i++)
        t->html[i - t->name] = (char)tolower((unsigned char)s[i]);
    if (!dg_element_is_known(t->html))
        t->html[0] = '\0';
    return t->end > at;
}

/* How HTML treats the tag; <link> and <option> within a text are those of other languages. */
static enum dg_element kind_of(const struct tag *t)
{
    const bool other = strcmp(t->html, "link") == 0 || strcmp(t->html, "option") == 0;
    return other ? DG_ELEMENT_INLINE : dg_element_find(t->html);
}

/* True if the tag has an attribute with a value in quotation marks, or has no partner: <x/>. */
static bool is_complete(const char *s, const struct tag *t)
{
    const size_t n = t->end - t->name_end;
    return s[t->end - 2] == '/' || memmem(s + t->name_end, n, "=\"", 2) ||
           memmem(s + t->name_end, n, "='", 2);
}

static bool have_one_name(const char *s, const struct tag *a, const struct tag *b)
{
    const size_t n = a->name_end - a->name;
    return n == b->name_end - b->name && memcmp(s + a->name, s + b->name, n) == 0;
}

/* Finds the next tag from `at` on that is not in a placeholder, such as those of
 * {n, plural, other {<b>#</b> dogs}}. */
static bool next_tag(struct dg_document *d, const char *s, size_t at, size_t n, struct tag *t)
{
    for (size_t end; at < n; at = at < end ? end : at + 1) {
        end = s[at] == '{' ? dg_placeholder_end(s, at, n) : at;
        if (s[at] == '<' && read_tag(d, s, at, n, t))
            return true;
    }
    return false;
}

/* True if it is markup, and not a text about "<b>". The innermost pair of tags that are nested
 * properly has no tag between its own. */
static bool is_markup(struct dg_document *d, const char *s, size_t n)
{
    struct tag t, last = {0};
    for (size_t at = 0; next_tag(d, s, at, n, &t); at = t.end) {
        if ((t.closes && (t.html[0] || have_one_name(s, &last, &t))) ||
            dg_element_find(t.html) == DG_ELEMENT_LINE_END || is_complete(s, &t))
            return true;
        last = t;
    }
    return false;
}

/* Skips the content of a <script> and the like. */
static size_t skip_opaque(const char *s, size_t at, size_t n, const char *name)
{
    const size_t len = strlen(name);
    for (; at + len + 2 <= n; at++)
        if (s[at] == '<' && s[at + 1] == '/' && strncasecmp(s + at + 2, name, len) == 0)
            return at;
    return n;
}

static void read_markup(struct dg_document *d, const char *s, size_t first, size_t n)
{
    size_t text = first;
    struct tag t;
    d->is_markup = true;
    dg_document_begin(d, first);
    for (; next_tag(d, s, text, n, &t); text = t.end) {
        const enum dg_element kind = kind_of(&t);
        dg_document_text(d, s, text, t.begin);
        if (kind == DG_ELEMENT_OPAQUE && !t.closes && s[t.end - 2] != '/')
            t.end = skip_opaque(s, t.end, n, t.html);
        if (kind == DG_ELEMENT_BLOCK || kind == DG_ELEMENT_LINE_END) {
            dg_document_end(d, s);
            dg_document_begin(d, t.end);
        } else {
            dg_document_mark(
                d, (struct dg_mark){.kind = DG_MARK_POINT, .begin = t.begin, .end = t.end}, "");
        }
    }
    dg_document_text(d, s, text, n);
    dg_document_end(d, s);
}

void dg_document_plain(struct dg_document *d, const char *s, size_t n)
{
    const size_t first = dg_utf8_bom(s, n);
    if (is_markup(d, s, n)) {
        read_markup(d, s, first, n);
        return;
    }
    dg_document_begin(d, first);
    dg_document_text(d, s, first, n);
    dg_document_end(d, s);
}
