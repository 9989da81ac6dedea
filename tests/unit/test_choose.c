/* Candidates constrained to a spelling, and sampled ones: shares of draws against their
 * distribution, computed by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/engine/choose.h"

enum { V = 6, EOS = 0 };

/* Sets probabilities 0.4, 0.3, 0.15, 0.1, 0.05, 0 up to a factor. */
static void set_logits(float x[V])
{
    const float p[V] = {0.4f, 0.3f, 0.15f, 0.1f, 0.05f, 0};
    for (int i = 0; i < V; i++)
        x[i] = 7 + logf(p[i]);
}

static const uint32_t first[] = {0, 2, 3}, next[] = {2, 1, 2}, least[] = {1, 1, 0};
static const int32_t edges[] = {1, 4, 3};
static const struct dg_spelling spelling = {2, first, edges, next, least};

static void states(void **state)
{
    (void)state;
    const int32_t whole[] = {1}, two[] = {4, 3}, off[] = {5};
    assert_int_equal(dg_spelling_state(&spelling, NULL, 0), 0);
    assert_int_equal(dg_spelling_state(&spelling, two, 1), 1);
    assert_int_equal(dg_spelling_state(&spelling, two, 2), 2);
    assert_int_equal(dg_spelling_state(&spelling, whole, 1), 2);
    assert_int_equal(dg_spelling_state(&spelling, off, 1), 2);
}

/* Only what the spelling allows is possible, with the log-probabilities of the whole softmax; the
 * rest is at -inf. */
static void spelled(void **state)
{
    (void)state;
    struct dg_search s = {.beam = 2, .max_len = 9};
    struct dg_choice c = {.search = &s, .spelling = &spelling, .eos = EOS, .never = -1};
    float x[V], lp[4];
    int32_t ids[4];
    set_logits(x);
    dg_choose(&c, x, V, 4, lp, ids);
    assert_int_equal(ids[0], 1);
    assert_int_equal(ids[1], 4);
    assert_float_equal(lp[0], log(0.3), 1e-6);
    assert_float_equal(lp[1], log(0.05), 1e-6);
    assert_true(isinf(lp[2]) && isinf(lp[3]));
    c.state = 2;
    set_logits(x);
    dg_choose(&c, x, V, 4, lp, ids);
    assert_int_equal(ids[0], 0);
    assert_int_equal(ids[3], 3);
    assert_float_equal(lp[3], log(0.1), 1e-6);
}

/* At the last position of an answer, only a piece that completes the spelling is possible. */
static void spelled_within_the_limit(void **state)
{
    (void)state;
    struct dg_search s = {.beam = 2};
    struct dg_choice c = {.search = &s, .spelling = &spelling, .eos = EOS, .never = -1};
    for (s.max_len = 1; s.max_len <= 2; s.max_len++) {
        float x[V], lp[2];
        int32_t ids[2];
        set_logits(x);
        dg_choose(&c, x, V, 2, lp, ids);
        assert_int_equal(ids[0], 1);
        assert_int_equal(lp[1] > -INFINITY, s.max_len == 2); /* 4 needs 3 after it */
    }
}

static void shares(
    const struct dg_search *s, const int32_t *before, uint32_t n, int32_t never, double share[V])
{
    enum { DRAWS = 20000 };
    struct dg_choice c = {.search = s, .ids = before, .n = n, .eos = EOS, .never = never};
    memset(share, 0, V * sizeof *share);
    for (int i = 0; i < DRAWS; i++) {
        float x[V], lp, again_lp;
        int32_t id, again;
        c.key = (uint64_t)i;
        set_logits(x);
        dg_choose(&c, x, V, 1, &lp, &id);
        set_logits(x);
        dg_choose(&c, x, V, 1, &again_lp, &again);
        assert_int_equal(id, again);
        assert_true(id >= 0 && id < V - 1); /* never an impossible piece */
        share[id] += 1.0 / DRAWS;
    }
}

/* 20,000 draws: a share's standard deviation is at most 0.0035; 0.015 is more than four. */
static void expect_shares(const double share[V], const double want[V])
{
    for (int i = 0; i < V; i++)
        assert_float_equal(share[i], want[i], 0.015);
}

