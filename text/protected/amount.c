#include "text/protected/amount.h"

#include "text/scan.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <unicode/uchar.h>

/* maximum bytes of an amount; fewest digits of one that is no short form and no range */
enum { LONGEST = 64, DIGITS = 3, GROUP = 3 };

/* One amount. */
struct amount {
    size_t end;
    /* its sign, its number, and the digits of it */
    size_t sign, sign_end, number, number_end, digits;
    /* its currency's sign is before the number */
    bool before;
    /* it has letters for thousands or more; a dash for cents */
    bool scaled, whole;
};

/* Skips a currency's sign, also with a country's capitals before it (US$), or its code; `at`: there
 * is none. */
static size_t skip_sign(const char *s, size_t at, size_t end)
{
    static const char *const codes[] = {"EUR", "USD", "GBP", "CHF"};
    size_t i = at;
    for (size_t k = 0; k < sizeof codes / sizeof *codes; k++)
        if (end - at >= 3 && memcmp(s + at, codes[k], 3) == 0)
            return at + 3 < end && isalpha((unsigned char)s[at + 3]) ? at : at + 3;
    while (i < end && i < at + 2 && isupper((unsigned char)s[i]))
        i++;
    const bool country = i > at;
    const int32_t c = i < end ? dg_scan_next(s, end, &i) : 0;
    return c > 0 && (country ? c == '$' : u_charType(c) == U_CURRENCY_SYMBOL) ? i : at;
}

static bool is_dash(int32_t c)
{
    return c == '-' || (c >= 0x2010 && c <= 0x2014);
}

static bool is_blank(int32_t c)
{
    return c == ' ' || c == 0xA0 || c == 0x2009 || c == 0x202F;
}

static size_t skip_space(const char *s, size_t at, size_t end)
{
    size_t next = at;
    const int32_t c = at < end ? dg_scan_next(s, end, &next) : 0;
    return is_blank(c) ? next : at;
}

/* Skips 1,250.50 and 1 250,50. */
static size_t skip_number(const char *s, size_t at, size_t end)
{
    size_t i = dg_scan_skip_ascii_digits(s, at, end);
    while (i > at && i < end) {
        const bool sign = s[i] && strchr(".,'", s[i]);
        const size_t next = sign ? i + 1 : skip_space(s, i, end),
                     to = dg_scan_skip_ascii_digits(s, next, end);
        if (next == i || to == next || (!sign && to != next + GROUP))
            break;
        i = to;
    }
    return i;
}

static bool is_group_sign(int32_t c)
{
    return c == ',' || c == '.' || c == '\'' || c == 0x2019 || is_blank(c);
}

/* Skips a number of two groups of thousands or more, perhaps with decimals: 1,234,567.5; `at`: none
 * begins there. */
static size_t skip_grouped(const char *s, size_t at, size_t end)
{
    size_t i = dg_scan_skip_ascii_digits(s, at, end), groups = 0;
    int32_t sign = 0;
    if (i == at || i - at > GROUP || s[at] == '0' ||
        (at > 1 && s[at - 1] && strchr(",.:'", s[at - 1]) && isdigit((unsigned char)s[at - 2])))
        return at;
    for (size_t next = i; i < end; next = i) {
        const int32_t c = dg_scan_next(s, end, &next);
        const size_t to = dg_scan_skip_ascii_digits(s, next, end);
        if (!is_group_sign(c) || (groups && c != sign) || to != next + GROUP)
            break;
        sign = c;
        groups++;
        i = to;
    }
    size_t next = i;
    const int32_t c = i < end ? dg_scan_next(s, end, &next) : 0;
    if (is_group_sign(c) && next < end && isdigit((unsigned char)s[next])) {
        if (c == sign)
            return at;
        if (c == '.' || c == ',')
            i = dg_scan_skip_ascii_digits(s, next, end);
    }
    return groups >= 2 ? i : at;
}

/* Skips ",-", ".–" and the like, which say that there are no cents; `at`: they are not there. */
static size_t skip_no_cents(const char *s, size_t at, size_t end)
{
    size_t to = at + 1;
    if (end - at < 2 || (s[at] != ',' && s[at] != '.') || !is_dash(dg_scan_next(s, end, &to)))
        return at;
    while (to < end && s[to] == '-')
        to++;
    return to;
}

/* Skips letters for thousands, millions and so on; `at`: there are none, or a longer word. */
static size_t skip_scale(const char *s, size_t at, size_t end)
{
    static const char *const scales[] = {
        "k", "K", "m", "M", "MM", "mn", "Mn", "b", "B", "bn", "Bn", "tn", "Md", "Mds", "Mrd"};
    size_t to = at;
    while (to < end && isalpha((unsigned char)s[to]))
        to++;
    for (size_t k = 0; k < sizeof scales / sizeof *scales; k++)
        if (strlen(scales[k]) == to - at && memcmp(s + at, scales[k], to - at) == 0)
            return to;
    return at;
}

