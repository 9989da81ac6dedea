/* The simulator: its clock, its queue bound and the kinds of batching, against times worked out by
 * hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "bench/sim/arrivals.h"

#include <stdint.h>

/* 10 us for one row, 20 for two, 40 for four; encoding 100 us for up to 10 pieces. */
static const struct dg_sim_cost by_rows = {.step_us = {2, {1, 2}, {10, 20}}};
static const struct dg_sim_cost flat = {.step_us = {1, {1}, {10}}, .encode_us = {1, {1}, {100}}};

#define US 1000u

struct table {
    struct dg_sim_sentence sentences[8];
    struct dg_sim_request requests[8];
    size_t n;
};

static void add(struct table *t, uint64_t at_us, uint32_t rows, uint32_t steps)
{
    t->sentences[t->n] =
        (struct dg_sim_sentence){.source_tokens = 10, .rows = rows, .steps = steps};
    t->requests[t->n] =
        (struct dg_sim_request){.at_ns = at_us * US, .first = (uint32_t)t->n, .n = 1};
    t->n++;
}

static struct dg_sim_result run_rows(struct table *t, enum dg_sim_batching batching,
    const struct dg_sim_cost *cost, uint32_t rows, uint32_t step_rows, uint64_t queue_tokens)
{
    struct dg_sim_options o = {.batching = batching,
        .workers = 1,
        .max_rows = rows,
        .step_rows = step_rows,
        .max_sentences = 8,
        .queue_tokens = queue_tokens};
    struct dg_sim_result r;
    struct dg_error err = {0};
    if (dg_sim_run(&o, cost, t->sentences, t->requests, t->n, &r, &err))
        fail_msg("%s", err.message);
    return r;
}

static struct dg_sim_result run(struct table *t, enum dg_sim_batching batching,
    const struct dg_sim_cost *cost, uint32_t rows, uint64_t queue_tokens)
{
    return run_rows(t, batching, cost, rows, 0, queue_tokens);
}

static void expect(const struct table *t, const uint64_t *done_us)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->requests[i].done_ns != done_us[i] * US)
            fail_msg("request %zu was done at %.3f us, expected %llu", i,
                (double)t->requests[i].done_ns / US, (unsigned long long)done_us[i]);
}

/* Two sentences together, a third arrives while they run. Steps of n rows take n times 10 us. */
static void batchings_differ_as_they_should(void **state)
{
    (void)state;
    static const struct {
        enum dg_sim_batching batching;
        uint32_t step_rows;
        uint64_t done[3];
        uint64_t rows;
    } cases[] = {
        /* one after another */
        {DG_SIM_CONTINUOUS, 1, {20, 70, 80}, 8},
        /* all waiting ones, as in order of arrival */
        {DG_SIM_CONTINUOUS, 0, {50, 80, 50}, 8},
        /* until 20: a b; until 50: a b c, then a and c leave; then b alone */
        {DG_SIM_FIFO, 0, {50, 80, 50}, 8},
        /* until 40: a b, then b alone until 70, then c */
        {DG_SIM_STATIC_EARLY, 0, {40, 70, 80}, 8},
        {DG_SIM_STATIC_DROP, 0, {70, 70, 80}, 8},
        {DG_SIM_STATIC_PAD, 0, {100, 100, 110}, 11},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct table t = {.n = 0};
        add(&t, 0, 1, 2);
        add(&t, 0, 1, 5);
        add(&t, 5, 1, 1);
        struct dg_sim_result r =
            run_rows(&t, cases[i].batching, &by_rows, 8, cases[i].step_rows, 0);
        print_message("%s\n", dg_sim_batching_name(cases[i].batching));
        expect(&t, cases[i].done);
        assert_int_equal(r.rows, cases[i].rows);
        assert_int_equal(r.sentences, 3);
        assert_int_equal(r.target_tokens, 8);
        assert_int_equal(r.refused, 0);
        assert_int_equal(r.busy_ns, cases[i].rows * 10 * US);
    }
}

/* Encoding is paid once, and only by the step in which a sentence joins; in its first step a beam
 * has one row. */
