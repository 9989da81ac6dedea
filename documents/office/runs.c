#include "documents/office/runs.h"

#include "documents/office/pieces.h"
#include "text/scan.h"
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
    struct dg_piece p = {
        .kind = DG_PIECE_WORDS, .instead = "-", .run = in->run, .run_end = in->run_end};
    size_t begin, end;
    if (dg_runs_is(q->r, t, names->space) && is_after_word(q))
        p.instead = " ";
    else if (!dg_runs_is(q->r, t, names->hyphen))
        return false;
    dg_pieces_add(q, p);
    return !dg_xml_attribute(&q->r->xml, t, "text:c", &begin, &end) ||
           dg_xml_attribute_is(&q->r->xml, t, "text:c", "1");
}

/* Adds a field that shows text; false: the element at tag i is none. Right after a word, as the
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

/* Adds an element that neither is nor contains words to translate, in a run as `in` is, or in none:
 * its bytes are kept as a whole. */
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
        .end = whole_end(x, i),
        .in_run = in->in_run,
        .run = in->run,
        .run_end = in->run_end};
    if (!in->in_run)
        dg_ranges_read(q->r, t, &p);
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

/* True if the run's properties at tag i underline its words. */
static bool has_underline(const struct dg_runs *r, size_t i)
{
    for (size_t k = i + 1; k < r->xml.tags[i].partner; k++)
        if (dg_runs_is(r, &r->xml.tags[k], r->names->underline))
            return !dg_xml_attribute_is(&r->xml, &r->xml.tags[k], "w:val", "none");
    return false;
}

/* True if s[n] is three spaces or more, which are a line to write on if they are underlined. */
static bool is_line(const char *s, size_t n)
{
    size_t spaces = 0;
    for (size_t at = 0; at < n; spaces++) {
        if (s[at] == ' ')
            at++;
        else if (dg_scan_begins(s, at, n, "\xC2\xA0"))
            at += 2;
        else
            return false;
    }
    return spaces >= 3;
}

/* Adds the text at tag i, with the properties of `in`: words, or a line to write on. Right after a
 * word, it ends a sentence: there is no space that keeps the next word apart. */
static void add_words(struct dg_pieces *q, size_t i, const struct dg_piece *in, bool underlined)
{
    const struct dg_xml *x = &q->r->xml;
    struct dg_piece p = *in;
    p.kind = DG_PIECE_WORDS;
    p.begin = x->tags[i].end;
    p.end = x->tags[x->tags[i].partner].begin;
    p.whole = x->tags[i].begin;
    p.whole_end = whole_end(x, i);
    if (underlined && is_line(x->s + p.begin, p.end - p.begin)) {
        p.kind = is_after_word(q) ? DG_PIECE_BREAK : DG_PIECE_RAW;
        p.begin = p.whole;
        p.end = p.whole_end;
    }
    dg_pieces_add(q, p);
}

/* True if tag i opens a text. One that holds elements, which none may, is kept as a whole. */
static bool is_text(const struct dg_xml *x, size_t i)
{
    const size_t last = x->tags[i].partner;
    while (++i < last)
        if (x->tags[i].kind == DG_XML_OPEN || x->tags[i].kind == DG_XML_EMPTY)
            return false;
    return x->tags[last].kind == DG_XML_CLOSE;
}

