#include "text/protected/title.h"

#include "text/scan.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

struct title_word {
    const char *word;
    enum dg_word_language language;
    bool female, is_word;
};

/* A title with a point comes before the one without. The first one of a language and a sex is the
 * one that is written. */
static const struct title_word titles[] = {
    {"Mr.", DG_ENGLISH, false, false},
    {"Mr", DG_ENGLISH, false, false},
    {"Ms.", DG_ENGLISH, true, false},
    {"Ms", DG_ENGLISH, true, false},
    {"Mrs.", DG_ENGLISH, true, false},
    {"Mrs", DG_ENGLISH, true, false},
    {"Miss", DG_ENGLISH, true, false},
    {"wife", DG_ENGLISH, true, true},
    {"woman", DG_ENGLISH, true, true},
    {"Herr", DG_GERMAN, false, false},
    {"Herrn", DG_GERMAN, false, false},
    {"Frau", DG_GERMAN, true, false},
    {"M.", DG_FRENCH, false, false},
    {"Monsieur", DG_FRENCH, false, false},
    {"Mme", DG_FRENCH, true, false},
    {"Mme.", DG_FRENCH, true, false},
    {"Madame", DG_FRENCH, true, false},
    {"Mlle", DG_FRENCH, true, false},
    {"Mademoiselle", DG_FRENCH, true, false},
    {"femme", DG_FRENCH, true, true},
};

enum { TITLES = sizeof titles / sizeof *titles };
enum { RESERVED = 0x27E8 };  /* U+27E8 begins a reserved piece */
enum { MOST_WORDS = 3 };     /* of a name */
enum { LONGEST_TITLE = 16 }; /* bytes */

static const char *const degrees[] = {
    "Dr.", "Dr", "Prof.", "Prof", "Professor", "Doktor", "Doctor", "Docteur"};

enum { DEGREES = sizeof degrees / sizeof *degrees };

/* The end of a name s[at, end) without "'s", or a sign that is not part of it. */
static size_t without_genitive(const char *s, size_t at, size_t end)
{
    size_t to = end;
    if (to > at + 1 && s[to - 1] == 's') {
        size_t before = to - 1;
        const int32_t c = dg_scan_prev(s, at, &before);
        to = c == '\'' || c == 0x2019 ? before : to;
    }
    for (size_t before = to; to > at; to = before) {
        const int32_t c = dg_scan_prev(s, at, &before);
        if (c != '\'' && c != 0x2019 && c != '-')
            break;
    }
    return to;
}

/* Returns the end of the word at s[at], which consists of letters, digits and hyphens and begins
 * with a capital or with the bracket of a reserved piece; returns `at` if no such word is there. */
static size_t skip_name(const char *s, size_t n, size_t at)
{
    size_t i = at;
    const int32_t first = at < n ? dg_scan_next(s, n, &i) : 0;
    if (!dg_scan_is_upper(first) && first != RESERVED)
        return at;
    for (size_t next = i; i < n; i = next) {
        const int32_t c = dg_scan_next(s, n, &next);
        if (!dg_scan_is_letter(c) && !dg_scan_is_digit(c) && c != '-' && c != '\'' && c != 0x2019 &&
            !dg_scan_is_attached(c))
            break;
    }
    return without_genitive(s, at, i);
}

/* Skips one blank and the degrees after it, such as "Dr." and "Prof.", to the name. */
static size_t skip_degrees(const char *s, size_t n, size_t at)
{
    at += at < n && s[at] == ' ';
    for (size_t k = 0; k < DEGREES; k++) {
        const size_t len = strlen(degrees[k]);
        if (n - at > len && memcmp(s + at, degrees[k], len) == 0 && s[at + len] == ' ') {
            at += len + 1;
            k = (size_t)-1; /* there may be another one */
        }
    }
    return at;
}

/* Returns where the word before byte *end starts, and sets *end to where it ends. */
static size_t word_before(const char *s, size_t *end)
{
    *end = dg_scan_trim_space(s, 0, *end);
    size_t begin = *end;
    while (begin > 0 && s[begin - 1] != ' ')
        begin--;
    return begin;
}

/* True for "die", "eine", "meiner" and the like. */
static bool is_determiner(const char *s, size_t n)
{
    static const char *const determiners[] = {"mein", "dein", "sein", "ihr", "unser", "euer", "eur",
        "die", "der", "den", "ein", "kein", "diese", "jede"};
    for (size_t k = 0; k < sizeof determiners / sizeof *determiners; k++) {
        const size_t len = strlen(determiners[k]);
        if (n >= len && n <= len + 2 && strncasecmp(s, determiners[k], len) == 0)
            return true;
    }
    return false;
}

/* True if the words before s[at] say that "Frau" is a noun: "meine Frau", "eine junge Frau". */
static bool is_noun(const char *s, size_t at)
{
    size_t end = at;
    const size_t begin = word_before(s, &end);
    if (is_determiner(s + begin, end - begin))
        return true;
    const char last = end > begin ? s[end - 1] : ' ';
    const bool adjective =
        end > begin + 3 && islower((unsigned char)s[begin]) && strchr("enr", last) != NULL;
    end = begin;
    const size_t first = word_before(s, &end);
    return adjective && is_determiner(s + first, end - first);
}

