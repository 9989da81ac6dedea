#include "text/format/markdown_block.h"

#include "text/format/directive.h"
#include "text/format/link_title.h"
#include "text/format/markdown_spans.h"

#include <stdlib.h>
#include <string.h>

struct block {
    struct dg_document *d;
    const char *s;
    size_t n;
    struct dg_md_events *e;
    /* bytes before it are done */
    size_t floor;
    struct dg_md_titles *titles;
};

/* True if the paragraph is a formula between two "$$". */
static bool is_formula(const char *s, const struct dg_md_events *e)
{
    const struct dg_md_event *first = &e->list[0], *last = &e->list[e->n - 1];
    if (first->kind != DG_MD_TEXT || last->kind != DG_MD_TEXT || last->end - first->begin < 5)
        return false;
    const char *open = s + first->begin, *close = s + last->end - 2;
    return memcmp(open, "$$", 2) == 0 && memmem(open + 2, (size_t)(close - open), "$$", 2) == close;
}

/* Makes a unit of events from..to, which ends before byte n. */
static void add_unit(struct block *b, size_t from, size_t to, size_t n)
{
    const struct dg_md_events part = {.list = b->e->list + from, .n = to - from};
    struct dg_md_events spans;
    if (to == from)
        return;
    if (is_formula(b->s, &part)) {
        b->floor = part.list[part.n - 1].end;
        return;
    }
    dg_markdown_spans(b->s, &part, &spans);
    b->d->text.failed = b->d->text.failed || spans.failed;
    if (spans.n > 0 && !b->d->text.failed)
        b->floor = dg_markdown_unit(b->d, b->s, n, &spans, b->floor, b->titles);
    free(spans.list);
}

/* The end of the line with s[at], without white space. */
static size_t line_end(const struct block *b, size_t at)
{
    size_t end = at;
    while (end < b->n && b->s[end] != '\n' && b->s[end] != '\r')
        end++;
    return dg_line_trim_blanks(b->s, at, end);
}

/* Makes a unit of the text s[begin, end) within the line of events from..to. */
static void add_text(struct block *b, size_t from, size_t to, size_t begin, size_t end)
{
    struct dg_md_event *list = b->e->list;
    while (from < to && (list[from].kind == DG_MD_LEAVE ||
                            (list[from].kind == DG_MD_TEXT && list[from].end <= begin)))
        from++;
    while (to > from && list[to - 1].kind == DG_MD_TEXT && list[to - 1].begin >= end)
        to--;
    if (to == from)
        return;
    list[from].begin = list[from].begin < begin ? begin : list[from].begin;
    if (list[to - 1].kind == DG_MD_TEXT && list[to - 1].end > end)
        list[to - 1].end = end;
    size_t n = line_end(b, end);
    for (size_t i = from; i < to; i++) /* a tag may go on in the next line */
        n = list[i].end != SIZE_MAX && list[i].end > n ? list[i].end : n;
    add_unit(b, from, to, n);
}

/* True if the line that begins with event e is a directive: neither an escaped sign nor the cell of
 * a table does. */
static bool read_line(const struct block *b, const struct dg_md_event *e,
    const struct dg_directive *before, struct dg_directive *out)
{
    size_t at = e->begin;
    if (e->kind != DG_MD_TEXT || at == SIZE_MAX || b->e->cell)
        return false;
    while (at > 0 && strchr(" \t", b->s[at - 1]))
        at--;
    if (at > 0 && b->s[at - 1] == '\\')
        return false;
    return dg_directive_read(b->s, b->n, e->begin, line_end(b, e->begin), before, out);
}

/* Adds the text of a directive, the line of events from..to, and moves past it. */
static void add_directive(struct block *b, size_t from, size_t to, const struct dg_directive *line)
{
    size_t end = line_end(b, b->e->list[from].begin);
    for (; line->all && from < to; from++)
        if (b->e->list[from].kind == DG_MD_TEXT && b->e->list[from].end > end)
            end = line_end(b, b->e->list[from].end);
    if (line->quoted)
        dg_link_title(b->d, b->s, line->text, line->text_end);
    else
        add_text(b, from, to, line->text, line->text_end);
    b->floor = end > b->floor ? end : b->floor;
}

size_t dg_markdown_block(struct dg_document *d, const char *s, size_t n, struct dg_md_events *e,
    size_t floor, struct dg_md_titles *titles, bool *indents)
{
    struct block b = {.d = d, .s = s, .n = n, .e = e, .floor = floor, .titles = titles};
    struct dg_directive line, before = {0};
    size_t from = 0, depth = 0; /* start of the text that is not added yet; open pairs */
    *indents = false;
    for (size_t i = 0, to; i < e->n; i = to + 1) {
        const bool inside = depth > 0;
        for (to = i; to < e->n && !dg_md_is_break(&e->list[to]); to++)
            depth = depth + (e->list[to].kind == DG_MD_ENTER) - (e->list[to].kind == DG_MD_LEAVE);
        if (inside || depth > 0 || !read_line(&b, &e->list[i], &before, &line)) {
            before = (struct dg_directive){0};
            continue;
        }
        add_unit(&b, from, i > from ? i - 1 : i, e->list[i].begin);
        *indents = *indents || line.indents;
        to = line.all ? e->n : to;
        if (line.goes_on && line.text < e->list[i].end)
            e->list[i].begin = line.text;
        else if (!line.goes_on)
            add_directive(&b, i, to, &line);
        from = !line.goes_on ? to + 1 : line.text < e->list[i].end ? i : i + 1;
        before = line;
    }
    add_unit(&b, from, from < e->n ? e->n : from, n);
    return b.floor;
}
