#include "base/array.h"
#include "text/format/internal.h"
#include "text/placeholder_program.h"
#include "text/protected/protected.h"
#include "text/scan.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SHOWN 80 /* maximum bytes of a protected span that the model sees */
/* Bytes read between two calls of check: 10 ms as a rule, 60 ms of "{{{{" or "a/?a/?". */
#define CHECK_BYTES 65536
/* Bytes of a program's strings that are searched at a time; check is called after each part. */
#define PROGRAM_BYTES 256

const char *const dg_format_names[] = {"text", "wrapped", "srt", "markdown", "html", "xml", NULL};

bool dg_format_find(const char *name, enum dg_format *out)
{
    for (int i = 0; dg_format_names[i]; i++) {
        if (strcmp(name, dg_format_names[i]) == 0) {
            *out = (enum dg_format)i;
            return true;
        }
    }
    return false;
}

void dg_document_begin(struct dg_document *d, size_t source)
{
    struct dg_unit *p = dg_array_grow(d->units, d->n_units, &d->units_cap, sizeof *p);
    d->text.failed = d->text.failed || !p;
    if (!p)
        return;
    d->units = p;
    d->units[d->n_units] = (struct dg_unit){
        .at = d->text.len, .end = d->text.len, .source = source, .mark = d->n_marks};
}

void dg_document_text(struct dg_document *d, const char *s, size_t begin, size_t end)
{
    dg_buffer_add(&d->text, s + begin, end - begin);
}

void dg_document_mark(struct dg_document *d, struct dg_mark mark, const char *shown)
{
    struct dg_mark *p = dg_array_grow(d->marks, d->n_marks, &d->marks_cap, sizeof *p);
    d->text.failed = d->text.failed || !p;
    if (!p)
        return;
    d->marks = p;
    mark.at = d->text.len;
    dg_buffer_add(&d->text, shown, mark.len);
    /* code may span lines; the text does not */
    for (size_t i = mark.at; i < d->text.len; i++)
        if (d->text.data[i] == '\n' || d->text.data[i] == '\r')
            d->text.data[i] = ' ';
    d->marks[d->n_marks++] = mark;
}

/* Number of bytes of a protected span s[n] that the model sees: a long address would dominate the
 * sentence. */
static size_t shown_of(const char *s, size_t n)
{
    if (n <= MAX_SHOWN)
        return n;
    n = MAX_SHOWN;
    while (n > 0 && ((unsigned char)s[n] & 0xC0) == 0x80)
        n--;
    return n;
}

void dg_document_protect(
    struct dg_document *d, const char *s, const size_t mark[2], const size_t letters[2])
{
    /* Sentences are trimmed, so white space at the ends of the letters would split the mark. */
    size_t begin = dg_scan_skip_space(s, letters[0], letters[1]);
    size_t end = dg_scan_trim_space(s, begin, begin + shown_of(s + begin, letters[1] - begin));
    struct dg_mark m = {.kind = end > begin ? DG_MARK_PROTECTED : DG_MARK_POINT,
        .len = end - begin,
        .begin = mark[0],
        .end = mark[1]};
    dg_document_mark(d, m, s + begin);
}

/* True if the mark is a character that s has as a reference. "&gt;" is protected by itself, but
 * "{{&gt; partial}}" is one placeholder; "030&nbsp;1234567" is one number. */
static bool is_character(const char *s, const struct dg_mark *m)
{
    return m->kind == DG_MARK_ESCAPE ||
           (m->len == 1 && s[m->begin] == '&' &&
               (m->kind == DG_MARK_PROTECTED || m->kind == DG_MARK_BREAK));
}

/* The end of the running text: the unit's next mark, *k or a later one. Characters written as
 * references are part of the text. */
static size_t running_end(
    const struct dg_document *d, const char *s, const struct dg_unit *u, size_t *k)
{
    while (*k < u->n_marks && is_character(s, &d->marks[u->mark + *k]))
        (*k)++;
    return *k < u->n_marks ? d->marks[u->mark + *k].at : u->end;
}

/* dg_protected_next, which stops if check ends the reading. A program's strings have further spans;
 * these texts are searched in small parts, each for both kinds, because a search for one kind up to
 * the end of the text would be repeated after each span of the other kind. */
