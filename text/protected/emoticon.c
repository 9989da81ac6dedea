#include "text/protected/emoticon.h"

#include "text/scan.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { LINE = 256 }; /* bytes before an emoticon that are searched for an open bracket */

static bool is_one_of(const char *s, size_t at, size_t end, const char *set)
{
    return at < end && s[at] && strchr(set, s[at]);
}

/* True if a bracket of this line is open at byte `at`: "(see :)". Mouths of other emoticons do not
 * count as brackets. */
static bool is_open(const char *s, size_t at)
{
    size_t closed = 0;
    for (size_t i = at; i > 0 && at - i < LINE && s[i - 1] != '\n'; i--) {
        if (i > 1 && strchr("()", s[i - 1]) && strchr(":;=-'", s[i - 2]))
            continue;
        if (s[i - 1] == '(' && closed == 0)
            return true;
        closed += s[i - 1] == ')';
        closed -= s[i - 1] == '(';
    }
    return false;
}

size_t dg_emoticon_end(const char *s, size_t at, size_t end)
{
    size_t i = at, before = at;
    if (!is_one_of(s, at, end, ":;=") || (at > 0 && !dg_scan_is_space(dg_scan_prev(s, 0, &before))))
        return at;
    i++;
    const bool nose = is_one_of(s, i, end, "-'");
    i += nose;
    if (!is_one_of(s, i, end, nose ? ")(DPpO/\\|*" : ")(DPpO/"))
        return at;
    const char mouth = s[i];
    while (i < end && s[i] == mouth)
        i++;
    const bool ends =
        i == end || dg_scan_is_space(dg_scan_peek(s, i, end)) ||
        (is_one_of(s, i, end, ".,!?") && (i + 1 == end || !isalnum((unsigned char)s[i + 1])));
    return ends && !(mouth == ')' && is_open(s, at)) ? i : at;
}
