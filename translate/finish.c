/* Ids -> text, gaps put back (hop 10 of ARCHITECTURE.md). */
#include "base/buffer.h"
#include "text/detect/detect.h"
#include "text/numbers.h"
#include "text/utf8.h"
#include "translate/capitals.h"
#include "translate/copied.h"
#include "translate/job_internal.h"
#include "translate/loops.h"
#include "translate/stray.h"

#include <stdlib.h>
#include <string.h>

/* Is the answer caught in a loop, and this was the first round? Then there is a second, with a
 * block that ends it. */
static bool needs_block(const struct dg_job *j, struct dg_part *p, const struct dg_hypothesis *h)
{
    struct dg_loop loop;
    if (p->block || j->forced || j->options.pieces || j->options.keep_loops ||
        !dg_loop_in_answer(p->ids, p->n_ids, h->ids, h->n, &loop))
        return false;
    p->block = dg_loop_block_order(&loop);
    p->flags |= DG_FLAG_REPETITION;
    return true;
}

/* Is the answer </s> alone, which short answers' better scores bring about? Nobody wants nothing:
 * the second round may not end at once. */
static bool needs_a_piece(const struct dg_job *j, struct dg_part *p, const struct dg_hypothesis *h)
{
    if (p->not_empty || j->forced || j->options.pieces || j->options.keep_loops || h->n != 1 ||
        h->ids[0] != dg_model_config(j->t->model)->eos)
        return false;
    p->not_empty = true;
    p->flags |= DG_FLAG_LOW_CONFIDENCE;
    return true;
}

/* No candidate was possible: a target that is given has a piece at -inf, as models have that never
 * say it; else weights are broken. */
static int tell_impossible(const struct dg_job *j, struct dg_error *err)
{
    const char *field = j->forced ? "translation" : j->prefix.n ? "target_prefix" : NULL;
    if (field)
        return dg_error_field(
            err, DG_EINVAL, field, "%s contains a token that this model cannot generate", field);
    return dg_error_set(err, DG_EINTERNAL, "the search ended without a hypothesis");
}

/* A copy of the engine's answer, in the job's arena. */
static struct dg_part_hyp *copy_hyps(struct dg_job *j, const struct dg_result *r)
{
    struct dg_part_hyp *hyps = dg_arena_array(&j->arena, r->n_hyps, sizeof *hyps);
    for (uint32_t h = 0; hyps && h < r->n_hyps; h++) {
        const struct dg_hypothesis *from = &r->hyps[h];
        hyps[h] = (struct dg_part_hyp){.n = from->n,
            .logprob = from->logprob,
            .score = from->score,
            .length_limited = from->length_limited};
        hyps[h].ids = dg_arena_array(&j->arena, from->n, sizeof *from->ids);
        hyps[h].token_logprob = dg_arena_array(&j->arena, from->n, sizeof *from->token_logprob);
        if (!hyps[h].ids || !hyps[h].token_logprob)
            return NULL;
        memcpy(hyps[h].ids, from->ids, from->n * sizeof *from->ids);
        memcpy(hyps[h].token_logprob, from->token_logprob, from->n * sizeof *from->token_logprob);
    }
    return hyps;
}

/* Where the pieces of the best answer came from, when the engine says so. */
static int keep_alignment(
    struct dg_job *j, struct dg_part *p, const struct dg_result *r, struct dg_error *err)
{
    if (!r->alignment || !r->n_hyps)
        return 0;
    uint32_t n = r->hyps[0].n;
    p->alignment = dg_arena_array(&j->arena, n, sizeof *p->alignment);
    if (!p->alignment)
        return DG_JOB_NO_MEMORY(err);
    memcpy(p->alignment, r->alignment, n * sizeof *p->alignment);
    if ((j->options.alignments || p->n_marks) &&
        !(p->ends = dg_arena_array(&j->arena, n, sizeof *p->ends)))
        return DG_JOB_NO_MEMORY(err);
    return 0;
}

