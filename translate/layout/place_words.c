/* Finds the words of the answer that a place covers, by attention. */
#include "translate/layout/place.h"

#include <string.h>

static void keep(struct dg_placing *w, struct dg_span at)
{
    uint32_t first = 0, end = 0;
    if (at.begin < at.end)
        dg_words_range(&w->words.answer, at.begin, at.end, &first, &end);
    for (; first < end; first++)
        w->kept[first] = end;
}

void dg_place_find_kept(struct dg_placing *w)
{
    keep(w, (struct dg_span){0, w->d->given});
    for (size_t i = 0; i < w->d->n_kept; i++)
        keep(w, w->d->kept[i]);
}

/* True if the given bytes end within word i, and p's letters continue them: "Dvo" of "Dvořák". */
static bool continues(const struct dg_placing *w, const struct dg_place *p, uint32_t i)
{
    const struct dg_decoration *d = w->d;
    const size_t at = w->words.answer.list[i].begin;
    return at < d->given && d->given <= w->words.answer.list[i].end &&
           d->given - at <= p->text_end - p->text_begin &&
           memcmp(d->answer + at, d->text + p->text_begin, d->given - at) == 0;
}

/* True if p is a protected span and may not replace word i: another one does, or it is kept. */
static bool is_closed(const struct dg_placing *w, const struct dg_place *p, uint32_t i)
{
    return dg_place_is_protected(w, p) &&
           (w->replaced_by[i] || (w->kept[i] && !continues(w, p, i)));
}

/* True if a protected span within p replaces word i. */
static bool is_of_inner(const struct dg_placing *w, const struct dg_place *p, uint32_t i)
{
    const struct dg_place *span = w->replaced_by[i];
    return span && p->open < span->open && span->open < p->close;
}

bool dg_place_find_run(const struct dg_placing *w, struct dg_place *p)
{
    size_t begin = p->text_begin, end = p->text_end;
    double best = 0;
    bool any = false, running = false;
    uint32_t from = 0, to = 0;
    /* One step past the last word, which ends a run that reaches it. */
    for (uint32_t i = 0; i <= w->words.answer.n; i++) {
        const bool past = i == w->words.answer.n;
        uint32_t a = past || is_of_inner(w, p, i) ? DG_NO_WORD : w->words.from[i];
        const bool closed = !past && is_closed(w, p, i);
        bool inside = a != DG_NO_WORD && dg_words_overlap(&w->words.source, a, begin, end) &&
                      !w->replaced_by[i] && !closed;
        if (inside) {
            from = running ? from : i;
            to = i + 1;
            running = true;
        }
        /* A word aligned with nothing continues the run: articles and particles often have no
         * source. So does a protected span of p: p has words on both sides of it. */
        if (!running || inside || (a == DG_NO_WORD && !past && !closed))
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

/* The word number at which a place without words goes: after the word that came from the source
 * word before it. */
static uint32_t after_word(const struct dg_placing *w, size_t at)
{
    if (at == 0 || w->words.answer.n == 0)
        return 0;
    if (at >= w->d->len)
        return w->words.answer.n;
    /* Search back from the nearest word: one that the answer left out gives no position. */
    for (uint32_t s = w->words.source.n; s-- > 0;)
        if (w->words.source.list[s].begin < at && w->words.after[s])
            return w->words.after[s];
    /* Without any alignment only the relative position is left. */
    return w->d->n_pairs > 0 ? 0 : dg_aligned_words_proportion(&w->words, at);
}

uint32_t dg_place_after_word(const struct dg_placing *w, const struct dg_place *p)
{
    const uint32_t at = after_word(w, p->text_begin);
    uint32_t end = at > 0 ? w->kept[at - 1] : 0;
    if (at == 0 && w->d->given > 0)
        end = w->kept[0];
    return dg_place_is_protected(w, p) && end > at ? end : at;
}
