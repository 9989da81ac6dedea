/* The stored samples of the last minutes; tests/api/test_page_status.py reads a real server's. */
#include "server/history.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const families[] = {"a_total", "h_seconds_bucket", "h_seconds_count", NULL};

static struct dg_history *make(size_t most)
{
    struct dg_history *h;
    struct dg_error err = {0};
    assert_int_equal(dg_history_open(families, most, &h, &err), 0);
    return h;
}

static void expect(struct dg_history *h, uint64_t *cursor, double at, const char *text)
{
    double when = 0;
    char *got = dg_history_next(h, cursor, &when);
    assert_non_null(got);
    assert_string_equal(got, text);
    assert_true(when == at);
    free(got);
}

static void expect_end(struct dg_history *h, uint64_t *cursor)
{
    double when = 0;
    assert_null(dg_history_next(h, cursor, &when));
}

/* Names are compared as a whole; comments, zeros and other families are left out. */
static void families_alone(void **state)
{
    (void)state;
    struct dg_history *h = make(2);
    uint64_t cursor = 0;
    expect_end(h, &cursor);
    dg_history_add(h, 1.5,
        "# HELP a_total x\n# TYPE a_total counter\na_total 3\na_total{x=\"y z\"} 4\n"
        "a_total{x=\"0\"} 0\na_total_more 5\nb_total 6\na 7\n");
    expect(h, &cursor, 1.5, "a_total 3\na_total{x=\"y z\"} 4\n");
    expect_end(h, &cursor);
    dg_history_close(h);
}

/* Buckets of 0 stay if the histogram has an observation: they show where it has no values. */
static void empty_histograms(void **state)
{
    (void)state;
    struct dg_history *h = make(1);
    uint64_t cursor = 0;
    dg_history_add(h, 1,
        "h_seconds_bucket{r=\"1\",le=\"1\"} 0\nh_seconds_bucket{r=\"1\",le=\"+Inf\"} 0\n"
        "h_seconds_sum{r=\"1\"} 0\nh_seconds_count{r=\"1\"} 0\n"
        "h_seconds_bucket{r=\"2\",le=\"1\"} 0\nh_seconds_bucket{r=\"2\",le=\"+Inf\"} 9\n"
        "h_seconds_sum{r=\"2\"} 20\nh_seconds_count{r=\"2\"} 9\n"
        "h_seconds_bucket{r=\"3\",le=\"1\"} 0\nh_seconds_bucket{r=\"3\",le=\"+Inf\"} 0\n"
        "a_total 1");
    expect(h, &cursor, 1,
        "h_seconds_bucket{r=\"2\",le=\"1\"} 0\nh_seconds_bucket{r=\"2\",le=\"+Inf\"} 9\n"
        "h_seconds_count{r=\"2\"} 9\na_total 1");
    dg_history_close(h);
}

static void the_oldest_leaves(void **state)
{
    (void)state;
    struct dg_history *h = make(3);
    uint64_t early = 0, late = 0;
    dg_history_add(h, 0, "a_total 100\n");
    expect(h, &early, 0, "a_total 100\n");
    for (int i = 1; i <= 4; i++) {
        char text[32];
        snprintf(text, sizeof text, "a_total %d\n", i);
        dg_history_add(h, i, text);
    }
    for (int i = 2; i <= 4; i++) {
        char text[32];
        snprintf(text, sizeof text, "a_total %d\n", i);
        expect(h, &early, i, text); /* 1 was dropped before it was read */
        expect(h, &late, i, text);
    }
    expect_end(h, &early);
    expect_end(h, &late);
    dg_history_close(h);
}

/* A sample of which nothing is kept still has its time: all values left out were 0. */
static void nothing_to_keep(void **state)
{
    (void)state;
    struct dg_history *h = make(2);
    uint64_t cursor = 0;
    dg_history_add(h, 7, "a_total 0\nh_seconds_bucket{le=\"+Inf\"} 0\n");
    expect(h, &cursor, 7, "");
    dg_history_add(h, 8, "");
    expect(h, &cursor, 8, "");
    dg_history_close(h);
    dg_history_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(families_alone),
        cmocka_unit_test(empty_histograms), cmocka_unit_test(the_oldest_leaves),
        cmocka_unit_test(nothing_to_keep)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
