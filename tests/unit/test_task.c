/* server/schedule/task.h: what a sentence costs the queue. */
#include "server/schedule/task.h"

#include "kernels/cpu/cpu.h"
#include "translate/translate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct dg_served served = {.refs = 1};

static uint32_t source_tokens(bool rerank)
{
    static const char text[] = "Two dogs play in the snow.";
    const struct dg_translate_options o = {
        .source = "en", .target = "de", .search = {.alpha = -1}, .rerank = rerank};
    struct dg_job *job = NULL;
    struct dg_task *task = NULL;
    struct dg_error err = {0};
    if (dg_job_encode(served.translator, text, strlen(text), &o, &job, &err) ||
        dg_task_open(&served, &job, 1, &task, &err))
        fail_msg("%s", err.message);
    assert_int_equal(task->n_entries, 1);
    assert_int_equal(task->entries[0].rows, rerank ? DG_RERANK_BEAM : 4);
    const uint32_t n = task->entries[0].source_tokens;
    dg_task_free(task);
    dg_job_free(job);
    return n;
}

/* Reading the answers back takes about as long as the search for them. */
static void a_reranked_sentence_costs_twice(void **state)
{
    struct dg_backend *be = NULL;
    struct dg_error err = {0};
    (void)state;
    if (dg_cpu_open(NULL, &be, &err) ||
        dg_translator_open("weights/bundles/en-de-fr", be, 200, &served.translator, &err))
        fail_msg("%s", err.message);
    const uint32_t plain = source_tokens(false);
    assert_true(plain > 4);
    assert_int_equal(source_tokens(true), 2 * plain);
    dg_translator_close(served.translator);
    dg_cpu_close(be);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_reranked_sentence_costs_twice)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
