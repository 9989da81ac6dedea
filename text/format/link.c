#include "text/format/link.h"

#include <ctype.h>
#include <string.h>

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

size_t dg_link_skip_space(const char *s, size_t at, size_t end)
{
    bool line = false;
    while (at < end &&
           (s[at] == ' ' || s[at] == '\t' || is_line_end(s[at]) || (line && s[at] == '>'))) {
        line = line || is_line_end(s[at]);
        at++;
    }
    return at;
}

static bool is_escape(const char *s, size_t at, size_t end)
{
    return s[at] == '\\' && at + 1 < end && ispunct((unsigned char)s[at + 1]);
}

/* The next `close` from `at` on that is not escaped, or end. */
static size_t find_close(const char *s, size_t at, size_t end, char close)
{
    while (at < end && s[at] != close)
        at += is_escape(s, at, end) ? 2 : 1;
    return at < end ? at : end;
}

/* Skips "/a(b)c" or "<an address>"; `end` if the latter is not closed. */
static size_t skip_address(const char *s, size_t at, size_t end)
{
    size_t depth = 0;
    if (at < end && s[at] == '<') {
        at = find_close(s, at, end, '>');
        return at < end ? at + 1 : end;
    }
    for (; at < end && (unsigned char)s[at] > ' '; at += is_escape(s, at, end) ? 2 : 1) {
        if (s[at] == '(')
            depth++;
        else if (s[at] == ')' && depth-- == 0)
            return at;
    }
    return at < end ? at : end;
}

/* Finds the end of "(address "title")" from s[at] == '(' on; false: it is not closed. */
static bool inline_end(const char *s, size_t at, size_t end, struct dg_link_end *out)
{
    size_t i = skip_address(s, dg_link_skip_space(s, at + 1, end), end);
    i = dg_link_skip_space(s, i, end);
    if (i < end && strchr("\"'(", s[i])) {
        out->title = i + 1;
        out->title_end = find_close(s, i + 1, end, s[i] == '(' ? ')' : s[i]);
        i = dg_link_skip_space(s, out->title_end < end ? out->title_end + 1 : end, end);
    }
    out->end = i + 1;
    return i < end && s[i] == ')';
}

void dg_link_end_find(const char *s, size_t at, size_t end, struct dg_link_end *out)
{
    *out = (struct dg_link_end){.end = at + 1};
    if (at + 1 < end && s[at + 1] == '(') {
        if (inline_end(s, at + 1, end, out))
            return;
        *out = (struct dg_link_end){.end = at + 1};
    } else if (at + 1 < end && s[at + 1] == '[') {
        size_t close = find_close(s, at + 2, end, ']');
        out->end = close < end ? close + 1 : at + 1;
    }
}

bool dg_link_has_own_label(const char *s, size_t begin, size_t at, size_t end)
{
    const bool ends =
        (end == at + 1 && s[at] == ']') || (end == at + 3 && memcmp(s + at, "][]", 3) == 0);
    /* No label has brackets; a text that has them is one of another kind of link. */
    return ends && begin < at && find_close(s, begin, at, '[') == at &&
           find_close(s, begin, at, ']') == at;
}
