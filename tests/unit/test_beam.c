/* Beam search on worked numbers, without a model: small trees whose answers were computed by hand
 * (contract 5). */
#include "tests/unit/beam_steps.h"

static void penalties(void **state)
{
    (void)state;
    assert_float_equal(dg_length_penalty(DG_PENALTY_GNMT, 0.6, 1), 1.0, 1e-12);
    assert_float_equal(dg_length_penalty(DG_PENALTY_GNMT, 1.0, 7), 2.0, 1e-12);
    assert_float_equal(dg_length_penalty(DG_PENALTY_POWER, 0.5, 16), 4.0, 1e-12);
    assert_float_equal(dg_length_penalty(DG_PENALTY_NONE, 0.6, 9), 1.0, 0);
}

/* Beam 1 is greedy: </s> ends it even where continuing would score better under the penalty. */
static void greedy_stops_at_eos(void **state)
{
    (void)state;
    struct dg_beam b = {0};
    begin(&b, search(1, 1, 10, 5.0f));
    assert_int_equal(dg_beam_wants(&b, b.t), 1);
    float lp1[] = {-0.1f};
    int32_t id1[] = {7};
    advance(&b, lp1, id1, 1, 1);
    assert_false(b.done);
    assert_int_equal(dg_beam_last(&b, 0, -1), 7);
    float lp2[] = {-0.2f};
    int32_t id2[] = {EOS};
    advance(&b, lp2, id2, 1, 1);
    assert_true(b.done);
    assert_int_equal(b.n_finished, 1);
    assert_int_equal(b.finished[0].n, 2);
    assert_int_equal(b.finished[0].ids[0], 7);
    assert_float_equal(b.finished[0].logprob, -0.3, 1e-6);
    assert_false(b.finished[0].length_limited);
    dg_beam_deinit(&b);
}

/* Two rows, four candidates each: the 2K = 4 best of all are considered; </s> among them is
 * finished, the first two others live; of equal totals the smaller row wins. */
static void candidates_are_global(void **state)
{
    (void)state;
    struct dg_beam b = {0};
    begin(&b, search(2, 2, 10, 0));
    float lp1[] = {-0.5f, -1.0f, -2.0f, -3.0f};
    int32_t id1[] = {5, 6, EOS, 8};
    advance(&b, lp1, id1, 4, 4);
    assert_int_equal(b.n_live, 2);
    assert_int_equal(b.n_finished, 1); /* </s> was the third best of four */
    /* Row 0 is at -0.5, row 1 at -1.0. Totals: -1.5(r0,5) -1.5(r1,9) -1.75(r0,</s>) -2.0(r1,6). */
    float lp2[] = {-1.0f, -1.25f, -4.0f, -5.0f, -0.5f, -1.0f, -4.0f, -5.0f};
    int32_t id2[] = {5, EOS, 6, 7, 9, 6, EOS, 7};
    advance(&b, lp2, id2, 4, 4);
    assert_int_equal(b.n_finished, 2);
    assert_int_equal(b.parents[0], 0);
    assert_int_equal(b.parents[1], 1);
    assert_int_equal(b.live[0].ids[1], 5);
    assert_int_equal(b.live[1].ids[1], 9);
    /* Finished: -2.0 (1 piece) and -1.75 (2 pieces); the best live one, -1.5, can still win: not
     * done. */
    assert_false(b.done);
    float lp3[] = {-0.5f, -0.6f, -0.7f, -0.8f, -0.9f, -1.0f, -1.1f, -1.2f};
    int32_t id3[] = {5, 6, 7, 8, 5, 6, 7, 8};
    advance(&b, lp3, id3, 4, 4);
    /* Best live is -2.0, not above the worst finished (-2.0): done, best first. */
    assert_true(b.done);
    assert_float_equal(b.finished[0].score, -1.75, 1e-6);
    assert_float_equal(b.finished[1].score, -2.0, 1e-6);
    assert_int_equal(b.finished[0].n, 2);
    dg_beam_deinit(&b);
}