int dg_job_accept(struct dg_job *j, size_t i, const struct dg_result *r, struct dg_error *err)
{
    struct dg_part *p = &j->parts[j->sentences[i]];
    /* There need not be as many ways to go on as were asked for. */
    if (!r->n_hyps && !j->n_alternatives && !p->first_hyps)
        return tell_impossible(j, err);
    bool again = r->n_hyps && (needs_block(j, p, &r->hyps[0]) || needs_a_piece(j, p, &r->hyps[0]));
    struct dg_part_hyp *hyps = copy_hyps(j, r);
    int rc = hyps ? keep_alignment(j, p, r, err) : DG_JOB_NO_MEMORY(err);
    if (rc)
        return rc;
    if (again) {
        p->first_hyps = hyps;
        p->n_first_hyps = r->n_hyps;
        return DG_EAGAIN;
    }
    bool none = !r->n_hyps && p->first_hyps; /* the prefix may leave a second round no way */
    p->hyps = none ? p->first_hyps : hyps;
    p->n_hyps = none ? p->n_first_hyps : r->n_hyps;
    j->n_accepted++;
    return 0;
}

static bool is_blank(char c)
{
    return c == ' ';
}

/* Put token `src` of text in the place of an unknown piece, spaced as it was there. */
static void copy_token(const char *text, const struct dg_token *src, struct dg_buffer *out,
    size_t from, bool blank_follows)
{
    size_t begin = src->begin, end = src->end;
    while (begin < end && is_blank(text[begin]))
        begin++;
    bool before = begin > 0 && is_blank(text[begin - 1]);
    bool after = is_blank(text[end]);
    if (before && out->len > from && !is_blank(out->data[out->len - 1]))
        dg_buffer_add(out, " ", 1);
    dg_buffer_add(out, text + begin, end - begin);
    if (after && !blank_follows)
        dg_buffer_add(out, " ", 1);
}

const struct dg_token *dg_part_source_of(const struct dg_part *p, uint32_t at)
{
    /* ids = tag? tokens </s>?: the tag, when there is one, is the id in front of the tokens. */
    uint32_t first = p->tagged ? 1 : 0;
    if (!p->alignment || p->alignment[at] < (int32_t)first)
        return NULL;
    size_t i = (size_t)p->alignment[at] - first;
    return i < p->n_tokens ? &p->tokens[i] : NULL;
}

/* What stands for unknown piece `at`: the token it was aligned with; for answers below the best,
 * which have no alignment, the next source token that the vocabulary does not know. */
static const struct dg_token *source_of_unknown(const struct dg_part *p,
    const struct dg_part_hyp *h, uint32_t at, int32_t source_unk, size_t *next)
{
    const struct dg_token *t = h == p->hyps ? dg_part_source_of(p, at) : NULL;
    if (t)
        return t;
    while (*next < p->n_tokens && p->tokens[*next].id != source_unk)
        (*next)++;
    return *next < p->n_tokens ? &p->tokens[(*next)++] : NULL;
}

/* Remember where piece i of the best answer ends, for its alignment. */
static void note_end(struct dg_part *p, const struct dg_part_hyp *h, uint32_t i, size_t end)
{
    if (p->ends && h == p->hyps) {
        p->ends[i] = end;
        p->n_ends = i + 1;
    }
}

/* What the answer for p has to begin with; empty for all but the first sentence. */
static const struct dg_prefix *prefix_of(const struct dg_job *j, const struct dg_part *p)
{
    static const struct dg_prefix none;
    return j->n_alternatives || (j->n_sentences && p == &j->parts[j->sentences[0]]) ? &j->prefix
                                                                                    : &none;
}

/* Decoded text with each unknown piece replaced by text of the source. One for which the source has
 * none is left out: "⁇" is never shown. */
static bool fill_unknown(const struct dg_job *j, struct dg_part *p, const struct dg_part_hyp *h,
    uint32_t n, const char *text, size_t len, const struct dg_token *spans, struct dg_buffer *out)
{
    int32_t unk = dg_tokenizer_unk(j->t->target), source_unk = dg_tokenizer_unk(j->t->source);
    size_t at = 0, next = 0, from = out->len;
    bool any = false;
    const struct dg_prefix *prefix = prefix_of(j, p);
    for (uint32_t i = 0; i < n; i++) {
        if (h->ids[i] != unk) {
            note_end(p, h, i, out->len + (spans[i].end > at ? spans[i].end - at : 0));
            continue;
        }
        /* The blanks around one unknown sign may have been passed over already. */
        size_t begin = spans[i].begin > at ? spans[i].begin : at,
               end = spans[i].end > at ? spans[i].end : at;
        bool given = i < prefix->n && prefix->text; /* it is the prefix's own, not the source's */
        const struct dg_token *source =
            given ? &prefix->tokens[i] : source_of_unknown(p, h, i, source_unk, &next);
        any = any || !given;
        dg_buffer_add(out, text + at, begin - at);
        at = end;
        if (source) {
            while (at < len && is_blank(text[at]) && end > begin && is_blank(text[end - 1]))
                at++;
            copy_token(
                given ? prefix->text : p->text, source, out, from, at >= len || is_blank(text[at]));
        } else if (at < len && !is_blank(text[at]) && out->len > from &&
                   !is_blank(out->data[out->len - 1])) {
            dg_buffer_add(out, " ", 1);
        }
        note_end(p, h, i, out->len);
    }
    dg_buffer_add(out, text + at, len - at);
    return any;
}

