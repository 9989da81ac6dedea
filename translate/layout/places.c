/* Decides where the marks of a sentence go in its answer.
 *
 * A worked example (from tests/unit/test_decorate.c): the sentence and the model's translation of
 * its text, with the words' numbers. Attention pairs them 4-0, 4-1, 5-2, 0-3, 1-4, 2-5:
 *
 *     Run `make all` in [the *shell*](u).      In der Shell starte make all.
 *      0   1    2    3   4    5                0   1    2     3     4    5
 *
 *  1. list_places   Three places, outer ones first: P0 `make all`, which is text bytes
 *                   4..12; P1 [the *shell*](u), bytes 16..25; P2 *shell*, bytes 20..25, within P1.
 *  2. place_all     Protected spans first. The answer has the letters of P0, "make all", at bytes
 *                   20..28, so P0 gets words 4 and 5, which it replaces: nothing else may begin or
 *                   end there. Then P1: words 0, 1 and 2 came from "the" and "shell." and form one
 *                   run, hence bytes 0..12. P2: word 2 came from "shell.", bytes 7..12, without
 *                   the ".", which is not in P2 in the source either.
 *  3. nest          A pair must enclose what it enclosed: P1 encloses P2 already. Had "Shell" come
 *                   first and "der" last, P1 would have grown.
 *  4. separate      Pairs that are not nested must not overlap. P1 and P2 are nested. Of two that
 *                   share a word of the source, the later one takes what the other one left.
 *
 * decorate.c writes the marks at these bytes: [In der *Shell*](u) starte `make all`. */
#include "translate/layout/places.h"

#include "translate/layout/place.h"
#include "translate/layout/white_space.h"

#include <string.h>

bool dg_place_is_pair(const struct dg_place *p)
{
    return p->close > p->open;
}

bool dg_place_has_width(const struct dg_place *p)
{
    return !p->lost && p->begin_byte < p->end_byte;
}

bool dg_place_is_protected(const struct dg_placing *w, const struct dg_place *p)
{
    return w->d->marks[p->open].kind == DG_MARK_PROTECTED;
}

/* If a protected span beside p replaces only a part of p's words, as in "Note:`x`", p has the first
 * other part. */
static void leave_used(const struct dg_placing *w, struct dg_place *p)
{
    size_t begin = p->begin_byte, end;
    while (begin < p->end_byte && w->used[begin])
        begin++;
    for (end = begin; end < p->end_byte && !w->used[end];)
        end++;
    if (begin == end || w->spans[p - w->places].any)
        return;
    p->begin_byte = begin;
    p->end_byte = end;
}

/* Exclude words at either end of p that protected spans replace; if no others are left, p encloses
 * those spans whole. */
static void leave_protected(const struct dg_placing *w, struct dg_place *p)
{
    uint32_t first = p->first, end = p->end;
    while (first < end && w->replaced_by[first])
        first++;
    while (end > first && w->replaced_by[end - 1])
        end--;
    if (first < end) {
        p->first = first;
        p->end = end;
        return;
    }
    /* All of p's words are replaced: p has the spans' words and bytes, which are final. */
    p->first = w->replaced_by[p->first]->first;
    p->end = w->replaced_by[p->end - 1]->end;
    p->begin_byte = w->words.answer.list[p->first].begin;
    p->end_byte = w->words.answer.list[p->end - 1].end;
    p->literal = true;
    leave_used(w, p);
}

/* Choose as many words, relative to the sentence's length, around the same relative middle. */
static void run_by_proportion(const struct dg_placing *w, struct dg_place *p)
{
    uint32_t n = 0,
             middle = dg_aligned_words_proportion(&w->words, (p->text_begin + p->text_end) / 2);
    for (uint32_t i = 0; i < w->words.source.n; i++)
        n += dg_words_overlap(&w->words.source, i, p->text_begin, p->text_end);
    /* At least one word: the pair enclosed some. */
    n = n * w->words.answer.n / (w->words.source.n ? w->words.source.n : 1);
    n = n < 1 ? 1 : n;
    p->first = middle > n / 2 ? middle - n / 2 : 0;
    p->end = p->first + n < w->words.answer.n ? p->first + n : w->words.answer.n;
    leave_protected(w, p);
}

