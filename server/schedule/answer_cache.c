/* DESIGN. An entry is one block of memory: head, hypotheses, arrays, key. It is in a hash chain and
 * in a list by last use, and stays allocated after its eviction as long as it is referenced. A key
 * is the version's text, the search options byte by byte, the ids of the source, those of the
 * prefix (such as the target language, or the whole forced target), and the forms and ids of terms:
 * padding that differs makes two keys of one, which costs a miss and never a wrong answer. The seed
 * is random, so that nobody can choose texts that all hash to one chain. */
#include "server/schedule/answer_cache.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define FIRST_CHAINS 1024
#define LARGEST_SHARE 8 /* one entry takes at most the limit / 8 */

struct entry {
    struct dg_result result;
    /* next in the hash chain */
    struct entry *chain;
    /* by last use */
    struct entry *newer, *older;
    uint64_t hash;
    /* holders, and the cache itself until the eviction */
    uint32_t refs;
    size_t bytes, key_len;
    /* [key_len] */
    const unsigned char *key;
};

/* The part of a key between the version and the ids. */
struct options {
    struct dg_search search;
    uint32_t forced, want_alignment, whole_vocabulary, n_source, n_lead, n_prefix, n_forms;
};

struct dg_answer_cache {
    atomic_size_t max_bytes;
    uint64_t seed;
    pthread_mutex_t lock;
    /* guarded by lock */
    /* [n_chains], a power of two */
    struct entry **chains;
    size_t n_chains;
    struct entry *newest, *oldest;
    struct dg_answer_cache_counts counts;
};

int dg_answer_cache_open(size_t max_bytes, struct dg_answer_cache **out, struct dg_error *err)
{
    struct dg_answer_cache *c = calloc(1, sizeof *c);
    struct entry **chains = calloc(FIRST_CHAINS, sizeof(struct entry *));
    if (!c || !chains) {
        free(c);
        free(chains);
        return dg_error_set(err, DG_ENOMEM, "no memory for the translation cache");
    }
    c->max_bytes = max_bytes;
    c->chains = chains;
    c->n_chains = FIRST_CHAINS;
    if (getrandom(&c->seed, sizeof c->seed, GRND_NONBLOCK) != (ssize_t)sizeof c->seed)
        c->seed = dg_clock_ns();
    pthread_mutex_init(&c->lock, NULL);
    *out = c;
    return DG_OK;
}