/* The second step's rows change places, so each hypothesis' sources come from its own rows: 6 9
 * </s> was chosen by row 0 with source 3, then by row 1 with source 2, then by row 0 with source
 * 1. */
static void sources_follow_their_rows(void **state)
{
    (void)state;
    struct dg_beam b = {0};
    begin(&b, search(2, 1, 10, 0));
    const float lp1[] = {-0.125f, -0.25f, -5.0f, -6.0f};
    const int32_t id1[] = {5, 6, EOS, 7}, look1[] = {3};
    dg_beam_advance(
        &b, &(struct dg_candidates){.logprob = lp1, .ids = id1, .k = 4, .ld = 4, .sources = look1});
    assert_int_equal(b.finished[0].sources[0], 3);
    const float lp2[] = {-1.0f, -8.0f, -8.0f, -8.0f, -0.25f, -8.0f, -8.0f, -8.0f};
    const int32_t id2[] = {8, 5, 6, 7, 9, 5, 6, 7}, look2[] = {0, 2};
    dg_beam_advance(
        &b, &(struct dg_candidates){.logprob = lp2, .ids = id2, .k = 4, .ld = 4, .sources = look2});
    assert_int_equal(b.parents[0], 1);
    assert_int_equal(b.live[1].sources[0], 3);
    assert_int_equal(b.live[1].sources[1], 0);
    const float lp3[] = {-0.125f, -8.0f, -8.0f, -8.0f, -3.0f, -8.0f, -8.0f, -8.0f};
    const int32_t id3[] = {EOS, 5, 6, 7, 7, 5, 6, 8}, look3[] = {1, 4};
    dg_beam_advance(
        &b, &(struct dg_candidates){.logprob = lp3, .ids = id3, .k = 4, .ld = 4, .sources = look3});
    assert_true(b.done);
    const int32_t ids[] = {6, 9, EOS}, sources[] = {3, 2, 1};
    assert_int_equal(b.finished[0].n, 3);
    assert_memory_equal(b.finished[0].ids, ids, sizeof ids);
    assert_memory_equal(b.finished[0].sources, sources, sizeof sources);
    dg_beam_deinit(&b);
}

/* Finished: -5, then -2 twice, then -1; two are kept. Among equal scores the earliest stays first,
 * also after others were dropped. */
static void equal_scores_stay_in_order(void **state)
{
    (void)state;
    struct dg_beam b = {0};
    begin(&b, search(2, 2, 10, 0));
    float lp1[] = {-0.125f, -0.25f, -5.0f, -6.0f};
    int32_t id1[] = {5, 6, EOS, 7};
    advance(&b, lp1, id1, 4, 4);
    float lp2[] = {-0.125f, -1.875f, -8.0f, -9.0f, -0.125f, -1.75f, -8.0f, -9.0f};
    int32_t id2[] = {5, EOS, 6, 7, 5, EOS, 6, 7};
    advance(&b, lp2, id2, 4, 4);
    assert_int_equal(b.n_finished, 2);
    for (int i = 0; i < 2; i++) {
        assert_true(b.finished[i].score == -2);
        assert_int_equal(b.finished[i].ids[0], 5 + i);
    }
    float lp3[] = {-0.125f, -0.75f, -8.0f, -9.0f, -0.125f, -8.0f, -9.0f, -9.5f};
    int32_t id3[] = {5, EOS, 6, 7, 5, EOS, 6, 7};
    advance(&b, lp3, id3, 4, 4);
    assert_int_equal(b.n_finished, 2);
    assert_true(b.finished[0].score == -2 && b.finished[0].ids[0] == 5);
    assert_true(b.finished[1].score == -1 && b.finished[1].n == 3);
    dg_beam_deinit(&b);
}

/* The bound divides by lp at the LONGEST length: with alpha = 1 a live hypothesis that is worse now
 * may still win. */
