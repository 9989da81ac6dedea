#include "trainer/data/near_copies.h"

#include "base/alloc.h"
#include "text/words.h"
#include "trainer/data/dedup.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_WORD = 256 }; /* bytes; the rest of a word is ignored */

struct dg_near_copies {
    int words;
    /* hashes of runs of `words` words */
    struct dg_hash_set *runs;
};

/* The last words of a line. */
struct window {
    /* hashes, in a ring */
    uint64_t words[DG_NEAR_COPY_MOST];
    /* words so far */
    size_t n;
};

struct dg_near_copies *dg_near_copies_new(int words)
{
    struct dg_near_copies *c = dg_alloc(1, sizeof *c, "held-out lines");
    c->words = words;
    c->runs = dg_hash_set_new();
    return c;
}

void dg_near_copies_free(struct dg_near_copies *c)
{
    if (!c)
        return;
    dg_hash_set_free(c->runs);
    free(c);
}

/* Hashes the word in lower case, as far as ASCII and Latin-1 go. */
static uint64_t word_hash(const char *s, size_t n)
{
    unsigned char small[LONGEST_WORD];
    n = n < LONGEST_WORD ? n : LONGEST_WORD;
    for (size_t i = 0; i < n; i++) {
        const unsigned char c = (unsigned char)s[i], before = i ? (unsigned char)s[i - 1] : 0;
        const bool capital = (c >= 'A' && c <= 'Z') ||
                             (before == 0xC3 && c >= 0x80 && c <= 0x9E); /* À to Þ in UTF-8 */
        small[i] = capital ? c + 0x20 : c;
    }
    return dg_hash64(small, n);
}

/* The next run of words that ends after byte *at of s[n]; false: there is none. */
static bool next_run(const struct dg_near_copies *c, struct window *w, const char *s, size_t n,
    size_t *at, struct dg_hash128 *run)
{
    const size_t size = (size_t)c->words;
    uint64_t in_order[DG_NEAR_COPY_MOST];
    size_t begin, end;
    bool alone;
    while ((end = dg_word_next(s, n, *at, &begin, &alone)) > 0) {
        w->words[w->n++ % size] = word_hash(s + begin, end - begin);
        *at = end;
        if (w->n < size)
            continue;
        for (size_t i = 0; i < size; i++)
            in_order[i] = w->words[(w->n + i) % size];
        *run = dg_hash128(in_order, size * sizeof *in_order, 0);
        return true;
    }
    return false;
}

void dg_near_copies_add(struct dg_near_copies *c, const char *s, size_t n)
{
    struct window w = {.n = 0};
    struct dg_hash128 run;
    for (size_t at = 0; next_run(c, &w, s, n, &at, &run);)
        dg_hash_set_add(c->runs, run);
}

bool dg_near_copies_has(const struct dg_near_copies *c, const char *s, size_t n)
{
    struct window w = {.n = 0};
    struct dg_hash128 run;
    for (size_t at = 0; next_run(c, &w, s, n, &at, &run);)
        if (dg_hash_set_has(c->runs, run))
            return true;
    return false;
}
