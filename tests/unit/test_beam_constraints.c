/* Constraints of a beam search, on worked numbers: forced tokens, prefixes, tokens that are never
 * output, no repetition, a minimum length, a rank to begin with, impossible candidates. */
#include "tests/unit/beam_steps.h"

#include <math.h>

static void minimum_length(void **state)
{
    (void)state;
    struct dg_beam b = {0};
    struct dg_search s = search(1, 1, 4, 0);
    s.min_len = 2;
    begin(&b, s);
    assert_int_equal(dg_beam_wants(&b, b.t), 2);
    float lp[] = {-0.1f, -3.0f};
    int32_t id[] = {EOS, 4};
    advance(&b, lp, id, 2, 2);
    assert_false(b.done);
    assert_int_equal(b.live[0].ids[0], 4);
    advance(&b, lp, id, 1, 2);
    assert_true(b.done);
    assert_int_equal(b.finished[0].n, 2);
    dg_beam_deinit(&b);
}

static void forced_and_prefix(void **state)
{
    (void)state;
    struct dg_beam b = {0};
    const int32_t target[] = {9, 3, EOS};
    struct dg_search s = search(1, 1, 3, 0.6f);
    assert_int_equal(dg_beam_begin(&b, &s, EOS, target, 3, true, NULL), 0);
    const float lp[] = {-1.0f, -2.0f, -0.5f};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(dg_beam_force(&b, b.t), target[i]);
        advance(&b, &lp[i], &target[i], 1, 1);
    }
    assert_true(b.done);
    assert_float_equal(b.finished[0].logprob, -3.5, 1e-6);
    assert_float_equal(b.finished[0].token_logprob[1], -2.0, 0);
    assert_false(b.finished[0].length_limited);

    s = search(2, 1, 6, 0);
    assert_int_equal(dg_beam_begin(&b, &s, EOS, target, 2, false, NULL), 0);
    assert_int_equal(dg_beam_wants(&b, b.t), 1);
    advance(&b, &lp[0], &target[0], 1, 1);
    advance(&b, &lp[1], &target[1], 1, 1);
    assert_int_equal(dg_beam_force(&b, b.t), -1);
    assert_int_equal(dg_beam_wants(&b, b.t), 4);
    assert_int_equal(b.n_live, 1);
    dg_beam_deinit(&b);
}

/* The piece that is never output is skipped; one more candidate is requested, and the next ones
 * move up. */
static void never_put_out(void **state)
{
    (void)state;
    struct dg_beam b = {0};
    begin(&b, search(1, 1, 4, 0));
    b.never = 9;
    assert_int_equal(dg_beam_wants(&b, b.t), 2);
    float greedy[] = {-0.1f, -2.0f};
    int32_t greedy_ids[] = {9, 4};
    advance(&b, greedy, greedy_ids, 2, 2);
    assert_int_equal(b.n_live, 1);
    assert_int_equal(b.live[0].ids[0], 4);
    /* its own probability, not renormalised without the other */
    assert_float_equal(b.live[0].logprob, -2.0, 0);

    begin(&b, search(2, 2, 4, 0));
    b.never = 9;
    assert_int_equal(dg_beam_wants(&b, b.t), 5);
    float lp[] = {-0.1f, -1.0f, -1.5f, -2.0f, -2.5f};
    int32_t ids[] = {9, 6, EOS, 7, 8};
    advance(&b, lp, ids, 5, 5);
    assert_int_equal(b.n_live, 2);
    assert_int_equal(b.live[0].ids[0], 6);
    assert_int_equal(b.live[1].ids[0], 7);
    assert_int_equal(b.n_finished, 1);

    /* A given translation may contain it nevertheless. */
    const int32_t target[] = {9, EOS};
    struct dg_search s = search(1, 1, 2, 0);
    assert_int_equal(dg_beam_begin(&b, &s, EOS, target, 2, true, NULL), 0);
    b.never = 9;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(dg_beam_wants(&b, b.t), 1);
        advance(&b, &lp[i], &target[i], 1, 1);
    }
    assert_true(b.done);
    assert_int_equal(b.finished[0].ids[0], 9);
    dg_beam_deinit(&b);
}

/* A piece that would repeat a run of two is skipped; enough candidates are requested. */
static void no_run_twice(void **state)
{
    (void)state;
    struct dg_beam b = {0};
    struct dg_search s = search(1, 1, 9, 0);
    s.no_repeat_ngram = 2;
    begin(&b, s);
    const int32_t said[] = {4, 5, 4};
    for (int i = 0; i < 3; i++) {
        float lp[] = {-0.1f, -2.0f};
        int32_t id[] = {said[i], 8};
        assert_int_equal(dg_beam_wants(&b, b.t), 1);
        advance(&b, lp, id, 2, 2);
        assert_int_equal(b.live[0].ids[i], said[i]);
    }
    assert_int_equal(dg_beam_wants(&b, b.t), 2);
    float lp[] = {-0.1f, -0.7f};
    int32_t id[] = {5, 9};
    advance(&b, lp, id, 2, 2); /* "4 5" has occurred */
    assert_int_equal(b.live[0].ids[3], 9);
    assert_float_equal(b.live[0].token_logprob[3], -0.7f, 0);
    advance(&b, lp, id, 1, 2); /* "9 5" is new */
    assert_int_equal(b.live[0].ids[4], 5);

    /* A prefix may repeat it nevertheless. */
    const int32_t prefix[] = {4, 4, 4};
    assert_int_equal(dg_beam_begin(&b, &s, EOS, prefix, 3, false, NULL), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(dg_beam_wants(&b, b.t), 1);
        advance(&b, lp, prefix, 1, 1);
    }
    assert_int_equal(b.n_live, 1);
    assert_int_equal(b.live[0].ids[2], 4);
    dg_beam_deinit(&b);
}

