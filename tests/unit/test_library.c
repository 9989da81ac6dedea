/* The library's public header, with the bundled model: results equal those of the parts below,
 * whatever the batch, the thread and the call. */
#include "include/dragoman.h"
#include "library/internal.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BUNDLE "weights/bundles/en-de-fr"
#define TEXT(s)                                                                                    \
    {                                                                                              \
        s, sizeof(s) - 1                                                                           \
    }

static struct dragoman_model *model;

static const struct dragoman_text texts[] = {TEXT("Two dogs play in the snow."),
    TEXT("A man is riding a bike. A girl is smiling."), TEXT(""), TEXT("12345"),
    TEXT("A girl in a red dress is singing."), TEXT("The train is late.")};
enum { N = sizeof texts / sizeof *texts };

static int open_model(void **state)
{
    struct dragoman_open_options o;
    struct dragoman_error error;
    (void)state;
    dragoman_open_options_init(&o, sizeof o);
    o.device = "cpu";
    o.workers = 2;
    return dragoman_open(BUNDLE, &o, &model, &error);
}

static int close_model(void **state)
{
    (void)state;
    dragoman_close(model);
    return 0;
}

static struct dragoman_results *translated(
    const struct dragoman_text *from, size_t n, const struct dragoman_options *o)
{
    struct dragoman_results *r = NULL;
    struct dragoman_error error;
    if (dragoman_translate(model, from, n, o, &r, &error))
        fail_msg("%s", error.message);
    assert_int_equal(dragoman_results_count(r), n);
    return r;
}

static const char *text_of(const struct dragoman_results *r, size_t i)
{
    return dragoman_result_text(dragoman_results_at(r, i), 0, NULL);
}

static void a_model_says_what_it_is(void **state)
{
    const char *source, *target;
    (void)state;
    assert_string_equal(dragoman_version(), DG_VERSION);
    assert_int_equal(dragoman_abi(), DRAGOMAN_ABI);
    assert_string_equal(dragoman_model_name(model), "en-de-fr");
    assert_int_equal(strlen(dragoman_model_version(model)), 64);
    assert_string_equal(dragoman_model_path(model), BUNDLE);
    assert_string_equal(dragoman_model_device(model), "cpu");
    assert_int_equal(dragoman_model_pair(model, 0, &source, &target), DRAGOMAN_OK);
    assert_string_equal(source, "en");
    assert_string_equal(target, "de");
    assert_int_equal(
        dragoman_model_pair(model, dragoman_model_pairs(model), &source, &target), DRAGOMAN_EINVAL);
}

/* The reference: translate/ alone, one text at a time on one engine. */
static void answers_are_those_of_one_engine_alone(void **state)
{
    struct dragoman_results *all = translated(texts, N, NULL);
    const struct dg_translate_options o = {.search.alpha = -1};
    struct dg_error err = {0};
    struct dg_runner *runner = NULL;
    (void)state;
    assert_int_equal(dg_runner_open(model->translator, 1, 1, NULL, &runner, &err), DG_OK);
    for (size_t i = 0; i < N; i++) {
        struct dg_job *job = NULL;
        struct dg_answers a;
        const struct dragoman_result *r = dragoman_results_at(all, i);
        assert_int_equal(
            dg_job_encode(model->translator, texts[i].data, texts[i].size, &o, &job, &err), DG_OK);
        assert_int_equal(dg_runner_run(runner, &job, 1, NULL, NULL, &err), DG_OK);
        assert_int_equal(dg_job_finish(job, &a, &err), DG_OK);
        assert_string_equal(dragoman_result_text(r, 0, NULL), a.best[0].text);
        assert_true(dragoman_result_score(r, 0) == a.best[0].score);
        assert_int_equal(dragoman_result_flags(r), a.flags);
        assert_int_equal(dragoman_result_sentences(r), a.n_sentences);
        dg_job_free(job);
    }
    dg_runner_close(runner);
    dragoman_results_free(all);
}

