#include "translate/layout/places.h"

#include "translate/layout/white_space.h"

#include <ctype.h>
#include <string.h>

#define NONE UINT32_MAX

struct word {
    size_t begin, end;
};

struct words {
    struct word *list;
    uint32_t n;
};

struct work {
    const struct dg_decoration *d;
    struct words source, answer;
    uint32_t *aligned; /* [answer.n] a source word, or NONE */
    uint32_t *behind;  /* [source.n] behind the last word of the answer that came from it, or 0 */
    bool *used;        /* [answer.len] bytes replaced by something verbatim */
    const struct dg_place **taken; /* [answer.n] replaced by something verbatim, or NULL */
    struct dg_place *places;
    size_t n_places;
    size_t *wide; /* pairs with any width: see separate */
};

bool dg_place_is_pair(const struct dg_place *p)
{
    return p->close > p->open;
}

bool dg_place_has_width(const struct dg_place *p)
{
    return !p->lost && p->begin_byte < p->end_byte;
}

static bool find_words(struct dg_arena *arena, const char *s, size_t n, struct words *out)
{
    out->n = 0;
    out->list = dg_arena_array(arena, n / 2 + 1, sizeof *out->list);
    for (size_t at = 0; out->list && at < n;) {
        size_t end = at;
        while (end < n && dg_is_white_space(s[end]) == dg_is_white_space(s[at]))
            end++;
        if (!dg_is_white_space(s[at]))
            out->list[out->n++] = (struct word){at, end};
        at = end;
    }
    return out->list != NULL;
}

/* Does source word i overlap flat bytes begin .. end? */
static bool overlaps(const struct words *w, uint32_t i, size_t begin, size_t end)
{
    return w->list[i].begin < end && w->list[i].end > begin;
}

/* Each word of the answer keeps one source word: the first pair that names it. */
static void align(struct work *w)
{
    for (uint32_t i = 0; i < w->answer.n; i++)
        w->aligned[i] = NONE;
    for (size_t i = 0; i < w->d->n_pairs; i++) {
        const struct dg_word_pair *p = &w->d->pairs[i];
        if (p->target < w->answer.n && p->source < w->source.n && w->aligned[p->target] == NONE)
            w->aligned[p->target] = p->source;
    }
    memset(w->behind, 0, w->source.n * sizeof *w->behind);
    for (uint32_t i = 0; i < w->answer.n; i++)
        if (w->aligned[i] != NONE)
            w->behind[w->aligned[i]] = i + 1;
}

/* The word of the answer at the proportion of a flat byte. */
static uint32_t by_proportion(const struct work *w, size_t flat)
{
    size_t len = w->d->len ? w->d->len : 1;
    size_t i = flat * w->answer.n / len;
    return (uint32_t)(i < w->answer.n ? i : w->answer.n - 1);
}

/* How ill words first .. end - 1 of the answer fit those of flat bytes begin .. end: another number
 * of words, another place in the sentence. Attention strays; what strays is mostly far away. */
static double misfit(
    const struct work *w, size_t begin, size_t end, uint32_t first, uint32_t behind)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->source.n; i++)
        n += overlaps(&w->source, i, begin, end);
    double count = behind - first, most = n ? n : 1;
    double there = (first + behind) / 2.0 / w->answer.n;
    double here = (double)(begin + end) / 2.0 / (double)(w->d->len ? w->d->len : 1);
    return (count > most ? count - most : most - count) / most +
           (there > here ? there - here : here - there);
}

static bool is_verbatim(const struct work *w, const struct dg_place *p)
{
    return w->d->marks[p->open].kind == DG_MARK_PROTECTED;
}

/* The run of words that came from p's (and words that came from nowhere between them) that fits
 * best. A pair may hold what others replace, something verbatim may not. */
static bool run_of(const struct work *w, struct dg_place *p)
{
    size_t begin = p->flat_begin, end = p->flat_end;
    double best = 0;
    bool any = false, running = false;
    uint32_t from = 0, to = 0;
    for (uint32_t i = 0; i <= w->answer.n; i++) {
        uint32_t a = i < w->answer.n ? w->aligned[i] : NONE;
        bool inside = a != NONE && overlaps(&w->source, a, begin, end) && !w->taken[i];
        if (inside) {
            from = running ? from : i;
            to = i + 1;
            running = true;
        }
        if (!running || inside ||
            (a == NONE && i < w->answer.n && !(w->taken[i] && is_verbatim(w, p))))
            continue;
        running = false;
        double m = misfit(w, begin, end, from, to);
        if (!any || m < best) {
            best = m;
            p->first = from;
            p->end = to;
        }
        any = true;
    }
    return any;
}

