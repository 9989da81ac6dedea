/* Plain text, Markdown and HTML: files that are one text to the translator, cut where no sentence
 * continues, so that a long file becomes many small texts. */
#include "base/array.h"
#include "documents/kinds.h"
#include "documents/units.h"
#include "documents/xml/declaration.h"
#include "text/format/document.h"
#include "text/scan.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES 2000     /* bytes of lines in one text before the next line begins a new one */
#define MARKDOWN_BYTES 4000 /* minimum bytes of one text */
#define MANY_LINES 4        /* enough of them to tell a list of titles from wrapped lines */

struct line {
    /* end: before the line end */
    size_t begin, end, next;
    bool blank;
};

static bool read_line(const char *s, size_t n, size_t at, struct line *l)
{
    if (at >= n)
        return false;
    *l = (struct line){.begin = at, .end = dg_scan_find(s, at, n, "\n")};
    l->next = l->end < n ? l->end + 1 : n;
    if (l->end > at && s[l->end - 1] == '\r')
        l->end--;
    l->blank = true;
    for (size_t i = at; i < l->end && l->blank; i++)
        l->blank = s[i] == ' ' || s[i] == '\t';
    return true;
}

/* True if the line ends a sentence, before quotation marks and brackets that close it, or announces
 * what follows. */
static bool ends_sentence(const char *s, const struct line *l)
{
    int32_t last = 0;
    for (size_t at = l->end; at > l->begin && (last == 0 || dg_scan_is_close(last));)
        last = dg_scan_prev(s, l->begin, &at);
    return dg_scan_is_terminator(last) || last == ':' || last == ';' || last == 0xFF1A ||
           last == 0xFF1B;
}

/* Width of the line, in columns of a terminal. */
static size_t count_columns(const char *s, const struct line *l)
{
    size_t n = 0;
    for (size_t at = l->begin; at < l->end;)
        n += dg_scan_columns(dg_scan_next(s, l->end, &at));
    return n;
}

/* True if the line seems to be wrapped by hand: it has a usual width, and no end of a sentence. */
static bool is_wrapped_line(const char *s, const struct line *l)
{
    const size_t n = count_columns(s, l);
    return n >= 50 && n <= 120 && !ends_sentence(s, l);
}

/* True if the line's first letter is a capital. */
static bool begins_upper(const char *s, const struct line *l)
{
    return dg_scan_is_upper(dg_scan_peek(s, dg_scan_skip_space(s, l->begin, l->end), l->end));
}

/* True if most lines that are followed by a non-blank one seem to be wrapped, and they are no list
 * of titles: of German prose, where nouns have capitals, less than half of the lines begin with
 * one. */
static bool is_wrapped(const char *s, size_t n, size_t at)
{
    size_t wrapped = 0, upper = 0, all = 0;
    struct line l, next;
    for (; read_line(s, n, at, &l); at = l.next) {
        if (l.blank || !read_line(s, n, l.next, &next) || next.blank)
            continue;
        all++;
        wrapped += is_wrapped_line(s, &l);
        upper += begins_upper(s, &next);
    }
    const bool titles = all >= MANY_LINES && 5 * upper > 4 * all;
    return 2 * wrapped > all && !titles;
}

static int add(struct dg_extract *x, struct dg_extract_part *p, size_t begin, size_t end,
    enum dg_format format, struct dg_error *err)
{
    if (!dg_utf8_has_letter(p->s + begin, end - begin))
        return DG_OK;
    const struct dg_segment like = {.begin = begin, .end = end, .format = format};
    return dg_segment_add_own(x, p, like, err);
}

int dg_read_text(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    size_t at = dg_utf8_bom(p->s, p->n), begin = at, end = at;
    const bool wrapped = is_wrapped(p->s, p->n, at);
    const enum dg_format format = wrapped ? DG_FORMAT_WRAPPED : DG_FORMAT_TEXT;
    struct line l;
    int rc = DG_OK;
    for (; rc == DG_OK && read_line(p->s, p->n, at, &l); at = l.next) {
        bool full = end - begin >= TEXT_BYTES && !wrapped;
        if ((l.blank || full) && end > begin) {
            rc = add(x, p, begin, end, format, err);
            begin = l.begin;
        }
        if (l.blank)
            begin = end = l.next;
        else
            end = l.end;
    }
    return rc == DG_OK && end > begin ? add(x, p, begin, end, format, err) : rc;
}

/* ---- Markdown ---- */

/* Start of the next paragraph from byte `at` on: not indented, and after a blank line; no "---"
 * or "+++", which a text's first line would make front matter. */
