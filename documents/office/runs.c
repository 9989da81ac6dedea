#include "documents/office/runs.h"

#include "documents/office/pieces.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

/* Containers and fields within each other; deeper ones are kept whole. */
#define MAX_DEPTH 32

static size_t whole_end(const struct dg_xml *x, size_t i)
{
    return x->tags[x->tags[i].partner].end;
}

/* True if what was read last is words without white space at their end. */
static bool is_after_word(const struct dg_pieces *q)
{
    size_t i = q->n;
    while (i > 0 && (q->list[i - 1].kind == DG_PIECE_OPEN || q->list[i - 1].kind == DG_PIECE_CLOSE))
        i--;
    const struct dg_piece *p = i > 0 ? &q->list[i - 1] : NULL;
    return p && p->kind == DG_PIECE_WORDS && p->end > p->begin &&
           !strchr(" \t\r\n", q->r->xml.s[p->end - 1]);
}

/* Adds the character that an element stands for, a hyphen as models know it; true: it stands for
 * nothing else. */
static bool add_character(
    struct dg_pieces *q, const struct dg_xml_tag *t, const struct dg_piece *in)
{
    const struct dg_run_names *names = q->r->names;
    struct dg_piece p = {.kind = DG_PIECE_WORDS, .instead = "-"};
    size_t begin, end;
    if (in) {
        p.run = in->run;
        p.run_end = in->run_end;
    }
    if (names->space && dg_runs_is(q->r, t, names->space) && is_after_word(q))
        p.instead = " ";
    else if (!names->hyphen || !dg_runs_is(q->r, t, names->hyphen))
        return false;
    dg_pieces_add(q, p);
    return !dg_xml_attribute(&q->r->xml, t, "text:c", &begin, &end) ||
           dg_xml_attribute_is(&q->r->xml, t, "text:c", "1");
}

/* Adds a field that shows text; false: the element at tag i is none. Right behind a word, as the
 * number of a note is, it is none either: it would be part of the word. */
static bool add_field(struct dg_pieces *q, size_t i)
{
    const struct dg_xml_tag *t = &q->r->xml.tags[i];
    if (!q->r->names->fields || t->kind != DG_XML_OPEN || t->partner != i + 1 ||
        q->r->xml.tags[i + 1].begin == t->end || is_after_word(q) ||
        dg_runs_lists(q->r, t, q->r->names->breaks))
        return false;
    dg_pieces_add(q, (struct dg_piece){.kind = DG_PIECE_FIELD,
                         .begin = t->end,
                         .end = q->r->xml.tags[i + 1].begin,
                         .whole = t->begin,
                         .whole_end = whole_end(&q->r->xml, i)});
    return true;
}

/* Adds an element that neither is nor contains words to translate: its bytes are kept as a whole.
 */
static void add_raw(struct dg_pieces *q, size_t i, const struct dg_piece *in)
{
    const struct dg_xml *x = &q->r->xml;
    const struct dg_xml_tag *t = &x->tags[i];
    const struct dg_run_names *names = q->r->names;
    if (dg_runs_lists(q->r, t, names->dropped) || add_character(q, t, in) || add_field(q, i))
        return;
    struct dg_piece p = {
        .kind = dg_runs_lists(q->r, t, names->breaks) ? DG_PIECE_BREAK : DG_PIECE_RAW,
        .begin = t->begin,
        .end = whole_end(x, i)};
    if (in) {
        p.in_run = true;
        p.run = in->run;
        p.run_end = in->run_end;
    } else {
        dg_ranges_read(q->r, t, &p);
    }
    dg_pieces_add(q, p);
}

/* True if the run's properties at tag i make it a link. */
static bool has_link(const struct dg_runs *r, size_t i)
{
    for (size_t k = i + 1; k < r->xml.tags[i].partner; k++)
        if (dg_runs_lists(r, &r->xml.tags[k], r->names->links))
            return true;
    return false;
}

