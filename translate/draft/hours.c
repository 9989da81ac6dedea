#include "translate/draft/draft.h"

#include "text/numbers/hours.h"
#include "text/scan.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { HALF = 12, DAY = 24 };

static bool same_minutes(const struct dg_hour *a, const struct dg_hour *b)
{
    return memcmp(a->minutes, b->minutes, sizeof a->minutes) == 0;
}

/* Finds the sentence's next hour that has a sign, or shares one. */
static bool next_meant(const struct dg_hours_text *sentence, size_t at, struct dg_hour *out)
{
    do {
        if (!dg_hours_next(sentence, at, out))
            return false;
        at = out->end;
    } while (out->kind != DG_HOUR_SIGNED && out->kind != DG_HOUR_FIRST);
    return true;
}

/* Finds the hour of the sentence that x of the answer is twelve hours off. False: there is none,
 * there are several, or one is x's. */
static bool find_meant(
    const struct dg_hours_text *sentence, const struct dg_hour *x, struct dg_hour *out)
{
    bool found = false;
    struct dg_hour h;
    for (size_t at = 0; next_meant(sentence, at, &h); at = h.end) {
        if ((x->kind != DG_HOUR_BROKEN && !same_minutes(&h, x)) || h.day < 0)
            continue;
        if (x->day >= 0 && h.day % DAY == x->day % DAY)
            return false;
        if (h.day % HALF != x->value % HALF)
            continue;
        if (found && (out->day != h.day || !same_minutes(out, &h)))
            return false;
        *out = h;
        found = true;
    }
    return found;
}

/* True if the sentence has the hour as x says it. */
static bool has_hour(const struct dg_hours_text *sentence, const struct dg_hour *x)
{
    struct dg_hour h;
    for (size_t at = 0; next_meant(sentence, at, &h); at = h.end)
        if (h.value == x->value && h.clock == x->clock && same_minutes(&h, x))
            return true;
    return false;
}

/* True if the text has an hour with a sign that may be `day`. */
static bool says_hour(const struct dg_hours_text *text, int day)
{
    struct dg_hour h;
    for (size_t at = 0; next_meant(text, at, &h); at = h.end)
        if (h.value % HALF == day % HALF)
            return true;
    return false;
}

/* True if the text has the number besides the hour at bytes begin .. end. */
static bool has_number(
    const struct dg_hours_text *text, const char *digits, size_t n, size_t begin, size_t end)
{
    for (size_t at = 0, to; at < text->n; at = to) {
        to = dg_scan_skip_ascii_digits(text->s, at, text->n);
        if (to - at == n && memcmp(text->s + at, digits, n) == 0 && (at < begin || at >= end))
            return true;
        to += to == at;
    }
    return false;
}

/* Finds the hour of the sentence whose minutes x of the answer lacks. False: there is none, there
 * are several, or the answer has the minutes elsewhere or in words. */
static bool find_minutes(const struct dg_hours_text *sentence, const struct dg_hours_text *answer,
    const struct dg_hour *x, struct dg_hour *out)
{
    static const char *const words[] = {"half", "halb", "quarter", "viertel", "quart", "demi"};
    bool found = false;
    struct dg_hour h;
    if (x->kind != DG_HOUR_SIGNED || x->has_minutes || x->day < 0)
        return false;
    for (size_t at = 0; next_meant(sentence, at, &h); at = h.end) {
        if (h.day != x->day)
            continue;
        if (found || !h.has_minutes || same_minutes(&h, x))
            return false;
        *out = h;
        found = true;
    }
    for (size_t k = 0; k < sizeof words / sizeof *words && found; k++)
        found = !dg_scan_has(answer->s, answer->n, words[k]);
    return found && !has_number(answer, out->minutes, sizeof out->minutes, x->begin, x->number_end);
}

/* The answer, and its text as it was when its next hour was read. */
struct answer {
    struct dg_draft *draft;
    struct dg_hours_text side;
};

/* Writes s in place of bytes begin .. end of the answer, and sets *next to the byte after it. */
static void splice(struct answer *a, size_t begin, size_t end, const char *s, size_t *next)
{
    dg_draft_splice(a->draft, begin, end, s, strlen(s));
    *next = begin + strlen(s);
}

