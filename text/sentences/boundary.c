#include "text/sentences/boundary.h"

#include "text/scan.h"

#include <string.h>

/* Maximum bytes examined of a word: abbreviations and sentence starters are shorter. */
enum { MAX_WORD = 40 };

/* A possible end, taken apart: "...word" terminator closers | trailers | white space "next..." */
struct place {
    /* after the word, before the run of terminators */
    size_t word_end;
    /* the last terminator; how many of them in a row */
    int32_t mark, mark_count;
    /* quotes or brackets were closed after it */
    bool closed;
    size_t left_end, right_begin;
    /* first code point of the next word, after opening quotes; 0: none nearby */
    int32_t next;
    /* the next word, at most MAX_WORD bytes */
    size_t next_begin, next_end;
};

/* Skips a citation: [1], [12, 13], [a], at most ten bytes between the brackets. Returns its end, or
 * i if there is none. */
static size_t skip_citation(const char *s, size_t i, size_t end)
{
    if (i >= end || s[i] != '[')
        return i;
    for (size_t k = i + 1; k < end && k < i + 12; k++) {
        if (s[k] == ']')
            return k > i + 1 ? k + 1 : i;
        if (!strchr("0123456789,- abcdefn", s[k]))
            break;
    }
    return i;
}

/* Closing guillemets after a space ("Bonjour ! »") and citations belong to the text before
 * them. */
static size_t skip_trailers(const struct dg_boundary *b, size_t i, bool *closed)
{
    size_t open = b->open_quotes;
    for (;;) {
        size_t k = dg_scan_skip_space(b->text, i, b->line_end), after = k;
        int32_t c = k < b->line_end ? dg_scan_next(b->text, b->line_end, &after) : 0;
        if ((c == 0xBB || c == 0x203A) && open > 0) {
            open--;
            *closed = true;
            i = after;
            continue;
        }
        after = skip_citation(b->text, i, b->line_end);
        if (after == i)
            return i;
        i = after;
    }
}

static void find_next_word(const struct dg_boundary *b, struct place *p)
{
    size_t i = p->right_begin, at = i;
    int32_t c = 0;
    for (int skipped = 0; i < b->line_end && skipped < 8; skipped++) {
        at = i;
        c = dg_scan_next(b->text, b->line_end, &i);
        bool leading = dg_scan_is_close(c) || dg_scan_is_space(c) || dg_scan_is_attached(c) ||
                       c == 0xBF || c == 0xA1 || c == '-' || c == 0x2013 || c == 0x2014;
        if (!leading)
            break;
        c = 0;
    }
    p->next = c;
    p->next_begin = p->next_end = at;
    for (i = at; c && i < b->line_end && i - at < MAX_WORD;) {
        c = dg_scan_next(b->text, b->line_end, &i);
        if (!dg_scan_is_letter(c) && !dg_scan_is_digit(c) && !dg_scan_is_attached(c))
            break;
        p->next_end = i;
    }
}

/* Steps back from the position over closing and attached characters to the terminators; false if
 * there are none. */
static bool find_mark(const struct dg_boundary *b, size_t end, struct place *p)
{
    while (end > b->sentence) {
        size_t prev = end;
        int32_t c = dg_scan_prev(b->text, b->sentence, &prev);
        if (dg_scan_is_terminator(c) || c == ';') { /* ICU offers semicolons for Greek only */
            p->mark = c;
            break;
        }
        bool close = dg_scan_is_close(c);
        if (!close && !dg_scan_is_attached(c))
            return false;
        p->closed = p->closed || close;
        end = prev;
    }
    while (end > b->sentence && p->mark_count < 8) {
        size_t prev = end;
        int32_t c = dg_scan_prev(b->text, b->sentence, &prev);
        if (!dg_scan_is_terminator(c) && c != ';')
            break;
        p->mark_count++;
        end = prev;
    }
    p->word_end = end;
    return p->mark_count > 0;
}

static bool is_starter(const struct dg_boundary *b, const struct place *p)
{
    /* A letter with a full stop is an initial, whatever word it looks like: "J. A. Smith". */
    if (p->next_end < b->line_end && b->text[p->next_end] == '.' &&
        p->next_end - p->next_begin <= 1)
        return false;
    return dg_language_starts_sentence(
        b->language, b->text + p->next_begin, p->next_end - p->next_begin);
}

/* Start of the word that ends at `end`: after white space or a quote or bracket. SIZE_MAX if the
 * word is too long. */
