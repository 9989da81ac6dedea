/* The engine on small random models: cached steps equal teacher forcing, limits, cancelling.
 * test_batch_alone.c checks bits under load. */
#include "tests/invariants/random_model.h"

#include "model/trace.h"

/* Runs the engine until an answer is ready; answers come in the order they finish. */
static const struct dg_result *run(struct dg_engine *e)
{
    const struct dg_result *r;
    for (int i = 0; i < 3000; i++) {
        if ((r = dg_engine_poll(e)))
            return r;
        if (!dg_engine_step(e))
            return dg_engine_poll(e);
    }
    fail_msg("the engine does not end");
    return NULL;
}

/* Checks one configuration: forced decoding step by step against the teacher-forced pass, also
 * beyond 100 positions. */
static void check_step_is_full(const struct dg_config *c, uint64_t seed)
{
    struct random_model m;
    struct dg_engine *e = NULL;
    struct dg_error err = {0};
    int32_t source[140], target[140];
    uint64_t rng = seed;
    random_model_open(&m, c, DG_F32, NULL, 200, seed);
    assert_int_equal(dg_engine_open(m.model, m.be, NULL, &e, &err), 0);
    const uint32_t lengths[][2] = {{1, 1}, {5, 9}, {33, 17}, {130, 140}};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        uint32_t S = lengths[i][0], T = lengths[i][1];
        struct dg_trace full;
        random_sentence(c, source, S, &rng);
        for (uint32_t t = 0; t < T; t++)
            target[t] = (int32_t)(rnd(&rng) % c->target_vocab);
        assert_int_equal(
            dg_trace_run(m.model, m.be, &(struct dg_trace_ids){source, S, target, T}, &full, &err),
            0);
        struct dg_sentence s = {
            .source = source, .n_source = S, .prefix = target, .n_prefix = T, .forced = true};
        assert_int_equal(dg_engine_admit(e, i, &s, &err), 0);
        const struct dg_result *r = run(e);
        assert_non_null(r);
        assert_int_equal(r->n_hyps, 1);
        assert_int_equal(r->hyps[0].n, T);
        double sum = 0;
        for (uint32_t t = 0; t < T; t++) {
            /* Both add in the same order, so they are exactly equal. */
            assert_float_equal(r->hyps[0].token_logprob[t], full.logprob[t], 0);
            sum += (double)full.logprob[t];
        }
        assert_float_equal(r->hyps[0].logprob, sum, 1e-9);
        dg_engine_release(e, r);
        /* Probabilities over the visible positions add up to one. */
        float first = 0;
        for (uint32_t k = 0; k < S; k++)
            first += full.cross[k];
        assert_float_equal(first, 1.0f, 1e-5);
        dg_trace_deinit(&full);
    }
    dg_engine_close(e);
    random_model_close(&m);
}

static void step_is_full(void **state)
{
    (void)state;
    struct dg_config c;
    random_config(&c);
    check_step_is_full(&c, 1);
    c.positions = DG_POS_MARIAN;
    c.first_position = 1;
    c.start = -1;
    c.attention_bias = c.output_bias = true;
    c.act = DG_ACT_SWISH;
    check_step_is_full(&c, 2);
    random_config(&c); /* d_k = 16 with d_v = 64, h = 1, untied, learned positions */
    c.H = 1;
    c.Dk = 16;
    c.Dv = 64;
    c.tied_embeddings = c.tied_output = false;
    c.positions = DG_POS_LEARNED;
    c.max_positions = 150;
    c.act = DG_ACT_GELU;
    check_step_is_full(&c, 3);
    random_config(&c); /* features of other programs' models */
    c.decoder = DG_DECODER_SSRU;
    c.attention_bias = true;
    c.dec_F = 48;
    check_step_is_full(&c, 4);
    random_config(&c);
    c.pre_norm = true;
    c.first_position = 2;
    c.dec_H = 2;
    check_step_is_full(&c, 5);
    c.decoder = DG_DECODER_SSRU;
    check_step_is_full(&c, 6);
}