/* Reads the run at tag i: its properties, then text and other elements in order. */
static void read_run(struct dg_pieces *q, size_t i)
{
    const struct dg_xml *x = &q->r->xml;
    const struct dg_run_names *names = q->r->names;
    struct dg_piece in = {
        .in_run = true, .run = x->tags[i].end, .run_end = x->tags[i].end, .linked = q->links > 0};
    bool underlined = false;
    for (size_t k = i + 1; k < x->tags[i].partner; k++) {
        const struct dg_xml_tag *t = &x->tags[k];
        if (dg_runs_is(q->r, t, names->run_properties)) {
            in.run = t->begin;
            in.run_end = whole_end(x, k);
            in.linked = in.linked || has_link(q->r, k);
            underlined = has_underline(q->r, k);
        } else if (dg_runs_is(q->r, t, names->text) && is_text(x, k)) {
            add_words(q, k, &in, underlined);
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

/* Adds the field with bytes `all` and its result between tags `result` as a whole if the result is
 * nothing to translate: it is blank, to be filled in, or the name of what a mail merge fills in;
 * false: it is words. */
static bool add_whole(
    struct dg_pieces *q, const struct dg_span *all, const struct dg_span *result, bool merge)
{
    struct dg_piece p = {.kind = DG_PIECE_RAW, .begin = all->begin, .end = all->end};
    size_t begin, end;
    if (dg_runs_find_shown(q->r, result->begin, result->end, &begin, &end)) {
        if (!merge)
            return false;
        if (!is_after_word(q)) {
            p.kind = DG_PIECE_FIELD;
            p.whole = p.begin;
            p.whole_end = p.end;
            p.begin = begin;
            p.end = end;
        }
    }
    dg_pieces_add(q, p);
    return true;
}

static void read_pieces(struct dg_pieces *q, size_t first, size_t last);

/* Reads the words between tags first and last of a container or a field with bytes `all`: what it
 * has before them goes with its opening tag, and what it has after them with its closing tag. */
static void read_within(
    struct dg_pieces *q, const struct dg_span *all, size_t first, size_t last, bool link)
{
    const struct dg_xml *x = &q->r->xml;
    dg_pieces_add(q, (struct dg_piece){.kind = DG_PIECE_OPEN,
                         .begin = all->begin,
                         .end = x->tags[first - 1].end,
                         .close = x->tags[last].begin,
                         .close_end = all->end});
    q->depth++;
    q->links += link;
    read_pieces(q, first, last);
    q->links -= link;
    q->depth--;
    dg_pieces_add(q, (struct dg_piece){.kind = DG_PIECE_CLOSE});
}

/* True if the field's instruction between tags i and last is that of a mail merge. */
static bool is_merge(const struct dg_runs *r, size_t i, size_t last)
{
    for (const struct dg_xml *x = &r->xml; i < last; i++) {
        const struct dg_xml_tag *t = &x->tags[i];
        if (t->kind == DG_XML_OPEN && dg_xml_is(x, t, "w:instrText"))
            return dg_runs_is_merge(x->s + t->end, x->tags[t->partner].begin - t->end);
    }
    return false;
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
        const struct dg_span all = {x->tags[i].begin, whole_end(x, k)};
        const struct dg_span result = {separate ? x->tags[separate].partner + 1 : k, k};
        if (!add_whole(q, &all, &result, is_merge(q->r, i, separate)))
            read_within(q, &all, result.begin, k, true);
        return t->partner;
    }
    return i;
}

/* Adds the run at tag i as a container if it is words with their reading; false: it is not. */
static bool read_ruby(struct dg_pieces *q, size_t i)
{
    const struct dg_xml *x = &q->r->xml;
    const char *const *names = q->r->names->ruby;
    const struct dg_span all = {x->tags[i].begin, whole_end(x, i)};
    size_t k = i + 1, first;
    if (dg_runs_is(q->r, &x->tags[k], q->r->names->run_properties))
        k = x->tags[k].partner + 1;
    if (!names || q->depth == MAX_DEPTH || x->tags[k].kind != DG_XML_OPEN ||
        !dg_runs_is(q->r, &x->tags[k], names[0]) || x->tags[k].partner + 1 != x->tags[i].partner)
        return false;
    for (first = k + 1; first < x->tags[k].partner; first = x->tags[first].partner + 1)
        if (x->tags[first].kind == DG_XML_OPEN && dg_runs_is(q->r, &x->tags[first], names[1]))
            break;
    if (first == x->tags[k].partner)
        return false;
    read_within(q, &all, first + 1, x->tags[first].partner, false);
    return true;
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
    else if (!dg_ranges_extend(q, i) && !read_ruby(q, i))
        read_run(q, i);
    return x->tags[i].partner;
}

/* Reads the container at tag i, which may be a field that stays as a whole; returns its last tag.
 */
static size_t read_container(struct dg_pieces *q, size_t i)
{
    const struct dg_xml *x = &q->r->xml;
    const struct dg_xml_tag *t = &x->tags[i];
    const struct dg_span all = {t->begin, whole_end(x, i)};
    struct dg_span words;
    size_t begin, end;
    dg_runs_find_words(q->r, i, &words.begin, &words.end);
    if (!dg_xml_attribute(x, t, "w:instr", &begin, &end) ||
        !add_whole(q, &all, &words, dg_runs_is_merge(x->s + begin, end - begin)))
        read_within(q, &all, words.begin, words.end, dg_runs_lists(q->r, t, q->r->names->links));
    return t->partner;
}

static void read_pieces(struct dg_pieces *q, size_t first, size_t last)
{
    const struct dg_xml *x = &q->r->xml;
    const struct dg_run_names *names = q->r->names;
    size_t at = x->tags[first - 1].end;
    for (size_t i = first; i < last; at = x->tags[i].end, i++) {
        const struct dg_xml_tag *t = &x->tags[i];
        add_bare(q, at, t->begin);
        if (t->kind == DG_XML_OPEN && dg_runs_is(q->r, t, names->run)) {
            i = read_run_or_field(q, i, last);
        } else if (t->kind == DG_XML_OPEN && q->depth < MAX_DEPTH &&
                   dg_runs_lists(q->r, t, names->containers)) {
            i = read_container(q, i);
        } else {
            add_raw(q, i, &(struct dg_piece){.in_run = false});
            i = t->partner;
        }
    }
    add_bare(q, at, x->tags[last].begin);
}

static bool has_words(const struct dg_pieces *q)
{
    for (size_t i = 0; i < q->n; i++) {
        const struct dg_piece *p = &q->list[i];
        if (p->kind == DG_PIECE_WORDS &&
            dg_utf8_has_letter(q->r->xml.s + p->begin, p->end - p->begin))
            return true;
    }
    return false;
}

int dg_runs_add(struct dg_runs *r, size_t i, struct dg_error *err)
{
    struct dg_pieces q = {.r = r};
    struct dg_buffer text = {0};
    struct dg_segment g = {
        .format = DG_FORMAT_XML, .markup = r->names->markup, .writing = DG_WRITE_SLOTS};
    size_t first, last;
    int rc = DG_OK;
    dg_runs_find_ends(r, i, &first, &last);
    read_pieces(&q, first, last);
    if (q.failed) {
        rc = dg_error_set(err, DG_ENOMEM, "no memory for a paragraph");
    } else if (has_words(&q)) {
        const struct dg_piece *looks = dg_pieces_main(&q);
        g.begin = r->xml.tags[first - 1].end;
        g.end = r->xml.tags[last].begin;
        g.run = looks->run;
        g.run_end = looks->run_end;
        g.names = r->names->run ? r->names : NULL;
        g.prefix = r->prefix;
        g.prefix_end = r->prefix_end;
        rc = dg_pieces_write(&q, &g, &text, err);
        if (rc == DG_OK)
            rc = dg_segment_add_text(r->x, r->p, g, &text, err);
        if (rc != DG_OK)
            free(g.slots);
    }
    free(q.list);
    dg_buffer_deinit(&text);
    return rc;
}