static int add_text(struct dg_job *j, struct dg_part *p, const struct dg_part_hyp *h,
    struct dg_buffer *out, struct dg_error *err)
{
    const struct dg_tokenizer *t = j->t->target;
    const struct dg_config *c = dg_model_config(j->t->model);
    uint32_t n = h->n && h->ids[h->n - 1] == c->eos ? h->n - 1 : h->n;
    size_t from = out->len;
    struct dg_token *spans = malloc((n ? n : 1) * sizeof *spans);
    char *text = NULL;
    size_t len;
    if (!spans)
        return DG_JOB_NO_MEMORY(err);
    int rc = dg_tokenizer_decode(t, h->ids, n, &text, &len, spans, err);
    if (!rc && fill_unknown(j, p, h, n, text, len, spans, out) &&
        h == p->hyps) /* flags tell of the best answer */
        p->flags |= DG_FLAG_UNK_COPIED;
    size_t n_ends = p->ends && h == p->hyps ? p->n_ends : 0;
    const char *const allowed[2] = {p->text, prefix_of(j, p)->text};
    if (!rc && p->text && !out->failed && dg_stray_drop(allowed, out, from, p->ends, n_ends) &&
        h == p->hyps)
        p->flags |= DG_FLAG_CHARACTER_LOST;
    if (!rc && p->capitals && !out->failed)
        rc = dg_capitals_write(j->target_language, out, from, p->ends, n_ends, err);
    free(text);
    free(spans);
    return rc;
}

int dg_part_write_source(struct dg_job *j, const struct dg_part *p, const size_t bytes[2],
    uint32_t rank, struct dg_buffer *out, struct dg_error *err)
{
    size_t at = bytes[0];
    for (size_t i = p->inner; i < p->inner + p->n_inner; i++) {
        struct dg_part *inner = &j->parts[i];
        if (inner->begin < at || inner->end > bytes[1])
            continue;
        dg_buffer_add(out, j->text + at, inner->begin - at);
        int rc = dg_part_answer(j, inner, rank, out, err);
        if (rc)
            return rc;
        at = inner->end;
    }
    dg_buffer_add(out, j->text + at, bytes[1] - at);
    return 0;
}

/* What is written for each of p's marks: its bytes, with what is translated in them. */
static int mark_bytes(struct dg_job *j, const struct dg_part *p, uint32_t rank,
    const struct dg_mark_bytes **out, struct dg_error *err)
{
    struct dg_mark_bytes *list = dg_arena_array(&j->arena, p->n_marks, sizeof *list);
    struct dg_buffer bytes;
    int rc = list ? 0 : DG_JOB_NO_MEMORY(err);
    dg_buffer_init(&bytes);
    for (size_t i = 0; i < p->n_marks && !rc; i++) {
        const struct dg_mark *m = &p->marks[i];
        list[i] = (struct dg_mark_bytes){j->text + m->begin, m->end - m->begin};
        if (!p->n_inner)
            continue;
        dg_buffer_reset(&bytes);
        rc = dg_part_write_source(j, p, (size_t[2]){m->begin, m->end}, rank, &bytes, err);
        char *copy = dg_arena_strndup(&j->arena, bytes.data ? bytes.data : "", bytes.len);
        if (!rc && (bytes.failed || !copy))
            rc = DG_JOB_NO_MEMORY(err);
        list[i] = (struct dg_mark_bytes){copy, bytes.len};
    }
    dg_buffer_deinit(&bytes);
    *out = list;
    return rc;
}

