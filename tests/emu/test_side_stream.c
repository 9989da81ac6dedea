/* Encoder passes run beside steps, in a stream of their own, and one product makes the keys and
 * values of all decoder layers: the answers are, bit for bit, those of a single stream and of one
 * product per layer. The emulated streams wait for each other as a device's do: late, and no more
 * than they are told to. Without those waits the answers differ, so a missing wait would show. */
#include "tests/emu/search_engine.h"
#include "tests/emu/counters.h"

static struct {
    struct dg_config c;
    struct random_model m;
    struct sentence host[SENTENCES];
} x;

/* even: late steps, immediate passes; odd: late passes, immediate steps. */
static const char *const late[] = {"even", "odd"};

/* odd: the host must search some sentences, and with them all others. */
static void open_model(struct dg_config c, bool odd)
{
    x.c = c;
    make_sentences(&x.c, x.host, odd, 11);
    random_model_open(&x.m, &x.c, DG_F32, NULL, MOST_OUT, 5);
}

/* Runs all sentences through an engine; the seed decides when they join, pause, leave and are
 * cancelled. */
static void answer(
    const char *precision, const struct variant *v, struct sentence *all, uint64_t seed)
{
    struct dg_error err = {0};
    struct engine e = open_engine(&x.m, &x.c, precision, v);
    serve(e.e, all, seed);
    if (e.be->ops->status(e.be, &err))
        fail_msg("%s", err.message);
    close_engine(&e);
}

static void test_passes_beside_steps(void **state)
{
    static const struct variant ways[] = {{"host", "even", NULL, NULL},
        {"graph", "odd", NULL, NULL}, {"ops", "1", NULL, NULL}, {"graph", "even", NULL, NULL}};
    (void)state;
    open_model(small(50), true);
    lacks.side_stream = true;
    answer("fp32", &(struct variant){"host", NULL, NULL, NULL}, x.host, 1);
    lacks.side_stream = false;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const unsigned long before = count_of("dg_emu_stream_waits");
        answer("fp32", &ways[i], x.host, 2 + i);
        /* Each pass waits for the steps before it, and steps wait for the pass. */
        assert_true(count_of("dg_emu_stream_waits") - before > SENTENCES);
    }
    random_model_close(&x.m);
}

static void admit(struct engine *e, uint64_t id, uint32_t beam, uint32_t len)
{
    static const int32_t source[] = {5, 6, 7, 2};
    struct dg_error err = {0};
    const struct dg_sentence s = {.source = source,
        .n_source = 4,
        .search = {.beam = beam, .n_best = 1, .alpha = -1, .min_len = len, .max_len = len}};
    if (dg_engine_admit(e->e, id, &s, &err))
        fail_msg("%s", err.message);
}

static uint32_t finished(struct engine *e)
{
    uint32_t n = 0;
    for (const struct dg_result *r; (r = dg_engine_poll(e->e)); n++)
        dg_engine_release(e->e, r);
    return n;
}

/* Returns the log-probability of a sentence that takes over another's place at once, while a step
 * of the other is still running. */
static double after_another(const char *lazy, const char *waits)
{
    set("DRAGOMAN_EMU_WAITS", waits);
    struct engine e = open_engine(&x.m, &x.c, "fp32", &(struct variant){"graph", lazy, NULL, NULL});
    admit(&e, 1, 4, MOST_OUT);
    for (int i = 0; i < 3; i++)
        dg_engine_step(e.e);
    dg_engine_cancel(e.e, 1);
    admit(&e, 2, 1, MOST_OUT);
    while (dg_engine_step(e.e))
        ;
    const struct dg_result *r = dg_engine_poll(e.e);
    assert_non_null(r);
    const double logprob = r->hyps[0].logprob;
    dg_engine_release(e.e, r);
    close_engine(&e);
    set("DRAGOMAN_EMU_WAITS", NULL);
    return logprob;
}

/* Either wait is needed: passes waiting for steps (steps late), and steps waiting for passes. */
static void test_a_missing_wait_shows(void **state)
{
    (void)state;
    open_model(small(50), false);
    const double right = after_another(NULL, NULL);
    for (size_t i = 0; i < 2; i++) {
        assert_true(after_another(late[i], NULL) == right);
        assert_true(after_another(late[i], "off") != right);
    }
    random_model_close(&x.m);
}

/* A lone sentence is never left out of a step. One that joins others is left out until its pass is
 * done, and the others' steps do not wait for it. */