/* Count the bytes to translate before each mark: the text between two marks is translated, their
 * own bytes and white space are not. */
static void count_prose(struct dg_placing *w)
{
    const struct dg_decoration *d = w->d;
    size_t at = 0, n = 0;
    for (size_t i = 0; i < d->n; i++) {
        for (; at < d->marks[i].at; at++)
            n += !dg_white_space(d->text[at]);
        at += d->marks[i].len;
        w->prose[i] = n;
    }
}

/* True if p encloses nothing to translate, such as **`code`**, or nothing at all. */
static bool has_no_words(const struct dg_placing *w, const struct dg_place *p)
{
    return w->prose[p->open] == w->prose[p->close];
}

static void widen(struct dg_extent *e, const struct dg_extent *by)
{
    if (!by->any)
        return;
    e->first = e->any && e->first < by->first ? e->first : by->first;
    e->end = e->any && e->end > by->end ? e->end : by->end;
    e->begin_byte = e->any && e->begin_byte < by->begin_byte ? e->begin_byte : by->begin_byte;
    e->end_byte = e->any && e->end_byte > by->end_byte ? e->end_byte : by->end_byte;
    e->any = true;
}

/* Find what the protected spans within each pair occupy. They are placed already. */
static void gather_protected(struct dg_placing *w)
{
    for (size_t i = 0; i < w->n_places; i++) {
        const struct dg_place *p = &w->places[i];
        w->spans[i] = (struct dg_extent){
            dg_place_is_protected(w, p), p->first, p->end, p->begin_byte, p->end_byte};
    }
    /* A pair's inner places follow it: each is complete when it is added to its outer one. */
    for (size_t i = w->n_places; i-- > 0;)
        if (w->places[i].outer)
            widen(&w->spans[w->places[i].outer - w->places], &w->spans[i]);
}

/* Put a pair around the protected spans within it; false: there are none. */
static bool enclose_protected(const struct dg_placing *w, struct dg_place *p)
{
    const struct dg_extent *in = &w->spans[p - w->places];
    p->literal = in->any;
    if (!in->any)
        return false;
    p->first = in->first;
    p->end = in->end;
    p->begin_byte = in->begin_byte;
    p->end_byte = in->end_byte;
    return true;
}

/* The words of one place, and then their bytes. */
static void place_one(struct dg_placing *w, struct dg_place *p)
{
    const bool is_span = dg_place_is_protected(w, p);
    /* of a span without text, the model saw nothing: it replaces nothing */
    const bool wordless = is_span ? p->text_begin == p->text_end : has_no_words(w, p);
    if (is_span && dg_place_find_letters(w, p)) {
        /* The model copied the letters: they are replaced where they are. */
    } else if (wordless && !is_span && enclose_protected(w, p)) {
        /* **`code`**: the pair goes where the code went. */
    } else if (wordless) {
        /* <br>, or a pair around nothing: after the word that it was after. */
        p->first = p->end = dg_place_after_word(w, p);
    } else if (dg_place_find_run(w, p)) {
        /* Attention says which words came from those of the place. */
    } else if (is_span || w->words.answer.n == 0) {
        /* The model dropped it: inserted at its old position, without replacing words. */
        p->first = p->end = dg_place_after_word(w, p);
    } else if (!enclose_protected(w, p)) {
        run_by_proportion(w, p);
    }
    for (uint32_t i = p->first; is_span && i < p->end; i++)
        w->replaced_by[i] = w->replaced_by[i] ? w->replaced_by[i] : p;
    dg_place_fit(w, p);
    if (is_span)
        memset(w->used + p->begin_byte, true, p->end_byte - p->begin_byte);
}

/* List the place of every mark or pair of marks, except line ends and escapes, which decorate.c
 * places itself. A pair comes before the places within it. */
