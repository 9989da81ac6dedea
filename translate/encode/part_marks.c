/* A sentence of a document as a part of the job: which bytes of the document it is, and which marks
 * are its own. */
#include "text/protected/emoticon.h"
#include "text/protected/quantity.h"
#include "text/utf8.h"
#include "translate/encode/encode.h"

#include <string.h>

/* Turn each mark whose partner is not within the part into a single one. Pairs are nested: the last
 * one opened closes first. */
static int find_partners(struct dg_job *j, struct dg_part *p, struct dg_error *err)
{
    /* [n] opening marks without a partner so far */
    size_t n = 0, *open = dg_arena_array(&j->arena, p->shown.n_marks, sizeof *open);
    if (!open)
        return DG_JOB_NO_MEMORY(err);
    for (size_t i = 0; i < p->shown.n_marks; i++) {
        struct dg_mark *mark = &p->shown.marks[i];
        if (mark->kind == DG_MARK_OPEN)
            open[n++] = i;
        else if (mark->kind == DG_MARK_CLOSE && n > 0 && p->shown.marks[open[n - 1]].id == mark->id)
            n--;
        else if (mark->kind == DG_MARK_CLOSE)
            mark->kind = DG_MARK_POINT;
    }
    while (n > 0)
        p->shown.marks[open[--n]].kind = DG_MARK_POINT;
    return 0;
}

/* Where the part before p ends in the document if that is at or before byte `source`; else 0. */
static size_t end_before(const struct dg_job *j, const struct dg_part *p, size_t source)
{
    return p > j->parts && p[-1].end <= source ? p[-1].end : 0;
}

/* Copy the unit's marks within `at`, with offsets relative to its begin, except those that the part
 * before has at its end: a pair that encloses nothing is at the end of one sentence and at the
 * start of the next. */
static int copy_marks(struct dg_job *j, struct dg_part *p, const struct dg_document *d,
    const struct dg_unit *u, struct dg_span at, struct dg_error *err)
{
    /* a document without marks has no array of them */
    const struct dg_mark *from = d->n_marks > 0 ? d->marks + u->mark : NULL;
    size_t first = dg_document_marks_before(d, u, at.begin),
           end = dg_document_marks_before(d, u, at.end + 1),
           before = end_before(j, p, dg_document_source(d, u, at.begin, true));
    while (end > first && from[end - 1].at + from[end - 1].len > at.end)
        end--;
    while (first < end && from[first].begin < before)
        first++;
    p->shown.n_marks = end - first;
    p->shown.marks = dg_arena_array(&j->arena, p->shown.n_marks, sizeof *p->shown.marks);
    if (!p->shown.marks)
        return DG_JOB_NO_MEMORY(err);
    for (size_t i = 0; i < p->shown.n_marks; i++) {
        p->shown.marks[i] = from[first + i];
        p->shown.marks[i].at -= at.begin;
    }
    return find_partners(j, p, err);
}

static size_t without_spaces(const char *s, size_t begin, size_t n)
{
    while (n > begin && strchr(" \t", s[n - 1]))
        n--;
    return n;
}

/* True if the span is an emoji, a face such as ":-)" or another sign without letters. Other spans
 * have letters, or begin with two ASCII characters: the emoji 1️⃣ begins with one. */
static bool is_emoji(const char *s, const struct dg_mark *m)
{
    const size_t end = m->at + m->len;
    if (dg_emoticon_end(s, m->at, end) == end)
        return true;
    return ((unsigned char)s[m->at] >= 0x80 ||
               (m->len > 1 && (unsigned char)s[m->at + 1] >= 0x80)) &&
           !dg_utf8_has_letter(s + m->at, m->len);
}

/* True if the span is set apart from the words before it, as in "More: https://...". Code is not:
 * it has marks of its own around its letters. */
static bool is_set_apart(const char *s, size_t begin, const struct dg_mark *m)
{
    static const char *const signs[] = {":", "-", "–", "—"};
    size_t end = without_spaces(s, begin, m->at);
    for (size_t k = 0; k < sizeof signs / sizeof *signs; k++) {
        size_t n = strlen(signs[k]);
        if (m->end - m->begin == m->len && end < m->at && end > begin + n &&
            memcmp(s + end - n, signs[k], n) == 0)
            return true;
    }
    return false;
}

