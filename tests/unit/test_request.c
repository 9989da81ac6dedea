/* Request bodies; tests/api/test_errors.py sends many wrong ones to a server. */
#include "server/api/endpoints.h"

#include "server/schedule/queue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct dg_limits limits = {
    .characters = 10, .texts = 3, .beam = 8, .items = 3, .all_characters = 25, .timeout_ms = 5000};
static struct dg_app app;

/* Reads a request; the caller frees it in every case. */
static struct dg_request *read_with(
    const struct dg_endpoint *endpoint, const char *body, int expected, struct dg_error *err)
{
    struct dg_request *r = NULL;
    dg_error_clear(err);
    assert_int_equal(dg_request_open(&app, NULL, &endpoint->kind, &r, err), 0);
    assert_int_equal(dg_endpoint_read(endpoint, r, body, strlen(body), &limits, err), expected);
    return r;
}

static struct dg_request *read_translate(const char *body, int expected, struct dg_error *err)
{
    return read_with(&dg_endpoint_translate, body, expected, err);
}

static void translate(void **state)
{
    struct dg_error err;
    (void)state;
    struct dg_request *r = read_translate(
        "{\"text\":[\"a\",\"\xc3\xa9\"],\"source\":\"en\",\"target\":\"de\",\"beam_size\":5,"
        "\"n_best\":2,\"length_penalty\":0.5,\"scores\":true,\"timeout_ms\":9000}",
        0, &err);
    const struct dg_item *item = r->items;
    assert_int_equal(r->n, 1);
    assert_int_equal(item->n_texts, 2);
    assert_int_equal(item->texts[1].len, 2);
    assert_memory_equal(item->texts[1].s, "\xc3\xa9", 2);
    assert_string_equal(item->source, "en");
    assert_string_equal(item->target, "de");
    assert_int_equal(item->characters, 2);
    assert_int_equal(item->options.search.beam, 5);
    assert_int_equal(item->options.search.n_best, 2);
    assert_true(item->options.search.alpha == 0.5f);
    assert_true(item->options.scores);
    assert_int_equal(r->timeout_ms, 5000); /* no longer than the server's */
    assert_int_equal(r->shape, DG_SHAPE_WHOLE);
    dg_request_free(r);
    r = read_translate(
        "{\"text\":\"a\",\"source\":\"en\",\"target\":\"de\",\"stream\":true}", 0, &err);
    assert_int_equal(r->items->options.search.beam, 0);
    assert_true(r->items->options.search.alpha < 0); /* the model's */
    assert_int_equal(r->timeout_ms, 0);
    assert_int_equal(r->shape, DG_SHAPE_EVENTS);
    dg_request_free(r);
}

static void characters_are_code_points(void **state)
{
    struct dg_error err;
    (void)state;
    /* Ten of four bytes each are ten. */
    dg_request_free(read_translate(
        "{\"text\":\"\U0001F600\U0001F600\U0001F600\U0001F600\U0001F600\U0001F600\U0001F600"
        "\U0001F600\U0001F600\U0001F600\",\"source\":\"en\",\"target\":\"de\"}",
        0, &err));
    dg_request_free(
        read_translate("{\"text\":[\"12345\",\"67890\",\"1\"],\"source\":\"en\",\"target\":\"de\"}",
            DG_ELIMIT, &err));
    assert_string_equal(err.field, "text");
    dg_request_free(read_translate(
        "{\"text\":[\"\",\"\",\"\",\"\"],\"source\":\"en\",\"target\":\"de\"}", DG_ELIMIT, &err));
    /* The prefix of the answer counts, too. */
    dg_request_free(read_translate("{\"text\":\"12345\",\"target_prefix\":\"123456\",\"source\":"
                                   "\"en\",\"target\":\"de\"}",
        DG_ELIMIT, &err));
    assert_string_equal(err.field, "text");
}

static void score(void **state)
{
    struct dg_error err;
    (void)state;
    struct dg_request *r = read_with(&dg_endpoint_score,
        "{\"text\":[\"a\",\"b\"],\"translation\":[\"c\",\"d\"],\"source\":\"en\","
        "\"target\":\"de\"}",
        0, &err);
    assert_int_equal(r->items->n_texts, 2);
    assert_string_equal(r->items->given[1].s, "d");
    assert_int_equal(r->items->characters, 4);
    assert_int_equal(r->items->source_characters, 2);
    dg_request_free(r);
    dg_request_free(read_with(&dg_endpoint_score,
        "{\"text\":[\"a\",\"b\"],\"translation\":\"c\",\"source\":\"en\",\"target\":\"de\"}",
        DG_EINVAL, &err));
    assert_string_equal(err.field, "translation");
}

/* An error in one item affects only that item; an error in the whole body refuses it. */
static void batch(void **state)
{
    struct dg_error err;
    (void)state;
    struct dg_request *r = read_with(&dg_endpoint_batch,
        "{\"items\":[{\"id\":7,\"text\":\"abc\",\"source\":\"en\",\"target\":\"de\"},"
        "{\"text\":\"12345678901\",\"source\":\"en\",\"target\":\"de\"},{\"text\":5}]}",
        0, &err);
    assert_int_equal(r->n, 3);
    assert_null(r->items[0].wrong);
    assert_int_equal(dg_json_int(r->items[0].extra), 7);
    assert_int_equal(r->items[1].wrong->code, DG_ELIMIT);
    assert_string_equal(r->items[1].wrong->field, "items[1].text");
    assert_string_equal(r->items[2].wrong->field, "items[2].text");
    assert_int_equal(r->priority, DG_CLASS_BULK);
    dg_request_free(r);
    dg_request_free(read_with(&dg_endpoint_batch, "{\"items\":[]}", DG_EINVAL, &err));
    assert_string_equal(err.field, "items");
    dg_request_free(read_with(&dg_endpoint_batch, "{\"items\":[1,2,3,4]}", DG_ELIMIT, &err));
}

