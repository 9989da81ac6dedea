#include "text/numbers/clock.h"

#include "text/scan.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { HALF = 12 };

bool dg_clock_has_daytime(const char *s, size_t n)
{
    static const char *const words[] = {"abend", "nacht", "mittag", "morgens", "vormittag", "soir",
        "nuit", "midi", "matin", "night", "evening", "noon", "morning"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (dg_scan_has(s, n, words[k]))
            return true;
    return false;
}

/* Skips the word at s[at], ignoring ASCII case; `at` if another one is there. */
static size_t skip_word(const char *s, size_t n, size_t at, const char *word)
{
    const size_t len = strlen(word), to = at + len;
    if (n - at < len || strncasecmp(s + at, word, len) != 0)
        return at;
    const int32_t next = dg_scan_peek(s, to, n);
    return dg_scan_is_letter(next) || dg_scan_is_digit(next) ? at : to;
}

/* Skips ":30", ".30", "h30", "h 30"; `at` if no minutes are there. *french: their sign is an "h".
 */
static size_t skip_minutes(const char *s, size_t n, size_t at, bool *french)
{
    size_t from = at;
    *french = false;
    if (at < n && strchr(":.", s[at]) && s[at]) {
        from = at + 1;
    } else {
        from = dg_scan_skip_space(s, at, n);
        if (from == n || s[from] != 'h')
            return at;
        *french = true;
        from = dg_scan_skip_space(s, from + 1, n);
    }
    const size_t to = dg_scan_skip_ascii_digits(s, from, n);
    return to == from + 2 ? to : at;
}

bool dg_clock_is_minutes(const char *s, size_t begin)
{
    size_t at = begin;
    if (at > 0 && strchr(":.", s[at - 1]))
        return at > 1 && isdigit((unsigned char)s[at - 2]);
    at = dg_scan_trim_space(s, 0, at);
    if (at == 0 || s[at - 1] != 'h')
        return false;
    at = dg_scan_trim_space(s, 0, at - 1);
    return at > 0 && isdigit((unsigned char)s[at - 1]);
}

enum dg_clock dg_clock_read(
    const char *s, size_t n, size_t begin, size_t end, struct dg_clock_signs *out)
{
    static const struct {
        const char *word;
        enum dg_clock clock;
    } signs[] = {{"am", DG_CLOCK_AM}, {"a.m", DG_CLOCK_AM}, {"a. m", DG_CLOCK_AM},
        {"pm", DG_CLOCK_PM}, {"p.m", DG_CLOCK_PM}, {"p. m", DG_CLOCK_PM}, {"Uhr", DG_CLOCK_DAY},
        {"heure", DG_CLOCK_DAY}, {"heures", DG_CLOCK_DAY}, {"h", DG_CLOCK_DAY}};
    bool french;
    const size_t minutes = skip_minutes(s, n, end, &french), at = dg_scan_skip_space(s, minutes, n);
    *out = (struct dg_clock_signs){minutes > end ? s + minutes - 2 : NULL, at, at};
    if (dg_clock_is_minutes(s, begin))
        return DG_CLOCK_NONE;
    if (french && minutes > end)
        return DG_CLOCK_DAY;
    for (size_t k = 0; k < sizeof signs / sizeof *signs; k++) {
        out->sign_end = skip_word(s, n, at, signs[k].word);
        if (out->sign_end > at)
            return signs[k].clock;
    }
    return DG_CLOCK_NONE;
}

bool dg_clock_same(int x, enum dg_clock of_x, int y, enum dg_clock of_y)
{
    if (x > y)
        return dg_clock_same(y, of_y, x, of_x);
    if (y == x + HALF) /* 9 p.m. and 21; 12 a.m. and 24 */
        return x == 0 || (of_x != DG_CLOCK_DAY && of_x != (x == HALF ? DG_CLOCK_PM : DG_CLOCK_AM));
    if (x != y || of_x == of_y || of_x == DG_CLOCK_NONE || of_y == DG_CLOCK_NONE)
        return x == y;
    if (of_x != DG_CLOCK_DAY && of_y != DG_CLOCK_DAY)
        return false; /* 9 a.m., 9 p.m. */
    const bool second = of_x == DG_CLOCK_PM || of_y == DG_CLOCK_PM;
    return x <= HALF && second == (x == HALF); /* "9-18 p.m." is no hour of "9-18 Uhr" */
}