/* More texts than an engine has room for: each gets its own answer. */
static void a_batch_larger_than_an_engine(void **state)
{
    enum { MANY = 1500 };
    struct dragoman_results *few = translated(texts, N, NULL), *all;
    struct dragoman_text *many = calloc(MANY, sizeof *many);
    (void)state;
    assert_non_null(many);
    for (size_t i = 0; i < MANY; i++)
        many[i] = texts[(i * 7 + i / 5) % N];
    all = translated(many, MANY, NULL);
    for (size_t i = 0; i < MANY; i++)
        assert_string_equal(text_of(all, i), text_of(few, (i * 7 + i / 5) % N));
    dragoman_results_free(all);
    dragoman_results_free(few);
    free(many);
}

static void lists_alignments_sentences_and_usage(void **state)
{
    struct dragoman_options o;
    struct dragoman_sentence s = {.score = 1};
    struct dragoman_alignment a;
    struct dragoman_usage u;
    (void)state;
    dragoman_options_init(&o, sizeof o);
    o.beam_size = 4;
    o.n_best = 3;
    o.alignments = 1;
    struct dragoman_results *all = translated(texts, 2, &o);
    const struct dragoman_result *r = dragoman_results_at(all, 1);
    assert_int_equal(dragoman_result_count(r), 3);
    assert_true(dragoman_result_score(r, 0) >= dragoman_result_score(r, 1));
    assert_null(dragoman_result_text(r, 3, NULL));
    assert_null(dragoman_results_at(all, 2));
    assert_int_equal(dragoman_result_sentences(r), 2);
    assert_int_equal(dragoman_result_sentence(r, 1, &s, sizeof s), DRAGOMAN_OK);
    assert_int_equal(s.source_begin, 24); /* after "A man is riding a bike. " */
    assert_int_equal(s.source_end, texts[1].size);
    assert_true(s.score < 0 && s.confidence < 0);
    assert_int_equal(dragoman_result_sentence(r, 2, &s, sizeof s), DRAGOMAN_EINVAL);
    assert_true(dragoman_result_alignments(dragoman_results_at(all, 0)) > 3);
    assert_int_equal(dragoman_result_alignment(dragoman_results_at(all, 0), 0, &a), DRAGOMAN_OK);
    assert_true(a.source_begin == 0 && a.source_end == 3); /* Two */
    dragoman_result_usage(r, &u, sizeof u);
    assert_int_equal(u.source_characters, texts[1].size);
    assert_true(
        u.source_tokens > 8 && u.target_tokens > 6 && u.steps > 6 && u.most_steps > u.steps);
    dragoman_results_free(all);
}

static void a_score_is_the_search_s(void **state)
{
    const struct dragoman_text source = texts[0];
    struct dragoman_results *all = translated(&source, 1, NULL), *scores = NULL;
    struct dragoman_error error;
    const char *answer = text_of(all, 0), *token = "";
    const struct dragoman_text target = {answer, strlen(answer)};
    double sum = 0;
    float logprob = 0;
    (void)state;
    if (dragoman_score(model, &source, &target, 1, NULL, &scores, &error))
        fail_msg("%s", error.message);
    const struct dragoman_result *r = dragoman_results_at(scores, 0);
    for (size_t i = 0; i < dragoman_result_tokens(r); i++) {
        token = dragoman_result_token(r, i, &logprob);
        sum += (double)logprob;
    }
    assert_string_equal(token, "</s>");
    assert_float_equal(sum, dragoman_result_score(r, 0), 1e-4); /* floats are summed as doubles */
    assert_null(dragoman_result_token(r, dragoman_result_tokens(r), NULL));
    assert_null(dragoman_result_text(r, 0, NULL));
    dragoman_results_free(scores);
    dragoman_results_free(all);
}

struct heard {
    char sentences[N][256], results[N][256];
    size_t n_sentences[N], n_results, end_after;
    double confidence[N];
};

static int hear_sentence(
    void *arg, size_t text, const char *answer, size_t length, const struct dragoman_sentence *s)
{
    struct heard *h = arg;
    assert_int_equal(strlen(answer), length);
    assert_true(s->source_end <= texts[text].size);
    strcat(h->sentences[text], h->n_sentences[text]++ ? " " : "");
    strcat(h->sentences[text], answer);
    h->confidence[text] += s->confidence;
    return 0;
}

