#include "text/protected/salutation.h"

#include "text/language_code.h"
#include "text/scan.h"
#include "text/protected/title.h"

#include <string.h>

enum meaning { OPENING, MAN, WOMAN, CLOSING, FAMILIAR };

/* A formula; a name follows those for a man and a woman. The first one of a language and a meaning
 * is the one that is written. */
static const struct formula {
    const char *code, *words;
    enum meaning meaning;
} formulas[] = {
    {"en", "Dear Sir or Madam", OPENING},
    {"en", "Dear Sir/Madam", OPENING},
    {"en", "Dear Madam or Sir", OPENING},
    {"en", "Dear Mr. ", MAN},
    {"en", "Dear Mr ", MAN},
    {"en", "Dear Ms. ", WOMAN},
    {"en", "Dear Ms ", WOMAN},
    {"en", "Dear Mrs. ", WOMAN},
    {"en", "Dear Mrs ", WOMAN},
    {"en", "Dear Miss ", WOMAN},
    {"en", "Kind regards", CLOSING},
    {"en", "Best regards", CLOSING},
    {"en", "Yours sincerely", CLOSING},
    {"en", "Yours faithfully", CLOSING},
    {"en", "Best wishes", FAMILIAR},
    {"de", "Sehr geehrte Damen und Herren", OPENING},
    {"de", "Sehr geehrter Herr ", MAN},
    {"de", "Lieber Herr ", MAN},
    {"de", "Sehr geehrte Frau ", WOMAN},
    {"de", "Liebe Frau ", WOMAN},
    {"de", "Mit freundlichen Grüßen", CLOSING},
    {"de", "Mit freundlichem Gruß", CLOSING},
    {"de", "Mit besten Grüßen", CLOSING},
    {"de", "Freundliche Grüße", CLOSING},
    {"de", "Viele Grüße", FAMILIAR},
    {"de", "Liebe Grüße", FAMILIAR},
    {"de", "Herzliche Grüße", FAMILIAR},
    {"fr", "Madame, Monsieur", OPENING},
    {"fr", "Cher Monsieur ", MAN},
    {"fr", "Cher M. ", MAN},
    {"fr", "Chère Madame ", WOMAN},
    {"fr", "Chère Mme ", WOMAN},
    {"fr", "Cordialement", CLOSING},
    {"fr", "Bien cordialement", CLOSING},
    {"fr", "Amicalement", FAMILIAR},
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
    for (size_t k = 0; k < FORMULAS && at < end; k++) {
        const struct formula *f = &formulas[k];
        if (f->words[0] != s[at] || (language && !dg_language_same(language, f->code)))
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
    for (size_t k = 0; k < FORMULAS && f && end == n && to; k++) {
        const struct formula *g = &formulas[k];
        const size_t name = strlen(f->words);
        if (g->meaning != f->meaning || !dg_language_same(to, g->code))
            continue;
        dg_buffer_adds(out, g->words);
        dg_buffer_add(out, s + name, n - name); /* the name, the comma */
        return true;
    }
    return false;
}
