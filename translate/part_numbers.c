#include "translate/part_numbers.h"

#include "text/protected/address.h"
#include "text/protected/amount.h"
#include "text/protected/foreign.h"
#include "text/letter_case.h"
#include "text/numbers/number_style.h"
#include "text/protected/salutation.h"
#include "text/scan.h"
#include "text/numbers/spelt_hours.h"
#include "text/numbers/spelt_numbers.h"
#include "text/utf8.h"
#include "translate/terms.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>
#include <strings.h>

/* How the source and the target language write numbers. */
struct styles {
    const struct dg_number_style *source, *target;
};

/* False: one of them is not known, or both are the same. */
static bool find_styles(const struct dg_job *j, struct styles *out)
{
    out->source = dg_number_style_of(j->language);
    out->target = dg_number_style_of(j->target_language);
    return out->source && out->target && out->source != out->target;
}

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
static bool find_meant(const struct styles *styles, const char *s, size_t len, const char *a,
    size_t n, struct dg_number *out)
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
    struct styles styles;
    struct dg_term_places terms;
    if (!p->text || !find_styles(j, &styles) || text->len == from)
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

/* True if s[n] has only signs and blanks. */
static bool are_signs(const char *s, size_t n)
{
    for (size_t at = 0; at < n;) {
        const uint32_t c = dg_utf8_next(s, n, &at);
        if (c != ' ' && c != 0xA0 && c != '$' && !dg_foreign_is_sign((int32_t)c))
            return false;
    }
    return true;
}

/* Append the price s[n], whose sign the model knows, with the sign where the target language writes
 * it. False: it is none, or the sign is there. */
static bool write_price_over(const struct dg_job *j, const struct styles *styles, const char *s,
    size_t n, struct dg_buffer *out)
{
    const enum dg_sign_side side = dg_number_sign_side(j->target_language);
    char written[DG_NUMBER_BYTES];
    struct dg_price price;
    struct dg_number x;
    if (side == DG_SIGN_ANYWHERE || !dg_amount_is(s, n) || !dg_amount_is_price(s, n, &price))
        return false;
    const size_t first = price.sign < price.number ? price.sign : price.number; /* after a minus */
    if (dg_foreign_end(j->t->alphabet, s, first, n) > first ||
        (price.sign < price.number) == (side == DG_SIGN_BEFORE) ||
        !dg_number_read(styles->source, s + price.number, price.number_end - price.number, &x))
        return false;
    const size_t bytes = dg_number_write(styles->target, &x, written);
    dg_buffer_add(out, s, first);
    if (side == DG_SIGN_AFTER) {
        dg_buffer_add(out, written, bytes);
        dg_buffer_adds(out, "\xC2\xA0");
    }
    dg_buffer_add(out, s + price.sign, price.sign_end - price.sign);
    if (side == DG_SIGN_BEFORE)
        dg_buffer_add(out, written, bytes);
    dg_buffer_add(out, s + price.end, n - price.end);
    return true;
}

/* Append s[n] with its numbers, of which the first is s[begin, end), in the target's notation.
 * False: there is nothing to change. */
static bool write_numbers(const struct styles *styles, const char *s, size_t n, size_t begin,
    size_t end, struct dg_buffer *out)
{
    const size_t from = out->len;
    size_t at = 0;
    bool changed = false;
    for (; end > 0; end = dg_number_next(s, n, end, &begin)) {
        char written[DG_NUMBER_BYTES];
        struct dg_number x;
        if (!dg_number_read(styles->source, s + begin, end - begin, &x)) {
            changed = false;
            break;
        }
        const size_t bytes = dg_number_write(styles->target, &x, written);
        dg_buffer_add(out, s + at, begin - at);
        dg_buffer_add(out, written, bytes);
        changed = changed || x.grouped || x.n_fraction;
        at = end;
    }
    if (changed)
        dg_buffer_add(out, s + at, n - at);
    else
        out->len = from;
    return changed;
}

bool dg_part_write_price(const struct dg_job *j, const char *s, size_t n, struct dg_buffer *out)
{
    struct styles styles;
    size_t begin;
    const size_t end = find_styles(j, &styles) ? dg_number_next(s, n, 0, &begin) : 0;
    if (!end || dg_address_web(s, 0, n) == n) /* "192.168.100.200" */
        return false;
    if (write_price_over(j, &styles, s, n, out))
        return true;
    const bool is_price =
        (are_signs(s, begin) && are_signs(s + end, n - end)) || dg_amount_is(s, n);
    return is_price && write_numbers(&styles, s, n, begin, end, out);
}

/* Appends the words for the number or the hour that s[n] spells out. False: it is neither. */
static bool write_words(const struct dg_job *j, const char *s, size_t n, struct dg_buffer *out)
{
    struct dg_spelt_hour hour;
    if (dg_spelt_hour_read(j->language, s, n, &hour))
        return dg_spelt_hour_write(j->target_language, &hour, out);
    const unsigned value = dg_spelt_number_value(j->language, s, n);
    if (value == 0 || !dg_spelt_number_is_of(j->target_language))
        return false;
    dg_spelt_number_write(j->target_language, value, out);
    return true;
}

bool dg_part_write_spelt(const struct dg_job *j, const char *s, size_t n, struct dg_buffer *out)
{
    const size_t from = out->len;
    if (dg_salutation_write(j->language, j->target_language, s, n, out))
        return true;
    if (!write_words(j, s, n, out))
        return false;
    /* "Viertel" is a noun, with a capital anywhere */
    const bool is_noun = strncmp(s, "Viertel", n < 7 ? n : 7) == 0;
    if (out->failed || !isupper((unsigned char)s[0]) || is_noun)
        return true;
    out->data[from] = (char)toupper((unsigned char)out->data[from]);
    if (!isupper((unsigned char)s[1]))
        return true;
    char words[64];
    const size_t len = out->len - from;
    assert(len < sizeof words);
    memcpy(words, out->data + from, len);
    out->len = from;
    return dg_letter_case_upper(j->target_language, words, len, out, NULL) == 0;
}
