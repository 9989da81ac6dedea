/* Counters and their text format; tests/api/test_metrics.py reads a real server's. */
#include "server/metrics.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *routes[4][3] = {
    {"GET", "/a", "v1"}, {"POST", "/b", "deepl"}, {"POST", "/c", "v1"}, {"GET", "/b", "deepl"}};

static struct dg_metrics *make(void)
{
    struct dg_metrics *m;
    struct dg_error err = {0};
    assert_int_equal(dg_metrics_open(routes, 4, &m, &err), 0);
    return m;
}

static void expect(struct dg_metrics *m, const char *line)
{
    struct dg_buffer b;
    dg_buffer_init(&b);
    dg_metrics_write(m, NULL, 0, &b);
    assert_false(b.failed);
    const char *at = strstr(b.data, line);
    if (!at || (at > b.data && at[-1] != '\n') || at[strlen(line)] != '\n')
        fail_msg("no line \"%s\" in:\n%s", line, b.data);
    dg_buffer_deinit(&b);
}

/* Returns whether the page has the words. */
static bool has(struct dg_metrics *m, const char *words)
{
    struct dg_buffer b;
    dg_buffer_init(&b);
    dg_metrics_write(m, NULL, 0, &b);
    const bool found = strstr(b.data, words) != NULL;
    dg_buffer_deinit(&b);
    return found;
}

static void counters(void **state)
{
    struct dg_metrics *m = make();
    (void)state;
    expect(m, "dragoman_requests_total{dialect=\"v1\",outcome=\"ok\"} 0");
    dg_metrics_request(m, 0, DG_OUTCOME_OK);
    dg_metrics_request(m, 2, DG_OUTCOME_OK);
    dg_metrics_request(m, 1, DG_OUTCOME_REFUSED);
    dg_metrics_request(m, 4, DG_OUTCOME_OK); /* no route */
    dg_metrics_add(m, DG_COUNT_DECODE_STEPS, 0, 5000000000u);
    unsigned de = dg_metrics_pair(m, "en", "de"), fr = dg_metrics_pair(m, "en", "fr");
    assert_int_not_equal(de, fr);
    assert_int_equal(dg_metrics_pair(m, "en", "de"), de);
    dg_metrics_add(m, DG_COUNT_SENTENCES, fr, 3);
    dg_metrics_http(m, 1,
        &(struct dg_metrics_exchange){
            .status = 200, .seconds = 0.5, .bytes_in = 1024, .bytes_out = 100000});
    dg_metrics_http(m, 1, &(struct dg_metrics_exchange){.status = 418, .seconds = 0.5});
    dg_metrics_http(m, 7, &(struct dg_metrics_exchange){.status = 404, .seconds = 0.5});
    expect(m, "dragoman_requests_total{dialect=\"v1\",outcome=\"ok\"} 2");
    expect(m, "dragoman_requests_total{dialect=\"deepl\",outcome=\"ok\"} 0");
    expect(m, "dragoman_requests_total{dialect=\"deepl\",outcome=\"refused\"} 1");
    expect(m, "dragoman_decode_steps_total 5000000000");
    expect(m, "dragoman_sentences_total{pair=\"en-de\"} 0");
    expect(m, "dragoman_sentences_total{pair=\"en-fr\"} 3");
    expect(m, "dragoman_http_requests_total{route=\"/b\",method=\"POST\",code=\"200\"} 1");
    expect(m, "dragoman_http_requests_total{route=\"/b\",method=\"POST\",code=\"other\"} 1");
    expect(m, "dragoman_http_request_size_bytes_bucket{route=\"/b\",le=\"1024\"} 2");
    expect(m, "dragoman_http_request_size_bytes_bucket{route=\"/b\",le=\"67108864\"} 2");
    expect(m, "dragoman_http_request_size_bytes_sum{route=\"/b\"} 1024");
    expect(m, "dragoman_http_response_size_bytes_bucket{route=\"/b\",le=\"65536\"} 1");
    expect(m, "dragoman_http_response_size_bytes_sum{route=\"/b\"} 100000");
    expect(m, "dragoman_http_request_duration_seconds_sum{route=\"/b\"} 1");
    expect(m, "dragoman_http_requests_total{route=\"other\",method=\"other\",code=\"404\"} 1");
    dg_metrics_close(m);
    dg_metrics_add(NULL, DG_COUNT_SPLIT, 0, 1); /* no counters */
    dg_metrics_request(NULL, 0, DG_OUTCOME_OK);
    dg_metrics_waited(NULL, 0, 0, 1);
    dg_metrics_stepped(NULL, 0, 0, 1);
    dg_metrics_http(NULL, 0, &(struct dg_metrics_exchange){.status = 200, .seconds = 1});
}

