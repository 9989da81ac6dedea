#include "text/format/markdown_unit.h"

#include "text/format/escape.h"
#include "text/format/link.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NOWHERE SIZE_MAX

struct builder {
    struct dg_document *d;    /* NULL while an inner unit's own marks are stepped over */
    struct dg_document inner; /* units within the one being built */
    struct dg_md_titles *titles;
    const char *s;
    size_t n;
    const struct dg_md_event *list;
    size_t i, end;  /* the event that comes next, and where to stop */
    size_t at;      /* the cursor: bytes before it are written */
    size_t *bounds; /* [end + 1] where the next text at or after an event begins; n: none does */
    uint32_t *open; /* ids of pairs that are open, as a stack; [depth] */
    size_t depth;
    size_t image; /* depth of the innermost image's pair, from 1; 0: in none */
};

/* Bytes from the cursor to `end` are a mark. */
static void mark(struct builder *b, enum dg_mark_kind kind, size_t end, uint32_t id)
{
    bool space = kind == DG_MARK_BREAK;
    end = end > b->n ? b->n : end < b->at ? b->at : end;
    dg_document_mark(b->d,
        (struct dg_mark){.kind = kind, .len = space, .begin = b->at, .end = end, .id = id}, " ");
    b->at = end;
}

/* Is the byte at `at` escaped by the one before it, which is written nowhere yet? */
static bool is_escaped(const struct builder *b, const struct dg_md_event *e)
{
    return e->kind == DG_MD_TEXT && e->end == e->begin + 1 && e->begin > b->at &&
           b->s[e->begin - 1] == '\\' && ispunct((unsigned char)b->s[e->begin]);
}

/* From the cursor to byte `begin`, where something follows: what is there that no mark claimed. */
static void catch_up(struct builder *b, size_t begin)
{
    if (begin > b->at)
        mark(b, DG_MARK_POINT, begin, 0);
}

/* A footnote's number, "[^1]", from s[at] on: the byte after it, or at. */
static size_t skip_reference(const char *s, size_t at, size_t end)
{
    const char *close = end - at > 3 && s[at] == '[' && s[at + 1] == '^'
                            ? memchr(s + at + 2, ']', end - at - 2)
                            : NULL;
    size_t to = close ? (size_t)(close - s) : at;
    for (size_t i = at; i < to; i++)
        if (isspace((unsigned char)s[i]))
            return at;
    return to > at + 2 ? to + 1 : at;
}

static void write_text(struct builder *b, size_t end)
{
    for (size_t i = b->at; i < end;) {
        size_t to = b->s[i] == '[' ? skip_reference(b->s, i, end) : i;
        if (to == i) {
            i++;
            continue;
        }
        dg_document_text(b->d, b->s, b->at, i);
        b->at = i;
        mark(b, DG_MARK_POINT, to, 0);
        i = to;
    }
    dg_document_text(b->d, b->s, b->at, end);
    b->at = end;
}

static void take_text(struct builder *b, const struct dg_md_event *e)
{
    bool escaped = is_escaped(b, e);
    catch_up(b, e->begin - escaped);
    if (escaped) {
        dg_document_mark(b->d,
            (struct dg_mark){.kind = DG_MARK_ESCAPE, .len = 1, .begin = b->at, .end = e->end},
            b->s + e->begin);
        b->at = e->end;
    } else {
        write_text(b, e->end);
    }
}

static void take_entity(struct builder *b, const struct dg_md_event *e)
{
    catch_up(b, e->begin);
    dg_escape_entity(b->d, b->s, e->begin, e->end);
    b->at = e->end;
}

/* Tags, each of them a mark. */
static void take_html(struct builder *b, const struct dg_md_event *e)
{
    catch_up(b, e->begin);
    while (b->at < e->end) {
        size_t to = b->s[b->at] == '<' ? dg_tag_end(b->s, b->at, e->end) : b->at;
        mark(b, DG_MARK_POINT, to > b->at ? to : e->end, 0);
    }
}

static size_t run_of(const struct builder *b, size_t at)
{
    size_t n = 0;
    while (at + n < b->n && b->s[at + n] == b->s[at])
        n++;
    return n;
}

