/* Text -> sentences (hop 3 of ARCHITECTURE.md): a document's units are split into sentences,
 * sentences that are too long are split again, and nothing is cut within a span that must stay
 * whole. */
#include "text/sentences/split.h"
#include "text/utf8.h"
#include "translate/encode/encode.h"
#include "translate/protected/foreign_terms.h"
#include "translate/encode/known.h"
#include "translate/layout/white_space.h"

#include <stdlib.h>
#include <string.h>

/* The text to split and encode: the job's text, or a unit of its document. */
struct running {
    const char *text;
    /* NULL: the job's text itself */
    const struct dg_document *document;
    const struct dg_unit *unit;
};

/* Move the cut left_end .. right_begin out of a mark that must stay whole. False if that would
 * leave nothing on either side. */
static bool keep_whole(
    const struct running *f, struct dg_span at, size_t *left_end, size_t *right_begin)
{
    size_t n = f->document ? dg_document_marks_before(f->document, f->unit, *right_begin) : 0;
    /* Only the last mark with a width can reach across the cut. */
    for (size_t i = n; i-- > 0;) {
        const struct dg_mark *mark = &f->document->marks[f->unit->mark + i];
        if (mark->at + mark->len <= *left_end)
            break;
        if (mark->len < 2)
            continue;
        if (mark->at > at.begin)
            *left_end = *right_begin = mark->at;
        else if (mark->at + mark->len < at.end)
            *left_end = *right_begin = mark->at + mark->len;
        else
            return false;
    }
    while (n && *left_end > at.begin && f->text[*left_end - 1] == ' ')
        (*left_end)--;
    while (n && *right_begin < at.end && f->text[*right_begin] == ' ')
        (*right_begin)++;
    return true;
}

/* Show p to the model with stand-ins for its protected spans, where its answer is free. */
static int show(struct dg_job *j, struct dg_part *p, struct dg_error *err)
{
    const struct dg_stand_ins *names = &j->t->stand_ins;
    const bool named = (names->n_reserved || names->spelt) && dg_job_answer_is_free(j);
    int rc = dg_foreign_terms_leave(j->options.glossary, j->t->alphabet, &j->arena, &p->shown, err);
    if (!rc)
        rc = dg_stand_in_put(
            named ? names : NULL, j->from, j->to, j->t->alphabet, &j->arena, &p->shown, err);
    return rc;
}

static struct dg_part *part_of(
    struct dg_job *j, const struct running *f, struct dg_span at, struct dg_error *err)
{
    if (f->document) {
        struct dg_part *p = dg_part_new(j, 0, 0, err);
        if (p)
            p->unit = (size_t)(f->unit - f->document->units);
        if (!p || dg_part_of_document(j, p, f->document, f->unit, at, err))
            return NULL;
        return show(j, p, err) ? NULL : p;
    }
    return dg_part_new(j, at.begin, at.end, err);
}

/* Look up the part of `at`, then all source bytes of `at`: a part lacks what is set apart at its
 * ends, as in "History: %s". */
static int look_up(struct dg_job *j, const struct running *f, struct dg_span at, struct dg_part *p,
    struct dg_error *err)
{
    const int rc = dg_known_look_up(j, p, err);
    if (rc || p->known || !f->document || !j->options.known)
        return rc;
    const struct dg_span source = {dg_document_source(f->document, f->unit, at.begin, true),
        dg_document_source(f->document, f->unit, at.end, false)};
    return dg_known_look_up_source(j, p, source, err);
}

/* Add `whole` as one sentence, or as several when it is over the token limit. A loop over a stack
 * of spans instead of recursion: the left part first, so that parts stay in order. */