/* Histograms of a hundred routes are 270 KB: those of routes that nobody asked for are left out. */
static void routes_that_were_asked_for(void **state)
{
    static const char *const names[] = {
        "request_duration_seconds", "request_size_bytes", "response_size_bytes"};
    struct dg_metrics *m = make();
    char words[120];
    (void)state;
    assert_false(has(m, "route="));
    dg_metrics_http(m, 3, &(struct dg_metrics_exchange){.status = 200, .seconds = 0.5});
    for (size_t i = 0; i < 3; i++) {
        snprintf(words, sizeof words, "# TYPE dragoman_http_%s histogram", names[i]);
        expect(m, words);
        snprintf(words, sizeof words, "dragoman_http_%s_count{route=\"/b\"} 1", names[i]);
        expect(m, words);
    }
    assert_false(has(m, "route=\"/a\""));
    assert_false(has(m, "route=\"other\""));
    dg_metrics_close(m);
}

static void pairs_are_bounded(void **state)
{
    struct dg_metrics *m = make();
    char target[16];
    unsigned last = 0;
    (void)state;
    for (int i = 0; i < 500; i++) {
        snprintf(target, sizeof target, "t%d", i);
        last = dg_metrics_pair(m, "en", target);
        dg_metrics_add(m, DG_COUNT_SENTENCES, last, 1);
    }
    assert_int_equal(dg_metrics_pair(m, "en", "another"), last);
    expect(m, "dragoman_sentences_total{pair=\"other\"} 436");
    dg_metrics_close(m);
}

static void histograms(void **state)
{
    struct dg_metrics *m = make();
    (void)state;
    dg_metrics_observe(
        m, DG_TIME_STAGE, DG_STAGE_DECODE, 0.001); /* a bound is part of its bucket */
    dg_metrics_observe(m, DG_TIME_STAGE, DG_STAGE_DECODE, 0.0011);
    dg_metrics_observe(m, DG_TIME_STAGE, DG_STAGE_DECODE, 1000);
    expect(m, "dragoman_stage_duration_seconds_bucket{stage=\"decode\",le=\"0.001\"} 1");
    expect(m, "dragoman_stage_duration_seconds_bucket{stage=\"decode\",le=\"0.002\"} 2");
    expect(m, "dragoman_stage_duration_seconds_bucket{stage=\"decode\",le=\"80\"} 2");
    expect(m, "dragoman_stage_duration_seconds_bucket{stage=\"decode\",le=\"+Inf\"} 3");
    expect(m, "dragoman_stage_duration_seconds_sum{stage=\"decode\"} 1000.0021");
    expect(m, "dragoman_stage_duration_seconds_count{stage=\"decode\"} 3");
    expect(m, "dragoman_stage_duration_seconds_count{stage=\"encode\"} 0");
    dg_metrics_observe(m, DG_SIZE_BATCH_ROWS, 0, 5000);
    expect(m, "dragoman_batch_rows_bucket{le=\"1024\"} 0");
    expect(m, "dragoman_batch_rows_bucket{le=\"+Inf\"} 1");
    dg_metrics_close(m);
}

/* A step of a small model takes less than a millisecond: several bounds are below that. */
static void by_model(void **state)
{
    struct dg_metrics *m = make();
    char name[16];
    (void)state;
    unsigned en = dg_metrics_model(m, "en-de"), fr = dg_metrics_model(m, "en\"fr");
    assert_int_equal(dg_metrics_model(m, "en-de"), en);
    dg_metrics_waited(m, en, 0, 0.0001);
    dg_metrics_waited(m, en, 1, 0.0004);
    dg_metrics_waited(m, en, 1, 0.0016);
    dg_metrics_stepped(m, fr, 3, 0.0007);
    expect(m, "dragoman_queue_wait_seconds_bucket{model=\"en-de\",class=\"interactive\","
              "le=\"0.0001\"} 1");
    expect(
        m, "dragoman_queue_wait_seconds_bucket{model=\"en-de\",class=\"bulk\",le=\"0.00025\"} 0");
    expect(m, "dragoman_queue_wait_seconds_bucket{model=\"en-de\",class=\"bulk\",le=\"0.0005\"} 1");
    expect(m, "dragoman_queue_wait_seconds_bucket{model=\"en-de\",class=\"bulk\",le=\"0.002\"} 2");
    expect(m, "dragoman_queue_wait_seconds_sum{model=\"en-de\",class=\"bulk\"} 0.002");
    expect(m, "dragoman_step_seconds_bucket{model=\"en\\\"fr\",le=\"0.0005\"} 0");
    expect(m, "dragoman_step_seconds_bucket{model=\"en\\\"fr\",le=\"0.001\"} 1");
    expect(m, "dragoman_step_seconds_count{model=\"en-de\"} 0");
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "m%d", i);
        dg_metrics_stepped(m, dg_metrics_model(m, name), 0, 1);
    }
    expect(m, "dragoman_step_seconds_count{model=\"other\"} 138");
    assert_int_equal(dg_metrics_steps(m, 0), 200); /* of all models */
    assert_int_equal(dg_metrics_steps(m, 1), 0);
    assert_int_equal(dg_metrics_steps(m, 3), 1);
    dg_metrics_close(m);
}

