/* Joins the parts' answers to the answer of the text, with the gaps between them restored (hop 11
 * of ARCHITECTURE.md), or writes one of them before the others are there. One thread at a time per
 * job. */
#include "base/buffer.h"
#include "text/utf8.h"
#include "translate/answer/answer.h"

#include <string.h>

/* Write all parts' answers of this rank, with the text between the parts kept. where (optional,
 * [n_parts]) gets each part's bytes in the target. */
static int join(struct dg_job *j, uint32_t rank, struct dg_buffer *out, struct dg_span *where,
    struct dg_error *err)
{
    size_t at = 0;
    for (size_t i = 0; i < j->n_parts; i++) {
        struct dg_part *p = &j->parts[i];
        dg_buffer_add(out, j->text + at, p->begin - at);
        at = p->end;
        if (where)
            where[i].begin = out->len;
        int rc = dg_part_answer(j, p, rank, out, err);
        if (rc)
            return rc;
        if (where)
            where[i].end = out->len;
    }
    dg_buffer_add(out, j->text + at, j->len - at);
    return out->failed ? DG_JOB_NO_MEMORY(err) : 0;
}

/* Write the sign that was taken out of the text into its answer, and move where[n_parts] (optional)
 * along. */
static int put_key_sign(
    struct dg_job *j, struct dg_buffer *text, struct dg_span *where, struct dg_error *err)
{
    struct dg_buffer out;
    size_t at;
    if (j->key_sign.n == 0)
        return 0;
    dg_buffer_init(&out);
    dg_key_sign_put(
        &j->key_sign, j->text, j->len, text->data ? text->data : "", text->len, &out, &at);
    const size_t more = out.len - text->len;
    for (size_t i = 0; where && i < j->n_parts; i++) {
        where[i].begin += where[i].begin > at ? more : 0;
        where[i].end += where[i].end > at ? more : 0;
    }
    dg_buffer_deinit(text);
    *text = out;
    return out.failed ? DG_JOB_NO_MEMORY(err) : 0;
}

static double mean_score(const struct dg_job *j, uint32_t rank)
{
    double sum = 0;
    for (size_t i = 0; i < j->n_sentences; i++) {
        const struct dg_part *p = &j->parts[j->sentences[i]];
        sum += p->hyps[rank < p->n_hyps ? rank : p->n_hyps - 1].score;
    }
    return j->n_sentences ? sum / (double)j->n_sentences : 0;
}

/* Count every part's span in the source in code points, once a job. */
static int count_spans(struct dg_job *j, struct dg_error *err)
{
    if (j->spans)
        return 0;
    struct dg_span *spans = dg_arena_array(&j->arena, j->n_parts, sizeof *spans);
    if (!spans)
        return DG_JOB_NO_MEMORY(err);
    size_t byte = 0, character = 0;
    for (size_t i = 0; i < j->n_parts; i++) {
        const struct dg_part *p = &j->parts[i];
        spans[i].begin = character + dg_utf8_count(j->text + byte, p->begin - byte);
        spans[i].end = spans[i].begin + dg_utf8_count(j->text + p->begin, p->end - p->begin);
        byte = p->end;
        character = spans[i].end;
    }
    j->spans = spans;
    return 0;
}

/* Fill in all sentences of the best answer, whose parts are at where[n_parts] of the target. */
static void fill_sentences(const struct dg_job *j, const char *target, const struct dg_span *where,
    struct dg_answer_sentence *out)
{
    size_t byte = 0, character = 0;
    for (size_t i = 0; i < j->n_parts; i++) {
        const struct dg_part *p = &j->parts[i];
        const size_t begin = character + dg_utf8_count(target + byte, where[i].begin - byte);
        byte = where[i].end;
        character = begin + dg_utf8_count(target + where[i].begin, byte - where[i].begin);
        out[i] = (struct dg_answer_sentence){.source_begin = j->spans[i].begin,
            .source_end = j->spans[i].end,
            .target_begin = begin,
            .target_end = character,
            .score = p->copied ? 0 : p->hyps[0].score,
            .confidence = p->copied ? 0 : dg_part_confidence(&p->hyps[0]),
            .flags = p->flags};
    }
}