/* The next of these signs from the cursor on, before the next text; the cursor: there is none. */
static size_t find_sign(const struct builder *b, const char *signs)
{
    for (size_t i = b->at; i < b->bounds[b->i] || i == b->at; i++)
        if (i < b->n && b->s[i] && strchr(signs, b->s[i]))
            return i;
    return b->at;
}

/* `code`: as many signs end it as begin it. */
static void take_code(struct builder *b, const struct dg_md_event *e)
{
    size_t open = e->begin == NOWHERE ? find_sign(b, "`") : b->at;
    while (open < b->n && open < e->begin && b->s[open] != '`')
        open++;
    size_t n = open < b->n ? run_of(b, open) : 0, at = e->end == NOWHERE ? open + n : e->end;
    while (at < b->n && !(b->s[at] == '`' && run_of(b, at) == n))
        at += b->s[at] == '`' ? run_of(b, at) : 1;
    size_t end = at + n < b->n ? at + n : b->n;
    catch_up(b, open);
    dg_document_protect(
        b->d, b->s, (size_t[2]){open, end}, (size_t[2]){open + n, at < b->n ? at : b->n});
    b->at = end;
}

/* Where the white space of a line's end, the "\" before it and what the next line begins with are
 * over. */
static size_t skip_break(const struct builder *b)
{
    size_t at = b->at + (b->at < b->n && b->s[b->at] == '\\');
    return dg_link_skip_space(b->s, at, b->n);
}

static bool is_text(const struct dg_md_event *e)
{
    return e->kind <= DG_MD_CODE && e->begin != NOWHERE;
}

static void begin_unit(struct builder *b, size_t at)
{
    b->at = at;
    dg_document_begin(b->d, at);
}

/* A unit without letters says nothing: it is none. */
static void end_or_drop(struct dg_document *d, const char *s)
{
    if (d->text.failed)
        return;
    if (dg_document_has_letter(d))
        dg_document_end(d, s);
    else
        dg_document_drop(d);
}

static void end_unit(struct builder *b)
{
    end_or_drop(b->d, b->s);
    dg_document_append(b->d, &b->inner);
    dg_document_close(&b->inner);
    dg_buffer_init(&b->inner.text);
}

size_t dg_markdown_skip_footnote(const char *s, size_t at, size_t end)
{
    size_t i = at + 2;
    if (end - at < 5 || s[at] != '[' || s[at + 1] != '^')
        return at;
    while (i < end && !strchr("[] \t\r\n", s[i]))
        i++;
    return i > at + 2 && i + 1 < end && s[i] == ']' && s[i + 1] == ':' ? i + 2 : at;
}

/* Bytes of the text event that are a footnote's label, with the blanks after it; 0: none. */
static size_t label_of(const char *s, const struct dg_md_event *e)
{
    if (e->kind != DG_MD_TEXT)
        return 0;
    size_t at = dg_markdown_skip_footnote(s, e->begin, e->end);
    return at > e->begin ? dg_line_skip_blanks(s, at, e->end) - e->begin : 0;
}

/* Is there nothing else in its line? */
static bool is_label(const char *s, const struct dg_md_event *e)
{
    return e->kind == DG_MD_TEXT && label_of(s, e) == e->end - e->begin;
}

static bool is_break(const struct dg_md_event *e)
{
    return e->kind == DG_MD_SOFT_BREAK || e->kind == DG_MD_HARD_BREAK;
}

/* Lines that are broken for good are sentences of their own, unless a pair goes on over them. */
static void take_break(struct builder *b, const struct dg_md_event *e)
{
    const struct dg_md_event *next = b->i + 1 < b->end ? e + 1 : NULL;
    size_t to = next && next->kind <= DG_MD_HTML ? next->begin : skip_break(b);
    /* a "\" before the next line's text is that text's */
    if (next && next->kind == DG_MD_TEXT && is_escaped(b, next))
        to--;
    size_t label = next && b->depth == 0 ? label_of(b->s, next) : 0;
    if (label || (e->kind == DG_MD_HARD_BREAK && b->depth == 0)) {
        end_unit(b);
        begin_unit(b, to + label);
    } else {
        mark(b, DG_MARK_BREAK, to, 0);
    }
}

