/* The simulator: its clock, its queue bound and the ways of batching, against times worked out by
 * hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/sim/arrivals.h"

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

static struct dg_sim_result run(struct table *t, enum dg_sim_batching batching,
    const struct dg_sim_cost *cost, uint32_t rows, uint64_t queue_tokens)
{
    struct dg_sim_options o = {.batching = batching,
        .workers = 1,
        .max_rows = rows,
        .max_sentences = 8,
        .queue_tokens = queue_tokens};
    struct dg_sim_result r;
    struct dg_error err = {0};
    if (dg_sim_run(&o, cost, t->sentences, t->requests, t->n, &r, &err))
        fail_msg("%s", err.message);
    return r;
}

static void expect(const struct table *t, const uint64_t *done_us)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->requests[i].done_ns != done_us[i] * US)
            fail_msg("request %zu was done at %.3f us, expected %llu", i,
                (double)t->requests[i].done_ns / US, (unsigned long long)done_us[i]);
}

/* Two together, a third comes while they run. Steps of n rows take n times 10 us. */
static void batchings_differ_as_they_should(void **state)
{
    (void)state;
    static const struct {
        enum dg_sim_batching batching;
        uint64_t done[3];
        uint64_t rows;
    } cases[] = {
        /* what two rows cost is not known yet: one after another */
        {DG_SIM_CONTINUOUS, {20, 70, 80}, 8},
        /* until 20: a b; until 50: a b c, then a and c leave; then b alone */
        {DG_SIM_FIFO, {50, 80, 50}, 8},
        /* until 40: a b, then b alone until 70, then c */
        {DG_SIM_STATIC_EARLY, {40, 70, 80}, 8},
        {DG_SIM_STATIC_DROP, {70, 70, 80}, 8},
        {DG_SIM_STATIC_PAD, {100, 100, 110}, 11},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct table t = {.n = 0};
        add(&t, 0, 1, 2);
        add(&t, 0, 1, 5);
        add(&t, 5, 1, 1);
        struct dg_sim_result r = run(&t, cases[i].batching, &by_rows, 8, 0);
        print_message("%s\n", dg_sim_batching_name(cases[i].batching));
        expect(&t, cases[i].done);
        assert_int_equal(r.rows, cases[i].rows);
        assert_int_equal(r.sentences, 3);
        assert_int_equal(r.target_tokens, 8);
        assert_int_equal(r.refused, 0);
        assert_int_equal(r.busy_ns, cases[i].rows * 10 * US);
    }
}

/* Encoding is paid once, and only by the step in which somebody joins; in its first step a beam is
 * one row. */
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
    t.sentences[0].again = 2; /* encoded once more, and one row at first again */
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

/* Positions attended to: source and what was written before, for every row. Pairs of pieces when
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

/* What has no room waits; rows and cache blocks alike. */
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

/* The bound is in pieces that wait; all sentences of a request enter or none. */
static void queue_is_bounded(void **state)
{
    (void)state;
    struct table t = {.n = 0};
    add(&t, 0, 4, 2); /* taken up at once */
    add(&t, 1, 4, 2); /* 10 wait */
    add(&t, 2, 4, 2); /* 20 would */
    add(&t, 3, 4, 2);
    t.requests[2].n = 2; /* its two: 30 would */
    t.requests[3].first = 4;
    t.sentences[4] = t.sentences[3];
    struct dg_sim_result r = run(&t, DG_SIM_CONTINUOUS, &flat, 4, 20);
    static const uint64_t done[] = {120, 240, 0, 360};
    expect(&t, done);
    assert_int_equal(r.refused, 1);
    assert_int_equal(r.sentences, 3);
}

/* One at a time, then two: the next comes when one is done, whenever it was to come. */
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

/* Two workers do twice as much; the idle one takes what comes. */
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

/* Rate, shares and seeds of what is drawn; leaving a class out leaves the others' times as they
 * are. */