static void beam_one_is_greedy(void **state)
{
    (void)state;
    struct dg_config c;
    struct random_model m;
    struct dg_engine *e = NULL;
    struct dg_error err = {0};
    int32_t source[20], answer[64];
    uint64_t rng = 5;
    random_config(&c);
    random_model_open(&m, &c, DG_F32, NULL, 200, 7);
    assert_int_equal(dg_engine_open(m.model, m.be, NULL, &e, &err), 0);
    for (int i = 0; i < 10; i++) {
        random_sentence(&c, source, 12, &rng);
        struct dg_sentence s = {
            .source = source, .n_source = 12, .search = {.beam = 1, .alpha = 0.6f, .max_len = 30}};
        assert_int_equal(dg_engine_admit(e, 1, &s, &err), 0);
        const struct dg_result *r = run(e);
        uint32_t n = r->hyps[0].n;
        memcpy(answer, r->hyps[0].ids, n * sizeof *answer);
        double sum = r->hyps[0].logprob;
        dg_engine_release(e, r);
        /* Forced along the same path, every step's probability is the same, and no other piece
         * beats it. */
        s.prefix = answer;
        s.n_prefix = n;
        s.forced = true;
        assert_int_equal(dg_engine_admit(e, 2, &s, &err), 0);
        r = run(e);
        assert_float_equal(r->hyps[0].logprob, sum, 0);
        dg_engine_release(e, r);
        assert_true(answer[n - 1] == c.eos || n == 30);
    }
    dg_engine_close(e);
    random_model_close(&m);
}

static void limits_and_cancel(void **state)
{
    (void)state;
    struct dg_config c;
    struct random_model m;
    struct dg_engine *e = NULL;
    struct dg_error err = {0};
    struct dg_capacity full, cap;
    int32_t source[64];
    uint64_t rng = 9;
    random_config(&c);
    random_model_open(&m, &c, DG_F32, NULL, 200, 11);
    struct dg_engine_limits limits = {
        .max_rows = 8, .max_sentences = 4, .max_source = 40, .max_target = 100};
    assert_int_equal(dg_engine_open(m.model, m.be, &limits, &e, &err), 0);
    dg_engine_capacity(e, &full);
    assert_int_equal(full.rows_free, 8);
    random_sentence(&c, source, 40, &rng);
    struct dg_sentence s = {.source = source, .n_source = 40, .search = {.beam = 4, .alpha = -1}};

    assert_int_equal(dg_engine_admit(e, 1, &s, &err), 0);
    assert_int_equal(dg_engine_admit(e, 2, &s, &err), 0);
    assert_int_equal(dg_engine_admit(e, 3, &s, &err), DG_EAGAIN);
    assert_int_equal(err.code, 0);
    dg_engine_cancel(e, 1); /* before it was encoded */
    assert_int_equal(dg_engine_admit(e, 3, &s, &err), 0);
    dg_engine_step(e);
    dg_engine_step(e);
    dg_engine_cancel(e, 2); /* in the middle */
    dg_engine_cancel(e, 99);
    dg_engine_capacity(e, &cap);
    assert_int_equal(cap.rows_free, 4);
    const struct dg_result *r = run(e);
    assert_int_equal(r->id, 3);
    dg_engine_release(e, r);
    assert_null(run(e));
    dg_engine_capacity(e, &cap);
    assert_memory_equal(&cap, &full, sizeof cap);

    s.search.beam = 16;
    assert_int_equal(dg_engine_admit(e, 4, &s, &err), DG_ELIMIT);
    dg_error_clear(&err);
    s.search.beam = 40;
    assert_int_equal(dg_engine_admit(e, 4, &s, &err), DG_EINVAL);
    assert_non_null(strstr(err.message, "beam 40 is over the limit of 32"));
    assert_string_equal(err.field, ""); /* the API names these options itself */
    dg_error_clear(&err);
    s.search.beam = 2;
    s.search.n_best = 3;
    assert_int_equal(dg_engine_admit(e, 4, &s, &err), DG_EINVAL);
    assert_non_null(strstr(err.message, "n_best 3 is more than the beam of 2"));
    dg_error_clear(&err);
    s.search.n_best = 1;
    s.n_source = 41;
    assert_int_equal(dg_engine_admit(e, 4, &s, &err), DG_ELIMIT);
    dg_error_clear(&err);
    s.n_source = 3;
    source[1] = 60;
    assert_int_equal(dg_engine_admit(e, 4, &s, &err), DG_EINVAL);
    dg_engine_close(e);
    random_model_close(&m);
}