static uint32_t ranks(const struct dg_job *j)
{
    uint32_t n = 1;
    for (size_t i = 0; i < j->n_sentences; i++)
        if (j->parts[j->sentences[i]].n_hyps > n)
            n = j->parts[j->sentences[i]].n_hyps;
    return n;
}

static void count_usage(const struct dg_job *j, struct dg_answers *out)
{
    out->source_characters = dg_utf8_count(j->text, j->len);
    for (size_t i = 0; i < j->n_parts + j->n_inner; i++) {
        const struct dg_part *p = &j->parts[i];
        out->flags |= p->flags;
        if (p->copied)
            continue;
        out->source_tokens += p->n_ids;
        out->target_tokens += p->hyps[0].n;
    }
    for (size_t i = 0; i < j->n_sentences; i++) {
        uint32_t in, most;
        dg_job_cost(j, i, &in, &most);
        out->steps += j->parts[j->sentences[i]].steps;
        out->most_steps += most;
    }
}

/* True if one of best[n] has this text: different tokens may become the same text when numbers,
 * capitals and marks are written. Answers as tokens always differ. */
static bool is_listed(
    const struct dg_job *j, const struct dg_answer *best, uint32_t n, const struct dg_buffer *text)
{
    for (uint32_t i = 0; i < n && !j->options.tokens; i++)
        if (best[i].len == text->len &&
            (text->len == 0 || memcmp(best[i].text, text->data, text->len) == 0))
            return true;
    return false;
}

int dg_job_finish(struct dg_job *j, struct dg_answers *out, struct dg_error *err)
{
    memset(out, 0, sizeof *out);
    if (j->n_accepted != j->n_sentences)
        return dg_error_set(
            err, DG_EINTERNAL, "%zu of %zu sentences were accepted", j->n_accepted, j->n_sentences);
    const uint32_t n_ranks = ranks(j);
    uint32_t n_best = 0;
    struct dg_answer *best = dg_arena_array(&j->arena, n_ranks, sizeof *best);
    struct dg_span *where = dg_arena_array(&j->arena, j->n_parts, sizeof *where);
    struct dg_answer_sentence *sentences = dg_arena_array(&j->arena, j->n_parts, sizeof *sentences);
    struct dg_buffer text;
    int rc = 0;
    dg_buffer_init(&text);
    if (!best || !where || !sentences)
        rc = DG_JOB_NO_MEMORY(err);
    if (!rc)
        rc = count_spans(j, err);
    for (uint32_t r = 0; r < n_ranks && !rc; r++) {
        dg_buffer_reset(&text);
        if ((rc = join(j, r, &text, r ? NULL : where, err)) ||
            (rc = put_key_sign(j, &text, r ? NULL : where, err)))
            break;
        if (is_listed(j, best, n_best, &text))
            continue;
        char *copy = dg_arena_strndup(&j->arena, text.data ? text.data : "", text.len);
        if (!copy)
            rc = DG_JOB_NO_MEMORY(err);
        best[n_best++] = (struct dg_answer){copy, text.len, mean_score(j, r)};
        /* Before the next answer is joined: a sentence with fewer answers is in that one, too,
         * where its words have other places. */
        if (r == 0 && !rc) {
            fill_sentences(j, copy, where, sentences);
            rc = j->options.alignments ? dg_job_align(j, copy, where, sentences, out, err) : 0;
        }
    }
    dg_buffer_deinit(&text);
    if (rc)
        return rc;
    out->best = best;
    out->n_best = n_best;
    out->sentences = sentences;
    out->n_sentences = j->n_parts;
    count_usage(j, out);
    return 0;
}

