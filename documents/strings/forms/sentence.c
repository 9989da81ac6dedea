#include "documents/strings/forms/sentence.h"

#include "documents/strings/date_pattern.h"
#include "text/format/xml/scan.h"
#include "text/scan.h"
#include "text/utf8.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- tokens ---- */

static bool is_digit(const char *s, size_t at, size_t n)
{
    return at < n && isdigit((unsigned char)s[at]);
}

/* True if these digits are shown at s[at]: no number goes on before or after them. */
static bool has_digits_at(const char *s, size_t at, size_t n, const char *digits)
{
    const size_t end = at + strlen(digits);
    return end <= n && memcmp(s + at, digits, end - at) == 0 &&
           (at == 0 || !is_digit(s, at - 1, n)) && !is_digit(s, end, n);
}

bool dg_sentence_lacks(const struct dg_pattern *p, const char *digits)
{
    for (size_t at = 0; at < p->n; at++)
        if (has_digits_at(p->s, at, p->n, digits))
            return false;
    return true;
}

/* True if no token is shown so and, of digits, if the message does not have them. */
static bool is_free(const struct dg_sentence *t, const char *shown)
{
    for (size_t i = 0; i < t->n_tokens; i++)
        if (strcmp(t->tokens[i].shown, shown) == 0)
            return false;
    return shown[0] == '{' || dg_sentence_lacks(t->pattern, shown);
}

/* Shows an ordinal; false: no number of its form is free. */
static bool show_ordinal(const struct dg_sentence *t, struct dg_token *token)
{
    /* the forms of English; in other languages "many" is used for 8 and 80 (Italian) */
    static const char *const numbers[][4] = {{"one", "1", "21", "31"}, {"two", "2", "22", "32"},
        {"few", "3", "23", "33"}, {"many", "8", "11", "80"}, {"other", "4", "5", "6"}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (!dg_pattern_is(t->pattern, token->selector, numbers[i][0]))
            continue;
        for (size_t k = 1; k < 4; k++) {
            snprintf(token->shown, sizeof token->shown, "%s", numbers[i][k]);
            if (is_free(t, token->shown))
                return true;
        }
    }
    return false;
}

/* Shows a token by the name of its argument; false: the name has signs, or is shown already. */
static bool show_name(const struct dg_sentence *t, struct dg_token *token)
{
    const struct dg_pattern_part *name = &t->pattern->parts[token->argument + 1];
    const size_t n = name->end - name->begin;
    const char *s = t->pattern->s + name->begin;
    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)s[i]) && s[i] != '_')
            return false;
    snprintf(token->shown, sizeof token->shown, "{%.*s}", (int)n, s);
    return n > 0 && n <= DG_SENTENCE_NAME && is_free(t, token->shown);
}

static void show(const struct dg_sentence *t, struct dg_token *token)
{
    const bool number = token->kind == DG_TOKEN_NUMBER,
               ordinal = number && t->pattern->parts[token->argument].type == DG_PATTERN_ORDINAL;
    snprintf(token->shown, sizeof token->shown, "%s", token->sample ? token->sample : "");
    if (token->sample && is_free(t, token->shown))
        return;
    if ((ordinal && show_ordinal(t, token)) ||
        ((number || token->kind == DG_TOKEN_ARGUMENT) && show_name(t, token)))
        return;
    for (int i = 0; i <= DG_SENTENCE_TOKENS; i++) {
        snprintf(token->shown, sizeof token->shown, "{%d}", i);
        if (is_free(t, token->shown))
            return;
    }
}

static bool same_token(
    const struct dg_sentence *t, const struct dg_token *a, const struct dg_token *b)
{
    return a->kind == b->kind && a->n == b->n && memcmp(a->s, b->s, a->n) == 0 &&
           (a->kind != DG_TOKEN_NUMBER ||
               dg_pattern_same_number(t->pattern, a->argument, b->argument));
}

int dg_sentence_add_token(struct dg_sentence *t, struct dg_token token, struct dg_error *err)
{
    size_t i = 0;
    while (i < t->n_tokens && !same_token(t, &t->tokens[i], &token))
        i++;
    if (i == DG_SENTENCE_TOKENS)
        return dg_pattern_stays(err, "a sentence in it has more than 16 arguments");
    if (i == t->n_tokens) {
        show(t, &token);
        t->tokens[t->n_tokens++] = token;
    }
    dg_buffer_adds(&t->text, t->tokens[i].shown);
    return DG_OK;
}