static void list_places(struct dg_placing *w)
{
    const struct dg_decoration *d = w->d;
    /* [n] places whose marks are open, outer ones first */
    size_t n = 0, *open = w->stack;
    for (size_t i = 0; i < d->n; i++) {
        const struct dg_mark *mark = &d->marks[i];
        if (mark->kind == DG_MARK_BREAK || mark->kind == DG_MARK_ESCAPE)
            continue;
        if (mark->kind == DG_MARK_CLOSE) {
            /* Marks that were opened since then have no partner. */
            while (n > 0 && d->marks[w->places[open[n - 1]].open].id != mark->id)
                n--;
            if (n > 0)
                w->places[open[--n]].close = i;
            continue;
        }
        if (mark->kind == DG_MARK_OPEN)
            open[n++] = w->n_places;
        w->places[w->n_places++] = (struct dg_place){.open = i, .close = i};
    }
}

/* Find the text of each place and the innermost pair that holds it: pairs are nested. */
static void find_extents(struct dg_placing *w)
{
    const struct dg_mark *marks = w->d->marks;
    struct dg_place *outer = NULL;
    for (size_t i = 0; i < w->n_places; i++) {
        struct dg_place *p = &w->places[i];
        p->text_begin = marks[p->open].at;
        p->text_end = marks[p->close].at + (dg_place_is_pair(p) ? 0 : marks[p->open].len);
        while (outer && outer->close < p->open)
            outer = outer->outer;
        p->outer = outer; /* stays valid: make_room has room for all places */
        if (dg_place_is_pair(p))
            outer = p;
    }
}

static void place_all(struct dg_placing *w)
{
    /* Protected spans first: no other mark is placed within the bytes they replace. */
    for (size_t i = 0; i < w->n_places; i++)
        if (dg_place_is_protected(w, &w->places[i]))
            place_one(w, &w->places[i]);
    /* A span that replaces nothing goes between words, and was fitted before all replacements were
     * known: fit it again, so that it is not within another span. */
    for (size_t i = 0; i < w->n_places; i++)
        if (dg_place_is_protected(w, &w->places[i]))
            dg_place_fit(w, &w->places[i]);
    gather_protected(w);
    for (size_t i = 0; i < w->n_places; i++)
        if (!dg_place_is_protected(w, &w->places[i]))
            place_one(w, &w->places[i]);
}

static void stretch(struct dg_place *outer, const struct dg_place *inner)
{
    if (inner->begin_byte < outer->begin_byte)
        outer->begin_byte = inner->begin_byte;
    if (inner->end_byte > outer->end_byte)
        outer->end_byte = inner->end_byte;
}

/* Mark the answer's bytes of the pairs on the stack that end before mark `at`; returns how many are
 * left on it. */
static size_t take_bytes(struct dg_placing *w, size_t n, size_t at)
{
    for (; n > 0 && w->places[w->stack[n - 1]].close < at; n--) {
        const struct dg_place *q = &w->places[w->stack[n - 1]];
        memset(w->taken + q->begin_byte, true, q->end_byte - q->begin_byte);
    }
    return n;
}

static bool is_outside(const struct dg_place *p, const struct dg_place *outer)
{
    return outer && !outer->lost &&
           (p->begin_byte < outer->begin_byte || p->end_byte > outer->end_byte);
}

/* True if a protected span within p begins before a byte of the answer or ends after another. */
static bool parts_protected(
    const struct dg_placing *w, const struct dg_place *p, size_t begin, size_t end)
{
    const struct dg_place *q = p + 1, *last = w->places + w->n_places;
    for (; q < last && q->open < p->close; q++)
        if (dg_place_is_protected(w, q) && (q->begin_byte < begin || q->end_byte > end))
            return true;
    return false;
}

/* A pair that begins within a word, as in <b>two</b>/<i>three</i>, shares the word's translation
 * with the pair before it: it leaves what is taken at either end, unless that parts it from a
 * protected span. A pair within it leaves the white space that it left. */
static void give_way(const struct dg_placing *w, struct dg_place *p)
{
    const struct dg_decoration *d = w->d;
    size_t begin = p->begin_byte, end = p->end_byte;
    const bool shares = p->text_begin > 0 && !dg_white_space(d->text[p->text_begin - 1]) &&
                        memchr(w->taken + begin, 1, end - begin);
    if (!shares && !is_outside(p, p->outer))
        return;
    while (begin < end && ((shares && w->taken[begin]) || dg_white_space(d->answer[begin])))
        begin++;
    while (end > begin && ((shares && w->taken[end - 1]) || dg_white_space(d->answer[end - 1])))
        end--;
    if (begin < end && !parts_protected(w, p, begin, end)) {
        p->begin_byte = begin;
        p->end_byte = end;
    }
}

