/* The translation cache against a plain list that keeps everything: a hit returns what was put,
 * keys that differ anywhere are different keys, the bound holds, the least recently used entry is
 * evicted. */
#include "server/schedule/answer_cache.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SENTENCES 200
#define THREADS 4

static struct dg_answer_cache *open_cache(size_t bytes)
{
    struct dg_answer_cache *c;
    assert_int_equal(dg_answer_cache_open(bytes, &c, NULL), 0);
    return c;
}

/* A made-up sentence and its answer, both determined by n. */
struct made {
    int32_t source[40], ids[2][60], alignment[60];
    float logprob[2][60];
    struct dg_sentence s;
    struct dg_hypothesis hyps[2];
    struct dg_result r;
};

static void make(struct made *m, uint32_t n)
{
    memset(m, 0, sizeof *m);
    m->s.source = m->source;
    m->s.n_source = 1 + n % 40;
    for (uint32_t i = 0; i < m->s.n_source; i++)
        m->source[i] = (int32_t)(n * 31 + i);
    m->s.search.beam = 1 + n % 4;
    m->s.search.alpha = 0.5f + (float)(n % 3);
    m->r.n_hyps = 1 + n % 2;
    m->r.hyps = m->hyps;
    m->r.n_source = m->s.n_source;
    m->r.steps = n;
    m->r.id = 77;
    for (uint32_t h = 0; h < m->r.n_hyps; h++) {
        m->hyps[h] = (struct dg_hypothesis){.ids = m->ids[h],
            .token_logprob = m->logprob[h],
            .n = (n * 7 + h) % 60,
            .logprob = -1.5 * n - h,
            .score = -0.25 * n,
            .length_limited = n % 5 == 0};
        for (uint32_t i = 0; i < m->hyps[h].n; i++) {
            m->ids[h][i] = (int32_t)(n * 100 + i + h);
            m->logprob[h][i] = -(float)i / (float)(n + 1);
        }
    }
    for (uint32_t i = 0; i < m->hyps[0].n; i++)
        m->alignment[i] = (int32_t)(i % m->s.n_source);
    m->s.want_alignment = n % 3 == 0;
    m->r.alignment = m->s.want_alignment ? m->alignment : NULL;
}

static void check(const struct dg_result *got, const struct made *m)
{
    assert_int_equal(got->n_hyps, m->r.n_hyps);
    assert_int_equal(got->n_source, m->r.n_source);
    assert_int_equal(got->steps, m->r.steps);
    for (uint32_t h = 0; h < got->n_hyps; h++) {
        const struct dg_hypothesis *a = &got->hyps[h], *b = &m->hyps[h];
        assert_int_equal(a->n, b->n);
        assert_memory_equal(&a->logprob, &b->logprob, sizeof a->logprob);
        assert_memory_equal(&a->score, &b->score, sizeof a->score);
        assert_int_equal(a->length_limited, b->length_limited);
        assert_memory_equal(a->ids, b->ids, a->n * sizeof *a->ids);
        assert_memory_equal(a->token_logprob, b->token_logprob, a->n * sizeof(float));
    }
    assert_int_equal(got->alignment != NULL, m->r.alignment != NULL);
    if (got->alignment)
        assert_memory_equal(got->alignment, m->alignment, got->hyps[0].n * sizeof(int32_t));
}