bool dg_token_is_number(const struct dg_pattern *p, const struct dg_token *t, size_t argument)
{
    if (t->kind == DG_TOKEN_NUMBER)
        return dg_pattern_same_number(p, t->argument, argument);
    return t->kind == DG_TOKEN_ARGUMENT && dg_pattern_same(p, t->argument + 1, argument + 1) &&
           (p->parts[t->argument + 2].kind == DG_PATTERN_ARGUMENT_END ||
               dg_pattern_is(p, t->argument + 2, "number"));
}

void dg_sentence_copy(
    const struct dg_sentence *t, size_t argument, const char *sample, struct dg_sentence *out)
{
    size_t i = 0;
    *out = *t;
    dg_buffer_init(&out->text);
    while (i < t->n_tokens && !dg_token_is_number(t->pattern, &t->tokens[i], argument))
        i++;
    const char *from = t->text.data ? t->text.data : "", *end = from + t->text.len;
    if (i < t->n_tokens && t->tokens[i].shown[0] == '{' && is_free(t, sample)) {
        const char *shown = t->tokens[i].shown;
        const size_t n = strlen(shown);
        for (const char *at; (at = memmem(from, (size_t)(end - from), shown, n)); from = at + n) {
            dg_buffer_add(&out->text, from, (size_t)(at - from));
            dg_buffer_adds(&out->text, sample);
        }
        snprintf(out->tokens[i].shown, sizeof out->tokens[i].shown, "%s", sample);
    }
    dg_buffer_add(&out->text, from, (size_t)(end - from));
}

int dg_sentence_add_letters(struct dg_sentence *t, size_t begin, size_t end, struct dg_error *err)
{
    const char *s = t->pattern->s;
    for (size_t at = begin, next; at < end; at = next) {
        next = dg_pattern_skip_xml(t->pattern, s, at, end);
        if (next == at) {
            dg_scan_next(s, end, &next);
            if (s[at] == '{' || s[at] == '}')
                return dg_pattern_stays(err, "a brace in it is no part of an argument");
            t->sign = t->sign || s[at] == '#';
            t->words = t->words || dg_utf8_has_letter(s + at, next - at);
        }
        dg_buffer_add(&t->text, s + at, next - at);
    }
    return DG_OK;
}

bool dg_sentence_is_text(const struct dg_sentence *t)
{
    return t->words && t->text.data && !dg_date_pattern_is(t->text.data, t->text.len);
}

bool dg_sentence_says(const struct dg_sentence *t, size_t argument)
{
    for (size_t i = 0; i < t->n_tokens; i++) {
        const struct dg_token *token = &t->tokens[i];
        if ((token->kind == DG_TOKEN_ARGUMENT || token->kind == DG_TOKEN_NUMBER) &&
            dg_pattern_same(t->pattern, token->argument + 1, argument + 1))
            return true;
    }
    return false;
}

int dg_sentence_check(const struct dg_sentence *t, size_t around, struct dg_error *err)
{
    const struct dg_pattern *p = t->pattern;
    bool whole;
    const bool has_number = dg_pattern_has_number(p, around);
    for (size_t i = 0; i < t->n_tokens; i++) {
        const struct dg_token *token = &t->tokens[i];
        const bool moved =
            token->kind == DG_TOKEN_NUMBER && !dg_pattern_same_number(p, token->argument, around);
        if ((token->kind == DG_TOKEN_SIGN && token->argument != around) ||
            (token->kind == DG_TOKEN_QUOTATION && token->s[1] == '#' && !has_number) ||
            (moved &&
                (!p->style.quotes || dg_pattern_offset(p, token->argument) != DG_PATTERN_NONE)))
            return dg_pattern_stays(err, "a # in it would be in a branch of another argument");
    }
    if (t->sign && has_number && !p->style.quotes)
        return dg_pattern_stays(err, "a # in it would be in a branch of an argument");
    if (!p->style.xml || !dg_sentence_is_text(t))
        return DG_OK;
    const int rc = dg_xml_is_well_formed(t->text.data, t->text.len, &whole, err);
    return rc != DG_OK || whole
               ? rc
               : dg_pattern_stays(err, "a tag in it begins in a branch and ends outside");
}

/* ---- writing ---- */

/* A translation on its way into a branch. */
struct writing {
    const struct dg_sentence *sentence;
    /* [n] */
    const char *s;
    size_t n;
    /* the branch's argument */
    size_t around;
    struct dg_buffer *out;
};

