#include "trainer/align/lexicon.h"

#include "base/alloc.h"
#include "trainer/data/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MAX_PIECES = DG_LEXICON_PIECES, HUGE_PAGE = 2 << 20, FIRST_CELLS = 1 << 16, ITERATIONS = 5 };

/* The prior of the empty word. */
static const float null_share = 0.08f;

/* A pair (e, f) that occurs together; e = source_vocab is the empty word. */
struct cell {
    /* (e << 32 | f) + 1; 0: empty */
    uint64_t key;
    float t, count;
};

struct dg_lexicon {
    const struct dg_dataset *d;
    struct dg_lexicon_options o;
    /* [size], size a power of two, open addressing */
    struct cell *cells;
    size_t size, used;
    /* [source_vocab + 1] expected counts of e */
    double *totals;
    /* [target_vocab] */
    uint64_t *counts;
    int32_t source[MAX_PIECES], target[MAX_PIECES];
    /* lengths of the current pair, without </s> */
    uint32_t n_source, n_target;
    struct dg_translation *list;
};

static uint64_t mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0x9E3779B97F4A7C15u;
    return x ^ x >> 29;
}

static uint64_t key_of(uint32_t e, uint32_t f)
{
    return ((uint64_t)e << 32 | f) + 1;
}

static struct cell *find(const struct dg_lexicon *l, uint32_t e, uint32_t f)
{
    const uint64_t key = key_of(e, f);
    size_t i = mix(key) & (l->size - 1);
    while (l->cells[i].key && l->cells[i].key != key)
        i = (i + 1) & (l->size - 1);
    return &l->cells[i];
}

/* Allocates zeroed cells, in huge pages if they fill one: lookups are scattered all over them. */
static struct cell *new_cells(size_t n)
{
    const size_t bytes = n * sizeof(struct cell), align = bytes >= HUGE_PAGE ? HUGE_PAGE : 64;
    struct cell *cells = aligned_alloc(align, bytes);
    dg_alloc_check(cells != NULL, "pairs of tokens; --lines takes fewer sentences");
#ifdef MADV_HUGEPAGE
    if (align == HUGE_PAGE)
        madvise(cells, bytes, MADV_HUGEPAGE); /* only a hint: failure is fine */
#endif
    memset(cells, 0, bytes);
    return cells;
}

static void grow(struct dg_lexicon *l)
{
    struct cell *old = l->cells;
    size_t n = l->size;
    l->size = n ? 2 * n : FIRST_CELLS;
    l->cells = new_cells(l->size);
    for (size_t i = 0; i < n; i++)
        if (old[i].key)
            *find(l, (uint32_t)((old[i].key - 1) >> 32), (uint32_t)(old[i].key - 1)) = old[i];
    free(old);
}

static void add(struct dg_lexicon *l, uint32_t e, uint32_t f)
{
    if (4 * l->used >= 3 * l->size)
        grow(l);
    struct cell *c = find(l, e, f);
    if (!c->key) {
        c->key = key_of(e, f);
        c->t = 1; /* uniform: the first expectation divides by the sentence's length */
        l->used++;
    }
}

static uint32_t without(int32_t *ids, uint32_t n, int32_t eos)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (ids[i] != eos)
            ids[kept++] = ids[i];
    return kept;
}

uint64_t dg_lexicon_draw(uint64_t i, uint64_t n, uint64_t all)
{
    const uint64_t begin = i * all / n, end = (i + 1) * all / n;
    return begin + mix(i) % (end - begin);
}

static uint64_t pairs_of(const struct dg_lexicon *l)
{
    uint64_t all = dg_dataset_count(l->d);
    return l->o.pairs && l->o.pairs < all ? l->o.pairs : all;
}

/* Loads the i-th pair to learn from; false: it is too long. */
static bool load(struct dg_lexicon *l, uint64_t i)
{
    const uint64_t at = dg_lexicon_draw(i, pairs_of(l), dg_dataset_count(l->d));
    uint32_t s, t;
    dg_dataset_lengths(l->d, at, &s, &t);
    if (s > MAX_PIECES || t > MAX_PIECES)
        return false;
    if (l->o.reversed)
        dg_dataset_ids(l->d, at, l->target, l->source);
    else
        dg_dataset_ids(l->d, at, l->source, l->target);
    l->n_source = without(l->source, l->o.reversed ? t : s, l->o.source_eos);
    l->n_target = without(l->target, l->o.reversed ? s : t, l->o.target_eos);
    return true;
}

