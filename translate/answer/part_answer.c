/* Writes one part's answer as text: decodes the ids, fills in unknown tokens, and restores capitals
 * and marks. One thread at a time per job. */
#include "base/buffer.h"
#include "text/numbers/numbers.h"
#include "text/numbers/spelt_numbers.h"
#include "text/protected/quantity.h"
#include "text/utf8.h"
#include "translate/answer/answer.h"
#include "translate/encode/known.h"

#include <string.h>

/* Set the flags that depend on the best answer's text before its marks are put back. */
static void check_draft(const struct dg_job *j, struct dg_part *p, const struct dg_draft *d)
{
    if (dg_term_places_lack(&d->terms))
        p->flags |= DG_FLAG_GLOSSARY_MISSED;
    /* A tree has no text of the source, so it is not compared with it. */
    if (!j->trees && dg_part_has_copied(j, p, d))
        p->flags |= DG_FLAG_WORD_COPIED;
}

/* Correct what the sentence tells for certain. */
static void correct(const struct dg_part *p, struct dg_draft *d)
{
    dg_draft_write_numbers(d);
    dg_draft_restore_digits(d);
    dg_draft_write_hours(d);
    dg_draft_write_titles(d);
    if (!p->capitals)
        dg_draft_write_units(d);
}

/* Make the text of an answer before its marks are put back, and set p->flags for the best one. The
 * caller frees d->text. */
static int make_draft(struct dg_job *j, struct dg_part *p, const struct dg_part_hyp *h,
    struct dg_draft *d, struct dg_error *err)
{
    const struct dg_prefix *prefix = dg_part_prefix(j, p);
    bool unknown = false, stray = false;
    *d = (struct dg_draft){.sentence = p->text, .from = j->from, .to = j->to, .wanted = &p->wanted};
    dg_buffer_adds(&d->text, ""); /* even an empty answer has bytes */
    int rc = dg_part_decode(j, p, h, &d->text, &unknown, err);
    if (h == p->hyps && p->ends) {
        d->ends = p->ends;
        d->n_ends = p->n_ends;
    }
    if (!rc && !d->text.failed)
        stray = dg_draft_drop_stray(d, prefix->text);
    if (!rc && !d->text.failed && p->capitals)
        rc = dg_draft_write_capitals(d, err);
    if (!rc && !d->text.failed && !j->trees && !prefix->len)
        correct(p, d);
    if (!rc && !d->text.failed)
        dg_draft_clean_stand_ins(d, &p->shown);
    if (!rc && d->text.failed)
        rc = DG_JOB_NO_MEMORY(err);
    if (rc)
        return rc;
    dg_draft_find_terms(d);
    if (h == p->hyps) {
        p->flags |= (unknown ? DG_FLAG_UNK_COPIED : 0) | (stray ? DG_FLAG_CHARACTER_LOST : 0);
        check_draft(j, p, d);
    }
    return 0;
}

/* Append bytes[0]..bytes[1] of the job's text, with the parts within p there replaced by their
 * answers of that rank. */