void dg_answer_cache_close(struct dg_answer_cache *c)
{
    if (!c)
        return;
    for (struct entry *e = c->newest, *next; e; e = next) {
        next = e->older;
        free(e);
    }
    free(c->chains);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

bool dg_answer_cache_takes(const struct dg_sentence *s)
{
    return (s->forced || s->n_prefix == s->n_lead) && !s->spelling && s->search.pick == 0 &&
           s->search.sampling.temperature == 0;
}

/* ---- Keys ---- */

enum { PARTS = 7 };

struct key {
    struct options options;
    /* in this order: version with its NUL, options, source ids, prefix, forms of terms, ids of
     * terms, places of their sources */
    struct part {
        const void *data;
        size_t n;
    } parts[PARTS];
};

static void key_of(const char *version, const struct dg_sentence *s, struct key *k)
{
    static const struct dg_terms none;
    const struct dg_terms *t = s->terms ? s->terms : &none;
    memset(&k->options, 0, sizeof k->options);
    memcpy(&k->options.search, &s->search, sizeof s->search);
    k->options.forced = s->forced;
    k->options.want_alignment = s->want_alignment;
    k->options.whole_vocabulary = s->whole_vocabulary;
    k->options.n_source = s->n_source;
    k->options.n_lead = s->n_lead;
    k->options.n_prefix = s->n_prefix;
    k->options.n_forms = t->n_forms;
    const struct part parts[PARTS] = {{version, strlen(version) + 1},
        {&k->options, sizeof k->options}, {s->source, s->n_source * sizeof *s->source},
        {s->prefix, s->n_prefix * sizeof *s->prefix}, {t->forms, t->n_forms * sizeof *t->forms},
        {t->ids, t->n_ids * sizeof *t->ids},
        {t->sources, t->sources ? t->n * sizeof *t->sources : 0}};
    memcpy(k->parts, parts, sizeof parts);
}

static size_t key_len(const struct key *k)
{
    size_t n = 0;
    for (size_t i = 0; i < PARTS; i++)
        n += k->parts[i].n;
    return n;
}

static bool key_is(const struct key *k, const struct entry *e)
{
    const unsigned char *at = e->key;
    if (e->key_len != key_len(k))
        return false;
    for (size_t i = 0; i < PARTS; at += k->parts[i++].n)
        if (k->parts[i].n && memcmp(at, k->parts[i].data, k->parts[i].n) != 0)
            return false;
    return true;
}

static uint64_t mix(uint64_t h, const void *data, size_t n)
{
    const unsigned char *p = data;
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 0x100000001B3ull; /* FNV-1a */
    return h;
}

static uint64_t hash_of(const struct dg_answer_cache *c, const struct key *k)
{
    uint64_t h = c->seed;
    for (size_t i = 0; i < PARTS; i++)
        h = mix(h, k->parts[i].data, k->parts[i].n);
    return h ^ h >> 29;
}

/* ---- Entries ---- */

/* Rounds up to 8, the alignment of an entry's arrays. */
static size_t padded(size_t n)
{
    return (n + 7) / 8 * 8;
}

static size_t entry_bytes(const struct key *k, const struct dg_result *r)
{
    size_t n =
        padded(sizeof(struct entry)) + r->n_hyps * padded(sizeof *r->hyps) + padded(key_len(k));
    for (uint32_t i = 0; i < r->n_hyps; i++)
        n += padded(r->hyps[i].n * sizeof(int32_t)) + padded(r->hyps[i].n * sizeof(float));
    if (r->alignment)
        n += padded(r->hyps[0].n * sizeof(int32_t));
    return n;
}

/* Copies n bytes to *at and advances *at. */
static void *place(unsigned char **at, const void *data, size_t n)
{
    void *to = *at;
    if (n > 0)
        memcpy(to, data, n);
    *at += padded(n);
    return to;
}

static struct entry *entry_new(const struct key *k, uint64_t hash, const struct dg_result *r)
{
    size_t bytes = entry_bytes(k, r);
    struct entry *e = calloc(1, bytes);
    if (!e)
        return NULL;
    unsigned char *at = (unsigned char *)e + padded(sizeof *e);
    struct dg_hypothesis *hyps = place(&at, r->hyps, r->n_hyps * sizeof *hyps);
    for (uint32_t i = 0; i < r->n_hyps; i++) {
        const struct dg_hypothesis *h = &r->hyps[i];
        hyps[i].ids = place(&at, h->ids, h->n * sizeof *h->ids);
        hyps[i].token_logprob = place(&at, h->token_logprob, h->n * sizeof *h->token_logprob);
    }
    e->result = *r;
    e->result.id = 0;
    e->result.hyps = hyps;
    if (r->alignment)
        e->result.alignment = place(&at, r->alignment, r->hyps[0].n * sizeof *r->alignment);
    e->key = at;
    for (size_t i = 0; i < PARTS; at += k->parts[i++].n)
        if (k->parts[i].n)
            memcpy(at, k->parts[i].data, k->parts[i].n);
    e->key_len = key_len(k);
    e->hash = hash;
    e->bytes = bytes;
    e->refs = 1;
    return e;
}

static void drop_ref(struct entry *e)
{
    if (--e->refs == 0)
        free(e);
}

/* The following static functions need the lock. */

static struct entry **chain_of(struct dg_answer_cache *c, uint64_t hash)
{
    return &c->chains[hash & (c->n_chains - 1)];
}

static struct entry *find(struct dg_answer_cache *c, const struct key *k, uint64_t hash)
{
    struct entry *e = *chain_of(c, hash);
    while (e && (e->hash != hash || !key_is(k, e)))
        e = e->chain;
    return e;
}

static void unlink_use(struct dg_answer_cache *c, struct entry *e)
{
    *(e->newer ? &e->newer->older : &c->newest) = e->older;
    *(e->older ? &e->older->newer : &c->oldest) = e->newer;
}

static void link_newest(struct dg_answer_cache *c, struct entry *e)
{
    e->newer = NULL;
    e->older = c->newest;
    *(c->newest ? &c->newest->newer : &c->oldest) = e;
    c->newest = e;
}

static void evict(struct dg_answer_cache *c, struct entry *e)
{
    struct entry **at = chain_of(c, e->hash);
    while (*at != e)
        at = &(*at)->chain;
    *at = e->chain;
    unlink_use(c, e);
    c->counts.entries--;
    c->counts.bytes -= e->bytes;
    c->counts.evictions++;
    drop_ref(e);
}

/* Evicts the least recently used entries until this many bytes more fit. */
static void make_room(struct dg_answer_cache *c, size_t bytes)
{
    while (c->oldest && c->counts.bytes + bytes > c->max_bytes)
        evict(c, c->oldest);
}

/* Doubles the number of chains; without memory for that, chains grow longer. */
static void grow(struct dg_answer_cache *c)
{
    size_t n = 2 * c->n_chains;
    struct entry **chains = calloc(n, sizeof(struct entry *));
    if (!chains)
        return;
    free(c->chains);
    c->chains = chains;
    c->n_chains = n;
    for (struct entry *e = c->newest; e; e = e->older) {
        struct entry **at = chain_of(c, e->hash);
        e->chain = *at;
        *at = e;
    }
}

const struct dg_result *dg_answer_cache_get(
    struct dg_answer_cache *c, const char *version, const struct dg_sentence *s)
{
    struct key k;
    key_of(version, s, &k);
    uint64_t hash = hash_of(c, &k);
    pthread_mutex_lock(&c->lock);
    struct entry *e = find(c, &k, hash);
    if (e) {
        e->refs++;
        unlink_use(c, e);
        link_newest(c, e);
        c->counts.hits++;
    } else {
        c->counts.misses++;
    }
    pthread_mutex_unlock(&c->lock);
    return e ? &e->result : NULL;
}

void dg_answer_cache_release(struct dg_answer_cache *c, const struct dg_result *r)
{
    if (!r)
        return;
    struct entry *e = (struct entry *)(uintptr_t)r; /* the result is the entry's first member */
    pthread_mutex_lock(&c->lock);
    drop_ref(e);
    pthread_mutex_unlock(&c->lock);
}

void dg_answer_cache_put(struct dg_answer_cache *c, const char *version,
    const struct dg_sentence *s, const struct dg_result *r)
{
    struct key k;
    key_of(version, s, &k);
    if (entry_bytes(&k, r) > c->max_bytes / LARGEST_SHARE)
        return;
    uint64_t hash = hash_of(c, &k);
    struct entry *e = entry_new(&k, hash, r);
    if (!e)
        return;
    pthread_mutex_lock(&c->lock);
    const bool there = find(c, &k, hash);
    if (!there)
        make_room(c, e->bytes);
    if (there || c->counts.bytes + e->bytes > c->max_bytes) {
        drop_ref(e); /* already cached, or the cache was shrunk meanwhile */
    } else {
        struct entry **at = chain_of(c, hash);
        e->chain = *at;
        *at = e;
        link_newest(c, e);
        c->counts.bytes += e->bytes;
        if (++c->counts.entries > c->n_chains)
            grow(c);
    }
    pthread_mutex_unlock(&c->lock);
}

void dg_answer_cache_resize(struct dg_answer_cache *c, size_t max_bytes)
{
    pthread_mutex_lock(&c->lock);
    c->max_bytes = max_bytes;
    make_room(c, 0);
    pthread_mutex_unlock(&c->lock);
}

bool dg_answer_cache_is_on(const struct dg_answer_cache *c)
{
    return c && atomic_load_explicit(&c->max_bytes, memory_order_relaxed) > 0;
}

void dg_answer_cache_count(struct dg_answer_cache *c, struct dg_answer_cache_counts *out)
{
    pthread_mutex_lock(&c->lock);
    *out = c->counts;
    pthread_mutex_unlock(&c->lock);
    out->max_bytes = c->max_bytes;
}
