/* Reads Markdown with md4c (CommonMark 0.30, and GitHub's tables and ~~struck out~~ text): its text
 * callbacks point into the source and come in order, so everything between them is markup. The
 * callbacks become lists of events, one list for each heading, paragraph, cell or item
 * (markdown_unit.c makes units of them). Handled in addition: the title of front matter, footnotes,
 * alerts, formulas between "$$", directives of site generators and what they keep, and the
 * <summary> of <details>. */
#include "base/array.h"
#include "text/format/escape.h"
#include "text/format/front_matter.h"
#include "text/format/internal.h"
#include "text/format/footnote.h"
#include "text/format/markdown_block.h"
#include "text/format/markdown_kept.h"
#include "text/scan.h"

#include <limits.h>
#include <md4c.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct dg_document *d;
    const char *s;
    size_t n;
    /* the next unit begins here or later */
    size_t floor;
    struct dg_md_events e;
    /* nesting depth of quotations and items */
    unsigned depth;
    /* the block whose lines are being collected */
    enum { NO_BLOCK, CODE_BLOCK, HTML_BLOCK } verbatim;
    /* within a code span */
    bool in_code;
    /* CODE_BLOCK: indented by four spaces, not fenced */
    bool indented;
    /* the last unit, or text after it indented by four spaces, belongs to a footnote or a directive
     */
    bool has_content;
    /* the lines of CODE_BLOCK or HTML_BLOCK */
    struct dg_paragraph lines;
    struct dg_md_titles titles;
    /* no unit is made of these */
    struct dg_md_kept kept;
};

static int parse(struct reader *r, size_t begin, size_t end);

static void add_event(struct reader *r, struct dg_md_event event)
{
    struct dg_md_events *e = &r->e;
    struct dg_md_event *p = dg_array_grow(e->list, e->n, &e->cap, sizeof *p);
    if (!p) {
        r->d->text.failed = true;
        return;
    }
    e->list = p;
    e->list[e->n++] = event;
}

/* Drops the collected events that are within a part that stays. */
static void drop_kept(struct reader *r)
{
    struct dg_md_events *e = &r->e;
    size_t first = 0, depth = 0, i;
    while (first < e->n && e->list[first].begin == SIZE_MAX)
        first++;
    if (first == e->n)
        return;
    const size_t at = e->list[first].begin, end = dg_markdown_kept_end(&r->kept, at);
    if (end == at)
        return;
    for (i = 0; i < e->n; i++) {
        const struct dg_md_event *x = &e->list[i];
        if (depth == 0 && x->begin != SIZE_MAX && x->begin >= end)
            break;
        depth = depth + (x->kind == DG_MD_ENTER) - (depth > 0 && x->kind == DG_MD_LEAVE);
    }
    e->n -= i;
    memmove(e->list, e->list + i, e->n * sizeof *e->list);
    r->floor = end > r->floor ? end : r->floor;
    r->has_content = false;
}

/* Makes a unit of the collected events. */
static void flush(struct reader *r)
{
    drop_kept(r);
    if (r->e.n == 0)
        return;
    const struct dg_md_event *first = &r->e.list[0];
    const bool footnote =
        first->kind == DG_MD_TEXT && dg_footnote_label(r->s, first->begin, r->n) > first->begin;
    bool indents;
    r->floor = dg_markdown_block(r->d, r->s, r->n, &r->e, r->floor, &r->titles, &indents);
    r->has_content = r->depth == 0 && (footnote || indents);
    r->e.n = 0;
}

/* Running text with tags and references in it. */
static void write_html(struct dg_document *d, const char *s, size_t begin, size_t end)
{
    for (size_t at = begin, to; at < end; at = to) {
        if (s[at] == '&' && (to = dg_escape_entity_end(s, at, end)) > at) {
            dg_escape_entity(d, s, at, to);
        } else if (s[at] == '<' && (to = dg_tag_end(d, s, at, end)) > at) {
            dg_document_mark(
                d, (struct dg_mark){.kind = DG_MARK_POINT, .begin = at, .end = to}, "");
        } else {
            for (to = at + 1; to < end && s[to] != '&' && s[to] != '<';)
                to++;
            dg_document_text(d, s, at, to);
        }
    }
}

/* The lines of <summary> ... </summary> are a unit. */
static void read_summary(struct reader *r, struct dg_paragraph *unit)
{
    bool inside = false;
    for (size_t i = 0; i < r->lines.n; i++) {
        size_t at = r->lines.lines[i][0], end = r->lines.lines[i][1];
        while (at < end) {
            size_t to = dg_scan_find_letters(r->s, at, end, inside ? "</summary" : "<summary");
            if (inside) {
                dg_paragraph_add(unit, r->s, dg_line_skip_blanks(r->s, at, to), to);
                if (to < end) {
                    dg_paragraph_end(unit, r->d, r->s, write_html);
                    inside = false;
                }
                at = to;
            } else {
                at = to < end ? dg_tag_end(r->d, r->s, to, end) : end;
                inside = to < end && at > to;
                at += at == to;
            }
        }
    }
    unit->open = false; /* drops one that is not closed */
}