static size_t word_begin(const struct dg_boundary *b, size_t end)
{
    size_t i = end;
    while (i > b->sentence) {
        size_t prev = i;
        int32_t c = dg_scan_prev(b->text, b->sentence, &prev);
        if (dg_scan_is_space(c) || dg_scan_is_close(c))
            break;
        if (end - prev > MAX_WORD)
            return SIZE_MAX;
        i = prev;
    }
    return i;
}

/* Writes the word before the full stop to `word`, joined with the dotted words before it: "z. B"
 * and "i. d. R" become "z.B" and "i.d.R". `word` has room for MAX_WORD bytes; returns how many are
 * used, 0 if it is too long. */
static size_t joined_word(const struct dg_boundary *b, size_t begin, size_t end, char *word)
{
    bool short_part = end - begin <= 3;
    for (int parts = 0; short_part && parts < 3; parts++) {
        size_t dot = dg_scan_trim_space(b->text, b->sentence, begin);
        if (dot == begin || dot == b->sentence || b->text[dot - 1] != '.')
            break;
        size_t first = word_begin(b, dot - 1);
        short_part = first != SIZE_MAX && first < dot - 1 && dot - 1 - first <= 2;
        begin = short_part ? first : begin;
    }
    size_t n = 0;
    for (size_t i = begin; i < end;) {
        size_t at = i;
        if (dg_scan_is_space(dg_scan_next(b->text, end, &i)))
            continue;
        if (n + (i - at) > MAX_WORD)
            return 0;
        memcpy(word + n, b->text + at, i - at);
        n += i - at;
    }
    return n;
}

static bool all_of(const char *s, size_t n, const char *set)
{
    size_t i = 0;
    while (i < n && s[i] && strchr(set, s[i]))
        i++;
    return n > 0 && i == n;
}

static bool is_roman(const char *s, size_t n)
{
    return all_of(s, n, "IVXLC");
}

/* True for one capital, or capitals with full stops or hyphens between them: "J", "U.S", "J.-C". */
static bool is_initials(const char *s, size_t n)
{
    size_t letters = 0;
    for (size_t i = 0; i < n;) {
        int32_t c = dg_scan_next(s, n, &i);
        if (!dg_scan_is_upper(c))
            return false;
        letters++;
        if (i < n && s[i] != '.' && s[i] != '-')
            return false;
        while (i < n && (s[i] == '.' || s[i] == '-'))
            i++;
    }
    return letters > 0;
}

static enum dg_abbreviation find_abbreviation(
    const struct dg_boundary *b, const struct place *p, size_t begin)
{
    const char *word = b->text + begin;
    size_t n = p->word_end - begin;
    enum dg_abbreviation kind = dg_language_abbreviation(b->language, word, n);
    char joined[MAX_WORD];
    size_t k = kind == DG_ABBREVIATION_NONE ? joined_word(b, begin, p->word_end, joined) : 0;
    if (k > n)
        kind = dg_language_abbreviation(b->language, joined, k);
    /* "Dipl.-Ing": the last part decides. */
    for (size_t i = n; kind == DG_ABBREVIATION_NONE && i > 0; i--) {
        if (word[i - 1] == '-' || word[i - 1] == '/') {
            kind = dg_language_abbreviation(b->language, word + i, n - i);
            break;
        }
    }
    if (kind != DG_ABBREVIATION_NONE || !dg_language_has_ordinal_dot(b->language))
        return kind;
    if (n > 3 && memcmp(word + n - 3, "str", 3) == 0)
        return DG_ABBREVIATION_NAME; /* "Hauptstr." */
    if (n > 2 && memcmp(word + n - 2, "nr", 2) == 0)
        return DG_ABBREVIATION_NUMBER; /* "Kundennr." */
    return kind;
}

/* True if the next word is a code with digits: "WDB123", "AB-12", "L. 123-4". */
static bool code_follows(const struct dg_boundary *b, const struct place *p)
{
    size_t i = p->next_begin;
    if (p->next_end == i + 1 && p->next_end < b->line_end && b->text[p->next_end] == '.') {
        i = dg_scan_skip_space(b->text, p->next_end + 1, b->line_end);
        return dg_scan_is_digit(dg_scan_peek(b->text, i, b->line_end));
    }
    while (i < b->line_end && i - p->next_begin < MAX_WORD) {
        const int32_t c = dg_scan_next(b->text, b->line_end, &i);
        if (dg_scan_is_digit(c) || dg_scan_is_space(c))
            return dg_scan_is_digit(c);
    }
    return false;
}

/* True if a single full stop after a word ends the sentence. No small letter follows, otherwise ICU
 * would not offer the position. */
