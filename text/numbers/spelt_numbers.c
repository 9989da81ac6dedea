#include "text/numbers/spelt_numbers.h"

#include "text/scan.h"
#include "text/word_language.h"
#include "text/words.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

/* LONGEST: bytes that are searched for a number; none is longer */
enum { LAST = 99, MOST_WORDS = 256, LONGEST = 40 };

/* Bit v % 64 of [v / 64]: number v. */
struct set {
    uint64_t bits[2];
};

struct word {
    const char *s;
    size_t n;
    /* a hyphen or a blank alone is between it and the word before it */
    bool joined;
};

/* The words of a text. */
struct words {
    struct word list[MOST_WORDS];
    size_t n;
};

struct spelt {
    struct set said;
    /* those and others that the text may mean: digits, hours */
    struct set maybe;
    /* the text has numbers that are not read, or too many words */
    bool unsure;
};

/* From 1 and from 20 on. */
static const char *const english[] = {"one", "two", "three", "four", "five", "six", "seven",
    "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen",
    "seventeen", "eighteen", "nineteen", NULL};
static const char *const english_tens[] = {
    "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", NULL};
static const char *const german[] = {"ein", "zwei", "drei", "vier", "fünf", "sechs", "sieben",
    "acht", "neun", "zehn", "elf", "zwölf", "dreizehn", "vierzehn", "fünfzehn", "sechzehn",
    "siebzehn", "achtzehn", "neunzehn", NULL};
static const char *const german_tens[] = {
    "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig", NULL};
static const char *const french[] = {"un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit",
    "neuf", "dix", "onze", "douze", "treize", "quatorze", "quinze", "seize", "dix-sept", "dix-huit",
    "dix-neuf", NULL};
static const char *const french_tens[] = {"vingt", "trente", "quarante", "cinquante", "soixante",
    "septante", "huitante", "nonante", NULL};

/* Reads the number at word `at`; returns how many words it has, 0: none is there. *unsure: it is a
 * part of an ordinal or the like. */
typedef size_t reader(const struct words *w, size_t at, unsigned *value, bool *unsure);

static bool is_same(const struct word *w, const char *word)
{
    return strlen(word) == w->n && strncasecmp(w->s, word, w->n) == 0;
}

/* The position of the word in the list, counted from `first`; 0: the list lacks it. */
static unsigned place_of(const struct word *w, const char *const *list, unsigned first)
{
    for (unsigned i = 0; list[i]; i++)
        if (is_same(w, list[i]))
            return first + i;
    return 0;
}

static bool is_joined(const struct words *w, size_t at)
{
    return at < w->n && w->list[at].joined;
}

static bool is_word(const struct words *w, size_t at, const char *word)
{
    return at < w->n && is_same(&w->list[at], word);
}

static size_t read_english(const struct words *w, size_t at, unsigned *value, bool *unsure)
{
    const unsigned ten = 10 * place_of(&w->list[at], english_tens, 2);
    const unsigned more = ten && is_joined(w, at + 1) ? place_of(&w->list[at + 1], english, 1) : 0,
                   unit = more < 10 ? more : 0;
    *unsure = ten && !unit && is_joined(w, at + 1) && w->list[at + 1].s[-1] == '-';
    *value = ten ? ten + unit : place_of(&w->list[at], english, 1);
    return *value ? 1 + (unit > 0) : 0;
}

static size_t read_german(const struct words *w, size_t at, unsigned *value, bool *unsure)
{
    const struct word *word = &w->list[at];
    *unsure = false;
    *value = place_of(word, german, 1);
    if (!*value)
        *value = 10 * place_of(word, german_tens, 2);
    for (unsigned i = 0; !*value && i < 9; i++) { /* "siebenundvierzig" */
        const size_t n = strlen(german[i]);
        if (word->n <= n + 3 || strncasecmp(word->s, german[i], n) != 0 ||
            strncasecmp(word->s + n, "und", 3) != 0)
            continue;
        const struct word ten = {.s = word->s + n + 3, .n = word->n - n - 3};
        const unsigned tens = place_of(&ten, german_tens, 2);
        *value = tens ? 10 * tens + i + 1 : 0;
    }
    return *value ? 1 : 0;
}