static void arrivals_are_poisson(void **state)
{
    (void)state;
    struct dg_sim_items items;
    struct dg_sim_arrivals all, some;
    const double share[DG_SIM_CLASSES] = {0.8, 0.2};
    struct dg_error err = {0};
    assert_int_equal(dg_sim_items_invent(4, &items, &err), 0);
    assert_int_equal(dg_sim_arrivals_poisson(
                         &items, &(struct dg_sim_poisson){50, 20000, share, -1, 3}, &all, &err),
        0);
    assert_int_equal(dg_sim_arrivals_poisson(
                         &items, &(struct dg_sim_poisson){50, 20000, share, 0, 3}, &some, &err),
        0);
    assert_int_equal(all.n, 20000);
    /* 400 s, standard deviation sqrt(20000) / 50 = 2.8 s; shares: 16,000, sd 57. Five of them. */
    double seconds = (double)all.list[all.n - 1].at_ns / 1e9, squares = 0;
    assert_true(fabs(seconds - 400) < 14);
    assert_true(some.n > 16000 - 285 && some.n < 16000 + 285);
    /* Gaps are exponential: their mean square is twice their square mean. */
    for (size_t i = 1; i < all.n; i++)
        squares += pow((double)(all.list[i].at_ns - all.list[i - 1].at_ns) / 1e9, 2);
    assert_true(fabs(squares / (double)all.n / (0.02 * 0.02) - 2) < 0.2);
    size_t k = 0;
    for (size_t i = 0; i < all.n; i++) {
        const struct dg_sim_sentence *x = &items.sentences[all.list[i].first];
        bool is_short = all.list[i].class == 0;
        assert_true(is_short ? x->source_tokens >= 5 && x->source_tokens <= 30
                             : x->source_tokens >= 100 && x->source_tokens <= 200);
        if (is_short) {
            assert_true(k < some.n && some.list[k].at_ns == all.list[i].at_ns &&
                        some.list[k].first == all.list[i].first);
            k++;
        }
    }
    assert_int_equal(k, some.n);
    dg_sim_arrivals_free(&all);
    dg_sim_arrivals_free(&some);
    dg_sim_items_free(&items);
}

static void traces_are_read(void **state)
{
    (void)state;
    static const char text[] = "phase\tclass\titem\tdue_ns\tsent_ns\tdone_"
                               "ns\toutcome\tstatus\tsentences\tsource_tokens\ttarget_tokens\n"
                               "0\tshort\t1\t1000\t2000\t5001000\tok\t200\t1\t5\t6\n"
                               "1\tshort\t0\t3000\t3000\t4000\trefused\t503\t1\t5\t6\n"
                               "1\tlong\t2\t4000\t4000\t5000\tvanished\t0\t1\t5\t6\n"
                               "1\tlong\t2\t9000\t9000\t2009000\tok\t200\t1\t5\t6\n";
    static const char items_text[] =
        "[{\"class\":\"short\",\"sentences\":[[5,55,4,7,3,0]]},"
        "{\"class\":\"short\",\"sentences\":[[6,56,4,8,3,0],[7,57,4,9,3,12]]},"
        "{\"class\":\"long\",\"sentences\":[[150,200,4,151,60,0]]}]";
    char path[] = "/tmp/dragoman-test-XXXXXX";
    struct dg_sim_items items;
    struct dg_sim_arrivals a;
    struct dg_error err = {0};
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, sizeof text - 1) == sizeof text - 1);
    close(fd);
    struct dg_json *list = dg_json_parse(items_text, sizeof items_text - 1, &err);
    assert_int_equal(dg_sim_items_read(list, &items, &err), 0);
    dg_json_free(list);
    assert_int_equal(dg_sim_arrivals_trace(&items, path, 1, -1, &a, &err), 0);
    assert_int_equal(a.n, 3);
    assert_int_equal(a.list[0].n, 2);
    assert_int_equal(items.sentences[a.list[0].first + 1].steps, 9);
    assert_int_equal(items.sentences[a.list[0].first + 1].again, 12);
    assert_true(a.real_ms[0] == 5 && a.real_ms[1] < 0 && a.real_ms[2] == 2);
    assert_int_equal(a.list[2].class, 1);
    dg_sim_arrivals_free(&a);
    assert_int_equal(dg_sim_arrivals_trace(&items, path, 10, 1, &a, &err), 0);
    assert_int_equal(a.n, 2);
    assert_int_equal(a.list[1].at_ns, 900);
    dg_sim_arrivals_free(&a);
    items.n = 2; /* the trace names a third */
    assert_int_equal(dg_sim_arrivals_trace(&items, path, 1, -1, &a, &err), DG_EFORMAT);
    dg_sim_arrivals_free(&a);
    dg_sim_items_free(&items);
    unlink(path);
}