static void found_is_what_was_put(void **state)
{
    struct dg_answer_cache *c = open_cache(1 << 20);
    struct made m;
    struct dg_answer_cache_counts n;
    (void)state;
    for (uint32_t i = 0; i < SENTENCES; i++) {
        make(&m, i);
        assert_null(dg_answer_cache_get(c, "v1", &m.s));
        dg_answer_cache_put(c, "v1", &m.s, &m.r);
        dg_answer_cache_put(c, "v1", &m.s, &m.r); /* once is enough */
    }
    for (uint32_t i = 0; i < SENTENCES; i++) {
        make(&m, i);
        const struct dg_result *r = dg_answer_cache_get(c, "v1", &m.s);
        assert_non_null(r);
        check(r, &m);
        dg_answer_cache_release(c, r);
        assert_null(dg_answer_cache_get(c, "v2", &m.s));
        assert_null(dg_answer_cache_get(c, "v", &m.s));
    }
    dg_answer_cache_count(c, &n);
    assert_int_equal(n.entries, SENTENCES);
    assert_int_equal(n.hits, SENTENCES);
    assert_int_equal(n.misses, 3 * SENTENCES);
    assert_int_equal(n.evictions, 0);
    dg_answer_cache_close(c);
}

/* Shrinking evicts the oldest entries at once; one that is held stays whole. Size 0 turns the cache
 * off, and another size on again. */
static void another_size(void **state)
{
    struct dg_answer_cache *c = open_cache(1 << 20);
    struct made m;
    struct dg_answer_cache_counts n;
    (void)state;
    for (uint32_t i = 0; i < SENTENCES; i++) {
        make(&m, i);
        dg_answer_cache_put(c, "v", &m.s, &m.r);
    }
    make(&m, 0);
    const struct dg_result *held = dg_answer_cache_get(c, "v", &m.s);
    assert_non_null(held);
    assert_true(dg_answer_cache_is_on(c));
    assert_false(dg_answer_cache_is_on(NULL));
    dg_answer_cache_resize(c, 16384);
    dg_answer_cache_count(c, &n);
    assert_in_range(n.bytes, 8192, 16384);
    assert_int_equal(n.max_bytes, 16384);
    assert_int_equal(n.evictions, SENTENCES - n.entries);
    make(&m, SENTENCES - 1); /* the newest is kept, one in the middle is not */
    dg_answer_cache_release(c, dg_answer_cache_get(c, "v", &m.s));
    make(&m, SENTENCES / 2);
    assert_null(dg_answer_cache_get(c, "v", &m.s));
    dg_answer_cache_resize(c, 0);
    dg_answer_cache_count(c, &n);
    assert_int_equal(n.entries, 0);
    assert_int_equal(n.bytes, 0);
    assert_false(dg_answer_cache_is_on(c));
    make(&m, 0);
    check(held, &m);
    dg_answer_cache_release(c, held);
    dg_answer_cache_put(c, "v", &m.s, &m.r);
    assert_null(dg_answer_cache_get(c, "v", &m.s));
    dg_answer_cache_resize(c, 1 << 20);
    dg_answer_cache_put(c, "v", &m.s, &m.r);
    held = dg_answer_cache_get(c, "v", &m.s);
    assert_non_null(held);
    dg_answer_cache_release(c, held);
    dg_answer_cache_close(c);
}