static bool full_stop_ends(const struct dg_boundary *b, const struct place *p)
{
    size_t begin = word_begin(b, p->word_end);
    if (begin == SIZE_MAX || begin == p->word_end)
        return true;
    const char *word = b->text + begin;
    size_t n = p->word_end - begin;
    if (n == 1 && begin == b->sentence)
        return false; /* "A. The first point" */
    bool starter = is_starter(b, p), number_next = dg_scan_is_digit(p->next);

    switch (find_abbreviation(b, p, begin)) {
    case DG_ABBREVIATION_ALWAYS: return false;
    case DG_ABBREVIATION_NAME: return starter;
    case DG_ABBREVIATION_NUMBER:
        if (number_next || code_follows(b, p) ||
            (is_roman(b->text + p->next_begin, p->next_end - p->next_begin) && !starter))
            return false;
        break;
    case DG_ABBREVIATION_NONE: break;
    }
    if (is_initials(word, n)) {
        bool pronoun = n == 1 && word[0] == 'I';
        return starter || (n == 1 && p->closed) ||
               (pronoun && !dg_language_has_ordinal_dot(b->language));
    }
    if (n == 1 && dg_scan_is_letter(word[0])) /* "p. Smith", "b. London" */
        return starter || p->closed;
    if (dg_language_has_ordinal_dot(b->language) && !p->closed) {
        size_t k = n;
        while (k > 0 && word[k - 1] >= '0' && word[k - 1] <= '9')
            k--;
        bool decimal = k > 0 && (word[k - 1] == '.' || word[k - 1] == ',' || word[k - 1] == ':');
        if ((n - k <= 2 && n > k && !decimal) || (k == n && is_roman(word, n)))
            return starter;
    }
    return true;
}

/* True if a full stop before a number ends the sentence: only after a plain word or a year, because
 * many abbreviations that no table has precede a number ("cap. 5"). */
static bool number_starts(const struct dg_boundary *b, const struct place *p)
{
    size_t begin = word_begin(b, p->word_end);
    if (begin == SIZE_MAX || begin == p->word_end)
        return true;
    size_t n = p->word_end - begin, letters = 0;
    if (p->closed || all_of(b->text + begin, n, "0123456789"))
        return p->closed || n == 4;
    for (size_t i = begin; i < p->word_end; letters++) {
        int32_t c = dg_scan_next(b->text, p->word_end, &i);
        if (!dg_scan_is_lower(c) && !(letters == 0 && dg_scan_is_upper(c)))
            return false;
    }
    return letters >= (dg_language_has_tables(b->language) ? 3 : 4);
}

/* Steps back over opening marks: ICU takes the bracket of "end.[1] Next" and the quotes of
 * "終。「次」" for closing marks. */
static size_t before_openers(const struct dg_boundary *b, size_t end)
{
    while (end > b->sentence) {
        size_t prev = end;
        if (!dg_scan_is_opener(dg_scan_prev(b->text, b->sentence, &prev)))
            break;
        end = prev;
    }
    return end;
}

bool dg_boundary_ends(const struct dg_boundary *b, size_t at, size_t *left_end, size_t *right_begin)
{
    const char *s = b->text;
    struct place p = {0};
    size_t end = dg_scan_trim_space(s, b->sentence, at);
    if (end == at)
        end = before_openers(b, end);
    if (!b->has_letter || !find_mark(b, end, &p))
        return false;
    p.left_end = skip_trailers(b, end, &p.closed);
    p.right_begin = dg_scan_skip_space(s, p.left_end, b->line_end);
    if (dg_scan_is_terminator(dg_scan_peek(s, p.right_begin, b->line_end)) ||
        p.right_begin >= b->line_end)
        return false; /* "What ? !" and ". . ." */
    find_next_word(b, &p);
    *left_end = p.left_end;
    *right_begin = p.right_begin;

    bool spaced = p.left_end < p.right_begin;
    if (!spaced) {
        /* Without a space, only where the script has none: after full-width marks, or after ! and ?
         * before a letter of such a script. This keeps addresses ("http://a.b/?q=1") and file names
         * whole. */
        bool wide = p.mark >= 0x80 && p.mark != 0x2026;
        return wide || (p.mark != '.' && p.mark != 0x2026 && dg_scan_is_uncased(p.next));
    }
    if (dg_scan_is_lower(p.next))
        return p.mark != '.' && p.mark != '!' && p.mark != 0x2026 && !p.closed;
    if (p.mark == '.' && p.mark_count == 1)
        return full_stop_ends(b, &p) && (!dg_scan_is_digit(p.next) || number_starts(b, &p));
    /* "(?)" and "(!)" are remarks within a sentence. */
    if (p.closed && p.word_end > b->sentence && s[p.word_end - 1] == '(')
        return false;
    return true;
}
