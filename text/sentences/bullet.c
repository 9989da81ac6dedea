#include "text/sentences/bullet.h"

#include "text/scan.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

static bool is_symbol(int32_t c)
{
    static const int32_t symbols[] = {'-', '*', '+', 0xB7, 0x2010, 0x2011, 0x2012, 0x2013, 0x2014,
        0x2015, 0x2022, 0x2023, 0x2043, 0x204C, 0x204D, 0x2219, 0x25A0, 0x25A1, 0x25AA, 0x25AB,
        0x25B6, 0x25B8, 0x25BA, 0x25CB, 0x25CF, 0x25E6, 0x2605, 0x2606, 0x2610, 0x2611, 0x2612,
        0x2713, 0x2714, 0x2717, 0x2718, 0x2756, 0x27A2, 0x27A4, 0x2794, 0x2192, 0x30FB, 0xF0B7};
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        if (symbols[i] == c)
            return true;
    }
    return false;
}

static size_t span(const char *s, size_t i, size_t end, const char *set)
{
    size_t n = 0;
    while (i + n < end && s[i + n] && strchr(set, s[i + n]))
        n++;
    return n;
}

static size_t word_end(const char *s, size_t at, size_t end)
{
    for (size_t next = at; at < end && dg_scan_is_letter(dg_scan_next(s, end, &next));)
        at = next;
    return at;
}

/* "3. Mai": a date at the start of a line, not the third item. */
static bool is_ordinal(const char *s, size_t i, size_t end, const struct dg_language *language)
{
    if (!dg_language_has_ordinal_dot(language))
        return false;
    i = dg_scan_skip_space(s, i, end);
    return dg_language_is_month(language, s + i, word_end(s, i, end) - i);
}

/* True if the letter s[i] with a full stop is a label: before a word that begins a sentence ("A.
 * The dog"); "I." before any word with a capital. Not "A. Smith", "I. M. Pei", "M. Le Pen". */
static bool is_lettered(const char *s, size_t i, size_t end, const struct dg_language *language)
{
    if (end - i < 3 || s[i] < 'A' || s[i] > 'Z' || s[i + 1] != '.' ||
        dg_language_abbreviation(language, s + i, 1) != DG_ABBREVIATION_NONE)
        return false;
    const size_t word = dg_scan_skip_space(s, i + 2, end), to = word_end(s, word, end);
    if (word == i + 2 || to == word || (to == word + 1 && to < end && s[to] == '.'))
        return false;
    return dg_language_starts_sentence(language, s + word, to - word) ||
           (s[i] == 'I' && dg_scan_is_upper(dg_scan_peek(s, word, end)));
}

/* True if a clause with a number such as 1.1 begins at byte i: a word with a capital or a quotation
 * mark follows. Not "1.5 million", "2.5 GB of", "9.99 Euro", "9.30 Uhr". */
static bool begins_clause(const char *s, size_t i, size_t end)
{
    static const char *const others[] = {
        "milli", "billi", "trilli", "mio", "mrd", "uhr", "euro", "dollar"};
    size_t at = dg_scan_skip_space(s, i, end), next = at;
    if (at == i || at == end)
        return false;
    const int32_t first = dg_scan_next(s, end, &next);
    if (dg_scan_is_opener(first) || first == '"')
        return true;
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        if (end - at >= strlen(others[k]) && strncasecmp(s + at, others[k], strlen(others[k])) == 0)
            return false;
    const int32_t second = dg_scan_peek(s, next, end);
    return dg_scan_is_upper(first) && (dg_scan_is_lower(second) || second == ' ');
}

/* "1." "12)" "(3)" "1.2.3" "4.1." "1.1 The" "a)" "(b)" "iv)" "A. The": end of the label, or i. */
static size_t skip_label(const char *s, size_t i, size_t end, const struct dg_language *language)
{
    const char digits[] = "0123456789";
    bool paren = s[i] == '(';
    size_t at = i + paren, n = span(s, at, end, digits);
    if (n == 0) {
        if (!paren && is_lettered(s, at, end, language))
            return at + 2;
        n = span(s, at, end, "ivx");
        if (n == 0 || n > 4)
            n = at < end && dg_scan_is_letter((unsigned char)s[at]) && (unsigned char)s[at] < 0x80;
        at += n;
        return n && at < end && s[at] == ')' ? at + 1 : i;
    }
    if (n > 3)
        return i;
    at += n;
    if (at < end && s[at] == ')')
        return at + 1;
    if (paren)
        return i;
    size_t dots = 0;
    while (at < end && s[at] == '.') {
        dots++;
        n = span(s, at + 1, end, digits);
        at += 1 + n;
        if (n > 2)
            return i; /* "24.12.2024" */
        if (n == 0 && at < end && s[at] == ')')
            return at + 1;
        if (n == 0)
            return dots == 1 && is_ordinal(s, at, end, language) ? i : at;
    }
    return dots >= 2 || (dots == 1 && begins_clause(s, at, end)) ? at : i;
}

/* Skips "[10:33]", "[10/03/24, 2:22:05 PM]": when a message of a chat was written. */
static size_t skip_stamp(const char *s, size_t i, size_t end)
{
    enum { LONGEST = 32 };
    size_t at = i + 1, colons = 0;
    for (; at < end && at - i < LONGEST && s[at] && strchr("0123456789:/.,- APMapm", s[at]); at++)
        colons += s[at] == ':' && s[at - 1] >= '0' && s[at - 1] <= '9';
    return colons && at < end && s[at] == ']' ? at + 1 : i;
}

/* Returns the end of one bullet, without the white space after it, or i. */
static size_t skip_one(const char *s, size_t i, size_t end, const struct dg_language *language)
{
    size_t next = i;
    if (s[i] == '>')
        return i + span(s, i, end, ">");
    if (is_symbol(dg_scan_next(s, end, &next)))
        return next;
    size_t hashes = span(s, i, end, "#");
    if (hashes)
        return hashes <= 6 ? i + hashes : i;
    if (end - i >= 3 && s[i] == '[' && s[i + 2] == ']' && strchr(" xX", s[i + 1]))
        return i + 3;
    if (s[i] == '[')
        return skip_stamp(s, i, end);
    return skip_label(s, i, end, language);
}

size_t dg_bullet_skip(const char *s, size_t begin, size_t end, const struct dg_language *language)
{
    size_t i = begin;
    while (i < end) {
        size_t after = skip_one(s, i, end, language);
        size_t words = dg_scan_skip_space(s, after, end);
        if (after == i || (words == after && words < end))
            break;
        i = words;
    }
    return i;
}
