/* Joins and pairs a sentence's protected spans. The sentence is a part of a job. */
#include "translate/span_marks.h"

#include "text/protected/amount.h"
#include "text/protected/code_number.h"
#include "text/protected/foreign.h"
#include "text/numbers/number_style.h"
#include "text/protected/quantity.h"
#include "text/scan.h"
#include "translate/job_internal.h"

#include <ctype.h>

#define MIN_LETTERS 3

bool dg_part_touches_word(const struct dg_part *p, size_t at, bool before)
{
    if (before && at == 0)
        return false;
    const int32_t c =
        before ? dg_scan_prev(p->shown, 0, &at) : dg_scan_peek(p->shown, at, p->shown_len);
    return dg_scan_is_letter(c) || (c >= '0' && c <= '9');
}

/* True if mark m is a number without a sign that cannot be written in the target's notation: it is
 * not in the source's, or one of them is not known. Words need those of both languages. */
static bool is_unreadable(const struct dg_job *j, const struct dg_part *p, const struct dg_mark *m)
{
    const struct dg_number_style *source = dg_number_style_of(j->language);
    const char *const s = p->shown + m->at;
    struct dg_number x;
    if (m->end - m->begin != m->len) /* code, or with references */
        return false;
    if (dg_quantity_is_words(s, m->len))
        return !dg_quantity_has_words(j->language, j->target_language, s, m->len);
    return dg_amount_is(s, m->len) && isdigit((unsigned char)s[0]) &&
           isdigit((unsigned char)s[m->len - 1]) &&
           dg_code_number_end(p->shown, m->at, m->at + m->len) < m->at + m->len &&
           !(source && dg_number_style_of(j->target_language) &&
               dg_number_read(source, s, m->len, &x));
}

/* True if mark m is words for a quantity, or an amount whose signs the model knows. */
static bool is_known(const struct dg_job *j, const struct dg_part *p, const struct dg_mark *m)
{
    const char *const s = p->shown + m->at;
    return dg_quantity_is(s, m->len) &&
           !(dg_amount_is(s, m->len) && dg_foreign_end(j->t->alphabet, s, 0, m->len));
}

/* Remove the protected marks that pass the test. */
static void leave(const struct dg_job *j, struct dg_part *p,
    bool (*test)(const struct dg_job *, const struct dg_part *, const struct dg_mark *))
{
    size_t kept = 0;
    for (size_t i = 0; i < p->n_marks; i++)
        if (p->marks[i].kind != DG_MARK_PROTECTED || !test(j, p, &p->marks[i]))
            p->marks[kept++] = p->marks[i];
    p->n_marks = kept;
}

void dg_span_marks_leave_numbers(const struct dg_job *j, struct dg_part *p)
{
    leave(j, p, is_unreadable);
}

void dg_span_marks_leave_amounts(const struct dg_job *j, struct dg_part *p)
{
    leave(j, p, is_known);
}

/* True if nothing to translate is between mark m and the one before it: they touch, as in "%d%%",
 * or a sign joins them, as in "{name}.{ext}". */
static bool is_joined(const struct dg_part *p, const struct dg_mark *last, const struct dg_mark *m)
{
    const size_t at = last->at + last->len, n = m->at - at;
    if (last->kind != DG_MARK_PROTECTED || m->kind != DG_MARK_PROTECTED ||
        m->begin - last->end != n)
        return false;
    return n == 0 || (n == 1 && ispunct((unsigned char)p->shown[at]));
}

void dg_span_marks_join(struct dg_part *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->n_marks; i++) {
        struct dg_mark *last = kept ? &p->marks[kept - 1] : NULL;
        const struct dg_mark *m = &p->marks[i];
        if (last && is_joined(p, last, m)) {
            last->end = m->end;
            last->len = m->at + m->len - last->at;
        } else {
            p->marks[kept++] = *m;
        }
    }
    p->n_marks = kept;
}

/* True if m is a placeholder such as "{0}" or a terminal's sequence, and no emoji, address or
 * foreign word. */
static bool is_placeholder(const struct dg_part *p, const struct dg_mark *m)
{
    const unsigned char first = m->len > 0 ? (unsigned char)p->shown[m->at] : 'a';
    return m->kind == DG_MARK_PROTECTED && (ispunct(first) || iscntrl(first));
}

/* True if s[n] has words as scripts with spaces write them, not just a unit or an "x", up to its
 * end or to a sign that ends a sentence. */
static bool has_words(const char *s, size_t n)
{
    size_t letters = 0, at = 0;
    int32_t c = ' ';
    while (at < n) {
        c = dg_scan_next(s, n, &at);
        if (dg_scan_is_uncased(c))
            return false;
        letters += dg_scan_is_letter(c);
    }
    return letters >= MIN_LETTERS &&
           (dg_scan_is_letter(c) || dg_scan_is_digit(c) || dg_scan_is_terminator(c) || c == ':');
}

/* True if p's text has a letter or a digit after byte `at`, before `end` and any white space. */
static bool is_in_word(const struct dg_part *p, size_t at, size_t end)
{
    while (at < end) {
        const int32_t c = dg_scan_next(p->shown, end, &at);
        if (dg_scan_is_letter(c) || dg_scan_is_digit(c))
            return true;
        if (dg_scan_is_space(c))
            return false;
    }
    return false;
}

/* The same backwards, from byte `at` down to `begin`. */
static bool is_after_word(const struct dg_part *p, size_t begin, size_t at)
{
    while (at > begin) {
        const int32_t c = dg_scan_prev(p->shown, begin, &at);
        if (dg_scan_is_letter(c) || dg_scan_is_digit(c))
            return true;
        if (dg_scan_is_space(c))
            return false;
    }
    return false;
}

/* True if marks a and b are the start and the end of something: both touch the words between them,
 * and neither is part of a word with others, as the signs around "text" of 'a="b">text</a>' are. */
static bool is_pair(const struct dg_part *p, const struct dg_mark *a, const struct dg_mark *b)
{
    const struct dg_mark *last = a > p->marks ? a - 1 : NULL,
                         *next = b + 1 < p->marks + p->n_marks ? b + 1 : NULL;
    const size_t begin = a->at + a->len, end = b->at + b->len;
    return is_placeholder(p, a) && is_placeholder(p, b) && dg_part_touches_word(p, begin, false) &&
           has_words(p->shown + begin, b->at - begin) &&
           !is_after_word(p, last ? last->at + last->len : 0, a->at) &&
           !is_in_word(p, end, next ? next->at : p->shown_len);
}

void dg_span_marks_pair(struct dg_part *p)
{
    uint32_t id = 0;
    for (size_t i = 0; i < p->n_marks; i++)
        id = p->marks[i].id > id ? p->marks[i].id : id;
    struct dg_mark *a = NULL;
    for (size_t i = 0; i < p->n_marks; i++) {
        struct dg_mark *b = &p->marks[i];
        if (b->kind == DG_MARK_BREAK)
            continue;
        if (a && is_pair(p, a, b)) {
            a->kind = DG_MARK_OPEN;
            b->kind = DG_MARK_CLOSE;
            a->id = b->id = ++id;
        }
        a = b;
    }
}
