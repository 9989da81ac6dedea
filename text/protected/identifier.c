#include "text/protected/identifier.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* maximum bytes of a code; minimum letters and digits of a hash, and of a hash whose letters or
 * digits all come first */
enum { LONGEST = 128, HASH = 7, LONG_HASH = 12 };

struct code {
    size_t end;
    size_t letters, digits;
    /* changes from letters to digits and back */
    size_t changes;
    bool capital, small;
    /* letters beyond f */
    bool beyond_hex;
    /* signs between its groups; ":" among them */
    bool signs, colon;
};

static bool is_alnum(const char *s, size_t at, size_t end)
{
    return at < end && isalnum((unsigned char)s[at]);
}

/* Reads letters and digits, also in groups with a sign between them. */
static struct code read_code(const char *s, size_t at, size_t end)
{
    struct code c = {.end = at};
    bool was_digit = false;
    while (c.end < end) {
        const char x = s[c.end];
        const bool digit = isdigit((unsigned char)x);
        if (!is_alnum(s, c.end, end)) {
            if (c.end == at || !x || !strchr("-_/:", x) || !is_alnum(s, c.end + 1, end))
                break;
            c.signs = true;
            c.colon = c.colon || x == ':';
            c.end++;
            continue;
        }
        c.changes += c.letters + c.digits > 0 && digit != was_digit;
        was_digit = digit;
        c.digits += digit;
        c.letters += !digit;
        c.capital = c.capital || isupper((unsigned char)x);
        c.small = c.small || islower((unsigned char)x);
        c.beyond_hex = c.beyond_hex || (!digit && !isxdigit((unsigned char)x));
        c.end++;
    }
    return c;
}

/* True if letters and digits alternate as if they were drawn: "B0GZ44Y6". */
static bool is_random(const struct code *c)
{
    return c->digits >= 3 && c->changes >= 4;
}

static bool is_code(const struct code *c, bool begins_with_letter)
{
    const size_t n = c->letters + c->digits;
    const bool one_case = c->letters > 0 && !(c->capital && c->small);
    if (one_case && !c->beyond_hex && c->digits >= 2 && n >= HASH &&
        (c->changes >= 2 || n >= LONG_HASH))
        return true;
    if (!one_case || c->small)
        return !c->signs && is_random(c);
    if (c->colon)
        return false;
    return is_random(c) || (c->digits >= 5 && (begins_with_letter || c->changes >= 2));
}

/* True if capital s[i] of the word s[at, end) begins a part of a name: "parseInt", not "mmHg", nor
 * "studentInnen". */
static bool begins_part(const char *s, size_t at, size_t i, size_t end)
{
    static const char innen[] = "Innen";
    const size_t n = strlen(innen);
    return i >= at + 2 && end - i >= 3 && isupper((unsigned char)s[i]) &&
           islower((unsigned char)s[i - 1]) && islower((unsigned char)s[i + 1]) &&
           islower((unsigned char)s[i + 2]) && (end - i < n || memcmp(s + i, innen, n) != 0);
}

/* True if the word s[at, end) has parts of two letters and more with "_" between them: "foo_bar",
 * not "b_c", nor "Pre_ferences", where "_" is the sign of a key. */
static bool has_parts(const char *s, size_t at, size_t end)
{
    const char *sign = memchr(s + at, '_', end - at);
    const size_t first = sign ? (size_t)(sign - s) : end;
    size_t small = at + 1;
    if (end - first < 3 || first - at < 2)
        return false;
    while (small < end && (small == first || islower((unsigned char)s[small])))
        small++;
    return small < end || islower((unsigned char)s[at]);
}

size_t dg_identifier_name_end(const char *s, size_t at, size_t end)
{
    size_t i = at;
    const size_t most = end - at > LONGEST ? at + LONGEST : end;
    if (at == end || !isalpha((unsigned char)s[at]))
        return at;
    while (is_alnum(s, i, most) || (i < most && s[i] == '_' && is_alnum(s, i + 1, most)))
        i++;
    if (i == most && most < end)
        return at;
    if (end - i >= 2 && s[i] == '(' && s[i + 1] == ')' && i - at >= 2)
        return i + 2;
    bool is_name = has_parts(s, at, i);
    for (size_t k = at; k < i && islower((unsigned char)s[at]) && !is_name; k++)
        is_name = begins_part(s, at, k, i);
    return is_name ? i : at;
}

size_t dg_identifier_end(const char *s, size_t at, size_t end)
{
    const size_t most = end - at > LONGEST ? at + LONGEST : end;
    const struct code c = read_code(s, at, most);
    if (c.end == at || (c.end == most && most < end) || !is_code(&c, isalpha((unsigned char)s[at])))
        return at;
    /* "EUR12500,50" is a price */
    const bool goes_on = c.end + 1 < end && s[c.end] && strchr(".,'", s[c.end]) &&
                         isdigit((unsigned char)s[c.end + 1]);
    return goes_on ? at : c.end;
}