/* Reads the run at tag i: its properties, then text and other elements in order. */
static void read_run(struct dg_pieces *q, size_t i)
{
    const struct dg_xml *x = &q->r->xml;
    const struct dg_run_names *names = q->r->names;
    struct dg_piece in = {.run = x->tags[i].end, .run_end = x->tags[i].end, .linked = q->links > 0};
    for (size_t k = i + 1; k < x->tags[i].partner; k++) {
        const struct dg_xml_tag *t = &x->tags[k];
        if (dg_runs_is(q->r, t, names->run_properties)) {
            in.run = t->begin;
            in.run_end = whole_end(x, k);
            in.linked = in.linked || has_link(q->r, k);
        } else if (dg_runs_is(q->r, t, names->text) && t->kind == DG_XML_OPEN) {
            dg_pieces_add(q, (struct dg_piece){.kind = DG_PIECE_WORDS,
                                 .begin = t->end,
                                 .end = x->tags[t->partner].begin,
                                 .whole = t->begin,
                                 .whole_end = whole_end(x, k),
                                 .run = in.run,
                                 .run_end = in.run_end,
                                 .linked = in.linked});
        } else if (t->kind != DG_XML_CLOSE) {
            add_raw(q, k, &in);
        }
        k = t->partner > k ? t->partner : k;
    }
}

/* Adds words directly in a paragraph, for files without runs. */
static void add_bare(struct dg_pieces *q, size_t begin, size_t end)
{
    if (!q->r->names->text && end > begin)
        dg_pieces_add(q, (struct dg_piece){.kind = DG_PIECE_WORDS, .begin = begin, .end = end});
}

static void read_pieces(struct dg_pieces *q, size_t first, size_t last);

/* Reads what is within the OPEN that was added last, and closes it. */
static void read_within(struct dg_pieces *q, size_t first, size_t last, bool link)
{
    q->depth++;
    q->links += link;
    read_pieces(q, first, last);
    q->links -= link;
    q->depth--;
    dg_pieces_add(q, (struct dg_piece){.kind = DG_PIECE_CLOSE});
}

/* Reads a field that begins in the run at tag i: its instruction goes with its begin, and its
 * displayed result is text. Returns its last tag; i: it does not end before tag `last`, or more
 * than MAX_DEPTH fields begin within each other, which bounds how far fields without an end are
 * read. */
static size_t read_field(struct dg_pieces *q, size_t i, size_t last)
{
    const struct dg_xml *x = &q->r->xml;
    size_t depth = 0, separate = 0;
    for (size_t k = i; k < last; k = x->tags[k].partner + 1) {
        const struct dg_xml_tag *t = &x->tags[k];
        if (t->kind == DG_XML_CLOSE)
            return i;
        const char mark = t->kind == DG_XML_OPEN && dg_runs_is(q->r, t, q->r->names->run)
                              ? dg_runs_field(x, k)
                              : 0;
        depth += mark == 'b';
        if (depth > MAX_DEPTH)
            return i;
        if (mark == 's' && depth == 1 && q->depth < MAX_DEPTH)
            separate = k;
        if (mark != 'e' || --depth > 0)
            continue;
        struct dg_piece p = {.kind = separate ? DG_PIECE_OPEN : DG_PIECE_RAW,
            .begin = x->tags[i].begin,
            .end = separate ? whole_end(x, separate) : whole_end(x, k),
            .close = t->begin,
            .close_end = whole_end(x, k)};
        dg_pieces_add(q, p);
        if (separate)
            read_within(q, x->tags[separate].partner + 1, k, true);
        return t->partner;
    }
    return i;
}

/* Reads the run at tag i, or the field that begins there; returns its last tag. */
static size_t read_run_or_field(struct dg_pieces *q, size_t i, size_t last)
{
    const struct dg_xml *x = &q->r->xml;
    const char mark = dg_runs_field(x, i);
    size_t end = mark == 'b' ? read_field(q, i, last) : i;
    if (end > i)
        return end;
    if (mark)
        dg_pieces_add(
            q, (struct dg_piece){
                   .kind = DG_PIECE_RAW, .begin = x->tags[i].begin, .end = whole_end(x, i)});
    else if (!dg_ranges_extend(q, i))
        read_run(q, i);
    return x->tags[i].partner;
}