static void labels(void **state)
{
    char out[64], small[8];
    const char *const odd[] = {"a", "x\"y\\z\n", "b", "2", NULL};
    (void)state;
    dg_metrics_label(out, sizeof out, odd);
    assert_string_equal(out, "{a=\"x\\\"y\\\\z\\n\",b=\"2\"}");
    /* Cut, not overrun, and still readable by a scraper: whole characters, whole labels. */
    dg_metrics_label(small, sizeof small, odd);
    assert_string_equal(small, "{a=\"x\"}");
    for (size_t cap = 1; cap <= sizeof out; cap++) {
        const char *const name[] = {"model", "\"\xc3\xa4\\\xe2\x82\xac\n", "b", "2", NULL};
        dg_metrics_label(out, cap, name);
        size_t n = strlen(out);
        assert_true(n < cap && (n == 0 || strcmp(out + n - 2, "\"}") == 0));
        assert_true(n < 3 || out[n - 3] != '\\' || out[n - 4] == '\\');
        assert_true(strchr(out, '\xc3') ? strstr(out, "\xc3\xa4") != NULL : true);
        assert_true(strchr(out, '\xe2') ? strstr(out, "\xe2\x82\xac") != NULL : true);
    }
}

static void gauges(void **state)
{
    struct dg_metrics *m = make();
    struct dg_gauge list[] = {{"g", "Help.", false, "{a=\"1\"}", 1.5},
        {"g", "Help.", false, "{a=\"2\"}", 2}, {"h_total", "More.", true, "", 1e15}};
    struct dg_buffer b;
    (void)state;
    dg_buffer_init(&b);
    dg_metrics_write(m, list, 3, &b);
    assert_non_null(
        strstr(b.data, "# HELP g Help.\n# TYPE g gauge\ng{a=\"1\"} 1.5\ng{a=\"2\"} 2\n"
                       "# HELP h_total More.\n# TYPE h_total counter\nh_total 1e+15\n"));
    dg_buffer_deinit(&b);
    dg_metrics_close(m);
}

static void *count_much(void *arg)
{
    for (int i = 0; i < 10000; i++) {
        dg_metrics_add(arg, DG_COUNT_SOURCE_TOKENS, 0, 1);
        dg_metrics_waited(arg, dg_metrics_model(arg, "m"), 0, 0.003);
        dg_metrics_http(arg, 0, &(struct dg_metrics_exchange){.status = 200, .seconds = 0.003});
        dg_metrics_pair(arg, "a", i % 2 ? "b" : "c");
    }
    return NULL;
}

static void many_threads(void **state)
{
    struct dg_metrics *m = make();
    pthread_t threads[4];
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_much, m), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    expect(m, "dragoman_source_tokens_total 40000");
    expect(m, "dragoman_queue_wait_seconds_count{model=\"m\",class=\"interactive\"} 40000");
    expect(m, "dragoman_queue_wait_seconds_sum{model=\"m\",class=\"interactive\"} 120");
    expect(m, "dragoman_http_requests_total{route=\"/a\",method=\"GET\",code=\"200\"} 40000");
    dg_metrics_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counters),
        cmocka_unit_test(routes_that_were_asked_for), cmocka_unit_test(pairs_are_bounded),
        cmocka_unit_test(histograms), cmocka_unit_test(by_model), cmocka_unit_test(labels),
        cmocka_unit_test(gauges), cmocka_unit_test(many_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