/* Reads 1 to 19 at words[at]. */
static size_t read_small_french(const struct words *w, size_t at, unsigned *value)
{
    unsigned unit = 0;
    *value = at < w->n ? place_of(&w->list[at], french, 1) : 0;
    if (is_word(w, at, "une"))
        *value = 1;
    if (*value == 10 && is_joined(w, at + 1))
        unit = place_of(&w->list[at + 1], french, 1);
    unit = unit >= 7 && unit <= 9 ? unit : 0;
    *value += unit;
    return *value ? 1 + (unit > 0) : 0;
}

static size_t read_french(const struct words *w, size_t at, unsigned *value, bool *unsure)
{
    const bool four = is_word(w, at, "quatre") && is_joined(w, at + 1) &&
                      (is_word(w, at + 1, "vingt") || is_word(w, at + 1, "vingts"));
    const unsigned ten = four ? 80 : 10 * place_of(&w->list[at], french_tens, 2);
    unsigned more = 0;
    *unsure = false;
    if (!ten)
        return read_small_french(w, at, value);
    const size_t next = four ? at + 2 : at + 1, skipped = is_word(w, next, "et") ? next + 1 : next;
    size_t n = 0;
    if (is_joined(w, next) && (skipped == next || is_joined(w, skipped)))
        n = read_small_french(w, skipped, &more);
    if (more > 9 && ten != 60 && ten != 80)
        n = more = 0; /* "vingt dix" are two numbers */
    *value = ten + more;
    return n ? skipped + n - at : next - at;
}

static const struct language {
    reader *read;
    /* parts of words ("=": words) with which numbers mean more or less than they say; words after
     * an hour */
    const char *others[7], *hours[3];
    /* a number before a word that the other language may count in weeks: "quinze jours" */
    const char *days[2];
} languages[DG_WORD_LANGUAGES] = {
    [DG_ENGLISH] = {read_english, {"hundred", "thousand", "million", "billion", "dozen"}, {"hours"},
        {"fourteen", "days"}},
    [DG_GERMAN] = {read_german, {"hundert", "tausend", "million", "milliard", "dutzend", "=halb"},
        {"Uhr"}, {"vierzehn", "Tage"}},
    [DG_FRENCH] = {read_french, {"=cent", "=cents", "=mille", "million", "milliard", "douzaine"},
        {"heure", "heures"}, {"quinze", "jours"}},
};

/* NULL: none of these. */
static const struct language *language_of(const char *code)
{
    const enum dg_word_language of = dg_word_language_of(code);
    return of < DG_WORD_LANGUAGES ? &languages[of] : NULL;
}

/* False: the text has too many words. */
static bool read_words(const struct dg_numbered *text, struct words *w)
{
    bool alone;
    w->n = 0;
    for (size_t begin, end = 0, before = 0;
         (end = dg_word_next(text->s, text->n, end, &begin, &alone)) > 0; before = end) {
        if (w->n == MOST_WORDS)
            return false;
        const bool joined =
            w->n > 0 && begin == before + 1 && strchr(" -", text->s[before]) != NULL;
        w->list[w->n++] = (struct word){text->s + begin, end - begin, joined};
    }
    return true;
}

static void add(struct set *to, unsigned value)
{
    to->bits[value / 64] |= UINT64_C(1) << value % 64;
}

static bool has_others(const struct language *l, const struct words *w)
{
    for (size_t i = 0; i < w->n; i++)
        for (const char *const *part = l->others; *part; part++)
            if (**part == '=' ? is_word(w, i, *part + 1)
                              : dg_scan_has(w->list[i].s, w->list[i].n, *part))
                return true;
    return false;
}

