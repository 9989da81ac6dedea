#include "text/protected/foreign.h"

#include "text/scan.h"

#include <string.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>

enum { MOST_EXPANDED = 18 }; /* UTF-16 units that one character's NFKC has */
enum { LATEST = 128 };       /* characters whose NFKC is kept */

bool dg_foreign_is_sign(int32_t c)
{
    if (c < 0x80 || (c >= 0xFF00 && c < 0xFFF0)) /* full-width forms are punctuation of CJK */
        return false;
    switch (u_charType(c)) {
    case U_MATH_SYMBOL:
    case U_CURRENCY_SYMBOL:
    case U_OTHER_SYMBOL:
    case U_OTHER_NUMBER:
    case U_PRIVATE_USE_CHAR: return true;
    case U_OTHER_PUNCTUATION:
        return c == 0xA7 || c == 0xB6 || (c >= 0x2020 && c <= 0x2023) ||
               (c >= 0x2030 && c <= 0x2037) || c == 0x203B;
    default: return c == 0xAA || c == 0xBA; /* ª and º are letters to Unicode */
    }
}

/* A character and its NFKC; n = 0: none. */
struct otherwise {
    int32_t c;
    int32_t n;
    /* [n] */
    UChar units[MOST_EXPANDED];
};

static void normalise(int32_t c, struct otherwise *o)
{
    UErrorCode status = U_ZERO_ERROR;
    const UNormalizer2 *nfkc = unorm2_getNFKCInstance(&status);
    UChar from[2];
    int32_t n = 0;
    UBool failed = false;
    o->c = c;
    U16_APPEND(from, n, 2, c, failed);
    o->n = unorm2_normalize(nfkc, from, n, o->units, MOST_EXPANDED, &status);
    if (U_FAILURE(status) || failed)
        o->n = 0;
}

/* Returns the NFKC from this thread's cache: a text has few different characters of this kind, but
 * may have megabytes of them. */
static const struct otherwise *otherwise_of(int32_t c)
{
    static _Thread_local struct otherwise latest[LATEST];
    struct otherwise *o = &latest[c % LATEST];
    if (o->c != c)
        normalise(c, o);
    return o;
}

/* True if the alphabet has the other characters that a model's own normalisation turns this one
 * into. */
