#include "translate/draft/draft.h"

#include "text/numbers/number_style.h"
#include "text/scan.h"

#include <string.h>

/* Numbers of a text that are compared; digits of the shortest number that is restored, and of the
 * shortest that becomes one. */
enum { MANY = 32, SHORTEST = 3, SHORTEST_GARBLED = 2 };

struct found {
    struct dg_span at;
    char digits[DG_NUMBER_DIGITS];
    size_t n;
    /* the other text has a number of these digits, or is to get them */
    bool paired;
};

struct numbers {
    struct found list[MANY];
    size_t n;
};

/* Find all numbers of s[n]. False: there are too many, or one is too long. */
static bool find_numbers(const char *s, size_t n, struct numbers *out)
{
    out->n = 0;
    for (size_t begin, end = 0; (end = dg_number_next(s, n, end, &begin)) > 0;) {
        if (out->n == MANY)
            return false;
        struct found *x = &out->list[out->n++];
        *x = (struct found){.at = {begin, end}};
        for (size_t i = begin; i < end; i++) {
            if (s[i] < '0' || s[i] > '9')
                continue;
            if (x->n == DG_NUMBER_DIGITS)
                return false;
            x->digits[x->n++] = s[i];
        }
    }
    return true;
}

/* Pair each number with one of the same digits in the other text. */
static void pair_equal(struct numbers *source, struct numbers *answer)
{
    for (size_t i = 0; i < source->n; i++) {
        struct found *x = &source->list[i];
        for (size_t k = 0; k < answer->n && !x->paired; k++) {
            struct found *a = &answer->list[k];
            if (a->paired || a->n != x->n || memcmp(a->digits, x->digits, x->n) != 0)
                continue;
            x->paired = a->paired = true;
        }
    }
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The number of digits to insert, delete or replace to make b of a (Levenshtein). */
static size_t distance(const struct found *a, const struct found *b)
{
    size_t row[DG_NUMBER_DIGITS + 1];
    for (size_t k = 0; k <= b->n; k++)
        row[k] = k;
    for (size_t i = 0; i < a->n; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t k = 0; k < b->n; k++) {
            const size_t replaced = diagonal + (a->digits[i] != b->digits[k]);
            diagonal = row[k + 1];
            row[k + 1] = least(replaced, least(diagonal, row[k]) + 1);
        }
    }
    return row[b->n];
}

/* 10, 100, 1,000 …: the answer may have a word for it. */
static bool is_power_of_ten(const struct found *x)
{
    for (size_t i = 1; i < x->n; i++)
        if (x->digits[i] != '0')
            return false;
    return x->digits[0] == '1';
}

static bool is_garbled(const struct found *x, const struct found *answer)
{
    return !x->paired && !answer->paired && x->n >= SHORTEST && answer->n >= SHORTEST_GARBLED &&
           !is_power_of_ten(x) && distance(x, answer) <= x->n / SHORTEST;
}

/* True if s has digits one blank before s[at]: the number was written in two runs, of which only
 * one was read. */
static bool continues_digits(const char *s, size_t at)
{
    size_t i = at;
    if (i == 0 || !dg_scan_is_space(dg_scan_prev(s, 0, &i)))
        return false;
    return i > 0 && s[i - 1] >= '0' && s[i - 1] <= '9';
}

/* The number of the source that the answer's number `at` garbles; NULL: there is none, or it may be
 * another one. */
static struct found *find_meant(struct numbers *source, const struct numbers *answer, size_t at)
{
    struct found *meant = NULL;
    for (size_t i = 0; i < source->n; i++) {
        if (!is_garbled(&source->list[i], &answer->list[at]))
            continue;
        if (meant)
            return NULL;
        meant = &source->list[i];
    }
    for (size_t i = 0; meant && i < answer->n; i++)
        if (i != at && is_garbled(meant, &answer->list[i]))
            return NULL;
    return meant;
}

/* Read x, a number of the sentence s[n], to be written over bytes of the answer, of which `digits`
 * are digits. False: it is not a quantity, or the answer says it in another way. */
static bool read_meant(const struct dg_number_style *style, const char *s, size_t n,
    const struct found *x, size_t bytes, size_t digits, struct dg_number *out)
{
    return dg_number_read(style, s + x->at.begin, x->at.end - x->at.begin, out) &&
           dg_number_is_quantity(style, s, n, x->at.begin, x->at.end) &&
           (!out->n_fraction || bytes > digits); /* "6 h 30" for "6.30" */
}

void dg_draft_restore_digits(struct dg_draft *d)
{
    const struct dg_number_style *from = dg_number_style_of(d->from),
                                 *to = dg_number_style_of(d->to);
    const size_t len = strlen(d->sentence), before = d->text.len;
    struct numbers source, answer;
    if (!from || !to || !find_numbers(d->sentence, len, &source) || source.n == 0 ||
        !find_numbers(d->text.data, d->text.len, &answer))
        return;
    pair_equal(&source, &answer);
    dg_draft_find_terms(d);
    for (size_t i = 0; i < answer.n && !d->text.failed; i++) {
        struct found *a = &answer.list[i], *x = find_meant(&source, &answer, i);
        const size_t begin = a->at.begin + d->text.len - before,
                     end = a->at.end + d->text.len - before;
        struct dg_number meant;
        char written[DG_NUMBER_BYTES];
        if (!x || !read_meant(from, d->sentence, len, x, end - begin, a->n, &meant) ||
            continues_digits(d->text.data, begin) || dg_draft_has_term(d, begin, end))
            continue;
        const size_t bytes = dg_number_write(to, &meant, written);
        dg_draft_splice(d, begin, end, written, bytes);
        x->paired = a->paired = true;
    }
}