static void every_option_is_in_the_key(void **state)
{
    struct dg_answer_cache *c = open_cache(1 << 20);
    struct made m;
    (void)state;
    make(&m, 7);
    dg_answer_cache_put(c, "v", &m.s, &m.r);
#define DIFFERS(change)                                                                            \
    do {                                                                                           \
        make(&m, 7);                                                                               \
        change;                                                                                    \
        assert_null(dg_answer_cache_get(c, "v", &m.s));                                            \
    } while (0)
    DIFFERS(m.s.search.beam++);
    DIFFERS(m.s.search.n_best++);
    DIFFERS(m.s.search.max_len++);
    DIFFERS(m.s.search.min_len++);
    DIFFERS(m.s.search.alpha += 0.001f);
    DIFFERS(m.s.search.penalty = DG_PENALTY_NONE);
    DIFFERS(m.s.search.no_repeat_ngram++);
    DIFFERS(m.s.want_alignment = !m.s.want_alignment);
    DIFFERS(m.s.whole_vocabulary = !m.s.whole_vocabulary);
    DIFFERS(m.source[0]++);
    DIFFERS(m.source[m.s.n_source - 1]++);
    DIFFERS(m.s.n_source--);
    DIFFERS(m.s.n_source++);
    const struct dg_term_form form = {0, 0, 1, DG_TERM_ANYWHERE};
    const int32_t one = 5, other = 6;
    const struct dg_terms terms = {&form, 1, 1, &one, 1, NULL, NULL, NULL, NULL};
    struct dg_terms changed = terms;
    changed.ids = &other;
    DIFFERS(m.s.terms = &terms);
    make(&m, 7);
    m.s.terms = &terms;
    dg_answer_cache_put(c, "v", &m.s, &m.r);
    dg_answer_cache_release(c, dg_answer_cache_get(c, "v", &m.s));
    DIFFERS(m.s.terms = &changed);
    changed = terms;
    changed.sources = &(struct dg_term_source){1, 2};
    DIFFERS(m.s.terms = &changed);
    make(&m, 7);
    const struct dg_result *r = dg_answer_cache_get(c, "v", &m.s);
    assert_non_null(r);
    dg_answer_cache_release(c, r);
    dg_answer_cache_close(c);
}

/* Where a leading piece tells the model which language to write, one source has an answer for each.
 */
static void leading_pieces_are_in_the_key(void **state)
{
    struct dg_answer_cache *c = open_cache(1 << 20);
    const int32_t one = 5, other = 6;
    struct made m;
    (void)state;
    make(&m, 7);
    m.s.prefix = &one;
    m.s.n_prefix = m.s.n_lead = 1;
    dg_answer_cache_put(c, "v", &m.s, &m.r);
    const struct dg_result *r = dg_answer_cache_get(c, "v", &m.s);
    assert_non_null(r);
    check(r, &m);
    dg_answer_cache_release(c, r);
    m.s.prefix = &other;
    assert_null(dg_answer_cache_get(c, "v", &m.s));
    m.s.prefix = &one;
    m.s.forced = true;
    assert_null(dg_answer_cache_get(c, "v", &m.s));
    DIFFERS((void)0);
    dg_answer_cache_close(c);
}

static void not_for_every_sentence(void **state)
{
    struct made m;
    int32_t prefix = 5;
    (void)state;
    make(&m, 1);
    assert_true(dg_answer_cache_takes(&m.s));
    m.s.prefix = &prefix;
    m.s.n_prefix = 1;
    assert_false(dg_answer_cache_takes(&m.s));
    m.s.forced = true; /* the whole target */
    assert_true(dg_answer_cache_takes(&m.s));
    m.s.forced = false;
    m.s.n_lead = 1; /* it only starts the decoder */
    assert_true(dg_answer_cache_takes(&m.s));
    m.s.n_prefix = 2;
    assert_false(dg_answer_cache_takes(&m.s));
    make(&m, 1);
    m.s.search.sampling.temperature = 1;
    assert_false(dg_answer_cache_takes(&m.s));
    make(&m, 1);
    m.s.search.pick = 1;
    assert_false(dg_answer_cache_takes(&m.s));
    make(&m, 1);
    m.s.search.no_repeat_ngram = 3; /* a second round */
    assert_true(dg_answer_cache_takes(&m.s));
}