static const char *signs_of(enum dg_md_span span, bool opens)
{
    switch (span) {
    case DG_MD_STRIKE: return "~";
    case DG_MD_LINK: return opens ? "[<" : "]";
    case DG_MD_IMAGE: return opens ? "!" : "]";
    default: return "*_";
    }
}

/* The bytes of a pair's begin from s[at] on. */
static size_t length_of(const struct builder *b, enum dg_md_span span, size_t at)
{
    switch (span) {
    case DG_MD_STRIKE: return at < b->n && b->s[at] == '~' ? run_of(b, at) : 1;
    case DG_MD_STRONG:
    case DG_MD_IMAGE: return 2;
    default: return 1;
    }
}

static void take(struct builder *b);

/* The event that leaves what event i enters. */
static size_t leave_of(const struct builder *b, size_t i)
{
    size_t depth = 0;
    for (; i < b->end; i++) {
        depth += b->list[i].kind == DG_MD_ENTER;
        if (b->list[i].kind == DG_MD_LEAVE && --depth == 0)
            break;
    }
    return i;
}

/* The end of a link or image, from the "]" on. Where text follows at once, it ends there. */
static void link_end(struct builder *b, size_t at, struct dg_link_end *out)
{
    size_t bound = b->bounds[b->i];
    const struct dg_md_event *next = b->i + 1 < b->end ? &b->list[b->i + 1] : NULL;
    dg_link_end_find(b->s, at, bound > at ? bound : at + 1, out);
    if (next && is_text(next) && next->kind != DG_MD_CODE && bound > at) {
        struct builder here = {.s = b->s, .at = at};
        out->end = bound - is_escaped(&here, next);
    }
}

/* A title within the mark that ends a link or an image is a unit within that; one elsewhere is that
 * of a definition. (md4c gives no bytes for one over several lines, or with characters written
 * otherwise in it.) */
static void add_title(struct builder *b, const struct dg_link_end *end, const size_t title[2])
{
    struct dg_md_titles *t = b->titles;
    if (end->title < end->title_end) {
        dg_markdown_title(&b->inner, b->s, end->title, end->title_end);
    } else if (title[1] > title[0]) {
        t->seen = t->seen ? t->seen : calloc(b->n, sizeof *t->seen);
        if (t->seen && !t->seen[title[0]])
            dg_markdown_title(&t->units, b->s, title[0], title[1]);
        t->units.text.failed = t->units.text.failed || !t->seen;
        if (t->seen)
            t->seen[title[0]] = true;
    }
}

/* An image is one mark; its alternative text is an inner unit. */
static void take_image(struct builder *b)
{
    size_t begin = find_sign(b, "!"), last = leave_of(b, b->i);
    struct dg_link_end end;
    struct dg_document *outer = b->d, alt = {0};
    catch_up(b, begin);
    dg_buffer_init(&alt.text);
    b->d = &alt;
    b->image = b->depth + 1;
    begin_unit(b, begin + 2 < b->n ? begin + 2 : b->n);
    for (b->i++; b->i < last; b->i++)
        take(b);
    end_or_drop(&alt, b->s);
    b->d = outer;
    b->image = 0;
    size_t close = find_sign(b, "]");
    link_end(b, close, &end);
    dg_document_append(&b->inner, &alt);
    add_title(b, &end, b->list[last].title);
    outer->text.failed = outer->text.failed || alt.text.failed || b->inner.text.failed;
    dg_document_close(&alt);
    b->at = begin;
    mark(b, DG_MARK_POINT, end.end, 0);
}

/* <https://example.org>: protected, all of it. */
static void take_autolink(struct builder *b, size_t begin)
{
    size_t last = leave_of(b, b->i), letters = begin + 1, end = letters;
    for (b->i++; b->i < last; b->i++)
        end = b->list[b->i].end != NOWHERE ? b->list[b->i].end : end;
    size_t to = end < b->n && b->s[end] == '>' ? end + 1 : end;
    catch_up(b, begin);
    dg_document_protect(b->d, b->s, (size_t[2]){begin, to}, (size_t[2]){letters, end});
    b->at = to;
}

