#include "text/format/markdown_unit.h"

#include "text/format/alert.h"
#include "text/format/escape.h"
#include "text/format/footnote.h"
#include "text/format/link_title.h"
#include "text/format/markdown_cursor.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct open_pair {
    uint32_t id;
    /* end of its opening mark */
    size_t end;
};

struct builder {
    struct dg_document *d;
    /* units within the one being built */
    struct dg_document inner;
    struct dg_md_titles *titles;
    struct dg_md_cursor c;
    /* [depth] the open pairs, as a stack */
    struct open_pair *open;
    size_t depth;
    /* depth of the current image's pair, from 1; 0: not in an image */
    size_t image;
    /* the unit is the title of an alert, which its line's end ends */
    bool is_title;
};

/* Adds m, of the bytes from the cursor to m.end. */
static void add_mark(struct builder *b, struct dg_mark m)
{
    m.begin = b->c.at;
    m.end = m.end > b->c.n ? b->c.n : m.end < b->c.at ? b->c.at : m.end;
    m.len = m.kind == DG_MARK_BREAK;
    dg_document_mark(b->d, m, " ");
    b->c.at = m.end;
}

static void mark(struct builder *b, enum dg_mark_kind kind, size_t end, uint32_t id)
{
    add_mark(b, (struct dg_mark){.kind = kind, .end = end, .id = id});
}

/* Makes a mark of the bytes from the cursor to `begin` that nothing else has claimed. */
static void catch_up(struct builder *b, size_t begin)
{
    if (begin > b->c.at)
        mark(b, DG_MARK_POINT, begin, 0);
}

/* Writes text from the cursor on. A tab within a pair is a space to the model, as a line end is:
 * elsewhere it ends the sentence. */
static void write_text(struct builder *b, size_t end)
{
    const char *s = b->c.s;
    for (size_t i = b->c.at; i < end;) {
        const size_t note = s[i] == '[' ? dg_footnote_reference(s, i, end) : i,
                     tab = b->depth > 0 ? dg_md_skip_tabs(s, i, end) : i,
                     to = note > tab ? note : tab;
        if (to == i) {
            const size_t blanks = dg_line_skip_blanks(s, i, end);
            i = blanks > i ? blanks : i + 1;
            continue;
        }
        dg_document_text(b->d, s, b->c.at, i);
        b->c.at = i;
        mark(b, note > i ? DG_MARK_POINT : DG_MARK_BREAK, to, 0);
        i = to;
    }
    dg_document_text(b->d, b->c.s, b->c.at, end);
    b->c.at = end;
}

static void take_text(struct builder *b, const struct dg_md_event *e)
{
    bool escaped = dg_md_is_escaped(&b->c, e);
    catch_up(b, e->begin - escaped);
    if (escaped) {
        dg_document_mark(b->d,
            (struct dg_mark){.kind = DG_MARK_ESCAPE, .len = 1, .begin = b->c.at, .end = e->end},
            b->c.s + e->begin);
        b->c.at = e->end;
    } else {
        write_text(b, e->end);
    }
}

static void take_entity(struct builder *b, const struct dg_md_event *e)
{
    catch_up(b, e->begin);
    dg_escape_entity(b->d, b->c.s, e->begin, e->end);
    b->c.at = e->end;
}

/* Takes `code`, which ends with as many signs as it begins with. */
static void take_code(struct builder *b, const struct dg_md_event *e)
{
    size_t open = e->begin == SIZE_MAX ? dg_md_find_sign(&b->c, "`") : b->c.at;
    while (open < b->c.n && open < e->begin && b->c.s[open] != '`')
        open++;
    size_t n = open < b->c.n ? dg_md_run(&b->c, open) : 0,
           at = e->end == SIZE_MAX ? open + n : e->end;
    while (at < b->c.n && !(b->c.s[at] == '`' && dg_md_run(&b->c, at) == n))
        at += b->c.s[at] == '`' ? dg_md_run(&b->c, at) : 1;
    size_t end = at + n < b->c.n ? at + n : b->c.n;
    catch_up(b, open);
    dg_document_protect(
        b->d, b->c.s, (size_t[2]){open, end}, (size_t[2]){open + n, at < b->c.n ? at : b->c.n});
    b->c.at = end;
}

