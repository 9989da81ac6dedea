#include "translate/draft/draft.h"

#include "text/numbers/number_style.h"
#include "text/scan.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool has_same_digits(const struct dg_number *x, const char *s, size_t n)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        if (s[i] >= '0' && s[i] <= '9')
            if (found == x->n || x->digits[found++] != s[i])
                return false;
    return found == x->n;
}

/* True if one of the numbers of s[len] is written as a[n] is. */
static bool has_number(const char *s, size_t len, const char *a, size_t n)
{
    for (size_t begin, end = 0; (end = dg_number_next(s, len, end, &begin)) > 0;)
        if (end - begin == n && memcmp(s + begin, a, n) == 0)
            return true;
    return false;
}

/* Find the number of sentence s[len] that the answer's a[n] translates: one that is written the
 * same, else one with the same digits. False: there is none, there are several with different
 * values, or a[n] already has the right value. */
static bool find_meant(const struct dg_number_styles *styles, const char *s, size_t len,
    const char *a, size_t n, struct dg_number *out)
{
    struct dg_number said, x;
    const bool is_number = dg_number_read(styles->target, a, n, &said);
    const bool copied = has_number(s, len, a, n);
    bool found = false;
    for (size_t begin, end = 0; (end = dg_number_next(s, len, end, &begin)) > 0;) {
        if (copied && (end - begin != n || memcmp(s + begin, a, n) != 0))
            continue;
        if (!dg_number_read(styles->source, s + begin, end - begin, &x) ||
            !has_same_digits(&x, a, n))
            continue;
        if (is_number && said.n_fraction == x.n_fraction)
            return false;
        if (!dg_number_is_quantity(styles->source, s, len, begin, end) ||
            (found && x.n_fraction != out->n_fraction))
            return false;
        *out = x;
        found = true;
    }
    return found;
}

void dg_draft_write_numbers(struct dg_draft *d)
{
    struct dg_number_styles styles;
    const struct dg_buffer *text = &d->text;
    const size_t len = strlen(d->sentence);
    if (!dg_number_styles_find(d->from, d->to, &styles))
        return;
    dg_draft_find_terms(d);
    for (size_t begin, end = 0; !text->failed;) {
        struct dg_number x;
        char written[DG_NUMBER_BYTES];
        end = dg_number_next(text->data, text->len, end, &begin);
        if (!end)
            break;
        if (!find_meant(&styles, d->sentence, len, text->data + begin, end - begin, &x) ||
            dg_draft_has_term(d, begin, end))
            continue;
        const size_t bytes = dg_number_write(styles.target, &x, written);
        dg_draft_splice(d, begin, end, written, bytes);
        end = begin + bytes;
    }
}

/* True if a number is before s[at], perhaps with blanks between: "20 ", not "XX1 ", a stand-in. */
static bool follows_number(const char *s, size_t at)
{
    const size_t end = dg_scan_trim_space(s, 0, at);
    size_t i = end;
    while (i > 0 && (isdigit((unsigned char)s[i - 1]) || strchr(".,", s[i - 1])))
        i--;
    return end > 0 && isdigit((unsigned char)s[end - 1]) &&
           (i == 0 || !isalpha((unsigned char)s[i - 1]));
}

/* The end of the word at s[at] if it is a unit after a number, in its only right case; `at`: it is
 * none. */
static size_t unit_end(const char *s, size_t n, size_t at)
{
    static const char units[] =
        " mg mcg g kg ml cl dl l hl mm cm m km h min mmol mmHg kcal kJ kW kWh MW W V mV mA kHz MHz "
        "GHz Hz kB MB GB TB dB hPa kPa lb lbs oz ft mph rpm ";
    char word[8] = " ";
    size_t to = at;
    while (to < n && isalpha((unsigned char)s[to]))
        to++;
    if (to == at || to - at + 3 > sizeof word)
        return at;
    memcpy(word + 1, s + at, to - at);
    word[to - at + 1] = ' ';
    return strstr(units, word) && follows_number(s, at) ? to : at;
}

/* The unit of sentence s[n] that a[len] is in another case; NULL: there is none, or a[len] is one.
 */
static const char *find_unit(const char *s, size_t n, const char *a, size_t len)
{
    const char *found = NULL;
    size_t at = 0;
    while (at < n) {
        const size_t to = unit_end(s, n, at);
        if (to - at == len && strncasecmp(s + at, a, len) == 0) {
            if (memcmp(s + at, a, len) == 0)
                return NULL;
            found = s + at;
        }
        at = to == at ? at + 1 : to;
    }
    return found;
}

void dg_draft_write_units(struct dg_draft *d)
{
    const char *const sentence = d->sentence;
    char *const s = d->text.data;
    dg_draft_find_terms(d);
    for (size_t at = 1, to; at < d->text.len; at = to) {
        for (to = at; to < d->text.len && isalpha((unsigned char)s[to]);)
            to++;
        const char *unit = to > at && follows_number(s, at)
                               ? find_unit(sentence, strlen(sentence), s + at, to - at)
                               : NULL;
        if (unit && !dg_draft_has_term(d, at, to))
            memcpy(s + at, unit, to - at);
        to += to == at;
    }
}
