#include "text/protected/code_number.h"

#include "text/scan.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* most groups and bytes of a number; fewest digits of one with a sign that says what it is (+, a
 * bracket, 0 first), of one group, of several */
enum { MOST_GROUPS = 24, LONGEST = 64, SIGNED = 8, ALONE = 8, GROUPED = 9 };

/* What is between two groups of digits. */
enum between { NOTHING, BLANK, DOT, DASH, SLASH };

struct group {
    /* its digits, and the byte after it and its bracket */
    size_t begin, n, end;
    enum between before;
};

struct code {
    const char *s;
    /* the text's end; where reading ends, to keep the time linear */
    size_t whole, end;
    struct group groups[MOST_GROUPS];
    size_t n;
};

/* Reads digits, perhaps in brackets, at byte `at`; false: there are none. */
static bool read_group(const struct code *c, size_t at, struct group *g)
{
    const bool bracket = at < c->end && c->s[at] == '(';
    g->begin = at + bracket;
    g->end = dg_scan_skip_ascii_digits(c->s, g->begin, c->end);
    g->n = g->end - g->begin;
    if (bracket && (g->end == c->end || c->s[g->end] != ')'))
        return false;
    g->end += bracket;
    return g->n > 0;
}

/* Skips what may be between two groups at byte `at`. */
static size_t skip_between(const struct code *c, size_t at, enum between *what)
{
    size_t to = at;
    const int32_t sign = at < c->end ? dg_scan_next(c->s, c->end, &to) : 0;
    *what = NOTHING;
    switch (sign) {
    case '-':
    case 0x2011: *what = DASH; return to;
    case '.': *what = DOT; return to;
    case '/': *what = SLASH; return to;
    case ' ':
    case 0xA0:
    case 0x202F: *what = BLANK; break;
    default: return at;
    }
    if (c->end - to > 2 && c->s[to] == '/' && c->s[to + 1] == ' ') {
        *what = SLASH;
        to += 2;
    }
    return to;
}

/* True if the last group goes on as something else: "2nd", "5,50", "10:30". */
static bool is_cut(const struct code *c)
{
    size_t at = c->groups[c->n - 1].end, to = at;
    const int32_t next = at < c->whole ? dg_scan_next(c->s, c->whole, &to) : 0;
    if (dg_scan_is_letter(next) || dg_scan_is_digit(next) || next == '_' || next == '%')
        return true;
    return next > 0 && next < 0x80 && strchr(".,:'", next) && to < c->whole &&
           isdigit((unsigned char)c->s[to]);
}

static void read_groups(struct code *c, size_t at)
{
    enum between before = NOTHING;
    while (c->n < MOST_GROUPS && read_group(c, at, &c->groups[c->n])) {
        struct group *g = &c->groups[c->n];
        /* Dots are between all groups or none. */
        if (c->n > 1 && (before == DOT) != (c->groups[1].before == DOT))
            break;
        if (c->n > 0 && before == NOTHING && c->s[at] != '(' && c->s[at - 1] != ')')
            break;
        g->before = before;
        c->n++;
        at = skip_between(c, g->end, &before);
    }
    while (c->n > 0 && is_cut(c))
        c->n--;
}

/* 1.234.567, 12 345 678 */
static bool is_quantity(const struct code *c)
{
    const enum between first = c->groups[1].before;
    if ((first != BLANK && first != DOT) || c->groups[0].n > 3 || c->s[c->groups[0].begin] == '0')
        return false;
    for (size_t i = 1; i < c->n; i++)
        if (c->groups[i].n != 3 || c->groups[i].before != first)
            return false;
    return true;
}

/* True if what precedes the number says that it is one: a word in capitals that is no currency, or
 * a sign of numbers, as in "SIREN 123 456 789", "ID: 123 456 789", "n° 123 456 789". */