/* Estimates how many different keys were noted, 0.8 % off: HyperLogLog (Flajolet et al. 2007). */
enum { RANK_BITS = 14, RANKS = 1 << RANK_BITS };

static void note_key(unsigned char ranks[RANKS], uint64_t key)
{
    const uint64_t hash = dg_hash64(&key, sizeof key);
    unsigned char *at = &ranks[hash >> (64 - RANK_BITS)];
    const unsigned char rank = (unsigned char)(1 + __builtin_clzll(hash << RANK_BITS | 1));
    *at = rank > *at ? rank : *at;
}

static double count_keys(const unsigned char ranks[RANKS])
{
    double sum = 0, empty = 0;
    for (size_t i = 0; i < RANKS; i++) {
        sum += ldexp(1, -ranks[i]);
        empty += ranks[i] == 0;
    }
    const double n = 0.7213 / (1 + 1.079 / RANKS) * RANKS * RANKS / sum;
    return n <= 2.5 * RANKS && empty > 0 ? RANKS * log(RANKS / empty) : n;
}

size_t dg_lexicon_bytes(const struct dg_dataset *d, const struct dg_lexicon_options *o)
{
    struct dg_lexicon *l = dg_alloc(1, sizeof *l, "a lexicon");
    unsigned char *ranks = dg_alloc(RANKS, 1, "counts of pairs of tokens");
    size_t size = FIRST_CELLS;
    l->d = d;
    l->o = *o;
    for (uint64_t p = 0; p < pairs_of(l); p++) {
        if (!load(l, p))
            continue;
        for (uint32_t j = 0; j < l->n_target; j++) {
            const uint32_t f = (uint32_t)l->target[j];
            note_key(ranks, key_of(o->source_vocab, f));
            for (uint32_t i = 0; i < l->n_source; i++)
                note_key(ranks, key_of((uint32_t)l->source[i], f));
        }
    }
    const double used = 1.02 * count_keys(ranks);
    while (4 * used >= 3 * (double)size)
        size *= 2;
    free(ranks);
    free(l);
    /* either while the table grows, or with the list of translations and a copy to sort it */
    const size_t growing = (size + size / 2) * sizeof(struct cell),
                 listing =
                     size * sizeof(struct cell) + 2 * (size_t)used * sizeof(struct dg_translation);
    return growing > listing ? growing : listing;
}

static bool stopped(const struct dg_lexicon *l)
{
    return l->o.stop && *l->o.stop;
}

/* Prefetches the cells of the j-th target piece: they are scattered over a table that no cache
 * holds. */
static void fetch(const struct dg_lexicon *l, uint32_t j)
{
    if (j >= l->n_target)
        return;
    const uint32_t f = (uint32_t)l->target[j];
    for (uint32_t i = 0; i < l->n_source; i++)
        __builtin_prefetch(&l->cells[mix(key_of((uint32_t)l->source[i], f)) & (l->size - 1)], 1);
}

static void collect(struct dg_lexicon *l)
{
    grow(l);
    for (uint64_t p = 0; p < pairs_of(l) && !stopped(l); p++) {
        if (!load(l, p))
            continue;
        fetch(l, 0);
        for (uint32_t j = 0; j < l->n_target; j++) {
            uint32_t f = (uint32_t)l->target[j];
            fetch(l, j + 1);
            l->counts[f]++;
            add(l, l->o.source_vocab, f);
            for (uint32_t i = 0; i < l->n_source; i++)
                add(l, (uint32_t)l->source[i], f);
        }
    }
}

/* Dyer et al. 2013, with a fixed tension: the prior of each source position and, at [n], of the
 * empty word. */
static void prior(float tension, uint32_t j, uint32_t n_target, uint32_t n, float *share)
{
    float sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        const float off = (float)(i + 1) / (float)n - (float)(j + 1) / (float)n_target;
        sum += share[i] = expf(-tension * fabsf(off));
    }
    for (uint32_t i = 0; i < n; i++)
        share[i] *= (1 - null_share) / sum;
    share[n] = null_share;
}