/* A footnote's number that md4c takes for a link, because it takes the footnote for an address. */
static bool is_footnote(const struct builder *b)
{
    const struct dg_md_event *e = &b->list[b->i];
    return b->i + 2 < b->end && e[1].kind == DG_MD_TEXT && e[2].kind == DG_MD_LEAVE &&
           b->s[e[1].begin] == '^' && e[1].begin > 0 && b->s[e[1].begin - 1] == '[';
}

static void take_enter(struct builder *b, const struct dg_md_event *e)
{
    size_t at = find_sign(b, signs_of(e->span, true));
    if (e->span == DG_MD_IMAGE && !b->image) {
        take_image(b);
        return;
    }
    if (e->span == DG_MD_LINK && at < b->n && b->s[at] == '<') {
        take_autolink(b, at);
        return;
    }
    catch_up(b, at);
    if (e->span == DG_MD_LINK && is_footnote(b)) {
        size_t to = e[1].end < b->n && b->s[e[1].end] == ']' ? e[1].end + 1 : e[1].end;
        b->i += 2;
        mark(b, DG_MARK_POINT, to, 0);
        return;
    }
    size_t to = at + length_of(b, e->span, at);
    b->open[b->depth++] = ++b->d->ids;
    mark(b, DG_MARK_OPEN, to, b->d->ids);
}

static void take_leave(struct builder *b, const struct dg_md_event *e)
{
    size_t at = find_sign(b, signs_of(e->span, false));
    uint32_t id = b->depth ? b->open[--b->depth] : 0;
    catch_up(b, at);
    if (e->span == DG_MD_LINK || e->span == DG_MD_IMAGE) {
        struct dg_link_end end;
        link_end(b, at, &end);
        if (!b->image)
            add_title(b, &end, e->title);
        at = end.end;
    } else {
        at += length_of(b, e->span, at);
    }
    mark(b, DG_MARK_CLOSE, at, id);
}

/* " | " and such between two links, as in a list of them: each of the links is a unit. */
static bool is_separator(const struct builder *b, const struct dg_md_event *e)
{
    static const char *const signs[] = {"|", "·", "•"};
    if (b->depth || b->i == 0 || b->i + 1 == b->end || e[-1].kind != DG_MD_LEAVE ||
        e[1].kind != DG_MD_ENTER || e[-1].span < DG_MD_LINK || e[1].span < DG_MD_LINK)
        return false;
    size_t begin = dg_line_skip_blanks(b->s, e->begin, e->end), end = e->end;
    while (end > begin && strchr(" \t", b->s[end - 1]))
        end--;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strlen(signs[i]) == end - begin && memcmp(signs[i], b->s + begin, end - begin) == 0)
            return true;
    return false;
}

static void take(struct builder *b)
{
    const struct dg_md_event *e = &b->list[b->i];
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
    case DG_MD_HTML: take_html(b, e); break;
    case DG_MD_CODE: take_code(b, e); break;
    case DG_MD_SOFT_BREAK:
    case DG_MD_HARD_BREAK: take_break(b, e); break;
    case DG_MD_ENTER: take_enter(b, e); break;
    case DG_MD_LEAVE: take_leave(b, e); break;
    }
}

void dg_markdown_title(struct dg_document *d, const char *s, size_t begin, size_t end)
{
    size_t text = begin = dg_link_skip_space(s, begin, end);
    dg_document_begin(d, begin);
    for (size_t at = begin; at < end;) {
        bool escape = s[at] == '\\' && at + 1 < end && ispunct((unsigned char)s[at + 1]);
        size_t entity = s[at] == '&' ? dg_escape_entity_end(s, at, end) : at;
        size_t space = strchr("\r\n", s[at]) ? dg_link_skip_space(s, at, end) : at;
        struct dg_mark m = {.begin = at, .end = escape ? at + 2 : space, .len = 1};
        if (!escape && entity == at && space == at) {
            at++;
            continue;
        }
        dg_document_text(d, s, text, at);
        m.kind = escape ? DG_MARK_ESCAPE : DG_MARK_BREAK;
        if (entity > at)
            dg_escape_entity(d, s, at, entity);
        else
            dg_document_mark(d, m, escape ? s + at + 1 : " ");
        text = at = entity > at ? entity : m.end;
    }
    dg_document_text(d, s, text, end);
    end_or_drop(d, s);
}