/* Writes `day`, with the minutes of `of`, in place of x as the answer's language has it. */
static void write_hour(struct answer *a, struct dg_hour *x, int day, const struct dg_hour *of)
{
    const bool on_the_hour = memcmp(of->minutes, "00", 2) == 0;
    const char *const minutes = on_the_hour ? "" : of->minutes;
    const int shown = on_the_hour ? 0 : 2, half = day % HALF ? day % HALF : HALF;
    const bool dotted = x->sign_end > x->sign + 1 && a->side.s[x->sign + 1] == '.',
               dot = x->sign_end < a->side.n && a->side.s[x->sign_end] == '.';
    size_t end = x->sign_end;
    char written[32];
    if (a->side.language == DG_ENGLISH)
        snprintf(written, sizeof written, "%d%s%.*s %c.m.", half, on_the_hour ? "" : ":", shown,
            minutes, day % DAY < HALF ? 'a' : 'p');
    else if (a->side.language == DG_FRENCH)
        snprintf(
            written, sizeof written, "%d h%s%.*s", day, on_the_hour ? "" : " ", shown, minutes);
    else
        snprintf(
            written, sizeof written, "%d%s%.*s Uhr", day, on_the_hour ? "" : ":", shown, minutes);
    /* the last "." of "a.m.", unless it ends a German or French text; one after "am" ends a
     * sentence, and "a.m." needs no other */
    if (dot && (a->side.language == DG_ENGLISH || (dotted && end + 1 < a->side.n)))
        end++;
    splice(a, x->begin, end, written, &x->end);
}

/* Writes hour `day` of the day over the number of x, and its half of the day into an English sign.
 */
static void correct(struct answer *a, struct dg_hour *x, int day)
{
    char written[16];
    const bool english = a->side.language == DG_ENGLISH;
    const int half = day % HALF ? day % HALF : HALF;
    snprintf(written, sizeof written, "%d", english ? half : day);
    if (english) { /* "a.m.", "P.M." */
        char *sign = a->draft->text.data + x->sign;
        const char said = day % DAY < HALF ? 'a' : 'p';
        *sign = isupper((unsigned char)*sign) ? (char)toupper((unsigned char)said) : said;
    }
    splice(a, x->begin, x->end, written, &x->end);
}

/* Corrects x, which has no sign in the answer, if it is the only one for an hour of the sentence.
 */
static void correct_unsigned(
    struct answer *a, const struct dg_hours_text *sentence, struct dg_hour *x)
{
    struct dg_hour h;
    const char *const digits = a->side.s + x->begin;
    const size_t n = x->end - x->begin;
    if (find_meant(sentence, x, &h) && !says_hour(&a->side, h.day) &&
        !has_number(sentence, digits, n, h.begin, h.end))
        write_hour(a, x, h.day, &h);
}

/* Corrects hour x of the answer. */
static void correct_hour(struct answer *a, const struct dg_hours_text *sentence, struct dg_hour *x)
{
    struct dg_hour h;
    const bool english = a->side.language == DG_ENGLISH;
    if (x->kind == DG_HOUR_UNSIGNED || x->kind == DG_HOUR_BROKEN)
        correct_unsigned(a, sentence, x);
    else if (!english && x->clock != DG_CLOCK_DAY)
        return; /* copied, but from where? */
    else if (find_minutes(sentence, &a->side, x, &h))
        write_hour(a, x, h.day, &h);
    else if (!find_meant(sentence, x, &h))
        return;
    else if (english && x->kind == DG_HOUR_FIRST)
        write_hour(a, x, h.day, &h);
    else
        correct(a, x, h.day);
}

/* True if the hours may be those of a half of the day that a word says: "um 8 Uhr abends". */
static bool has_daytime(const struct dg_hours_text *t)
{
    return t->language != DG_ENGLISH && dg_clock_has_daytime(t->s, t->n);
}

void dg_draft_write_hours(struct dg_draft *d)
{
    const struct dg_hours_text sentence = {
        .s = d->sentence, .n = strlen(d->sentence), .language = dg_word_language_of(d->from)};
    struct answer a = {.draft = d, .side.language = dg_word_language_of(d->to)};
    struct dg_hour x;
    if (sentence.language == DG_WORD_LANGUAGES || a.side.language == DG_WORD_LANGUAGES)
        return;
    dg_draft_find_terms(d);
    for (size_t at = 0;; at = x.end) {
        a.side.s = d->text.data;
        a.side.n = d->text.len;
        if (d->text.failed || !dg_hours_next(&a.side, at, &x))
            return;
        if (dg_draft_has_term(d, x.begin, x.sign_end))
            continue;
        const bool copied =
            a.side.language != DG_ENGLISH && x.kind == DG_HOUR_SIGNED && x.clock != DG_CLOCK_DAY;
        if (copied && x.day >= 0 && has_hour(&sentence, &x))
            write_hour(&a, &x, x.day, &x);
        else if (!has_daytime(&sentence) && !has_daytime(&a.side))
            correct_hour(&a, &sentence, &x);
    }
}
