#include "text/numbers/spelt_hours.h"

#include "text/scan.h"
#include "text/word_language.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { HOURS = 12 };

static const struct language {
    /* [hour - 1] */
    const char *hours[HOURS];
    /* the word for "Uhr" that may follow; NULL: none */
    const char *clock;
} languages[DG_WORD_LANGUAGES] = {
    [DG_ENGLISH] = {{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
                        "eleven", "twelve"},
        " o'clock"},
    [DG_GERMAN] = {{"eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun",
                       "zehn", "elf", "zwölf"},
        " Uhr"},
    [DG_FRENCH] = {{"une", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix",
                       "onze", "douze"},
        NULL},
};

/* What is before and after the word for the hour. The first one of a language and a number of
 * quarters is the one that is written. */
static const struct pattern {
    enum dg_word_language language;
    const char *before, *after;
    unsigned quarters;
    /* the word is that of the next hour */
    bool next;
} patterns[] = {
    {DG_ENGLISH, "half past ", "", 2, false},
    {DG_ENGLISH, "a quarter past ", "", 1, false},
    {DG_ENGLISH, "quarter past ", "", 1, false},
    {DG_ENGLISH, "a quarter after ", "", 1, false},
    {DG_ENGLISH, "quarter after ", "", 1, false},
    {DG_ENGLISH, "a quarter to ", "", 3, true},
    {DG_ENGLISH, "quarter to ", "", 3, true},
    {DG_GERMAN, "halb ", "", 2, true},
    {DG_GERMAN, "Viertel nach ", "", 1, false},
    {DG_GERMAN, "Viertel vor ", "", 3, true},
    {DG_FRENCH, "", " heures et demie", 2, false},
    {DG_FRENCH, "", " heure et demie", 2, false},
    {DG_FRENCH, "", " heures et quart", 1, false},
    {DG_FRENCH, "", " heure et quart", 1, false},
    {DG_FRENCH, "", " heures moins le quart", 3, true},
    {DG_FRENCH, "", " heure moins le quart", 3, true},
};

enum { PATTERNS = sizeof patterns / sizeof *patterns };

/* Skips the word at s[at], ignoring ASCII case; `at`: it is not there. */
static size_t skip(const char *s, size_t at, size_t end, const char *word)
{
    if (at < end && (unsigned char)word[0] < 0x80 && word[0] && (s[at] | 0x20) != (word[0] | 0x20))
        return at; /* the usual case */
    const size_t n = strlen(word);
    return end - at >= n && strncasecmp(s + at, word, n) == 0 ? at + n : at;
}

/* True if a word or a number goes on at s[at]: "seventeen", "two-thirds". */
static bool goes_on(const char *s, size_t at, size_t end)
{
    const int32_t c = dg_scan_peek(s, at, end);
    return dg_scan_is_letter(c) || dg_scan_is_digit(c) || c == '-' || c == ':' ||
           ((c == '.' || c == ',') && dg_scan_is_digit(dg_scan_peek(s, at + 1, end)));
}

/* Skips the word or the digits of an hour at s[at]; `at`: there is none. */
static size_t skip_hour(
    const struct language *l, const char *s, size_t at, size_t end, unsigned *hour)
{
    size_t to = at;
    *hour = 0;
    while (to < end && to < at + 2 && isdigit((unsigned char)s[to]))
        *hour = 10 * *hour + (unsigned)(s[to++] - '0');
    if (to > at)
        return *hour >= 1 && *hour <= HOURS && !goes_on(s, to, end) ? to : at;
    for (unsigned k = 0; k < HOURS; k++) {
        to = skip(s, at, end, l->hours[k]);
        *hour = k + 1;
        if (to > at && !dg_scan_is_letter(dg_scan_peek(s, to, end)))
            return to;
    }
    return at;
}

/* True if a word for a length of time is at s[at]: "ein Viertel vor zwei Jahren". */
static bool is_of_time(const char *s, size_t at, size_t end)
{
    static const char *const words[] = {" Jahr", " Tag", " Woche", " Monat", " Stunde", " third"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (skip(s, at, end, words[k]) > at)
            return true;
    return false;
}

/* Reads the hour at s[at] by the pattern; returns its end, `at`: there is none. */
static size_t read_pattern(
    const struct pattern *p, const char *s, size_t at, size_t end, struct dg_spelt_hour *out)
{
    const struct language *l = &languages[p->language];
    const size_t word = skip(s, at, end, p->before);
    unsigned hour;
    if (word == at && p->before[0])
        return at;
    const size_t after = skip_hour(l, s, word, end, &hour);
    size_t to = skip(s, after, end, p->after);
    if (after == word || (to == after && p->after[0]))
        return at;
    if (l->clock)
        to = skip(s, to, end, l->clock);
    *out = (struct dg_spelt_hour){p->next ? (hour + HOURS - 2) % HOURS + 1 : hour, p->quarters};
    return goes_on(s, to, end) || is_of_time(s, to, end) ? at : to;
}

/* True if the text before byte `at` says that a French hour follows, and no duration. */
static bool follows_french(const char *s, size_t at)
{
    if (at < 2 || s[at - 1] != ' ')
        return false;
    static const char *const words[] = {"à ", "À ", "vers ", "est ", "avant ", "dès ", "et "};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        const size_t n = strlen(words[k]);
        if (at >= n && memcmp(s + at - n, words[k], n) == 0)
            return true;
    }
    return false;
}

/* Quick test: true if one of the patterns begins with this letter. */
static bool may_begin(char c)
{
    return c && strchr("haqvHAQV", c);
}

size_t dg_spelt_hour_end(const char *s, size_t at, size_t end)
{
    struct dg_spelt_hour hour;
    const bool french = at < end && follows_french(s, at);
    if (at >= end || (!french && !may_begin(s[at])))
        return at;
    for (size_t k = 0; k < PATTERNS; k++) {
        const size_t to =
            patterns[k].before[0] || french ? read_pattern(&patterns[k], s, at, end, &hour) : at;
        if (to > at)
            return to;
    }
    return at;
}

bool dg_spelt_hour_read(const char *language, const char *s, size_t n, struct dg_spelt_hour *out)
{
    const enum dg_word_language of = dg_word_language_of(language);
    for (size_t k = 0; k < PATTERNS && n > 0; k++)
        if ((!language || patterns[k].language == of) &&
            read_pattern(&patterns[k], s, 0, n, out) == n)
            return true;
    return false;
}

bool dg_spelt_hour_write(
    const char *language, const struct dg_spelt_hour *hour, struct dg_buffer *out)
{
    const enum dg_word_language of = dg_word_language_of(language);
    for (size_t k = 0; k < PATTERNS; k++) {
        const struct pattern *p = &patterns[k];
        if (p->language != of || p->quarters != hour->quarters)
            continue;
        const unsigned named = p->next ? hour->hour % HOURS + 1 : hour->hour;
        /* "une heure et demie", not "une heures" */
        const struct pattern *const written = named == 1 && !p->before[0] ? p + 1 : p;
        dg_buffer_addf(
            out, "%s%s%s", written->before, languages[of].hours[named - 1], written->after);
        return true;
    }
    return false;
}