/* Before the "`" of the code whose letters begin at `at`. */
static size_t before_code(const struct builder *b, size_t at, size_t floor)
{
    while (at > floor && b->s[at - 1] != '`')
        at--;
    while (at > floor && b->s[at - 1] == '`')
        at--;
    return at;
}

/* Do the pairs that the unit begins with open at byte `at`? */
static bool opens_at(const struct builder *b, size_t at)
{
    for (size_t i = 0; i < b->end && b->list[i].kind == DG_MD_ENTER; i++) {
        enum dg_md_span span = b->list[i].span;
        if (at >= b->n || !b->s[at] || !strchr(signs_of(span, true), b->s[at]) ||
            (span == DG_MD_STRONG && (at + 1 == b->n || b->s[at + 1] != b->s[at])) ||
            (span == DG_MD_IMAGE && (at + 1 == b->n || b->s[at + 1] != '[')))
            return false;
        at += length_of(b, span, at);
    }
    return b->list[0].kind != DG_MD_CODE || b->s[at] == '`';
}

/* Where the unit begins: before its first text, by the lengths of the marks in front of that. An
 * image or link without text in front of all text is looked for from `floor` on. */
static size_t find_begin(const struct builder *b, size_t floor)
{
    size_t first = 0;
    while (first < b->end && b->list[first].kind == DG_MD_ENTER)
        first++;
    const struct dg_md_event *e = &b->list[first];
    if (first == b->end || !is_text(e) || e->begin < floor) {
        size_t at = floor;
        while (at < b->n && !opens_at(b, at))
            at++;
        return at;
    }
    struct builder here = {.s = b->s, .at = floor};
    size_t at =
        e->kind == DG_MD_CODE ? before_code(b, e->begin, floor) : e->begin - is_escaped(&here, e);
    while (first-- > 0) {
        size_t n = length_of(b, b->list[first].span, at);
        if (b->list[first].span == DG_MD_STRIKE) /* one or two */
            n = at > floor + 1 && b->s[at - 2] == '~' ? 2 : 1;
        at = at > floor + n ? at - n : floor;
    }
    return at;
}

static bool make_room(struct builder *b)
{
    b->bounds = malloc((b->end + 1) * sizeof *b->bounds);
    b->open = malloc((b->end + 1) * sizeof *b->open);
    if (!b->bounds || !b->open)
        return false;
    b->bounds[b->end] = b->n;
    for (size_t i = b->end; i-- > 0;) /* of events after i */
        b->bounds[i] =
            i + 1 < b->end && is_text(&b->list[i + 1]) ? b->list[i + 1].begin : b->bounds[i + 1];
    return true;
}

size_t dg_markdown_unit(struct dg_document *d, const char *s, size_t n,
    const struct dg_md_events *e, size_t floor, struct dg_md_titles *titles)
{
    size_t first = 0;
    while (first < e->n && (is_break(&e->list[first]) || is_label(s, &e->list[first])))
        first++;
    if (first == e->n)
        return floor;
    struct builder b = {.d = d,
        .titles = titles,
        .s = s,
        .n = n,
        .list = e->list + first,
        .end = e->n - first,
        .at = floor};
    dg_buffer_init(&b.inner.text);
    if (make_room(&b)) {
        begin_unit(&b, find_begin(&b, floor) + label_of(s, b.list));
        for (b.i = 0; b.i < b.end; b.i++)
            take(&b);
        end_unit(&b);
    } else {
        d->text.failed = true;
    }
    free(b.bounds);
    free(b.open);
    return b.at;
}
