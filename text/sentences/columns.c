#include "text/sentences/columns.h"

#include "text/scan.h"

#include <ctype.h>
#include <string.h>

#define WIDE 4 /* blanks that part columns in every line */
#define AFTER_OPTIONS 2
#define LONGEST_OPTIONS 120 /* bytes */

static size_t skip_blanks(const char *s, size_t at, size_t end)
{
    while (at < end && s[at] == ' ')
        at++;
    return at;
}

/* Three blanks are between columns, too, but not in justified text, which has two elsewhere. */
static size_t find_blanks(const char *s, size_t at, size_t end)
{
    for (size_t to; at < end; at = to + 1) {
        const char *blank = memchr(s + at, ' ', end - at);
        if (!blank)
            break;
        at = (size_t)(blank - s);
        to = skip_blanks(s, at, end);
        if (to - at == 2)
            return WIDE;
    }
    return WIDE - 1;
}

void dg_columns_open(struct dg_columns *c, const char *text, size_t begin, size_t end)
{
    *c = (struct dg_columns){.text = text, .at = begin, .end = end};
    c->blanks = find_blanks(text, begin, end);
}

/* True if white space, or an end of the line, is on both sides of s[at, to). */
static bool stands_alone(const struct dg_columns *c, size_t begin, size_t at, size_t to)
{
    size_t before = at;
    return (at == begin || dg_scan_is_space(dg_scan_prev(c->text, begin, &before))) &&
           (to == c->end || dg_scan_is_space(dg_scan_peek(c->text, to, c->end)));
}

/* True if s[begin, end) is options of a command, such as "-a, --all", "-o FILE" or "[-]istrip": the
 * first word begins with a dash, and none with a small letter. */
static bool are_options(const char *s, size_t begin, size_t end)
{
    if (end - begin < 2 || end - begin > LONGEST_OPTIONS ||
        (s[begin] != '-' && (s[begin] != '[' || s[begin + 1] != '-')) ||
        !(s[begin + 1] == '-' || isalnum((unsigned char)s[begin + 1])))
        return false;
    for (size_t i = begin + 1; i < end; i++)
        if (s[i - 1] == ' ' && islower((unsigned char)s[i]))
            return false;
    return s[begin] == '[' || s[begin + 1] == '-' || end - begin == 2 ||
           !isalnum((unsigned char)s[begin + 2]);
}

/* True if blanks s[at, to) part the column that begins at `begin` from another one. */
static bool are_wide(const struct dg_columns *c, size_t begin, size_t at, size_t to)
{
    if (to - at >= c->blanks)
        return true;
    return to - at >= AFTER_OPTIONS && to < c->end && are_options(c->text, begin, at);
}

/* The end of what parts two columns at byte `at` of the one that begins at `begin`, or `at`. */
static size_t border(struct dg_columns *c, size_t begin, size_t at)
{
    const char *s = c->text;
    size_t to = at;
    if (s[at] == '\t' || s[at] == '|')
        return at + 1;
    if (s[at] == ' ') {
        to = skip_blanks(s, at, c->end);
        return are_wide(c, begin, at, to) ? to : at;
    }
    if (!((unsigned char)s[at] & 0x80))
        return at;
    switch (dg_scan_next(s, c->end, &to)) {
    case 0xAB: /* « */
    case 0x2039: c->open_quotes++; return at;
    case 0xBB: /* » */
    case 0x203A:
        if (c->open_quotes > 0)
            return at;
        break;
    case 0xB7: /* · */
    case 0x2022: break;
    default: return at;
    }
    return stands_alone(c, begin, at, to) ? to : at;
}

bool dg_columns_next(struct dg_columns *c, size_t *begin, size_t *end)
{
    while (c->at < c->end) {
        const size_t from = dg_scan_skip_space(c->text, c->at, c->end);
        size_t at = from, to = from;
        while (at < c->end && (to = border(c, from, at)) == at)
            dg_scan_next(c->text, c->end, &at);
        c->at = at < c->end ? to : at;
        *begin = from;
        *end = dg_scan_trim_space(c->text, from, at);
        const bool more = at < c->at && c->at < c->end && c->text[at] == ' ';
        if (*begin < *end && !(more && are_options(c->text, *begin, *end)))
            return true;
    }
    return false;
}
