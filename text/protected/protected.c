#include "text/protected/protected.h"

#include "text/protected/address.h"
#include "text/protected/amount.h"
#include "text/protected/code_number.h"
#include "text/protected/emoticon.h"
#include "text/protected/foreign.h"
#include "text/protected/identifier.h"
#include "text/placeholder.h"
#include "text/protected/salutation.h"
#include "text/scan.h"
#include "text/numbers/spelt_hours.h"
#include "text/numbers/spelt_numbers.h"
#include "text/protected/title.h"

#include <stdbool.h>
#include <string.h>
#include <unicode/uchar.h>

#define EMOJI_STYLE 0xFE0F /* variation selector: shows the sign before it as a picture */
#define JOINER 0x200D
#define LONGEST_CODE 120 /* bytes of code between backticks */
#define KEYCAP 0x20E3    /* shows the sign before it as a key */

static bool is_letter(int32_t c)
{
    return dg_scan_is_letter(c) || dg_scan_is_digit(c) || c == '_';
}

static bool is_picture(int32_t c)
{
    return c > 0x7F && u_hasBinaryProperty(c, UCHAR_EMOJI_PRESENTATION);
}

/* Returns the end of a keycap such as 1️⃣ or #⃣, or `at`. */
static size_t keycap(const char *s, size_t at, size_t end)
{
    size_t i = at + 1;
    if (at >= end || !strchr("0123456789#*", s[at]))
        return at;
    int32_t c = i < end ? dg_scan_next(s, end, &i) : 0;
    if (c == EMOJI_STYLE && i < end)
        c = dg_scan_next(s, end, &i);
    return c == KEYCAP ? i : at;
}

/* Tag characters that name a flag's region: 🏴 followed by them is England's. */
static bool is_tag(int32_t c)
{
    return c >= 0xE0020 && c <= 0xE007F;
}

/* Returns the end of one emoji with its modifiers, or of several in a row, or `at`. */
static size_t emoji(const char *s, size_t at, size_t end)
{
    size_t i = at, to = at;
    bool joined = false;
    /* Each has a character beyond ASCII among its first two. */
    if (at < end && !((unsigned char)s[at] & 0x80) &&
        (at + 1 == end || !((unsigned char)s[at + 1] & 0x80)))
        return at;
    while (i < end) {
        if (keycap(s, i, end) > i) {
            to = i = keycap(s, i, end);
            continue;
        }
        int32_t c = dg_scan_next(s, end, &i);
        bool styled = c > 0x7F && dg_scan_peek(s, i, end) == EMOJI_STYLE &&
                      u_hasBinaryProperty(c, UCHAR_EMOJI);
        bool part = to > at && (c == EMOJI_STYLE || c == JOINER || joined || is_tag(c) ||
                                   u_hasBinaryProperty(c, UCHAR_EMOJI_MODIFIER));
        if (!is_picture(c) && !styled && !part)
            break;
        joined = c == JOINER;
        to = i;
    }
    return to;
}

/* Returns the end of a blank to fill in ("Name: ______"), of dots that lead to a page's number or
 * of a rule: a sign many times in a row, perhaps with a blank between; or `at`. */
static size_t filler(const char *s, size_t at, size_t end)
{
    static const struct {
        int32_t sign;
        /* fewer of them are punctuation */
        size_t least;
    } fillers[] = {{'_', 4}, {'-', 4}, {'=', 4}, {'*', 4}, {'~', 4}, {'.', 6}, {0x2026, 3}};
    size_t to = at, n = 0, k = 0, i = at;
    const int32_t sign = at < end ? dg_scan_next(s, end, &i) : 0;
    const bool spaced = i < end && s[i] == ' ';
    while (k < sizeof fillers / sizeof *fillers && fillers[k].sign != sign)
        k++;
    if (k == sizeof fillers / sizeof *fillers)
        return at;
    for (i = at; i < end && dg_scan_next(s, end, &i) == sign; i += spaced) {
        to = i;
        n++;
        if (spaced && (i == end || s[i] != ' '))
            break;
    }
    return n >= fillers[k].least ? to : at;
}

/* Returns the end of code between two backticks ("Run `make` first."), or `at`. */
static size_t code_span(const char *s, size_t at, size_t end)
{
    size_t before = at;
    if (at == end || s[at] != '`')
        return at;
    const int32_t last = at > 0 ? dg_scan_prev(s, 0, &before) : ' ';
    end = end - at > LONGEST_CODE ? at + LONGEST_CODE : end;
    if (last == '`' || is_letter(last))
        return at;
    const char *const close = memchr(s + at + 1, '`', end - at - 1);
    const size_t to = close ? (size_t)(close - s) : at;
    if (to < at + 2 || s[at + 1] == ' ' || s[to - 1] == ' ' || memchr(s + at, '\n', to - at))
        return at;
    const int32_t next = dg_scan_peek(s, to + 1, end);
    return next == '`' || is_letter(next) ? at : to + 1;
}

static size_t protected_at(const struct dg_alphabet *known, const char *s, size_t at, size_t end)
{
    typedef size_t taker(const char *s, size_t at, size_t end);
    static taker *const after_word[] = {
        code_span, dg_placeholder_end, emoji, dg_emoticon_end, filler};
    static taker *const first_in_word[] = {dg_address_mail, dg_address_file, dg_address_account,
        dg_amount_end, dg_identifier_end, dg_identifier_name_end, dg_code_number_end,
        dg_spelt_hour_end, dg_spelt_number_end, dg_salutation_end, dg_title_name_end};
    size_t to = dg_address_bracketed(s, at, end), before = at;
    int32_t c = at > 0 ? dg_scan_prev(s, 0, &before) : ' ';
    /* scripts without cases have no spaces around a name, either */
    bool in_word =
        (is_letter(c) && !dg_scan_is_uncased(c)) || (c > 0 && c < 0x80 && strchr(".-@/%+\\", c));
    /* A name was looked at from its first letter on, which may be no letter of a word ("×"). */
    const bool in_name = in_word || (c >= 0x80 && dg_address_is_letter(c));
    /* A web address ends where no word continues; a "_" left out at its end is not part of a
     * word. */
    if (to == at && !in_word)
        to = dg_address_web(s, at, end);
    for (size_t k = 0; to == at && !in_name && k < sizeof first_in_word / sizeof *first_in_word;
         k++) {
        to = first_in_word[k](s, at, end);
        if (to > at && is_letter(dg_scan_peek(s, to, end)))
            to = at; /* part of a longer word that is no address */
    }
    for (size_t k = 0; to == at && k < sizeof after_word / sizeof *after_word; k++)
        to = after_word[k](s, at, end);
    return to == at && known ? dg_foreign_end(known, s, at, end) : to;
}

size_t dg_protected_within(const struct dg_alphabet *known, const char *s, size_t n, size_t from,
    size_t until, size_t *begin)
{
    for (*begin = from; *begin < until; dg_scan_next(s, n, begin)) {
        size_t to = protected_at(known, s, *begin, n);
        if (to > *begin)
            return to;
    }
    return 0;
}

size_t dg_protected_next(
    const struct dg_alphabet *known, const char *s, size_t n, size_t from, size_t *begin)
{
    return dg_protected_within(known, s, n, from, n, begin);
}
