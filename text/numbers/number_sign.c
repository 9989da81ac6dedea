#include "text/numbers/number_sign.h"

#include "text/scan.h"
#include "text/word_language.h"

#include <ctype.h>
#include <string.h>

enum { PERCENT, LESS, MORE, MINUS, SIGNS };

static const char signs[SIGNS] = {'%', '<', '>', '-'};

/* clang-format off */
/* [sign] parts of words that may say it */
static const char *const lists[DG_WORD_LANGUAGES][SIGNS][10] = {
    [DG_ENGLISH] = {
        {"percent", "per cent", "per-cent", "pct", "hundred"},
        {"less", "under", "below", "fewer", "small", "lower", "most", "up to", "maxim"},
        {"more", "over", "above", "great", "large", "high", "exceed", "least", "minim"},
        {"minus", "below", "negative", "less", "under"},
    },
    [DG_GERMAN] = {
        {"prozent", "vH", "v. H.", "v.H.", "hundert"},
        {"weniger", "unter", "klein", "gering", "niedrig", "maxim", "höchst", "bis"},
        {"mehr", "über", "Über", "größer", "höher", "steig", "mindest", "minim", "ab "},
        {"minus", "unter", "negativ", "weniger"},
    },
    [DG_FRENCH] = {
        {"pour cent", "pour\u00a0cent", "pourcent", "pour-cent", "p. 100", "p. cent"},
        {"moins", "inférieur", "sous", "maxim", "petit", "jusqu", "bas"},
        {"plus", "supérieur", "dessus", "delà", "dépass", "excéd", "minim", "grand"},
        {"moins", "dessous", "négati", "sous"},
    },
};
/* clang-format on */

static bool is_digit(const char *s, size_t at, size_t n)
{
    return at < n && isdigit((unsigned char)s[at]);
}

/* True if the sign at s[at] belongs to a number. No word touches "<", ">" or "-" on the left, and
 * no number precedes "-", as in the range "5 -7". */
static bool is_of_number(const char *s, size_t n, size_t at)
{
    const size_t end = dg_scan_trim_space(s, 0, at), after = at + 1;
    if (s[at] == '%')
        return end > 0 && is_digit(s, end - 1, n) &&
               !(after < n && isalnum((unsigned char)s[after]));
    if (end == at && at > 0 && s[at - 1] != '(')
        return false;
    if (s[at] == '-')
        return is_digit(s, after, n) && !(end > 0 && is_digit(s, end - 1, n));
    const size_t number = dg_scan_skip_space(s, after, n),
                 to = dg_scan_skip_ascii_digits(s, number, n);
    return to > number && !(s[at] == '<' && to < n && s[to] == '>'); /* "<5>" is a placeholder */
}

static bool has_sign(const char *s, size_t n, char sign)
{
    for (size_t at = 0; at < n; at++)
        if (s[at] == sign && is_of_number(s, n, at))
            return true;
    return false;
}

/* True if t[m] has a dash of any kind before a number, in place of "-". */
static bool has_dash(const char *t, size_t m)
{
    for (size_t at = 0; at < m;) {
        const int32_t c = dg_scan_next(t, m, &at);
        if ((c == '-' || (c >= 0x2010 && c <= 0x2014) || c == 0x2212) &&
            is_digit(t, dg_scan_skip_space(t, at, m), m))
            return true;
    }
    return false;
}

bool dg_number_sign_lost(const char *language, const char *s, size_t n, const char *t, size_t m)
{
    const enum dg_word_language of_t = dg_word_language_of(language);
    for (size_t i = 0; i < SIGNS && of_t < DG_WORD_LANGUAGES; i++) {
        if (!memchr(s, signs[i], n) || !has_sign(s, n, signs[i]))
            continue;
        bool said = i == MINUS ? has_dash(t, m) : memchr(t, signs[i], m) != NULL;
        for (const char *const *word = lists[of_t][i]; *word && !said; word++)
            said = dg_scan_has(t, m, *word);
        if (!said)
            return true;
    }
    return false;
}