static void newcomers_are_encoded_and_begin_with_one_row(void **state)
{
    (void)state;
    struct table t = {.n = 0};
    add(&t, 0, 4, 3);
    struct dg_sim_result r = run(&t, DG_SIM_CONTINUOUS, &flat, 4, 0);
    static const uint64_t done[] = {130};
    expect(&t, done);
    assert_int_equal(r.rows, 1 + 4 + 4);
    assert_int_equal(r.steps, 3);
    t.n = 0;
    add(&t, 0, 4, 3);
    t.sentences[0].again = 2; /* encoded once more, again with one row first */
    r = run(&t, DG_SIM_CONTINUOUS, &flat, 4, 0);
    static const uint64_t twice[] = {250};
    expect(&t, twice);
    assert_int_equal(r.rows, 1 + 4 + 4 + 1 + 4);
    assert_int_equal(r.sentences, 1);
    assert_int_equal(r.target_tokens, 5);
    t.n = 0;
    add(&t, 7, 4, 3); /* 10 + 40 + 40 */
    run(&t, DG_SIM_CONTINUOUS, &by_rows, 4, 0);
    static const uint64_t later[] = {97};
    expect(&t, later);
}

/* Costs of attention: source and previous target positions, for every row; pairs of pieces when
 * encoding. */
static void context_costs(void **state)
{
    (void)state;
    const struct dg_sim_cost cost = {
        .cell_ns = 1000, .pair_ns = 10, .outside_us = 2, .request_us = 3};
    struct table t = {.n = 0};
    add(&t, 0, 2, 3);
    run(&t, DG_SIM_CONTINUOUS, &cost, 4, 0);
    /* pairs: 1 us; cells: 10, 2*11, 2*12; three steps, one request outside the engine */
    static const uint64_t done[] = {1 + 10 + 22 + 24 + 3 * 2 + 3};
    expect(&t, done);
}

/* Sentences without room wait; rows and cache blocks alike. */
static void room_is_kept(void **state)
{
    (void)state;
    struct table t = {.n = 0};
    add(&t, 0, 4, 2);
    add(&t, 0, 4, 2);
    add(&t, 0, 4, 1);
    static const uint64_t done[] = {120, 240, 350}; /* 100+10, 10, and so on */
    run(&t, DG_SIM_CONTINUOUS, &flat, 7, 0);
    expect(&t, done);

    struct dg_sim_options o = {.workers = 1, .max_rows = 64, .max_sentences = 8, .blocks = 5};
    struct dg_sim_result r;
    struct dg_error err = {0};
    for (size_t i = 0; i < 3; i++)
        t.sentences[i].blocks = 4;
    assert_int_equal(dg_sim_run(&o, &flat, t.sentences, t.requests, t.n, &r, &err), 0);
    expect(&t, done);
    t.sentences[1].blocks = 6;
    assert_int_equal(dg_sim_run(&o, &flat, t.sentences, t.requests, t.n, &r, &err), DG_EINVAL);
}

/* The bound counts waiting pieces; all sentences of a request enter or none. */
static void queue_is_bounded(void **state)
{
    (void)state;
    struct table t = {.n = 0};
    add(&t, 0, 4, 2); /* starts at once */
    add(&t, 1, 4, 2); /* 10 wait */
    add(&t, 2, 4, 2); /* 20 would */
    add(&t, 3, 4, 2);
    t.requests[2].n = 2; /* its two sentences would make 30 */
    t.requests[3].first = 4;
    t.sentences[4] = t.sentences[3];
    struct dg_sim_result r = run(&t, DG_SIM_CONTINUOUS, &flat, 4, 20);
    static const uint64_t done[] = {120, 240, 0, 360};
    expect(&t, done);
    assert_int_equal(r.refused, 1);
    assert_int_equal(r.sentences, 3);
}

