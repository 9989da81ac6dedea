#include "text/numbers/numbers.h"

#include "text/numbers/clock.h"
#include "text/numbers/number_words.h"
#include "text/numbers/roman_number.h"
#include "text/placeholder.h"
#include "text/scan.h"
#include "text/words.h"

#include <string.h>
#include <unicode/uchar.h>

#define MANY 256    /* numbers compared */
#define LONGEST 40  /* digits compared */
#define THOUSANDS 3 /* digits of a group after the first */
#define HOURS 24
#define MINUTES '5' /* the first digit of minutes is at most this one */
#define ROMANS 100  /* Roman numbers are read below this one */

struct digits {
    /* '0'..'9' */
    char d[LONGEST];
    size_t n;
    /* of an hour */
    enum dg_clock clock;
    /* it is written as a year or a decade that may be short; it has groups of thousands; it is
     * written as the minutes of an hour */
    bool year, grouped, minutes;
};

/* The numbers of a text. */
struct numbers {
    /* runs of digits */
    struct digits runs[MANY];
    /* true if run i may be a group of thousands of the run before: "1.000" */
    bool joins[MANY];
    /* and cannot be a number of its own, because no space precedes it */
    bool tight[MANY];
    /* the point, comma or space between run i and the one before it; 0: others */
    char sign[MANY];
    size_t n;
    /* [value] true if it occurs as a Roman numeral */
    bool roman[ROMANS];
};

/* Skips the character at s[*at] and returns it; a character reference (&#8217;) counts as a blank,
 * because its digits are no number of the text. */
static int32_t next_character(const char *s, size_t len, size_t *at)
{
    const size_t end = s[*at] == '&' ? dg_placeholder_end(s, *at, len) : *at;
    if (end == *at)
        return dg_scan_next(s, len, at);
    *at = end;
    return ' ';
}

/* Reads the next run of digits at s[*at] or later and moves *at past it. False: there is none. */
static bool next_run(const char *s, size_t len, size_t *at, size_t *begin, struct digits *out)
{
    bool in_run = false;
    *out = (struct digits){.n = 0};
    for (size_t i = *at; i < len;) {
        size_t here = i;
        const int32_t c = next_character(s, len, &i);
        const int32_t value = dg_scan_is_digit(c) ? u_charDigitValue(c) : -1;
        if (value < 0 && in_run)
            break;
        if (value < 0)
            continue;
        if (!in_run)
            *begin = here;
        in_run = true;
        if (out->n < LONGEST)
            out->d[out->n++] = (char)('0' + value);
        *at = i;
    }
    return in_run;
}

/* True if s[begin..end) is exactly one thousands separator. */
static bool parts_thousands(const char *s, size_t begin, size_t end)
{
    if (begin == end)
        return false;
    int32_t c = next_character(s, end, &begin);
    return begin == end &&
           (dg_scan_is_space(c) || c == '.' || c == ',' || c == '\'' || c == 0x2019);
}

/* True if the run x at s[begin] is part of a percent sign: "15 p. 100" is 15 %. */
static bool is_percent(const char *s, size_t begin, const struct digits *x)
{
    static const char *const signs[] = {" p. ", " p.", "\xC2\xA0p.\xC2\xA0", "\xC2\xA0p. "};
    for (size_t k = 0; x->n == 3 && memcmp(x->d, "100", 3) == 0 && k < 4; k++) {
        const size_t n = strlen(signs[k]);
        if (begin > n && memcmp(s + begin - n, signs[k], n) == 0 && s[begin - n - 1] >= '0' &&
            s[begin - n - 1] <= '9')
            return true;
    }
    return false;
}

/* True if the run x at s[begin, end) is written as a short year, '98 or 2008/09, or as a decade,
 * 90s or 1990er. */
static bool is_year(const char *s, size_t len, size_t begin, size_t end, const struct digits *x)
{
    size_t at = begin;
    const int32_t before = begin > 0 ? dg_scan_prev(s, 0, &at) : 0;
    end += end + 1 < len && s[end] == '\'' && s[end + 1] == 's'; /* "the 90's" */
    if (end < len && (s[end] == 's' || (s[end] == 'e' && end + 1 < len && s[end + 1] == 'r')))
        return true;
    if (x->n != 2 || before == '\'' || before == 0x2019)
        return x->n == 2;
    const size_t sign = at;
    while (at > 0 && s[at - 1] >= '0' && s[at - 1] <= '9')
        at--;
    if (before == '.') /* of a date; "3.36" is a decimal */
        return at < sign && at > 0 && s[at - 1] == '.';
    return at < sign && (before == '/' || before == '-' || before == 0x2013);
}

/* Finds out what a run of one or two digits, x, at s[begin, end) says of the time of day. Decimals
 * after a comma say nothing. */