/* Brown et al. 1993, equations 12 to 14. */
static void expect(struct dg_lexicon *l)
{
    struct cell *cells[MAX_PIECES + 1];
    float share[MAX_PIECES + 1];
    for (uint32_t i = 0; i <= MAX_PIECES; i++)
        share[i] = 1; /* Model 1 */
    for (uint64_t p = 0; p < pairs_of(l) && !stopped(l); p++) {
        if (!load(l, p))
            continue;
        fetch(l, 0);
        for (uint32_t j = 0; j < l->n_target; j++) {
            uint32_t f = (uint32_t)l->target[j], n = l->n_source;
            float sum = 0;
            fetch(l, j + 1);
            if (l->o.tension > 0)
                prior(l->o.tension, j, l->n_target, n, share);
            for (uint32_t i = 0; i <= n; i++) {
                cells[i] = find(l, i < n ? (uint32_t)l->source[i] : l->o.source_vocab, f);
                sum += share[i] * cells[i]->t;
            }
            for (uint32_t i = 0; i <= n && sum > 0; i++)
                cells[i]->count += share[i] * cells[i]->t / sum;
        }
    }
}

static void maximise(struct dg_lexicon *l)
{
    memset(l->totals, 0, ((size_t)l->o.source_vocab + 1) * sizeof *l->totals);
    for (size_t i = 0; i < l->size; i++)
        if (l->cells[i].key)
            l->totals[(l->cells[i].key - 1) >> 32] += l->cells[i].count;
    for (size_t i = 0; i < l->size; i++) {
        struct cell *c = &l->cells[i];
        if (!c->key)
            continue;
        double total = l->totals[(c->key - 1) >> 32];
        c->t = total > 0 ? (float)(c->count / total) : 0;
        c->count = 0;
    }
}

struct dg_lexicon *dg_lexicon_new(const struct dg_dataset *d, const struct dg_lexicon_options *o)
{
    struct dg_lexicon *l = dg_alloc(1, sizeof *l, "a lexicon");
    l->d = d;
    l->o = *o;
    l->totals = dg_alloc((size_t)o->source_vocab + 1, sizeof *l->totals, "a lexicon");
    l->counts = dg_alloc(o->target_vocab, sizeof *l->counts, "a lexicon");
    collect(l);
    for (int i = 0; i < ITERATIONS; i++) {
        expect(l);
        maximise(l);
    }
    return l;
}

void dg_lexicon_free(struct dg_lexicon *l)
{
    if (!l)
        return;
    free(l->cells);
    free(l->totals);
    free(l->counts);
    free(l->list);
    free(l);
}

static int by_source(const void *a, const void *b)
{
    const struct dg_translation *x = a, *y = b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->p != y->p)
        return x->p > y->p ? -1 : 1;
    return x->target < y->target ? -1 : x->target > y->target;
}

size_t dg_lexicon_translations(struct dg_lexicon *l, float least, const struct dg_translation **out)
{
    size_t n = 0;
    for (size_t i = 0; i < l->size; i++)
        n += l->cells[i].key && l->cells[i].t >= least;
    free(l->list);
    l->list = dg_alloc(n + 1, sizeof *l->list, "translations");
    n = 0;
    for (size_t i = 0; i < l->size; i++) {
        const struct cell *c = &l->cells[i];
        uint32_t e = (uint32_t)((c->key - 1) >> 32);
        if (c->key && c->t >= least && e < l->o.source_vocab)
            l->list[n++] = (struct dg_translation){e, (uint32_t)(c->key - 1), c->t};
    }
    qsort(l->list, n, sizeof *l->list, by_source);
    *out = l->list;
    return n;
}

void dg_lexicon_align(const struct dg_lexicon *l, const int32_t *source, uint32_t n_source,
    const int32_t *target, uint32_t n_target, int32_t *best)
{
    float share[MAX_PIECES + 1];
    for (uint32_t i = 0; i <= n_source; i++)
        share[i] = 1;
    for (uint32_t j = 0; j < n_target; j++) {
        const uint32_t f = (uint32_t)target[j];
        if (l->o.tension > 0)
            prior(l->o.tension, j, n_target, n_source, share);
        float most = share[n_source] * find(l, l->o.source_vocab, f)->t;
        best[j] = -1;
        for (uint32_t i = 0; i < n_source; i++) {
            const float p = share[i] * find(l, (uint32_t)source[i], f)->t;
            if (p > most) {
                most = p;
                best[j] = (int32_t)i;
            }
        }
    }
}

const uint64_t *dg_lexicon_counts(const struct dg_lexicon *l)
{
    return l->counts;
}
