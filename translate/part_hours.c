#include "translate/part_hours.h"

#include "text/clock.h"
#include "text/language_code.h"
#include "text/scan.h"
#include "translate/job_internal.h"
#include "translate/part_numbers.h"
#include "translate/terms.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { HALF = 12, DAY = 24 };
/* English says the half of the day ("p.m."), the others count to 24. */
enum language { ENGLISH, GERMAN, FRENCH, LANGUAGES };

/* An hour of a text. */
struct hour {
    /* bytes of its number, and of the sign after it, "p.m" */
    size_t begin, end, sign, sign_end;
    int value;
    enum dg_clock clock;
    /* two digits */
    char minutes[2];
};

struct side {
    const char *s;
    size_t n;
    enum language language;
};

/* False: the language is none of these. */
static bool find_side(const char *language, struct side *out)
{
    static const char *const codes[LANGUAGES] = {"en", "de", "fr"};
    int i = 0;
    while (language && i < LANGUAGES && !dg_language_same(language, codes[i]))
        i++;
    out->language = (enum language)i;
    return language && i < LANGUAGES;
}

static bool is_digit(const struct side *t, size_t at)
{
    return at < t->n && isdigit((unsigned char)t->s[at]);
}

/* True if the number at s[begin] is a part of another one, or of a word. */
static bool is_part(const struct side *t, size_t begin)
{
    size_t at = begin;
    const int32_t before = begin > 0 ? dg_scan_prev(t->s, 0, &at) : ' ';
    return dg_scan_is_letter(before) ||
           ((before == '.' || before == ',' || before == ':') && at > 0 && is_digit(t, at - 1));
}

/* True if h has a sign of the text's language; or an English one that is no word ("9am", "9 a.m."),
 * which the model may leave in other languages. */
static bool has_sign(const struct side *t, const struct hour *h)
{
    if (h->clock == DG_CLOCK_NONE || h->value > DAY)
        return false;
    if (t->language != ENGLISH && h->clock == DG_CLOCK_DAY)
        return true;
    return h->clock != DG_CLOCK_DAY &&
           (t->language == ENGLISH || is_digit(t, h->sign - 1) || t->s[h->sign + 1] == '.');
}

/* Finds the next hour from byte `at` on. False: there is none. */
static bool next_hour(const struct side *t, size_t at, struct hour *out)
{
    for (size_t end; at < t->n; at = end) {
        struct dg_clock_signs signs;
        for (end = at; is_digit(t, end);)
            end++;
        if (end == at || end > at + 2 || is_part(t, at)) {
            end += end == at;
            continue;
        }
        *out = (struct hour){.begin = at, .end = end, .minutes = {'0', '0'}};
        for (size_t i = at; i < end; i++)
            out->value = 10 * out->value + (t->s[i] - '0');
        out->clock = dg_clock_read(t->s, t->n, at, end, &signs);
        out->sign = signs.sign;
        out->sign_end = signs.sign_end;
        if (signs.minutes)
            memcpy(out->minutes, signs.minutes, 2);
        if (has_sign(t, out))
            return true;
    }
    return false;
}

/* On a clock of 24 hours; -1: 18 p.m. is no hour. */
static int hour_of_day(const struct hour *h)
{
    if (h->clock == DG_CLOCK_DAY)
        return h->value;
    return h->value < 1 || h->value > HALF ? -1
                                           : h->value % HALF + (h->clock == DG_CLOCK_PM ? HALF : 0);
}

/* The hour of day of the sentence that x of the answer is twelve hours off; -1: there is none,
 * there are several, or one is x's. */
static int find_meant(const struct side *sentence, const struct hour *x)
{
    int found = -1;
    struct hour h;
    for (size_t at = 0; next_hour(sentence, at, &h); at = h.end) {
        const int day = hour_of_day(&h);
        if (memcmp(h.minutes, x->minutes, 2) != 0 || day < 0)
            continue;
        if (day % DAY == hour_of_day(x) % DAY && hour_of_day(x) >= 0)
            return -1;
        if (day % HALF != x->value % HALF)
            continue;
        if (found >= 0 && found != day)
            return -1;
        found = day;
    }
    return found;
}

