/* Errors of the library's calls: the code, the option or the text that is at fault; calls in a
 * process that did not open the model. */
#include "include/dragoman.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define BUNDLE "weights/bundles/en-de-fr"
#define TEXT(s)                                                                                    \
    {                                                                                              \
        s, sizeof(s) - 1                                                                           \
    }

static struct dragoman_model *model;

static const struct dragoman_text texts[] = {TEXT("Two dogs play in the snow.")};

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

static void wrong_arguments_are_named(void **state)
{
    struct dragoman_options o;
    struct dragoman_results *r = NULL;
    struct dragoman_error error;
    struct dragoman_model *none = NULL;
    struct dragoman_text bad[2] = {texts[0], TEXT("\xff\xfe")};
    (void)state;
    dragoman_options_init(&o, sizeof o);
    o.target = "xx";
    assert_int_equal(dragoman_translate(model, texts, 1, &o, &r, &error), DRAGOMAN_EINVAL);
    assert_string_equal(error.field, "target");
    assert_non_null(strstr(error.message, "\"xx\""));
    dragoman_options_init(&o, sizeof o);
    o.beam_size = 33;
    assert_int_equal(dragoman_translate(model, texts, 1, &o, &r, &error), DRAGOMAN_EINVAL);
    assert_string_equal(error.field, "beam_size");
    dragoman_options_init(&o, sizeof o);
    o.format = 99;
    assert_int_equal(dragoman_translate(model, texts, 1, &o, &r, &error), DRAGOMAN_EINVAL);
    assert_string_equal(error.field, "format");
    assert_int_equal(error.index, -1);
    assert_int_equal(dragoman_translate(model, bad, 2, NULL, &r, &error), DRAGOMAN_EINVAL);
    assert_int_equal(error.index, 1);
    assert_null(r);
    assert_int_equal(dragoman_translate(model, bad, 2, NULL, &r, NULL), DRAGOMAN_EINVAL);
    assert_int_equal(dragoman_open("no-such-model", NULL, &none, &error), DRAGOMAN_ENOTFOUND);
    assert_null(none);
    assert_int_equal(dragoman_open("tests/unit", NULL, &none, &error), DRAGOMAN_ENOTFOUND);
}

/* No number is silently another one, and none takes memory without end. */
static void numbers_out_of_range_are_named(void **state)
{
    static const double temperatures[] = {-0.5, (double)NAN};
    struct dragoman_options o;
    struct dragoman_open_options open;
    struct dragoman_results *r = NULL;
    struct dragoman_model *none = NULL;
    struct dragoman_error error;
    (void)state;
    for (int i = 0; i < 2; i++) {
        dragoman_options_init(&o, sizeof o);
        o.temperature = temperatures[i];
        assert_int_equal(dragoman_translate(model, texts, 1, &o, &r, &error), DRAGOMAN_EINVAL);
        assert_string_equal(error.field, "temperature");
    }
    dragoman_open_options_init(&open, sizeof open);
    open.max_length = 4097;
    assert_int_equal(dragoman_open(BUNDLE, &open, &none, &error), DRAGOMAN_EINVAL);
    assert_string_equal(error.field, "max_length");
    dragoman_open_options_init(&open, sizeof open);
    open.max_beam_size = 33;
    assert_int_equal(dragoman_open(BUNDLE, &open, &none, &error), DRAGOMAN_EINVAL);
    assert_string_equal(error.field, "max_beam_size");
    assert_null(none);
}

/* Names and languages are looked up in a folder, which cannot be read without a free descriptor. */
static void the_reason_why_models_cannot_be_looked_up(void **state)
{
    static const char *const names[] = {"en-de", "en-de-fr", BUNDLE};
    struct rlimit before, few;
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = (struct rlimit){3, before.rlim_max};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct dragoman_model *none = NULL;
        struct dragoman_error error;
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        const int rc = dragoman_open(names[i], NULL, &none, &error);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        assert_int_equal(rc, DRAGOMAN_EIO);
        assert_non_null(strstr(error.message, "Too many open files"));
    }
}

