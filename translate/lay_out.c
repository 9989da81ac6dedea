/* A sentence of a layout as a part of the job: which bytes of the text it is, and which marks are
 * its own. */
#include "text/kept.h"
#include "translate/job_internal.h"

#include <string.h>

/* A pair's mark without its partner within the part is any mark. Pairs lie within one another: what
 * was opened last is closed first. */
static int find_partners(struct dg_job *j, struct dg_part *p, struct dg_error *err)
{
    /* [n] without a partner so far */
    size_t n = 0, *open = dg_arena_array(&j->arena, p->n_insets, sizeof *open);
    if (!open)
        return DG_JOB_NO_MEMORY(err);
    for (size_t i = 0; i < p->n_insets; i++) {
        struct dg_inset *inset = &p->insets[i];
        if (inset->kind == DG_INSET_OPEN)
            open[n++] = i;
        else if (inset->kind == DG_INSET_CLOSE && n > 0 &&
                 p->insets[open[n - 1]].pair == inset->pair)
            n--;
        else if (inset->kind == DG_INSET_CLOSE)
            inset->kind = DG_INSET_MARK;
    }
    while (n > 0)
        p->insets[open[--n]].kind = DG_INSET_MARK;
    return 0;
}

/* The byte of the text where the part before p ends. */
static size_t end_before(const struct dg_job *j, const struct dg_part *p)
{
    return p > j->parts ? p[-1].end : 0;
}

/* Copy those within at, counted from its begin, but for what the part before has at its end: a pair
 * that encloses nothing lies at the end of one sentence and at the begin of the next. */
static int copy_insets(struct dg_job *j, struct dg_part *p, const struct dg_document *l,
    const struct dg_block *b, struct dg_span at, struct dg_error *err)
{
    const struct dg_inset *from = l->insets + b->inset;
    size_t first = dg_document_before(l, b, at.begin), end = dg_document_before(l, b, at.end + 1);
    while (end > first && from[end - 1].at + from[end - 1].len > at.end)
        end--;
    while (first < end && from[first].begin < end_before(j, p))
        first++;
    p->n_insets = end - first;
    p->insets = dg_arena_array(&j->arena, p->n_insets, sizeof *p->insets);
    if (!p->insets)
        return DG_JOB_NO_MEMORY(err);
    for (size_t i = 0; i < p->n_insets; i++) {
        p->insets[i] = from[first + i];
        p->insets[i].at -= at.begin;
    }
    return find_partners(j, p, err);
}

int dg_part_lay_out(struct dg_job *j, struct dg_part *p, const struct dg_document *l,
    const struct dg_block *b, struct dg_span at, struct dg_error *err)
{
    int rc = copy_insets(j, p, l, b, at, err);
    p->flat_len = at.end - at.begin;
    p->flat = dg_arena_strndup(&j->arena, l->flat.data + at.begin, p->flat_len);
    if (rc || !p->flat)
        return rc ? rc : DG_JOB_NO_MEMORY(err);
    /* Marks at either end that are nobody's partner stay in the gaps. */
    p->begin = dg_document_source(l, b, at.begin, true);
    while (p->n_insets && p->insets[0].at == 0 && p->insets[0].kind == DG_INSET_MARK) {
        p->insets++;
        p->n_insets--;
    }
    if (p->n_insets && p->insets[0].at == 0)
        p->begin = p->insets[0].begin;
    p->end = dg_document_source(l, b, at.end, false);
    while (p->n_insets && p->insets[p->n_insets - 1].at == p->flat_len &&
           p->insets[p->n_insets - 1].kind == DG_INSET_MARK)
        p->n_insets--;
    if (p->n_insets) {
        const struct dg_inset *last = &p->insets[p->n_insets - 1];
        if (last->at + last->len == p->flat_len)
            p->end = last->end;
    }
    return 0;
}