/* Whatever the limits are, the largest search that they allow fits into an empty engine. */
static void largest_search_fits(void **state)
{
    (void)state;
    enum { LONGEST = 512 };
    static const struct {
        struct dg_engine_limits limits;
        uint32_t n_source, beam, max_len;
    } cases[] = {
        {{0}, LONGEST, 4, 0},
        {{.max_rows = 8, .max_sentences = 4}, LONGEST, 4, 0},
        /* zeros: the model's own beam and limit */
        {{.max_rows = 8, .max_sentences = 4, .max_beam = 2}, LONGEST, 0, 0},
        {{.max_beam = 32}, LONGEST, 32, 0},
        {{.max_rows = 32, .max_sentences = 1, .max_source = 2, .max_beam = 21}, 2, 21, 0},
        {{.max_target = 4096, .max_beam = 4, .max_search = 4096}, 3, 4, 4096},
    };
    struct dg_config c;
    struct random_model m;
    int32_t source[LONGEST];
    uint64_t rng = 4;
    random_config(&c);
    random_model_open(&m, &c, DG_F32, NULL, 4096, 17);
    random_sentence(&c, source, LONGEST, &rng);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_engine *e = NULL;
        struct dg_error err = {0};
        struct dg_sentence s = {.source = source,
            .n_source = cases[i].n_source,
            .search = {.beam = cases[i].beam, .alpha = 0.6f, .max_len = cases[i].max_len}};
        assert_int_equal(dg_engine_open(m.model, m.be, &cases[i].limits, &e, &err), 0);
        if (dg_engine_admit(e, 1, &s, &err))
            fail_msg("case %zu: %s", i, err.message);
        dg_engine_close(e);
    }
    random_model_close(&m);
}

/* The output limit is the source pieces without </s> + 50, and an answer that reaches it is
 * flagged. */
static void output_limit(void **state)
{
    (void)state;
    struct dg_config c;
    struct random_model m;
    struct dg_engine *e = NULL;
    struct dg_error err = {0};
    int32_t source[10];
    uint64_t rng = 3;
    random_config(&c);
    random_model_open(&m, &c, DG_F32, NULL, 200, 13);
    assert_int_equal(dg_engine_open(m.model, m.be, NULL, &e, &err), 0);
    random_sentence(&c, source, 10, &rng);
    struct dg_sentence s = {
        .source = source, .n_source = 10, .search = {.beam = 2, .alpha = 0.6f, .min_len = 99}};
    assert_int_equal(dg_engine_admit(e, 1, &s, &err), 0);
    const struct dg_result *r = run(e);
    assert_int_equal(r->hyps[0].n, 9 + 50);
    assert_true(r->hyps[0].length_limited);
    dg_engine_release(e, r);
    dg_engine_close(e);
    random_model_close(&m);
}

/* Terms that do not fit, and searches that terms cannot steer, are refused; a search with terms is
 * as wide as there is room for. */
