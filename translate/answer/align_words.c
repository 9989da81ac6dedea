/* Merges the tokens' alignment into word pairs (contract: pairs of code-point spans). A word is a
 * run without white space. Words are counted in the normalised sentence, and the n-th word there is
 * the n-th of the sentence as it was sent: NFC joins letters, never words. */
#include "text/utf8.h"
#include "translate/answer/answer.h"
#include "translate/layout/white_space.h"

#include <string.h>

/* Words of a part of the text: their bytes within the part and their code points in the whole
 * text. */
struct words {
    struct word {
        /* bytes */
        size_t begin, end;
        /* code points, counted from `first_char` */
        size_t begin_char, end_char;
    } * list;
    size_t n;
};

static int find_words(struct dg_job *j, const char *s, size_t n, size_t first_char,
    struct words *out, struct dg_error *err)
{
    size_t at = 0, chars = first_char;
    out->n = 0;
    out->list = dg_arena_array(&j->arena, n / 2 + 1, sizeof *out->list);
    if (!out->list)
        return DG_JOB_NO_MEMORY(err);
    while (at < n) {
        size_t end = at;
        while (end < n && dg_white_space(s[end]) == dg_white_space(s[at]))
            end++;
        size_t end_char = chars + dg_utf8_count(s + at, end - at);
        if (!dg_white_space(s[at]))
            out->list[out->n++] = (struct word){at, end, chars, end_char};
        at = end;
        chars = end_char;
    }
    return 0;
}

/* The word that holds the last byte of begin..end that is not white space; n when there is none. */
static size_t word_at(const struct words *w, const char *s, size_t begin, size_t end)
{
    while (end > begin && dg_white_space(s[end - 1]))
        end--;
    if (end == begin)
        return w->n;
    size_t lo = 0, hi = w->n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (w->list[mid].end < end)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Add a pair unless the answer word has it already: pairs of one word are adjacent. */
static void add_pair(struct dg_word_pairs *to, struct dg_word_pair pair)
{
    for (size_t i = to->n; i > 0 && to->list[i - 1].target == pair.target; i--)
        if (to->list[i - 1].source == pair.source)
            return;
    to->list[to->n++] = pair;
}

int dg_part_word_pairs(struct dg_job *j, const struct dg_part *p, const char *s, size_t n,
    size_t base, struct dg_word_pairs *out, struct dg_error *err)
{
    struct words normalised, answer;
    int rc = find_words(j, p->text, strlen(p->text), 0, &normalised, err);
    if (!rc)
        rc = find_words(j, s, n, 0, &answer, err);
    *out = (struct dg_word_pairs){dg_arena_array(&j->arena, p->n_ends, sizeof *out->list), 0};
    if (rc || !out->list)
        return rc ? rc : DG_JOB_NO_MEMORY(err);
    size_t from = 0;
    for (uint32_t t = 0; t < p->n_ends; from = p->ends[t++] - base) {
        const struct dg_token *source = dg_part_source_of(p, t);
        if (!source)
            continue;
        size_t a = word_at(&answer, s, from, p->ends[t] - base);
        size_t w = word_at(&normalised, p->text, source->begin, source->end);
        if (a < answer.n && w < normalised.n)
            add_pair(out, (struct dg_word_pair){(uint32_t)w, (uint32_t)a});
    }
    return 0;
}

struct found {
    /* [n] */
    struct dg_answer_pair *list;
    size_t n;
};

/* Words of the sentence as it was sent, in code points of the whole text. */
static int find_source_words(struct dg_job *j, const struct dg_part *p, size_t first_char,
    struct words *out, struct dg_error *err)
{
    const char *s = j->text + p->begin;
    if (!p->shown.text)
        return find_words(j, s, p->end - p->begin, first_char, out, err);
    int rc = find_words(j, p->shown.text, p->shown.len, 0, out, err);
    for (size_t i = 0; !rc && i < out->n; i++) {
        struct word *w = &out->list[i];
        size_t begin = dg_shown_source(&p->shown, p->begin, w->begin, true) - p->begin;
        size_t end = dg_shown_source(&p->shown, p->begin, w->end, false) - p->begin;
        w->begin_char = first_char + dg_utf8_count(s, begin);
        w->end_char = first_char + dg_utf8_count(s, end > begin ? end : begin);
    }
    return rc;
}

/* Adds the pairs of a part's words to `out`. where: the part's bytes in the target; at: its
 * characters in both. */
static int align_words(struct dg_job *j, const struct dg_part *p, const char *target,
    const struct dg_span *where, const struct dg_answer_sentence *at, struct found *out,
    struct dg_error *err)
{
    struct words sent, answer;
    struct dg_word_pairs pairs;
    const char *s = target + where->begin;
    const size_t len = where->end - where->begin;
    int rc = find_source_words(j, p, at->source_begin, &sent, err);
    if (!rc)
        rc = find_words(j, s, len, at->target_begin, &answer, err);
    if (!rc)
        rc = dg_part_word_pairs(j, p, s, len, where->begin, &pairs, err);
    for (size_t i = 0; !rc && i < pairs.n; i++) {
        if (pairs.list[i].source >= sent.n)
            continue;
        const struct word *from = &sent.list[pairs.list[i].source],
                          *to = &answer.list[pairs.list[i].target];
        out->list[out->n++] =
            (struct dg_answer_pair){from->begin_char, from->end_char, to->begin_char, to->end_char};
    }
    return rc;
}

static void align_tokens(const struct dg_part *p, struct found *out)
{
    for (uint32_t t = 0; t < p->n_ends; t++) {
        const struct dg_token *source = dg_part_source_of(p, t);
        if (source) {
            size_t s = (size_t)(source - p->tokens);
            out->list[out->n++] = (struct dg_answer_pair){s, s + 1, t, t + 1};
        }
    }
}

int dg_job_align(struct dg_job *j, const char *target, const struct dg_span *where,
    const struct dg_answer_sentence *sentences, struct dg_answers *out, struct dg_error *err)
{
    size_t most = 0;
    for (size_t i = 0; i < j->n_parts; i++)
        most += j->parts[i].n_ends;
    struct found found = {dg_arena_array(&j->arena, most, sizeof *found.list), 0};
    if (!found.list)
        return DG_JOB_NO_MEMORY(err);
    for (size_t i = 0; i < j->n_parts; i++) {
        const struct dg_part *p = &j->parts[i];
        if (j->options.tokens) {
            align_tokens(p, &found);
        } else if (p->n_ends) {
            int rc = align_words(j, p, target, &where[i], &sentences[i], &found, err);
            if (rc)
                return rc;
        }
    }
    out->alignments = found.list;
    out->n_alignments = found.n;
    return 0;
}