static void test_steps_do_not_wait(void **state)
{
    (void)state;
    open_model(small(50), false);
    struct engine e = open_engine(&x.m, &x.c, "fp32", &(struct variant){"host", "odd", NULL, NULL});
    admit(&e, 1, 1, MOST_OUT);
    assert_int_equal(dg_engine_step(e.e), 1);
    admit(&e, 2, 3, MOST_OUT);
    uint32_t alone = 0, rows;
    /* The pass is as late as it may be: each query advances it by one kernel. */
    while ((rows = dg_engine_step(e.e)) == 1)
        alone++;
    assert_true(alone > 5 && alone < MOST_OUT - 1);
    assert_int_equal(rows, 2); /* its first position, with the other sentence's row */
    assert_int_equal(dg_engine_step(e.e), 4);
    while (dg_engine_step(e.e))
        ;
    assert_int_equal(finished(&e), 2);
    close_engine(&e);
    random_model_close(&x.m);
}

/* A pass that is never reported as done is waited for in the end. */
static void test_nobody_is_left_out_for_ever(void **state)
{
    (void)state;
    open_model(small(50), false);
    set("DRAGOMAN_EMU_QUERY", "never");
    struct engine e = open_engine(&x.m, &x.c, "fp32", &(struct variant){"host", "odd", NULL, NULL});
    for (uint64_t id = 1; id < 6; id++) {
        admit(&e, id, 1, MOST_OUT);
        dg_engine_pause(e.e, id, id > 1);
    }
    assert_int_equal(dg_engine_step(e.e), 1);
    admit(&e, 9, 3, MOST_OUT);
    uint32_t steps = 0;
    for (uint64_t next = 2; dg_engine_step(e.e) == 1; steps++)
        if (finished(&e))
            dg_engine_pause(e.e, next++, false);
    assert_int_equal(steps, 63);
    close_engine(&e);
    set("DRAGOMAN_EMU_QUERY", NULL);
    random_model_close(&x.m);
}

/* A sentence is cancelled while its pass is running; the next one takes its place at once. */
static void test_cancelled_under_way(void **state)
{
    (void)state;
    open_model(small(50), false);
    answer("fp32", &(struct variant){"host", NULL, NULL, NULL}, x.host, 1);
    struct engine e =
        open_engine(&x.m, &x.c, "fp32", &(struct variant){"graph", "odd", NULL, NULL});
    admit(&e, 100, 1, MOST_OUT);
    dg_engine_step(e.e);
    for (uint64_t i = 0; i < 12; i++) {
        admit(&e, 200 + i, 1, 5);
        dg_engine_step(e.e);
        dg_engine_cancel(e.e, 200 + i);
    }
    dg_engine_cancel(e.e, 100);
    serve(e.e, x.host, 2);
    close_engine(&e);
    random_model_close(&x.m);
}

static void check_joined(const char *precision, struct dg_config c)
{
    const size_t layer = (size_t)c.H * (c.Dk + c.Dv), all = c.dec_layers * layer;
    const int type = strcmp(precision, "fp32") ? 14 : 0; /* NVIDIA's numbers for bf16 and fp32 */
    open_model(c, true);
    lacks.joined_weights = true;
    const unsigned long apart = count_products(0, type, layer);
    answer(precision, &(struct variant){"host", NULL, NULL, NULL}, x.host, 1);
    lacks.joined_weights = false;
    const unsigned long one = count_products(0, type, layer), before = count_products(0, type, all);
    assert_true(one > apart);
    answer(precision, &(struct variant){"graph", "1", NULL, NULL}, x.host, 2);
    assert_int_equal(count_products(0, type, layer), one);
    assert_true(count_products(0, type, all) > before);
    random_model_close(&x.m);
}

static void test_one_product_for_all_layers(void **state)
{
    (void)state;
    struct dg_config c = small(49);
    check_joined("fp32", c);
    c.dec_layers = 3;
    c.Dk = 5; /* no multiple of anything: rows and layers are unaligned */
    c.Dv = 8;
    check_joined("bf16", c);
    c.attention_bias = !c.attention_bias;
    check_joined("fp32", c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes_beside_steps),
        cmocka_unit_test(test_a_missing_wait_shows),
        cmocka_unit_test(test_steps_do_not_wait),
        cmocka_unit_test(test_nobody_is_left_out_for_ever),
        cmocka_unit_test(test_cancelled_under_way),
        cmocka_unit_test(test_one_product_for_all_layers),
    };
    return cuda_is_emulated() ? cmocka_run_group_tests(tests, NULL, NULL) : 77;
}
