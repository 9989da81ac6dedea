/* Where the marks of a sentence go in its answer.
 *
 * A worked example (it is one of tests/unit/test_decorate.c). The sentence, and what the model made
 * of its text, with the words' numbers; attention says 4-0, 4-1, 5-2, 0-3, 1-4, 2-5:
 *
 *     Run `make all` in [the *shell*](u).      In der Shell starte make all.
 *      0   1    2    3   4    5                0   1    2     3     4    5
 *
 *  1. list_places   Three places, those that hold others first: P0 `make all`, which is text bytes
 *                   4..12; P1 [the *shell*](u), bytes 16..25; P2 *shell*, bytes 20..25, within P1.
 *  2. place_all     Protected spans first. The answer says the letters of P0, "make all", at bytes
 *                   20..28, so P0 has words 4 and 5, and they are replaced: nothing else begins or
 *                   ends there. Then P1: words 0, 1 and 2 came from "the" and "shell.", one
 *                   run, and so bytes 0..12. P2: word 2 came from "shell.", bytes 7..12; "." is
 *                   no part of it, as it is none of P2 in the source.
 *  3. nest          A pair holds what it held: P1 holds P2 already. Had "Shell" come first and
 *                   "der" last, P1 would have grown.
 *  4. separate      Pairs beside one another must not overlap: there is one such pair here.
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

static bool is_protected(const struct dg_placing *w, const struct dg_place *p)
{
    return w->d->marks[p->open].kind == DG_MARK_PROTECTED;
}

/* The run of words that came from p's (and words that came from nowhere between them) that fits
 * best. A pair may hold what others replace, something protected may not. */
static bool best_run(const struct dg_placing *w, struct dg_place *p)
{
    size_t begin = p->text_begin, end = p->text_end;
    double best = 0;
    bool any = false, running = false;
    uint32_t from = 0, to = 0;
    /* One step past the last word, which ends a run that reaches it. */
    for (uint32_t i = 0; i <= w->words.answer.n; i++) {
        uint32_t a = i < w->words.answer.n ? w->words.from[i] : DG_NO_WORD;
        bool inside = a != DG_NO_WORD && dg_words_overlap(&w->words.source, a, begin, end) &&
                      !w->replaced_by[i];
        if (inside) {
            from = running ? from : i;
            to = i + 1;
            running = true;
        }
        /* A word from nowhere goes on with the run: articles and particles often have no source. */
        if (!running || inside ||
            (a == DG_NO_WORD && i < w->words.answer.n &&
                !(w->replaced_by[i] && is_protected(w, p))))
            continue;
        running = false;
        /* Attention may find a place's words twice; length and position tell the stray run. */
        double m = dg_aligned_words_misfit(&w->words, (size_t[2]){begin, end}, from, to);
        if (!any || m < best) {
            best = m;
            p->first = from;
            p->end = to;
        }
        any = true;
    }
    return any;
}

/* Where something without words goes: after the word that came from the one before it. */
static uint32_t after_word(const struct dg_placing *w, size_t at)
{
    if (at == 0 || w->words.answer.n == 0)
        return 0;
    if (at >= w->d->len)
        return w->words.answer.n;
    /* From the nearest word back: one that the answer left out says nothing. */
    for (uint32_t s = w->words.source.n; s-- > 0;)
        if (w->words.source.list[s].begin < at && w->words.after[s])
            return w->words.after[s];
    /* Without any alignment the share of the text is all there is to go by. */
    return w->words.any ? 0 : dg_aligned_words_proportion(&w->words, at);
}

/* Something protected at either end of p's words is not p's; where there is nothing else, p goes
 * around all of it. */
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
    /* All of p's words are replaced: its bytes are those of the spans, not to be fitted to words.
     */
    p->first = w->replaced_by[p->first]->first;
    p->end = w->replaced_by[p->end - 1]->end;
    p->begin_byte = w->words.answer.list[p->first].begin;
    p->end_byte = w->words.answer.list[p->end - 1].end;
    p->literal = true;
}

/* As many words, relatively, around the same middle. */
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

/* Does it enclose nothing that is translated, such as **`code`**, or nothing at all? */
static bool has_no_words(const struct dg_placing *w, const struct dg_place *p)
{
    const struct dg_decoration *d = w->d;
    size_t at = p->text_begin;
    for (size_t i = p->open; i <= p->close; i++) {
        /* The text between two marks is translated; the marks' own bytes are not. */
        for (; at < d->marks[i].at; at++)
            if (!dg_white_space(d->text[at]))
                return false;
        at += d->marks[i].len;
    }
    return true;
}

/* A pair around what it encloses that is protected and has its place already; false: there is no
 * such thing. */
static bool enclose_protected(const struct dg_placing *w, struct dg_place *p)
{
    bool any = false;
    /* What p holds follows it in the list. */
    for (const struct dg_place *q = p + 1; q < w->places + w->n_places && q->open < p->close; q++) {
        if (!is_protected(w, q))
            continue;
        p->first = any && p->first < q->first ? p->first : q->first;
        p->end = any && p->end > q->end ? p->end : q->end;
        p->begin_byte = any && p->begin_byte < q->begin_byte ? p->begin_byte : q->begin_byte;
        p->end_byte = any && p->end_byte > q->end_byte ? p->end_byte : q->end_byte;
        any = true;
    }
    p->literal = any;
    return any;
}