static bool is_accepted(const struct dg_part *p)
{
    return p->copied || p->hyps;
}

int dg_job_finish_part(
    struct dg_job *j, size_t i, struct dg_finished_part *out, struct dg_error *err)
{
    struct dg_part *p = &j->parts[i];
    struct dg_buffer text;
    if (!is_accepted(p))
        return DG_EAGAIN;
    for (size_t k = p->inner; k < p->inner + p->n_inner; k++)
        if (!is_accepted(&j->parts[k]))
            return DG_EAGAIN;
    int rc = count_spans(j, err);
    if (rc)
        return rc;
    dg_buffer_init(&text);
    rc = dg_part_answer(j, p, 0, &text, err);
    const char *copy = rc || text.failed
                           ? NULL
                           : dg_arena_strndup(&j->arena, text.data ? text.data : "", text.len);
    if (!rc && !copy)
        rc = DG_JOB_NO_MEMORY(err);
    if (!rc)
        *out = (struct dg_finished_part){.text = copy,
            .len = text.len,
            .characters = dg_utf8_count(copy, text.len),
            .source_begin = j->spans[i].begin,
            .source_end = j->spans[i].end,
            .score = p->copied ? 0 : p->hyps[0].score,
            .confidence = p->copied ? 0 : dg_part_confidence(&p->hyps[0]),
            .flags = p->flags};
    dg_buffer_deinit(&text);
    return rc;
}

int dg_job_finish_score(struct dg_job *j, struct dg_scored *out, struct dg_error *err)
{
    memset(out, 0, sizeof *out);
    if (!j->n_forced || j->n_accepted != 1)
        return dg_error_set(err, DG_EINTERNAL, "not a finished scoring job");
    const struct dg_part_hyp *h = j->parts[j->sentences[0]].hyps;
    const char **tokens = dg_arena_array(&j->arena, h->n, sizeof *tokens);
    if (!tokens)
        return DG_JOB_NO_MEMORY(err);
    for (uint32_t i = 0; i < h->n; i++)
        tokens[i] = dg_tokenizer_piece(j->t->target, h->ids[i]);
    *out = (struct dg_scored){
        .total = h->logprob, .n = h->n, .tokens = tokens, .logprob = h->token_logprob};
    return 0;
}

const char *dg_flag_name(unsigned bit)
{
    switch (bit) {
    case DG_FLAG_LENGTH_LIMITED: return "length_limited";
    case DG_FLAG_SPLIT: return "split";
    case DG_FLAG_UNK_COPIED: return "unk_copied";
    case DG_FLAG_REPETITION: return "repetition";
    case DG_FLAG_LOW_CONFIDENCE: return "low_confidence";
    case DG_FLAG_NUMBER_MISMATCH: return "number_mismatch";
    case DG_FLAG_SOURCE_LANGUAGE_DOUBTFUL: return "source_language_doubtful";
    case DG_FLAG_SAME_LANGUAGE: return "same_language";
    case DG_FLAG_WORD_COPIED: return "word_copied";
    case DG_FLAG_CHARACTER_LOST: return "character_lost";
    case DG_FLAG_MARKUP_IN_TEXT: return "markup_in_text";
    case DG_FLAG_GLOSSARY_MISSED: return "glossary_missed";
    case DG_FLAG_FROM_MEMORY: return "from_memory";
    default: return "";
    }
}

void dg_job_tokens(const struct dg_job *j, size_t *source_tokens, size_t *target_tokens)
{
    *source_tokens = *target_tokens = 0;
    for (size_t i = 0; i < j->n_parts; i++) {
        const struct dg_part *p = &j->parts[i];
        *source_tokens += i == 0 || !j->n_alternatives ? p->n_ids : 0;
        *target_tokens += j->n_forced ? j->n_forced : p->n_hyps ? p->hyps[0].n : 0;
    }
}
