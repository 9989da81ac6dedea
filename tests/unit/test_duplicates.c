/* The table of waiting sentences: equal sentences find each other, others do not, even if they
 * share a bucket or a key; removing one keeps the rest. The bundled model's vocabulary plans the
 * sentences. */
#include "server/schedule/duplicates.h"

#include "kernels/cpu/cpu.h"
#include "translate/job/job.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BUNDLE "tests/data/en-de"

static struct dg_backend *be;
static struct dg_served served = {.refs = 1}, other = {.refs = 1};
static struct dg_duplicates *duplicates;

static int set_up(void **state)
{
    struct dg_error err = {0};
    (void)state;
    duplicates = calloc(1, sizeof *duplicates);
    assert_non_null(duplicates);
    if (dg_cpu_open(NULL, &be, &err) ||
        dg_translator_open(BUNDLE, be, 200, &served.translator, &err))
        fail_msg("%s", err.message);
    other.translator = served.translator;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    dg_translator_close(served.translator);
    dg_cpu_close(be);
    free(duplicates);
    return 0;
}

/* One sentence submitted for translation. */
struct asked {
    struct dg_job *job;
    struct dg_task *task;
    struct dg_entry *e;
};

static struct asked ask_as(
    struct dg_served *model, const char *text, const struct dg_translate_options *o)
{
    struct asked a = {0};
    struct dg_error err = {0};
    if (dg_job_encode(model->translator, text, strlen(text), o, &a.job, &err) ||
        dg_task_open(model, &a.job, 1, &a.task, &err))
        fail_msg("%s", err.message);
    assert_int_equal(a.task->n_entries, 1);
    a.e = &a.task->entries[0];
    return a;
}

static struct asked ask(const char *text)
{
    const struct dg_translate_options o = {.search.alpha = -1};
    return ask_as(&served, text, &o);
}

static void forget(struct asked *a)
{
    dg_task_free(a->task);
    dg_job_free(a->job);
}

static void equal_ones_find_each_other(void **state)
{
    struct asked a = ask("Two dogs play."), same = ask("Two dogs play."),
                 another = ask("Two cats play.");
    (void)state;
    assert_null(dg_duplicates_find(duplicates, a.e));
    dg_duplicates_put(duplicates, a.e);
    assert_ptr_equal(dg_duplicates_find(duplicates, a.e), a.e);
    assert_ptr_equal(dg_duplicates_find(duplicates, same.e), a.e);
    assert_null(dg_duplicates_find(duplicates, another.e));
    dg_duplicates_remove(duplicates, a.e);
    assert_null(dg_duplicates_find(duplicates, same.e));
    assert_null(a.e->same_key);
    forget(&a), forget(&same), forget(&another);
}

static void whatever_changes_the_answer_makes_another_one(void **state)
{
    const struct dg_translate_options wider = {.search = {.alpha = -1, .beam = 7}},
                                      longer = {.search.alpha = 2},
                                      aligned = {.search.alpha = -1, .alignments = true},
                                      begun = {.search.alpha = -1, .prefix = "Zwei"};
    const char *text = "Two dogs play.";
    struct asked a = ask(text),
                 list[] = {ask_as(&served, text, &wider), ask_as(&served, text, &longer),
                     ask_as(&served, text, &aligned), ask_as(&served, text, &begun),
                     ask_as(&other, text, &(struct dg_translate_options){.search.alpha = -1})};
    (void)state;
    dg_duplicates_put(duplicates, a.e);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        assert_null(dg_duplicates_find(duplicates, list[i].e));
        dg_duplicates_put(duplicates, list[i].e);
        assert_ptr_equal(dg_duplicates_find(duplicates, list[i].e), list[i].e);
        dg_duplicates_remove(duplicates, list[i].e);
        forget(&list[i]);
    }
    assert_ptr_equal(dg_duplicates_find(duplicates, a.e), a.e);
    dg_duplicates_remove(duplicates, a.e);
    forget(&a);
}

/* Two pairs of a bundle may give a text the same ids, and only one of them use the shortlist. */
static void a_pair_without_the_shortlist_asks_for_another_one(void **state)
{
    struct asked a = ask("Two dogs play."), whole = ask("Two dogs play.");
    (void)state;
    whole.job->whole_vocabulary = !a.job->whole_vocabulary;
    dg_duplicates_put(duplicates, a.e);
    assert_null(dg_duplicates_find(duplicates, whole.e));
    dg_duplicates_remove(duplicates, a.e);
    forget(&a), forget(&whole);
}

/* Makes n different sentences, all in one bucket; every second one even has its neighbour's key. */
static void crowd(struct asked *list, size_t n)
{
    char text[32];
    for (size_t i = 0; i < n; i++) {
        snprintf(text, sizeof text, "Number %zu plays.", i);
        list[i] = ask(text);
        list[i].e->key = 1 + 2 * (uint64_t)DG_DUPLICATES_BUCKETS * (i / 2);
    }
}

static void one_bucket_holds_many(void **state)
{
    enum { N = 9 };
    struct asked list[N];
    (void)state;
    crowd(list, N);
    for (size_t gone = 0; gone < N; gone++) { /* first, last, and all between */
        for (size_t i = 0; i < N; i++)
            dg_duplicates_put(duplicates, list[i].e);
        dg_duplicates_remove(duplicates, list[gone].e);
        for (size_t i = 0; i < N; i++)
            assert_ptr_equal(
                dg_duplicates_find(duplicates, list[i].e), i == gone ? NULL : list[i].e);
        for (size_t i = 0; i < N; i++)
            if (i != gone)
                dg_duplicates_remove(duplicates, list[i].e);
        for (size_t i = 0; i < DG_DUPLICATES_BUCKETS; i++)
            assert_null(duplicates->buckets[i]);
    }
    for (size_t i = 0; i < N; i++)
        forget(&list[i]);
}

static void without_a_key_there_are_no_duplicates(void **state)
{
    struct asked a = ask("Two dogs play."), b = ask("Two dogs play.");
    (void)state;
    a.e->key = b.e->key = 0;
    dg_duplicates_put(duplicates, a.e);
    assert_null(dg_duplicates_find(duplicates, a.e));
    assert_null(dg_duplicates_find(duplicates, b.e));
    dg_duplicates_remove(duplicates, a.e);
    for (size_t i = 0; i < DG_DUPLICATES_BUCKETS; i++)
        assert_null(duplicates->buckets[i]);
    forget(&a), forget(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_ones_find_each_other),
        cmocka_unit_test(whatever_changes_the_answer_makes_another_one),
        cmocka_unit_test(a_pair_without_the_shortlist_asks_for_another_one),
        cmocka_unit_test(one_bucket_holds_many),
        cmocka_unit_test(without_a_key_there_are_no_duplicates),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