static bool is_named(const struct code *c)
{
    static const char *const signs[] = {"n°", "n\xC2\xBA", "no.", "nr.", "no", "nr", "ref.", "#"},
                             *const currencies[] = {"EUR", "USD", "GBP", "CHF", "JPY", "CAD", "AUD",
                                 "SEK", "NOK", "DKK", "PLN", "CZK"};
    const char *const s = c->s;
    size_t end = dg_scan_trim_space(s, 0, c->groups[0].begin);
    for (size_t k = 0; k < sizeof signs / sizeof *signs; k++) {
        const size_t n = strlen(signs[k]);
        if (end >= n && strncasecmp(s + end - n, signs[k], n) == 0 &&
            (end == n || !isalpha((unsigned char)s[end - n - 1])))
            return true;
    }
    end -= end > 0 && s[end - 1] == ':';
    end = dg_scan_trim_space(s, 0, end);
    size_t at = end;
    while (at > 0 && isupper((unsigned char)s[at - 1]))
        at--;
    for (size_t k = 0; k < sizeof currencies / sizeof *currencies; k++)
        if (end - at == 3 && memcmp(s + at, currencies[k], 3) == 0)
            return false;
    size_t before = at;
    return end - at >= 2 && (at == 0 || !dg_scan_is_letter(dg_scan_prev(s, 0, &before)));
}

/* 01/02/2024, 2024-02-01, 1.2.2024, perhaps with more after it */
static bool is_date(const struct code *c)
{
    const struct group *g = c->groups;
    if (c->n < 3 || c->n > 4 || g[1].before != g[2].before || g[1].before == BLANK || g[1].n > 2)
        return false;
    return g[0].n == 4 ? g[2].n <= 2 && c->s[g[0].begin] != '0'
                       : g[0].n <= 2 && (g[2].n == 4 || g[2].n == 2);
}

static bool is_code(const struct code *c, bool is_signed)
{
    const struct group *g = c->groups;
    size_t digits = 0;
    for (size_t i = 0; i < c->n; i++)
        digits += g[i].n;
    if (is_signed)
        return digits >= SIGNED && digits <= 2 * SIGNED;
    if (c->n < 2)
        return digits >= ALONE;
    if (is_date(c) || (is_quantity(c) && !(g[1].before == BLANK && is_named(c))))
        return false;
    if (g[1].before == DOT)
        return digits >= GROUPED + (c->n < 4) && c->n > 2;
    if (c->n == 2)
        return c->s[g[0].begin] == '0' && g[0].n > 2 && digits >= SIGNED;
    return digits >= GROUPED;
}

/* DE89 3704 0044 0532 0130 00, or without blanks: an account's IBAN. */
static size_t iban_end(const char *s, size_t at, size_t end)
{
    const char *const first = s + at;
    size_t i = at + 4, n = 4, to = at;
    if (end - at < 15 || !isupper((unsigned char)first[0]) || !isupper((unsigned char)first[1]) ||
        !isdigit((unsigned char)first[2]) || !isdigit((unsigned char)first[3]))
        return at;
    const bool blanks = s[i] == ' ';
    for (size_t k = 0; i < end && n < 34; k++) {
        const size_t begin = i + blanks, most = blanks ? 4 : 30;
        bool digit = k == 0;
        for (i = begin; i < end && i < begin + most; i++) {
            if (!isdigit((unsigned char)s[i]) && !isupper((unsigned char)s[i]))
                break;
            digit = digit || isdigit((unsigned char)s[i]);
        }
        if (i == begin || !digit || (i < end && isalnum((unsigned char)s[i])))
            break;
        n += i - begin;
        to = i;
        if (i - begin < 4 || i == end || s[i] != ' ' || !blanks)
            break;
    }
    return n >= 15 ? to : at;
}

size_t dg_code_number_end(const char *s, size_t at, size_t end)
{
    struct code c = {.s = s, .whole = end, .end = end - at > LONGEST ? at + LONGEST : end};
    const bool plus = s[at] == '+', is_signed = plus || s[at] == '(';
    if (isupper((unsigned char)s[at]))
        return iban_end(s, at, end);
    if (!is_signed && !isdigit((unsigned char)s[at]))
        return at;
    if (at > 1 && s[at - 1] && strchr(",.:'", s[at - 1]) && isdigit((unsigned char)s[at - 2]))
        return at;
    read_groups(&c, at + plus);
    return c.n > (s[at] == '(') && is_code(&c, is_signed) ? c.groups[c.n - 1].end : at;
}