/* The words of one place, and then their bytes. */
static void place_one(struct dg_placing *w, struct dg_place *p)
{
    bool is_span = is_protected(w, p), wordless = !is_span && has_no_words(w, p);
    if (is_span && dg_place_find_letters(w, p)) {
        /* The model says the letters: they are replaced where they are. */
    } else if (wordless && enclose_protected(w, p)) {
        /* **`code`**: the pair goes where the code went. */
    } else if (wordless) {
        /* <br>, or a pair around nothing: after the word that it was after. */
        p->first = p->end = after_word(w, p->text_begin);
    } else if (best_run(w, p)) {
        /* Attention says which words came from those of the place. */
    } else if (is_span || w->words.answer.n == 0) {
        /* The model dropped it: it is put in where it was, not in place of other words. */
        p->first = p->end = after_word(w, p->text_begin);
    } else if (!enclose_protected(w, p)) {
        run_by_proportion(w, p);
    }
    for (uint32_t i = p->first; is_span && i < p->end; i++)
        w->replaced_by[i] = w->replaced_by[i] ? w->replaced_by[i] : p;
    dg_place_fit(w, p);
    if (is_span)
        memset(w->used + p->begin_byte, true, p->end_byte - p->begin_byte);
}

/* The place of every mark, or pair of marks, but for line ends and escapes, which decorate.c finds
 * by itself. A pair comes before what it holds. */
static void list_places(struct dg_placing *w)
{
    const struct dg_decoration *d = w->d;
    struct dg_place *outer = NULL;
    for (size_t i = 0; i < d->n; i++) {
        const struct dg_mark *mark = &d->marks[i];
        struct dg_place p = {.open = i, .close = i, .text_begin = mark->at};
        if (mark->kind == DG_MARK_CLOSE || mark->kind == DG_MARK_BREAK ||
            mark->kind == DG_MARK_ESCAPE)
            continue;
        for (size_t k = i + 1; mark->kind == DG_MARK_OPEN && p.close == i && k < d->n; k++)
            if (d->marks[k].kind == DG_MARK_CLOSE && d->marks[k].id == mark->id)
                p.close = k;
        p.text_end = p.close > i ? d->marks[p.close].at : mark->at + mark->len;
        /* Pairs are within one another: the innermost one that has not closed yet holds this. */
        while (outer && outer->close < i)
            outer = outer->outer;
        p.outer = outer; /* stays valid: make_room has room for all places */
        w->places[w->n_places++] = p;
        if (dg_place_is_pair(&p))
            outer = &w->places[w->n_places - 1];
    }
}

static void place_all(struct dg_placing *w)
{
    /* Protected spans first: the bytes they replace place no other mark. */
    for (size_t i = 0; i < w->n_places; i++)
        if (is_protected(w, &w->places[i]))
            place_one(w, &w->places[i]);
    /* One that replaces nothing goes between words, and was placed before all that is replaced was
     * known: once more, so that it is not put within another. */
    for (size_t i = 0; i < w->n_places; i++)
        if (is_protected(w, &w->places[i]))
            dg_place_fit(w, &w->places[i]);
    for (size_t i = 0; i < w->n_places; i++)
        if (!is_protected(w, &w->places[i]))
            place_one(w, &w->places[i]);
}

static void stretch(struct dg_place *outer, const struct dg_place *inner)
{
    if (inner->begin_byte < outer->begin_byte)
        outer->begin_byte = inner->begin_byte;
    if (inner->end_byte > outer->end_byte)
        outer->end_byte = inner->end_byte;
}

/* Pairs beside one another in the source, q before p: do their places overlap? */
static bool is_in_the_way(const struct dg_place *q, const struct dg_place *p)
{
    return q->close < p->open && p->begin_byte < q->end_byte && q->begin_byte < p->end_byte;
}

/* A pair that overlaps one before it is lost. Nothing else is in the way: what has no width is
 * nowhere within something protected, and may be anywhere within a pair, as may something
 * protected, all of it at once. */
static void separate(struct dg_placing *w)
{
    size_t n = 0;
    /* In the source's order, so that of two that overlap the later one is lost. */
    for (size_t i = 0; i < w->n_places; i++) {
        struct dg_place *p = &w->places[i];
        if (!dg_place_is_pair(p) || !dg_place_has_width(p))
            continue;
        for (size_t k = 0; k < n && !p->lost; k++)
            p->lost = is_in_the_way(&w->places[w->wide[k]], p);
        if (!p->lost)
            w->wide[n++] = i;
    }
}

/* A pair holds what it held in the source: it stretches to what has a width, and draws in what has
 * none. */
static void nest(struct dg_placing *w)
{
    /* From the innermost out, so that a pair has its own width before its outer one looks at it. */
    for (size_t i = w->n_places; i-- > 0;) {
        const struct dg_place *p = &w->places[i];
        if (p->outer && dg_place_has_width(p))
            stretch(p->outer, p);
    }
    /* From the outermost in: a pair's width is final now. */
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

static bool make_room(struct dg_placing *w, struct dg_arena *arena)
{
    size_t n = w->d->n;
    w->replaced_by = dg_arena_array(arena, w->words.answer.n + 1, sizeof *w->replaced_by);
    w->places = dg_arena_array(arena, n + 1, sizeof *w->places);
    w->wide = dg_arena_array(arena, n + 1, sizeof *w->wide);
    w->used = dg_arena_array(arena, w->d->answer_len + 1, sizeof *w->used);
    if (!w->used || !w->replaced_by || !w->places || !w->wide)
        return false;
    for (uint32_t i = 0; i < w->words.answer.n; i++)
        w->replaced_by[i] = NULL;
    memset(w->used, 0, w->d->answer_len + 1);
    return true;
}

bool dg_places_find(const struct dg_decoration *d, struct dg_arena *arena, struct dg_places *out)
{
    struct dg_placing w = {.d = d};
    if (!dg_aligned_words_find(d, arena, &w.words) || !make_room(&w, arena))
        return false;
    list_places(&w);
    place_all(&w);
    nest(&w);
    separate(&w);
    *out = (struct dg_places){w.places, w.n_places};
    return true;
}
