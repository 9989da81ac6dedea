#include "translate/layout/aligned_words.h"

#include "translate/layout/white_space.h"

static bool find_words(struct dg_arena *arena, const char *s, size_t n, struct dg_words *out)
{
    out->n = 0;
    out->list = dg_arena_array(arena, n / 2 + 1, sizeof *out->list);
    for (size_t at = 0; out->list && at < n;) {
        size_t end = at;
        while (end < n && dg_white_space(s[end]) == dg_white_space(s[at]))
            end++;
        if (!dg_white_space(s[at])) {
            out->list[out->n].begin = at;
            out->list[out->n++].end = end;
        }
        at = end;
    }
    return out->list != NULL;
}

bool dg_aligned_words_find(
    const struct dg_decoration *d, struct dg_arena *arena, struct dg_aligned_words *out)
{
    *out = (struct dg_aligned_words){.len = d->len ? d->len : 1};
    if (!find_words(arena, d->text, d->len, &out->source) ||
        !find_words(arena, d->answer, d->answer_len, &out->answer))
        return false;
    out->from = dg_arena_array(arena, out->answer.n + 1, sizeof *out->from);
    out->after = dg_arena_array(arena, out->source.n + 1, sizeof *out->after);
    if (!out->from || !out->after)
        return false;
    for (uint32_t i = 0; i < out->answer.n; i++)
        out->from[i] = DG_NO_WORD;
    /* A word of several tokens may have several pairs: the first decides where it came from. */
    for (size_t i = 0; i < d->n_pairs; i++) {
        const struct dg_word_pair *p = &d->pairs[i];
        if (p->target < out->answer.n && p->source < out->source.n &&
            out->from[p->target] == DG_NO_WORD)
            out->from[p->target] = p->source;
    }
    for (uint32_t i = 0; i < out->answer.n; i++)
        if (out->from[i] != DG_NO_WORD)
            out->after[out->from[i]] = i + 1;
    return true;
}

bool dg_words_overlap(const struct dg_words *w, uint32_t i, size_t begin, size_t end)
{
    return w->list[i].begin < end && w->list[i].end > begin;
}

void dg_words_range(
    const struct dg_words *w, size_t begin, size_t end, uint32_t *first, uint32_t *past)
{
    *first = *past = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        if (!dg_words_overlap(w, i, begin, end))
            continue;
        *first = *past ? *first : i;
        *past = i + 1;
    }
}

uint32_t dg_aligned_words_proportion(const struct dg_aligned_words *w, size_t at)
{
    size_t i = at * w->answer.n / w->len;
    return (uint32_t)(i < w->answer.n ? i : w->answer.n - 1);
}

double dg_aligned_words_misfit(
    const struct dg_aligned_words *w, const size_t bytes[2], uint32_t first, uint32_t past)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->source.n; i++)
        n += dg_words_overlap(&w->source, i, bytes[0], bytes[1]);
    double count = past - first, most = n ? n : 1;
    double there = (first + past) / 2.0 / w->answer.n;
    double here = (double)(bytes[0] + bytes[1]) / 2.0 / (double)w->len;
    return (count > most ? count - most : most - count) / most +
           (there > here ? there - here : here - there);
}
