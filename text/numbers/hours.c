#include "text/numbers/hours.h"

#include "text/scan.h"

#include <ctype.h>
#include <string.h>

enum { HALF = 12, DAY = 24, MINUTES = 6 /* tens of minutes */ };

static bool is_digit(const struct dg_hours_text *t, size_t at)
{
    return at < t->n && isdigit((unsigned char)t->s[at]);
}

/* True if the number at s[begin] is a part of another one or of a word, or the minutes of an hour.
 */
static bool is_part(const struct dg_hours_text *t, size_t begin)
{
    size_t at = begin;
    const int32_t before = begin > 0 ? dg_scan_prev(t->s, 0, &at) : ' ';
    return dg_scan_is_letter(before) || dg_clock_is_minutes(t->s, begin) ||
           (before == ',' && at > 0 && is_digit(t, at - 1));
}

/* True if h has a sign of the text's language; or an English one that is not a word ("9am", "9
 * a.m."), which a model may leave in other languages. */
static bool has_sign(const struct dg_hours_text *t, const struct dg_hour *h)
{
    if (h->clock == DG_CLOCK_NONE || h->value > DAY)
        return false;
    if (t->language != DG_ENGLISH && h->clock == DG_CLOCK_DAY)
        return true;
    return h->clock != DG_CLOCK_DAY &&
           (t->language == DG_ENGLISH || is_digit(t, h->sign - 1) || t->s[h->sign + 1] == '.');
}

/* Reads the number of one or two digits at s[at] with its minutes and its sign. False: there is
 * none. */
static bool read_hour(const struct dg_hours_text *t, size_t at, struct dg_hour *out)
{
    struct dg_clock_signs signs;
    const size_t end = dg_scan_skip_ascii_digits(t->s, at, t->n);
    if (end == at || end > at + 2 || is_part(t, at))
        return false;
    *out = (struct dg_hour){.begin = at, .end = end, .minutes = {'0', '0'}, .day = -1};
    for (size_t i = at; i < end; i++)
        out->value = 10 * out->value + (t->s[i] - '0');
    out->clock = dg_clock_read(t->s, t->n, at, end, &signs);
    out->sign = signs.sign;
    out->sign_end = signs.sign_end;
    out->has_minutes = signs.minutes != NULL;
    out->number_end = signs.minutes ? (size_t)(signs.minutes - t->s) + 2 : end;
    if (signs.minutes)
        memcpy(out->minutes, signs.minutes, 2);
    return true;
}

static int day_of_signed(const struct dg_hour *h)
{
    if (h->clock == DG_CLOCK_DAY)
        return h->value;
    return h->value < 1 || h->value > HALF ? -1
                                           : h->value % HALF + (h->clock == DG_CLOCK_PM ? HALF : 0);
}

/* Skips "-", "bis", "to" and the like between two hours; `at`: none is there. */
static size_t skip_link(const struct dg_hours_text *t, size_t at)
{
    static const char *const links[] = {"-", "–", "—", "to ", "until ", "till ", "and ", "or ",
        "bis ", "und ", "oder ", "à ", "et ", "ou "};
    const size_t word = dg_scan_skip_space(t->s, at, t->n);
    for (size_t k = 0; k < sizeof links / sizeof *links; k++) {
        const size_t len = strlen(links[k]);
        if (t->n - word > len && memcmp(t->s + word, links[k], len) == 0 &&
            (word > at || !isalpha((unsigned char)links[k][0])))
            return dg_scan_skip_space(t->s, word + len, t->n);
    }
    return at;
}

/* The latest hour of day before `end` that h may mean on a clock of twelve hours. */
static int day_before(const struct dg_hour *h, int end)
{
    const int night = h->value % HALF;
    return h->value < 1 || h->value > HALF || end < 0 ? -1
           : night + HALF < end || night >= end       ? night + HALF
                                                      : night;
}

/* Makes h, which has no sign, the first of two hours with one sign. False: it is not. */
static bool read_first(const struct dg_hours_text *t, struct dg_hour *h)
{
    struct dg_hour second;
    const size_t end = h->number_end, next = skip_link(t, end);
    if (h->value > DAY || next == end || !read_hour(t, next, &second) || !has_sign(t, &second))
        return false;
    h->kind = DG_HOUR_FIRST;
    h->clock = second.clock;
    h->sign = h->sign_end = end;
    h->day = second.clock == DG_CLOCK_DAY ? h->value : day_before(h, day_of_signed(&second));
    return true;
}

/* True if "at" is before h, and no sign that makes another number of it after it. */
static bool follows_at(const struct dg_hours_text *t, const struct dg_hour *h)
{
    const char next = h->end < t->n ? t->s[h->end] : ' ';
    const bool last = h->end + 1 >= t->n || !isdigit((unsigned char)t->s[h->end + 1]);
    return t->language == DG_ENGLISH && h->begin >= 3 &&
           memcmp(t->s + h->begin - 3, "at ", 3) == 0 &&
           (h->begin == 3 || !isalpha((unsigned char)t->s[h->begin - 4])) && last &&
           strchr(" ,.;!?)", next) != NULL;
}

/* Makes h, which has no sign, one with minutes after a colon, with a colon alone, or after "at".
 * False: it is none of these. */
static bool read_unsigned(const struct dg_hours_text *t, struct dg_hour *h)
{
    const size_t colon = h->end;
    const bool has_colon = colon < t->n && t->s[colon] == ':';
    if (h->value > DAY)
        return false;
    h->sign = h->sign_end = h->number_end;
    if (has_colon && !h->has_minutes && (colon + 1 == t->n || t->s[colon + 1] == ' ')) {
        h->kind = DG_HOUR_BROKEN;
        h->sign = h->sign_end = colon + 1;
        return true;
    }
    const char next = h->number_end < t->n ? t->s[h->number_end] : ' ';
    h->kind = DG_HOUR_UNSIGNED;
    h->day = h->value;
    if (!has_colon)
        return !h->has_minutes && follows_at(t, h);
    return h->has_minutes && h->minutes[0] < '0' + MINUTES && !isalnum((unsigned char)next) &&
           next != ':' && next != '/';
}

bool dg_hours_next(const struct dg_hours_text *t, size_t at, struct dg_hour *out)
{
    while (at < t->n) {
        if (!is_digit(t, at)) {
            at++;
            continue;
        }
        if (read_hour(t, at, out)) {
            if (has_sign(t, out)) {
                out->day = day_of_signed(out);
                return true;
            }
            if (read_first(t, out) || read_unsigned(t, out))
                return true;
        }
        at = dg_scan_skip_ascii_digits(t->s, at, t->n);
    }
    return false;
}