/* Mark a pair as lost if it overlaps an earlier one that is not nested with it. No other places
 * conflict: one without a width is never within a protected span and may be anywhere in a pair, and
 * a protected span may be whole within a pair. */
static void separate(struct dg_placing *w)
{
    /* [n] pairs that are still open, outer ones first */
    size_t n = 0;
    /* In the source's order, so that of two that overlap the later one is lost. */
    for (size_t i = 0; i < w->n_places; i++) {
        struct dg_place *p = &w->places[i];
        if (!dg_place_is_pair(p) || !dg_place_has_width(p))
            continue;
        n = take_bytes(w, n, p->open);
        give_way(w, p);
        p->lost = memchr(w->taken + p->begin_byte, 1, p->end_byte - p->begin_byte) ||
                  is_outside(p, p->outer);
        if (!p->lost)
            w->stack[n++] = i;
    }
}

/* Make each pair enclose the places with a width that it enclosed in the source: it grows. */
static void nest(struct dg_placing *w)
{
    /* Innermost first, so that a pair's extent is complete before it stretches its outer one. */
    for (size_t i = w->n_places; i-- > 0;) {
        const struct dg_place *p = &w->places[i];
        if (p->outer && dg_place_has_width(p))
            stretch(p->outer, p);
    }
}

/* Move places without a width into the pairs that enclosed them in the source. Outermost first:
 * extents are final now. */
static void draw_in(struct dg_placing *w)
{
    for (size_t i = 0; i < w->n_places; i++) {
        struct dg_place *p = &w->places[i];
        const struct dg_place *outer = p->outer;
        if (!outer || dg_place_has_width(p))
            continue;
        if (p->begin_byte < outer->begin_byte)
            p->begin_byte = p->end_byte = outer->begin_byte;
        if (p->end_byte > outer->end_byte)
            p->begin_byte = p->end_byte = outer->end_byte;
    }
}

/* Find the pairs around each place by their width, which is final now. */
static void find_wide(struct dg_placing *w)
{
    for (size_t i = 0; i < w->n_places; i++) {
        struct dg_place *p = &w->places[i];
        const struct dg_place *outer = p->outer; /* comes before p, so that its own are known */
        const bool narrow = outer && !dg_place_has_width(outer);
        p->wide = narrow ? outer->wide : outer;
        p->outermost = narrow ? outer->outermost : p;
    }
}

/* All is zeroed: no word is replaced or kept, no byte is used or taken. */
static bool make_room(struct dg_placing *w, struct dg_arena *arena)
{
    size_t n = w->d->n;
    w->replaced_by = dg_arena_array(arena, w->words.answer.n + 1, sizeof *w->replaced_by);
    w->kept = dg_arena_array(arena, w->words.answer.n + 1, sizeof *w->kept);
    w->places = dg_arena_array(arena, n + 1, sizeof *w->places);
    w->spans = dg_arena_array(arena, n + 1, sizeof *w->spans);
    w->prose = dg_arena_array(arena, n + 1, sizeof *w->prose);
    w->stack = dg_arena_array(arena, n + 1, sizeof *w->stack);
    w->used = dg_arena_array(arena, w->d->answer_len + 1, sizeof *w->used);
    w->taken = dg_arena_array(arena, w->d->answer_len + 1, sizeof *w->taken);
    return w->used && w->replaced_by && w->kept && w->places && w->spans && w->prose && w->stack &&
           w->taken;
}

bool dg_places_find(const struct dg_decoration *d, struct dg_arena *arena, struct dg_places *out)
{
    struct dg_placing w = {.d = d};
    if (!dg_aligned_words_find(d, arena, &w.words) || !make_room(&w, arena))
        return false;
    list_places(&w);
    find_extents(&w);
    count_prose(&w);
    dg_place_find_kept(&w);
    place_all(&w);
    nest(&w);
    separate(&w);
    draw_in(&w);
    find_wide(&w);
    *out = (struct dg_places){w.places, w.n_places};
    return true;
}