/* One request at a time, then two: the next is sent when one is done, whatever its arrival time. */
static void a_closed_loop_asks_when_answered(void **state)
{
    (void)state;
    struct table t = {.n = 0};
    struct dg_sim_cost cost = flat;
    struct dg_sim_options o = {.workers = 1, .max_rows = 8, .max_sentences = 8, .under_way = 1};
    struct dg_sim_result r;
    cost.request_us = 5;
    for (int i = 0; i < 3; i++)
        add(&t, 0, 4, 2);
    assert_int_equal(dg_sim_run(&o, &cost, t.sentences, t.requests, t.n, &r, NULL), 0);
    static const uint64_t alone[] = {125, 250, 375};
    expect(&t, alone);
    assert_int_equal(t.requests[2].at_ns, 250 * US);
    o.under_way = 2;
    o.batching = DG_SIM_FIFO;
    assert_int_equal(dg_sim_run(&o, &cost, t.sentences, t.requests, t.n, &r, NULL), 0);
    static const uint64_t two[] = {125, 125, 250};
    expect(&t, two);
}

/* Two workers do twice as much; the idle one takes the next sentence. */
static void workers_share_the_queue(void **state)
{
    (void)state;
    struct table t = {.n = 0};
    struct dg_sim_options o = {.workers = 2, .max_rows = 1, .max_sentences = 1};
    struct dg_sim_result r;
    add(&t, 0, 1, 3);
    add(&t, 0, 1, 1);
    add(&t, 0, 1, 1);
    assert_int_equal(dg_sim_run(&o, &by_rows, t.sentences, t.requests, t.n, &r, NULL), 0);
    static const uint64_t done[] = {30, 10, 20};
    expect(&t, done);
    assert_int_equal(r.backlog_ns, 10 * US);
    assert_int_equal(r.backlog_sentences, 1);
}

/* The purpose: short sentences beside long ones, at 70 % of the device's capacity, on a device
 * whose step costs the same up to 256 rows. Refilling the batch must clearly beat static batches in
 * latency and throughput. */
static void refilling_pays(void **state)
{
    (void)state;
    const struct dg_sim_cost gpu = {.step_us = {3, {1, 256, 512}, {4000, 4000, 8000}},
        .encode_us = {3, {1, 4096, 8192}, {3000, 3000, 6000}}};
    const double share[DG_SIM_CLASSES] = {0.8, 0.2};
    struct dg_sim_items items;
    struct dg_sim_arrivals a;
    struct dg_sim_result r[2];
    assert_int_equal(dg_sim_items_invent(4, &items, NULL), 0);
    assert_int_equal(
        dg_sim_arrivals_poisson(&items, &(struct dg_sim_poisson){0, 4000, share, -1, 3}, &a, NULL),
        0);
    for (int k = 0; k < 2; k++) {
        struct dg_sim_options o = {.batching = k ? DG_SIM_STATIC_DROP : DG_SIM_CONTINUOUS,
            .workers = 1,
            .max_rows = 256,
            .max_sentences = 64};
        assert_int_equal(dg_sim_run(&o, &gpu, items.sentences, a.list, a.n, &r[k], NULL), 0);
        assert_int_equal(r[k].sentences, 4000);
        assert_int_equal(r[k].target_tokens, r[0].target_tokens);
    }
    print_message("throughput: %.2f times that of static batches\n",
        (double)r[1].end_ns / (double)r[0].end_ns);
    assert_true((double)r[1].end_ns / (double)r[0].end_ns > 1.5);
    dg_sim_arrivals_free(&a);
    dg_sim_items_free(&items);
}

/* As in the queue, beam 8 costs twice its tokens. */
static void a_wide_search_counts_for_more(void **state)
{
    (void)state;
    struct table t = {.n = 0};
    for (int i = 0; i < 3; i++)
        add(&t, 0, 8, 1); /* the first runs, the second waits: 20 of 30 */
    t.requests[1].at_ns = t.requests[2].at_ns = US;
    struct dg_sim_result r = run(&t, DG_SIM_CONTINUOUS, &by_rows, 8, 30);
    assert_int_equal(r.refused, 1);
    assert_int_equal(r.sentences, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batchings_differ_as_they_should),
        cmocka_unit_test(newcomers_are_encoded_and_begin_with_one_row),
        cmocka_unit_test(context_costs),
        cmocka_unit_test(room_is_kept),
        cmocka_unit_test(queue_is_bounded),
        cmocka_unit_test(a_closed_loop_asks_when_answered),
        cmocka_unit_test(workers_share_the_queue),
        cmocka_unit_test(refilling_pays),
        cmocka_unit_test(a_wide_search_counts_for_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
