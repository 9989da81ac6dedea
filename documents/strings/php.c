/* PHP's files of strings, such as Laravel's lang/en/messages.php: a string that is a value of an
 * array, or that an element of one gets, is a text:
 *
 *   return ['dogs' => 'Two dogs', 'days' => ['Monday']];     $lang['dogs'] = "Two dogs";
 *
 * Keys, arguments of functions, strings that are joined to others and strings with variables stay.
 */
#include "documents/kinds.h"
#include "documents/strings/program_string.h"
#include "text/scan.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define MOST_BRACKETS 1000

static const struct dg_markup strings = {.program = true};

enum bracket {
    ARRAY, /* [ or array( */
    INDEX, /* $lang[ */
    OTHER_BRACKET,
};

struct reader {
    struct dg_extract *x;
    struct dg_extract_part *p;
    /* what was read last; ELEMENT and VALUE: "[" begins an index after them */
    enum { START, OPENING, COMMA, ARROW, ASSIGNMENT, WORD, ELEMENT, VALUE, OTHER } last;
    /* [word, word_end) the last word */
    size_t word, word_end;
    /* [depth] brackets that are open */
    enum bracket brackets[MOST_BRACKETS];
    size_t depth;
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '\\' || ((unsigned char)c & 0x80);
}

static size_t word_end(const struct reader *r, size_t at)
{
    while (at < r->p->n && is_word(r->p->s[at]))
        at++;
    return at;
}

static bool last_word_is(const struct reader *r, const char *word)
{
    const size_t n = strlen(word);
    return r->last == WORD && r->word_end - r->word == n &&
           strncasecmp(r->p->s + r->word, word, n) == 0;
}

/* The byte after the white space and the comments at `at`. */
static size_t skip_blanks(const struct reader *r, size_t at)
{
    const char *s = r->p->s;
    for (size_t n = r->p->n; at < n;) {
        const char next = at + 1 < n ? s[at + 1] : '\0';
        if (isspace((unsigned char)s[at]))
            at++;
        else if ((s[at] == '#' && next != '[') || (s[at] == '/' && next == '/'))
            at = dg_scan_after(s, at, n, "\n");
        else if (s[at] == '/' && next == '*')
            at = dg_scan_after(s, at + 2, n, "*/");
        else
            break;
    }
    return at;
}

/* The byte after the string <<<NAME that begins at `at`, whose last line begins with NAME; `at`:
 * none begins there. */
static size_t heredoc_end(const struct reader *r, size_t at)
{
    const char *s = r->p->s;
    const size_t n = r->p->n;
    size_t name = at + 3;
    if (!dg_scan_begins(s, at, n, "<<<"))
        return at;
    while (name < n && (s[name] == ' ' || s[name] == '\t' || s[name] == '"' || s[name] == '\''))
        name++;
    const size_t len = word_end(r, name) - name;
    if (len == 0)
        return at;
    for (size_t i = name; (i = dg_scan_after(s, i, n, "\n")) < n;) {
        while (i < n && (s[i] == ' ' || s[i] == '\t'))
            i++;
        if (word_end(r, i) - i == len && memcmp(s + i, s + name, len) == 0)
            return i + len;
    }
    return n;
}

/* True if the string's bytes s[n] hold a variable, or an escape that is not decoded: \x41, \101. */
static bool has_code(const char *s, size_t n)
{
    for (size_t i = 0; i + 1 < n; i++) {
        const char next = s[i + 1];
        if (s[i] == '\\' && (isdigit((unsigned char)next) || next == 'x' || next == 'e'))
            return true;
        if (dg_escapes_is_variable(s, i, n))
            return true;
        i += s[i] == '\\';
    }
    return false;
}

/* Adds the string between the quotation marks at `begin` and before `end`. */
static int add(struct reader *r, size_t begin, size_t end, struct dg_error *err)
{
    const bool doubled = r->p->s[begin] == '"';
    const struct dg_span at = {begin + 1, end - 1};
    if (doubled && has_code(r->p->s + at.begin, at.end - at.begin))
        return DG_OK;
    return dg_program_string_add_escaped(
        r->x, r->p, at, &strings, doubled ? DG_ESCAPES_PHP_DOUBLE : DG_ESCAPES_PHP_SINGLE, err);
}