static int encode_span(
    struct dg_job *j, const struct running *f, struct dg_span whole, struct dg_error *err)
{
    struct dg_span stack[64] = {whole};
    size_t depth = 1, first_part = j->n_parts;
    bool split = false;
    while (depth) {
        struct dg_span at = stack[--depth];
        if (j->options.check && j->options.check(j->options.check_arg, err))
            return err->code;
        struct dg_part *p = part_of(j, f, at, err);
        if (!p)
            return DG_ENOMEM;
        int rc = look_up(j, f, at, p, err);
        if (rc)
            return rc;
        if (p->known)
            continue;
        rc = dg_part_encode(j, p, err);
        j->begun = j->begun || (!rc && !p->copied);
        if (!rc)
            continue;
        if (rc != DG_EAGAIN)
            return rc;
        j->n_parts--;
        size_t left_end, right_begin;
        rc = dg_split_long(f->text + at.begin, at.end - at.begin, &left_end, &right_begin, err);
        if (rc)
            return rc;
        left_end += at.begin;
        right_begin += at.begin;
        if (depth + 2 > sizeof stack / sizeof stack[0] ||
            !keep_whole(f, at, &left_end, &right_begin))
            return dg_error_set(err, DG_ELIMIT,
                "a sentence of %zu bytes cannot be split to %u tokens", whole.end - whole.begin,
                j->options.max_source);
        split = true;
        stack[depth++] = (struct dg_span){right_begin, at.end};
        stack[depth++] = (struct dg_span){at.begin, left_end};
    }
    for (size_t i = first_part; split && i < j->n_parts; i++)
        j->parts[i].flags |= DG_FLAG_SPLIT;
    return 0;
}

/* The mark that byte `at` is within, neither at its start nor at its end; NULL: none. */
static const struct dg_mark *mark_around(const struct running *f, size_t at)
{
    size_t n = f->document ? dg_document_marks_before(f->document, f->unit, at) : 0;
    const struct dg_mark *last = n ? &f->document->marks[f->unit->mark + n - 1] : NULL;
    return last && last->at + last->len > at ? last : NULL;
}

/* Extend a sentence over the marks that it begins or ends within: sentence splitting takes the
 * start of `- x` for a bullet. */
static struct dg_span with_whole_marks(const struct running *f, struct dg_span at)
{
    const struct dg_mark *first = mark_around(f, at.begin), *last = mark_around(f, at.end);
    if (first)
        at.begin = first->at;
    if (last)
        at.end = last->at + last->len;
    return at;
}

/* Remove white space at both ends of a text that is one sentence. */
static struct dg_span trim(const char *s, struct dg_span at)
{
    while (at.begin < at.end && dg_white_space(s[at.begin]))
        at.begin++;
    while (at.end > at.begin && dg_white_space(s[at.end - 1]))
        at.end--;
    return at;
}

/* Look up all of `at` as one known translation. If it is found, sets *known and adds it as one
 * part. */
static int look_up_whole(
    struct dg_job *j, const struct running *f, struct dg_span at, bool *known, struct dg_error *err)
{
    at = trim(f->text, at);
    struct dg_part *p = part_of(j, f, at, err);
    if (!p)
        return DG_ENOMEM;
    int rc = look_up(j, f, at, p, err);
    *known = p->known != NULL;
    j->n_parts -= !*known;
    return rc;
}

/* The sentences of `at`. */
static int encode_running(
    struct dg_job *j, const struct running *f, struct dg_span at, struct dg_error *err)
{
    struct dg_span *spans = NULL;
    size_t n = 0;
    bool known = false;
    if (j->options.one_sentence)
        return encode_span(j, f, trim(f->text, at), err);
    int rc = dg_split_sentences(f->text + at.begin, at.end - at.begin, j->from, &spans, &n, err);
    if (!rc && n > 1 && j->options.known && at.end - at.begin <= DG_ENCODE_BYTES)
        rc = look_up_whole(j, f, at, &known, err);
    if (known)
        n = 0;
    for (size_t i = 0; i < n; i++)
        spans[i] = with_whole_marks(
            f, (struct dg_span){spans[i].begin + at.begin, spans[i].end + at.begin});
    for (size_t i = 0; i < n && !rc;) {
        struct dg_span whole = spans[i++];
        /* Sentences that share one `code` span are one. */
        for (; i < n && spans[i].begin < whole.end; i++)
            whole.end = spans[i].end;
        rc = encode_span(j, f, whole, err);
    }
    free(spans);
    return rc;
}