/* Reads the container at tag i: what it has before its words goes with its opening tag, and what it
 * has after them with its closing tag. Returns its last tag. */
static size_t read_container(struct dg_pieces *q, size_t i)
{
    const struct dg_xml *x = &q->r->xml;
    size_t first, last;
    dg_runs_find_words(q->r, i, &first, &last);
    dg_pieces_add(q, (struct dg_piece){.kind = DG_PIECE_OPEN,
                         .begin = x->tags[i].begin,
                         .end = x->tags[first - 1].end,
                         .close = x->tags[last].begin,
                         .close_end = whole_end(x, i)});
    read_within(q, first, last, dg_runs_lists(q->r, &x->tags[i], q->r->names->links));
    return x->tags[i].partner;
}

static void read_pieces(struct dg_pieces *q, size_t first, size_t last)
{
    const struct dg_xml *x = &q->r->xml;
    const struct dg_run_names *names = q->r->names;
    size_t at = x->tags[first - 1].end;
    for (size_t i = first; i < last; at = x->tags[i].end, i++) {
        const struct dg_xml_tag *t = &x->tags[i];
        add_bare(q, at, t->begin);
        if (names->run && dg_runs_is(q->r, t, names->run) && t->kind == DG_XML_OPEN) {
            i = read_run_or_field(q, i, last);
        } else if (t->kind == DG_XML_OPEN && q->depth < MAX_DEPTH &&
                   dg_runs_lists(q->r, t, names->containers)) {
            i = read_container(q, i);
        } else {
            add_raw(q, i, NULL);
            i = t->partner;
        }
    }
    add_bare(q, at, x->tags[last].begin);
}

/* ---- as markup ---- */

static int add_slot(struct dg_segment *g, struct dg_buffer *text, const char *format,
    struct dg_slot slot, struct dg_error *err)
{
    dg_buffer_addf(text, format, g->n_slots);
    return dg_slot_add(g, slot, err);
}

/* Writes a piece that is not words. */
static int write_other(
    struct dg_segment *g, const struct dg_piece *p, struct dg_buffer *text, struct dg_error *err)
{
    const struct dg_slot slot = {.kind = p->kind == DG_PIECE_OPEN ? DG_SLOT_TAGS
                                         : p->in_run              ? DG_SLOT_CHILD
                                                                  : DG_SLOT_RAW,
        .begin = p->begin,
        .end = p->end,
        .close = p->kind == DG_PIECE_OPEN ? p->close : p->run,
        .close_end = p->kind == DG_PIECE_OPEN ? p->close_end : p->run_end,
        .range = p->range,
        .key = p->key,
        .key_end = p->key_end};
    switch (p->kind) {
    case DG_PIECE_OPEN: return add_slot(g, text, "<g i=\"%zu\">", slot, err);
    case DG_PIECE_CLOSE: dg_buffer_adds(text, "</g>"); return DG_OK;
    case DG_PIECE_BREAK: return add_slot(g, text, "<b i=\"%zu\"/>", slot, err);
    default: return add_slot(g, text, "<x i=\"%zu\"/>", slot, err);
    }
}

static int write_field(const struct dg_pieces *q, struct dg_segment *g, const struct dg_piece *p,
    struct dg_buffer *text, struct dg_error *err)
{
    int rc = add_slot(g, text, "<f i=\"%zu\">",
        (struct dg_slot){.kind = DG_SLOT_RAW, .begin = p->whole, .end = p->whole_end}, err);
    dg_buffer_add(text, q->r->xml.s + p->begin, p->end - p->begin);
    dg_buffer_adds(text, "</f>");
    return rc;
}

/* Writes n pieces that are the number of a note: each piece of a run is one element, a container is
 * one with what is in it. */
