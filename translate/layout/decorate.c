/* Writes the answer with its marks. places.c decides where each goes; here the marks become edits
 * (changes of the answer), which are sorted and written in one pass.
 *
 * Example, continued from places.c: "In der Shell starte make all." with P0 at bytes 20..28, P1 at
 * 0..12 and P2 at 7..12, P2 within P1.
 *
 *   place   marks            bytes     groups
 *   P0      0 `make all`     20..28    REPLACES
 *   P1      1 [ and 4 ](u)   0 and 12  OPENS, CLOSES
 *   P2      2 * and 3 *      7 and 12  OPENS, CLOSES
 *
 * Sorted by byte, then group, then mark: 1 at 0, 2 at 7, 3 and 4 at 12, 0 at 20. Marks are numbered
 * in the order of the text, so marks at one byte close from the inside out and open from the
 * outside in. */
#include "translate/layout/decorate.h"

#include "text/scan.h"
#include "translate/layout/places.h"
#include "translate/layout/white_space.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Kinds of edits, in their order at one byte of the answer. A mark without a width at the edge of
 * its outer pair has that pair's kind, and so stays inside it. */
enum group { CLOSES, ALONE, OPENS, REPLACES };

/* One change of the answer: bytes begin .. end are replaced by a mark. */
struct edit {
    size_t begin, end;
    enum group group;
    size_t mark;
    /* written in front of the mark; or NULL */
    const char *text;
    size_t text_len;
    bool space_after;
};

struct work {
    const struct dg_decoration *d;
    struct dg_places places;
    /* [places.n] index of each place's edit; a pair's second edit is the next one */
    size_t *first_edit;
    /* [answer_len] bytes that a protected span replaces */
    bool *replaced;
    /* positions where a line end may go: see find_spaces */
    size_t *spaces;
    struct edit *edits;
    size_t n_edits;
};

static enum group group_of(const struct dg_place *p)
{
    const struct dg_place *outer = p->wide;
    if (dg_place_has_width(p))
        return REPLACES;
    /* A place without a width may be at an edge of its outer pair: it goes inside that edge. */
    if (outer && outer->end_byte == p->begin_byte)
        return CLOSES;
    return outer && outer->begin_byte == p->begin_byte ? OPENS : ALONE;
}

static void add_edit(struct work *w, size_t begin, size_t end, size_t mark, enum group group)
{
    w->edits[w->n_edits++] =
        (struct edit){.begin = begin, .end = end, .group = group, .mark = mark};
}

/* Write a space in front of p, or after it at the start of the answer or of the outer pair; outside
 * any pairs without a width at the same byte. */
static void set_apart(struct work *w, const struct dg_place *p)
{
    const struct dg_place *wide = p->wide;
    size_t at = p->begin_byte;
    /* Pairs without a width are at the same byte. */
    p = p->outermost;
    struct edit *e = &w->edits[w->first_edit[p - w->places.list]];
    if (at == 0 || (wide && wide->begin_byte == at)) {
        e[dg_place_is_pair(p)].space_after = w->d->answer_len > 0;
        return;
    }
    e->text = " ";
    e->text_len = 1;
}

/* True if byte `at` of the source is between two letters. */
static bool is_within_word(const struct dg_decoration *d, size_t at)
{
    size_t before = at;
    return at > 0 && dg_scan_is_letter(dg_scan_prev(d->text, 0, &before)) &&
           dg_scan_is_letter(dg_scan_peek(d->text, at, d->len));
}

/* True if the pair has a piece of a word, whose translation another pair has, and nothing that must
 * be written: without its word, the piece says nothing. */
static bool is_piece(const struct dg_decoration *d, const struct dg_place *p)
{
    for (size_t i = p->open; i <= p->close; i++)
        if (d->marks[i].kind == DG_MARK_PROTECTED)
            return false;
    return is_within_word(d, p->text_begin) || is_within_word(d, p->text_end);
}

/* Put a place that is lost, and all marks within it, at the end of the pair that holds it or of the
 * answer, with the source's text between them unless that is a piece of a word. */
