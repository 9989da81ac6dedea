#include "text/format/markdown_cursor.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool dg_md_is_escaped(const struct dg_md_cursor *c, const struct dg_md_event *e)
{
    return e->kind == DG_MD_TEXT && e->end == e->begin + 1 && e->begin > c->at &&
           c->s[e->begin - 1] == '\\' && ispunct((unsigned char)c->s[e->begin]);
}

size_t dg_md_run(const struct dg_md_cursor *c, size_t at)
{
    size_t n = 0;
    while (at + n < c->n && c->s[at + n] == c->s[at])
        n++;
    return n;
}

size_t dg_md_find_sign(const struct dg_md_cursor *c, const char *signs)
{
    for (size_t i = c->at; i < c->bounds[c->i] || i == c->at; i++)
        if (i < c->n && c->s[i] && strchr(signs, c->s[i]))
            return i;
    return c->at;
}

size_t dg_md_skip_break(const struct dg_md_cursor *c)
{
    size_t at = c->at + (c->at < c->n && c->s[c->at] == '\\');
    return dg_link_skip_space(c->s, at, c->n);
}

size_t dg_md_skip_tabs(const char *s, size_t at, size_t end)
{
    const size_t to = dg_line_skip_blanks(s, at, end);
    return memchr(s + at, '\t', to - at) ? to : at;
}

/* True if the event has bytes of the source. */
static bool is_text(const struct dg_md_event *e)
{
    return e->kind <= DG_MD_CODE && e->begin != SIZE_MAX;
}

const char *dg_md_signs(enum dg_md_span span, bool opens)
{
    switch (span) {
    case DG_MD_STRIKE: return "~";
    case DG_MD_LINK: return opens ? "[<" : "]";
    case DG_MD_IMAGE: return opens ? "!" : "]";
    default: return "*_";
    }
}

size_t dg_md_length(const struct dg_md_cursor *c, enum dg_md_span span, size_t at)
{
    switch (span) {
    case DG_MD_STRIKE: return at < c->n && c->s[at] == '~' ? dg_md_run(c, at) : 1;
    case DG_MD_STRONG:
    case DG_MD_IMAGE: return 2;
    default: return 1;
    }
}

size_t dg_md_leave(const struct dg_md_cursor *c, size_t i)
{
    size_t depth = 0;
    for (; i < c->end; i++) {
        depth += c->list[i].kind == DG_MD_ENTER;
        if (c->list[i].kind == DG_MD_LEAVE && --depth == 0)
            break;
    }
    return i;
}

void dg_md_link_end(const struct dg_md_cursor *c, size_t text, size_t at, struct dg_link_end *out)
{
    size_t bound = c->bounds[c->i];
    const struct dg_md_event *next = c->i + 1 < c->end ? &c->list[c->i + 1] : NULL;
    dg_link_end_find(c->s, at, bound > at ? bound : at + 1, out);
    if (next && is_text(next) && next->kind != DG_MD_CODE && bound > at) {
        struct dg_md_cursor here = {.s = c->s, .at = at};
        out->end = bound - dg_md_is_escaped(&here, next);
    }
    if (out->end <= c->n && dg_link_has_own_label(c->s, text, at, out->end))
        out->label = (struct dg_span){text, at};
}

/* Position before the "`" of the code whose letters begin at `at`. */
static size_t before_code(const struct dg_md_cursor *c, size_t at, size_t floor)
{
    while (at > floor && c->s[at - 1] != '`')
        at--;
    while (at > floor && c->s[at - 1] == '`')
        at--;
    return at;
}

/* True if all pairs that the unit begins with open at byte `at`. */
static bool opens_at(const struct dg_md_cursor *c, size_t at)
{
    for (size_t i = 0; i < c->end && c->list[i].kind == DG_MD_ENTER; i++) {
        enum dg_md_span span = c->list[i].span;
        if (at >= c->n || !c->s[at] || !strchr(dg_md_signs(span, true), c->s[at]) ||
            (span == DG_MD_STRONG && (at + 1 == c->n || c->s[at + 1] != c->s[at])) ||
            (span == DG_MD_IMAGE && (at + 1 == c->n || c->s[at + 1] != '[')))
            return false;
        at += dg_md_length(c, span, at);
    }
    return c->list[0].kind != DG_MD_CODE || c->s[at] == '`';
}

size_t dg_md_find_begin(const struct dg_md_cursor *c, size_t floor)
{
    size_t first = 0;
    while (first < c->end && c->list[first].kind == DG_MD_ENTER)
        first++;
    const struct dg_md_event *e = &c->list[first];
    if (first == c->end || !is_text(e) || e->begin < floor) {
        size_t at = floor;
        while (at < c->n && !opens_at(c, at))
            at++;
        return at;
    }
    struct dg_md_cursor here = {.s = c->s, .at = floor};
    size_t at = e->kind == DG_MD_CODE ? before_code(c, e->begin, floor)
                                      : e->begin - dg_md_is_escaped(&here, e);
    while (first-- > 0) {
        size_t n = dg_md_length(c, c->list[first].span, at);
        if (c->list[first].span == DG_MD_STRIKE) /* one or two */
            n = at > floor + 1 && c->s[at - 2] == '~' ? 2 : 1;
        at = at > floor + n ? at - n : floor;
    }
    return at;
}

bool dg_md_cursor_init(struct dg_md_cursor *c)
{
    c->bounds = malloc((c->end + 1) * sizeof *c->bounds);
    if (!c->bounds)
        return false;
    c->bounds[c->end] = c->n;
    for (size_t i = c->end; i-- > 0;) /* from the end: a bound may be the next event's */
        c->bounds[i] =
            i + 1 < c->end && is_text(&c->list[i + 1]) ? c->list[i + 1].begin : c->bounds[i + 1];
    return true;
}

void dg_md_cursor_deinit(struct dg_md_cursor *c)
{
    free(c->bounds);
}