static void read_digits(const struct dg_numbered *text, struct set *out)
{
    for (size_t i = 0; i < text->n;) {
        unsigned value = 0;
        const size_t begin = i;
        for (; i < text->n && isdigit((unsigned char)text->s[i]); i++)
            if (value <= LAST)
                value = 10 * value + (unsigned)(text->s[i] - '0');
        if (i > begin && value <= LAST)
            add(out, value);
        i += i == begin;
    }
}

static bool is_empty(const struct set *s)
{
    return !s->bits[0] && !s->bits[1];
}

static void read_text(const struct language *l, const struct dg_numbered *text, struct spelt *out)
{
    struct words w;
    *out = (struct spelt){.unsure = !read_words(text, &w)};
    for (size_t at = 0, n; at < w.n; at += n ? n : 1) {
        unsigned value;
        bool unsure;
        n = l->read(&w, at, &value, &unsure);
        if (!n || value < 2)
            continue;
        out->unsure = out->unsure || unsure;
        add(&out->maybe, value);
        const bool hour = at + n < w.n && place_of(&w.list[at + n], l->hours, 1),
                   weeks = is_word(&w, at, l->days[0]) && is_word(&w, at + n, l->days[1]);
        if (!hour && !weeks)
            add(&out->said, value);
    }
    out->unsure = out->unsure || (!is_empty(&out->said) && has_others(l, &w));
    read_digits(text, &out->maybe);
}

/* True if a says a number that b cannot mean. */
static bool says_more(const struct spelt *a, const struct spelt *b)
{
    return (a->said.bits[0] & ~b->maybe.bits[0]) || (a->said.bits[1] & ~b->maybe.bits[1]);
}

bool dg_spelt_numbers_agree(const struct dg_numbered *a, const struct dg_numbered *b)
{
    const struct language *of_a = language_of(a->language), *of_b = language_of(b->language);
    struct spelt in_a, in_b;
    if (!of_a || !of_b)
        return true;
    read_text(of_a, a, &in_a);
    if (in_a.unsure || is_empty(&in_a.said)) /* the usual case: b need not be read */
        return true;
    read_text(of_b, b, &in_b);
    return in_b.unsure || !says_more(&in_a, &in_b) || !says_more(&in_b, &in_a);
}