/* Fill in p->insets, of which there are p->n_insets, and p->flat. */
static void keep(const struct dg_job *j, struct dg_part *p, char *flat)
{
    const char *s = j->text + p->begin;
    size_t n = p->end - p->begin, at = 0, begin, end;
    for (size_t i = 0; i < p->n_insets && (end = dg_kept_next(s, n, at, &begin)) > 0; i++) {
        size_t len = dg_inset_shown(s + begin, end - begin);
        memcpy(flat + p->flat_len, s + at, begin - at + len);
        p->flat_len += begin - at;
        p->insets[i] = (struct dg_inset){.kind = DG_INSET_VERBATIM,
            .at = p->flat_len,
            .len = len,
            .begin = p->begin + begin,
            .end = p->begin + end};
        p->flat_len += len;
        at = end;
    }
    memcpy(flat + p->flat_len, s + at, n - at);
    p->flat_len += n - at;
    flat[p->flat_len] = '\0';
    p->flat = flat;
}

static size_t without_spaces(const char *s, size_t n)
{
    while (n > 0 && strchr(" \t", s[n - 1]))
        n--;
    return n;
}

/* Everything else that is kept begins with two ASCII signs; 1️⃣ with one. */
static bool is_picture(const char *s, size_t begin)
{
    return (unsigned char)s[begin] >= 0x80 || (unsigned char)s[begin + 1] >= 0x80;
}

/* Is what begins there set apart from the words before it? "More: https://..." */
static bool is_set_apart(const char *s, size_t begin)
{
    static const char *const signs[] = {":", "-", "–", "—"};
    size_t end = without_spaces(s, begin);
    for (size_t k = 0; k < sizeof signs / sizeof *signs; k++) {
        size_t n = strlen(signs[k]);
        if (end < begin && end > n && memcmp(s + end - n, signs[k], n) == 0)
            return true;
    }
    return false;
}

/* Nothing that is translated from `from` to `to`, behind something kept? */
static bool is_gap(const char *s, size_t from, size_t to, bool picture)
{
    return from + strspn(s + from, picture ? " \t" : " \t.") >= to;
}

/* Where the sentence s[n] ends without what is kept behind it and is none of it; n: there is no
 * such thing. */
static size_t without_kept_end(const char *s, size_t n)
{
    /* what is kept from `out` up to `behind` stays outside */
    size_t begin, end = 0, behind = 0, out = n;
    bool picture = false;
    while ((end = dg_kept_next(s, n, end, &begin)) > 0) {
        if (out == n || !is_gap(s, behind, begin, picture))
            out = is_picture(s, begin) || is_set_apart(s, begin) ? without_spaces(s, begin) : n;
        picture = is_picture(s, begin);
        behind = end;
    }
    return is_gap(s, behind, n, picture) ? out : n;
}

/* Emoji at either end are not of the sentence, nor are addresses set apart at its end: they stay in
 * the gap. */
static void leave_ends_out(const struct dg_job *j, struct dg_part *p)
{
    const char *s = j->text + p->begin;
    size_t n = p->end - p->begin, front = 0, back = without_kept_end(s, n), begin, end = 0;
    while ((end = dg_kept_next(s, n, end, &begin)) > 0 && begin == front && is_picture(s, begin))
        front = end + strspn(s + end, " \t");
    if (front < back) {
        p->end = p->begin + back;
        p->begin += front;
    }
}

int dg_part_keep(struct dg_job *j, struct dg_part *p, struct dg_error *err)
{
    size_t begin, count = 0;
    if (dg_kept_next(j->text + p->begin, p->end - p->begin, 0, &begin) == 0)
        return 0; /* nearly every sentence: looked through once */
    leave_ends_out(j, p);
    const char *s = j->text + p->begin;
    size_t n = p->end - p->begin;
    for (size_t end = 0; (end = dg_kept_next(s, n, end, &begin)) > 0;)
        count++;
    if (count == 0)
        return 0;
    char *flat = dg_arena_array(&j->arena, n + 1, 1);
    p->insets = dg_arena_array(&j->arena, count, sizeof *p->insets);
    if (!flat || !p->insets)
        return DG_JOB_NO_MEMORY(err);
    p->n_insets = count;
    keep(j, p, flat);
    return 0;
}

size_t dg_part_source(const struct dg_part *p, size_t at, bool behind)
{
    size_t source = p->begin, from = 0;
    for (size_t i = 0; i < p->n_insets; i++) {
        const struct dg_inset *inset = &p->insets[i];
        size_t end = inset->at + inset->len;
        if (end > at || (end == at && inset->len == 0 && !behind))
            break;
        source = inset->end;
        from = end;
    }
    return source + (at - from);
}
