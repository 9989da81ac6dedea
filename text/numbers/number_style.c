#include "text/numbers/number_style.h"

#include "text/scan.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum sign { SIGN_NONE, SIGN_DOT = 1, SIGN_COMMA = 2, SIGN_SPACE = 4, SIGN_APOSTROPHE = 8 };

enum { GROUP = 3, MOST_SIGNS = 12 };

struct dg_number_style {
    /* codes, each with a blank on both sides */
    const char *languages;
    /* enum sign: the decimal sign; the set of thousands separators that are accepted */
    unsigned decimal, groups;
    /* the signs as they are written */
    const char *decimal_text, *group_text;
};

static const struct dg_number_style styles[] = {
    {" en en-us en-gb zh ja ko th he ", SIGN_DOT, SIGN_COMMA, ".", ","},
    {" de de-de nl es es-es it it-it pt-br da id tr el hr sl ro ", SIGN_COMMA,
        SIGN_DOT | SIGN_SPACE | SIGN_APOSTROPHE, ",", "."},
    /* U+202F, a narrow space where no line breaks */
    {" fr fr-fr ", SIGN_COMMA, SIGN_SPACE, ",", "\xE2\x80\xAF"},
    {" ru uk bg cs sk pl sv nb nn no fi hu ", SIGN_COMMA, SIGN_SPACE, ",", "\xC2\xA0"},
};

/* True if the list has the code, ignoring case. */
static bool has_code(const char *list, const char *language)
{
    const size_t len = language ? strlen(language) : 0;
    for (const char *at = list; len && (at = strcasestr(at, language)); at++)
        if (at > list && at[-1] == ' ' && at[len] == ' ')
            return true;
    return false;
}

const struct dg_number_style *dg_number_style_of(const char *language)
{
    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++)
        if (has_code(styles[i].languages, language))
            return &styles[i];
    return NULL;
}

bool dg_number_styles_find(const char *source, const char *target, struct dg_number_styles *out)
{
    out->source = dg_number_style_of(source);
    out->target = dg_number_style_of(target);
    return out->source && out->target && out->source != out->target;
}