static bool is_punctuation(char c)
{
    return ispunct((unsigned char)c);
}

/* Something verbatim that replaces both word i of the answer and the one before it, or NULL. */
static const struct dg_place *across(const struct work *w, uint32_t i)
{
    const struct dg_place *p = i > 0 ? w->taken[i - 1] : NULL;
    return p && p->end > i ? p : NULL;
}

/* What has no words goes after one of the answer's; not within something verbatim, but after all of
 * it. A mark that stands alone keeps the white space in front of it. */
static void fit_between(const struct work *w, struct dg_place *p)
{
    const struct dg_decoration *d = w->d;
    const struct dg_place *verbatim = across(w, p->first);
    p->begin_byte = p->first > 0 ? w->answer.list[p->first - 1].end : 0;
    if (verbatim) {
        p->first = p->end = verbatim->end;
        p->begin_byte = verbatim->end_byte;
    }
    bool alone = d->marks[p->open].kind == DG_MARK_POINT;
    if (alone && p->flat_begin > 0 && dg_is_white_space(d->text[p->flat_begin - 1]) &&
        p->begin_byte < d->answer_len && dg_is_white_space(d->answer[p->begin_byte])) {
        p->begin_byte++;
        p->space_after = p->flat_begin < d->len && dg_is_white_space(d->text[p->flat_begin]) &&
                         p->begin_byte < d->answer_len &&
                         !dg_is_white_space(d->answer[p->begin_byte]);
    }
    p->end_byte = p->begin_byte;
}

/* What the words that p begins and ends within have beside p, such as "(" and ")." of "(`code`).",
 * is not p's where the answer says it there, too. */
static void leave_affixes(const struct work *w, struct dg_place *p)
{
    const struct dg_decoration *d = w->d;
    size_t before = 0, after = 0, n = p->end_byte - p->begin_byte;
    while (before < p->flat_begin && !dg_is_white_space(d->text[p->flat_begin - before - 1]))
        before++;
    while (p->flat_end + after < d->len && !dg_is_white_space(d->text[p->flat_end + after]))
        after++;
    if (before && before < n &&
        memcmp(d->answer + p->begin_byte, d->text + p->flat_begin - before, before) == 0)
        p->begin_byte += before;
    n = p->end_byte - p->begin_byte;
    if (after && after < n &&
        memcmp(d->answer + p->end_byte - after, d->text + p->flat_end, after) == 0)
        p->end_byte -= after;
}

/* The words' bytes; punctuation at their ends only where the source has some there. */
static void fit(const struct work *w, struct dg_place *p)
{
    const struct dg_decoration *d = w->d;
    if (p->literal)
        return;
    if (p->first == p->end) {
        fit_between(w, p);
        return;
    }
    p->begin_byte = w->answer.list[p->first].begin;
    p->end_byte = w->answer.list[p->end - 1].end;
    leave_affixes(w, p);
    if (p->flat_end == p->flat_begin)
        return;
    if (!is_punctuation(d->text[p->flat_end - 1]))
        while (p->end_byte > p->begin_byte + 1 && is_punctuation(d->answer[p->end_byte - 1]))
            p->end_byte--;
    if (!is_punctuation(d->text[p->flat_begin]))
        while (p->begin_byte + 1 < p->end_byte && is_punctuation(d->answer[p->begin_byte]))
            p->begin_byte++;
}

/* Where the next of s[len] is in text[n] from `at` on; n: nowhere. */
static size_t find(const char *text, size_t n, size_t at, const char *s, size_t len)
{
    const char *found = at < n ? memmem(text + at, n - at, s, len) : NULL;
    return found ? (size_t)(found - text) : n;
}

static size_t count(const char *text, size_t n, const char *s, size_t len)
{
    size_t k = 0;
    for (size_t at = find(text, n, 0, s, len); at < n; at = find(text, n, at + len, s, len))
        k++;
    return k;
}

/* Are p's letters whole words there, or part of one as in the source? Signs at their ends belong to
 * no word: ":name" is itself in "mit:name", too. */