static void begin_unit(struct builder *b, size_t at)
{
    b->c.at = at;
    dg_document_begin(b->d, at);
}

static void end_unit(struct builder *b)
{
    dg_document_end_value(b->d, b->c.s, DG_ENCODING_PLAIN);
    dg_document_append(b->d, &b->inner);
    dg_document_close(&b->inner);
    b->inner.known = b->d->known;
}

/* Length of the label that `skip` finds where the text event begins, including blanks after it; 0:
 * none. */
static size_t length_of(const char *s, const struct dg_md_event *e,
    size_t (*skip)(const char *s, size_t at, size_t end))
{
    size_t at = e->kind == DG_MD_TEXT ? skip(s, e->begin, e->end) : e->begin;
    return at > e->begin ? dg_line_skip_blanks(s, at, e->end) - e->begin : 0;
}

static size_t label_of(const char *s, const struct dg_md_event *e)
{
    return length_of(s, e, dg_footnote_label);
}

/* True if the label is all of the event's text. */
static bool is_label(const char *s, const struct dg_md_event *e)
{
    return e->kind == DG_MD_TEXT && label_of(s, e) == e->end - e->begin;
}

bool dg_md_is_break(const struct dg_md_event *e)
{
    return e->kind == DG_MD_SOFT_BREAK || e->kind == DG_MD_HARD_BREAK;
}

/* A hard line break ends the unit, unless a pair extends over it. */
static void take_break(struct builder *b, const struct dg_md_event *e)
{
    const struct dg_md_event *next = b->c.i + 1 < b->c.end ? e + 1 : NULL;
    size_t to = next && next->kind <= DG_MD_HTML ? next->begin : dg_md_skip_break(&b->c);
    /* a "\" before the next line's text is that text's */
    if (next && next->kind == DG_MD_TEXT && dg_md_is_escaped(&b->c, next))
        to--;
    size_t label = next && b->depth == 0 ? label_of(b->c.s, next) : 0;
    const bool hard = e->kind == DG_MD_HARD_BREAK || b->is_title;
    if (label || (hard && b->depth == 0)) {
        b->is_title = false;
        end_unit(b);
        begin_unit(b, to + label);
    } else {
        mark(b, DG_MARK_BREAK, to, 0);
    }
}

/* Tags, each of them a mark; <br> ends the unit as a hard line break does. */
static void take_html(struct builder *b, const struct dg_md_event *e)
{
    catch_up(b, e->begin);
    while (b->c.at < e->end) {
        const char *s = b->c.s;
        const size_t at = b->c.at, line = dg_line_skip_tags(b->d, s, at, e->end);
        if (line > at && b->depth == 0) {
            end_unit(b);
            begin_unit(b, line);
        } else if (line > at) {
            dg_document_line_end(b->d, s, at, line, b->c.n);
            b->c.at = line;
        } else {
            const size_t to = s[at] == '<' ? dg_tag_end(b->d, s, at, e->end) : at;
            mark(b, DG_MARK_POINT, to > at ? to : e->end, 0);
        }
    }
}

static void take(struct builder *b);

/* A title within the mark that ends a link or an image becomes an inner unit; any other belongs to
 * a link definition. (md4c gives no bytes for a title over several lines, or with escaped
 * characters.) */
static void add_title(struct builder *b, const struct dg_link_end *end, const size_t title[2])
{
    struct dg_md_titles *t = b->titles;
    if (end->title < end->title_end) {
        dg_link_title(&b->inner, b->c.s, end->title, end->title_end);
    } else if (title[1] > title[0]) {
        t->seen = t->seen ? t->seen : calloc(b->c.n, sizeof *t->seen);
        if (t->seen && !t->seen[title[0]])
            dg_link_title(&t->units, b->c.s, title[0], title[1]);
        t->units.text.failed = t->units.text.failed || !t->seen;
        if (t->seen)
            t->seen[title[0]] = true;
    }
}

