#include "trainer/align/masks.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "text/protected/protected.h"
#include "text/words.h"
#include "trainer/data/characters.h"
#include "trainer/data/hash.h"
#include "trainer/data/random.h"
#include "trainer/data/reserved.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_SPANS = 64 };      /* per pair; further ones stay as they are */
enum { LEAST_SAME = 3 };      /* bytes of a word that is the same in both languages, */
enum { LEAST_OTHER = 5 };     /* and of one that is not: shorter ones are seldom terms */
enum { WORDS_A_MASK = 4 };    /* source words per masked word: the rest must still mean something */
enum { FIRST_SIGN = 94 };     /* index in trainer/data/characters.h: the ones before are ASCII */
enum { LONGEST_SIDE = 1000 }; /* bytes: longer pairs are left alone */

/* A part of the source and the part of the target that corresponds to it. */
struct span {
    /* bytes of source and target */
    size_t begin[2], end[2];
    /* random number: the smallest are taken; 0: always taken */
    uint64_t draw;
};

struct dg_masks {
    const struct dg_recipe *recipe;
    /* [data.n_pairs]; NULL: none */
    struct dg_dictionary *const *dictionaries;
    struct span spans[MAX_SPANS];
    size_t n;
    struct dg_buffer text[2];
};

struct dg_masks *dg_masks_new(const struct dg_recipe *r, struct dg_dictionary *const *dictionaries)
{
    struct dg_masks *m = dg_alloc(1, sizeof *m, "masks");
    m->recipe = r;
    m->dictionaries = dictionaries;
    dg_buffer_init(&m->text[0]);
    dg_buffer_init(&m->text[1]);
    return m;
}

void dg_masks_free(struct dg_masks *m)
{
    if (!m)
        return;
    dg_buffer_deinit(&m->text[0]);
    dg_buffer_deinit(&m->text[1]);
    free(m);
}

static uint64_t draw(uint64_t item, uint64_t what)
{
    const uint64_t number[3] = {item, what, 0x6D61736B}; /* not the draws of the other variants */
    return dg_hash64(number, sizeof number);
}

/* Returns how often the text d[n] occurs in s[len]; *at: where it does last. */
static size_t count_text(const char *s, size_t len, const char *d, size_t n, size_t *at)
{
    size_t count = 0;
    for (size_t i = 0; i + n <= len; i++)
        if (s[i] == d[0] && memcmp(s + i, d, n) == 0) {
            *at = i;
            count++;
        }
    return count;
}

/* Returns how often d[n] occurs as a word of s[len]; *at: where it does last. Counts a word twice
 * if something is tied to it, so that it never counts as one occurrence. */
static size_t count_word(const char *s, size_t len, const char *d, size_t n, size_t *at)
{
    size_t count = 0;
    bool alone;
    for (size_t begin, end = 0; (end = dg_word_next(s, len, end, &begin, &alone)) > 0;)
        if (end - begin == n && memcmp(s + begin, d, n) == 0) {
            *at = begin;
            count += alone ? 1 : 2; /* part of something else */
        }
    return count;
}

static bool overlaps(const struct dg_masks *m, int side, size_t begin, size_t end)
{
    for (size_t i = 0; i < m->n; i++)
        if (begin < m->spans[i].end[side] && end > m->spans[i].begin[side])
            return true;
    return false;
}

static void add_span(struct dg_masks *m, size_t source, size_t source_len, size_t target,
    size_t target_len, uint64_t number)
{
    if (m->n == MAX_SPANS || overlaps(m, 0, source, source + source_len) ||
        overlaps(m, 1, target, target + target_len))
        return;
    m->spans[m->n++] =
        (struct span){{source, target}, {source + source_len, target + target_len}, number};
}

/* Finds addresses, placeholders and the like that occur once on each side. */
static void find_kept(struct dg_masks *m, const struct dg_pair *p)
{
    size_t begin, end = 0, at, there;
    while ((end = dg_protected_next(NULL, p->source, p->source_len, end, &begin)) > 0) {
        const char *s = p->source + begin;
        if (count_text(p->source, p->source_len, s, end - begin, &at) == 1 &&
            count_text(p->target, p->target_len, s, end - begin, &there) == 1)
            add_span(m, begin, end - begin, there, end - begin, 0);
    }
}

/* Finds words that occur once and whose translation occurs once. Returns the number of source
 * words. */