static void read_clock(const char *s, size_t len, size_t begin, size_t end, struct digits *x)
{
    struct dg_clock_signs signs;
    if (begin > 1 && s[begin - 1] == ',' && s[begin - 2] >= '0' && s[begin - 2] <= '9')
        return;
    x->clock = dg_clock_read(s, len, begin, end, &signs);
    if (x->clock == DG_CLOCK_DAY && dg_clock_has_daytime(s, len))
        x->clock = DG_CLOCK_NONE;
    x->minutes = x->n == 2 && x->d[0] <= MINUTES && dg_clock_is_minutes(s, begin);
}

/* False: there are too many. */
static bool read_runs(const char *s, size_t len, struct numbers *out)
{
    out->n = 0;
    for (size_t at = 0, begin = 0, before = 0;; before = at) {
        struct digits x;
        if (!next_run(s, len, &at, &begin, &x))
            return true;
        if (is_percent(s, begin, &x))
            continue;
        if (out->n == MANY)
            return false;
        if (x.n <= 2)
            read_clock(s, len, begin, at, &x);
        x.year = is_year(s, len, begin, at, &x);
        out->joins[out->n] = out->n && x.n == THOUSANDS && parts_thousands(s, before, begin);
        out->tight[out->n] = out->joins[out->n] && s[before] != '&' &&
                             !dg_scan_is_space((unsigned char)s[before]) &&
                             out->runs[out->n - 1].n <= THOUSANDS;
        const bool near = out->n && begin == before + 1 && strchr("., ", s[before]);
        out->sign[out->n] = near ? s[before] : '\0';
        out->runs[out->n++] = x;
    }
}

static void read_romans(const char *s, size_t len, struct numbers *out)
{
    memset(out->roman, 0, sizeof out->roman);
    bool alone;
    for (size_t begin, end = 0; (end = dg_word_next(s, len, end, &begin, &alone)) > 0;) {
        int value = dg_roman_number_value(s + begin, end - begin);
        if (value > 0 && value < ROMANS)
            out->roman[value] = true;
    }
}

static struct digits without_noughts(struct digits x)
{
    size_t zeros = 0;
    while (zeros < x.n && x.d[zeros] == '0')
        zeros++;
    x.n -= zeros;
    memmove(x.d, x.d + zeros, x.n);
    return x;
}

/* The value of at most two digits. */
static int value_of(const struct digits *x)
{
    int v = 0;
    for (size_t i = 0; i < x->n; i++)
        v = 10 * v + (x->d[i] - '0');
    return v;
}

static bool ends_year(const struct digits *year, const struct digits *two)
{
    return year->n == 4 && two->n == 2 && memcmp(year->d + 2, two->d, 2) == 0 && !year->grouped &&
           (year->year || two->year);
}

/* True if a and b are notations of one number. */
static bool alike(struct digits a, struct digits b)
{
    if (ends_year(&a, &b) || ends_year(&b, &a))
        return true;
    if ((a.minutes && b.clock != DG_CLOCK_NONE) || (b.minutes && a.clock != DG_CLOCK_NONE))
        return false; /* the 15 of "3:15 p.m." is not that of "15 Uhr" */
    a = without_noughts(a);
    b = without_noughts(b);
    if (a.n <= 2 && b.n <= 2 && value_of(&a) <= HOURS && value_of(&b) <= HOURS)
        return dg_clock_same(value_of(&a), a.clock, value_of(&b), b.clock);
    return a.n == b.n && memcmp(a.d, b.d, a.n) == 0;
}

/* Run i joined with the groups of thousands after it, up to run end - 1. */
static struct digits joined(const struct numbers *of, size_t i, size_t end)
{
    struct digits x = of->runs[i];
    x.grouped = end > i + 1;
    while (++i < end && x.n + THOUSANDS <= LONGEST) {
        memcpy(x.d + x.n, of->runs[i].d, THOUSANDS);
        x.n += THOUSANDS;
    }
    return x;
}

/* Index after the last run that may be a group of thousands of run i. */
static size_t end_of_joins(const struct numbers *of, size_t i)
{
    size_t end = i + 1;
    while (end < of->n && of->joins[end] && end - i < LONGEST / THOUSANDS)
        end++;
    return end;
}

/* How often the text says the number; MANY: no matter how often, as a Roman one. */
static size_t times_said(const struct numbers *text, struct digits wanted)
{
    struct digits bare = without_noughts(wanted);
    size_t times = 0;
    if (bare.n && bare.n <= 2 && text->roman[value_of(&bare)])
        return MANY;
    for (size_t i = 0; i < text->n; i++) {
        bool said = false;
        for (size_t last = end_of_joins(text, i), end = i + 1; end <= last && !said; end++)
            said = alike(joined(text, i, end), wanted);
        times += said;
    }
    return times;
}