static int hear_result(void *arg, size_t text, const struct dragoman_result *r)
{
    struct heard *h = arg;
    snprintf(h->results[text], sizeof h->results[text], "%s", dragoman_result_text(r, 0, NULL));
    return ++h->n_results == h->end_after;
}

/* The sum over its sentences. */
static double confidence_of(const struct dragoman_result *r)
{
    struct dragoman_sentence s;
    double sum = 0;
    for (size_t i = 0; dragoman_result_sentence(r, i, &s, sizeof s) == DRAGOMAN_OK; i++)
        sum += s.confidence;
    return sum;
}

static void a_stream_tells_of_each_sentence_and_text(void **state)
{
    struct dragoman_results *all = translated(texts, N, NULL);
    struct heard *h = calloc(1, sizeof *h);
    struct dragoman_stream stream;
    struct dragoman_error error;
    (void)state;
    dragoman_stream_init(&stream, sizeof stream);
    stream.arg = h;
    stream.sentence = hear_sentence;
    stream.result = hear_result;
    assert_int_equal(
        dragoman_translate_stream(model, texts, N, NULL, &stream, &error), DRAGOMAN_OK);
    assert_int_equal(h->n_results, N);
    assert_int_equal(h->n_sentences[1], 2);
    for (size_t i = 0; i < N; i++) {
        assert_string_equal(h->results[i], text_of(all, i));
        if (dragoman_result_sentences(dragoman_results_at(all, i))) /* "12345" has none */
            assert_string_equal(h->sentences[i], text_of(all, i));
        assert_true(h->confidence[i] == confidence_of(dragoman_results_at(all, i)));
    }
    assert_true(h->confidence[1] < 0);
    memset(h, 0, sizeof *h);
    h->end_after = 2;
    assert_int_equal(
        dragoman_translate_stream(model, texts, N, NULL, &stream, &error), DRAGOMAN_ECANCELED);
    assert_int_equal(error.code, DRAGOMAN_ECANCELED);
    assert_int_equal(h->n_results, 2);
    dragoman_results_free(all);
    free(h);
}

static int count_to(void *arg, size_t finished, size_t n)
{
    size_t *left = arg;
    assert_true(finished <= n);
    return --*left == 0;
}

static void progress_counts_and_can_end_a_call(void **state)
{
    struct dragoman_options o;
    struct dragoman_results *r = NULL;
    struct dragoman_error error;
    size_t left = 100;
    (void)state;
    dragoman_options_init(&o, sizeof o);
    o.progress = count_to;
    o.progress_arg = &left;
    dragoman_results_free(translated(texts, N, &o));
    /* the two texts without a sentence took a single call, the others one for each of 5 sentences
     */
    assert_int_equal(left, 100 - 5 - 1);
    left = 2;
    assert_int_equal(dragoman_translate(model, texts, N, &o, &r, &error), DRAGOMAN_ECANCELED);
    assert_null(r);
    left = 1; /* in the midst of a text of two sentences */
    assert_int_equal(dragoman_translate(model, &texts[1], 1, &o, &r, &error), DRAGOMAN_ECANCELED);
    assert_null(r);
    dragoman_results_free(translated(texts, N, NULL)); /* the engines are free again */
}

/* A caller with an older header knows fewer options, one with a newer header more. */
static void any_seed_will_do(void **state)
{
    static const uint64_t seeds[] = {0, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
    struct dragoman_options o;
    (void)state;
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        dragoman_options_init(&o, sizeof o);
        o.seed = seeds[i];
        dragoman_results_free(translated(texts, 1, &o)); /* without effect */
        o.beam_size = 1;
        o.temperature = 1;
        struct dragoman_results *a = translated(texts, 1, &o), *b = translated(texts, 1, &o);
        assert_string_equal(text_of(a, 0), text_of(b, 0));
        dragoman_results_free(a);
        dragoman_results_free(b);
    }
}