static void settle(struct work *w, const struct dg_place *p)
{
    const struct dg_decoration *d = w->d;
    const struct dg_place *wide = p->wide;
    const bool says = !is_piece(d, p);
    size_t end = wide ? wide->end_byte : d->answer_len, from = p->text_begin;
    for (size_t i = p->open; i <= p->close; i++) {
        const struct dg_mark *mark = &d->marks[i];
        if (mark->kind == DG_MARK_BREAK)
            continue; /* its space is among the words; add_breaks places it */
        add_edit(w, end, end, i, wide ? CLOSES : ALONE);
        /* The source's text between the marks; a space separates it from the answer. All are at one
         * byte: in_order keeps them in the order of their marks. */
        struct edit *e = &w->edits[w->n_edits - 1];
        e->text = i > p->open ? d->text + from : " ";
        e->text_len = !says ? 0 : i > p->open ? mark->at - from : end > 0;
        from = mark->at + mark->len;
    }
}

/* If the model attached a protected span to the word before it, as in "mit:name", restore the space
 * that the source has there. */
static void keep_apart(struct work *w, const struct dg_place *p)
{
    const struct dg_decoration *d = w->d;
    struct edit *e = &w->edits[w->n_edits - 1];
    if (p->literal && p->text_begin > 0 && dg_white_space(d->text[p->text_begin - 1]) &&
        p->begin_byte > 0 && isalnum((unsigned char)d->answer[p->begin_byte - 1])) {
        e->text = " ";
        e->text_len = 1;
    }
}

static void make_edits(struct work *w)
{
    size_t lost_until = 0; /* marks before this one are part of a lost place */
    for (size_t i = 0; i < w->places.n; i++) {
        const struct dg_place *p = &w->places.list[i];
        w->first_edit[i] = w->n_edits;
        /* Places are in the order of their marks: those within a lost one come next, and were
         * settled with it. */
        if (p->open < lost_until)
            continue;
        if (p->lost) {
            settle(w, p);
            lost_until = p->close;
        } else if (dg_place_is_pair(p)) {
            /* Two edits, one after the other: set_apart counts on that. */
            add_edit(w, p->begin_byte, p->begin_byte, p->open,
                dg_place_has_width(p) ? OPENS : group_of(p));
            add_edit(w, p->end_byte, p->end_byte, p->close,
                dg_place_has_width(p) ? CLOSES : group_of(p));
        } else if (p->stays) {
            memset(w->replaced + p->begin_byte, true, p->end_byte - p->begin_byte);
        } else {
            add_edit(w, p->begin_byte, p->end_byte, p->open, group_of(p));
            /* No line end and no escape may be put within what it replaces. */
            memset(w->replaced + p->begin_byte, true, p->end_byte - p->begin_byte);
            w->edits[w->n_edits - 1].space_after = p->space_after;
            keep_apart(w, p);
            if (!dg_place_has_width(p) && w->d->marks[p->open].len > 0)
                set_apart(w, p);
        }
    }
}

/* Find where the answer may break: the spaces between its words, outside protected spans. */
static size_t find_spaces(struct work *w)
{
    const char *s = w->d->answer;
    size_t n = 0, end = w->d->answer_len;
    while (end > 0 && dg_white_space(s[end - 1]))
        end--;
    for (size_t i = 1; i < end; i++)
        if (s[i] == ' ' && !dg_white_space(s[i - 1]) && !w->replaced[i])
            w->spaces[n++] = i;
    return n;
}

static size_t distance(size_t a, size_t b)
{
    return a < b ? b - a : a - b;
}

/* True if a line end is more than white space: a <br>, or written as markup. */
static bool is_tag(const struct dg_decoration *d, size_t i)
{
    return dg_encoding_is_markup(d->encoding) || memchr(d->bytes[i].s, '<', d->bytes[i].n);
}

/* Put each line end at the space nearest to its relative position in the source, in order, leaving
 * enough spaces for the ones after it. If no space is left (fewer words than lines), a line end is
 * dropped, but a <br> goes to the end. */
