#include "text/format/flow.h"

#include "base/array.h"
#include "text/format/escape.h"
#include "text/scan.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

void dg_flow_init(struct dg_flow *f, struct dg_document *d, const char *s, size_t n)
{
    *f = (struct dg_flow){.d = d, .s = s, .n = n};
}

void dg_flow_deinit(struct dg_flow *f)
{
    free(f->values);
}

/* White space of HTML and XML, equivalent to a space. */
static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static void begin_at(struct dg_flow *f, size_t at)
{
    if (f->open)
        return;
    dg_document_begin(f->d, at);
    f->open = true;
    f->space = f->space_end = at;
}

/* Writes the pending white space. A single space is ordinary text. */
static void write_space(struct dg_flow *f)
{
    size_t at = f->space, to = f->space_end;
    if (to == at + 1 && f->s[at] == ' ')
        dg_document_text(f->d, f->s, at, to);
    else if (to > at)
        dg_document_mark(
            f->d, (struct dg_mark){.kind = DG_MARK_BREAK, .len = 1, .begin = at, .end = to}, " ");
    f->space = to;
}

void dg_flow_space(struct dg_flow *f, size_t begin, size_t end)
{
    if (!f->open)
        return;
    if (f->space == f->space_end)
        f->space = begin;
    f->space_end = end;
}

/* Returns the end of a reference, or of a tag that the parser skipped, at s[at]; `at` if there is
 * neither. */
static size_t skip_code(struct dg_document *d, const char *s, size_t at, size_t end)
{
    if (s[at] == '&')
        return dg_escape_entity_end(s, at, end);
    return s[at] == '<' ? dg_tag_end(d, s, at, end) : at;
}

static void add_code(struct dg_document *d, const char *s, size_t begin, size_t end)
{
    if (s[begin] == '&')
        dg_escape_reference(d, s, begin, end);
    else
        dg_document_mark(
            d, (struct dg_mark){.kind = DG_MARK_POINT, .begin = begin, .end = end}, "");
}

/* True if the white space s[at, to) has what ends a text where lines count: a line end, or a tab
 * between columns. */
static bool has_border(const char *s, size_t at, size_t to)
{
    return memchr(s + at, '\n', to - at) || memchr(s + at, '\r', to - at) ||
           memchr(s + at, '\t', to - at);
}

void dg_flow_text(struct dg_flow *f, size_t begin, size_t end)
{
    const char *s = f->s;
    for (size_t at = begin, to; at < end; at = to) {
        for (to = at; to < end && is_space(s[to]);)
            to++;
        if (to > at) {
            if (f->lines && has_border(s, at, to))
                dg_flow_end(f);
            dg_flow_space(f, at, to);
            continue;
        }
        begin_at(f, at);
        write_space(f);
        to = skip_code(f->d, s, at, end);
        if (to > at) {
            add_code(f->d, s, at, to);
            continue;
        }
        for (to = at + 1; to < end && !is_space(s[to]) && s[to] != '<' && s[to] != '&';)
            to++;
        dg_document_text(f->d, s, at, to);
    }
}

/* Adds a mark that shows nothing, if a unit is open. */
static void add_mark(struct dg_flow *f, struct dg_mark mark)
{
    if (!f->open)
        return;
    write_space(f);
    dg_document_mark(f->d, mark, "");
}

void dg_flow_point(struct dg_flow *f, size_t begin, size_t end)
{
    add_mark(f, (struct dg_mark){.kind = DG_MARK_POINT, .begin = begin, .end = end});
}

uint32_t dg_flow_open_pair(struct dg_flow *f, size_t begin, size_t end)
{
    const uint32_t id = ++f->d->ids;
    begin_at(f, begin);
    add_mark(f, (struct dg_mark){.kind = DG_MARK_OPEN, .begin = begin, .end = end, .id = id});
    return id;
}

void dg_flow_close_pair(struct dg_flow *f, size_t begin, size_t end, uint32_t id)
{
    add_mark(f, (struct dg_mark){.kind = DG_MARK_CLOSE, .begin = begin, .end = end, .id = id});
}

static bool is_word(int32_t c)
{
    return dg_scan_is_letter(c) || dg_scan_is_digit(c);
}

int32_t dg_flow_last(const struct dg_flow *f)
{
    const struct dg_document *d = f->d;
    size_t at = d->text.len;
    if (!f->open || d->text.failed || f->space < f->space_end || at == d->units[d->n_units].at)
        return 0;
    return dg_scan_prev(d->text.data, d->units[d->n_units].at, &at);
}

bool dg_flow_is_beside_word(const struct dg_flow *f, size_t end)
{
    return is_word(dg_scan_peek(f->s, end, f->n)) || is_word(dg_flow_last(f));
}