static void options_of_other_versions(void **state)
{
    struct {
        struct dragoman_options known;
        uint64_t newer;
    } o;
    struct dragoman_results *r = NULL;
    struct dragoman_error error;
    (void)state;
    dragoman_options_init(&o.known, sizeof o);
    assert_int_equal(o.known.size, sizeof o);
    dragoman_results_free(translated(texts, 1, &o.known));
    o.newer = 1;
    assert_int_equal(dragoman_translate(model, texts, 1, &o.known, &r, &error), DRAGOMAN_EUNSUP);
    memset(&o, 0xff, sizeof o); /* bytes beyond the caller's size are not read */
    dragoman_options_init(&o.known, offsetof(struct dragoman_options, beam_size));
    dragoman_results_free(translated(texts, 1, &o.known));
    memset(&o, 0, sizeof o);
    assert_int_equal(dragoman_translate(model, texts, 1, &o.known, &r, &error), DRAGOMAN_EINVAL);
    assert_non_null(strstr(error.message, "dragoman_options_init"));
}

static void a_glossary_is_kept_to(void **state)
{
    const struct dragoman_text source = TEXT("dogs"), target = TEXT("Vierbeiner");
    struct dragoman_glossary *g = NULL;
    struct dragoman_options o;
    struct dragoman_error error;
    (void)state;
    dragoman_options_init(&o, sizeof o);
    assert_int_equal(dragoman_glossary_new(&source, &target, 1, &g, &error), DRAGOMAN_OK);
    o.glossary = g;
    o.target_prefix = ""; /* none */
    struct dragoman_results *r = translated(texts, 1, &o);
    assert_non_null(strstr(text_of(r, 0), "Vierbeiner"));
    dragoman_results_free(r);
    dragoman_glossary_free(g);
}

struct caller {
    pthread_t thread;
    const struct dragoman_results *want;
    struct dragoman_options options;
    size_t first, wrong;
};

static void *translate_some(void *arg)
{
    struct caller *c = arg;
    for (size_t round = 0; round < 3; round++) {
        struct dragoman_results *r = NULL;
        const size_t n = N - c->first;
        if (dragoman_translate(model, texts + c->first, n, &c->options, &r, NULL))
            c->wrong++;
        for (size_t i = 0; r && i < n; i++)
            c->wrong += strcmp(text_of(r, i), text_of(c->want, c->first + i)) != 0;
        dragoman_results_free(r);
    }
    return NULL;
}

static int refuse(void *arg, size_t finished, size_t n)
{
    (void)arg, (void)finished, (void)n;
    return 1;
}

/* Also beside a thread whose calls are cancelled. */
static void several_threads_share_a_model(void **state)
{
    enum { CALLERS = 5 };
    struct caller callers[CALLERS] = {{.first = 0}};
    struct dragoman_results *want = translated(texts, N, NULL);
    (void)state;
    for (size_t i = 0; i < CALLERS; i++) {
        callers[i].want = want;
        callers[i].first = i % N;
        dragoman_options_init(&callers[i].options, sizeof callers[i].options);
        if (i == CALLERS - 1)
            callers[i].options.progress = refuse;
        assert_int_equal(pthread_create(&callers[i].thread, NULL, translate_some, &callers[i]), 0);
    }
    for (size_t i = 0; i < CALLERS; i++) {
        pthread_join(callers[i].thread, NULL);
        assert_int_equal(callers[i].wrong, i == CALLERS - 1 ? 3 : 0);
    }
    dragoman_results_free(want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_model_says_what_it_is),
        cmocka_unit_test(answers_are_those_of_one_engine_alone),
        cmocka_unit_test(a_batch_larger_than_an_engine),
        cmocka_unit_test(lists_alignments_sentences_and_usage),
        cmocka_unit_test(a_score_is_the_search_s),
        cmocka_unit_test(a_stream_tells_of_each_sentence_and_text),
        cmocka_unit_test(progress_counts_and_can_end_a_call), cmocka_unit_test(any_seed_will_do),
        cmocka_unit_test(options_of_other_versions), cmocka_unit_test(a_glossary_is_kept_to),
        cmocka_unit_test(several_threads_share_a_model)};
    return cmocka_run_group_tests(tests, open_model, close_model);
}