static bool is_beside(const struct work *w, const struct dg_place *p, size_t begin, size_t end)
{
    const struct dg_decoration *d = w->d;
    char before = begin > 0 ? d->answer[begin - 1] : ' ',
         after = end < d->answer_len ? d->answer[end] : ' ';
    if (isalnum((unsigned char)before) && isalnum((unsigned char)d->answer[begin]) &&
        !(p->flat_begin > 0 && d->text[p->flat_begin - 1] == before))
        return false;
    return !isalnum((unsigned char)after) || !isalnum((unsigned char)d->answer[end - 1]) ||
           (p->flat_end < d->len && d->text[p->flat_end] == after);
}

static bool is_free(const struct work *w, size_t begin, size_t end)
{
    for (size_t i = begin; i < end; i++)
        if (w->used[i])
            return false;
    return true;
}

/* The letters of something verbatim, said by the model as they are: where they are said as often as
 * in the source, each time stands for the same one, else for the first that is left. */
static bool find_literal(struct work *w, struct dg_place *p)
{
    const struct dg_decoration *d = w->d;
    const char *letters = d->text + p->flat_begin;
    size_t len = p->flat_end - p->flat_begin, skip = 0;
    if (len == 0)
        return false;
    if (count(d->text, d->len, letters, len) == count(d->answer, d->answer_len, letters, len))
        skip = count(d->text, p->flat_begin, letters, len);
    for (size_t at = find(d->answer, d->answer_len, 0, letters, len); at < d->answer_len;
         at = find(d->answer, d->answer_len, at + (skip ? len : 1), letters, len)) {
        if (skip) {
            skip--;
            continue;
        }
        if (!is_free(w, at, at + len) || !is_beside(w, p, at, at + len))
            continue;
        p->begin_byte = at;
        p->end_byte = at + len;
        p->literal = true;
        for (uint32_t i = w->answer.n; i-- > 0;)
            if (overlaps(&w->answer, i, at, at + len))
                p->first = i;
        for (uint32_t i = 0; i < w->answer.n; i++)
            if (overlaps(&w->answer, i, at, at + len))
                p->end = i + 1;
        return true;
    }
    return false;
}

/* Where something without words goes: behind the word that came from the one before it. */
static uint32_t behind_word(const struct work *w, size_t flat)
{
    if (flat == 0 || w->answer.n == 0)
        return 0;
    if (flat >= w->d->len)
        return w->answer.n;
    for (uint32_t s = w->source.n; s-- > 0;)
        if (w->source.list[s].begin < flat && w->behind[s])
            return w->behind[s];
    return w->d->n_pairs ? 0 : by_proportion(w, flat);
}

/* Something verbatim at either end of p's words is not p's; where there is nothing else, p goes
 * around all of it. */
static void leave_verbatim(const struct work *w, struct dg_place *p)
{
    uint32_t first = p->first, end = p->end;
    while (first < end && w->taken[first])
        first++;
    while (end > first && w->taken[end - 1])
        end--;
    if (first < end) {
        p->first = first;
        p->end = end;
        return;
    }
    p->first = w->taken[p->first]->first;
    p->end = w->taken[p->end - 1]->end;
    p->begin_byte = w->answer.list[p->first].begin;
    p->end_byte = w->answer.list[p->end - 1].end;
    p->literal = true;
}

/* As many words, relatively, around the same middle. */
static void run_by_proportion(const struct work *w, struct dg_place *p)
{
    uint32_t n = 0, middle = by_proportion(w, (p->flat_begin + p->flat_end) / 2);
    for (uint32_t i = 0; i < w->source.n; i++)
        n += overlaps(&w->source, i, p->flat_begin, p->flat_end);
    n = n * w->answer.n / (w->source.n ? w->source.n : 1);
    n = n < 1 ? 1 : n;
    p->first = middle > n / 2 ? middle - n / 2 : 0;
    p->end = p->first + n < w->answer.n ? p->first + n : w->answer.n;
    leave_verbatim(w, p);
}

/* Does it enclose nothing that is translated, such as **`code`**, or nothing at all? */
static bool has_no_words(const struct work *w, const struct dg_place *p)
{
    const struct dg_decoration *d = w->d;
    size_t at = p->flat_begin;
    for (size_t i = p->open; i <= p->close; i++) {
        for (; at < d->marks[i].at; at++)
            if (!dg_is_white_space(d->text[at]))
                return false;
        at += d->marks[i].len;
    }
    return true;
}

/* A pair around what it encloses that is verbatim and has its place already; false: there is no
 * such thing. */