static bool is_known_otherwise(const struct dg_alphabet *known, int32_t c)
{
    if (u_getIntPropertyValue(c, UCHAR_NFKC_QUICK_CHECK) == UNORM_YES)
        return false; /* it is its own NFKC */
    const struct otherwise *o = otherwise_of(c);
    if (o->n == 0)
        return false;
    for (int32_t i = 0; i < o->n;) {
        UChar32 part;
/* ICU's macro compares signed with unsigned. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-conversion"
        U16_NEXT(o->units, i, o->n, part);
#pragma GCC diagnostic pop
        if (part == c || !(part < 0x80 || dg_alphabet_has(known, DG_ALPHABET_READ, part)))
            return false;
    }
    return true;
}

static bool is_foreign_letter(const struct dg_alphabet *known, int32_t c)
{
    return c >= 0x80 && !dg_foreign_is_sign(c) && dg_scan_is_letter(c) &&
           !dg_alphabet_has(known, DG_ALPHABET_READ, c) && !is_known_otherwise(known, c);
}

/* Composes a letter and the mark after it ("r" and a caron: "ř"); -1: there is no such letter. */
static int32_t with_mark(int32_t letter, int32_t mark)
{
    UErrorCode status = U_ZERO_ERROR;
    const UNormalizer2 *nfc = unorm2_getNFCInstance(&status);
    return U_SUCCESS(status) && letter > 0 ? unorm2_composePair(nfc, letter, mark) : U_SENTINEL;
}

static bool is_foreign_sign(const struct dg_alphabet *known, int32_t c)
{
    return dg_foreign_is_sign(c) && !(dg_alphabet_has(known, DG_ALPHABET_READ, c) &&
                                        dg_alphabet_has(known, DG_ALPHABET_WRITTEN, c));
}

/* Quotation marks, dashes and dots that every model's training has, as such or in ASCII. */
static bool is_common_mark(int32_t c)
{
    static const int32_t common[] = {
        0xAB, 0xBB, 0x2013, 0x2014, 0x2018, 0x2019, 0x201C, 0x201D, 0x201E, 0x2026};
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (c == common[i])
            return true;
    return false;
}

/* Marks that vocabularies have even where training hardly saw them: ‹ › ‚, hyphens and rare dashes.
 */
static bool is_rare_mark(int32_t c)
{
    return c == 0x2039 || c == 0x203A || c == 0x201A || (c >= 0x2010 && c <= 0x2012) || c == 0x2015;
}

/* True for a bracket, a quotation mark or other punctuation that the model does not know: it would
 * write other words and characters for it. It knows a rare mark if a word begins with it.
 * Full-width forms are normalised. */
static bool is_foreign_mark(const struct dg_alphabet *known, int32_t c)
{
    if (c < 0x80 || (c >= 0xFF00 && c < 0xFFF0) || !(U_MASK(u_charType(c)) & U_GC_P_MASK) ||
        is_common_mark(c) || dg_foreign_is_sign(c))
        return false;
    return is_rare_mark(c) ? !dg_alphabet_has(known, DG_ALPHABET_FIRST, c == 0x203A ? 0x2039 : c)
                           : !dg_alphabet_has(known, DG_ALPHABET_READ, c);
}

/* One word: letters, digits and signs with nothing between them. */
struct word {
    size_t end;
    /* has a foreign letter or a foreign sign */
    bool letter, sign;
    /* has a known sign; has something that is not a sign */
    bool known_sign, other;
};

/* True if c, a point or comma, is within a number: "3.50", "1,000". */
static bool is_within_number(const char *s, size_t at, size_t end, int32_t before, int32_t c)
{
    size_t next = at;
    return (c == '.' || c == ',') && before > 0 && dg_scan_is_digit(before) && at < end &&
           dg_scan_is_digit(dg_scan_next(s, end, &next));
}

/* True if byte `at` follows a point or comma within a number: the number was read from its first
 * digit on. */
static bool is_within_read_number(const char *s, size_t at, size_t end)
{
    size_t before = at;
    if (at < 2 || (s[at - 1] != '.' && s[at - 1] != ','))
        return false;
    before--;
    const int32_t digit = dg_scan_prev(s, 0, &before);
    return is_within_number(s, at, end, digit, (unsigned char)s[at - 1]);
}

static struct word read_word(const struct dg_alphabet *known, const char *s, size_t at, size_t end)
{
    struct word w = {.end = at};
    int32_t before = 0;
    for (size_t i = at; i < end;) {
        const int32_t c = dg_scan_next(s, end, &i);
        const bool sign = dg_foreign_is_sign(c), attached = c >= 0x80 && dg_scan_is_attached(c),
                   alone = attached && w.end == at && !dg_alphabet_has(known, DG_ALPHABET_READ, c),
                   unknown = alone || (!sign && is_foreign_letter(known, c));
        /* Uncased scripts have no spaces around words: a known letter of one ends the word. */
        if (!sign && !unknown && !(attached && w.end > at) && !dg_scan_is_digit(c) &&
            !(dg_scan_is_letter(c) && !dg_scan_is_uncased(c)) &&
            !is_within_number(s, i, end, before, c))
            break;
        const bool foreign_sign = sign && is_foreign_sign(known, c);
        const int32_t both = attached ? with_mark(before, c) : -1;
        w.letter = w.letter || unknown || (both >= 0 && is_foreign_letter(known, both));
        w.sign = w.sign || foreign_sign;
        w.known_sign = w.known_sign || (sign && !foreign_sign);
        w.other = w.other || !sign;
        before = both >= 0 ? both : c; /* a letter may have several marks */
        w.end = i;
    }
    return w;
}

static bool is_in_word(int32_t c)
{
    return dg_scan_is_digit(c) || dg_foreign_is_sign(c) ||
           (dg_scan_is_letter(c) && !dg_scan_is_uncased(c)) ||
           (c >= 0x80 && dg_scan_is_attached(c));
}

/* Returns the end of the foreign marks that begin at byte `at`, or `at`. Marks within a word are
 * none: without them, the model would see the words on either side as one. */
static size_t marks_end(const struct dg_alphabet *known, const char *s, size_t at, size_t end)
{
    size_t to = at, start = at;
    const int32_t before = at > 0 ? dg_scan_prev(s, 0, &start) : ' ';
    if (is_foreign_mark(known, before))
        return at; /* they would have been found at the first one */
    for (size_t next = at; next < end; to = next)
        if (!is_foreign_mark(known, dg_scan_next(s, end, &next)))
            break;
    return to > at && to < end && is_in_word(before) && is_in_word(dg_scan_peek(s, to, end)) ? at
                                                                                             : to;
}

/* True if a number is beside the sign s[at, to), as in "30 €". */
static bool is_beside_number(const char *s, size_t at, size_t to, size_t end)
{
    size_t before = at, after = to;
    int32_t c = ' ';
    while (before > 0 && dg_scan_is_space(c))
        c = dg_scan_prev(s, 0, &before);
    if (dg_scan_is_digit(c))
        return true;
    for (c = ' '; after < end && dg_scan_is_space(c);)
        c = dg_scan_next(s, end, &after);
    return dg_scan_is_digit(c);
}

static bool is_mark_around(int32_t c)
{
    return c == '\'' || c == '`' || dg_scan_is_close(c);
}

/* True if the letter s[at, to) is cited: in quotes or brackets that touch no word themselves.
 * French puts a space on either side of the letter. */
static bool is_cited(const char *s, size_t at, size_t to, size_t end)
{
    size_t before = at, after = to;
    int32_t open = at > 0 ? dg_scan_prev(s, 0, &before) : 0,
            close = to < end ? dg_scan_next(s, end, &after) : 0;
    if (dg_scan_is_space(open) && dg_scan_is_space(close) && before > 0 && after < end) {
        open = dg_scan_prev(s, 0, &before);
        close = dg_scan_next(s, end, &after);
        if (open != 0xAB || close != 0xBB)
            return false;
    }
    return is_mark_around(open) && is_mark_around(close) &&
           !(before > 0 && is_in_word(dg_scan_prev(s, 0, &before))) &&
           !(after < end && is_in_word(dg_scan_peek(s, after, end)));
}

/* True if the word is a known sign alone (not beside a number), or one known letter that is cited
 * or that no word of the model's begins with. A model knows each of these but seldom carries it
 * over. */
static bool is_strange(
    const struct dg_alphabet *known, const char *s, size_t at, size_t end, const struct word *w)
{
    size_t to = at;
    const int32_t c = at < w->end ? dg_scan_next(s, w->end, &to) : 0;
    if (w->known_sign)
        return !w->other && !is_beside_number(s, at, w->end, end);
    return c >= 0x80 && to == w->end && dg_scan_is_letter(c) &&
           dg_alphabet_has(known, DG_ALPHABET_READ, c) &&
           (!dg_alphabet_has(known, DG_ALPHABET_FIRST, c) || is_cited(s, at, to, end));
}

static bool is_ascii_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_ascii_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Quick test: true if no foreign word begins at s[at], because it is within an ASCII word, or at
 * one that ends before any character beyond ASCII. A point or comma may be within a number that
 * continues, so it is not decided here. */
static bool is_plain(const char *s, size_t at, size_t end)
{
    if (at > 0 && (is_ascii_letter(s[at - 1]) || is_ascii_digit(s[at - 1])))
        return (unsigned char)s[at] < 0x80;
    while (at < end && (is_ascii_letter(s[at]) || is_ascii_digit(s[at])))
        at++;
    return at == end || ((unsigned char)s[at] < 0x80 && s[at] != '.' && s[at] != ',');
}

size_t dg_foreign_end(const struct dg_alphabet *known, const char *s, size_t at, size_t end)
{
    size_t before = at, next = at;
    if (is_plain(s, at, end))
        return at;
    if (is_within_read_number(s, at, end))
        return at;
    const size_t marks = marks_end(known, s, at, end);
    if (marks > at)
        return marks;
    if (at > 0 && is_in_word(dg_scan_prev(s, 0, &before)) &&
        !dg_scan_is_uncased(dg_scan_next(s, end, &next)))
        return at; /* it would have been found at the word's first letter */
    struct word w = read_word(known, s, at, end);
    if (!w.letter && !w.sign)
        return is_strange(known, s, at, end, &w) ? w.end : at;
    /* Several foreign words in a row are one: "Война и мир" is one name. */
    for (struct word more = w; w.letter && more.letter && w.end < end && s[w.end] == ' ';) {
        more = read_word(known, s, w.end + 1, end);
        if (more.letter)
            w.end = more.end;
    }
    return w.end;
}

/* True if the language has words of one letter outside ASCII. */
static bool has_short_words(const char *language)
{
    static const char *const without[] = {"en", "de", "nl"};
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (strcmp(language, without[i]) == 0)
            return false;
    return true;
}

/* True if the letter s[at, to) is a word by itself. */
static bool is_alone(const char *s, size_t at, size_t to, size_t end)
{
    size_t before = at;
    return (at == 0 || dg_scan_is_space(dg_scan_prev(s, 0, &before))) &&
           (to == end || dg_scan_is_space(dg_scan_peek(s, to, end)));
}

/* True if c, which ends at s[to), is the sign of "n°" or "Nº", which is a word: "No." */
static bool is_of_number(const char *s, size_t to, int32_t c)
{
    size_t at = to;
    if (c != 0xB0 && c != 0xBA)
        return false;
    dg_scan_prev(s, 0, &at);
    return at > 0 && (s[at - 1] | 0x20) == 'n' &&
           (--at == 0 || !dg_scan_is_letter(dg_scan_prev(s, 0, &at)));
}

/* True if t[m] has the name of currency c: "3 billion €" may be "3 Milliarden Euro". */
static bool has_currency(int32_t c, const char *t, size_t m)
{
    static const struct {
        int32_t sign;
        const char *names[4];
    } currencies[] = {{0x20AC, {"euro", "eur"}}, {'$', {"dollar", "usd"}},
        {0xA3, {"pfund", "pound", "livre", "gbp"}}, {0xA5, {"yen", "yuan", "jpy", "cny"}}};
    for (size_t k = 0; k < sizeof currencies / sizeof *currencies; k++)
        for (size_t i = 0; i < 4 && currencies[k].sign == c && currencies[k].names[i]; i++)
            if (dg_scan_has(t, m, currencies[k].names[i]))
                return true;
    return false;
}

bool dg_foreign_lost(const struct dg_alphabet *known, const char *language, const char *s, size_t n,
    const char *t, size_t m)
{
    const bool letters = !has_short_words(language);
    for (size_t at = 0, to = 0; to < n; at = to) {
        const int32_t c = dg_scan_next(s, n, &to);
        const bool dollar = c == '$' && is_beside_number(s, at, to, n);
        if ((c < 0x80 && !dollar) || is_of_number(s, to, c))
            continue;
        const bool counts =
            dollar || dg_foreign_is_sign(c) || is_foreign_letter(known, c) ||
            (is_foreign_mark(known, c) && u_charType(c) != U_DASH_PUNCTUATION) ||
            (dg_scan_is_letter(c) && ((letters && is_alone(s, at, to, n)) ||
                                         (!dg_scan_is_uncased(c) && is_cited(s, at, to, n))));
        const bool is_minus = c == 0x2212 && memchr(t, '-', m);
        if (counts && !is_minus && !memmem(t, m, s + at, to - at) && !has_currency(c, t, m))
            return true;
    }
    return false;
}