static void timeouts(void **state)
{
    static const struct {
        const char *text;
        int64_t ms; /* 0: invalid */
    } cases[] = {{"1", 1000}, {"0.5", 500}, {".25", 250}, {"0.001", 1}, {"1e-6", 0},
        {"9999999", 5000}, {"0", 0}, {"-1", 0}, {"", 0}, {"1 s", 0}, {"nan", 0}, {"inf", 0},
        {"1e999", 0}, {"abc", 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_error err = {0};
        int64_t ms = 0;
        int rc = dg_body_timeout_header(cases[i].text, 5000, &ms, &err);
        assert_int_equal(rc == 0, cases[i].ms > 0);
        assert_int_equal(ms, cases[i].ms);
    }
}

/* A deadline that passes just before the models are requested is not a server stop. */
static void an_end_before_the_models(void **state)
{
    struct dg_error err;
    (void)state;
    struct dg_request *r =
        read_translate("{\"text\":\"a\",\"source\":\"en\",\"target\":\"de\"}", 0, &err);
    dg_error_set(&r->items->failed, DG_ECANCELED, "the request is over");
    r->items->n_hops = r->items->opening.n = 1; /* its bundle was found */
    atomic_store(&r->ended, DG_TASK_LATE);
    assert_true(dg_item_get_models(r->items, NULL, &err));
    assert_int_equal(err.code, DG_ETIMEOUT);
    dg_request_free(r);
}

static void an_early_end_says_why(void **state)
{
    static const char *const messages[] = {[DG_TASK_GONE] = "the client closed its connection",
        [DG_TASK_LATE] = "the request's deadline passed",
        [DG_TASK_STOPPED] = "the server is stopping"};
    struct dg_error err;
    (void)state;
    struct dg_request *r =
        read_translate("{\"text\":\"a\",\"source\":\"en\",\"target\":\"de\"}", 0, &err);
    for (int why = DG_TASK_GONE; why <= DG_TASK_STOPPED; why++) {
        dg_error_clear(&err);
        atomic_store(&r->ended, why);
        assert_int_not_equal(dg_item_outcome(r->items, &err), DG_OK);
        assert_string_equal(err.message, messages[why]);
        assert_int_equal(dg_request_check(r, NULL), err.code);
    }
    dg_request_free(r);
}

static void nothing(void *arg)
{
    (void)arg;
}

/* The sentences of a first hop have nothing written, which would read the stream while it is made
 * ready for the second one. */
static void only_the_last_hop_of_a_stream_is_shown(void **state)
{
    const struct dg_queue_options o = {.max_tokens = 100, .policy = dg_batch_policy_default};
    struct dg_served model = {.refs = 1};
    struct dg_error err;
    (void)state;
    assert_int_equal(dg_queue_open(&o, &app.queue, NULL), DG_OK);
    struct dg_request *r =
        read_translate("{\"text\":\"a\",\"source\":\"en\",\"target\":\"fr\"}", 0, &err);
    struct dg_item *item = r->items;
    r->stream = (struct dg_stream *)(void *)r; /* one */
    item->n_hops = 2;
    for (size_t at = 0; at < 2; at++) {
        struct dg_task t = {.model = &model, .n_entries = 1, .n_left = 1};
        struct dg_entry e = {.task = &t, .source_tokens = 1, .rows = 1};
        t.entries = &e;
        pthread_mutex_init(&t.lock, NULL);
        item->hops[at].task = &t;
        atomic_store(&item->at, at);
        assert_int_equal(dg_request_submit(item, &err), DG_OK);
        assert_true((t.progress != NULL) == (at == 1));
        t.done = nothing;
        dg_queue_cancel(app.queue, &t, DG_TASK_GONE);
        pthread_mutex_destroy(&t.lock);
        item->hops[at].task = NULL;
    }
    r->stream = NULL;
    item->n_hops = 0;
    dg_request_free(r);
    dg_queue_close(app.queue);
    app.queue = NULL;
}

/* Reading a long body stops when its deadline passes. */
static void an_end_while_it_is_read(void **state)
{
    struct dg_error err = {0};
    struct dg_request *r = NULL;
    struct dg_buffer body;
    (void)state;
    dg_buffer_init(&body);
    dg_buffer_adds(&body, "{\"text\":\"");
    for (int i = 0; i < 100000; i++)
        dg_buffer_adds(&body, "Once more. ");
    dg_buffer_adds(&body, "\",\"source\":\"en\",\"target\":\"de\"}");
    for (int why = DG_TASK_GONE; why <= DG_TASK_LATE; why++) {
        dg_error_clear(&err);
        assert_int_equal(dg_request_open(&app, NULL, &dg_endpoint_translate.kind, &r, &err), DG_OK);
        atomic_store(&r->ended, why);
        assert_int_not_equal(
            dg_endpoint_read(&dg_endpoint_translate, r, body.data, body.len, &limits, &err), DG_OK);
        assert_int_equal(err.code, why == DG_TASK_LATE ? DG_ETIMEOUT : DG_ECANCELED);
        assert_string_equal(err.field, "");
        assert_null(r->body);
        dg_request_free(r);
    }
    dg_buffer_deinit(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(translate),
        cmocka_unit_test(characters_are_code_points), cmocka_unit_test(score),
        cmocka_unit_test(batch), cmocka_unit_test(timeouts),
        cmocka_unit_test(an_end_before_the_models), cmocka_unit_test(an_early_end_says_why),
        cmocka_unit_test(only_the_last_hop_of_a_stream_is_shown),
        cmocka_unit_test(an_end_while_it_is_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
