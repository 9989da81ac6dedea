#include "trainer/align/relation.h"

#include "base/alloc.h"
#include "text/words.h"
#include "trainer/data/hash.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORDS = 128 };   /* of a line; a power of two */
enum { LEAST_LETTERS = 4 }; /* bytes: shorter words occur everywhere */
enum { LEAST_DIGITS = 2 };  /* of a number */
enum { LEAST_FOUND = 200 }; /* words found, to tell anything */

/* Hashes of a line's words and, for a source line, of their translations. */
struct line {
    /* others: hashes of the translations; 0 if the dictionary has none */
    uint64_t words[MAX_WORDS], others[MAX_WORDS];
    size_t n;
    /* hash set of the words, open addressing; 0: empty */
    uint64_t set[2 * MAX_WORDS];
};

struct dg_relation {
    const struct dg_dictionary *dictionary;
    /* lines of this pair and of the one before, alternating */
    struct line sources[2], targets[2];
    struct dg_relation_counts counts;
};

struct dg_relation *dg_relation_new(const struct dg_dictionary *words)
{
    struct dg_relation *r = dg_alloc(1, sizeof *r, "the words of a line");
    r->dictionary = words;
    return r;
}

void dg_relation_free(struct dg_relation *r)
{
    free(r);
}

static uint64_t *slot_of(struct line *l, uint64_t hash)
{
    size_t i = (size_t)hash & (2 * MAX_WORDS - 1);
    while (l->set[i] && l->set[i] != hash)
        i = (i + 1) & (2 * MAX_WORDS - 1);
    return &l->set[i];
}

/* Adds a word once, however often it occurs. */
static void add_word(struct line *l, uint64_t hash, uint64_t other)
{
    hash |= 1;
    uint64_t *slot = slot_of(l, hash);
    if (l->n == MAX_WORDS || *slot)
        return;
    *slot = hash;
    l->words[l->n] = hash;
    l->others[l->n++] = other ? other | 1 : 0;
}

static void read_line(
    const struct dg_dictionary *dictionary, const char *s, size_t n, struct line *l)
{
    memset(l, 0, sizeof *l);
    bool alone;
    for (size_t begin, end = 0; (end = dg_word_next(s, n, end, &begin, &alone)) > 0;) {
        struct dg_dictionary_entry e;
        if (end - begin < LEAST_LETTERS)
            continue;
        const bool known = dg_dictionary_find(dictionary, s + begin, end - begin, &e);
        add_word(
            l, dg_hash64(s + begin, end - begin), known ? dg_hash64(e.target, e.target_len) : 0);
    }
    for (size_t at = 0, end; at < n; at = end + (end == at)) {
        end = at;
        while (end < n && isdigit((unsigned char)s[end]))
            end++;
        if (end - at >= LEAST_DIGITS)
            add_word(l, dg_hash64(s + at, end - at), 0);
    }
}

/* Counts the words of s that occur in t, unchanged or translated. */
static uint64_t found(const struct line *s, struct line *t)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        n += *slot_of(t, s->words[i]) || (s->others[i] && *slot_of(t, s->others[i]));
    return n;
}

void dg_relation_add(struct dg_relation *r, const struct dg_pair *p)
{
    const size_t now = r->counts.lines % 2, last = 1 - now;
    read_line(r->dictionary, p->source, p->source_len, &r->sources[now]);
    read_line(NULL, p->target, p->target_len, &r->targets[now]);
    r->counts.beside += found(&r->sources[now], &r->targets[now]);
    r->counts.before += found(&r->sources[now], &r->targets[last]);
    r->counts.after += found(&r->sources[last], &r->targets[now]);
    r->counts.lines++;
}

/* Hashes the beginning of a word, which its inflected forms share: its first LEAST_LETTERS + 1
 * bytes, up to the end of a character. */
static uint64_t start_of(const char *s, size_t n)
{
    size_t k = n < LEAST_LETTERS + 1 ? n : LEAST_LETTERS + 1;
    while (k < n && ((unsigned char)s[k] & 0xC0) == 0x80)
        k++;
    return dg_hash64(s, k);
}

static void read_starts(const char *s, size_t n, struct line *l)
{
    memset(l, 0, sizeof *l);
    bool alone;
    for (size_t begin, end = 0; (end = dg_word_next(s, n, end, &begin, &alone)) > 0;)
        add_word(l, start_of(s + begin, end - begin), 0);
}

static bool has(struct line *l, uint64_t hash)
{
    return *slot_of(l, hash | 1) != 0;
}

struct dg_relation_pair dg_relation_of_pair(
    const struct dg_dictionary *words, const struct dg_pair *p)
{
    struct line starts, alike;
    struct dg_relation_pair out = {0};
    bool alone;
    read_starts(p->target, p->target_len, &starts);
    read_line(NULL, p->target, p->target_len, &alike);
    for (size_t begin, end = 0;
         (end = dg_word_next(p->source, p->source_len, end, &begin, &alone)) > 0;) {
        struct dg_dictionary_entry e;
        const char *s = p->source + begin;
        const size_t n = end - begin;
        if (n < LEAST_LETTERS)
            continue;
        const bool same = has(&alike, dg_hash64(s, n)), known = dg_dictionary_find(words, s, n, &e);
        out.known += same || known;
        out.found += same || (known && has(&starts, start_of(e.target, e.target_len)));
    }
    return out;
}

void dg_relation_counts(const struct dg_relation *r, struct dg_relation_counts *out)
{
    *out = r->counts;
}

enum dg_relation_kind dg_relation_kind(const struct dg_relation_counts *c)
{
    if (c->before + c->beside + c->after < LEAST_FOUND)
        return DG_RELATION_UNKNOWN;
    const uint64_t most = c->before > c->after ? c->before : c->after,
                   least = c->before < c->after ? c->before : c->after;
    /* Neighbouring lines share words by chance, in a text more than in a list. A dictionary has the
     * same word in several lines in a row. */
    if (2 * most >= 3 * c->beside && 2 * most >= 3 * least)
        return c->before > c->after ? DG_RELATION_BEFORE : DG_RELATION_AFTER;
    if (10 * c->beside >= 11 * most)
        return DG_RELATION_BESIDE;
    return DG_RELATION_NONE;
}