/* The end of the fenced code that begins with line l, however it is indented; l->end: none does. */
static size_t skip_fence(const struct reader *r, const struct dg_line *l, size_t end)
{
    const size_t at = dg_line_skip_blanks(r->s, l->begin, l->end);
    size_t text = at;
    struct dg_line line = *l;
    while (text < l->end && r->s[text] == r->s[at])
        text++;
    if (text - at < 3 || !strchr("`~", r->s[at]) ||
        (r->s[at] == '`' && memchr(r->s + text, '`', l->end - text)))
        return l->end;
    while (dg_line_at(r->s, end, line.next, &line)) {
        const size_t close = dg_line_skip_blanks(r->s, line.begin, line.end);
        if (line.end - close >= 3 && memcmp(r->s + close, r->s + at, 3) == 0)
            break;
    }
    return line.end;
}

/* The byte after `indent` columns of blanks of the line; SIZE_MAX: it has less. */
static size_t skip_indent(const struct reader *r, const struct dg_line *l, size_t indent)
{
    size_t at = l->begin, columns = 0;
    for (; at < l->end && columns < indent && (r->s[at] == ' ' || r->s[at] == '\t'); at++)
        columns += r->s[at] == '\t' ? 4 - columns % 4 : 1;
    return columns >= indent ? at : SIZE_MAX;
}

/* Reads bytes begin..end, the content of a footnote or a directive: lines indented by four spaces,
 * which are code to md4c. Each paragraph is parsed by itself. Fenced code, and lines indented by
 * four spaces more that are no content of a directive, stay. */
static void read_content(struct reader *r, size_t begin, size_t end)
{
    struct dg_line l;
    size_t indent = 4;
    r->has_content = false;
    for (size_t at = begin; dg_line_at(r->s, end, at, &l); at = l.next) {
        const size_t fence = skip_fence(r, &l, end);
        struct dg_line last = l, next;
        if (fence > l.end)
            l.next = fence;
        if (fence > l.end || dg_line_is_blank(r->s, &l))
            continue;
        if (r->has_content && skip_indent(r, &l, indent + 4) < SIZE_MAX)
            indent += 4; /* the last line was a directive itself */
        while (indent > 4 && skip_indent(r, &l, indent) == SIZE_MAX)
            indent -= 4;
        while (dg_line_at(r->s, end, last.next, &next) && !dg_line_is_blank(r->s, &next) &&
               skip_fence(r, &next, end) == next.end)
            last = next;
        const size_t text = skip_indent(r, &l, indent);
        if (text < SIZE_MAX && skip_indent(r, &l, indent + 4) == SIZE_MAX)
            parse(r, text, last.end);
        l.next = last.next;
    }
    r->has_content = true;
}

static size_t line_begin(const struct reader *r, size_t at)
{
    while (at > 0 && !strchr("\r\n", r->s[at - 1]))
        at--;
    return at;
}

static void end_verbatim(struct reader *r)
{
    struct dg_paragraph lines = r->lines, unit = {0};
    bool content = r->verbatim == CODE_BLOCK && r->indented && r->has_content && r->depth == 0;
    size_t end = lines.open ? lines.lines[lines.n - 1][1] : r->floor;
    if (r->verbatim == HTML_BLOCK && lines.open)
        read_summary(r, &unit);
    r->verbatim = NO_BLOCK;
    r->lines = (struct dg_paragraph){0};
    if (content && lines.open && !lines.failed)
        read_content(r, line_begin(r, lines.lines[0][0]), end);
    if (!content)
        r->has_content = false;
    r->floor = end > r->floor ? end : r->floor;
    dg_paragraph_deinit(&unit, r->d);
    dg_paragraph_deinit(&lines, r->d);
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *arg)
{
    struct reader *r = arg;
    flush(r);
    r->e.cell = type == MD_BLOCK_TH || type == MD_BLOCK_TD;
    r->depth += type == MD_BLOCK_QUOTE || type == MD_BLOCK_LI;
    if (type == MD_BLOCK_CODE) {
        r->verbatim = CODE_BLOCK;
        r->indented = ((const MD_BLOCK_CODE_DETAIL *)detail)->fence_char == '\0';
    } else if (type == MD_BLOCK_HTML) {
        r->verbatim = HTML_BLOCK;
    }
    return 0;
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *arg)
{
    struct reader *r = arg;
    (void)detail;
    flush(r);
    r->e.cell = false;
    r->depth -= type == MD_BLOCK_QUOTE || type == MD_BLOCK_LI;
    if (r->verbatim)
        end_verbatim(r);
    return r->d->text.failed ? -1 : 0;
}

/* True if md4c's text is within the source. For line ends and the like md4c passes bytes of its
 * own. */
static bool is_source(const struct reader *r, const char *text)
{
    uintptr_t p = (uintptr_t)text, s = (uintptr_t)r->s;
    return p >= s && p < s + r->n;
}