static size_t find_words(struct dg_masks *m, const struct dg_pair *p)
{
    const struct dg_dictionary *known = m->dictionaries ? m->dictionaries[p->pair] : NULL;
    bool alone;
    size_t words = 0;
    for (size_t begin, end = 0;
         (end = dg_word_next(p->source, p->source_len, end, &begin, &alone)) > 0; words++) {
        const char *s = p->source + begin;
        const size_t n = end - begin;
        size_t at, there;
        struct dg_dictionary_entry e;
        if (!alone || count_word(p->source, p->source_len, s, n, &at) != 1)
            continue;
        if (n >= LEAST_SAME && count_word(p->target, p->target_len, s, n, &there) == 1) {
            add_span(m, begin, n, there, n, draw(p->item, begin + 1));
            continue;
        }
        if (n >= LEAST_OTHER && dg_dictionary_find(known, s, n, &e) &&
            e.target_len >= LEAST_OTHER &&
            count_word(p->target, p->target_len, e.target, e.target_len, &there) == 1)
            add_span(m, begin, n, there, e.target_len, draw(p->item, begin + 1));
    }
    return words;
}

static int by_draw(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return x->draw < y->draw ? -1 : x->draw > y->draw;
}

static int by_source(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return x->begin[0] < y->begin[0] ? -1 : x->begin[0] > y->begin[0];
}

static int by_target(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return x->begin[1] < y->begin[1] ? -1 : x->begin[1] > y->begin[1];
}

/* Chooses the spans to replace: all that are kept in every language (draw 0) and one to three
 * words, at most `words`; in all at most `most`. */
static void choose(struct dg_masks *m, size_t words, size_t most, uint64_t item)
{
    static const size_t numbers[] = {1, 1, 1, 2, 2, 3};
    size_t kept = 0, more = numbers[draw(item, 0) % 6];
    qsort(m->spans, m->n, sizeof *m->spans, by_draw);
    while (kept < m->n && !m->spans[kept].draw)
        kept++;
    more = more < words ? more : words;
    m->n = m->n < kept + more ? m->n : kept + more;
    m->n = m->n < most ? m->n : most;
    qsort(m->spans, m->n, sizeof *m->spans, by_source);
    for (size_t i = 0; i < m->n; i++)
        m->spans[i].draw = i; /* from now on: the number of the span */
}

/* Appends what replaces span i. */
static void add_other(const struct dg_masks *m, uint64_t i, uint64_t item, enum dg_mask_kind kind,
    struct dg_buffer *b)
{
    if (kind == DG_MASK_PIECES) {
        /* Half of the pairs number from the first reserved piece, as serving does; the others start
         * at any, so that all are learned. */
        const uint64_t n = (uint64_t)m->recipe->vocabulary.reserved, from = draw(item, 1 << 20);
        const char mask = (char)(DG_RESERVED_FIRST + (i + (from & 1 ? from >> 1 : 0)) % n);
        dg_buffer_add(b, &mask, 1);
        return;
    }
    uint64_t random = draw(item, (1 << 21) + i);
    for (int left = 1 + (int)(random % 2); left > 0; left--, random /= 1024)
        dg_characters_add(
            dg_characters_at(
                FIRST_SIGN + (uint32_t)(random / 2 % (dg_characters_count() - FIRST_SIGN))),
            b);
}

static void build(struct dg_masks *m, const struct dg_pair *p, int side, enum dg_mask_kind kind)
{
    const char *s = side ? p->target : p->source;
    const size_t len = side ? p->target_len : p->source_len;
    size_t at = 0;
    dg_buffer_reset(&m->text[side]);
    if (side)
        qsort(m->spans, m->n, sizeof *m->spans, by_target);
    for (size_t i = 0; i < m->n; i++) {
        const struct span *x = &m->spans[i];
        dg_buffer_add(&m->text[side], s + at, x->begin[side] - at);
        add_other(m, x->draw, p->item, kind, &m->text[side]);
        at = x->end[side];
    }
    dg_buffer_add(&m->text[side], s + at, len - at);
}

int dg_masks_make(
    struct dg_masks *m, const struct dg_pair *p, enum dg_mask_kind kind, struct dg_pair *out)
{
    const struct dg_recipe_variants *v = &m->recipe->variants;
    const double share = kind == DG_MASK_PIECES ? v->mask : v->signs;
    if (dg_random_share(draw(p->item, (1 << 22) + (uint64_t)kind)) >= share ||
        p->source_len > LONGEST_SIDE || p->target_len > LONGEST_SIDE)
        return 2;
    m->n = 0;
    if (kind == DG_MASK_PIECES)
        find_kept(m, p);
    const size_t words = find_words(m, p);
    if (kind == DG_MASK_PIECES)
        choose(m, words / WORDS_A_MASK, (size_t)m->recipe->vocabulary.reserved, p->item);
    else
        choose(m, words, 2, p->item);
    if (!m->n)
        return 2;
    build(m, p, 0, kind);
    build(m, p, 1, kind);
    dg_alloc_check(!m->text[0].failed && !m->text[1].failed, "another form of a pair");
    *out = *p;
    out->source = m->text[0].data;
    out->source_len = (uint32_t)m->text[0].len;
    out->target = m->text[1].data;
    out->target_len = (uint32_t)m->text[1].len;
    out->masked = kind == DG_MASK_PIECES;
    return 1;
}
