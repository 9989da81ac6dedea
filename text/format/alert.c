#include "text/format/alert.h"

#include <ctype.h>

size_t dg_alert_label(const char *s, size_t at, size_t end)
{
    size_t to = at + 2;
    if (end - at < 4 || s[at] != '[' || s[at + 1] != '!')
        return at;
    while (to < end && (isalnum((unsigned char)s[to]) || s[to] == '-' || s[to] == '_'))
        to++;
    if (to == at + 2 || to == end || s[to] != ']')
        return at;
    to++;
    return to < end && (s[to] == '-' || s[to] == '+') ? to + 1 : to;
}
