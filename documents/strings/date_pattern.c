#include "documents/strings/date_pattern.h"

#include <string.h>

/* Letters of fields; those of numbers, which fields may follow at once: "yyyyMMdd"; what may be
 * after or between such fields; and those by which a pattern is recognised. */
static const char fields[] = "GyYuUQqMLlwWdDFEecaAbBhHKkmsSzZOvVXx", numbers[] = "yYuMdDhHkKmsS",
                  joined[] = "TZXxSaA", dated[] = "yYMLdDEhHms";
/* those of "%Y", without those of printf */
static const char converted[] = "aAbBHIjklmMpPSyYzZ";

static bool has(const char *letters, char c)
{
    return c && strchr(letters, c);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static size_t run_end(const char *s, size_t at, size_t end)
{
    size_t to = at;
    while (to < end && s[to] == s[at])
        to++;
    return to;
}

/* True if the letters s[at, end) are fields. *found: one shows that it is a pattern. */
static bool are_fields(const char *s, size_t at, size_t end, bool *found)
{
    size_t to = run_end(s, at, end);
    *found = *found || (to - at > 1 && has(dated, s[at]));
    if (to == end)
        return has(fields, s[at]);
    if (end - at == 2 && s[to] == 'o') /* Moment's "Do": the 1st */
        return has("DdMQwW", s[at]);
    for (size_t from = at; at < end; at = to) {
        to = run_end(s, at, end);
        if (!(to - at > 1 && has(numbers, s[at])) && !(at > from && has(joined, s[at])))
            return false;
        *found = *found || (to - at > 1 && has(dated, s[at]));
    }
    return true;
}

/* The byte after "%B" or "%-d", which begins at s[at]; at: none does. */
static size_t conversion_end(const char *s, size_t at, size_t n)
{
    size_t to = at + 1;
    to += to < n && has("-_0^#", s[to]);
    return to < n && is_letter(s[to]) ? to + 1 : at;
}

/* True for a pattern of PHP, "d/m/Y", "F j, Y", "H:i": single letters, of a year and a month or of
 * an hour and minutes among them. "y/n" is a question: "n" is a month beside a day only. */
static bool is_of_php(const char *s, size_t n)
{
    bool year = false, month = false, day = false, n_month = false, hour = false, minute = false;
    for (size_t i = 0; i < n; i++) {
        if (!is_letter(s[i])
                ? !has(" ,./:-", s[i])
                : !has("dDjlFmMnYyaAgGhHisT", s[i]) || (i + 1 < n && is_letter(s[i + 1])))
            return false;
        year = year || has("Yy", s[i]);
        month = month || has("mMF", s[i]);
        n_month = n_month || s[i] == 'n';
        day = day || has("dj", s[i]);
        hour = hour || has("gGhH", s[i]);
        minute = minute || s[i] == 'i';
    }
    return (year && (month || (n_month && day))) || (hour && minute);
}

bool dg_date_pattern_is(const char *s, size_t n)
{
    bool found = false;
    if (is_of_php(s, n))
        return true;
    for (size_t at = 0, to; at < n; at = to) {
        const bool quotes = s[at] == '\'' || s[at] == '[';
        const char *close =
            quotes ? memchr(s + at + 1, s[at] == '[' ? ']' : '\'', n - at - 1) : NULL;
        to = close ? (size_t)(close - s) + 1 : at + 1;
        if (s[at] == '%') {
            to = conversion_end(s, at, n);
            if (to == at)
                return false;
            found = found || has(converted, s[to - 1]);
        } else if (is_letter(s[at])) {
            while (to < n && is_letter(s[to]))
                to++;
            if (!are_fields(s, at, to, &found))
                return false;
        } else if (!close && !has(" ,./:-()|", s[at])) {
            return false;
        }
    }
    return found;
}