static size_t next_paragraph(const char *s, size_t n, size_t at)
{
    struct line l;
    bool blank = false;
    for (; read_line(s, n, at, &l); at = l.next) {
        const bool rule =
            dg_scan_begins(s, l.begin, l.end, "---") || dg_scan_begins(s, l.begin, l.end, "+++");
        if (blank && !l.blank && !rule && !strchr(" \t", s[l.begin]))
            return l.begin;
        blank = l.blank;
    }
    return n;
}

/* True if s[begin, end) parsed by itself gives the same units as within the whole text. *unit:
 * index of the first of them; moved past them if true. */
static bool is_apart(
    const struct dg_document *whole, size_t *unit, const char *s, size_t begin, size_t end)
{
    struct dg_document d;
    size_t at = *unit;
    if (dg_document_open(s + begin, end - begin, DG_FORMAT_MARKDOWN, &d, NULL) != DG_OK)
        return false;
    bool same = at + d.n_units <= whole->n_units;
    for (size_t i = 0; i < d.n_units && same; i++, at++) {
        const struct dg_unit *a = &d.units[i], *b = &whole->units[at];
        same = a->source + begin == b->source && a->n_marks == b->n_marks &&
               a->end - a->at == b->end - b->at &&
               memcmp(d.text.data + a->at, whole->text.data + b->at, a->end - a->at) == 0;
    }
    same = same && (at == whole->n_units || whole->units[at].source >= end);
    if (same)
        *unit = at;
    dg_document_close(&d);
    return same;
}

/* Where a text begins: its first byte, and the index of the whole file's unit there. */
struct start {
    size_t at, unit;
};

/* Where the texts of a Markdown file begin. */
struct starts {
    /* [n] */
    struct start *list;
    size_t n, cap;
};

static int add_start(struct starts *l, struct start start, struct dg_error *err)
{
    struct start *list = dg_array_grow(l->list, l->n, &l->cap, sizeof *list);
    if (!list)
        return dg_error_set(err, DG_ENOMEM, "no memory for the texts of a file");
    l->list = list;
    l->list[l->n++] = start;
    return DG_OK;
}

/* Joins the last text of s[n] with those before it until it is apart: it may have references to a
 * link definition in one of them. Doubling keeps the cost to a few passes, as below. */
static void join_last(struct starts *l, const struct dg_document *whole, const char *s, size_t n)
{
    size_t unit;
    for (size_t more = 1; l->n > 1; more *= 2) {
        unit = l->list[l->n - 1].unit;
        if (is_apart(whole, &unit, s, l->list[l->n - 1].at, n))
            return;
        l->n -= more < l->n ? more : l->n - 1;
    }
}

/* Finds texts of s[n] that give the same units as the whole. */
static int find_starts(const struct dg_document *whole, const char *s, size_t n, struct starts *l,
    struct dg_error *err)
{
    size_t at = 0, unit = 0;
    int rc = DG_OK;
    while (at < n && rc == DG_OK) {
        size_t want = MARKDOWN_BYTES, end;
        rc = add_start(l, (struct start){at, unit}, err);
        do {
            end = next_paragraph(s, n, n - at > want ? at + want : n);
            want *= 2; /* doubling keeps the cost of all attempts to a few passes over the text */
        } while (end < n && !is_apart(whole, &unit, s, at, end));
        at = end;
    }
    if (rc == DG_OK)
        join_last(l, whole, s, n);
    return rc;
}

int dg_read_markdown(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    struct dg_document whole;
    struct starts l = {0};
    const size_t base = dg_utf8_bom(p->s, p->n);
    int rc = dg_document_open(p->s + base, p->n - base, DG_FORMAT_MARKDOWN, &whole, err);
    if (rc != DG_OK)
        return rc;
    rc = find_starts(&whole, p->s + base, p->n - base, &l, err);
    for (size_t i = 0; i < l.n && rc == DG_OK; i++) {
        const size_t end = i + 1 < l.n ? base + l.list[i + 1].at : p->n;
        rc = add(x, p, base + l.list[i].at, end, DG_FORMAT_MARKDOWN, err);
    }
    free(l.list);
    dg_document_close(&whole);
    return rc;
}

/* ---- HTML ---- */

int dg_read_html(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    int rc = dg_units_add(x, p, DG_FORMAT_HTML, NULL, DG_FORMAT_HTML, err);
    if (rc == DG_OK)
        rc = dg_declaration_of_xml(x, p, err);
    return rc == DG_OK ? dg_declaration_of_html(x, p, err) : rc;
}