/* True if s[from, to), which follows a protected span, has nothing to translate. */
static bool is_gap(const char *s, size_t from, size_t to, bool emoji)
{
    while (from < to && strchr(emoji ? " \t" : " \t.", s[from]))
        from++;
    return from >= to;
}

/* True if the end of a link whose text is its label is at text[from] .. text[to]: it is written
 * with the sentence. */
static bool has_label(const struct dg_document *d, const struct dg_unit *u, size_t from, size_t to)
{
    for (size_t i = dg_document_marks_before(d, u, from); i < u->n_marks; i++) {
        const struct dg_mark *m = &d->marks[u->mark + i];
        if (m->at > to)
            break;
        if (m->label.end > 0)
            return true;
    }
    return false;
}

/* Exclude emoji at either end of the sentence, and addresses that are set apart at its end: they
 * stay in the gap between this sentence and the next. */
static struct dg_span without_ends(
    const struct dg_document *d, const struct dg_unit *u, struct dg_span at)
{
    const char *s = d->text.data;
    size_t first = dg_document_marks_before(d, u, at.begin), front = at.begin, out = at.end,
           after = at.begin;
    bool emoji = false, leads = true;
    for (size_t i = first; i < u->n_marks && d->marks[u->mark + i].at < at.end; i++) {
        const struct dg_mark *m = &d->marks[u->mark + i];
        if (m->kind != DG_MARK_PROTECTED || dg_quantity_is(s + m->at, m->len)) {
            leads = leads && m->kind == DG_MARK_BREAK;
            continue;
        }
        leads = leads && m->at == front && is_emoji(s, m);
        if (leads)
            for (front = m->at + m->len; front < at.end && strchr(" \t", s[front]);)
                front++;
        if (out == at.end || !is_gap(s, after, m->at, emoji))
            out = is_emoji(s, m) || is_set_apart(s, at.begin, m)
                      ? without_spaces(s, at.begin, m->at)
                      : at.end;
        emoji = is_emoji(s, m);
        after = m->at + m->len;
    }
    if (out < at.end && (!is_gap(s, after, at.end, emoji) || has_label(d, u, out, at.end)))
        out = at.end;
    return front < out ? (struct dg_span){front, out} : at;
}

int dg_part_of_document(struct dg_job *j, struct dg_part *p, const struct dg_document *d,
    const struct dg_unit *u, struct dg_span at, struct dg_error *err)
{
    struct dg_shown *shown = &p->shown;
    /* The answer to a plain text begins with the user's prefix, not with an emoji. */
    if (dg_job_answer_is_free(j) || j->options.format != DG_FORMAT_TEXT)
        at = without_ends(d, u, at);
    const bool whole = at.begin == u->at && at.end == u->end;
    int rc = copy_marks(j, p, d, u, at, err);
    /* A part of a value cannot have quotation marks of its own: the value is a part around it. */
    p->encoding =
        u->encoding == DG_ENCODING_YAML_UNQUOTED && !whole ? DG_ENCODING_PLAIN : u->encoding;
    shown->len = at.end - at.begin;
    shown->text = dg_arena_strndup(&j->arena, d->text.data + at.begin, shown->len);
    if (rc || !shown->text)
        return rc ? rc : DG_JOB_NO_MEMORY(err);
    /* Unpaired marks at either end stay in the gaps between sentences. */
    p->begin = dg_document_source(d, u, at.begin, true);
    while (shown->n_marks && shown->marks[0].at == 0 && shown->marks[0].kind == DG_MARK_POINT) {
        shown->marks++;
        shown->n_marks--;
    }
    if (shown->n_marks && shown->marks[0].at == 0)
        p->begin = shown->marks[0].begin;
    p->end = dg_document_source(d, u, at.end, false);
    while (!p->tail && shown->n_marks && shown->marks[shown->n_marks - 1].at == shown->len &&
           shown->marks[shown->n_marks - 1].kind == DG_MARK_POINT) {
        shown->n_marks--;
        if (shown->marks[shown->n_marks].label.end > 0)
            p->tail = &shown->marks[shown->n_marks];
    }
    if (p->tail) {
        p->end = p->tail->end;
    } else if (shown->n_marks) {
        const struct dg_mark *last = &shown->marks[shown->n_marks - 1];
        if (last->at + last->len == shown->len)
            p->end = last->end;
    }
    return 0;
}