static size_t next_protected(
    struct dg_document *d, const char *s, size_t n, size_t from, size_t *begin)
{
    const size_t part = d->is_program ? PROGRAM_BYTES : CHECK_BYTES;
    for (size_t at = from; at < n && d->ended == DG_OK; at = *begin) {
        const size_t until = n - at > part ? at + part : n;
        size_t first,
            own = d->is_program ? dg_placeholder_program_next(s, at, until, n, &first) : 0;
        const size_t to = dg_protected_within(d->known, s, n, at, own > 0 ? own : until, begin);
        if (to > 0 && own > 0 && *begin > first) /* "--file=a.txt" ends before the file's name */
            own = dg_placeholder_program_next(s, first, *begin, *begin, &first);
        if (own > 0 && (to == 0 || first < *begin)) {
            *begin = first;
            return own;
        }
        if (to > 0)
            return to;
        if (until < n && d->check)
            d->ended = d->check(d->check_arg, d->err);
    }
    return 0;
}

static bool has_protected(struct dg_document *d, const char *s, const struct dg_unit *u)
{
    size_t k = 0, begin;
    for (size_t at = u->at;;) {
        size_t end = running_end(d, s, u, &k);
        if (next_protected(d, d->text.data + u->at, end - u->at, at - u->at, &begin))
            return true;
        if (k == u->n_marks)
            return false;
        at = d->marks[u->mark + k].at + d->marks[u->mark + k].len;
        k++;
    }
}

/* A unit being rewritten with its protected spans as marks. */
struct rewrite {
    struct dg_document *d;
    const char *s;
    /* the unit alone, with its `at` from 0 */
    struct dg_document old;
    struct dg_unit unit;
    /* number of bytes and marks of `old` that are written */
    size_t at, mark;
};

/* Writes the old unit's text up to byte `end`, with the escaped characters in it. */
static void write_running(struct rewrite *w, size_t end)
{
    for (; w->mark < w->old.n_marks && w->old.marks[w->mark].at < end; w->mark++) {
        const struct dg_mark *m = &w->old.marks[w->mark];
        dg_document_text(w->d, w->old.text.data, w->at, m->at);
        dg_document_mark(w->d, *m, w->old.text.data + m->at);
        w->at = m->at + m->len;
    }
    dg_document_text(w->d, w->old.text.data, w->at, end);
    w->at = end;
}

/* Writes running text from w->at to byte `end`, with its protected spans as marks. */
static void write_protected(struct rewrite *w, size_t end)
{
    size_t begin, to = w->at;
    while ((to = next_protected(w->d, w->old.text.data, end, to, &begin)) > 0) {
        write_running(w, begin);
        const size_t mark[2] = {dg_document_source(&w->old, &w->unit, begin, true),
            dg_document_source(&w->old, &w->unit, to, false)};
        while (w->mark < w->old.n_marks && w->old.marks[w->mark].at < to)
            w->mark++; /* escaped characters within the span are part of its bytes */
        struct dg_mark m = {.kind = DG_MARK_PROTECTED, .begin = mark[0], .end = mark[1]};
        m.len = shown_of(w->old.text.data + begin, to - begin);
        m.len = dg_scan_trim_space(w->old.text.data, begin, begin + m.len) - begin;
        dg_document_mark(w->d, m, w->old.text.data + begin);
        w->at = to;
    }
    write_running(w, end);
}

static void write_marks(struct rewrite *w)
{
    size_t k = 0;
    for (;;) {
        write_protected(w, running_end(&w->old, w->s, &w->unit, &k));
        if (k == w->unit.n_marks)
            return;
        const struct dg_mark *m = &w->old.marks[k++];
        dg_document_mark(w->d, *m, w->old.text.data + m->at);
        w->at = m->at + m->len;
        w->mark = k;
    }
}

static bool copy_unit(const struct dg_document *d, const struct dg_unit *u, struct dg_document *out)
{
    dg_buffer_add(&out->text, d->text.data + u->at, u->end - u->at);
    out->marks = malloc((u->n_marks ? u->n_marks : 1) * sizeof *out->marks);
    if (!out->marks || out->text.failed)
        return false;
    for (size_t i = 0; i < u->n_marks; i++) {
        out->marks[i] = d->marks[u->mark + i];
        out->marks[i].at -= u->at;
    }
    out->n_marks = u->n_marks;
    return true;
}

static void protect_spans(struct dg_document *d, const char *s, struct dg_unit *u)
{
    struct rewrite w = {.d = d, .s = s};
    if (!has_protected(d, s, u))
        return;
    if (copy_unit(d, u, &w.old)) {
        w.unit =
            (struct dg_unit){.end = u->end - u->at, .source = u->source, .n_marks = u->n_marks};
        d->text.len = u->at;
        d->n_marks = u->mark;
        write_marks(&w);
        u->end = d->text.len;
        u->n_marks = d->n_marks - u->mark;
    } else {
        d->text.failed = true;
    }
    dg_document_close(&w.old);
}

static void drop(struct dg_document *d)
{
    d->text.len = d->units[d->n_units].at;
    d->n_marks = d->units[d->n_units].mark;
}

