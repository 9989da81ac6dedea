/* DESIGN. Entries are sorted by the hash of their first token: a run of letters and digits, or one
 * other character (in a script without blanks between words, such as Chinese, every character).
 * Tokens are hashed in small letters. At each token of a text, all entries with its hash are
 * compared, the longest first. */
#include "text/glossary.h"

#include "text/scan.h"
#include "text/utf8.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unicode/uchar.h>

struct entry {
    char *source, *target;
    size_t source_len, target_len;
    uint64_t hash;
    /* the source has no capitals, so other cases match, too */
    bool any_case;
    /* index among the given entries */
    size_t number;
};

struct dg_glossary {
    atomic_uint refs;
    /* [n] sorted by hash, then by length, longest first */
    struct entry *entries;
    size_t n;
};

static bool in_word(int32_t c)
{
    return (dg_scan_is_letter(c) || dg_scan_is_digit(c) || dg_scan_is_attached(c)) &&
           !dg_scan_is_unspaced(c);
}

/* The end of the token that begins at byte `at`. */
static size_t token_end(const char *s, size_t n, size_t at)
{
    size_t i = at;
    if (!in_word(dg_scan_next(s, n, &i)))
        return i;
    for (size_t end = i;; end = i)
        if (i >= n || !in_word(dg_scan_next(s, n, &i)))
            return end;
}

/* One sign for those that programs write for one another: apostrophes, hyphens, white space. */
static int32_t plain_sign(int32_t c)
{
    switch (c) {
    case 0x2019: return '\'';
    case 0x2010:
    case 0x2011: return '-';
    default: return dg_scan_is_space(c) ? ' ' : c;
    }
}

static uint64_t hash_token(const char *s, size_t begin, size_t end)
{
    uint64_t h = 0xCBF29CE484222325u;
    for (size_t i = begin; i < end;)
        h = (h ^ (uint32_t)u_tolower(plain_sign(dg_scan_next(s, end, &i)))) * 0x100000001B3u;
    return h;
}

/* Number of bytes of s[n] from `at` on that match term[m], of which white space matches any; 0 if
 * they do not. */
static size_t says(const char *s, size_t n, size_t at, const char *term, size_t m, bool any_case)
{
    size_t i = at, k = 0;
    while (k < m) {
        if (i >= n)
            return 0;
        const int32_t a = plain_sign(dg_scan_next(s, n, &i)),
                      b = plain_sign(dg_scan_next(term, m, &k));
        if (a == ' ' && b == ' ') {
            i = dg_scan_skip_space(s, i, n);
            k = dg_scan_skip_space(term, k, m);
        }
        if (a != b && !(any_case && u_tolower(a) == u_tolower(b)))
            return 0;
    }
    return i - at;
}

/* True if byte `at` of s[n] is not within a word. */
static bool is_edge(const char *s, size_t n, size_t at)
{
    size_t back = at;
    if (at == 0 || at >= n)
        return true;
    return !in_word(dg_scan_prev(s, 0, &back)) || !in_word(dg_scan_peek(s, at, n));
}

bool dg_glossary_is_word(const char *s, size_t n, size_t at)
{
    return in_word(at < n ? dg_scan_next(s, n, &at) : dg_scan_prev(s, 0, &at));
}

bool dg_glossary_opens(const char *s, size_t n, bool after_blank)
{
    size_t at = n;
    if (!n)
        return after_blank;
    const int32_t c = dg_scan_prev(s, 0, &at);
    if (c < 0 || in_word(c))
        return false;
    if (dg_scan_is_unspaced(c) || dg_scan_is_full_width(c) || dg_scan_is_space(c))
        return true;
    /* hyphens, slash, apostrophes, and Spanish marks at the beginning of a sentence */
    if (c == '-' || c == 0x2010 || c == 0x2011 || c == '/' || c == '\'' || c == 0x2019 ||
        c == 0xA1 || c == 0xBF)
        return true;
    switch (u_charType(c)) {
    case U_START_PUNCTUATION: return true;
    case U_INITIAL_PUNCTUATION:
    case U_FINAL_PUNCTUATION: return dg_glossary_opens(s, at, after_blank);
    default: return c == '"' && dg_glossary_opens(s, at, after_blank);
    }
}

static bool is_small(const char *s, size_t n)
{
    for (size_t i = 0; i < n;)
        if (dg_scan_is_upper(dg_scan_next(s, n, &i)))
            return false;
    return true;
}

static int by_hash(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->hash != y->hash)
        return x->hash < y->hash ? -1 : 1;
    if (x->source_len != y->source_len)
        return x->source_len > y->source_len ? -1 : 1;
    const int order = memcmp(x->source, y->source, x->source_len);
    return order ? order : (x->number < y->number) - (x->number > y->number);
}

