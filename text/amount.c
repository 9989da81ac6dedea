#include "text/amount.h"

#include "text/scan.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <unicode/uchar.h>

enum { LONGEST = 64, GROUP = 3 };

/* One amount. */
struct amount {
    size_t end;
    /* its currency's sign is before or after the number */
    bool before, after;
    /* it has letters for thousands or more */
    bool scaled;
};

/* Skips a currency's sign, also with a country's capitals before it (US$); `at`: there is none. */
static size_t skip_sign(const char *s, size_t at, size_t end)
{
    size_t i = at;
    while (i < end && i < at + 2 && isupper((unsigned char)s[i]))
        i++;
    const bool country = i > at;
    const int32_t c = i < end ? dg_scan_next(s, end, &i) : 0;
    return c > 0 && (country ? c == '$' : u_charType(c) == U_CURRENCY_SYMBOL) ? i : at;
}

static size_t skip_digits(const char *s, size_t at, size_t end)
{
    while (at < end && isdigit((unsigned char)s[at]))
        at++;
    return at;
}

static size_t skip_space(const char *s, size_t at, size_t end)
{
    size_t next = at;
    const int32_t c = at < end ? dg_scan_next(s, end, &next) : 0;
    return c == ' ' || c == 0xA0 || c == 0x2009 || c == 0x202F ? next : at;
}

/* Skips 1,250.50 and 1 250,50. */
static size_t skip_number(const char *s, size_t at, size_t end)
{
    size_t i = skip_digits(s, at, end);
    while (i > at && i < end) {
        const bool sign = s[i] && strchr(".,'", s[i]);
        const size_t next = sign ? i + 1 : skip_space(s, i, end), to = skip_digits(s, next, end);
        if (next == i || to == next || (!sign && to != next + GROUP))
            break;
        i = to;
    }
    return i;
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
    const size_t number = skip_sign(s, at, end), to = skip_number(s, number, end);
    *out = (struct amount){.end = to, .before = number > at};
    if (to == number)
        return false;
    const size_t scale = out->before ? to : skip_space(s, to, end),
                 scaled = skip_scale(s, scale, end);
    out->scaled = scaled > scale;
    if (out->scaled)
        out->end = scaled;
    if (out->before)
        return true;
    const size_t sign = skip_space(s, out->end, end);
    out->end = skip_sign(s, sign, end);
    out->after = out->end > sign;
    return out->after;
}

static bool is_dash(int32_t c)
{
    return c == '-' || (c >= 0x2010 && c <= 0x2014);
}

size_t dg_amount_end(const char *s, size_t at, size_t end)
{
    struct amount first, second;
    end = end - at > LONGEST ? at + LONGEST : end;
    if (!read_amount(s, at, end, &first))
        return at;
    size_t i = skip_space(s, first.end, end);
    if (i < end && is_dash(dg_scan_next(s, end, &i)) &&
        read_amount(s, skip_space(s, i, end), end, &second) && second.before == first.before)
        return second.end;
    return first.scaled ? first.end : at;
}