/* True if the tag at `begin` closes the tag just written, so that the pair encloses nothing. */
static bool closes_at_once(const struct dg_flow *f, size_t begin)
{
    const struct dg_document *d = f->d;
    if (!f->open || d->text.failed || d->n_marks == d->units[d->n_units].mark)
        return false;
    const struct dg_mark *last = &d->marks[d->n_marks - 1];
    if (last->kind != DG_MARK_POINT || last->end != begin || f->s[last->begin] != '<')
        return false;
    size_t n = 1;
    while (last->begin + n < last->end && !strchr(" \t\r\n\f/>", f->s[last->begin + n]))
        n++;
    return n > 1 && begin + n + 1 < f->n && f->s[begin + 1] == '/' &&
           strncasecmp(f->s + last->begin + 1, f->s + begin + 2, n - 1) == 0 &&
           strchr(" \t\r\n\f/>", f->s[begin + n + 1]);
}

void dg_flow_tag(struct dg_flow *f, size_t begin, size_t end, bool opens)
{
    if (opens)
        begin_at(f, begin);
    if (!opens && closes_at_once(f, begin))
        f->d->marks[f->d->n_marks - 1].end = end;
    else
        dg_flow_point(f, begin, end);
}

void dg_flow_letters(const char *s, size_t begin, size_t end, struct dg_buffer *out)
{
    struct dg_document d = {0};
    struct dg_flow f;
    dg_flow_init(&f, &d, s, end);
    begin_at(&f, begin);
    dg_flow_text(&f, begin, end);
    dg_flow_deinit(&f);
    *out = d.text;
    dg_buffer_init(&d.text);
    dg_document_close(&d);
}

void dg_flow_protect(
    struct dg_flow *f, size_t begin, size_t end, size_t letters, size_t letters_end)
{
    struct dg_buffer shown;
    begin_at(f, begin);
    write_space(f);
    dg_flow_letters(f->s, letters, letters_end, &shown);
    f->d->text.failed |= shown.failed;
    dg_document_protect(
        f->d, shown.data ? shown.data : "", (size_t[2]){begin, end}, (size_t[2]){0, shown.len});
    dg_buffer_deinit(&shown);
}

/* Returns the first byte from `at` on that is neither white space nor in a tag. Of many tags in a
 * row, each has the same. */
static size_t next_text(struct dg_flow *f, size_t at)
{
    if (at >= f->textless && at <= f->textless_end)
        return f->textless_end;
    f->textless = at;
    for (size_t to; at < f->n; at = to) {
        to = at;
        while (to < f->n && is_space(f->s[to]))
            to++;
        if (to < f->n && f->s[to] == '<')
            to = dg_tag_end(f->d, f->s, to, f->n);
        if (to == at)
            break;
    }
    f->textless_end = at;
    return at;
}

void dg_flow_line_end(struct dg_flow *f, size_t begin, size_t end)
{
    size_t at = end;
    while (at < f->n && is_space(f->s[at]))
        at++;
    bool again = f->n - at >= 3 && strncasecmp(f->s + at, "<br", 3) == 0;
    at = next_text(f, at);
    if (again || !dg_scan_is_lower(dg_scan_peek(f->s, at, f->n)))
        dg_flow_end(f);
    else
        dg_flow_space(f, begin, end);
}

static void add_value(struct dg_flow *f, const struct dg_flow_value *v)
{
    const char *s = f->s;
    dg_document_begin(f->d, v->begin);
    for (size_t at = v->begin, to; at < v->end; at = to) {
        to = s[at] == '&' ? dg_escape_entity_end(s, at, v->end) : at;
        if (to > at) {
            dg_escape_reference(f->d, s, at, to);
            continue;
        }
        to = dg_scan_find(s, at + 1, v->end, "&");
        dg_document_text(f->d, s, at, to);
    }
    dg_document_end_value(f->d, s, v->encoding);
}

void dg_flow_value(struct dg_flow *f, struct dg_flow_value value)
{
    if (!f->open) {
        add_value(f, &value);
        return;
    }
    struct dg_flow_value *p = dg_array_grow(f->values, f->n_values, &f->values_cap, sizeof *p);
    if (!p) {
        f->d->text.failed = true;
        return;
    }
    f->values = p;
    f->values[f->n_values++] = value;
}

void dg_flow_end(struct dg_flow *f)
{
    if (f->open)
        dg_document_end_value(f->d, f->s, DG_ENCODING_MARKUP);
    f->open = false;
    for (size_t i = 0; i < f->n_values && !f->d->text.failed; i++)
        add_value(f, &f->values[i]);
    f->n_values = 0;
}