/* One text of an entry in NFC, without white space around it. */
static int copy_text(const char *s, size_t n, size_t number, const char *what, char **out,
    size_t *len, struct dg_error *err)
{
    struct dg_error why = {0};
    if (n <= DG_GLOSSARY_TERM_BYTES && dg_utf8_check(s, n, &why))
        return dg_error_field(
            err, DG_EINVAL, "glossary", "entry %zu: its %s: %s", number + 1, what, why.message);
    const size_t begin = n <= DG_GLOSSARY_TERM_BYTES ? dg_scan_skip_space(s, 0, n) : 0,
                 end = n <= DG_GLOSSARY_TERM_BYTES ? dg_scan_trim_space(s, begin, n) : n;
    if (end == begin || n > DG_GLOSSARY_TERM_BYTES)
        return dg_error_field(err, DG_EINVAL, "glossary",
            "entry %zu: its %s has %zu bytes, expected 1 to %d", number + 1, what, end - begin,
            DG_GLOSSARY_TERM_BYTES);
    return dg_utf8_nfc(s + begin, end - begin, out, len, err);
}

int dg_glossary_make(const struct dg_glossary_entry *entries, size_t n, struct dg_glossary **out,
    struct dg_error *err)
{
    struct dg_glossary *g = calloc(1, sizeof *g);
    if (!g || !(g->entries = calloc(n ? n : 1, sizeof *g->entries))) {
        free(g);
        return dg_error_set(err, DG_ENOMEM, "no memory for a glossary of %zu entries", n);
    }
    atomic_init(&g->refs, 1);
    for (size_t i = 0; i < n; i++) {
        struct entry *e = &g->entries[g->n++];
        int rc = copy_text(
            entries[i].source, entries[i].source_len, i, "source", &e->source, &e->source_len, err);
        if (!rc)
            rc = copy_text(entries[i].target, entries[i].target_len, i, "target", &e->target,
                &e->target_len, err);
        if (rc) {
            dg_glossary_unref(g);
            return rc;
        }
        e->number = i;
        e->any_case = is_small(e->source, e->source_len);
        e->hash = hash_token(e->source, 0, token_end(e->source, e->source_len, 0));
    }
    qsort(g->entries, g->n, sizeof *g->entries, by_hash);
    *out = g;
    return 0;
}

struct dg_glossary *dg_glossary_ref(struct dg_glossary *g)
{
    atomic_fetch_add(&g->refs, 1);
    return g;
}

void dg_glossary_unref(struct dg_glossary *g)
{
    if (!g || atomic_fetch_sub(&g->refs, 1) > 1)
        return;
    for (size_t i = 0; i < g->n; i++) {
        free(g->entries[i].source);
        free(g->entries[i].target);
    }
    free(g->entries);
    free(g);
}

size_t dg_glossary_size(const struct dg_glossary *g)
{
    return g->n;
}

static size_t first_of(const struct dg_glossary *g, uint64_t hash)
{
    size_t low = 0, high = g->n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (g->entries[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The longest entry that matches at byte `at` of s[n], where a token with this hash begins; a match
 * in exact case precedes one in another case. *len: bytes matched. */
static const struct entry *entry_at(
    const struct dg_glossary *g, uint64_t hash, const char *s, size_t n, size_t at, size_t *len)
{
    const struct entry *best = NULL;
    bool exact = false;
    *len = 0;
    for (size_t i = first_of(g, hash); i < g->n && g->entries[i].hash == hash; i++) {
        const struct entry *e = &g->entries[i];
        const size_t as_is = says(s, n, at, e->source, e->source_len, false),
                     got = as_is || !e->any_case ? as_is
                                                 : says(s, n, at, e->source, e->source_len, true);
        if (!got || !is_edge(s, n, at + got))
            continue;
        if (got > *len || (got == *len && as_is && !exact)) {
            best = e;
            exact = as_is > 0;
            *len = got;
        }
    }
    return best;
}

size_t dg_glossary_find(const struct dg_glossary *g, const char *s, size_t n,
    struct dg_glossary_match *matches, size_t cap)
{
    size_t count = 0;
    for (size_t at = 0; at < n && count < cap;) {
        const size_t end = token_end(s, n, at);
        size_t len;
        const struct entry *e = entry_at(g, hash_token(s, at, end), s, n, at, &len);
        if (e)
            matches[count++] =
                (struct dg_glossary_match){at, at + len, e->target, e->target_len, !e->any_case};
        at = e ? at + len : end;
    }
    return count;
}

size_t dg_glossary_appears(
    const char *s, size_t n, size_t from, const char *term, size_t m, bool any_case, size_t *begin)
{
    for (size_t at = from; at < n;) {
        const size_t got = is_edge(s, n, at) ? says(s, n, at, term, m, any_case) : 0;
        if (got && is_edge(s, n, at + got)) {
            *begin = at;
            return at + got;
        }
        dg_scan_next(s, n, &at);
    }
    return 0;
}
