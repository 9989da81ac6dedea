/* The simulator's input: random arrivals, traces and costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "bench/sim/arrivals.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

/* Rate, shares and seeds of random arrivals; leaving out a class does not change the others'
 * times. */
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
    /* 400 s, standard deviation sqrt(20000) / 50 = 2.8 s; shares: 16,000, sd 57. Bounds are five of
     * them. */
    double seconds = (double)all.list[all.n - 1].at_ns / 1e9, squares = 0;
    assert_true(fabs(seconds - 400) < 14);
    assert_true(some.n > 16000 - 285 && some.n < 16000 + 285);
    /* Gaps are exponential: their mean square is twice the square of their mean. */
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
    /* Two workers: 1 row takes as long as alone, 11 and more twice as long. Five pieces: 1.4
     * times. */
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrivals_are_poisson),
        cmocka_unit_test(traces_are_read),
        cmocka_unit_test(costs_are_read_and_interpolated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