static enum dg_md_span span_of(MD_SPANTYPE type)
{
    switch (type) {
    case MD_SPAN_STRONG: return DG_MD_STRONG;
    case MD_SPAN_DEL: return DG_MD_STRIKE;
    case MD_SPAN_A: return DG_MD_LINK;
    case MD_SPAN_IMG: return DG_MD_IMAGE;
    default: return DG_MD_EMPHASIS;
    }
}

static int enter_span(MD_SPANTYPE type, void *detail, void *arg)
{
    struct reader *r = arg;
    (void)detail;
    r->in_code = type == MD_SPAN_CODE;
    add_event(r, (struct dg_md_event){.kind = r->in_code ? DG_MD_CODE : DG_MD_ENTER,
                     .span = span_of(type),
                     .begin = SIZE_MAX,
                     .end = SIZE_MAX});
    return r->d->text.failed ? -1 : 0;
}

static int leave_span(MD_SPANTYPE type, void *detail, void *arg)
{
    struct reader *r = arg;
    struct dg_md_event e = {.kind = DG_MD_LEAVE, .begin = SIZE_MAX, .end = SIZE_MAX};
    e.span = span_of(type);
    if (type == MD_SPAN_A || type == MD_SPAN_IMG) {
        /* images have the same members */
        const MD_ATTRIBUTE *title = &((const MD_SPAN_A_DETAIL *)detail)->title;
        if (title->size && is_source(r, title->text)) {
            e.title[0] = (size_t)(title->text - r->s);
            e.title[1] = e.title[0] + title->size;
        }
    }
    if (!r->in_code)
        add_event(r, e);
    r->in_code = false;
    return r->d->text.failed ? -1 : 0;
}

/* Extends the previous event if it is of the same kind (code, tags); false: it is not. */
static bool add_to_last(struct reader *r, enum dg_md_kind kind, size_t begin, size_t end)
{
    struct dg_md_event *last = r->e.n ? &r->e.list[r->e.n - 1] : NULL;
    if (!last || last->kind != kind)
        return false;
    last->begin = last->begin == SIZE_MAX ? begin : last->begin;
    last->end = end;
    return true;
}

static int text(MD_TEXTTYPE type, const MD_CHAR *text, MD_SIZE size, void *arg)
{
    struct reader *r = arg;
    struct dg_md_event e = {.kind = DG_MD_TEXT, .begin = SIZE_MAX, .end = SIZE_MAX};
    if (is_source(r, text)) {
        e.begin = (size_t)(text - r->s);
        e.end = e.begin + size;
    } else if (type != MD_TEXT_BR && type != MD_TEXT_SOFTBR) {
        return 0;
    }
    if (r->verbatim) {
        dg_paragraph_add(&r->lines, r->s, e.begin, e.end);
        return 0;
    }
    switch (type) {
    case MD_TEXT_BR: e.kind = DG_MD_HARD_BREAK; break;
    case MD_TEXT_SOFTBR: e.kind = DG_MD_SOFT_BREAK; break;
    case MD_TEXT_ENTITY: e.kind = DG_MD_ENTITY; break;
    case MD_TEXT_HTML: e.kind = DG_MD_HTML; break;
    case MD_TEXT_CODE: e.kind = DG_MD_CODE; break;
    default: break;
    }
    bool joins = e.kind == DG_MD_CODE || e.kind == DG_MD_HTML;
    if (!joins || !add_to_last(r, e.kind, e.begin, e.end))
        add_event(r, e);
    return r->d->text.failed ? -1 : 0;
}

/* Parses bytes begin..end of the source. */
static int parse(struct reader *r, size_t begin, size_t end)
{
    static const MD_PARSER parser = {
        .flags = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_TASKLISTS,
        .enter_block = enter_block,
        .leave_block = leave_block,
        .enter_span = enter_span,
        .leave_span = leave_span,
        .text = text,
    };
    if (end - begin > UINT_MAX / 2 ||
        md_parse(r->s + begin, (MD_SIZE)(end - begin), &parser, r) != 0)
        r->d->text.failed = true; /* it fails only when out of memory */
    return r->d->text.failed ? -1 : 0;
}

void dg_document_markdown(struct dg_document *d, const char *s, size_t n)
{
    /* a copy, because md4c looks at the byte after its text: here a NUL */
    struct dg_buffer source = {0};
    dg_buffer_add(&source, s, n);
    d->text.failed = source.failed;
    if (source.failed)
        return;
    struct reader r = {.d = d, .s = source.data, .n = n};
    r.titles.units.known = d->known;
    r.floor = dg_front_matter_read(d, r.s, n);
    if (!dg_markdown_kept_find(r.s, n, r.floor, &r.kept))
        d->text.failed = true;
    parse(&r, r.floor, n);
    free(r.kept.list);
    dg_document_append(d, &r.titles.units);
    d->text.failed = d->text.failed || r.titles.units.text.failed;
    dg_document_close(&r.titles.units);
    free(r.titles.seen);
    dg_paragraph_deinit(&r.lines, d);
    free(r.e.list);
    dg_buffer_deinit(&source);
}