static void drawn(void **state)
{
    (void)state;
    double share[V];
    struct dg_search s = {.beam = 1, .sampling = {.temperature = 1, .seed = 5}};
    shares(&s, NULL, 0, -1, share);
    expect_shares(share, (const double[V]){0.4, 0.3, 0.15, 0.1, 0.05, 0});
    s.sampling.top_k = 2;
    shares(&s, NULL, 0, -1, share);
    expect_shares(share, (const double[V]){4 / 7.0, 3 / 7.0, 0, 0, 0, 0});
    s.sampling.temperature = 0.5f; /* squares the probabilities */
    shares(&s, NULL, 0, -1, share);
    expect_shares(share, (const double[V]){16 / 25.0, 9 / 25.0, 0, 0, 0, 0});
    s.sampling.temperature = 1;
    s.sampling.top_k = 0;
    s.min_len = 3; /* no end yet; and 1 is never output */
    shares(&s, NULL, 0, 1, share);
    expect_shares(share, (const double[V]){0, 0, 0.5, 1 / 3.0, 1 / 6.0, 0});
    const int32_t before[] = {2, 3, 2};
    s.no_repeat_ngram = 2; /* 2 must not be followed by 3 again */
    shares(&s, before, 3, 1, share);
    expect_shares(share, (const double[V]){8 / 12.0, 0, 3 / 12.0, 0, 1 / 12.0, 0});
}

/* A draw forbids what the beam would pass over: an end that is too early after a leading piece, and
 * runs of its own pieces, but not those of the prefix. */
static void drawn_after_a_prefix(void **state)
{
    (void)state;
    const int32_t ids[] = {3, 1, 3, 2, 1, 2};
    const struct {
        uint32_t n, n_lead, n_prefix, min_len, order;
        int32_t forbidden; /* -1: none */
    } cases[] = {{1, 1, 1, 2, 0, EOS}, {2, 1, 1, 2, 0, -1}, {2, 0, 1, 2, 0, -1}, {3, 0, 0, 0, 2, 1},
        {3, 0, 3, 0, 2, -1}, {3, 0, 1, 0, 2, -1}, {6, 1, 3, 0, 2, 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct dg_search s = {.beam = 1,
            .max_len = 9,
            .min_len = cases[k].min_len,
            .no_repeat_ngram = cases[k].order,
            .sampling = {.temperature = 1}};
        struct dg_choice c = {.search = &s,
            .ids = ids,
            .n = cases[k].n,
            .n_lead = cases[k].n_lead,
            .n_prefix = cases[k].n_prefix,
            .eos = EOS,
            .never = -1};
        float x[V], lp;
        int32_t id;
        set_logits(x);
        dg_choose(&c, x, V, 1, &lp, &id);
        for (int i = 0; i < V - 1; i++)
            assert_int_equal(isinf(x[i]) != 0, i == cases[k].forbidden);
    }
}

/* A different seed, sentence or position gives a different draw. */
static void what_a_draw_depends_on(void **state)
{
    (void)state;
    int same[3] = {0};
    for (int i = 0; i < 1000; i++) {
        int32_t id[4], before[8] = {0};
        for (int k = 0; k < 4; k++) {
            struct dg_search s = {.beam = 1,
                .sampling = {.temperature = 1, .seed = (uint64_t)i + (k == 1 ? 1000 : 0)}};
            int32_t source[] = {3, i, k == 2};
            struct dg_choice c = {.search = &s,
                .ids = before,
                .n = k == 3 ? 4 : 3,
                .eos = EOS,
                .never = -1,
                .key = dg_choose_key(source, 3)};
            float x[V], lp;
            set_logits(x);
            dg_choose(&c, x, V, 1, &lp, &id[k]);
        }
        for (int k = 0; k < 3; k++)
            same[k] += id[0] == id[k + 1];
    }
    for (int k = 0; k < 3; k++) /* two draws agree with probability 0.285; deviation 14 */
        assert_true(same[k] > 215 && same[k] < 355);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states),
        cmocka_unit_test(spelled),
        cmocka_unit_test(spelled_within_the_limit),
        cmocka_unit_test(drawn),
        cmocka_unit_test(drawn_after_a_prefix),
        cmocka_unit_test(what_a_draw_depends_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
