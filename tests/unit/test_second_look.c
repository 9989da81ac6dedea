/* translate/accept/second_look.h: an answer with wrong numbers, and the answers of the second
 * search. */
#include "tests/unit/translate_bundle.h"

static const char text[] = "The 12 boats.";
static const float logprob[32] = {0};

/* A job of the text; *s is its sentence. */
static struct dg_job *encoded(
    const char *source, const struct dg_translate_options *o, struct dg_sentence *s)
{
    struct dg_job *j = NULL;
    struct dg_error err = {0};
    assert_int_equal(dg_job_encode(translator, source, strlen(source), o, &j, &err), 0);
    dg_job_sentence(j, 0, s);
    assert_true(s->n_source > 2 && s->n_source <= 32);
    return j;
}

/* An answer of the source's own pieces from piece `from` on. */
static struct dg_hypothesis answer(
    const struct dg_sentence *s, uint32_t from, const int32_t *sources)
{
    return (struct dg_hypothesis){.ids = s->source + from,
        .token_logprob = logprob,
        .n = s->n_source - from,
        .sources = sources};
}

/* An answer without numbers: the full stop and </s>. */
static struct dg_hypothesis numberless(const struct dg_sentence *s)
{
    return answer(s, s->n_source - 2, NULL);
}

static int accept(
    struct dg_job *j, const struct dg_hypothesis *hyps, uint32_t n, const int32_t *alignment)
{
    struct dg_error err = {0};
    const struct dg_result r = {.hyps = hyps, .n_hyps = n, .alignment = alignment, .steps = 5};
    return dg_job_accept(j, 0, &r, &err);
}

static void finish(struct dg_job *j, struct dg_answers *a)
{
    struct dg_error err = {0};
    assert_int_equal(dg_job_finish(j, a, &err), 0);
    assert_int_equal(a->n_best, 1);
}

static void the_best_answer_with_the_numbers_is_taken(void **state)
{
    const struct dg_translate_options o = {.search = {.alpha = -1}, .alignments = true};
    int32_t sources[32] = {0};
    struct dg_sentence s, again;
    struct dg_answers a;
    struct dg_job *j = encoded(text, &o, &s);
    (void)state;
    for (int i = 0; i < 32; i++)
        sources[i] = i;
    const struct dg_hypothesis wrong = numberless(&s);
    const struct dg_hypothesis list[] = {
        numberless(&s), answer(&s, 0, sources), answer(&s, 1, sources)};
    assert_int_equal(s.search.n_best, 0);
    assert_int_equal(accept(j, &wrong, 1, sources), DG_EAGAIN);
    dg_job_sentence(j, 0, &again);
    assert_int_equal(again.search.n_best, dg_model_config(dg_translator_model(translator))->beam);
    assert_int_equal(again.search.beam, s.search.beam); /* it fits into the first one's room */
    assert_int_equal(again.search.no_repeat_ngram, 3);
    assert_true(again.want_alignment);
    assert_int_equal(accept(j, list, 3, sources), 0);
    finish(j, &a);
    assert_string_equal(a.best[0].text, text);
    assert_int_equal(a.flags & DG_FLAG_NUMBER_MISMATCH, 0);
    assert_int_equal(a.steps, 10);
    assert_int_equal(a.n_alignments, 3); /* its own, not the first answer's */
    assert_int_equal(a.alignments[1].source_begin, a.alignments[1].target_begin);
    dg_job_free(j);
}

static void the_first_answer_stays_if_all_are_wrong(void **state)
{
    const struct dg_translate_options o = {.search = {.alpha = -1}};
    for (uint32_t n = 0; n < 2; n++) {
        struct dg_sentence s;
        struct dg_answers a;
        struct dg_job *j = encoded(text, &o, &s);
        (void)state;
        const struct dg_hypothesis wrong = numberless(&s), other = answer(&s, s.n_source - 1, NULL);
        assert_int_equal(accept(j, &wrong, 1, NULL), DG_EAGAIN);
        assert_int_equal(accept(j, &other, n, NULL), 0);
        finish(j, &a);
        assert_string_equal(a.best[0].text, ".");
        assert_true(a.flags & DG_FLAG_NUMBER_MISMATCH);
        dg_job_free(j);
    }
}

/* A caller who asks for the search's own answers gets them; so does one whose sentence has no
 * number. */
static void there_is_one_round(void **state)
{
    static const struct {
        const char *source;
        struct dg_translate_options o;
    } cases[] = {{"The boats.", {.search = {.alpha = -1}}},
        {text, {.search = {.alpha = -1}, .keep_loops = true}},
        {text, {.search = {.alpha = -1, .n_best = 2}}},
        {text, {.search = {.alpha = -1, .beam = 1}}},
        {text, {.search = {.alpha = -1, .sampling = {.temperature = 1}}}},
        {text, {.search = {.alpha = -1}, .prefix = "."}}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_sentence s;
        struct dg_job *j = encoded(cases[i].source, &cases[i].o, &s);
        const struct dg_hypothesis wrong = numberless(&s);
        assert_int_equal(accept(j, &wrong, 1, NULL), 0);
        dg_job_free(j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_best_answer_with_the_numbers_is_taken),
        cmocka_unit_test(the_first_answer_stays_if_all_are_wrong),
        cmocka_unit_test(there_is_one_round)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
