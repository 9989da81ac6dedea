#include "text/format/footnote.h"

#include <ctype.h>

size_t dg_footnote_reference(const char *s, size_t at, size_t end)
{
    size_t to = at + 2;
    if (end - at <= 3 || s[at] != '[' || s[at + 1] != '^')
        return at;
    while (to < end && s[to] != ']' && s[to] != '[' && !isspace((unsigned char)s[to]))
        to++;
    return to < end && s[to] == ']' && to > at + 2 ? to + 1 : at;
}

size_t dg_footnote_label(const char *s, size_t at, size_t end)
{
    const size_t to = dg_footnote_reference(s, at, end);
    return to > at && to < end && s[to] == ':' ? to + 1 : at;
}
