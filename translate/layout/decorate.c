#include "translate/layout/decorate.h"

#include "translate/layout/places.h"
#include "translate/layout/white_space.h"

#include <stdlib.h>
#include <string.h>

/* What happens at one byte of the answer, in this order: what is within a pair happens with its own
 * marks. */
enum group { CLOSES, STANDS, OPENS, REPLACES };

/* One change of the answer: bytes begin .. end are replaced by an inset. */
struct edit {
    size_t begin, end;
    enum group group;
    size_t inset;
    const char *text; /* in front of it; or NULL */
    size_t text_len;
    bool space_behind;
};

struct work {
    const struct dg_decoration *d;
    struct dg_places places;
    size_t *first_edit; /* [places.n]; a pair's second one is the next */
    bool *replaced;     /* [answer_len] by something verbatim */
    size_t *spaces;     /* see find_spaces */
    struct edit *edits;
    size_t n_edits;
};

/* The innermost pair with a width that holds p, or NULL. */
static const struct dg_place *wide_outer(const struct dg_place *p)
{
    const struct dg_place *outer = p->outer;
    while (outer && !dg_place_has_width(outer))
        outer = outer->outer;
    return outer;
}

static enum group group_of(const struct dg_place *p)
{
    const struct dg_place *outer = wide_outer(p);
    if (dg_place_has_width(p))
        return REPLACES;
    if (outer && outer->end_byte == p->begin_byte)
        return CLOSES;
    return outer && outer->begin_byte == p->begin_byte ? OPENS : STANDS;
}

static void add_edit(struct work *w, size_t begin, size_t end, size_t inset, enum group group)
{
    w->edits[w->n_edits++] =
        (struct edit){.begin = begin, .end = end, .group = group, .inset = inset};
}

/* A space in front of p, or behind it where words or a pair's begin there: outside the marks that
 * go where it goes, too. */
static void set_apart(struct work *w, const struct dg_place *p)
{
    const struct dg_place *wide = wide_outer(p);
    size_t at = p->begin_byte;
    while (p->outer && !dg_place_has_width(p->outer))
        p = p->outer;
    struct edit *e = &w->edits[w->first_edit[p - w->places.list]];
    if (at == 0 || (wide && wide->begin_byte == at)) {
        e[dg_place_is_pair(p)].space_behind = w->d->answer_len > 0;
        return;
    }
    e->text = " ";
    e->text_len = 1;
}

/* What found no place stands at the end, of the pair that holds it or of the answer, as it was in
 * the source, with all that is within it. */
static void settle(struct work *w, const struct dg_place *p)
{
    const struct dg_decoration *d = w->d;
    const struct dg_place *wide = wide_outer(p);
    size_t end = wide ? wide->end_byte : d->answer_len, from = p->flat_begin;
    for (size_t i = p->open; i <= p->close; i++) {
        const struct dg_inset *inset = &d->insets[i];
        if (inset->kind == DG_INSET_BREAK)
            continue; /* its space is among the words; it goes where add_breaks says */
        add_edit(w, end, end, i, wide ? CLOSES : STANDS);
        struct edit *e = &w->edits[w->n_edits - 1];
        e->text = i > p->open ? d->flat + from : " ";
        e->text_len = i > p->open ? inset->at - from : end > 0;
        from = inset->at + inset->len;
    }
}

static void make_edits(struct work *w)
{
    size_t lost_until = 0; /* insets before this are part of one that found no place */
    for (size_t i = 0; i < w->places.n; i++) {
        const struct dg_place *p = &w->places.list[i];
        w->first_edit[i] = w->n_edits;
        if (p->open < lost_until)
            continue;
        if (p->lost) {
            settle(w, p);
            lost_until = p->close;
        } else if (dg_place_is_pair(p)) {
            add_edit(w, p->begin_byte, p->begin_byte, p->open,
                dg_place_has_width(p) ? OPENS : group_of(p));
            add_edit(w, p->end_byte, p->end_byte, p->close,
                dg_place_has_width(p) ? CLOSES : group_of(p));
        } else {
            add_edit(w, p->begin_byte, p->end_byte, p->open, group_of(p));
            memset(w->replaced + p->begin_byte, true, p->end_byte - p->begin_byte);
            if (!dg_place_has_width(p) && w->d->insets[p->open].len > 0)
                set_apart(w, p);
        }
    }
}