/* True if a word for more than 99, or for an hour, is within s[n]. */
static bool has_large(const char *s, size_t n)
{
    static const char *const parts[] = {"hundred", "thousand", "million", "billion", "hundert",
        "tausend", "milliard", "mille ", "dozen", "uhr", "heure", "o'clock"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (dg_scan_has(s, n, parts[i]))
            return true;
    return false;
}

/* True if s[n] begins with a sign and "cent" or "cents", French for a hundred. */
static bool has_cent(const char *s, size_t n)
{
    const size_t to = n > 5 && s[5] == 's' ? 6 : 5;
    return n > 4 && strncasecmp(s + 1, "cent", 4) == 0 && (to == n || !dg_scan_is_letter(s[to]));
}

/* True if a number may begin with these letters, as few words do. */
static bool may_begin(const char *s, size_t n)
{
    static const char starts[] =
        " thi fou fif six sev eig nin twe for dre vie f\xC3\xBC sec sie ach "
        "neu zwa ein zwe tre qua qui sei dix vin cin soi sep hui non ";
    char first[6] = " xxx ";
    for (size_t i = 0; i < 3 && n >= 3; i++)
        first[i + 1] = (char)(s[i] >= 'A' && s[i] <= 'Z' ? s[i] | 0x20 : s[i]);
    return n >= 3 && strstr(starts, first);
}

/* Reads the words of s[n]; false: it does not begin with a number. */
static bool read_start(const char *s, size_t n, struct words *w)
{
    const struct dg_numbered text = {.s = s, .n = n};
    return may_begin(s, n) && read_words(&text, w) && w->n > 0 && w->list[0].s == s;
}

/* Reads the number that s[n], whose words are w, begins with; returns its end, 0: there is none. */
static size_t read_first(
    const struct language *l, const struct words *w, const char *s, size_t n, unsigned *value)
{
    bool unsure;
    unsigned more;
    const size_t words = l->read(w, 0, value, &unsure);
    if (words == 0 || unsure || *value <= 12)
        return 0;
    /* "twenty-year-old", "nineteen fifty" */
    const size_t end = (size_t)(w->list[words - 1].s + w->list[words - 1].n - s);
    if (end < n && s[end] == '-')
        return 0;
    return is_joined(w, words) && l->read(w, words, &more, &unsure) ? 0 : end;
}

/* True if the word before byte `at` is a number, too: "nineteen fifty". */
static bool follows_number(const struct language *l, const char *s, size_t at)
{
    const size_t end = at > 0 && s[at - 1] == ' ' ? at - 1 : 0;
    size_t begin = end;
    unsigned value;
    bool unsure;
    while (begin > 0 && end - begin < LONGEST && isalpha((unsigned char)s[begin - 1]))
        begin--;
    const struct words w = {.list = {{s + begin, end - begin, false}}, .n = 1};
    return end > begin && l->read(&w, 0, &value, &unsure) > 0;
}

size_t dg_spelt_number_end(const char *s, size_t at, size_t end)
{
    enum { BEFORE = 14, AFTER = 10 }; /* bytes */
    const size_t n = end - at < LONGEST ? end - at : LONGEST, before = at < BEFORE ? at : BEFORE;
    struct words w;
    if (!read_start(s + at, n, &w))
        return at;
    for (size_t i = 0; i < DG_WORD_LANGUAGES; i++) {
        unsigned value;
        const size_t to = read_first(&languages[i], &w, s + at, n, &value),
                     after = n - to < AFTER ? n - to : AFTER;
        if (to > 0)
            return has_large(s + at - before, before) || has_large(s + at + to, after) ||
                           dg_scan_has(s + at - before, before, "cent ") ||
                           has_cent(s + at + to, after) || follows_number(&languages[i], s, at)
                       ? at
                       : at + to;
    }
    return at;
}

unsigned dg_spelt_number_value(const char *language, const char *s, size_t n)
{
    const struct language *of = language_of(language);
    struct words w;
    if (!read_start(s, n, &w))
        return 0;
    for (size_t i = 0; i < DG_WORD_LANGUAGES; i++) {
        unsigned value;
        if ((!language || of == &languages[i]) && read_first(&languages[i], &w, s, n, &value) == n)
            return value;
    }
    return 0;
}

static void write_french(unsigned value, struct dg_buffer *out)
{
    const unsigned ten = value < 70 ? value / 10 : value < 80 ? 6 : 8, unit = value - 10 * ten;
    if (value < 20) {
        dg_buffer_adds(out, french[value - 1]);
        return;
    }
    dg_buffer_adds(out, ten < 8 ? french_tens[ten - 2] : unit ? "quatre-vingt" : "quatre-vingts");
    if (unit)
        dg_buffer_addf(
            out, "%s%s", (unit == 1 || unit == 11) && ten < 8 ? " et " : "-", french[unit - 1]);
}

bool dg_spelt_number_write(const char *language, unsigned value, struct dg_buffer *out)
{
    const struct language *l = language_of(language);
    const unsigned ten = value / 10, unit = value % 10;
    if (!l)
        return false;
    if (l->read == read_french)
        write_french(value, out);
    else if (value < 20)
        dg_buffer_adds(out, (l->read == read_german ? german : english)[value - 1]);
    else if (l->read == read_german)
        dg_buffer_addf(
            out, "%s%s%s", unit ? german[unit - 1] : "", unit ? "und" : "", german_tens[ten - 2]);
    else
        dg_buffer_addf(
            out, "%s%s%s", english_tens[ten - 2], unit ? "-" : "", unit ? english[unit - 1] : "");
    return true;
}
