/* Splits lines first, then columns, then sentences within each of these: ICU offers positions (a
 * few that it does not offer are added), and boundary.c decides. One pass over the text; every rule
 * looks at a bounded neighbourhood. */
#include "text/sentences/split.h"

#include "base/array.h"
#include "text/sentences/language.h"
#include "text/sentences/boundary.h"
#include "text/sentences/bullet.h"
#include "text/sentences/columns.h"
#include "text/icu.h"
#include "text/scan.h"
#include "text/sentences/sentence_breaks.h"

#include <unicode/utext.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct splitter {
    const char *text;
    UBreakIterator *breaks;
    /* [capacity], the first `count` used */
    struct dg_span *spans;
    size_t count, capacity;
    /* the sentence so far */
    struct dg_boundary b;
    /* b.has_letter and b.open_quotes are right for the text before this */
    size_t scanned;
};

static int emit(struct splitter *s, size_t begin, size_t end, struct dg_error *err)
{
    end = dg_scan_trim_space(s->text, begin, end);
    if (begin == end)
        return DG_OK;
    struct dg_span *spans = dg_array_grow(s->spans, s->count, &s->capacity, sizeof *spans);
    if (!spans)
        return dg_error_set(err, DG_ENOMEM, "no memory for %zu sentences", s->count + 1);
    s->spans = spans;
    s->spans[s->count++] = (struct dg_span){begin, end};
    return DG_OK;
}

/* Skips the dash that opens the next speaker's words, and the blank after it; `at`: there is none.
 */
static size_t skip_dash(const struct splitter *s, size_t at)
{
    size_t to = at;
    const int32_t c = at < s->b.line_end ? dg_scan_next(s->text, s->b.line_end, &to) : 0;
    const size_t word = dg_scan_skip_space(s->text, to, s->b.line_end);
    const bool dash = c == '-' || c == 0x2013 || c == 0x2014;
    return dash && word > to && word < s->b.line_end ? word : at;
}

static void begin_sentence(struct splitter *s, size_t at)
{
    s->b.sentence = s->scanned = at;
    s->b.has_letter = false;
    s->b.open_quotes = 0;
}

/* End the sentence at `at` if it ends there. */
static int try_place(struct splitter *s, size_t at, struct dg_error *err)
{
    size_t left_end, right_begin;
    if (at <= s->b.sentence || !dg_boundary_ends(&s->b, at, &left_end, &right_begin))
        return DG_OK;
    int rc = emit(s, s->b.sentence, left_end, err);
    begin_sentence(s, skip_dash(s, right_begin));
    return rc;
}

/* True if i, after a space, is a possible end that ICU does not offer: after an ellipsis character,
 * after a full stop before a number, or where a dash opens the next speaker's words. */
static bool is_extra_place(const struct splitter *s, size_t i, int32_t mark)
{
    const size_t next = dg_scan_skip_space(s->text, i, s->b.line_end), word = skip_dash(s, next);
    const int32_t c = dg_scan_peek(s->text, word, s->b.line_end);
    if (word > next)
        return dg_scan_is_upper(c);
    return (mark == '.' && c >= '0' && c <= '9') || (mark == 0x2026 && dg_scan_is_upper(c));
}

/* Bring the state up to `to`, trying places that ICU does not offer on the way. */
static int scan_to(struct splitter *s, size_t to, struct dg_error *err)
{
    int32_t mark = 0;
    int rc = DG_OK;
    for (size_t i = s->scanned; rc == DG_OK && i < to;) {
        int32_t c = dg_scan_next(s->text, to, &i);
        s->scanned = i;
        s->b.has_letter = s->b.has_letter || dg_scan_is_letter(c);
        if (c == 0xAB || c == 0x2039)
            s->b.open_quotes++;
        else if ((c == 0xBB || c == 0x203A) && s->b.open_quotes > 0)
            s->b.open_quotes--;
        if (mark && dg_scan_is_space(c)) {
            if (is_extra_place(s, i, mark))
                rc = try_place(s, i, err);
            i = s->scanned;
            mark = 0;
        } else if (c == '.' || c == '!' || c == '?' || c == 0x2026) {
            mark = c;
        } else if (!dg_scan_is_close(c)) {
            mark = 0;
        }
    }
    return rc;
}

static int split_line(struct splitter *s, size_t begin, size_t end, struct dg_error *err)
{
    int rc = DG_OK;
    UErrorCode status = U_ZERO_ERROR;
    UText line = UTEXT_INITIALIZER;
    utext_openUTF8(&line, s->text + begin, (int64_t)(end - begin), &status);
    ubrk_setUText(s->breaks, &line, &status);
    if (U_FAILURE(status)) {
        rc = dg_icu_fail(err, DG_EINTERNAL, status, "splitting a line");
        goto out;
    }
    s->b.line_end = end;
    begin_sentence(s, begin);
    for (int32_t k = ubrk_next(s->breaks); k != UBRK_DONE && rc == DG_OK;
         k = ubrk_next(s->breaks)) {
        size_t at = begin + (size_t)k;
        rc = scan_to(s, at, err);
        if (rc == DG_OK && at < end)
            rc = try_place(s, at, err);
    }
    if (rc == DG_OK)
        rc = emit(s, s->b.sentence, end, err);
out:
    utext_close(&line);
    return rc;
}

/* Splits a line without its bullet. */
static int split_columns(struct splitter *s, size_t begin, size_t end, struct dg_error *err)
{
    struct dg_columns columns;
    int rc = DG_OK;
    dg_columns_open(&columns, s->text, begin, end);
    while (rc == DG_OK && dg_columns_next(&columns, &begin, &end))
        rc = split_line(s, begin, end, err);
    return rc;
}

static int split_lines(struct splitter *s, size_t n, struct dg_error *err)
{
    int rc = DG_OK;
    for (size_t i = 0; i < n && rc == DG_OK;) {
        size_t begin = dg_scan_skip_space(s->text, i, n), end = begin;
        for (i = begin; i < n; end = i) {
            if (dg_scan_is_line_end(dg_scan_next(s->text, n, &i)))
                break;
        }
        end = dg_scan_trim_space(s->text, begin, end);
        if (begin < end)
            begin = dg_bullet_skip(s->text, begin, end, s->b.language);
        if (begin < end)
            rc = split_columns(s, begin, end, err);
    }
    return rc;
}

/* ICU's locale: the language alone (Greek ends questions with a semicolon). Its lists of
 * abbreviations ("@ss=standard") are not used: they never let "usw." or "U.S." end a sentence and
 * cost 7 % of the breaks in German news. */
static void make_locale(const char *lang, char locale[static 4])
{
    memset(locale, 0, 4);
    for (size_t i = 0; lang && i < 3 && isalpha((unsigned char)lang[i]); i++)
        locale[i] = (char)tolower((unsigned char)lang[i]);
}

int dg_split_sentences(const char *text, size_t n, const char *lang, struct dg_span **spans,
    size_t *count, struct dg_error *err)
{
    char locale[4];
    struct splitter s = {.text = text, .b = {.text = text, .language = dg_language_find(lang)}};
    if (n > INT32_MAX)
        return dg_error_set(err, DG_ELIMIT, "text of %zu bytes is too long to split", n);
    make_locale(lang, locale);
    int rc = dg_sentence_breaks(locale, &s.breaks, err);
    if (rc == DG_OK)
        rc = split_lines(&s, n, err);
    if (rc != DG_OK) {
        free(s.spans);
        return rc;
    }
    *spans = s.spans;
    *count = s.count;
    return DG_OK;
}