enum dg_sign_side dg_number_sign_side(const char *language)
{
    static const char before[] = " en en-us en-gb zh ja ko th ",
                      after[] = " de de-de fr fr-fr es es-es it it-it da sv nb nn no fi pl cs sk "
                                "hu ru uk bg el ro hr sl ";
    return has_code(before, language)  ? DG_SIGN_BEFORE
           : has_code(after, language) ? DG_SIGN_AFTER
                                       : DG_SIGN_ANYWHERE;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The sign at s[i], and its end. */
static enum sign sign_at(const char *s, size_t n, size_t i, size_t *end)
{
    *end = i;
    const int32_t c = i < n ? dg_scan_next(s, n, end) : 0;
    switch (c) {
    case '.': return SIGN_DOT;
    case ',': return SIGN_COMMA;
    case '\'':
    case 0x2019: return SIGN_APOSTROPHE;
    case ' ':
    case 0xA0:
    case 0x2009:
    case 0x202F: return SIGN_SPACE;
    default: return SIGN_NONE;
    }
}

/* True if the number touches what precedes or follows it, so that it is part of something else. */
static bool is_part(const char *s, size_t n, size_t begin, size_t end)
{
    size_t before = begin, after = end;
    const int32_t b = begin > 0 ? dg_scan_prev(s, 0, &before) : ' ',
                  a = end < n ? dg_scan_next(s, n, &after) : ' ';
    if (dg_scan_is_letter(b) || dg_scan_is_digit(b) || dg_scan_is_digit(a) || b == '_')
        return true;
    /* ".5", "9:30.5", "1/2,5"; "3,5:2" */
    return (b > 0 && b < 0x80 && strchr(".,:/", b) && before > 0 && is_digit(s[before - 1])) ||
           (a > 0 && a < 0x80 && strchr(":/", a) && after < n && is_digit(s[after]));
}

size_t dg_number_next(const char *s, size_t n, size_t from, size_t *begin)
{
    for (size_t at = from; at < n;) {
        if (!is_digit(s[at])) {
            at++;
            continue;
        }
        size_t end = dg_scan_skip_ascii_digits(s, at, n), run = end - at;
        for (;;) {
            size_t next, to;
            const enum sign sign = sign_at(s, n, end, &next);
            to = dg_scan_skip_ascii_digits(s, next, n);
            if (sign == SIGN_NONE || to == next)
                break;
            /* A space is part of a number only as a thousands separator. */
            if (sign == SIGN_SPACE && (run > GROUP || to - next != GROUP))
                break;
            run = to - next;
            end = to;
        }
        if (!is_part(s, n, at, end)) {
            *begin = at;
            return end;
        }
        at = end;
    }
    return 0;
}

/* Add s[n] to the digits. False: there is no room. */
static bool add(struct dg_number *x, const char *s, size_t n)
{
    if (n > DG_NUMBER_DIGITS - x->n)
        return false;
    memcpy(x->digits + x->n, s, n);
    x->n += n;
    return true;
}

bool dg_number_read(
    const struct dg_number_style *style, const char *s, size_t n, struct dg_number *out)
{
    size_t at = dg_scan_skip_ascii_digits(s, 0, n), next;
    const size_t first = at;
    enum sign group = SIGN_NONE;
    *out = (struct dg_number){.n = 0};
    if (!first || !add(out, s, first))
        return false;
    for (; at < n; at = dg_scan_skip_ascii_digits(s, next, n)) {
        const enum sign sign = sign_at(s, n, at, &next);
        const size_t len = dg_scan_skip_ascii_digits(s, next, n) - next;
        if (sign == SIGN_NONE || !len || out->n_fraction || !add(out, s + next, len))
            return false;
        if (sign == style->decimal) {
            out->n_fraction = len;
            continue;
        }
        /* Groups of thousands have three digits, with one to three digits before them that do not
         * begin with 0. */
        if (!(sign & style->groups) || (group && sign != group) || len != GROUP || first > GROUP ||
            s[0] == '0')
            return false;
        group = sign;
        out->grouped = true;
    }
    return true;
}

size_t dg_number_write(
    const struct dg_number_style *style, const struct dg_number *x, char out[DG_NUMBER_BYTES])
{
    const size_t whole = x->n - x->n_fraction;
    size_t len = 0;
    for (size_t i = 0; i < x->n; i++) {
        const char *sign = "";
        if (i == whole)
            sign = style->decimal_text;
        else if (x->grouped && i > 0 && i < whole && (whole - i) % GROUP == 0)
            sign = style->group_text;
        memcpy(out + len, sign, strlen(sign));
        len += strlen(sign);
        out[len++] = x->digits[i];
    }
    return len;
}

/* True if the list has the word s[begin, end), ignoring ASCII case. */
static bool is_one_of(const char *s, size_t begin, size_t end, const char *const *list)
{
    for (; *list; list++)
        if (strlen(*list) == end - begin && strncasecmp(s + begin, *list, end - begin) == 0)
            return true;
    return false;
}

/* True if the number is not a quantity because the word before it names something numbered: one of
 * these names, or a capitalised word that is not the first of the text. */
static bool is_numbered(const char *s, size_t begin)
{
    static const char *const names[] = {"version", "v", "section", "chapter", "figure", "table",
        "article", "paragraph", "verse", "page", "step", "part", "release", "level", NULL};
    size_t end = begin;
    while (end > 0 && s[end - 1] == ' ')
        end--;
    size_t word = end;
    while (word > 0 && isalpha((unsigned char)s[word - 1]))
        word--;
    if (word == end || end == begin)
        return false;
    return is_one_of(s, word, end, names) || (isupper((unsigned char)s[word]) && word > 0);
}

/* True if "pm", "a.m." or the like follows. */
static bool is_time(const char *s, size_t n, size_t end)
{
    static const char *const halves[] = {"am", "pm", "a.m", "p.m", "o'clock", NULL};
    while (end < n && s[end] == ' ')
        end++;
    size_t to = end;
    while (to < n && (isalpha((unsigned char)s[to]) ||
                         (strchr(".'", s[to]) && to + 1 < n && isalpha((unsigned char)s[to + 1]))))
        to++;
    return is_one_of(s, end, to, halves);
}

bool dg_number_is_quantity(
    const struct dg_number_style *style, const char *s, size_t n, size_t begin, size_t end)
{
    if (style->decimal != SIGN_DOT || !memchr(s + begin, '.', end - begin))
        return true;
    return !is_numbered(s, begin) && !is_time(s, n, end);
}