static void add_breaks(struct work *w)
{
    const struct dg_decoration *d = w->d;
    size_t n = find_spaces(w), k = 0, left = 0;
    for (size_t i = 0; i < d->n; i++)
        left += d->marks[i].kind == DG_MARK_BREAK;
    for (size_t i = 0; i < d->n; i++) {
        if (d->marks[i].kind != DG_MARK_BREAK)
            continue;
        if (k >= n) {
            if (is_tag(d, i))
                add_edit(w, d->answer_len, d->answer_len, i, ALONE);
            continue;
        }
        /* By proportion: alignment says nothing about where lines were wrapped. */
        size_t want = d->marks[i].at * d->answer_len / (d->len ? d->len : 1);
        /* Leave enough spaces for the line ends that follow. */
        while (k + left < n && distance(w->spaces[k + 1], want) < distance(w->spaces[k], want))
            k++;
        add_edit(w, w->spaces[k], w->spaces[k] + 1, i, REPLACES);
        k++;
        left--;
    }
}

/* Count the occurrences in the text of the characters that escape i writes, outside protected
 * spans. *rank: which of them escape i is, from 0; *escaped: how many are escaped. */
static size_t count_shown(const struct dg_decoration *d, size_t i, size_t *rank, size_t *escaped)
{
    const struct dg_mark *m = &d->marks[i];
    size_t n = 0, k = 0;
    *rank = *escaped = 0;
    for (size_t at = 0; at + m->len <= d->len; at++) {
        /* Marks are in the order of bytes: k is the one that is at, or after, this byte. */
        while (k < d->n && d->marks[k].at + d->marks[k].len <= at)
            k++;
        bool inside = k < d->n && d->marks[k].at <= at && d->marks[k].len > 0;
        if (inside && d->marks[k].kind == DG_MARK_PROTECTED)
            continue;
        if (memcmp(d->text + at, d->text + m->at, m->len) != 0)
            continue;
        *rank += at < m->at;
        *escaped += inside && d->marks[k].kind == DG_MARK_ESCAPE;
        n++;
    }
    return n;
}

/* True if no earlier escape has the same characters as escape i. */
static bool is_first(const struct dg_decoration *d, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (d->marks[k].kind == DG_MARK_ESCAPE && d->marks[k].len == d->marks[i].len &&
            memcmp(d->text + d->marks[k].at, d->text + d->marks[i].at, d->marks[i].len) == 0)
            return false;
    return true;
}

/* Escape the characters of escape i in the answer. If the answer has as many of them as the source,
 * each is written as its counterpart was. Otherwise all are escaped if all were in the source, or
 * if they are punctuation, which may have a meaning when unescaped. */
static void add_escapes_of(struct work *w, size_t i)
{
    const struct dg_decoration *d = w->d;
    const struct dg_mark *m = &d->marks[i];
    size_t rank, escaped, said = 0, n = count_shown(d, i, &rank, &escaped);
    for (size_t at = 0; at + m->len <= d->answer_len; at++)
        said += !w->replaced[at] && memcmp(d->answer + at, d->text + m->at, m->len) == 0;
    /* said != n: the model wrote a different number of them, so ranks do not correspond. */
    bool all = said != n && (escaped == n || ispunct((unsigned char)d->text[m->at]));
    /* If all are escaped, the first escape with these characters handles the others. */
    if ((said != n && !all) || (all && !is_first(d, i)))
        return;
    said = 0;
    for (size_t at = 0; at + m->len <= d->answer_len; at++)
        if (!w->replaced[at] && memcmp(d->answer + at, d->text + m->at, m->len) == 0 &&
            (said++ == rank || all))
            add_edit(w, at, at + m->len, i, REPLACES);
}

static void add_escapes(struct work *w)
{
    for (size_t i = 0; i < w->d->n; i++)
        if (w->d->marks[i].kind == DG_MARK_ESCAPE)
            add_escapes_of(w, i);
}

static int in_order(const void *a, const void *b)
{
    const struct edit *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->mark < y->mark ? -1 : x->mark > y->mark;
}

static void copy(const struct dg_decoration *d, enum dg_encoding encoding, size_t from, size_t to,
    size_t base, struct dg_buffer *out, size_t *shift)
{
    for (size_t i = from; i < to; i++) {
        if (shift)
            shift[i] = out->len - base;
        dg_encoding_add(encoding, d->answer + i, 1, out);
    }
}