static int write_source(struct dg_job *j, const struct dg_part *p, const size_t bytes[2],
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

/* True if the pair that mark `close` ends has words that are not protected; also if it begins in
 * another part. */
static bool has_words(const struct dg_part *p, size_t close)
{
    size_t end = p->shown.marks[close].at;
    for (size_t i = close; i-- > 0;) {
        const struct dg_mark *m = &p->shown.marks[i];
        const bool opens = m->kind == DG_MARK_OPEN && m->id == p->shown.marks[close].id;
        if (!opens && m->kind != DG_MARK_PROTECTED)
            continue;
        if (dg_utf8_has_letter(p->shown.text + m->at + m->len, end - m->at - m->len))
            return true;
        if (opens)
            return false;
        end = m->at;
    }
    return true;
}

/* Append the end of a link or an image whose translated text is no label any more. */
static void write_label(const struct dg_job *j, const struct dg_mark *m, struct dg_buffer *out)
{
    dg_buffer_adds(out, "][");
    dg_buffer_add(out, j->text + m->label.begin, m->label.end - m->label.begin);
    dg_buffer_adds(out, "]");
}

/* Append the amount or number of mark i in the target's notation; false: it is none, or stays.
 * Character references in it are read ("1&nbsp;250&nbsp;€"); code has other bytes around it. */
static bool write_amount(
    const struct dg_job *j, const struct dg_part *p, size_t i, struct dg_buffer *out)
{
    const struct dg_mark *m = &p->shown.marks[i];
    const struct dg_mark_bytes *letters = &p->shown.letters[i];
    const size_t n = m->end - m->begin;
    return letters->n > 0 && m->kind == DG_MARK_PROTECTED &&
           (letters->n == n || memchr(j->text + m->begin, '&', n)) &&
           (dg_quantity_write_words(j->from, j->to, letters->s, letters->n, out) ||
               dg_quantity_write_amount(
                   j->t->alphabet, j->from, j->to, letters->s, letters->n, out));
}

/* Find what is written for each of p's marks: d->bytes, and d->instead. changed: the answer has
 * other words than the sentence. */
static int mark_bytes(struct dg_job *j, const struct dg_part *p, uint32_t rank, bool changed,
    struct dg_decoration *d, struct dg_error *err)
{
    struct dg_mark_bytes *list = dg_arena_array(&j->arena, p->shown.n_marks, sizeof *list),
                         *instead = dg_arena_array(&j->arena, p->shown.n_marks, sizeof *instead);
    struct dg_buffer bytes;
    int rc = list && instead ? 0 : DG_JOB_NO_MEMORY(err);
    dg_buffer_init(&bytes);
    for (size_t i = 0; i < p->shown.n_marks && !rc; i++) {
        const struct dg_mark *m = &p->shown.marks[i];
        bool is_price = false;
        list[i] = (struct dg_mark_bytes){j->text + m->begin, m->end - m->begin};
        instead[i] = (struct dg_mark_bytes){0};
        dg_buffer_reset(&bytes);
        if (m->label.end > 0 && changed && has_words(p, i))
            write_label(j, m, &bytes);
        else if (p->n_inner)
            rc = write_source(j, p, (size_t[2]){m->begin, m->end}, rank, &bytes, err);
        else if (write_amount(j, p, i, &bytes))
            is_price = true;
        else
            continue;
        char *copy = dg_arena_strndup(&j->arena, bytes.data ? bytes.data : "", bytes.len);
        if (!rc && (bytes.failed || !copy))
            rc = DG_JOB_NO_MEMORY(err);
        /* With a prefix, numbers stay unchanged, but it may have the target's notation. */
        struct dg_mark_bytes *to = is_price && dg_part_prefix(j, p)->len ? instead : list;
        to[i] = (struct dg_mark_bytes){copy, bytes.len};
    }
    dg_buffer_deinit(&bytes);
    d->bytes = list;
    d->instead = instead;
    return rc;
}

/* True if a[n] and b[m] differ in blanks at most: a mark within leaves two where the answer has
 * one. */
static bool same_words(const char *a, size_t n, const char *b, size_t m)
{
    size_t i = 0, k = 0;
    while (true) {
        while (i < n && a[i] == ' ')
            i++;
        while (k < m && b[k] == ' ')
            k++;
        if (i == n || k == m || a[i] != b[k])
            return i == n && k == m;
        i++;
        k++;
    }
}

/* Append the answer with the sentence's marks and line ends restored, and move the tokens' ends
 * along, which count from its start. */
static int decorate(struct dg_job *j, struct dg_part *p, uint32_t rank,
    const struct dg_draft *draft, struct dg_buffer *out, struct dg_error *err)
{
    const struct dg_buffer *plain = &draft->text;
    struct dg_word_pairs pairs = {0};
    size_t *shift = NULL;
    int rc = 0;
    if (draft->ends) {
        rc = dg_part_word_pairs(j, p, plain->data, plain->len, 0, &pairs, err);
        shift = dg_arena_array(&j->arena, plain->len + 1, sizeof *shift);
    }
    struct dg_decoration d = {.text = p->shown.text,
        .len = p->shown.len,
        .marks = p->shown.marks,
        .n = p->shown.n_marks,
        .answer = plain->data,
        .answer_len = plain->len,
        .pairs = pairs.list,
        .n_pairs = pairs.n,
        .kept = draft->terms.at,
        .n_kept = draft->terms.n,
        .given = dg_part_prefix(j, p)->len,
        .encoding = p->encoding};
    if (!rc) {
        const bool changed = !same_words(plain->data, plain->len, p->shown.text, p->shown.len);
        rc = mark_bytes(j, p, rank, changed, &d, err);
    }
    if (!rc && ((draft->ends && !shift) || !dg_decorate(&d, &j->arena, out, shift)))
        rc = DG_JOB_NO_MEMORY(err);
    for (size_t i = 0; !rc && i < draft->n_ends; i++)
        draft->ends[i] = shift[draft->ends[i]];
    return rc;
}

int dg_part_write(struct dg_job *j, struct dg_part *p, const struct dg_part_hyp *h,
    struct dg_buffer *out, struct dg_error *err)
{
    struct dg_draft d;
    const size_t base = out->len;
    int rc = make_draft(j, p, h, &d, err);
    if (!rc && (p->shown.n_marks || p->encoding))
        rc = decorate(j, p, (uint32_t)(h - p->hyps), &d, out, err);
    else if (!rc)
        dg_buffer_add(out, d.text.data, d.text.len);
    for (size_t i = 0; i < d.n_ends; i++)
        d.ends[i] += base;
    dg_buffer_deinit(&d.text);
    return rc;
}

static void add_tokens(
    struct dg_job *j, struct dg_part *p, const struct dg_part_hyp *h, struct dg_buffer *out)
{
    const struct dg_config *c = dg_model_config(j->t->model);
    for (uint32_t i = 0; i < h->n && h->ids[i] != c->eos; i++) {
        if (i)
            dg_buffer_add(out, " ", 1);
        dg_buffer_adds(out, dg_tokenizer_piece(j->t->target, h->ids[i]));
        dg_part_note_end(p, h, i, out->len);
    }
}

double dg_part_confidence(const struct dg_part_hyp *h)
{
    return h->n ? h->logprob / h->n : 0;
}

static unsigned flags_of(
    const struct dg_job *j, const struct dg_part *p, const struct dg_part_hyp *h)
{
    unsigned flags = h->length_limited ? DG_FLAG_LENGTH_LIMITED : 0;
    if (dg_part_confidence(h) < (double)dg_model_config(j->t->model)->low_confidence)
        flags |= DG_FLAG_LOW_CONFIDENCE;
    if (dg_part_looks_foreign(j, p))
        flags |= DG_FLAG_SOURCE_LANGUAGE_DOUBTFUL;
    return flags;
}

/* Append the source's bytes of p, with the parts within it translated. A YAML value that was not
 * quoted gets quotation marks if they changed it such that it needs them. */
static int write_copied(
    struct dg_job *j, struct dg_part *p, uint32_t rank, struct dg_buffer *out, struct dg_error *err)
{
    const size_t from = out->len, source_len = p->end - p->begin;
    int rc = write_source(j, p, (size_t[2]){p->begin, p->end}, rank, out, err);
    for (size_t i = p->inner; rank == 0 && i < p->inner + p->n_inner; i++)
        p->flags |= j->parts[i].flags;
    if (rc || out->failed || out->len == from)
        return rc;
    const size_t n = out->len - from;
    if ((n == source_len && memcmp(out->data + from, j->text + p->begin, n) == 0) ||
        !dg_encoding_needs_quotes(p->encoding, out->data + from, n))
        return 0;
    const char *value = dg_arena_strndup(&j->arena, out->data + from, n);
    if (!value)
        return DG_JOB_NO_MEMORY(err);
    out->len = from;
    dg_buffer_adds(out, "'");
    dg_encoding_add(DG_ENCODING_YAML_SINGLE, value, n, out);
    dg_buffer_adds(out, "'");
    return 0;
}

static bool have_same_numbers(
    const struct dg_job *j, const struct dg_part *p, const char *answer, size_t n)
{
    const struct dg_numbered source = {j->text + p->begin, p->end - p->begin, j->from},
                             target = {answer, n, j->to};
    return dg_numbers_agree(&source, &target) && dg_spelt_numbers_agree(&source, &target);
}

/* Append a translated part's answer without its tail. */
static int write_translated(
    struct dg_job *j, struct dg_part *p, uint32_t rank, struct dg_buffer *out, struct dg_error *err)
{
    const struct dg_part_hyp *h = &p->hyps[rank < p->n_hyps ? rank : p->n_hyps - 1];
    if (rank == 0)
        p->flags |= flags_of(j, p, h);
    if (j->options.tokens) {
        add_tokens(j, p, h, out);
        return 0;
    }
    size_t from = out->len;
    int rc = dg_part_write(j, p, h, out, err);
    const bool text = !rc && rank == 0 && !j->trees && out->len > from;
    if (text && !have_same_numbers(j, p, out->data + from, out->len - from))
        p->flags |= DG_FLAG_NUMBER_MISMATCH;
    if (text && dg_part_has_lost(j, p, out->data + from, out->len - from))
        p->flags |= DG_FLAG_CHARACTER_LOST;
    for (size_t i = p->inner; rank == 0 && i < p->inner + p->n_inner; i++)
        p->flags |= j->parts[i].flags;
    return rc;
}

int dg_part_answer(
    struct dg_job *j, struct dg_part *p, uint32_t rank, struct dg_buffer *out, struct dg_error *err)
{
    if (p->copied && !p->known)
        return write_copied(j, p, rank, out, err);
    const size_t from = out->len;
    int rc = p->known ? dg_known_write(j, p, out, err) : write_translated(j, p, rank, out, err);
    const struct dg_mark *tail = p->tail;
    if (rc || out->failed || !tail)
        return rc;
    const size_t n = tail->begin - p->begin;
    if (out->len - from == n && memcmp(out->data + from, j->text + p->begin, n) == 0)
        dg_buffer_add(out, j->text + tail->begin, tail->end - tail->begin);
    else
        write_label(j, tail, out);
    return 0;
}