/* False: none begins here. */
static bool read_amount(const char *s, size_t at, size_t end, struct amount *out)
{
    const size_t sign = skip_sign(s, at, end), number = sign > at ? skip_space(s, sign, end) : at,
                 to = skip_number(s, number, end);
    *out = (struct amount){.end = to,
        .number = number,
        .number_end = to,
        .before = sign > at,
        .sign = at,
        .sign_end = sign};
    if (to == number)
        return false;
    for (size_t i = number; i < to; i++)
        out->digits += isdigit((unsigned char)s[i]) != 0;
    const size_t whole = skip_no_cents(s, to, end),
                 scale = out->before ? to : skip_space(s, to, end),
                 scaled = skip_scale(s, scale, end);
    out->whole = whole > to;
    out->scaled = scaled > scale;
    if (out->scaled || out->whole)
        out->end = out->whole ? whole : scaled;
    if (out->before)
        return true;
    out->sign = skip_space(s, out->end, end);
    out->end = out->sign_end = skip_sign(s, out->sign, end);
    return out->sign_end > out->sign;
}

/* Skips "/kg": small models write other words for it. */
static size_t skip_per_kilo(const char *s, size_t at, size_t end)
{
    return end - at > 2 && memcmp(s + at, "/kg", 3) == 0 &&
                   (end - at == 3 || !isalnum((unsigned char)s[at + 3]))
               ? at + 3
               : at;
}

/* Skips 0.5 ml/kg; `at`: it is not there. */
static size_t skip_dose(const char *s, size_t at, size_t end)
{
    const size_t number = skip_number(s, at, end), unit = skip_space(s, number, end);
    size_t to = unit;
    while (to < end && isalpha((unsigned char)s[to]))
        to++;
    const size_t kilo = skip_per_kilo(s, to, end);
    return number > at && to > unit && kilo > to ? kilo : at;
}

/* True if a word for thousands or more follows byte `at`: the amount is that of the whole. */
static bool is_counted(const char *s, size_t at, size_t end)
{
    static const char *const words[] = {"hundred", "thousand", "milli", "billi", "trilli",
        "tausend", "tsd", "mio", "mrd", "mille", "bn", "mn", "k ", "m ", "b "};
    at = skip_space(s, at, end);
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (end - at >= strlen(words[k]) && strncasecmp(s + at, words[k], strlen(words[k])) == 0)
            return true;
    return false;
}

/* Reads a range or a single amount; .end is its end, false: none begins here. *range: it is one. */
static bool read_all(const char *s, size_t at, size_t end, struct amount *out, bool *range)
{
    struct amount second;
    *range = false;
    if (!read_amount(s, at, end, out))
        return false;
    size_t i = skip_space(s, out->end, end);
    if (i < end && is_dash(dg_scan_next(s, end, &i)) &&
        read_amount(s, skip_space(s, i, end), end, &second) && second.before == out->before) {
        out->end = second.end;
        *range = true;
    }
    return true;
}

/* Skips a minus sign that begins a word. */
static size_t skip_minus(const char *s, size_t at, size_t end)
{
    size_t to = at, before = at;
    const int32_t c = at < end ? dg_scan_next(s, end, &to) : 0,
                  last = at > 0 ? dg_scan_prev(s, 0, &before) : ' ';
    return (c == '-' || c == 0x2212) && (dg_scan_is_space(last) || last == '(') ? to : at;
}

size_t dg_amount_end(const char *s, size_t at, size_t end)
{
    struct amount a;
    bool range;
    end = end - at > LONGEST ? at + LONGEST : end;
    if (!read_all(s, skip_minus(s, at, end), end, &a, &range)) {
        const size_t dose = skip_dose(s, at, end);
        return dose > at ? dose : skip_grouped(s, at, end);
    }
    const bool per = end - a.end > 1 && s[a.end] == '/' && isalpha((unsigned char)s[a.end + 1]),
               price = (a.digits >= DIGITS || per) && !is_counted(s, a.end, end);
    return range || a.scaled || a.whole || price ? skip_per_kilo(s, a.end, end) : at;
}

bool dg_amount_is(const char *s, size_t n)
{
    return n > 0 && dg_amount_end(s, 0, n) == n;
}

bool dg_amount_is_price(const char *s, size_t n, struct dg_price *out)
{
    struct amount a;
    bool range;
    if (!read_all(s, skip_minus(s, 0, n), n, &a, &range) || range || a.scaled ||
        skip_per_kilo(s, a.end, n) != n)
        return false;
    *out = (struct dg_price){a.sign, a.sign_end, a.number, a.number_end, a.end};
    return !isalpha((unsigned char)s[out->sign_end - 1]);
}
