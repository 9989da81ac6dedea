/* translate/search/read_back.h and translate/accept/rerank.h: the rounds of a sentence whose
 * answers are read back, and the order that they give. The results are invented here. */
#include "kernels/device.h"
#include "translate/translate.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define BUNDLE "weights/bundles/en-de-fr"

static struct dg_backend *be;
static struct dg_translator *translator;
static const float logprob[64] = {0};

static int set_up(void **state)
{
    const struct dg_device cpu = {.threads = 1};
    struct dg_error err = {0};
    (void)state;
    if (dg_device_open(&cpu, &be, &err) || dg_translator_open(BUNDLE, be, 512, &translator, &err))
        fail_msg("%s", err.message);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    dg_translator_close(translator);
    dg_device_close(be);
    return 0;
}

static const struct dg_translate_options options = {
    .source = "en", .target = "de", .search = {.alpha = -1}, .rerank = true};

static struct dg_job *encoded(const char *text, const struct dg_translate_options *o)
{
    struct dg_job *j = NULL;
    struct dg_error err = {0};
    if (dg_job_encode(translator, text, strlen(text), o, &j, &err))
        fail_msg("%s", err.message);
    return j;
}

/* An answer of n pieces, </s> included, whose other pieces are `piece`. */
struct answer {
    int32_t ids[16];
};

static struct dg_hypothesis answer(struct answer *a, const char *piece, uint32_t n, double score)
{
    for (uint32_t i = 0; i < n; i++)
        a->ids[i] = dg_tokenizer_id(dg_translator_target(translator), i + 1 < n ? piece : "</s>");
    return (struct dg_hypothesis){
        .ids = a->ids, .token_logprob = logprob, .n = n, .score = score, .logprob = score * n};
}

static int accept(struct dg_job *j, const struct dg_hypothesis *hyps, uint32_t n)
{
    struct dg_error err = {0};
    const struct dg_result r = {.hyps = hyps, .n_hyps = n, .steps = 5};
    return dg_job_accept(j, 0, &r, &err);
}

/* A round of a reading: the sentence has this mean log-probability. */
static int read_back(struct dg_job *j, double mean)
{
    const struct dg_hypothesis h = {.token_logprob = logprob, .n = 4, .logprob = 4 * mean};
    return accept(j, &h, mean > -100);
}

static struct dg_answers finished(struct dg_job *j)
{
    struct dg_answers a;
    struct dg_error err = {0};
    if (dg_job_finish(j, &a, &err))
        fail_msg("%s", err.message);
    return a;
}

static void each_answer_is_read_and_the_best_sum_wins(void **state)
{
    struct dg_translate_options o = options;
    struct dg_job *j;
    struct dg_sentence search, s;
    struct answer of[4];
    (void)state;
    o.search.n_best = 3;
    j = encoded("Two dogs.", &o);
    dg_job_sentence(j, 0, &search);
    assert_int_equal(search.search.beam, DG_RERANK_BEAM);
    assert_int_equal(search.search.n_best, DG_RERANK_BEAM);
    assert_false(search.forced);
    const struct dg_hypothesis hyps[] = {answer(&of[0], "▁Hund", 3, -1),
        answer(&of[1], "▁Haus", 5, -1.1), answer(&of[2], "▁Auto", 4, -1.2),
        answer(&of[3], "▁Tag", 1, -1.3)};
    assert_int_equal(accept(j, hyps, 4), DG_EAGAIN);
    /* The longest first; the empty one is not read. */
    for (uint32_t n = 5; n >= 3; n--) {
        dg_job_sentence(j, 0, &s);
        assert_true(s.forced);
        assert_int_equal(s.n_source, n + 1); /* a tag for the language */
        assert_int_equal(s.source[s.n_source - 1], search.source[search.n_source - 1]);
        assert_int_equal(s.n_prefix, search.n_source - 1); /* the sentence without its tag */
        assert_memory_equal(s.prefix, search.source + 1, s.n_prefix * sizeof *s.prefix);
        assert_memory_not_equal(s.source, search.source, sizeof *s.source);
        assert_int_equal(read_back(j, n == 5 ? -1 : n == 4 ? -0.2 : -3), n == 3 ? 0 : DG_EAGAIN);
    }
    const struct dg_answers a = finished(j);
    assert_int_equal(a.n_best, 3);
    assert_string_equal(a.best[0].text, "Auto Auto Auto");      /* -1.2 - 0.4 * 0.2 */
    assert_string_equal(a.best[1].text, "Haus Haus Haus Haus"); /* -1.1 - 0.4 * 1 */
    assert_string_equal(a.best[2].text, "Hund Hund");           /* -1.0 - 0.4 * 3 */
    assert_int_equal(a.steps, 20);
    assert_float_equal(a.best[0].score, -1.2, 1e-9);
    dg_job_free(j);
}