/* Random gets and puts in little room, against a list of last uses that says what must be kept. */
static void bound_and_order(void **state)
{
    enum { ROOM = 40000, ROUNDS = 20000 };
    struct dg_answer_cache *c = open_cache(ROOM);
    uint64_t used[SENTENCES] = {0}, clock = 0;
    struct made m;
    struct dg_answer_cache_counts n;
    uint32_t x = 12345;
    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        x = x * 1664525u + 1013904223u;
        uint32_t k = (x >> 8) % SENTENCES;
        make(&m, k);
        const struct dg_result *r = dg_answer_cache_get(c, "v", &m.s);
        if (r)
            check(r, &m);
        else
            dg_answer_cache_put(c, "v", &m.s, &m.r);
        dg_answer_cache_release(c, r);
        used[k] = ++clock;
        dg_answer_cache_count(c, &n);
        assert_true(n.bytes <= ROOM);
    }
    assert_true(n.evictions > 0 && n.entries > 10 && n.entries < SENTENCES);
    /* The cache holds the n.entries sentences that were used last. */
    size_t inside = 0;
    for (uint32_t k = 0; k < SENTENCES; k++) {
        size_t later = 0;
        for (uint32_t j = 0; j < SENTENCES; j++)
            later += used[j] > used[k];
        make(&m, k);
        const struct dg_result *r = dg_answer_cache_get(c, "v", &m.s);
        inside += r != NULL;
        assert_int_equal(r != NULL, later < n.entries);
        dg_answer_cache_release(c, r);
    }
    assert_int_equal(inside, n.entries);
    dg_answer_cache_close(c);
}

static void held_while_evicted(void **state)
{
    struct dg_answer_cache *c = open_cache(20000);
    struct made m, other;
    (void)state;
    make(&m, 3);
    dg_answer_cache_put(c, "v", &m.s, &m.r);
    const struct dg_result *r = dg_answer_cache_get(c, "v", &m.s);
    for (uint32_t i = 100; i < 200; i++) {
        make(&other, i);
        dg_answer_cache_put(c, "v", &other.s, &other.r);
    }
    assert_null(dg_answer_cache_get(c, "v", &m.s));
    check(r, &m);
    dg_answer_cache_release(c, r);
    dg_answer_cache_close(c);
}

static void too_large_for_it(void **state)
{
    struct dg_answer_cache *c = open_cache(1000);
    struct made m;
    struct dg_answer_cache_counts n;
    (void)state;
    make(&m, 8);
    dg_answer_cache_put(c, "v", &m.s, &m.r);
    dg_answer_cache_count(c, &n);
    assert_int_equal(n.entries, 0);
    dg_answer_cache_close(c);
}

static void *use_it(void *arg)
{
    struct dg_answer_cache *c = arg;
    struct made m;
    for (uint32_t i = 0; i < 5000; i++) {
        make(&m, i * 7 % SENTENCES);
        const struct dg_result *r = dg_answer_cache_get(c, "v", &m.s);
        if (r)
            check(r, &m);
        else
            dg_answer_cache_put(c, "v", &m.s, &m.r);
        dg_answer_cache_release(c, r);
    }
    return NULL;
}

static void many_threads(void **state)
{
    struct dg_answer_cache *c = open_cache(60000);
    pthread_t threads[THREADS];
    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_it, c), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    dg_answer_cache_close(c);
}

static void chains_grow(void **state)
{
    struct dg_answer_cache *c = open_cache(64 << 20);
    struct made m;
    struct dg_answer_cache_counts n;
    (void)state;
    for (uint32_t i = 0; i < 5000; i++) {
        make(&m, i);
        dg_answer_cache_put(c, "v", &m.s, &m.r);
    }
    dg_answer_cache_count(c, &n);
    assert_int_equal(n.entries, 5000);
    for (uint32_t i = 0; i < 5000; i++) {
        make(&m, i);
        const struct dg_result *r = dg_answer_cache_get(c, "v", &m.s);
        assert_non_null(r);
        check(r, &m);
        dg_answer_cache_release(c, r);
    }
    dg_answer_cache_close(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(found_is_what_was_put),
        cmocka_unit_test(another_size), cmocka_unit_test(every_option_is_in_the_key),
        cmocka_unit_test(leading_pieces_are_in_the_key), cmocka_unit_test(not_for_every_sentence),
        cmocka_unit_test(bound_and_order), cmocka_unit_test(held_while_evicted),
        cmocka_unit_test(too_large_for_it), cmocka_unit_test(many_threads),
        cmocka_unit_test(chains_grow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
