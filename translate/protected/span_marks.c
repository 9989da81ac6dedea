#include "translate/protected/span_marks.h"

#include "text/protected/amount.h"
#include "text/protected/code_number.h"
#include "text/protected/foreign.h"
#include "text/numbers/number_style.h"
#include "text/protected/quantity.h"
#include "text/scan.h"

#include <ctype.h>

#define MIN_LETTERS 3

/* True if mark m is a number without a sign that cannot be written in the target's notation: it is
 * not in the source's, or one of them is not known. Words need those of both languages. */
static bool is_unreadable(
    const char *from, const char *to, const struct dg_shown *shown, const struct dg_mark *m)
{
    const struct dg_number_style *style = dg_number_style_of(from);
    const char *const s = shown->text + m->at;
    struct dg_number x;
    if (m->end - m->begin != m->len) /* code, or with references */
        return false;
    if (dg_quantity_is_words(s, m->len))
        return !dg_quantity_has_words(from, to, s, m->len);
    return dg_amount_is(s, m->len) && isdigit((unsigned char)s[0]) &&
           isdigit((unsigned char)s[m->len - 1]) &&
           dg_code_number_end(shown->text, m->at, m->at + m->len) < m->at + m->len &&
           !(style && dg_number_style_of(to) && dg_number_read(style, s, m->len, &x));
}

/* True if mark m is words for a quantity, or an amount whose signs the model knows. */
static bool is_known(
    const struct dg_alphabet *known, const struct dg_shown *shown, const struct dg_mark *m)
{
    const char *const s = shown->text + m->at;
    return dg_quantity_is(s, m->len) &&
           !(dg_amount_is(s, m->len) && dg_foreign_end(known, s, 0, m->len));
}

void dg_span_marks_leave(
    const char *from, const char *to, const struct dg_alphabet *known, struct dg_shown *shown)
{
    size_t kept = 0;
    for (size_t i = 0; i < shown->n_marks; i++) {
        const struct dg_mark *m = &shown->marks[i];
        if (m->kind != DG_MARK_PROTECTED ||
            !(is_unreadable(from, to, shown, m) || (known && is_known(known, shown, m))))
            shown->marks[kept++] = *m;
    }
    shown->n_marks = kept;
}

/* True if nothing to translate is between mark m and the one before it: they touch, as in "%d%%",
 * or a sign joins them, as in "{name}.{ext}". */
static bool is_joined(
    const struct dg_shown *shown, const struct dg_mark *last, const struct dg_mark *m)
{
    const size_t at = last->at + last->len, n = m->at - at;
    if (last->kind != DG_MARK_PROTECTED || m->kind != DG_MARK_PROTECTED ||
        m->begin - last->end != n)
        return false;
    return n == 0 || (n == 1 && ispunct((unsigned char)shown->text[at]));
}

void dg_span_marks_join(struct dg_shown *shown)
{
    size_t kept = 0;
    for (size_t i = 0; i < shown->n_marks; i++) {
        struct dg_mark *last = kept ? &shown->marks[kept - 1] : NULL;
        const struct dg_mark *m = &shown->marks[i];
        if (last && is_joined(shown, last, m)) {
            last->end = m->end;
            last->len = m->at + m->len - last->at;
        } else {
            shown->marks[kept++] = *m;
        }
    }
    shown->n_marks = kept;
}

/* True if m is a placeholder such as "{0}" or a terminal's sequence, and no emoji, address or
 * foreign word. */
static bool is_placeholder(const struct dg_shown *shown, const struct dg_mark *m)
{
    const unsigned char first = m->len > 0 ? (unsigned char)shown->text[m->at] : 'a';
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

/* True if the text has a letter or a digit after byte `at`, before `end` and any white space. */
static bool is_in_word(const struct dg_shown *shown, size_t at, size_t end)
{
    while (at < end) {
        const int32_t c = dg_scan_next(shown->text, end, &at);
        if (dg_scan_is_letter(c) || dg_scan_is_digit(c))
            return true;
        if (dg_scan_is_space(c))
            return false;
    }
    return false;
}

/* The same backwards, from byte `at` down to `begin`. */
static bool is_after_word(const struct dg_shown *shown, size_t begin, size_t at)
{
    while (at > begin) {
        const int32_t c = dg_scan_prev(shown->text, begin, &at);
        if (dg_scan_is_letter(c) || dg_scan_is_digit(c))
            return true;
        if (dg_scan_is_space(c))
            return false;
    }
    return false;
}

/* True if marks a and b are the start and the end of something: both touch the words between them,
 * and neither is part of a word with others, as the signs around "text" of 'a="b">text</a>' are. */
static bool is_pair(const struct dg_shown *shown, const struct dg_mark *a, const struct dg_mark *b)
{
    const struct dg_mark *last = a > shown->marks ? a - 1 : NULL,
                         *next = b + 1 < shown->marks + shown->n_marks ? b + 1 : NULL;
    const size_t begin = a->at + a->len, end = b->at + b->len;
    return is_placeholder(shown, a) && is_placeholder(shown, b) &&
           dg_shown_touches_word(shown, begin, false) &&
           has_words(shown->text + begin, b->at - begin) &&
           !is_after_word(shown, last ? last->at + last->len : 0, a->at) &&
           !is_in_word(shown, end, next ? next->at : shown->len);
}

void dg_span_marks_pair(struct dg_shown *shown)
{
    uint32_t id = 0;
    for (size_t i = 0; i < shown->n_marks; i++)
        id = shown->marks[i].id > id ? shown->marks[i].id : id;
    struct dg_mark *a = NULL;
    for (size_t i = 0; i < shown->n_marks; i++) {
        struct dg_mark *b = &shown->marks[i];
        if (b->kind == DG_MARK_BREAK)
            continue;
        if (a && is_pair(shown, a, b)) {
            a->kind = DG_MARK_OPEN;
            b->kind = DG_MARK_CLOSE;
            a->id = b->id = ++id;
        }
        a = b;
    }
}