static int write_number(struct dg_segment *g, const struct dg_piece *p, size_t n,
    struct dg_buffer *text, struct dg_error *err)
{
    const struct dg_piece as_one = {.kind = DG_PIECE_RAW, .begin = p->begin, .end = p->close_end};
    if (p->kind == DG_PIECE_OPEN)
        return write_other(g, &as_one, text, err);
    int rc = DG_OK;
    for (size_t i = 0; i < n && rc == DG_OK; i++) {
        const struct dg_piece word = {.kind = DG_PIECE_RAW,
            .in_run = true,
            .begin = p[i].whole,
            .end = p[i].whole_end,
            .run = p[i].run,
            .run_end = p[i].run_end};
        rc = write_other(g, &word, text, err);
    }
    return rc;
}

static int write_markup(
    const struct dg_pieces *q, struct dg_segment *g, struct dg_buffer *text, struct dg_error *err)
{
    /* the first piece of the open <g> for formatting; NULL: none is open */
    const struct dg_piece *open = NULL;
    int rc = DG_OK;
    for (size_t i = 0; i < q->n && rc == DG_OK; i++) {
        const struct dg_piece *p = &q->list[i];
        const bool other =
            p->kind == DG_PIECE_WORDS && !dg_pieces_same_run(q, p, g->run, g->run_end);
        if (open && !(other && dg_pieces_same_run(q, open, p->run, p->run_end))) {
            dg_buffer_adds(text, "</g>");
            open = NULL;
        }
        const bool marked = p->kind == DG_PIECE_OPEN || (other && !open);
        const size_t number = marked ? dg_pieces_note_number(q, i) : 0;
        if (number > 0) {
            rc = write_number(g, p, number, text, err);
            i += number - 1;
            continue;
        }
        if (other && !open) {
            rc = add_slot(g, text, "<g i=\"%zu\">",
                (struct dg_slot){.kind = DG_SLOT_RUN, .begin = p->run, .end = p->run_end}, err);
            open = p;
        }
        if (p->instead)
            dg_buffer_adds(text, p->instead);
        else if (p->kind == DG_PIECE_WORDS)
            dg_buffer_add(text, q->r->xml.s + p->begin, p->end - p->begin);
        else if (p->kind == DG_PIECE_FIELD)
            rc = write_field(q, g, p, text, err);
        else if (rc == DG_OK)
            rc = write_other(g, p, text, err);
    }
    if (open)
        dg_buffer_adds(text, "</g>");
    dg_ranges_link(q->r->xml.s, g);
    return rc;
}

int dg_runs_add(struct dg_runs *r, size_t i, struct dg_error *err)
{
    struct dg_pieces q = {.r = r};
    struct dg_buffer text;
    struct dg_segment g = {
        .format = DG_FORMAT_XML, .markup = r->names->markup, .writing = DG_WRITE_SLOTS};
    size_t first, last;
    int rc = DG_OK;
    dg_buffer_init(&text);
    dg_runs_find_ends(r, i, &first, &last);
    read_pieces(&q, first, last);
    const struct dg_piece *looks = q.failed ? NULL : dg_pieces_main(&q);
    if (looks) {
        g.begin = r->xml.tags[first - 1].end;
        g.end = r->xml.tags[last].begin;
        g.run = looks->run;
        g.run_end = looks->run_end;
        g.names = r->names->run ? r->names : NULL;
        g.prefix = r->prefix;
        g.prefix_end = r->prefix_end;
        rc = write_markup(&q, &g, &text, err);
    }
    if (rc == DG_OK && (q.failed || text.failed))
        rc = dg_error_set(err, DG_ENOMEM, "no memory for a paragraph");
    bool words = false;
    for (size_t k = 0; k < q.n && rc == DG_OK; k++)
        words = words ||
                (q.list[k].kind == DG_PIECE_WORDS && dg_utf8_has_letter(r->xml.s + q.list[k].begin,
                                                         q.list[k].end - q.list[k].begin));
    if (rc == DG_OK && words && !dg_segment_add(r->x, r->p, g, text.data, text.len, err))
        rc = err->code;
    if (rc != DG_OK || !words)
        free(g.slots);
    free(q.list);
    dg_buffer_deinit(&text);
    return rc;
}