static void terms_have_limits(void **state)
{
    (void)state;
    static const uint64_t none[1];
    struct dg_config c;
    struct random_model m;
    struct dg_engine *e = NULL;
    struct dg_error err = {0};
    const int32_t source[] = {5, 6, 2}, term[] = {5, 9, 7, 60};
    struct dg_term_form form = {0, 0, 3, DG_TERM_ANYWHERE};
    const struct dg_terms terms = {&form, 1, 1, term, 4, none, none, NULL, NULL};
    const struct dg_engine_limits limits = {.max_rows = 6};
    random_config(&c);
    random_model_open(&m, &c, DG_F32, NULL, 200, 17);
    assert_int_equal(dg_engine_open(m.model, m.be, &limits, &e, &err), 0);
    struct dg_sentence s = {.source = source,
        .n_source = 3,
        .search = {.beam = 20, .n_best = 1, .max_len = 3},
        .terms = &terms};
    assert_int_equal(dg_engine_admit(e, 1, &s, &err), DG_EINVAL);
    assert_non_null(strstr(err.message, "term piece 3 has id 60"));
    const struct dg_terms right = {&form, 1, 1, term, 3, none, none, NULL, NULL};
    s.terms = &right;
    s.search.max_len = 2;
    assert_int_equal(dg_engine_admit(e, 1, &s, &err), DG_ELIMIT);
    s.search.max_len = 3;
    s.search.sampling.temperature = 1;
    assert_int_equal(dg_engine_admit(e, 1, &s, &err), DG_EINVAL);
    s.search.sampling.temperature = 0;
    assert_int_equal(dg_engine_admit(e, 1, &s, &err), 0);
    const struct dg_result *r = run(e);
    assert_non_null(r);
    assert_int_equal(r->hyps[0].n, 3); /* only the term fits */
    assert_memory_equal(r->hyps[0].ids, term, 3 * sizeof *term);
    assert_true(r->hyps[0].length_limited);
    dg_engine_release(e, r);
    dg_engine_close(e);
    random_model_close(&m);
}

/* The answer of e to s, in ids[200]; returns its length. */
static uint32_t answer_of(struct dg_engine *e, const struct dg_sentence *s, int32_t *ids)
{
    struct dg_error err = {0};
    assert_int_equal(dg_engine_admit(e, 1, s, &err), 0);
    const struct dg_result *r = run(e);
    const uint32_t n = r->hyps[0].n;
    memcpy(ids, r->hyps[0].ids, n * sizeof *ids);
    dg_engine_release(e, r);
    return n;
}

/* Sampling and search forbid the same pieces after what a sentence begins with. A leading piece
 * that is no part of the answer counts in no length: 2 pieces after it are 3 with it. A piece of
 * the prefix may come again: where the search takes it, so does a draw from the best piece alone.
 */
static void sampling_after_a_prefix(void **state)
{
    (void)state;
    struct dg_config c;
    struct random_model m;
    struct dg_engine *e = NULL;
    struct dg_error err = {0};
    int32_t source[10], prefix[40], leading[200], begun[200];
    uint64_t rng = 8;
    random_config(&c);
    random_model_open(&m, &c, DG_F32, NULL, 200, 29);
    assert_int_equal(dg_engine_open(m.model, m.be, NULL, &e, &err), 0);
    for (int32_t i = 0; i < 40; i++)
        prefix[i] = i + 5;
    for (uint64_t i = 0; i < 300; i++) {
        random_sentence(&c, source, 10, &rng);
        struct dg_sentence s = {.source = source, .n_source = 10, .prefix = prefix, .n_prefix = 1};
        s.search = (struct dg_search){.beam = 1, .alpha = 0.6f, .max_len = 3, .min_len = 3};
        s.search.sampling = (struct dg_sampling){.temperature = 9, .seed = i};
        const uint32_t n = answer_of(e, &s, begun);
        s.n_lead = 1;
        s.search.max_len = s.search.min_len = 2;
        assert_int_equal(answer_of(e, &s, leading), n - 1);
        assert_memory_equal(leading, begun + 1, (n - 1) * sizeof *begun);
        s.n_lead = 0;
        s.n_prefix = 40;
        s.search =
            (struct dg_search){.beam = 1, .alpha = 0.6f, .max_len = 44, .no_repeat_ngram = 1};
        const uint32_t found = answer_of(e, &s, begun);
        s.search.sampling = (struct dg_sampling){.temperature = 1, .top_k = 1};
        assert_int_equal(answer_of(e, &s, leading), found);
        assert_memory_equal(leading, begun, found * sizeof *begun);
    }
    dg_engine_close(e);
    random_model_close(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(step_is_full),
        cmocka_unit_test(beam_one_is_greedy),
        cmocka_unit_test(limits_and_cancel),
        cmocka_unit_test(largest_search_fits),
        cmocka_unit_test(output_limit),
        cmocka_unit_test(terms_have_limits),
        cmocka_unit_test(sampling_after_a_prefix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