/* The answer with the sentence's marks and line ends around it; p->ends move along. */
static int add_decorated(struct dg_job *j, struct dg_part *p, const struct dg_part_hyp *h,
    struct dg_buffer *out, struct dg_error *err)
{
    const struct dg_mark_bytes *bytes = NULL;
    struct dg_buffer plain;
    struct dg_word_pair *pairs = NULL;
    size_t n_pairs = 0, base = out->len;
    dg_buffer_init(&plain);
    bool aligned = h == p->hyps && p->ends;
    int rc = add_text(j, p, h, &plain, err);
    if (!rc && aligned)
        rc = dg_part_word_pairs(
            j, p, plain.data ? plain.data : "", plain.len, 0, &pairs, &n_pairs, err);
    size_t *shift = aligned ? dg_arena_array(&j->arena, plain.len + 1, sizeof *shift) : NULL;
    if (!rc)
        rc = mark_bytes(j, p, (uint32_t)(h - p->hyps), &bytes, err);
    struct dg_decoration d = {.bytes = bytes,
        .text = p->shown,
        .len = p->shown_len,
        .marks = p->marks,
        .n = p->n_marks,
        .answer = plain.data ? plain.data : "",
        .answer_len = plain.len,
        .pairs = pairs,
        .n_pairs = n_pairs};
    if (!rc && (plain.failed || (aligned && !shift) || !dg_decorate(&d, &j->arena, out, shift)))
        rc = DG_JOB_NO_MEMORY(err);
    for (uint32_t i = 0; !rc && aligned && i < p->n_ends; i++)
        p->ends[i] = base + shift[p->ends[i]];
    dg_buffer_deinit(&plain);
    return rc;
}

int dg_part_write(struct dg_job *j, struct dg_part *p, const struct dg_part_hyp *h,
    struct dg_buffer *out, struct dg_error *err)
{
    return p->n_marks ? add_decorated(j, p, h, out, err) : add_text(j, p, h, out, err);
}

static void add_pieces(
    struct dg_job *j, struct dg_part *p, const struct dg_part_hyp *h, struct dg_buffer *out)
{
    const struct dg_config *c = dg_model_config(j->t->model);
    for (uint32_t i = 0; i < h->n && h->ids[i] != c->eos; i++) {
        if (i)
            dg_buffer_add(out, " ", 1);
        dg_buffer_adds(out, dg_tokenizer_piece(j->t->target, h->ids[i]));
        note_end(p, h, i, out->len);
    }
}

/* Mean log-probability of its pieces; 0 where there are none. */
static double confidence_of(const struct dg_part_hyp *h)
{
    return h->n ? h->logprob / h->n : 0;
}

static unsigned flags_of(
    const struct dg_job *j, const struct dg_part *p, const struct dg_part_hyp *h)
{
    unsigned flags = h->length_limited ? DG_FLAG_LENGTH_LIMITED : 0;
    if (confidence_of(h) < (double)dg_model_config(j->t->model)->low_confidence)
        flags |= DG_FLAG_LOW_CONFIDENCE;
    if (dg_detect_contradicts(j->language, j->text + p->begin, p->end - p->begin))
        flags |= DG_FLAG_SOURCE_LANGUAGE_DOUBTFUL;
    return flags;
}

int dg_part_answer(
    struct dg_job *j, struct dg_part *p, uint32_t rank, struct dg_buffer *out, struct dg_error *err)
{
    if (p->copied)
        return dg_part_write_source(j, p, (size_t[2]){p->begin, p->end}, rank, out, err);
    const struct dg_part_hyp *h = &p->hyps[rank < p->n_hyps ? rank : p->n_hyps - 1];
    if (rank == 0)
        p->flags |= flags_of(j, p, h);
    if (j->options.pieces) {
        add_pieces(j, p, h, out);
        return 0;
    }
    size_t from = out->len;
    int rc = dg_part_write(j, p, h, out, err);
    if (!rc && rank == 0 && out->len > from &&
        !dg_numbers_agree(j->text + p->begin, p->end - p->begin, out->data + from, out->len - from))
        p->flags |= DG_FLAG_NUMBER_MISMATCH;
    if (!rc && rank == 0 && out->len > from &&
        dg_copies_word(j->language, j->target_language, j->text + p->begin, p->end - p->begin,
            out->data + from, out->len - from))
        p->flags |= DG_FLAG_WORD_COPIED;
    for (size_t i = p->inner; rank == 0 && i < p->inner + p->n_inner; i++)
        p->flags |= j->parts[i].flags;
    return rc;
}

/* Layout: what stood between the parts stands there again. where (optional, [n_parts]) gets each
 * part's bytes. */