/* Options that say how to search mean nothing for a score; its languages and tokens do. */
static void a_score_takes_no_options_of_a_search(void **state)
{
    static const struct dragoman_text target[] = {TEXT("Zwei Hunde spielen im Schnee.")};
    struct dragoman_results *plain, *same;
    struct dragoman_options o;
    (void)state;
    dragoman_options_init(&o, sizeof o);
    o.beam_size = 99;
    o.n_best = 4;
    o.temperature = 1;
    o.format = DRAGOMAN_MARKDOWN;
    o.alignments = 1;
    assert_int_equal(dragoman_score(model, texts, target, 1, NULL, &plain, NULL), DRAGOMAN_OK);
    assert_int_equal(dragoman_score(model, texts, target, 1, &o, &same, NULL), DRAGOMAN_OK);
    assert_true(dragoman_result_score(dragoman_results_at(plain, 0), 0) ==
                dragoman_result_score(dragoman_results_at(same, 0), 0));
    dragoman_results_free(same);
    dragoman_results_free(plain);
    o.target = "xx";
    assert_int_equal(dragoman_score(model, texts, target, 1, &o, &same, NULL), DRAGOMAN_EINVAL);
}

/* Sampling's top_k used to be ignored without a temperature; languages are found as the server
 * finds them. */
static void a_top_k_needs_a_temperature(void **state)
{
    struct dragoman_results *results = NULL;
    struct dragoman_error error;
    struct dragoman_options o;
    (void)state;
    dragoman_options_init(&o, sizeof o);
    o.top_k = 4;
    assert_int_equal(dragoman_translate(model, texts, 1, &o, &results, &error), DRAGOMAN_EINVAL);
    assert_string_equal(error.field, "top_k");
    o.temperature = 1;
    o.source = "en-GB";
    o.target = "de_AT";
    assert_int_equal(dragoman_translate(model, texts, 1, &o, &results, &error), DRAGOMAN_OK);
    dragoman_results_free(results);
}

/* A sentence that no engine has room for is found by an engine, not while it is encoded. */
static void a_text_that_engines_refuse_is_named(void **state)
{
    enum { TIMES = 70 };
    static const char phrase[] = "two dogs play in the snow and ";
    static char large[TIMES * sizeof phrase];
    struct dragoman_text some[3] = {texts[0], {large, 0}, texts[0]};
    struct dragoman_options o;
    struct dragoman_results *r = NULL;
    struct dragoman_stream stream;
    struct dragoman_error error;
    (void)state;
    for (int i = 0; i < TIMES; i++)
        strcat(large, phrase);
    some[1].size = strlen(large);
    dragoman_options_init(&o, sizeof o);
    o.one_sentence = true;
    o.beam_size = 32;
    assert_int_equal(dragoman_translate(model, some, 3, &o, &r, &error), DRAGOMAN_ELIMIT);
    assert_int_equal(error.index, 1);
    dragoman_stream_init(&stream, sizeof stream);
    assert_int_equal(
        dragoman_translate_stream(model, some, 3, &o, &stream, &error), DRAGOMAN_ELIMIT);
    assert_int_equal(error.index, 1);
}

static bool translates(void)
{
    struct dragoman_results *r = NULL;
    const bool right = dragoman_translate(model, texts, 1, NULL, &r, NULL) == DRAGOMAN_OK;
    dragoman_results_free(r);
    return right;
}

/* Its engines' threads are not in a forked process, and calls there never returned. */
static void a_forked_process_does_not_use_a_model(void **state)
{
    struct dragoman_stream stream;
    struct dragoman_results *r;
    struct dragoman_error error;
    int status;
    (void)state;
    dragoman_stream_init(&stream, sizeof stream);
    assert_true(translates());
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(60);
        const bool right =
            dragoman_translate(model, texts, 1, NULL, &r, &error) == DRAGOMAN_EINVAL && !r &&
            strstr(error.message, "open a model after the fork") &&
            dragoman_translate_stream(model, texts, 1, NULL, &stream, NULL) == DRAGOMAN_EINVAL &&
            dragoman_score(model, texts, texts, 1, NULL, &r, NULL) == DRAGOMAN_EINVAL;
        dragoman_close(model);
        _exit(right ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(translates());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_arguments_are_named),
        cmocka_unit_test(numbers_out_of_range_are_named),
        cmocka_unit_test(the_reason_why_models_cannot_be_looked_up),
        cmocka_unit_test(a_score_takes_no_options_of_a_search),
        cmocka_unit_test(a_top_k_needs_a_temperature),
        cmocka_unit_test(a_text_that_engines_refuse_is_named),
        cmocka_unit_test(a_forked_process_does_not_use_a_model),
    };
    return cmocka_run_group_tests(tests, open_model, close_model);
}
