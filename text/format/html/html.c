/* Makes units of HTML's text from libgumbo's tags (parse.c), in byte order. The source is never
 * regenerated: whatever is not translated keeps its bytes, including malformed tags. */
#include "text/format/flow.h"
#include "text/format/html/elements.h"
#include "text/format/html/parse.h"
#include "text/format/internal.h"
#include "text/scan.h"
#include "text/utf8.h"

#include <ctype.h>
#include <string.h>

#define MOST_TAGS 8 /* that are passed over between two texts */

static void add_event(struct dg_flow *f, const struct dg_html_event *e)
{
    switch (e->kind) {
    case DG_HTML_BLOCK: dg_flow_end(f); break;
    case DG_HTML_OPEN:
    case DG_HTML_CLOSE: dg_flow_tag(f, e->begin, e->end, e->kind == DG_HTML_OPEN); break;
    case DG_HTML_POINT: dg_flow_point(f, e->begin, e->end); break;
    case DG_HTML_LINE_END: dg_flow_line_end(f, e->begin, e->end); break;
    case DG_HTML_PROTECTED: dg_flow_protect(f, e->begin, e->end, e->inner, e->inner_end); break;
    case DG_HTML_VALUE: break;
    }
    if (e->quiet)
        dg_flow_end(f);
    f->lines = e->lines;
}

/* Adds a tag that the parser skipped. */
static void add_stray(struct dg_flow *f, size_t begin, size_t end)
{
    char name[32] = "";
    size_t n = 0, at = begin + 1;
    at += f->s[at] == '/';
    while (at < end && n + 1 < sizeof name && isalnum((unsigned char)f->s[at]))
        name[n++] = (char)tolower((unsigned char)f->s[at++]);
    if (n > 0 && dg_element_find(name) == DG_ELEMENT_BLOCK)
        dg_flow_end(f);
    else
        dg_flow_point(f, begin, end);
}

/* True for the start of a tag that does not end. */
static bool is_cut(const char *s, size_t at, size_t n)
{
    at += at + 1 < n && s[at + 1] == '/';
    return at + 1 < n && isalpha((unsigned char)s[at + 1]);
}

/* Adds the bytes between two events: text, and what the parser skipped as malformed. */
static void add_text(struct dg_flow *f, size_t at, size_t end)
{
    size_t text = at;
    while (at < end) {
        size_t to = f->s[at] == '<' ? dg_tag_end(f->d, f->s, at, end) : at;
        if (to == at && f->s[at] == '<' && end == f->n && is_cut(f->s, at, end))
            to = end;
        if (to == at) {
            at++;
            continue;
        }
        dg_flow_text(f, text, at);
        add_stray(f, at, to);
        text = at = to;
    }
    dg_flow_text(f, text, end);
}

/* True if s[at] begins with <a or </a, the tag of a link. */
static bool is_link(const struct dg_flow *f, size_t at)
{
    at += at + 1 < f->n && f->s[at + 1] == '/' ? 2 : 1;
    return at + 1 < f->n && strchr("aA", f->s[at]) && !isalnum((unsigned char)f->s[at + 1]);
}

/* True if two texts without white space between them, before and after the tags at byte `at`, are
 * no word: Price|Stock, Monday|9:30, Price|€20, Note:|The, Dogs|(12). Not: be|fore, H|2. */
static bool are_apart(struct dg_flow *f, size_t at)
{
    const int32_t left = dg_flow_last(f);
    for (size_t tags = 0, to; tags < MOST_TAGS && at < f->n && f->s[at] == '<'; tags++, at = to) {
        to = dg_tag_end(f->d, f->s, at, f->n);
        if (to == at)
            return false;
    }
    const int32_t right = dg_scan_peek(f->s, at, f->n);
    if (dg_scan_is_upper(right))
        return dg_scan_is_lower(left) || dg_scan_is_digit(left) ||
               (left > 0 && left < 0x80 && strchr(":.!?)", left));
    const bool sign = right == '(' || right == '$' || right == 0xA3 || right == 0x20AC;
    return dg_scan_is_lower(left) ? sign || dg_scan_is_digit(right)
                                  : dg_scan_is_digit(left) && sign;
}

/* Adds the bytes between two events. Elements side by side end a text if what they enclose is no
 * word, or if they are links with a "/" between them. */
static void add_between(
    struct dg_flow *f, const struct dg_html_event *last, const struct dg_html_event *e)
{
    const bool beside = last->kind == DG_HTML_CLOSE && e->kind == DG_HTML_OPEN;
    const size_t at = last->end;
    if (beside && e->begin == at + 1 && f->s[at] == '/' && is_link(f, last->begin) &&
        is_link(f, e->begin))
        dg_flow_end(f);
    else
        add_text(f, at, e->begin);
    if (beside && e->begin == at && are_apart(f, at))
        dg_flow_end(f);
}

int dg_document_html(struct dg_document *d, const char *s, size_t n, const struct dg_markup *markup,
    struct dg_error *err)
{
    struct dg_html_events events = {0};
    struct dg_flow f;
    struct dg_html_event last = {.kind = DG_HTML_BLOCK, .end = dg_utf8_bom(s, n)};
    int rc = dg_html_parse(s, n, markup, &events, err);
    dg_flow_init(&f, d, s, n);
    for (size_t i = 0; i < events.n && rc == DG_OK; i++) {
        const struct dg_html_event *e = &events.list[i];
        if (e->kind == DG_HTML_VALUE) {
            dg_flow_value(&f, (struct dg_flow_value){e->begin, e->end, e->encoding});
            continue;
        }
        if (e->begin < last.end)
            continue; /* within an element already added whole, or a duplicate of the parser's */
        if (!last.quiet)
            add_between(&f, &last, e);
        if (!last.quiet || e->kind == DG_HTML_BLOCK || !e->quiet)
            add_event(&f, e);
        last = *e;
    }
    if (rc == DG_OK && last.end < n && !last.quiet)
        add_text(&f, last.end, n);
    dg_flow_end(&f);
    dg_flow_deinit(&f);
    dg_html_events_close(&events);
    return rc;
}