/* The answer of the highest sum repeats itself, the next one lacks the sentence's number: the last
 * one is taken. */
static void a_faulty_answer_is_not_the_first(void **state)
{
    struct answer of[3];
    struct dg_job *j = encoded("The 2 dogs.", &options);
    (void)state;
    const struct dg_hypothesis hyps[] = {answer(&of[0], "▁Haus", 4, -1),
        answer(&of[1], "▁Hund", 9, -1.1), answer(&of[2], "▁2", 3, -5)};
    of[2].ids[1] = dg_tokenizer_id(dg_translator_target(translator), "▁Haus");
    assert_int_equal(accept(j, hyps, 3), DG_EAGAIN);
    assert_int_equal(read_back(j, -0.1), DG_EAGAIN);
    assert_int_equal(read_back(j, -1), DG_EAGAIN);
    assert_int_equal(read_back(j, -2), 0);
    const struct dg_answers a = finished(j);
    assert_int_equal(a.n_best, 1);
    assert_string_equal(a.best[0].text, "2 Haus");
    assert_int_equal(a.flags & DG_FLAG_NUMBER_MISMATCH, 0);
    dg_job_free(j);
}

static void an_answer_that_cannot_give_the_sentence_is_the_last(void **state)
{
    struct answer of[2];
    struct dg_job *j = encoded("Two dogs.", &options);
    (void)state;
    const struct dg_hypothesis hyps[] = {
        answer(&of[0], "▁Haus", 4, -1), answer(&of[1], "▁Hund", 3, -9)};
    assert_int_equal(accept(j, hyps, 2), DG_EAGAIN);
    assert_int_equal(read_back(j, -INFINITY), DG_EAGAIN);
    assert_int_equal(read_back(j, -20), 0);
    assert_string_equal(finished(j).best[0].text, "Hund Hund");
    dg_job_free(j);
}

static void one_answer_is_not_read(void **state)
{
    struct answer of;
    struct dg_job *j = encoded("Two dogs.", &options);
    (void)state;
    const struct dg_hypothesis only = answer(&of, "▁Hund", 3, -1);
    assert_int_equal(accept(j, &only, 1), 0);
    assert_string_equal(finished(j).best[0].text, "Hund Hund");
    dg_job_free(j);
}

static void memory_for_all_answers_is_counted(void **state)
{
    struct dg_translate_options plain = options;
    (void)state;
    plain.rerank = false;
    struct dg_job *one = encoded("Two dogs.", &plain), *eight = encoded("Two dogs.", &options);
    struct dg_sentence s;
    dg_job_sentence(one, 0, &s);
    assert_true(dg_job_memory(eight) >= dg_job_memory(one) + 7 * s.n_source * sizeof(int32_t));
    dg_job_free(one);
    dg_job_free(eight);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_answer_is_read_and_the_best_sum_wins),
        cmocka_unit_test(a_faulty_answer_is_not_the_first),
        cmocka_unit_test(an_answer_that_cannot_give_the_sentence_is_the_last),
        cmocka_unit_test(one_answer_is_not_read),
        cmocka_unit_test(memory_for_all_answers_is_counted)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
