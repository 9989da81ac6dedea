/* DESIGN. Entries are sorted by their sources in one form: small letters, one sign for those that
 * programs exchange. At each token of a text (a run of letters and digits, or one other character),
 * the range of entries that begin like the text is narrowed byte by byte, so that a search costs
 * what it reads, however many entries begin alike. */
#include "text/glossary.h"

#include "text/scan.h"
#include "text/utf8.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>

struct entry {
    char *source, *target;
    size_t source_len, target_len;
    /* [form_len] the source in the form that is compared; it may be `source` itself */
    char *form;
    size_t form_len;
    /* of the source with its capitals */
    uint64_t hash;
    /* the source has no capitals, so other cases match, too */
    bool any_case;
    /* index among the given entries */
    size_t number;
};

struct dg_glossary {
    atomic_uint refs;
    /* [n] sorted by form, those for any case first, then by hash */
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

/* Reads a character as entries are compared: any white space is one blank. */
static int32_t next_plain(const char *s, size_t n, size_t *at)
{
    const int32_t c = plain_sign(dg_scan_next(s, n, at));
    if (c == ' ')
        *at = dg_scan_skip_space(s, *at, n);
    return c;
}

#define HASH_EMPTY 0xCBF29CE484222325u

static uint64_t hash_add(uint64_t hash, int32_t c)
{
    return (hash ^ (uint32_t)c) * 0x100000001B3u;
}

/* Writes a character of a form; returns its bytes. */
static size_t write_form(char out[U8_MAX_LENGTH], int32_t c)
{
    uint8_t bytes[U8_MAX_LENGTH];
    const uint32_t lower = (uint32_t)u_tolower(c);
    size_t n = 0;
    U8_APPEND_UNSAFE(bytes, n, lower);
    memcpy(out, bytes, n);
    return n;
}

/* Number of bytes of s[n] from `at` on that match term[m], of which white space matches any; 0 if
 * they do not. */
static size_t says(const char *s, size_t n, size_t at, const char *term, size_t m, bool any_case)
{
    size_t i = at, k = 0;
    while (k < m) {
        if (i >= n)
            return 0;
        const int32_t a = next_plain(s, n, &i), b = next_plain(term, m, &k);
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

static int compare(const char *a, size_t n, const char *b, size_t m)
{
    const int order = memcmp(a, b, n < m ? n : m);
    return order ? order : (n > m) - (n < m);
}

static int by_form(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = compare(x->form, x->form_len, y->form, y->form_len);
    if (!order)
        order = (int)y->any_case - (int)x->any_case;
    if (!order)
        order = (x->hash > y->hash) - (x->hash < y->hash);
    if (!order)
        order = (x->source_len < y->source_len) - (x->source_len > y->source_len);
    if (!order)
        order = memcmp(x->source, y->source, x->source_len);
    return order ? order : (x->number < y->number) - (x->number > y->number);
}

/* Writes the entry's form and hash; false: no memory. */
static bool make_form(struct entry *e)
{
    size_t n = 0;
    char *form = malloc(U8_MAX_LENGTH * e->source_len);
    if (!form)
        return false;
    e->hash = HASH_EMPTY;
    for (size_t i = 0; i < e->source_len;) {
        const int32_t c = next_plain(e->source, e->source_len, &i);
        e->hash = hash_add(e->hash, c);
        n += write_form(form + n, c);
    }
    e->form_len = n;
    if (n == e->source_len && memcmp(form, e->source, n) == 0) {
        free(form);
        e->form = e->source;
        return true;
    }
    char *small = realloc(form, n);
    e->form = small ? small : form;
    return true;
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
        if (!rc && !make_form(e))
            rc = dg_error_set(err, DG_ENOMEM, "no memory for a glossary of %zu entries", n);
        if (rc) {
            dg_glossary_unref(g);
            return rc;
        }
        e->number = i;
        e->any_case = is_small(e->source, e->source_len);
    }
    qsort(g->entries, g->n, sizeof *g->entries, by_form);
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
        if (g->entries[i].form != g->entries[i].source)
            free(g->entries[i].form);
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

/* ---- finding ---- */

/* entries[begin, end) */
struct range {
    size_t begin, end;
};

/* What entry e is compared with: its byte at this depth of its form (-1: it ends there), whether
 * it is for its own case only, its hash. */
enum part { BYTE, CASE, HASH };

static bool is_before(const struct entry *e, enum part part, size_t depth, uint64_t value)
{
    switch (part) {
    case BYTE: return e->form_len <= depth || (unsigned char)e->form[depth] < value;
    case CASE: return !e->any_case < value;
    case HASH: return e->hash < value;
    }
    return false;
}

/* The first entry of the range that is not before the value. */
static size_t find(
    const struct dg_glossary *g, struct range r, enum part part, size_t depth, uint64_t value)
{
    while (r.begin < r.end) {
        const size_t middle = r.begin + (r.end - r.begin) / 2;
        if (is_before(&g->entries[middle], part, depth, value))
            r.begin = middle + 1;
        else
            r.end = middle;
    }
    return r.begin;
}

/* Of entries that are the same up to `depth`, those that go on with this byte. */
static struct range narrow(
    const struct dg_glossary *g, struct range r, size_t depth, unsigned char byte)
{
    if (r.begin < r.end && !is_before(&g->entries[r.begin], BYTE, depth, byte) &&
        is_before(&g->entries[r.end - 1], BYTE, depth, (uint64_t)byte + 1))
        return r;
    r.begin = find(g, r, BYTE, depth, byte);
    r.end = find(g, r, BYTE, depth, (uint64_t)byte + 1);
    return r;
}

/* The entry of the range that is said[n], whose characters have this hash, in exact case; else the
 * first one for any case; NULL: there is none. All end at this depth, or go on. */
static const struct entry *choose(const struct dg_glossary *g, struct range r, size_t depth,
    uint64_t hash, const char *said, size_t n)
{
    r.end = find(g, r, BYTE, depth, 0);
    const size_t own = find(g, r, CASE, 0, 1);
    const struct range parts[] = {{r.begin, own}, {own, r.end}};
    for (size_t i = 0; i < 2; i++) {
        const size_t at = find(g, parts[i], HASH, 0, hash);
        const struct entry *e = &g->entries[at];
        if (at < parts[i].end && e->hash == hash &&
            says(said, n, 0, e->source, e->source_len, false))
            return e;
    }
    return own > r.begin ? &g->entries[r.begin] : NULL;
}

/* The longest entry that matches at byte `at` of s[n], where a token begins; a match in exact case
 * precedes one in another case. *len: bytes matched. */
static const struct entry *entry_at(
    const struct dg_glossary *g, const char *s, size_t n, size_t at, size_t *len)
{
    const struct entry *best = NULL;
    struct range r = {0, g->n};
    uint64_t hash = HASH_EMPTY;
    size_t depth = 0;
    for (size_t i = at; i < n && r.begin < r.end;) {
        char bytes[U8_MAX_LENGTH];
        const int32_t c = next_plain(s, n, &i);
        const size_t n_bytes = write_form(bytes, c);
        hash = hash_add(hash, c);
        for (size_t k = 0; k < n_bytes; k++)
            r = narrow(g, r, depth++, (unsigned char)bytes[k]);
        if (r.begin == r.end || g->entries[r.begin].form_len > depth || !is_edge(s, n, i))
            continue;
        const struct entry *e = choose(g, r, depth, hash, s + at, i - at);
        if (e) {
            best = e;
            *len = i - at;
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
        size_t len = 0;
        const struct entry *e = entry_at(g, s, n, at, &len);
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