/* If unit u, an unquoted YAML value, is not one part from parts[first] on, add a part of the whole
 * value around its parts: only the value as a whole can be put between quotation marks. */
static int enclose_value(struct dg_job *j, size_t first, const struct dg_document *d,
    const struct dg_unit *u, struct dg_error *err)
{
    if (u->encoding != DG_ENCODING_YAML_UNQUOTED || first == j->n_parts ||
        j->parts[first].encoding == u->encoding)
        return 0;
    struct dg_part *p = dg_part_new(j, u->source, dg_document_source(d, u, u->end, true), err);
    if (!p)
        return DG_ENOMEM;
    p->copied = true;
    p->encoding = u->encoding;
    return 0;
}

/* The sentences of the job's text as it is, without marks. */
static int encode_bare(struct dg_job *j, struct dg_error *err)
{
    const struct running text = {j->text, NULL, NULL};
    return encode_running(j, &text, (struct dg_span){0, j->len}, err);
}

static int by_place(const void *a, const void *b)
{
    const struct dg_part *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->end > y->end ? -1 : x->end < y->end;
}

/* Encode all units. A sentence that is shown as it is is the first one of unit `first`, or of all
 * if there is no such unit. */
static int encode_units(
    struct dg_job *j, const struct dg_document *d, size_t first, struct dg_error *err)
{
    int rc = 0;
    for (size_t i = 0; i < d->n_units && !rc; i++) {
        const struct dg_unit *u = &d->units[i];
        const struct running f = {d->text.data, d, u};
        const size_t n = j->n_parts;
        if (first < d->n_units)
            j->begun = i != first;
        rc = encode_running(j, &f, (struct dg_span){u->at, u->end}, err);
        if (!rc)
            rc = enclose_value(j, n, d, u, err);
    }
    return rc;
}

/* Encode the units again if the sentence that was shown as it is is not the first one in the order
 * of the text: titles within a paragraph are units before it. */
static int encode_first(struct dg_job *j, const struct dg_document *d, struct dg_error *err)
{
    const struct dg_part *encoded = NULL, *first = NULL;
    for (size_t i = 0; i < j->n_parts; i++) {
        const struct dg_part *p = &j->parts[i];
        if (p->copied)
            continue;
        encoded = encoded ? encoded : p;
        first = !first || by_place(p, first) < 0 ? p : first;
    }
    if (first == encoded)
        return 0;
    const size_t unit = first->unit;
    j->n_parts = 0;
    return encode_units(j, d, unit, err);
}

/* Look up all of a plain text as it is, with its tags. */
static int look_up_text(struct dg_job *j, bool *known, struct dg_error *err)
{
    const struct running text = {j->text, NULL, NULL};
    *known = false;
    if (j->options.format != DG_FORMAT_TEXT || !j->options.known || j->len > DG_ENCODE_BYTES)
        return 0;
    return look_up_whole(j, &text, (struct dg_span){0, j->len}, known, err);
}

/* Take the sign before the letter of a key out of a program's label. */
static int take_key_sign(struct dg_job *j, struct dg_error *err)
{
    const struct dg_markup *markup = j->options.markup;
    struct dg_key_sign *sign = &j->key_sign;
    if (j->options.format != DG_FORMAT_TEXT || !markup || !dg_job_answer_is_free(j) ||
        j->options.alignments || !dg_key_sign_find(markup->key_signs, j->text, j->len, sign))
        return 0;
    char *text = dg_arena_strndup(&j->arena, j->text, j->len);
    if (!text)
        return DG_JOB_NO_MEMORY(err);
    memmove(text + sign->at, text + sign->at + sign->n, j->len - sign->at - sign->n + 1);
    j->text = text;
    j->len -= sign->n;
    return 0;
}