static void write_out(struct work *w, struct dg_buffer *out, size_t *shift)
{
    const struct dg_decoration *d = w->d;
    const bool quoted = dg_encoding_needs_quotes(d->encoding, d->answer, d->answer_len);
    const enum dg_encoding encoding = quoted ? DG_ENCODING_YAML_SINGLE : d->encoding;
    size_t at = 0, base = out->len;
    dg_buffer_adds(out, quoted ? "'" : "");
    qsort(w->edits, w->n_edits, sizeof *w->edits, in_order);
    for (size_t i = 0; i < w->n_edits; i++) {
        const struct edit *e = &w->edits[i];
        /* An edit that begins within the previous one must not copy bytes of the answer twice. */
        copy(d, encoding, at, e->begin, base, out, shift);
        at = e->begin > at ? e->begin : at;
        if (e->text)
            dg_encoding_add(encoding, e->text, e->text_len, out);
        /* The source's bytes were written without quotation marks. */
        dg_encoding_add(
            quoted ? encoding : DG_ENCODING_PLAIN, d->bytes[e->mark].s, d->bytes[e->mark].n, out);
        if (e->space_after)
            dg_buffer_add(out, " ", 1);
        /* Replaced bytes map to the end of the mark. */
        for (; at < e->end; at++)
            if (shift)
                shift[at] = out->len - base;
    }
    copy(d, encoding, at, d->answer_len, base, out, shift);
    dg_buffer_adds(out, quoted ? "'" : "");
    if (shift)
        shift[d->answer_len] = out->len - base;
}

/* Write an answer that equals the text, such as a name: every mark goes where it was. */
static void write_unchanged(const struct dg_decoration *d, struct dg_buffer *out, size_t *shift)
{
    size_t at = 0, base = out->len;
    for (size_t i = 0; i < d->n; i++) {
        const struct dg_mark *m = &d->marks[i];
        /* Not encoded: a character that needs it is a mark here, with bytes of its own. */
        copy(d, DG_ENCODING_PLAIN, at, m->at, base, out, shift);
        dg_buffer_add(out, d->bytes[i].s, d->bytes[i].n);
        for (at = m->at; shift && at < m->at + m->len; at++)
            shift[at] = out->len - base;
        at = m->at + m->len;
    }
    copy(d, DG_ENCODING_PLAIN, at, d->answer_len, base, out, shift);
    if (shift)
        shift[d->answer_len] = out->len - base;
}

static bool make_room(struct work *w, struct dg_arena *arena)
{
    const struct dg_decoration *d = w->d;
    w->first_edit = dg_arena_array(arena, w->places.n + 1, sizeof *w->first_edit);
    w->replaced = dg_arena_array(arena, d->answer_len + 1, sizeof *w->replaced);
    w->spaces = dg_arena_array(arena, d->answer_len / 2 + 1, sizeof *w->spaces);
    /* two edits for a pair; up to as many escapes as the answer has bytes */
    w->edits = dg_arena_array(arena, 2 * d->n + d->answer_len + 1, sizeof *w->edits);
    return w->first_edit && w->replaced && w->spaces && w->edits;
}

bool dg_decorate(
    const struct dg_decoration *d, struct dg_arena *arena, struct dg_buffer *out, size_t *shift)
{
    struct work w = {.d = d};
    if (d->answer_len == d->len && memcmp(d->answer, d->text, d->len) == 0) {
        write_unchanged(d, out, shift);
        return !out->failed;
    }
    if (!dg_places_find(d, arena, &w.places) || !make_room(&w, arena))
        return false;
    /* Turn each placed mark into an edit: an insertion at a byte, or a replacement of bytes. */
    make_edits(&w);
    /* Line ends go where spaces are left, escapes where their characters are. */
    add_breaks(&w);
    add_escapes(&w);
    /* In byte order; at one byte: closing, single, opening, then replacing edits. */
    write_out(&w, out, shift);
    return !out->failed;
}
