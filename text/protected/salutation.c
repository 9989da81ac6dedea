#include "text/protected/salutation.h"

#include "text/scan.h"
#include "text/protected/title.h"
#include "text/word_language.h"

#include <string.h>

enum meaning { OPENING, MAN, WOMAN, CLOSING, FAMILIAR };

/* A formula; a name follows those for a man and a woman. The first one of a language and a meaning
 * is the one that is written. */
static const struct formula {
    enum dg_word_language language;
    const char *words;
    enum meaning meaning;
} formulas[] = {
    {DG_ENGLISH, "Dear Sir or Madam", OPENING},
    {DG_ENGLISH, "Dear Sir/Madam", OPENING},
    {DG_ENGLISH, "Dear Madam or Sir", OPENING},
    {DG_ENGLISH, "Dear Mr. ", MAN},
    {DG_ENGLISH, "Dear Mr ", MAN},
    {DG_ENGLISH, "Dear Ms. ", WOMAN},
    {DG_ENGLISH, "Dear Ms ", WOMAN},
    {DG_ENGLISH, "Dear Mrs. ", WOMAN},
    {DG_ENGLISH, "Dear Mrs ", WOMAN},
    {DG_ENGLISH, "Dear Miss ", WOMAN},
    {DG_ENGLISH, "Kind regards", CLOSING},
    {DG_ENGLISH, "Best regards", CLOSING},
    {DG_ENGLISH, "Yours sincerely", CLOSING},
    {DG_ENGLISH, "Yours faithfully", CLOSING},
    {DG_ENGLISH, "Best wishes", FAMILIAR},
    {DG_GERMAN, "Sehr geehrte Damen und Herren", OPENING},
    {DG_GERMAN, "Sehr geehrter Herr ", MAN},
    {DG_GERMAN, "Lieber Herr ", MAN},
    {DG_GERMAN, "Sehr geehrte Frau ", WOMAN},
    {DG_GERMAN, "Liebe Frau ", WOMAN},
    {DG_GERMAN, "Mit freundlichen Grüßen", CLOSING},
    {DG_GERMAN, "Mit freundlichem Gruß", CLOSING},
    {DG_GERMAN, "Mit besten Grüßen", CLOSING},
    {DG_GERMAN, "Freundliche Grüße", CLOSING},
    {DG_GERMAN, "Viele Grüße", FAMILIAR},
    {DG_GERMAN, "Liebe Grüße", FAMILIAR},
    {DG_GERMAN, "Herzliche Grüße", FAMILIAR},
    {DG_FRENCH, "Madame, Monsieur", OPENING},
    {DG_FRENCH, "Cher Monsieur ", MAN},
    {DG_FRENCH, "Cher M. ", MAN},
    {DG_FRENCH, "Chère Madame ", WOMAN},
    {DG_FRENCH, "Chère Mme ", WOMAN},
    {DG_FRENCH, "Cordialement", CLOSING},
    {DG_FRENCH, "Bien cordialement", CLOSING},
    {DG_FRENCH, "Amicalement", FAMILIAR},
};

enum { FORMULAS = sizeof formulas / sizeof *formulas };

static bool has_name(const struct formula *f)
{
    return f->meaning == MAN || f->meaning == WOMAN;
}

/* True if s[at] ends a formula: a sign, a line end or the text's end is there. */
static bool is_over(const char *s, size_t at, size_t end)
{
    return at >= end || (s[at] && strchr(",!.:\n\r", s[at]));
}

/* True if a sentence or a line begins at s[at]. */
static bool is_start(const char *s, size_t at)
{
    while (at > 0 && s[at - 1] == ' ')
        at--;
    return at == 0 || (s[at - 1] && strchr(".!?,\n\r", s[at - 1]));
}

/* Skips a comma that ends a line: the model may leave out one after nothing else. */
static size_t skip_comma(const char *s, size_t at, size_t end)
{
    return at < end && s[at] == ',' && (at + 1 == end || strchr("\n\r", s[at + 1])) ? at + 1 : at;
}

/* Reads formula f at s[at]; returns its end without a comma, `at`: it is not there. */
static size_t read_formula(const struct formula *f, const char *s, size_t at, size_t end)
{
    const size_t n = strlen(f->words), words = at + n;
    if (end - at < n || memcmp(s + at, f->words, n) != 0)
        return at;
    if (has_name(f)) {
        const size_t name = dg_title_full_name_end(s, words, end);
        return name > words && is_over(s, name, end) ? name : at;
    }
    const bool before_name = (f->meaning == CLOSING || f->meaning == FAMILIAR) && words + 1 < end &&
                             s[words] == ' ' && dg_scan_is_upper(dg_scan_peek(s, words + 1, end));
    return is_over(s, words, end) || before_name ? words : at;
}

/* The formula that s has at byte `at`, and its end; NULL: none. */
static const struct formula *find(
    const char *language, const char *s, size_t at, size_t end, size_t *to)
{
    const enum dg_word_language of = dg_word_language_of(language);
    for (size_t k = 0; k < FORMULAS && at < end; k++) {
        const struct formula *f = &formulas[k];
        if (f->words[0] != s[at] || (language && f->language != of))
            continue;
        *to = read_formula(f, s, at, end);
        if (*to == at)
            continue;
        *to = skip_comma(s, *to, end);
        return f;
    }
    return NULL;
}

size_t dg_salutation_end(const char *s, size_t at, size_t end)
{
    size_t to;
    if (at == end || s[at] < 'A' || s[at] > 'Z') /* the usual case */
        return at;
    const struct formula *f = find(NULL, s, at, end, &to);
    return f && (has_name(f) || is_start(s, at)) ? to : at;
}

bool dg_salutation_is(const char *language, const char *s, size_t n)
{
    size_t to;
    return find(language, s, 0, n, &to) && to == n;
}

bool dg_salutation_write(
    const char *from, const char *to, const char *s, size_t n, struct dg_buffer *out)
{
    size_t end;
    const struct formula *f = find(from, s, 0, n, &end);
    const enum dg_word_language of_to = dg_word_language_of(to);
    for (size_t k = 0; k < FORMULAS && f && end == n; k++) {
        const struct formula *g = &formulas[k];
        const size_t name = strlen(f->words);
        if (g->meaning != f->meaning || g->language != of_to)
            continue;
        dg_buffer_adds(out, g->words);
        dg_buffer_add(out, s + name, n - name); /* the name, the comma */
        return true;
    }
    return false;
}