static int encode_document(struct dg_job *j, enum dg_format format, struct dg_error *err)
{
    struct dg_document document;
    bool known;
    const struct dg_document_kind kind = {
        format, j->options.markup, j->t->alphabet, j->options.check, j->options.check_arg};
    int rc = look_up_text(j, &known, err);
    if (!rc && !known)
        rc = take_key_sign(j, err);
    if (rc || known)
        return rc;
    rc = dg_document_read(j->text, j->len, &kind, &document, err);
    if (rc)
        return rc;
    /* A prefix may begin with a tag of a plain text. */
    if (document.is_markup && !dg_job_answer_is_free(j)) {
        dg_document_close(&document);
        return encode_bare(j, err);
    }
    const bool as_it_is = !dg_job_answer_is_free(j);
    rc = encode_units(j, &document, document.n_units, err);
    if (!rc && as_it_is)
        rc = encode_first(j, &document, err);
    for (size_t i = 0; i < j->n_parts && document.is_markup; i++)
        j->parts[i].flags |= DG_FLAG_MARKUP_IN_TEXT;
    dg_document_close(&document);
    return rc;
}

/* Move parts that are within another part's bytes (a title within the mark that ends a link, a
 * sentence of a YAML value) after all others: they are answered with the part that contains them.
 */
static int set_inner_apart(struct dg_job *j, struct dg_error *err)
{
    size_t n = j->n_parts, inner = 0;
    bool ordered = true;
    for (size_t i = 1; i < n; i++)
        ordered = ordered && j->parts[i].begin >= j->parts[i - 1].end;
    if (ordered)
        return 0;
    struct dg_part *apart = malloc(n * sizeof *apart);
    if (!apart)
        return DG_JOB_NO_MEMORY(err);
    qsort(j->parts, n, sizeof *j->parts, by_place);
    j->n_parts = 0;
    for (size_t i = 0; i < n; i++) {
        struct dg_part *last = j->n_parts ? &j->parts[j->n_parts - 1] : NULL;
        if (last && j->parts[i].begin < last->end) {
            last->n_inner++;
            apart[inner++] = j->parts[i];
        } else {
            j->parts[j->n_parts++] = j->parts[i];
        }
    }
    memcpy(j->parts + j->n_parts, apart, inner * sizeof *apart);
    free(apart);
    j->n_inner = inner;
    size_t at = j->n_parts;
    for (size_t i = 0; i < j->n_parts; at += j->parts[i++].n_inner)
        j->parts[i].inner = at;
    return 0;
}

/* Check that parts are in order and do not overlap: joining the answers relies on it. */
static int check_order(const struct dg_job *j, struct dg_error *err)
{
    size_t at = 0;
    for (size_t i = 0; i < j->n_parts; i++) {
        const struct dg_part *p = &j->parts[i];
        if (p->begin < at || p->end < p->begin || p->end > j->len)
            return dg_error_set(err, DG_EINTERNAL,
                "sentence %zu is bytes %zu to %zu of %zu, the one before ends at %zu", i, p->begin,
                p->end, j->len, at);
        at = p->end;
    }
    return 0;
}

int dg_job_encode_sentences(struct dg_job *j, struct dg_error *err)
{
    const enum dg_format format = j->options.format;
    if (!dg_utf8_has_letter(j->text, j->len))
        return 0;
    /* Nothing is put into the tree of a plain text. */
    int rc = format == DG_FORMAT_TEXT && j->trees ? encode_bare(j, err)
                                                  : encode_document(j, format, err);
    if (!rc)
        rc = set_inner_apart(j, err);
    return rc ? rc : check_order(j, err);
}
