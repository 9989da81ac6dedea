#include "text/placeholder_program.h"

#include "text/placeholder_word.h"

#include <string.h>

/* $1 to $9, and $$5, the price "$5" with its sign escaped; "$1.50" is a price. */
static size_t argument(const char *s, size_t at, size_t end)
{
    size_t i = at + 2;
    if (i < end && s[at + 1] == '$' && isdigit((unsigned char)s[i])) {
        while (i < end && (isdigit((unsigned char)s[i]) || (s[i] && strchr(".,", s[i]))))
            i++;
        while (!isdigit((unsigned char)s[i - 1])) /* "$$5..." */
            i--;
        return i;
    }
    const char after = at + 2 < end ? s[at + 2] : ' ', digit = at + 3 < end ? s[at + 3] : ' ';
    const bool price = (after == '.' || after == ',') && isdigit((unsigned char)digit);
    return at + 1 < end && s[at + 1] >= '1' && s[at + 1] <= '9' && !dg_placeholder_is_word(after) &&
                   !price
               ? at + 2
               : at;
}

/* %1 to %99 and %L1 of Qt; %Y and %-d of dates; not 50%1, 50%Y */
static size_t percent_program(const char *s, size_t at, size_t end)
{
    size_t i = at + 1, first;
    if (at > 0 && isdigit((unsigned char)s[at - 1]))
        return at;
    i += i < end && s[i] && strchr("-_^#L", s[i]);
    for (first = i; i < end && i < first + 2 && isdigit((unsigned char)s[i]);)
        i++;
    if (i == first && i < end && s[i] && strchr("aAbBdeHIjklmMpPSyYzZ", s[i]))
        return i + 1 < end && dg_placeholder_is_word(s[i + 1]) ? at : i + 1;
    const bool number = i > first && s[first] != '0' && (i == end || !dg_placeholder_is_word(s[i]));
    return number && (first == at + 1 || s[at + 1] == 'L') ? i : at;
}

/* --delay-directory-restore, --file=NAME */
static size_t option(const char *s, size_t at, size_t end)
{
    size_t i = at + 2;
    if (end - at < 4 || s[at + 1] != '-' || !islower((unsigned char)s[i]) ||
        dg_placeholder_follows_word(s, at) || (at > 0 && s[at - 1] == '-'))
        return at;
    while (i < end && i < at + DG_PLACEHOLDER_NAME && (isalnum((unsigned char)s[i]) || s[i] == '-'))
        i++;
    while (s[i - 1] == '-')
        i--;
    if (i <= at + 3)
        return at;
    return i < end && s[i] == '=' ? dg_placeholder_skip_word(s, i + 1, end) : i;
}

/* [1,19], [20,*] and ]0,Inf[ of Symfony and Laravel, at the beginning of a plural form:
 * "none|[1,19] some". */
static size_t interval(const char *s, size_t at, size_t end)
{
    size_t before = at, i = at + 1;
    while (before > 0 && s[before - 1] == ' ')
        before--;
    if (before > 0 && s[before - 1] != '|')
        return at;
    for (int side = 0; side < 2; side++) {
        const size_t number = i;
        while (i < end && (isdigit((unsigned char)s[i]) || (s[i] && strchr("*-Inf ", s[i]))))
            i++;
        if (i == number || i == end || (side == 0 ? s[i] != ',' : !strchr("[]", s[i])))
            return at;
        i++;
    }
    return i;
}

/* ~s, ~a of Lisp and Erlang; !name of Drupal; not "~5", "~s/x", "hey!you", "!a" */
static size_t marked(const char *s, size_t at, size_t end)
{
    const size_t i = dg_placeholder_skip_word(s, at + 1, end);
    if (dg_placeholder_follows_word(s, at) || (at > 0 && s[at - 1] && strchr("~!/<", s[at - 1])))
        return at;
    if (s[at] == '!')
        return i > at + 2 && islower((unsigned char)s[at + 1]) ? i : at;
    return i == at + 2 && strchr("asdpwcfgeBW", s[at + 1]) && !(i < end && s[i] == '/') ? i : at;
}

size_t dg_placeholder_program_next(
    const char *s, size_t from, size_t until, size_t end, size_t *begin)
{
    for (*begin = from; *begin < until; ++*begin) {
        const char c = s[*begin];
        const size_t to = c == '$'               ? argument(s, *begin, end)
                          : c == '%'             ? percent_program(s, *begin, end)
                          : c == '-'             ? option(s, *begin, end)
                          : c == '[' || c == ']' ? interval(s, *begin, end)
                          : c == '~' || c == '!' ? marked(s, *begin, end)
                                                 : *begin;
        if (to > *begin)
            return to;
    }
    return 0;
}
