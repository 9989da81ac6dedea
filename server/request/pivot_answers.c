#include "server/request/pivot_answers.h"

#include <stdlib.h>

static bool overlap(size_t a_begin, size_t a_end, size_t b_begin, size_t b_end)
{
    return a_begin < b_end && b_begin < a_end;
}

/* A sentence of the second hop covers the first hop's sentences whose answers it read: from the
 * first one's begin to the last one's end, with all their flags. Scores are log-probabilities: the
 * first hop's (mean over these sentences) is added to the second hop's. */
void dg_pivot_answers_sentence(const struct dg_answers *first, struct dg_answer_sentence *s)
{
    size_t begin = s->source_begin, end = s->source_end, n = 0;
    double score = 0;
    /* It describes the intermediate text, which the client did not write. */
    s->flags &= ~(unsigned)DG_FLAG_SOURCE_LANGUAGE_DOUBTFUL;
    for (size_t i = 0; i < first->n_sentences; i++) {
        const struct dg_answer_sentence *f = &first->sentences[i];
        if (!overlap(f->target_begin, f->target_end, begin, end))
            continue;
        if (n == 0 || f->source_begin < s->source_begin)
            s->source_begin = f->source_begin;
        if (n == 0 || f->source_end > s->source_end)
            s->source_end = f->source_end;
        s->flags |= f->flags;
        score += f->score;
        n++;
    }
    if (n > 0)
        s->score += score / (double)n;
    else
        s->source_begin = s->source_end = 0; /* it overlaps no answer: copied layout */
}

static bool same_pair(const struct dg_answer_pair *a, const struct dg_answer_pair *b)
{
    return a->source_begin == b->source_begin && a->source_end == b->source_end &&
           a->target_begin == b->target_begin && a->target_end == b->target_end;
}

/* The first hop's pairs by where their answer words begin. */
struct middle {
    /* [n] */
    struct by_target {
        const struct dg_answer_pair *pair;
        /* the largest target_end of this pair and those before it */
        size_t reach;
    } * order;
    size_t n;
    /* [n] what find() found */
    const struct dg_answer_pair **found;
};

static int by_target(const void *x, const void *y)
{
    const struct dg_answer_pair *a = ((const struct by_target *)x)->pair,
                                *b = ((const struct by_target *)y)->pair;
    if (a->target_begin != b->target_begin)
        return a->target_begin < b->target_begin ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* False: no memory. */
static bool open_middle(const struct dg_answers *first, struct dg_arena *arena, struct middle *m)
{
    size_t reach = 0;
    m->n = first->n_alignments;
    m->order = dg_arena_array(arena, m->n, sizeof *m->order);
    m->found = dg_arena_array(arena, m->n, sizeof *m->found);
    if (!m->order || !m->found)
        return false;
    for (size_t i = 0; i < m->n; i++)
        m->order[i].pair = &first->alignments[i];
    qsort(m->order, m->n, sizeof *m->order, by_target);
    for (size_t i = 0; i < m->n; i++) {
        const size_t end = m->order[i].pair->target_end;
        reach = end > reach ? end : reach;
        m->order[i].reach = reach;
    }
    return true;
}

/* Puts the pairs whose answer word overlaps begin..end into m->found, in the order of the first
 * hop's list; returns how many. */
static size_t find(struct middle *m, size_t begin, size_t end)
{
    size_t at = 0, after = m->n, n = 0;
    while (at < after) {
        const size_t mid = at + (after - at) / 2;
        if (m->order[mid].reach <= begin)
            at = mid + 1;
        else
            after = mid;
    }
    for (; at < m->n && m->order[at].pair->target_begin < end; at++) {
        const struct dg_answer_pair *pair = m->order[at].pair;
        if (!overlap(pair->target_begin, pair->target_end, begin, end))
            continue;
        size_t to = n++;
        for (; to > 0 && m->found[to - 1] > pair; to--)
            m->found[to] = m->found[to - 1];
        m->found[to] = pair;
    }
    return n;
}

/* Composes alignments: a target word is aligned with the source words of the intermediate words it
 * is aligned with. DG_ENOMEM. */
static int map_alignments(const struct dg_answers *first, struct dg_arena *arena,
    struct dg_answers *a, struct dg_error *err)
{
    const struct dg_answer_pair *second = a->alignments;
    struct dg_answer_pair *out = NULL;
    struct middle m;
    size_t most = 0, n = 0;
    bool ok = open_middle(first, arena, &m);
    for (size_t i = 0; ok && i < a->n_alignments; i++)
        most += find(&m, second[i].source_begin, second[i].source_end);
    if (!ok || !(out = dg_arena_array(arena, most, sizeof *out)))
        return dg_error_set(err, DG_ENOMEM, "no memory for an answer's alignments");
    for (size_t i = 0; i < a->n_alignments; i++) {
        const struct dg_answer_pair *b = &second[i];
        const size_t found = find(&m, b->source_begin, b->source_end);
        for (size_t k = 0; k < found; k++) {
            const struct dg_answer_pair pair = {
                m.found[k]->source_begin, m.found[k]->source_end, b->target_begin, b->target_end};
            if (n == 0 || !same_pair(&out[n - 1], &pair))
                out[n++] = pair;
        }
    }
    a->alignments = out;
    a->n_alignments = n;
    return DG_OK;
}

int dg_pivot_answers_map(const struct dg_answers *first, struct dg_arena *arena,
    struct dg_answers *a, struct dg_error *err)
{
    struct dg_answer_sentence *sentences = dg_arena_array(arena, a->n_sentences, sizeof *sentences);
    struct dg_answer *best = dg_arena_array(arena, a->n_best, sizeof *best);
    if (!sentences || !best)
        return dg_error_set(err, DG_ENOMEM, "no memory for an answer");
    int rc = map_alignments(first, arena, a, err);
    if (rc != DG_OK)
        return rc;
    a->flags = 0;
    for (size_t i = 0; i < a->n_sentences; i++) {
        sentences[i] = a->sentences[i];
        dg_pivot_answers_sentence(first, &sentences[i]);
        a->flags |= sentences[i].flags;
    }
    for (size_t i = 0; i < a->n_best; i++) { /* all of them share the first hop */
        best[i] = a->best[i];
        best[i].score += first->best[0].score;
    }
    a->sentences = sentences;
    a->best = best;
    a->source_characters = first->source_characters;
    a->source_tokens = first->source_tokens;
    return DG_OK;
}
