#include "text/protected/quantity.h"

#include "text/letter_case.h"
#include "text/numbers/number_style.h"
#include "text/numbers/spelt_hours.h"
#include "text/numbers/spelt_numbers.h"
#include "text/protected/address.h"
#include "text/protected/amount.h"
#include "text/protected/foreign.h"
#include "text/protected/salutation.h"
#include "text/scan.h"

#include <assert.h>
#include <ctype.h>
#include <string.h>

bool dg_quantity_is_words(const char *s, size_t n)
{
    struct dg_spelt_hour hour;
    return dg_spelt_number_value(NULL, s, n) > 0 || dg_spelt_hour_read(NULL, s, n, &hour) ||
           dg_salutation_is(NULL, s, n);
}

bool dg_quantity_is(const char *s, size_t n)
{
    return dg_amount_is(s, n) || dg_quantity_is_words(s, n);
}

/* Append the words for the number or the hour that s[n] spells out. False: it is neither. */
static bool write_value(
    const char *from, const char *to, const char *s, size_t n, struct dg_buffer *out)
{
    struct dg_spelt_hour hour;
    if (dg_spelt_hour_read(from, s, n, &hour))
        return dg_spelt_hour_write(to, &hour, out);
    const unsigned value = dg_spelt_number_value(from, s, n);
    return value > 0 && dg_spelt_number_write(to, value, out);
}

bool dg_quantity_write_words(
    const char *from, const char *to, const char *s, size_t n, struct dg_buffer *out)
{
    const size_t begin = out->len;
    if (dg_salutation_write(from, to, s, n, out))
        return true;
    if (!write_value(from, to, s, n, out))
        return false;
    /* "Viertel" is a noun, with a capital anywhere */
    const bool is_noun = strncmp(s, "Viertel", n < 7 ? n : 7) == 0;
    if (out->failed || !isupper((unsigned char)s[0]) || is_noun)
        return true;
    out->data[begin] = (char)toupper((unsigned char)out->data[begin]);
    if (!isupper((unsigned char)s[1]))
        return true;
    char words[64];
    const size_t len = out->len - begin;
    assert(len < sizeof words);
    memcpy(words, out->data + begin, len);
    out->len = begin;
    return dg_letter_case_upper(to, words, len, out, NULL) == 0;
}

bool dg_quantity_has_words(const char *from, const char *to, const char *s, size_t n)
{
    struct dg_buffer scratch;
    dg_buffer_init(&scratch);
    const bool has = dg_quantity_write_words(from, to, s, n, &scratch);
    dg_buffer_deinit(&scratch);
    return has;
}

/* True if s[n] has only signs and blanks. */
static bool are_signs(const char *s, size_t n)
{
    for (size_t at = 0; at < n;) {
        const int32_t c = dg_scan_next(s, n, &at);
        if (c != ' ' && c != 0xA0 && c != '$' && !dg_foreign_is_sign(c))
            return false;
    }
    return true;
}

/* Append the price s[n] with its sign on the side where language `to` writes it. False: s is none,
 * the sign is there, or the model does not know it. */
static bool write_price(const struct dg_alphabet *known, const struct dg_number_styles *styles,
    const char *to, const char *s, size_t n, struct dg_buffer *out)
{
    const enum dg_sign_side side = dg_number_sign_side(to);
    char written[DG_NUMBER_BYTES];
    struct dg_price price;
    struct dg_number x;
    if (side == DG_SIGN_ANYWHERE || !dg_amount_is(s, n) || !dg_amount_is_price(s, n, &price))
        return false;
    const size_t first = price.sign < price.number ? price.sign : price.number; /* after a minus */
    if (dg_foreign_end(known, s, first, n) > first ||
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
static bool write_numbers(const struct dg_number_styles *styles, const char *s, size_t n,
    size_t begin, size_t end, struct dg_buffer *out)
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

bool dg_quantity_write_amount(const struct dg_alphabet *known, const char *from, const char *to,
    const char *s, size_t n, struct dg_buffer *out)
{
    struct dg_number_styles styles;
    size_t begin;
    const size_t end =
        dg_number_styles_find(from, to, &styles) ? dg_number_next(s, n, 0, &begin) : 0;
    if (!end || dg_address_web(s, 0, n) == n) /* "192.168.100.200" */
        return false;
    if (write_price(known, &styles, to, s, n, out))
        return true;
    const bool is_price =
        (are_signs(s, begin) && are_signs(s + end, n - end)) || dg_amount_is(s, n);
    return is_price && write_numbers(&styles, s, n, begin, end, out);
}
