/* Maps answers of a second hop to the text that the first one read. Pure. */
#include "server/request/pivot_answers.h"

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

/* Composes alignments: a target word is aligned with the source words of the intermediate words it
 * is aligned with. out NULL: only returns how many pairs there are at most. */
static size_t map_alignments(const struct dg_answers *first, const struct dg_answers *second,
    struct dg_answer_pair *out, size_t cap)
{
    size_t n = 0;
    for (size_t i = 0; i < second->n_alignments; i++) {
        const struct dg_answer_pair *b = &second->alignments[i];
        for (size_t j = 0; j < first->n_alignments; j++) {
            const struct dg_answer_pair *a = &first->alignments[j];
            if (!overlap(a->target_begin, a->target_end, b->source_begin, b->source_end))
                continue;
            struct dg_answer_pair pair = {
                a->source_begin, a->source_end, b->target_begin, b->target_end};
            if (out && n > 0 && n <= cap && same_pair(&out[n - 1], &pair))
                continue;
            if (out && n < cap)
                out[n] = pair;
            n++;
        }
    }
    return n;
}

int dg_pivot_answers_map(const struct dg_answers *first, struct dg_arena *arena,
    struct dg_answers *a, struct dg_error *err)
{
    size_t n_pairs = map_alignments(first, a, NULL, 0);
    struct dg_answer_sentence *sentences = dg_arena_array(arena, a->n_sentences, sizeof *sentences);
    struct dg_answer_pair *pairs = dg_arena_array(arena, n_pairs, sizeof *pairs);
    struct dg_answer *best = dg_arena_array(arena, a->n_best, sizeof *best);
    if (!sentences || !pairs || !best)
        return dg_error_set(err, DG_ENOMEM, "no memory for an answer");
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
    a->n_alignments = map_alignments(first, a, pairs, n_pairs);
    a->alignments = pairs;
    a->sentences = sentences;
    a->best = best;
    a->source_characters = first->source_characters;
    a->source_tokens = first->source_tokens;
    return DG_OK;
}