static void stops_only_when_nothing_can_win(void **state)
{
    (void)state;
    struct dg_beam b = {0};
    begin(&b, search(2, 1, 25, 1.0f)); /* lp(25) = 5 */
    float lp1[] = {-1.0f, -1.1f, -9.0f, -9.5f};
    int32_t id1[] = {EOS, 5, 6, 7};
    advance(&b, lp1, id1, 4, 4);
    /* Finished: -1.0 / lp(1)=1. Live: -1.1, and -1.1/5 = -0.22 > -1.0: goes on. */
    assert_false(b.done);
    float lp2[] = {-0.1f, -8.0f, -9.0f, -9.5f, -0.1f, -8.0f, -9.0f, -9.5f};
    int32_t id2[] = {EOS, 5, 6, 7, EOS, 5, 6, 7};
    advance(&b, lp2, id2, 4, 4);
    /* -1.2 / lp(2) = -1.2/(7/6) = -1.0286 < -1.0: the first answer stays the best; live -9.1/5 =
     * -1.82: done. */
    assert_true(b.done);
    assert_int_equal(b.n_finished, 1);
    assert_float_equal(b.finished[0].score, -1.0, 1e-6);
    dg_beam_deinit(&b);
}

static void length_limit_finishes_all(void **state)
{
    (void)state;
    struct dg_beam b = {0};
    begin(&b, search(2, 2, 1, 0.6f));
    float lp[] = {-0.5f, -0.7f, -0.9f, -1.0f};
    int32_t id[] = {5, EOS, 6, 7};
    advance(&b, lp, id, 4, 4);
    assert_true(b.done);
    assert_int_equal(b.n_finished, 2);
    assert_int_equal(b.finished[0].ids[0], 5);
    assert_true(b.finished[0].length_limited);
    assert_int_equal(b.finished[1].ids[0], EOS);
    assert_false(b.finished[1].length_limited);
    dg_beam_deinit(&b);
}

/* An answer of one token and </s>, -2 in all, and one that continues at -2.4: without a cap it may
 * still win, for -2.4/10 > -2/2. With the penalty capped at two tokens it cannot: -2.4/2 < -2/2. */
static void a_capped_penalty_ends_what_would_go_on(void **state)
{
    (void)state;
    for (uint32_t cap = 0; cap <= 2; cap += 2) {
        struct dg_beam b = {0};
        struct dg_search s = search(2, 1, 10, 1);
        s.penalty = DG_PENALTY_POWER;
        s.penalty_tokens = cap;
        begin(&b, s);
        float lp1[] = {-1.0f, -2.0f};
        int32_t id1[] = {7, 8};
        advance(&b, lp1, id1, 2, 2);
        float lp2[] = {-1.0f, -1.4f, -3.0f, -4.0f};
        int32_t id2[] = {EOS, 5, 6, 9};
        advance(&b, lp2, id2, 2, 2);
        assert_int_equal(b.done, cap == 2);
        assert_float_equal(b.finished[0].score, -1.0, 1e-6);
        float lp3[] = {-0.1f, -9.0f, -9.0f, -9.0f};
        int32_t id3[] = {EOS, 5, 6, 9};
        if (!cap) {
            advance(&b, lp3, id3, 2, 2);
            assert_float_equal(b.finished[0].score, -2.5 / 3, 1e-6);
        }
        assert_int_equal(b.finished[0].n, cap ? 2 : 3);
        dg_beam_deinit(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(penalties),
        cmocka_unit_test(equal_scores_stay_in_order),
        cmocka_unit_test(sources_follow_their_rows),
        cmocka_unit_test(greedy_stops_at_eos),
        cmocka_unit_test(candidates_are_global),
        cmocka_unit_test(stops_only_when_nothing_can_win),
        cmocka_unit_test(length_limit_finishes_all),
        cmocka_unit_test(a_capped_penalty_ends_what_would_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
