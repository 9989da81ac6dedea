#include "translate/encode/known.h"

#include "base/buffer.h"
#include "text/glossary.h"
#include "text/letter_case.h"
#include "text/scan.h"
#include "text/utf8.h"

#include <string.h>

/* True if the part's only marks are line ends, which an answer has at other places, and escaped
 * characters. */
static bool is_plain(const struct dg_part *p)
{
    for (size_t i = 0; i < p->shown.n_marks; i++)
        if (p->shown.marks[i].kind != DG_MARK_BREAK && p->shown.marks[i].kind != DG_MARK_ESCAPE)
            return false;
    return p->shown.text != NULL;
}

/* True if the part's source bytes can be looked up, and an answer be written in their place: they
 * have no tags, which a known translation has no places for, and nothing escaped. */
static bool is_literal(const struct dg_job *j, const struct dg_part *p)
{
    if (p->encoding == DG_ENCODING_PLAIN)
        return true;
    const char *s = j->text + p->begin;
    const size_t n = p->end - p->begin;
    for (size_t i = 0; i < p->shown.n_marks; i++)
        if (p->shown.marks[i].kind == DG_MARK_ESCAPE &&
            p->shown.marks[i].end - p->shown.marks[i].begin > 1)
            return false; /* one byte is no escape: the "/" of a price */
    if (p->encoding == DG_ENCODING_MARKUP)
        return !memchr(s, '<', n) && !memchr(s, '&', n);
    return !dg_encoding_is_markup(p->encoding) && !memchr(s, '\\', n);
}

int dg_known_look_up(struct dg_job *j, struct dg_part *p, struct dg_error *err)
{
    const struct dg_known *known = j->options.known;
    const char *s = j->text + p->begin;
    size_t n = p->end - p->begin;
    struct dg_buffer out;
    int rc = 0;
    if (!known || p->begin == p->end || j->options.prefix)
        return 0;
    /* A plain part is looked up by the text that the model would see. A part with other marks is
     * looked up by its source bytes, if they mean themselves. */
    if (is_plain(p)) {
        s = p->shown.text;
        n = p->shown.len;
    } else if (!is_literal(j, p)) {
        return 0;
    }
    if (!dg_utf8_has_letter(s, n) ||
        (n == j->n_missed && memcmp(s, j->missed, n) == 0)) /* n > 0: it has a letter */
        return 0;
    dg_buffer_init(&out);
    if (known->find(known->arg, s, n, &out)) {
        /* the white space around the sentence is the text's own */
        const size_t begin = dg_scan_skip_space(out.data, 0, out.len),
                     end = dg_scan_trim_space(out.data, begin, out.len);
        p->known = dg_arena_strndup(&j->arena, out.data ? out.data + begin : "", end - begin);
        p->known_len = end - begin;
        p->copied = true;
        p->flags |= DG_FLAG_FROM_MEMORY;
        if (!p->known || out.failed)
            rc = DG_JOB_NO_MEMORY(err);
    } else {
        j->missed = s;
        j->n_missed = n;
    }
    dg_buffer_deinit(&out);
    return rc;
}

int dg_known_look_up_source(
    struct dg_job *j, struct dg_part *p, struct dg_span at, struct dg_error *err)
{
    const struct dg_part own = *p;
    if ((p->encoding != DG_ENCODING_PLAIN && p->encoding != DG_ENCODING_MARKUP) ||
        at.end <= at.begin || (at.begin == p->begin && at.end == p->end))
        return 0;
    p->begin = at.begin;
    p->end = at.end;
    p->shown.text = NULL;
    p->shown.len = p->shown.n_marks = 0;
    p->tail = NULL;
    const int rc = dg_known_look_up(j, p, err);
    if (!p->known)
        *p = own;
    return rc;
}

/* Append the term's target in the case that the text s[n] has where the entry leaves it open: with
 * a capital, or in capitals. */
static int write_term(const struct dg_job *j, const struct dg_glossary_match *term, const char *s,
    size_t n, struct dg_buffer *out, struct dg_error *err)
{
    const char *target = term->target;
    size_t capital = 0, letters = 0, small = 0;
    for (size_t i = 0; i < n;) {
        const int32_t c = dg_scan_next(s, n, &i);
        letters += dg_scan_is_letter(c);
        small += dg_scan_is_letter(c) && !dg_scan_is_upper(c);
    }
    if (!term->as_written && letters > 1 && !small)
        capital = term->target_len;
    else if (!term->as_written && n && dg_scan_is_upper(dg_scan_peek(s, 0, n)))
        capital = dg_letter_case_first_letter(target, term->target_len);
    const int rc = dg_letter_case_upper(j->to, target, capital, out, err);
    dg_buffer_add(out, target + capital, term->target_len - capital);
    return !rc && out->failed ? DG_JOB_NO_MEMORY(err) : rc;
}

int dg_known_take_term(
    struct dg_job *j, struct dg_part *p, const struct dg_glossary_match *term, struct dg_error *err)
{
    const size_t n = strlen(p->text);
    const bool bare = !p->shown.n_marks && p->encoding == DG_ENCODING_PLAIN;
    struct dg_buffer out;
    /* what is read as ordinary words is written by the search */
    if (term->begin || term->end < n || p->capitals || !(bare || is_plain(p)))
        return 0;
    dg_buffer_init(&out);
    int rc = write_term(j, term, p->text, n, &out, err);
    if (!rc) {
        p->known = dg_arena_strndup(&j->arena, out.data, out.len);
        p->known_len = out.len;
        p->copied = true;
        rc = p->known ? 0 : DG_JOB_NO_MEMORY(err);
    }
    dg_buffer_deinit(&out);
    return rc;
}

int dg_known_write(
    struct dg_job *j, const struct dg_part *p, struct dg_buffer *out, struct dg_error *err)
{
    const bool plain = is_plain(p);
    /* The answer to source bytes has its marks, such as placeholders, within. */
    const size_t n = plain ? p->shown.n_marks : 0;
    struct dg_mark_bytes *bytes = dg_arena_array(&j->arena, n, sizeof *bytes);
    for (size_t i = 0; bytes && i < n; i++)
        bytes[i] = (struct dg_mark_bytes){
            j->text + p->shown.marks[i].begin, p->shown.marks[i].end - p->shown.marks[i].begin};
    const struct dg_decoration d = {.text = p->shown.text,
        .len = p->shown.len,
        .marks = p->shown.marks,
        .bytes = bytes,
        .n = n,
        .answer = p->known,
        .answer_len = p->known_len,
        .encoding = p->encoding};
    if (!plain && p->encoding == DG_ENCODING_PLAIN)
        dg_buffer_add(out, p->known, p->known_len);
    else if (!bytes || !dg_decorate(&d, &j->arena, out, NULL))
        return DG_JOB_NO_MEMORY(err);
    return 0;
}