/* The piece that starts the decoder takes a position but is not part of the answer: it counts for
 * neither the pieces, nor the probability (-0.5 - 0.25), the length (2), or the limit of 2 in
 * min_len. */
static void what_leads_is_no_part_of_the_answer(void **state)
{
    (void)state;
    struct dg_beam b = {0};
    struct dg_search s = search(1, 1, 5, 1.0f);
    const int32_t lead[] = {9};
    float forced[] = {-7.0f}, lp[] = {-0.3f, -0.5f}, last[] = {-0.25f};
    int32_t ids[] = {EOS, 5}, end[] = {EOS};
    s.penalty = DG_PENALTY_POWER;
    s.min_len = 2;
    assert_int_equal(dg_beam_begin(&b, &s, EOS, lead, 1, false, NULL), 0);
    b.n_lead = 1;
    assert_int_equal(dg_beam_force(&b, b.t), 9);
    advance(&b, forced, lead, 1, 1);
    assert_int_equal(dg_beam_last(&b, 0, -1), 9);
    assert_int_equal(dg_beam_wants(&b, b.t), 2);
    advance(&b, lp, ids, 2, 2);
    assert_false(b.done);
    advance(&b, last, end, 1, 1);
    assert_true(b.done);
    assert_int_equal(b.finished[0].n, 2);
    assert_int_equal(b.finished[0].ids[0], 5);
    assert_float_equal(b.finished[0].token_logprob[0], -0.5, 0);
    assert_float_equal(b.finished[0].logprob, -0.75, 1e-6);
    assert_float_equal(b.finished[0].score, -0.375, 1e-6);
    dg_beam_deinit(&b);
}

/* The first free piece is the one of the requested rank; then the search continues as usual. */
static void picks_a_rank(void **state)
{
    (void)state;
    struct dg_beam b = {0};
    struct dg_search s = search(2, 1, 6, 0);
    const int32_t prefix[] = {9};
    float lp[] = {-0.1f, -1.0f, -2.0f, -3.0f};
    int32_t ids[] = {5, EOS, 7, 8};
    s.pick = 3;
    assert_int_equal(dg_beam_begin(&b, &s, EOS, prefix, 1, false, NULL), 0);
    advance(&b, lp, prefix, 1, 1);
    assert_int_equal(dg_beam_wants(&b, b.t), 3);
    advance(&b, lp, ids, 3, 4);
    assert_int_equal(b.n_live, 1);
    assert_int_equal(b.n_finished, 0);
    assert_int_equal(b.live[0].ids[1], 7);
    assert_float_equal(b.live[0].logprob, -2.1, 1e-6);
    assert_int_equal(dg_beam_wants(&b, b.t), 4);
    advance(&b, lp, ids, 4, 4);
    assert_int_equal(b.n_live, 2);

    s.pick = 2; /* ... which is </s> */
    assert_int_equal(dg_beam_begin(&b, &s, EOS, NULL, 0, false, NULL), 0);
    advance(&b, lp, ids, 2, 4);
    assert_true(b.done);
    assert_int_equal(b.n_finished, 1);
    assert_int_equal(b.finished[0].n, 1);

    s.pick = 5; /* there are fewer candidates */
    assert_int_equal(dg_beam_begin(&b, &s, EOS, NULL, 0, false, NULL), 0);
    assert_int_equal(dg_beam_wants(&b, b.t), 5);
    advance(&b, lp, ids, 4, 4);
    assert_true(b.done);
    assert_int_equal(b.n_finished, 0);
    dg_beam_deinit(&b);
}

/* A model that yields only -inf or NaN ends without an answer instead of hanging or inventing
 * one. */
static void impossible_candidates(void **state)
{
    (void)state;
    struct dg_beam b = {0};
    begin(&b, search(2, 1, 5, 0));
    float lp[] = {-INFINITY, NAN, -INFINITY, -INFINITY};
    int32_t id[] = {1, 2, 3, 4};
    advance(&b, lp, id, 4, 4);
    assert_true(b.done);
    assert_int_equal(b.n_finished, 0);
    dg_beam_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(minimum_length),
        cmocka_unit_test(forced_and_prefix),
        cmocka_unit_test(never_put_out),
        cmocka_unit_test(no_run_twice),
        cmocka_unit_test(picks_a_rank),
        cmocka_unit_test(what_leads_is_no_part_of_the_answer),
        cmocka_unit_test(impossible_candidates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