/* An image is one mark; its alternative text is an inner unit. */
static void take_image(struct builder *b)
{
    size_t begin = dg_md_find_sign(&b->c, "!"), last = dg_md_leave(&b->c, b->c.i);
    struct dg_link_end end;
    struct dg_document *outer = b->d, alt = {.known = b->d->known};
    catch_up(b, begin);
    b->d = &alt;
    b->image = b->depth + 1;
    begin_unit(b, begin + 2 < b->c.n ? begin + 2 : b->c.n);
    for (b->c.i++; b->c.i < last; b->c.i++)
        take(b);
    size_t close = dg_md_find_sign(&b->c, "]");
    dg_md_link_end(&b->c, begin + 2, close, &end);
    if (end.label.end > 0) {
        catch_up(b, close);
        add_mark(b, (struct dg_mark){.kind = DG_MARK_POINT, .end = end.end, .label = end.label});
    }
    dg_document_end_value(&alt, b->c.s, DG_ENCODING_PLAIN);
    b->d = outer;
    b->image = 0;
    dg_document_append(&b->inner, &alt);
    add_title(b, &end, b->c.list[last].title);
    outer->text.failed = outer->text.failed || alt.text.failed || b->inner.text.failed;
    dg_document_close(&alt);
    b->c.at = begin;
    mark(b, DG_MARK_POINT, end.end, 0);
}

/* <https://example.org>: protected, all of it. */
static void take_autolink(struct builder *b, size_t begin)
{
    size_t last = dg_md_leave(&b->c, b->c.i), letters = begin + 1, end = letters;
    for (b->c.i++; b->c.i < last; b->c.i++)
        end = b->c.list[b->c.i].end != SIZE_MAX ? b->c.list[b->c.i].end : end;
    size_t to = end < b->c.n && b->c.s[end] == '>' ? end + 1 : end;
    catch_up(b, begin);
    dg_document_protect(b->d, b->c.s, (size_t[2]){begin, to}, (size_t[2]){letters, end});
    b->c.at = to;
}

/* True for a footnote's number that md4c takes for a link, because it takes the footnote for a link
 * definition. */
static bool is_footnote(const struct builder *b)
{
    const struct dg_md_event *e = &b->c.list[b->c.i];
    return b->c.i + 2 < b->c.end && e[1].kind == DG_MD_TEXT && e[2].kind == DG_MD_LEAVE &&
           b->c.s[e[1].begin] == '^' && e[1].begin > 0 && b->c.s[e[1].begin - 1] == '[';
}

static void take_enter(struct builder *b, const struct dg_md_event *e)
{
    size_t at = dg_md_find_sign(&b->c, dg_md_signs(e->span, true));
    if (e->span == DG_MD_IMAGE && !b->image) {
        take_image(b);
        return;
    }
    if (e->span == DG_MD_LINK && at < b->c.n && b->c.s[at] == '<') {
        take_autolink(b, at);
        return;
    }
    catch_up(b, at);
    if (e->span == DG_MD_LINK && is_footnote(b)) {
        size_t to = e[1].end < b->c.n && b->c.s[e[1].end] == ']' ? e[1].end + 1 : e[1].end;
        b->c.i += 2;
        mark(b, DG_MARK_POINT, to, 0);
        return;
    }
    size_t to = at + dg_md_length(&b->c, e->span, at);
    b->open[b->depth++] = (struct open_pair){++b->d->ids, to};
    mark(b, DG_MARK_OPEN, to, b->d->ids);
}

static void take_leave(struct builder *b, const struct dg_md_event *e)
{
    size_t at = dg_md_find_sign(&b->c, dg_md_signs(e->span, false));
    const struct open_pair open = b->depth ? b->open[--b->depth] : (struct open_pair){0, at};
    catch_up(b, at);
    if (e->span == DG_MD_LINK || e->span == DG_MD_IMAGE) {
        struct dg_link_end end;
        dg_md_link_end(&b->c, open.end, at, &end);
        if (!b->image)
            add_title(b, &end, e->title);
        add_mark(b, (struct dg_mark){
                        .kind = DG_MARK_CLOSE, .end = end.end, .id = open.id, .label = end.label});
    } else {
        mark(b, DG_MARK_CLOSE, at + dg_md_length(&b->c, e->span, at), open.id);
    }
}