/* Reads the title at s[at], where no word goes on. False: there is none, or no name follows it. */
static bool read_title(const char *s, size_t n, size_t at, struct dg_title *out)
{
    for (size_t k = 0; k < TITLES; k++) {
        const size_t end = at + strlen(titles[k].word);
        if (end >= n || s[end] != ' ' || memcmp(s + at, titles[k].word, end - at) != 0)
            continue;
        const size_t name = skip_degrees(s, n, end);
        *out = (struct dg_title){.begin = at,
            .end = end,
            .name = name,
            .name_end = skip_name(s, n, name),
            .female = titles[k].female,
            .language = titles[k].language,
            .is_word = titles[k].is_word,
            .is_noun = titles[k].language == DG_GERMAN && is_noun(s, at)};
        return out->name_end > name;
    }
    return false;
}

bool dg_title_next(const char *s, size_t n, size_t at, struct dg_title *out)
{
    for (; at < n; at++) {
        size_t before = at;
        const int32_t c =
            isalpha((unsigned char)s[at]) && at > 0 ? dg_scan_prev(s, 0, &before) : ' ';
        if (isalpha((unsigned char)s[at]) && !dg_scan_is_letter(c) && !dg_scan_is_digit(c) &&
            read_title(s, n, at, out))
            return true;
    }
    return false;
}

/* True if the word s[n] is a title or a degree. *german: of German. */
static bool is_title(const char *s, size_t n, bool *german)
{
    *german = false;
    for (size_t k = 0; k < TITLES; k++)
        if (!titles[k].is_word && strlen(titles[k].word) == n &&
            memcmp(titles[k].word, s, n) == 0) {
            *german = titles[k].language == DG_GERMAN;
            return true;
        }
    for (size_t k = 0; k < DEGREES; k++)
        if (strlen(degrees[k]) == n && memcmp(degrees[k], s, n) == 0) {
            *german = true; /* it may be */
            return true;
        }
    return false;
}

/* True if the name s[at, to) is in the genitive ("Mr. Brown's car", "Frau Webers Auto"), which a
 * translation writes in its own way. */
static bool is_genitive(const char *s, size_t at, size_t to, size_t end, bool german)
{
    const int32_t next = dg_scan_peek(s, to, end);
    return next == '\'' || next == 0x2019 ||
           (german && s[to - 1] == 's' && to > at + 1 && next == ' ' &&
               dg_scan_is_upper(dg_scan_peek(s, to + 1, end)));
}

/* True if the word s[n] is an office, which is translated. */
static bool is_office(const char *s, size_t n)
{
    static const char *const offices[] = {"president", "präsident", "président", "minister",
        "ministre", "kanzler", "bundes", "kommissar", "commission", "commissaire", "professor",
        "professeur", "doktor", "doctor", "direktor", "director", "direct", "kolleg", "vorsitz",
        "speaker", "chair", "chancellor", "chancelier", "secretary", "mayor", "maire", "sekret",
        "general", "ober", "bürgermeister"};
    for (size_t k = 0; k < sizeof offices / sizeof *offices; k++)
        if (n >= strlen(offices[k]) && strncasecmp(s, offices[k], strlen(offices[k])) == 0)
            return true;
    return false;
}

/* Skips further words of a name whose first one ends at s[to]. */
static size_t skip_more(const char *s, size_t to, size_t end)
{
    for (int n = 1; n < MOST_WORDS && to < end && s[to] == ' '; n++) {
        const size_t next = skip_name(s, end, to + 1);
        if (next <= to + 2) /* none, or "I" */
            break;
        to = next;
    }
    return to;
}

/* Returns the end of a name's first word at s[at]; returns `at` if the word there is an office or a
 * title, or no name. */
static size_t skip_first(const char *s, size_t at, size_t end)
{
    bool german;
    const size_t to = skip_name(s, end, at);
    return is_office(s + at, to - at) || is_title(s + at, to - at, &german) ? at : to;
}

size_t dg_title_full_name_end(const char *s, size_t at, size_t end)
{
    const size_t to = skip_first(s, at, end);
    return to == at ? at : skip_more(s, to, end);
}

size_t dg_title_name_end(const char *s, size_t at, size_t end)
{
    bool german;
    if (at < 2 || at == end || s[at - 1] != ' ' || islower((unsigned char)s[at]))
        return at;
    size_t title = at - 1;
    while (title > 0 && at - title < LONGEST_TITLE && s[title - 1] != ' ' && s[title - 1] != '(')
        title--;
    if (!is_title(s + title, at - 1 - title, &german))
        return at; /* the usual case */
    size_t to = skip_first(s, at, end);
    if (to == at || (german && is_noun(s, title)))
        return at;
    if (!german) /* in German, another noun may follow */
        to = skip_more(s, to, end);
    return is_genitive(s, at, to, end, german) ? at : to;
}

const char *dg_title_of(enum dg_word_language language, bool female)
{
    for (size_t k = 0; k < TITLES; k++)
        if (titles[k].female == female && !titles[k].is_word && titles[k].language == language)
            return titles[k].word;
    return NULL;
}