static bool says(const struct numbers *text, struct digits wanted)
{
    return times_said(text, wanted) > 0;
}

/* How often the text has the number of run i before it, as a number of its own. */
static size_t times_before(const struct numbers *of, size_t i)
{
    const struct digits *x = &of->runs[i];
    size_t times = 0;
    for (size_t k = 0; k < i; k++)
        times += !of->joins[k] && end_of_joins(of, k) == k + 1 && of->runs[k].n == x->n &&
                 of->runs[k].minutes == x->minutes && memcmp(of->runs[k].d, x->d, x->n) == 0;
    return times;
}

/* True if run i is three noughts. */
static bool is_noughts(const struct numbers *of, size_t i)
{
    return i < of->n && of->runs[i].n == THOUSANDS && without_noughts(of->runs[i]).n == 0;
}

/* True if the text has x before a word that may mean noughts ("3 thousand", "1 million"), that
 * is, without noughts after it. */
static bool says_without_noughts(const struct numbers *text, struct digits x)
{
    for (size_t i = 0; i < text->n; i++)
        if (alike(text->runs[i], x) && !is_noughts(text, i + 1))
            return true;
    return false;
}

struct missing {
    /* bit v: v is missing, which may be a word */
    unsigned small;
    bool large;
};

/* Adds x, which the other text does not say in digits. */
static void add_missing(struct missing *found, const struct digits *x)
{
    struct digits bare = without_noughts(*x);
    if (bare.n <= 2 && value_of(&bare) <= DG_NUMBER_WORDS_LAST)
        found->small |= 1U << value_of(&bare);
    else
        found->large = true;
}

static struct missing missing_in(const struct numbers *of, const struct numbers *in)
{
    struct missing found = {0};
    for (size_t i = 0, end; i < of->n; i = end) {
        const size_t last = end_of_joins(of, i);
        size_t noughts = i + 1;
        end = last;
        if (last > i + 1 && says(in, joined(of, i, last)))
            continue;
        while (noughts < last && is_noughts(of, noughts))
            noughts++;
        if (noughts == last && last > i + 1) {
            /* 3,000 is one number; the other text may say 3 thousand, or three thousand, but not
             * 3,000,000. */
            if (!says_without_noughts(in, of->runs[i])) {
                found.large = found.large || says(in, of->runs[i]);
                add_missing(&found, &of->runs[i]);
            }
        } else if (last > i + 1 && of->tight[i + 1]) {
            found.large = true;
        } else { /* "3 200" may be two numbers. */
            end = i + 1;
            if (without_noughts(of->runs[i]).n &&
                times_said(in, of->runs[i]) <= times_before(of, i))
                add_missing(&found, &of->runs[i]);
        }
    }
    return found;
}

/* True if text `in` certainly lacks one of the small numbers; *small: those that no word of it may
 * say. */
static bool lacks_words(const struct dg_numbered *in, unsigned *small)
{
    unsigned said;
    if (!*small || !dg_number_words_find(in->language, in->s, in->n, &said))
        return false;
    *small &= ~said;
    return *small != 0;
}

/* True if text `in` has runs i - 1 and i of another, with only a space between them, or a sign. */
static bool has_pair(const struct numbers *in, const struct numbers *of, size_t i, bool space)
{
    for (size_t k = 1; k < in->n; k++)
        if (in->sign[k] && (in->sign[k] == ' ') == space && alike(of->runs[i], in->runs[k]) &&
            alike(of->runs[i - 1], in->runs[k - 1]))
            return true;
    return false;
}

/* True if text `in` has a space where a number has a point or comma: "17 24" for "17,24". */
static bool splits(const struct numbers *of, const struct numbers *in)
{
    for (size_t i = 1; i < of->n; i++)
        if (of->sign[i] && of->sign[i] != ' ' && of->runs[i].n != THOUSANDS &&
            has_pair(in, of, i, true) && !has_pair(in, of, i, false))
            return true;
    return false;
}

bool dg_numbers_agree(const struct dg_numbered *a, const struct dg_numbered *b)
{
    struct numbers in_a, in_b;
    if (!read_runs(a->s, a->n, &in_a) || !read_runs(b->s, b->n, &in_b) || (!in_a.n && !in_b.n))
        return true;
    read_romans(a->s, a->n, &in_a);
    read_romans(b->s, b->n, &in_b);
    struct missing from_a = missing_in(&in_a, &in_b), from_b = missing_in(&in_b, &in_a);
    if (splits(&in_a, &in_b) || splits(&in_b, &in_a) || from_a.large || from_b.large ||
        lacks_words(b, &from_a.small) || lacks_words(a, &from_b.small))
        return false;
    return !from_a.small || !from_b.small;
}
