#include "translate/job/key_sign.h"

#include "text/protected/protected.h"
#include "text/scan.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#define LONGEST 256 /* maximum bytes of a label */
/* of one with a "_" within a word, which other texts have in names ("X_orig") */
#define LONGEST_PARTED 40

static bool is_key(int32_t c)
{
    return dg_scan_is_letter(c) || dg_scan_is_digit(c);
}

/* Steps over the characters of a label that are neither protected nor in a tag. */
struct words {
    const char *s;
    size_t n;
    /* the next protected span */
    size_t begin, end;
};

static struct words begin_words(const char *s, size_t n)
{
    struct words w = {.s = s, .n = n};
    w.end = dg_protected_next(NULL, s, n, 0, &w.begin);
    return w;
}

/* The first byte from `at` on that is in no protected span and in no tag. */
static size_t skip_others(struct words *w, size_t at)
{
    for (size_t before = SIZE_MAX; before != at;) {
        before = at;
        while (w->end > 0 && at >= w->end)
            w->end = dg_protected_next(NULL, w->s, w->n, w->end, &w->begin);
        if (w->end > 0 && at >= w->begin)
            at = w->end;
        const char *tag = at < w->n && w->s[at] == '<' ? memchr(w->s + at, '>', w->n - at) : NULL;
        at = tag ? (size_t)(tag - w->s) + 1 : at;
    }
    return at;
}

/* True if the letter after "_" at s[at] may be a key's: at the start of a word, or in one that
 * begins with a capital ("Pre_ferences"). */
static bool fits_underscore(const char *s, size_t at, size_t n)
{
    size_t begin = at;
    while (
        begin > 0 && (isalnum((unsigned char)s[begin - 1]) || (unsigned char)s[begin - 1] >= 0x80))
        begin--;
    if (begin == at)
        return at > 0 || !islower((unsigned char)s[at + 1]);
    for (size_t i = begin + 1; i < at; i++)
        if (!islower((unsigned char)s[i]))
            return false;
    return n <= LONGEST_PARTED && isupper((unsigned char)s[begin]) &&
           islower((unsigned char)s[at + 1]);
}

/* The same for "&": at the start of a word, or beside a small letter ("E&xit"). */
static bool fits_ampersand(const char *s, size_t at, size_t n)
{
    size_t before = at, after = at + 1;
    const int32_t left = at > 0 ? dg_scan_prev(s, 0, &before) : ' ';
    const int32_t right = dg_scan_next(s, n, &after);
    return !is_key(left) ||
           (!dg_scan_is_digit(left) && (dg_scan_is_lower(left) || dg_scan_is_lower(right)));
}

bool dg_key_sign_find(const char *signs, const char *s, size_t n, struct dg_key_sign *out)
{
    const bool label = n <= LONGEST && !memchr(s, '\n', n);
    for (; signs && *signs && label; signs++) {
        struct words w = begin_words(s, n);
        size_t count = 0, found = 0, len = 1;
        for (size_t at = skip_others(&w, 0); at < n; at = skip_others(&w, at + len)) {
            len = s[at] == '&' && at + 1 < n && s[at + 1] == '&' ? 2 : 1;
            if (s[at] != *signs)
                continue;
            count++;
            found = at;
            out->n = len;
        }
        const size_t at = found + out->n;
        if (count != 1 || at >= n || !is_key(dg_scan_peek(s, at, n)) ||
            !(*signs == '_' ? fits_underscore(s, found, n) : fits_ampersand(s, at - 1, n)) ||
            (out->n == 2 && found > 0 && s[found - 1] != ' '))
            continue;
        memcpy(out->s, s + found, out->n);
        out->s[out->n] = '\0';
        out->at = found;
        return true;
    }
    out->n = 0;
    return false;
}

/* True if labels in the letter's script have the key's letter at their end. */
static bool is_of_end(int32_t c)
{
    return dg_scan_is_unspaced(c) || (c >= 0xAC00 && c <= 0xD7A3);
}

/* The byte of s[n] that the sign goes before; n: none. */
static size_t find_place(const char *s, size_t n, int32_t key)
{
    struct words w = begin_words(s, n);
    size_t best = n;
    int best_rank = 3;
    int32_t before = ' ';
    for (size_t at = skip_others(&w, 0), next; at < n; at = skip_others(&w, next)) {
        next = at;
        const int32_t c = dg_scan_next(s, n, &next);
        const bool same = c == key || (c < 0x80 && key < 0x80 && tolower(c) == tolower(key));
        const int rank = !is_key(before) && same ? 0 : same ? 1 : dg_scan_is_letter(c) ? 2 : 3;
        if (is_key(c) && !is_of_end(c) && rank < best_rank) {
            best = at;
            best_rank = rank;
        }
        before = c;
    }
    return best;
}

void dg_key_sign_put(const struct dg_key_sign *sign, const char *label, size_t n_label,
    const char *s, size_t n, struct dg_buffer *out, size_t *at)
{
    const bool same = n == n_label && memcmp(s, label, n) == 0;
    size_t next = sign->at;
    const int32_t key = dg_scan_next(label, n_label, &next);
    *at = same ? sign->at : find_place(s, n, key);
    const bool at_end = *at == n;
    if (at_end)
        while (*at > 0 && (isspace((unsigned char)s[*at - 1]) || strchr(".:", s[*at - 1])))
            --*at;
    dg_buffer_add(out, s, *at);
    dg_buffer_adds(out, at_end ? "(" : "");
    dg_buffer_add(out, sign->s, sign->n);
    if (at_end)
        for (size_t i = sign->at; i < next; i++)
            dg_buffer_add(out, &(char){(char)toupper((unsigned char)label[i])}, 1);
    dg_buffer_adds(out, at_end ? ")" : "");
    dg_buffer_add(out, s + *at, n - *at);
}