/* True if the sentence has the hour as x says it. */
static bool has_hour(const struct side *sentence, const struct hour *x)
{
    struct hour h;
    for (size_t at = 0; next_hour(sentence, at, &h); at = h.end)
        if (h.value == x->value && h.clock == x->clock && memcmp(h.minutes, x->minutes, 2) == 0)
            return true;
    return false;
}

/* An answer's text from byte `from` on, with its tokens' ends. */
struct answer {
    struct side side;
    struct dg_buffer *text;
    size_t from;
    /* [n] */
    size_t *ends, n;
};

/* Writes s in place of bytes begin .. end of the answer, and sets *next to the byte after it. */
static void splice(struct answer *a, size_t begin, size_t end, const char *s, size_t *next)
{
    dg_part_splice(
        a->text, (size_t[2]){a->from + begin, a->from + end}, s, strlen(s), a->ends, a->n);
    *next = begin + strlen(s);
}

/* Writes hour x, which is copied from English, as German and French have it. */
static void translate(struct answer *a, struct hour *x)
{
    const bool on_the_hour = memcmp(x->minutes, "00", 2) == 0;
    const int day = hour_of_day(x);
    char written[32];
    if (a->side.language == FRENCH)
        snprintf(written, sizeof written, "%d h%s%.2s", day, on_the_hour ? "" : " ",
            on_the_hour ? "" : x->minutes);
    else
        snprintf(written, sizeof written, "%d%s%.2s Uhr", day, on_the_hour ? "" : ":",
            on_the_hour ? "" : x->minutes);
    size_t end = x->sign_end;
    /* the last "." of "a.m.", unless it ends the text; one after "am" ends a sentence */
    end += a->side.s[x->sign + 1] == '.' && end + 1 < a->side.n && a->side.s[end] == '.';
    splice(a, x->begin, end, written, &x->end);
}

/* Writes x as hour `day` of the day. */
static void correct(struct answer *a, struct hour *x, int day)
{
    char written[16];
    const int half = day % HALF ? day % HALF : HALF;
    snprintf(written, sizeof written, "%d", a->side.language == ENGLISH ? half : day);
    if (a->side.language == ENGLISH) { /* "a.m.", "P.M." */
        char *sign = a->text->data + a->from + x->sign;
        const char said = day % DAY < HALF ? 'a' : 'p';
        *sign = isupper((unsigned char)*sign) ? (char)toupper((unsigned char)said) : said;
    }
    splice(a, x->begin, x->end, written, &x->end);
}

/* True if the hours may be those of a half of the day that a word says: "um 8 Uhr abends". */
static bool has_daytime(const struct side *t)
{
    return t->language != ENGLISH && dg_clock_has_daytime(t->s, t->n);
}

void dg_part_write_hours(const struct dg_job *j, const struct dg_part *p, struct dg_buffer *text,
    size_t from, size_t *ends, size_t n)
{
    struct side sentence = {.s = p->text};
    struct answer a = {.text = text, .from = from, .ends = ends, .n = n};
    struct dg_term_places terms;
    struct hour x;
    if (!p->text || text->len == from || !find_side(j->language, &sentence) ||
        !find_side(j->target_language, &a.side))
        return;
    sentence.n = strlen(p->text);
    dg_part_place_terms(p, text->data + from, text->len - from, &terms);
    for (size_t at = 0;; at = x.end) {
        a.side.s = text->data + from;
        a.side.n = text->len - from;
        if (text->failed || !next_hour(&a.side, at, &x))
            return;
        if (dg_term_places_touch(&terms, a.side.n, x.begin, x.sign_end))
            continue;
        const bool copied = a.side.language != ENGLISH && x.clock != DG_CLOCK_DAY;
        const int day = copied || has_daytime(&sentence) || has_daytime(&a.side)
                            ? -1
                            : find_meant(&sentence, &x);
        if (copied && hour_of_day(&x) >= 0 && has_hour(&sentence, &x))
            translate(&a, &x);
        else if (day >= 0)
            correct(&a, &x, day);
    }
}