/* True for " | " and the like between two links, as in a list of links: each link is then a
 * unit. */
static bool is_separator(const struct builder *b, const struct dg_md_event *e)
{
    static const char *const signs[] = {"|", "·", "•"};
    if (b->depth || b->c.i == 0 || b->c.i + 1 == b->c.end || e[-1].kind != DG_MD_LEAVE ||
        e[1].kind != DG_MD_ENTER || e[-1].span < DG_MD_LINK || e[1].span < DG_MD_LINK)
        return false;
    const size_t begin = dg_line_skip_blanks(b->c.s, e->begin, e->end),
                 end = dg_line_trim_blanks(b->c.s, begin, e->end);
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strlen(signs[i]) == end - begin && memcmp(signs[i], b->c.s + begin, end - begin) == 0)
            return true;
    return false;
}

/* Takes what a dialect has beyond md4c's Markdown. */
static void take_dialect(struct builder *b, const struct dg_md_event *e)
{
    catch_up(b, e->begin);
    if (e->kind == DG_MD_KEPT && e->title[0] < e->title[1]) {
        dg_document_protect(b->d, b->c.s, (size_t[2]){e->begin, e->end}, e->title);
        b->c.at = e->end;
    } else if (e->kind == DG_MD_KEPT) {
        mark(b, DG_MARK_POINT, e->end, 0);
    } else if (e->kind == DG_MD_OPEN) {
        b->open[b->depth++] = (struct open_pair){++b->d->ids, e->end};
        mark(b, DG_MARK_OPEN, e->end, b->d->ids);
    } else {
        mark(b, DG_MARK_CLOSE, e->end, b->depth ? b->open[--b->depth].id : 0);
    }
}

static void take(struct builder *b)
{
    const struct dg_md_event *e = &b->c.list[b->c.i];
    switch (e->kind) {
    case DG_MD_TEXT:
        if (is_separator(b, e)) {
            end_unit(b);
            begin_unit(b, e->end);
        } else {
            take_text(b, e);
        }
        break;
    case DG_MD_ENTITY: take_entity(b, e); break;
    case DG_MD_KEPT:
    case DG_MD_OPEN:
    case DG_MD_CLOSE: take_dialect(b, e); break;
    case DG_MD_HTML: take_html(b, e); break;
    case DG_MD_CODE: take_code(b, e); break;
    case DG_MD_SOFT_BREAK:
    case DG_MD_HARD_BREAK: take_break(b, e); break;
    case DG_MD_ENTER: take_enter(b, e); break;
    case DG_MD_LEAVE: take_leave(b, e); break;
    }
}

size_t dg_markdown_unit(struct dg_document *d, const char *s, size_t n,
    const struct dg_md_events *e, size_t floor, struct dg_md_titles *titles)
{
    size_t alert = length_of(s, &e->list[0], dg_alert_label), first = 0;
    if (alert > 0 && alert == e->list[0].end - e->list[0].begin)
        first = 1;
    while (first < e->n && (dg_md_is_break(&e->list[first]) || is_label(s, &e->list[first])))
        first++;
    if (first == e->n)
        return floor;
    struct builder b = {
        .d = d, .inner.known = d->known, .titles = titles, .is_title = alert > 0 && first == 0};
    b.c = (struct dg_md_cursor){
        .s = s, .n = n, .list = e->list + first, .end = e->n - first, .at = floor};
    b.open = malloc(e->n * sizeof *b.open);
    if (b.open && dg_md_cursor_init(&b.c)) {
        const size_t label = b.is_title ? alert : label_of(s, b.c.list);
        begin_unit(&b, dg_md_find_begin(&b.c, floor) + label);
        for (b.c.i = 0; b.c.i < b.c.end; b.c.i++)
            take(&b);
        end_unit(&b);
    } else {
        d->text.failed = true;
    }
    dg_md_cursor_deinit(&b.c);
    free(b.open);
    return b.c.at;
}