static bool enclose_verbatim(const struct work *w, struct dg_place *p)
{
    bool any = false;
    for (const struct dg_place *q = p + 1; q < w->places + w->n_places && q->open < p->close; q++) {
        if (!is_verbatim(w, q))
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

static void place_one(struct work *w, struct dg_place *p)
{
    bool verbatim = is_verbatim(w, p), wordless = !verbatim && has_no_words(w, p);
    if (verbatim ? find_literal(w, p) : wordless && enclose_verbatim(w, p)) {
        /* as it is */
    } else if (wordless) {
        p->first = p->end = behind_word(w, p->flat_begin);
    } else if (!run_of(w, p)) {
        if (verbatim || w->answer.n == 0)
            p->first = p->end = behind_word(w, p->flat_begin);
        else if (!enclose_verbatim(w, p))
            run_by_proportion(w, p);
    }
    for (uint32_t i = p->first; verbatim && i < p->end; i++)
        w->taken[i] = w->taken[i] ? w->taken[i] : p;
    fit(w, p);
    if (verbatim)
        memset(w->used + p->begin_byte, true, p->end_byte - p->begin_byte);
}

/* Insets that stand alone, and pairs, the outer ones first. */
static void find_places(struct work *w)
{
    const struct dg_decoration *d = w->d;
    struct dg_place *outer = NULL;
    for (size_t i = 0; i < d->n; i++) {
        const struct dg_mark *mark = &d->marks[i];
        struct dg_place p = {.open = i, .close = i, .flat_begin = mark->at};
        if (mark->kind == DG_MARK_CLOSE || mark->kind == DG_MARK_BREAK ||
            mark->kind == DG_MARK_ESCAPE)
            continue;
        for (size_t k = i + 1; mark->kind == DG_MARK_OPEN && p.close == i && k < d->n; k++)
            if (d->marks[k].kind == DG_MARK_CLOSE && d->marks[k].id == mark->id)
                p.close = k;
        p.flat_end = p.close > i ? d->marks[p.close].at : mark->at + mark->len;
        while (outer && outer->close < i)
            outer = outer->outer;
        p.outer = outer;
        w->places[w->n_places++] = p;
        if (dg_place_is_pair(&p))
            outer = &w->places[w->n_places - 1];
    }
    /* Verbatim first: what they replace is theirs. Once all of that is known, nothing else begins
     * or ends within it: not those of them that replace nothing, nor any other place. */
    for (size_t i = 0; i < w->n_places; i++)
        if (is_verbatim(w, &w->places[i]))
            place_one(w, &w->places[i]);
    for (size_t i = 0; i < w->n_places; i++)
        if (is_verbatim(w, &w->places[i]))
            fit(w, &w->places[i]);
    for (size_t i = 0; i < w->n_places; i++)
        if (!is_verbatim(w, &w->places[i]))
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
 * nowhere within something verbatim, and may be anywhere within a pair, as may something verbatim,
 * all of it at once. */
static void separate(struct work *w)
{
    size_t n = 0;
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
static void nest(struct work *w)
{
    for (size_t i = w->n_places; i-- > 0;) {
        const struct dg_place *p = &w->places[i];
        if (p->outer && dg_place_has_width(p))
            stretch(p->outer, p);
    }
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

static bool make_room(struct work *w, struct dg_arena *arena)
{
    size_t n = w->d->n;
    w->aligned = dg_arena_array(arena, w->answer.n + 1, sizeof *w->aligned);
    w->behind = dg_arena_array(arena, w->source.n + 1, sizeof *w->behind);
    w->taken = dg_arena_array(arena, w->answer.n + 1, sizeof *w->taken);
    w->places = dg_arena_array(arena, n + 1, sizeof *w->places);
    w->wide = dg_arena_array(arena, n + 1, sizeof *w->wide);
    w->used = dg_arena_array(arena, w->d->answer_len + 1, sizeof *w->used);
    if (!w->used || !w->aligned || !w->behind || !w->taken || !w->places || !w->wide)
        return false;
    for (uint32_t i = 0; i < w->answer.n; i++)
        w->taken[i] = NULL;
    memset(w->used, 0, w->d->answer_len + 1);
    return true;
}

bool dg_places_find(const struct dg_decoration *d, struct dg_arena *arena, struct dg_places *out)
{
    struct work w = {.d = d};
    if (!find_words(arena, d->text, d->len, &w.source) ||
        !find_words(arena, d->answer, d->answer_len, &w.answer) || !make_room(&w, arena))
        return false;
    align(&w);
    find_places(&w);
    nest(&w);
    separate(&w);
    *out = (struct dg_places){w.places, w.n_places};
    return true;
}