/* Where the answer may break: the spaces behind its words, but for the last one. */
static size_t find_spaces(struct work *w)
{
    const char *s = w->d->answer;
    size_t n = 0, end = w->d->answer_len;
    while (end > 0 && dg_is_white_space(s[end - 1]))
        end--;
    for (size_t i = 1; i < end; i++)
        if (s[i] == ' ' && !dg_is_white_space(s[i - 1]) && !w->replaced[i])
            w->spaces[n++] = i;
    return n;
}

static size_t distance(size_t a, size_t b)
{
    return a < b ? b - a : a - b;
}

/* Line ends go to the space nearest to where they were by proportion, in their order, as long as
 * those behind them find one, too. One for which there is no space is left out: there are fewer
 * words than lines. */
static void add_breaks(struct work *w)
{
    const struct dg_decoration *d = w->d;
    size_t n = find_spaces(w), k = 0, left = 0;
    for (size_t i = 0; i < d->n; i++)
        left += d->insets[i].kind == DG_INSET_BREAK;
    for (size_t i = 0; i < d->n && k < n; i++) {
        if (d->insets[i].kind != DG_INSET_BREAK)
            continue;
        size_t want = d->insets[i].at * d->answer_len / (d->len ? d->len : 1);
        while (k + left < n && distance(w->spaces[k + 1], want) < distance(w->spaces[k], want))
            k++;
        add_edit(w, w->spaces[k], w->spaces[k] + 1, i, REPLACES);
        k++;
        left--;
    }
}

static int in_order(const void *a, const void *b)
{
    const struct edit *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->inset < y->inset ? -1 : x->inset > y->inset;
}

static void copy(
    const struct work *w, size_t from, size_t to, size_t base, struct dg_buffer *out, size_t *shift)
{
    for (size_t i = from; shift && i < to; i++)
        shift[i] = out->len - base + (i - from);
    if (to > from)
        dg_buffer_add(out, w->d->answer + from, to - from);
}

static void write_out(struct work *w, struct dg_buffer *out, size_t *shift)
{
    const struct dg_decoration *d = w->d;
    size_t at = 0, base = out->len;
    qsort(w->edits, w->n_edits, sizeof *w->edits, in_order);
    for (size_t i = 0; i < w->n_edits; i++) {
        const struct edit *e = &w->edits[i];
        const struct dg_inset *inset = &d->insets[e->inset];
        copy(w, at, e->begin, base, out, shift);
        at = e->begin > at ? e->begin : at;
        if (e->text)
            dg_buffer_add(out, e->text, e->text_len);
        dg_buffer_add(out, d->document + inset->begin, inset->end - inset->begin);
        if (e->space_behind)
            dg_buffer_add(out, " ", 1);
        for (; at < e->end; at++)
            if (shift)
                shift[at] = out->len - base;
    }
    copy(w, at, d->answer_len, base, out, shift);
    if (shift)
        shift[d->answer_len] = out->len - base;
}

static bool make_room(struct work *w, struct dg_arena *arena)
{
    const struct dg_decoration *d = w->d;
    w->first_edit = dg_arena_array(arena, w->places.n + 1, sizeof *w->first_edit);
    w->replaced = dg_arena_array(arena, d->answer_len + 1, sizeof *w->replaced);
    w->spaces = dg_arena_array(arena, d->answer_len / 2 + 1, sizeof *w->spaces);
    w->edits = dg_arena_array(arena, 2 * d->n + 1, sizeof *w->edits);
    if (!w->first_edit || !w->replaced || !w->spaces || !w->edits)
        return false;
    memset(w->replaced, 0, d->answer_len * sizeof *w->replaced);
    return true;
}

bool dg_decorate(
    const struct dg_decoration *d, struct dg_arena *arena, struct dg_buffer *out, size_t *shift)
{
    struct work w = {.d = d};
    if (!dg_places_find(d, arena, &w.places) || !make_room(&w, arena))
        return false;
    make_edits(&w);
    add_breaks(&w);
    write_out(&w, out, shift);
    return !out->failed;
}