static void costs_are_read_and_interpolated(void **state)
{
    (void)state;
    static const char text[] =
        "{\"step\":{\"rows\":[1,256,512],\"us\":[4,4,8]},\"encode\":{\"tokens\":[10],\"us\":[2]}}";
    static const char bad[] =
        "{\"step\":{\"rows\":[4,2],\"us\":[4,4]},\"encode\":{\"tokens\":[10],\"us\":[2]}}";
    struct dg_sim_cost c;
    struct dg_error err = {0};
    struct dg_json *o = dg_json_parse(text, sizeof text - 1, &err);
    assert_int_equal(dg_sim_cost_read(o, &c, &err), 0);
    static const double points[][2] = {
        {0.5, 4}, {100, 4}, {256, 4}, {384, 6}, {512, 8}, {1024, 16}};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        assert_true(fabs(dg_sim_curve_at(&c.step_us, points[i][0]) - points[i][1]) < 1e-9);
    struct dg_sim_step step = {.busy = 1, .rows = 384, .encode_tokens = 5}, nothing = {0};
    assert_int_equal(dg_sim_cost_step_ns(&c, &step), 8000);
    assert_int_equal(dg_sim_cost_step_ns(&c, &nothing), 1);
    assert_int_equal(c.n_busy, 0);
    dg_json_free(o);
    /* Two workers: 1 row takes as long as alone, 11 and more twice as long. Five pieces: 1.4. */
    static const char busy[] =
        "{\"step\":{\"rows\":[1],\"us\":[4]},\"encode\":{\"tokens\":[10],\"us\":[2]},"
        "\"busy\":[{\"workers\":2,\"rows\":[1,11],\"times\":[1,2]},"
        "{\"workers\":4,\"rows\":[1],\"times\":[3]}]}";
    o = dg_json_parse(busy, sizeof busy - 1, &err);
    assert_int_equal(dg_sim_cost_read(o, &c, &err), 0);
    dg_json_free(o);
    static const struct {
        struct dg_sim_step step;
        uint64_t ns;
    } steps[] = {{{1, 11, 0, 0, 0}, 4000}, {{2, 1, 0, 0, 0}, 4000}, {{2, 6, 0, 0, 0}, 6000},
        {{2, 100, 0, 5, 0}, 8000 + 2800}, {{3, 11, 0, 0, 0}, 8000}, {{5, 11, 0, 0, 0}, 12000}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        assert_int_equal(dg_sim_cost_step_ns(&c, &steps[i].step), steps[i].ns);
    struct dg_sim_step alone = {1, 1, 0, 0, 0}, beside = {2, 1, 0, 0, 0};
    dg_sim_cost_scale_busy(&c, 1.5);
    assert_int_equal(dg_sim_cost_step_ns(&c, &alone), 4000);
    assert_int_equal(dg_sim_cost_step_ns(&c, &beside), 6000);
    /* 1 row as before, 11 twice as long, 6 half-way. */
    struct dg_sim_cost tilted = {.step_us = {3, {1, 6, 11}, {10, 20, 30}}};
    dg_sim_cost_tilt(&tilted, 2);
    static const double wanted[] = {10, 30, 60};
    for (size_t i = 0; i < 3; i++)
        assert_true(fabs(tilted.step_us.y[i] - wanted[i]) < 1e-9);
    o = dg_json_parse(bad, sizeof bad - 1, &err);
    assert_int_equal(dg_sim_cost_read(o, &c, &err), DG_EFORMAT);
    assert_string_equal(err.field, "step");
    dg_json_free(o);
}

/* Why all of this: short sentences beside long ones, 70 % of what the device can do, a device whose
 * step costs the same up to 256 rows. Refilling the batch must beat static batches clearly in
 * latency and in throughput. */
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
        cmocka_unit_test(arrivals_are_poisson),
        cmocka_unit_test(traces_are_read),
        cmocka_unit_test(costs_are_read_and_interpolated),
        cmocka_unit_test(refilling_pays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
