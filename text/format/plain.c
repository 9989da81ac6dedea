/* Plain text: one unit, including line ends. HTML sent as plain text is not damaged: if it has a
 * closing tag of HTML, or <br>, its tags become marks, and a unit ends at tags that end a sentence
 * in HTML. Character references stay plain text, in the source as in the answer. */
#include "text/format/html/elements.h"
#include "text/format/internal.h"
#include "text/utf8.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* True if an HTML tag seems to begin at s[at]: its name is known. */
static bool read_name(const char *s, size_t at, size_t n, char name[16])
{
    size_t len = 0, i = at + 1;
    i += i < n && s[i] == '/';
    while (i < n && len < 15 && isalnum((unsigned char)s[i]))
        name[len++] = (char)tolower((unsigned char)s[i++]);
    name[len] = '\0';
    return i < n && strchr(" \t\r\n/>", s[i]) && dg_element_is_known(name);
}

/* True if it is HTML, and not a text about "<b>". */
static bool is_html(struct dg_document *d, const char *s, size_t n)
{
    char name[16];
    const char *found = s;
    for (size_t at = 0, end; n > at && (found = memchr(s + at, '<', n - at)); at = end) {
        at = (size_t)(found - s);
        end = dg_tag_end(d, s, at, n);
        if (end > at && read_name(s, at, n, name) &&
            (s[at + 1] == '/' || dg_element_find(name) == DG_ELEMENT_LINE_END))
            return true;
        end = end > at ? end : at + 1;
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

static void read_html(struct dg_document *d, const char *s, size_t first, size_t n)
{
    size_t text = first;
    char name[16];
    d->is_markup = true;
    dg_document_begin(d, first);
    for (size_t at = first; at < n;) {
        const bool named = s[at] == '<' && read_name(s, at, n, name);
        size_t end = named ? dg_tag_end(d, s, at, n) : at;
        if (end == at) {
            at++;
            continue;
        }
        enum dg_element kind = dg_element_find(name);
        dg_document_text(d, s, text, at);
        if (kind == DG_ELEMENT_OPAQUE && s[at + 1] != '/')
            end = skip_opaque(s, end, n, name);
        if (kind == DG_ELEMENT_BLOCK || kind == DG_ELEMENT_LINE_END) {
            dg_document_end(d, s);
            dg_document_begin(d, end);
        } else {
            dg_document_mark(
                d, (struct dg_mark){.kind = DG_MARK_POINT, .begin = at, .end = end}, "");
        }
        text = at = end;
    }
    dg_document_text(d, s, text, n);
    dg_document_end(d, s);
}

void dg_document_plain(struct dg_document *d, const char *s, size_t n)
{
    const size_t first = dg_utf8_bom(s, n);
    if (is_html(d, s, n)) {
        read_html(d, s, first, n);
        return;
    }
    dg_document_begin(d, first);
    dg_document_text(d, s, first, n);
    dg_document_end(d, s);
}
