#include "text/format/markdown_spans.h"

#include "base/array.h"
#include "text/format/dialect.h"

#include <string.h>

struct spans {
    const char *s;
    const struct dg_md_events *e;
    struct dg_md_events *out;
    /* index of the current event, TEXT; the byte in it that is looked at, and that up to which all
     * is written */
    size_t i, at, written;
    /* end of the events' bytes */
    size_t end;
    /* the closing mark that is expected; 0, 0: none is */
    size_t close, close_end;
};

static void add(struct spans *p, struct dg_md_event event)
{
    struct dg_md_events *out = p->out;
    struct dg_md_event *list = dg_array_grow(out->list, out->n, &out->cap, sizeof *list);
    if (!list) {
        out->failed = true;
        return;
    }
    out->list = list;
    out->list[out->n++] = event;
}

static void add_text(struct spans *p, size_t end)
{
    if (end > p->written)
        add(p, (struct dg_md_event){.kind = DG_MD_TEXT, .begin = p->written, .end = end});
    p->written = end;
}

/* Index of the text, from event i on, that has the byte before `end`, with as many pairs open as
 * there; the number of events: there is none. */
static size_t find_text(const struct spans *p, size_t i, size_t end)
{
    size_t depth = 0;
    for (; i < p->e->n; i++) {
        const struct dg_md_event *e = &p->e->list[i];
        if (e->kind == DG_MD_LEAVE && depth-- == 0)
            break;
        depth += e->kind == DG_MD_ENTER;
        if (e->kind != DG_MD_TEXT || e->begin == SIZE_MAX)
            continue;
        if (e->begin >= end)
            break; /* the byte is outside the texts, as in code; the rest begin after it */
        if (e->end >= end)
            return depth == 0 ? i : p->e->n;
    }
    return p->e->n;
}

/* Replaces the source's bytes up to `end`, which are in event `last`, by this event. */
static void replace(struct spans *p, size_t last, size_t end, struct dg_md_event event)
{
    add_text(p, p->at);
    event.begin = p->at;
    event.end = end;
    add(p, event);
    p->i = last;
    p->at = p->written = end;
}

/* Takes the part that begins at the current byte; false: none does. */
static bool take(struct spans *p)
{
    struct dg_dialect part;
    size_t last;
    if (p->close_end && p->at == p->close) {
        last = find_text(p, p->i, p->close_end);
        replace(p, last, p->close_end, (struct dg_md_event){.kind = DG_MD_CLOSE});
        p->close_end = 0;
        return true;
    }
    if (!dg_dialect_read(p->s, p->at, p->end, &part))
        return false;
    if (part.close == part.close_end) {
        last = find_text(p, p->i, part.end);
        if (strchr("![", p->s[p->at]) && last != p->i)
            return false; /* a link within brackets */
        if (last < p->e->n && (!p->close_end || part.end <= p->close))
            replace(p, last, part.end,
                (struct dg_md_event){
                    .kind = DG_MD_KEPT, .title = {part.letters, part.letters_end}});
        return last < p->e->n && p->at == part.end;
    }
    last = find_text(p, p->i, part.end);
    const size_t text = find_text(p, last, part.close + 1);
    if (p->close_end || find_text(p, text, part.close_end) == p->e->n)
        return false;
    p->close = part.close;
    p->close_end = part.close_end;
    replace(p, last, part.end, (struct dg_md_event){.kind = DG_MD_OPEN});
    return true;
}

/* The end of the text s[begin, end) that ends the unit, without attributes or the id of a block,
 * and the blanks before them. */
static size_t trim_end(const char *s, size_t begin, size_t end)
{
    size_t at = end;
    while (at > begin && s[at - 1] != '{')
        at--;
    if (at == begin || dg_dialect_attributes(s, at - 1, end) != end)
        return dg_dialect_trim_id(s, begin, end);
    return dg_line_trim_blanks(s, begin, at - 1);
}

void dg_markdown_spans(const char *s, const struct dg_md_events *e, struct dg_md_events *out)
{
    struct spans p = {.s = s, .e = e, .out = out};
    *out = (struct dg_md_events){0};
    for (size_t i = 0; i < e->n; i++)
        p.end = e->list[i].end != SIZE_MAX ? e->list[i].end : p.end;
    const struct dg_md_event *last = e->n ? &e->list[e->n - 1] : NULL;
    if (last && last->kind == DG_MD_TEXT)
        p.end = trim_end(s, last->begin, last->end);
    for (p.i = 0; p.i < e->n; p.i++) {
        if (e->list[p.i].kind != DG_MD_TEXT) {
            add(&p, e->list[p.i]);
            continue;
        }
        p.at = p.written = e->list[p.i].begin;
        while (p.at < e->list[p.i].end && p.at < p.end)
            p.at += !take(&p);
        add_text(&p, p.at);
    }
}