static const struct dg_token *token_at(const struct writing *w, size_t at)
{
    for (size_t i = 0; i < w->sentence->n_tokens; i++) {
        const struct dg_token *token = &w->sentence->tokens[i];
        const size_t n = strlen(token->shown);
        if (token->shown[0] != '{' ? has_digits_at(w->s, at, w->n, token->shown)
                                   : w->n - at >= n && memcmp(w->s + at, token->shown, n) == 0)
            return token;
    }
    return NULL;
}

static bool follows_apostrophe(const struct writing *w)
{
    return w->out->len > 0 && w->out->data[w->out->len - 1] == '\'';
}

static int write_token(const struct writing *w, const struct dg_token *token, struct dg_error *err)
{
    const struct dg_pattern *p = w->sentence->pattern;
    if (token->kind == DG_TOKEN_QUOTATION && follows_apostrophe(w))
        return dg_pattern_stays(err, "a quotation follows an apostrophe in its translation");
    if (token->kind != DG_TOKEN_NUMBER || dg_pattern_same_number(p, token->argument, w->around)) {
        dg_buffer_add(w->out, token->s, token->n);
        return DG_OK;
    }
    const struct dg_pattern_part *name = &p->parts[token->argument + 1];
    dg_buffer_adds(w->out, "{");
    dg_buffer_add(w->out, p->s + name->begin, name->end - name->begin);
    dg_buffer_adds(w->out, ", number}");
    return DG_OK;
}

/* Writes the apostrophe at s[at]: doubled if the message has such, else as U+2019 where it would
 * quote what is after it. */
static void write_apostrophe(const struct writing *w, size_t at)
{
    const char next = at + 1 < w->n ? w->s[at + 1] : 0;
    const bool quotes = !next || strchr("{}#<|'", next) || token_at(w, at + 1);
    if (w->sentence->pattern->doubled && !follows_apostrophe(w))
        dg_buffer_adds(w->out, "''");
    else
        dg_buffer_adds(w->out, quotes || follows_apostrophe(w) ? "\xE2\x80\x99" : "'");
}

/* How often the sentence shows digits. */
static size_t count_digits(const struct dg_sentence *t, const char *digits)
{
    size_t n = 0;
    for (size_t at = 0; at < t->text.len; at++)
        n += has_digits_at(t->text.data, at, t->text.len, digits);
    return n;
}

/* True if the translation says a token: digits as often as the sentence does, others at least once.
 */
static bool is_said(const struct dg_sentence *t, const struct dg_token *token, size_t said)
{
    return token->shown[0] == '{' ? said > 0 : said == count_digits(t, token->shown);
}

/* Writes a byte that is no part of a token. */
static int write_letter(const struct writing *w, size_t at, struct dg_error *err)
{
    const struct dg_pattern *p = w->sentence->pattern;
    const char c = w->s[at];
    if (c == '{' || c == '}')
        return dg_pattern_stays(err, "its translation has a brace that the text lacks");
    if (c == '#' && dg_pattern_has_number(p, w->around)) {
        if (!p->style.quotes || follows_apostrophe(w))
            return dg_pattern_stays(err, "its translation has a # that the text lacks");
        dg_buffer_adds(w->out, "'#'");
    } else if (c == '\'') {
        write_apostrophe(w, at);
    } else {
        dg_buffer_add(w->out, &c, 1);
    }
    return DG_OK;
}

int dg_sentence_write(const struct dg_sentence *t, const char *s, size_t n, size_t around,
    struct dg_buffer *out, struct dg_error *err)
{
    const struct writing w = {.sentence = t, .s = s, .n = n, .around = around, .out = out};
    size_t said[DG_SENTENCE_TOKENS] = {0};
    int rc = DG_OK;
    for (size_t at = 0, next; at < n && rc == DG_OK; at = next) {
        const struct dg_token *token = token_at(&w, at);
        next = token ? at + strlen(token->shown) : dg_pattern_skip_xml(t->pattern, s, at, n);
        if (token) {
            said[token - t->tokens]++;
            rc = write_token(&w, token, err);
        } else if (next > at) {
            dg_buffer_add(out, s + at, next - at);
        } else {
            next = at + 1;
            rc = write_letter(&w, at, err);
        }
    }
    for (size_t i = 0; i < t->n_tokens && rc == DG_OK; i++)
        if (!is_said(t, &t->tokens[i], said[i]))
            rc = dg_pattern_stays(err, "its translation lacks an argument");
    return rc;
}