/* Reads the string at *at: it is a text if it is a whole value. */
static int read_string(struct reader *r, size_t *at, struct dg_error *err)
{
    const size_t begin = *at;
    size_t end;
    const int rc = dg_program_string_end(r->p, begin, &end, err);
    if (rc != DG_OK)
        return rc;
    const size_t next = skip_blanks(r, end);
    const char follows = next < r->p->n ? r->p->s[next] : ';';
    const bool in_array = r->depth > 0 && r->brackets[r->depth - 1] == ARRAY,
               item = r->last == OPENING || r->last == COMMA || r->last == ARROW;
    const bool value =
        (in_array && item && strchr(",])", follows)) || (r->last == ASSIGNMENT && follows == ';');
    *at = end;
    r->last = VALUE;
    return value ? add(r, begin, end, err) : DG_OK;
}

static int open_bracket(struct reader *r, size_t at, struct dg_error *err)
{
    const char c = r->p->s[at];
    enum bracket kind = OTHER_BRACKET;
    if (r->depth == MOST_BRACKETS)
        return dg_extract_broken(err, "line %zu: more than %d brackets are open",
            dg_extract_line_of(r->p, at), MOST_BRACKETS);
    if (c == '[')
        kind = r->last == VALUE || r->last == ELEMENT ||
                       (r->last == WORD && !last_word_is(r, "return"))
                   ? INDEX
                   : ARRAY;
    else if (c == '(' && last_word_is(r, "array"))
        kind = ARRAY;
    r->brackets[r->depth++] = kind;
    r->last = kind == ARRAY ? OPENING : OTHER;
    return DG_OK;
}

/* Reads the sign at `at`; returns the byte after it. */
static size_t read_sign(struct reader *r, size_t at)
{
    const char c = r->p->s[at], next = at + 1 < r->p->n ? r->p->s[at + 1] : '\0';
    if (c == '=' && next == '>') {
        r->last = ARROW;
        return at + 2;
    }
    if (c == '=' && next == '=') {
        r->last = OTHER;
        return at + 2;
    }
    if (strchr(")]}", c)) {
        const bool index = r->depth > 0 && r->brackets[r->depth - 1] == INDEX;
        r->depth -= r->depth > 0;
        r->last = index ? ELEMENT : c != '}' ? VALUE : OTHER;
    } else {
        r->last = c == ',' ? COMMA : c == '=' && r->last == ELEMENT ? ASSIGNMENT : OTHER;
    }
    return at + 1;
}

/* Reads PHP from `at` to its "?>"; sets *end to the byte after that. */
static int read_code(struct reader *r, size_t at, size_t *end, struct dg_error *err)
{
    const char *s = r->p->s;
    const size_t n = r->p->n;
    int rc = DG_OK;
    while ((at = skip_blanks(r, at)) < n && rc == DG_OK) {
        const size_t heredoc = heredoc_end(r, at);
        if (s[at] == '?' && at + 1 < n && s[at + 1] == '>') {
            at += 2;
            break;
        }
        if (s[at] == '\'' || s[at] == '"') {
            rc = read_string(r, &at, err);
        } else if (heredoc > at) {
            at = heredoc;
            r->last = VALUE;
        } else if (s[at] == '$') {
            at = word_end(r, at + 1);
            r->last = VALUE;
        } else if (is_word(s[at])) {
            r->word = at;
            at = r->word_end = word_end(r, at);
            r->last = WORD;
        } else if (strchr("([{", s[at])) {
            rc = open_bracket(r, at++, err);
        } else {
            at = read_sign(r, at);
        }
    }
    *end = at;
    return rc;
}

int dg_read_php(struct dg_extract *x, struct dg_extract_part *p, struct dg_error *err)
{
    static const char open[] = "<?php";
    struct reader r = {.x = x, .p = p};
    int rc = DG_OK;
    if (dg_scan_find(p->s, 0, p->n, open) == p->n)
        return dg_extract_broken(err, "it has no <?php, as files of PHP do");
    for (size_t at = 0; rc == DG_OK && (at = dg_scan_after(p->s, at, p->n, open)) < p->n;)
        rc = read_code(&r, at, &at, err);
    return rc;
}