static int join(struct dg_job *j, uint32_t rank, struct dg_buffer *out, struct dg_part *where,
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

static double mean_score(const struct dg_job *j, uint32_t rank)
{
    double sum = 0;
    for (size_t i = 0; i < j->n_sentences; i++) {
        const struct dg_part *p = &j->parts[j->sentences[i]];
        sum += p->hyps[rank < p->n_hyps ? rank : p->n_hyps - 1].score;
    }
    return j->n_sentences ? sum / (double)j->n_sentences : 0;
}

/* Spans of every part in code points, counted once over each text. */
static void fill_sentences(const struct dg_job *j, const char *target, const struct dg_part *where,
    struct dg_answer_sentence *out)
{
    size_t s_byte = 0, s_char = 0, t_byte = 0, t_char = 0;
    for (size_t i = 0; i < j->n_parts; i++) {
        const struct dg_part *p = &j->parts[i];
        s_char += dg_utf8_count(j->text + s_byte, p->begin - s_byte);
        t_char += dg_utf8_count(target + t_byte, where[i].begin - t_byte);
        out[i].source_begin = s_char;
        out[i].target_begin = t_char;
        s_char += dg_utf8_count(j->text + p->begin, p->end - p->begin);
        t_char += dg_utf8_count(target + where[i].begin, where[i].end - where[i].begin);
        out[i].source_end = s_char;
        out[i].target_end = t_char;
        s_byte = p->end;
        t_byte = where[i].end;
        out[i].score = p->copied ? 0 : p->hyps[0].score;
        out[i].confidence = p->copied ? 0 : confidence_of(&p->hyps[0]);
        out[i].flags = p->flags;
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
}

int dg_job_finish(struct dg_job *j, struct dg_answers *out, struct dg_error *err)
{
    memset(out, 0, sizeof *out);
    if (j->n_accepted != j->n_sentences)
        return dg_error_set(
            err, DG_EINTERNAL, "%zu of %zu sentences were accepted", j->n_accepted, j->n_sentences);
    uint32_t n_best = ranks(j);
    struct dg_answer *best = dg_arena_array(&j->arena, n_best, sizeof *best);
    struct dg_part *where = dg_arena_array(&j->arena, j->n_parts, sizeof *where);
    struct dg_answer_sentence *sentences = dg_arena_array(&j->arena, j->n_parts, sizeof *sentences);
    struct dg_buffer text;
    int rc = 0;
    dg_buffer_init(&text);
    if (!best || !where || !sentences)
        rc = DG_JOB_NO_MEMORY(err);
    for (uint32_t r = 0; r < n_best && !rc; r++) {
        dg_buffer_reset(&text);
        if ((rc = join(j, r, &text, r ? NULL : where, err)))
            break;
        char *copy = dg_arena_strndup(&j->arena, text.data ? text.data : "", text.len);
        if (!copy)
            rc = DG_JOB_NO_MEMORY(err);
        best[r] = (struct dg_answer){copy, text.len, mean_score(j, r)};
    }
    dg_buffer_deinit(&text);
    if (rc)
        return rc;
    fill_sentences(j, best[0].text, where, sentences);
    if (j->options.alignments && (rc = dg_job_align(j, best[0].text, where, out, err)))
        return rc;
    out->best = best;
    out->n_best = n_best;
    out->sentences = sentences;
    out->n_sentences = j->n_parts;
    count_usage(j, out);
    return 0;
}

int dg_job_finish_score(struct dg_job *j, struct dg_scored *out, struct dg_error *err)
{
    memset(out, 0, sizeof *out);
    if (!j->forced || j->n_accepted != 1)
        return dg_error_set(err, DG_EINTERNAL, "not a finished scoring job");
    const struct dg_part_hyp *h = j->parts[j->sentences[0]].hyps;
    const char **pieces = dg_arena_array(&j->arena, h->n, sizeof *pieces);
    if (!pieces)
        return DG_JOB_NO_MEMORY(err);
    for (uint32_t i = 0; i < h->n; i++)
        pieces[i] = dg_tokenizer_piece(j->t->target, h->ids[i]);
    *out = (struct dg_scored){
        .total = h->logprob, .n = h->n, .pieces = pieces, .logprob = h->token_logprob};
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
    default: return "";
    }
}

void dg_job_tokens(const struct dg_job *j, size_t *source_tokens, size_t *target_tokens)
{
    *source_tokens = *target_tokens = 0;
    for (size_t i = 0; i < j->n_parts; i++) {
        const struct dg_part *p = &j->parts[i];
        *source_tokens += i == 0 || !j->n_alternatives ? p->n_ids : 0;
        *target_tokens += j->forced ? j->n_forced : p->n_hyps ? p->hyps[0].n : 0;
    }
}