void dg_document_end(struct dg_document *d, const char *s)
{
    if (d->text.failed)
        return;
    struct dg_unit *u = &d->units[d->n_units];
    dg_tags_pair(d, s, u->mark);
    u->end = d->text.len;
    u->n_marks = d->n_marks - u->mark;
    if (u->end == u->at) {
        drop(d);
    } else {
        protect_spans(d, s, u);
        d->n_units++;
    }
}

void dg_document_end_value(struct dg_document *d, const char *s, enum dg_encoding encoding)
{
    if (d->text.failed)
        return;
    const size_t at = d->units[d->n_units].at;
    d->units[d->n_units].encoding = encoding;
    if (d->text.len > at && dg_utf8_has_letter(d->text.data + at, d->text.len - at))
        dg_document_end(d, s);
    else
        drop(d);
}

void dg_document_append(struct dg_document *d, const struct dg_document *more)
{
    for (size_t i = 0; i < more->n_units && !d->text.failed; i++) {
        const struct dg_unit *u = &more->units[i];
        size_t at = u->at;
        dg_document_begin(d, u->source);
        for (size_t k = 0; k < u->n_marks; k++) {
            struct dg_mark m = more->marks[u->mark + k];
            size_t from = m.at;
            dg_document_text(d, more->text.data, at, from);
            m.id += m.id ? d->ids : 0;
            dg_document_mark(d, m, more->text.data + from);
            at = from + m.len;
        }
        dg_document_text(d, more->text.data, at, u->end);
        if (d->text.failed)
            return;
        struct dg_unit *added = &d->units[d->n_units++];
        added->end = d->text.len;
        added->encoding = u->encoding;
        added->n_marks = d->n_marks - added->mark;
    }
    d->ids += more->ids;
}

int dg_document_read(const char *source, size_t n, const struct dg_document_kind *kind,
    struct dg_document *out, struct dg_error *err)
{
    static const struct dg_markup usual = {0};
    const struct dg_markup *markup = kind->markup ? kind->markup : &usual;
    int rc = DG_OK;
    memset(out, 0, sizeof *out);
    out->known = kind->known;
    out->is_program = markup->program;
    out->check = kind->check;
    out->check_arg = kind->check_arg;
    out->err = err;
    switch (kind->format) {
    case DG_FORMAT_TEXT: dg_document_plain(out, source, n); break;
    case DG_FORMAT_WRAPPED: dg_document_wrapped(out, source, n); break;
    case DG_FORMAT_SRT: dg_document_srt(out, source, n); break;
    case DG_FORMAT_MARKDOWN: dg_document_markdown(out, source, n); break;
    case DG_FORMAT_HTML: rc = dg_document_html(out, source, n, markup, err); break;
    case DG_FORMAT_XML: rc = dg_document_xml(out, source, n, markup, err); break;
    }
    if (out->ended != DG_OK)
        rc = out->ended;
    out->err = NULL;
    if (rc == DG_OK && out->text.failed)
        rc = dg_error_set(err, DG_ENOMEM, "no memory for the units of %zu bytes", n);
    if (rc != DG_OK)
        dg_document_close(out);
    return rc;
}

int dg_document_open_markup(const char *source, size_t n, enum dg_format format,
    const struct dg_markup *markup, struct dg_document *out, struct dg_error *err)
{
    return dg_document_read(
        source, n, &(struct dg_document_kind){.format = format, .markup = markup}, out, err);
}

int dg_document_open(const char *source, size_t n, enum dg_format format, struct dg_document *out,
    struct dg_error *err)
{
    return dg_document_open_markup(source, n, format, NULL, out, err);
}

void dg_document_close(struct dg_document *d)
{
    dg_buffer_deinit(&d->text);
    free(d->units);
    free(d->marks);
    free(d->tags.endless);
    memset(d, 0, sizeof *d);
}

size_t dg_document_marks_before(const struct dg_document *d, const struct dg_unit *u, size_t at)
{
    size_t lo = 0, hi = u->n_marks;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (d->marks[u->mark + mid].at < at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* True if the mark is before byte `at` of the text. */
static bool is_before(const struct dg_mark *m, size_t at, bool after)
{
    size_t end = m->at + m->len;
    return end < at || (end == at && (m->len > 0 || after));
}

size_t dg_document_source(
    const struct dg_document *d, const struct dg_unit *u, size_t at, bool after)
{
    const struct dg_mark *marks = u->n_marks ? d->marks + u->mark : NULL;
    size_t lo = 0, hi = u->n_marks;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (is_before(&marks[mid], at, after))
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == 0)
        return u->source + (at - u->at);
    return marks[lo - 1].end + (at - marks[lo - 1].at - marks[lo - 1].len);
}
