#include "translate/part_numbers.h"

#include "text/numbers/number_style.h"
#include "text/scan.h"
#include "translate/terms.h"

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

void dg_part_splice(struct dg_buffer *text, const size_t at[2], const char *s, size_t n,
    size_t *ends, size_t n_ends)
{
    const size_t begin = at[0], end = at[1], tail = text->len - end;
    if (n > end - begin) /* make room for the longer text */
        dg_buffer_add(text, s, n - (end - begin));
    if (text->failed)
        return;
    memmove(text->data + begin + n, text->data + end, tail);
    memcpy(text->data + begin, s, n);
    text->len = begin + n + tail;
    text->data[text->len] = '\0';
    for (size_t i = 0; i < n_ends; i++)
        if (ends[i] > begin)
            ends[i] = ends[i] > end ? ends[i] - end + begin + n : begin + n;
}

void dg_part_write_numbers(const struct dg_job *j, const struct dg_part *p, struct dg_buffer *text,
    size_t from, size_t *ends, size_t n)
{
    struct dg_number_styles styles;
    struct dg_term_places terms;
    if (!p->text || !dg_number_styles_find(j->language, j->target_language, &styles) ||
        text->len == from)
        return;
    const size_t len = strlen(p->text);
    dg_part_place_terms(p, text->data + from, text->len - from, &terms);
    for (size_t begin, end = from; !text->failed && end < text->len;) {
        struct dg_number x;
        char written[DG_NUMBER_BYTES];
        end = dg_number_next(text->data, text->len, end, &begin);
        if (!end)
            break;
        if (!find_meant(&styles, p->text, len, text->data + begin, end - begin, &x) ||
            dg_term_places_touch(&terms, text->len - from, begin - from, end - from))
            continue;
        const size_t bytes = dg_number_write(styles.target, &x, written);
        dg_part_splice(text, (size_t[2]){begin, end}, written, bytes, ends, n);
        end = begin + bytes;
    }
}

/* True if a number is before s[at], perhaps with blanks between: "20 ", not "XX1 ", a stand-in. */
static bool follows_number(const char *s, size_t from, size_t at)
{
    const size_t end = dg_scan_trim_space(s, from, at);
    size_t i = end;
    while (i > from && (isdigit((unsigned char)s[i - 1]) || strchr(".,", s[i - 1])))
        i--;
    return end > from && isdigit((unsigned char)s[end - 1]) &&
           (i == from || !isalpha((unsigned char)s[i - 1]));
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
    return strstr(units, word) && follows_number(s, 0, at) ? to : at;
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

void dg_part_write_units(const struct dg_part *p, struct dg_buffer *text, size_t from)
{
    struct dg_term_places terms;
    if (!p->text || text->len == from)
        return;
    dg_part_place_terms(p, text->data + from, text->len - from, &terms);
    for (size_t at = from + 1, to; at < text->len; at = to) {
        for (to = at; to < text->len && isalpha((unsigned char)text->data[to]);)
            to++;
        const char *unit = to > at && follows_number(text->data, from, at)
                               ? find_unit(p->text, strlen(p->text), text->data + at, to - at)
                               : NULL;
        if (unit && !dg_term_places_touch(&terms, text->len - from, at - from, to - from))
            memcpy(text->data + at, unit, to - at);
        to += to == at;
    }
}
