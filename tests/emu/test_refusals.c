/* Refusals by a driver or cuBLASLt that is not broken: to record a step as a graph, to multiply a
 * number of rows. The engine gives the same answers as without them, and the log says what is done
 * instead. */
#include "tests/emu/search_engine.h"

#include <stdio.h>
#include <unistd.h>

static const struct variant host = {"host", NULL, NULL, NULL}, graph = {"graph", "1", NULL, NULL};

static struct {
    struct dg_config c;
    struct random_model m;
    struct sentence all[SENTENCES];
    char log[1 << 16];
} x;

/* Runs all sentences through an engine, and captures its log in a file. */
static void answer(const struct variant *v, uint64_t seed)
{
    struct dg_error err = {0};
    FILE *log = tmpfile();
    const int to = dup(STDERR_FILENO);
    assert_true(log && to >= 0 && dup2(fileno(log), STDERR_FILENO) >= 0);
    struct engine engine = open_engine(&x.m, &x.c, "fp32", v);
    serve(engine.e, x.all, seed);
    const int rc = engine.be->ops->status(engine.be, &err);
    close_engine(&engine);
    dup2(to, STDERR_FILENO);
    close(to);
    rewind(log);
    x.log[fread(x.log, 1, sizeof x.log - 1, log)] = 0;
    fclose(log);
    if (rc)
        fail_msg("%s", err.message);
}

static void expect_log(const char *text, bool there)
{
    if (!strstr(x.log, text) == there)
        fail_msg("the log %s \"%s\":\n%s", there ? "lacks" : "has", text, x.log);
}

static void set_bytes(const char *name, size_t bytes)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%zu", bytes);
    set(name, digits);
}

static void forget_answers(void)
{
    for (size_t i = 0; i < SENTENCES; i++)
        x.all[i].known = false;
}

/* Whichever call of the recording is refused, no step is lost and the answers are the host's. */
static void test_recording(void **state)
{
    static const char *const calls[] = {"begin", "end", "instantiate", "launch"};
    (void)state;
    forget_answers();
    answer(&host, 1);
    for (size_t i = 0; i < 4; i++) {
        set("DRAGOMAN_EMU_CAPTURE", calls[i]);
        answer(&graph, 2 + i);
        set("DRAGOMAN_EMU_CAPTURE", NULL);
        expect_log("cuda_graphs_off", true);
        expect_log("error=cudaError", true);
        assert_true(seen.given > 20);
        assert_int_equal(seen.repeated, 0);
    }
}

/* When one number of rows is refused, our kernel computes every product of that shape, so that rows
 * keep their bits. */
static void test_rows_refused_before(void **state)
{
    (void)state;
    forget_answers();
    set("DRAGOMAN_EMU_REFUSE", "check=4093");
    answer(&host, 1);
    expect_log("gemm_own", true);
    expect_log("refused_rows=4093", true);
    answer(&graph, 2);
    expect_log("refused_rows=4093", true);
    assert_true(seen.repeated > seen.given / 2);
    set("DRAGOMAN_EMU_REFUSE", NULL);
}

static void test_one_algorithm_refused(void **state)
{
    (void)state;
    forget_answers();
    answer(&host, 1);
    expect_log("gemm_own", false);
    set("DRAGOMAN_EMU_REFUSE", "check=5:66"); /* here 67 adds up as 66 does */
    answer(&graph, 2);
    expect_log("gemm_own", false);
    set("DRAGOMAN_EMU_REFUSE", NULL);
}

/* The library accepts and then refuses to run; even that does not end the engine. Graphs recorded
 * before are recorded again. */
static void test_rows_refused_late(void **state)
{
    (void)state;
    forget_answers();
    set("DRAGOMAN_EMU_REFUSE", "run=8");
    answer(&graph, 3);
    set("DRAGOMAN_EMU_REFUSE", NULL);
    expect_log("refused_rows=8", true);
    expect_log("cuda_graphs_off", false);
    assert_true(seen.repeated > seen.given / 4);
}

/* A clock decides which algorithm is fastest for a number of rows, but must not decide a row's
 * bits: an algorithm that adds up in another order is used for all numbers of rows or for none. */
static void test_rivals(void **state)
{
    static const struct {
        const char *rivals, *same;
    } cases[] = {{"agree", "same_bits=1 "}, {"differ", "same_bits=0 "}};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        forget_answers();
        set("DRAGOMAN_EMU_RIVALS", cases[i].rivals);
        answer(&(struct variant){"host", NULL, NULL, "cuda-log"}, 1);
        expect_log("gemm_race", true);
        expect_log(cases[i].same, true);
        expect_log(cases[1 - i].same, false);
        answer(&graph, 2);
        assert_true(seen.repeated > seen.given / 2);
        forget_answers(); /* the one remaining algorithm may add up in another order */
        answer(&(struct variant){"graph", "1", NULL, "cuda-log,cuda-one-algorithm"}, 3);
        expect_log("gemm_race", false);
        set("DRAGOMAN_EMU_RIVALS", NULL);
    }
}

/* Bytes that are used on the device while an engine is open. */
static size_t used_by_an_engine(void)
{
    struct dg_memory m;
    struct dg_error err = {0};
    struct engine engine =
        open_engine(&x.m, &x.c, "fp32", &(struct variant){"graph", "1", NULL, NULL});
    if (engine.be->ops->memory(engine.be, &m, &err))
        fail_msg("%s", err.message);
    close_engine(&engine);
    return m.total - m.free;
}

static int open_with(size_t bytes, struct dg_error *err)
{
    const struct dg_engine_limits limits = {
        .max_rows = 14, .max_sentences = 7, .max_source = MOST_SOURCE, .max_target = MOST_OUT};
    struct dg_backend *be = cuda_or_skip("fp32");
    struct dg_model *model;
    struct dg_engine *e = NULL;
    if (dg_model_open(&x.c, x.m.weights, be, MOST_OUT, &model, err))
        fail_msg("%s", err->message);
    set_bytes("DRAGOMAN_EMU_MEMORY", bytes);
    const int rc = dg_engine_open(model, be, &limits, &e, err);
    set("DRAGOMAN_EMU_MEMORY", NULL);
    dg_engine_close(e);
    dg_model_close(model);
    dg_device_close(be);
    return rc;
}

/* How much memory is left when an engine opens changes no answer: without enough to time
 * algorithms the same class of them multiplies, and without enough to find the class no engine
 * opens. The library's first algorithm for 64 rows is none of the class here. */
static void test_little_memory(void **state)
{
    struct dg_error err = {0};
    (void)state;
    set("DRAGOMAN_EMU_RIVALS", "differ");
    const size_t used = used_by_an_engine();
    forget_answers();
    answer(&host, 1);
    expect_log("gemm_untimed", false);
    set_bytes("DRAGOMAN_EMU_MEMORY", used + (256 << 10));
    answer(&graph, 2);
    set("DRAGOMAN_EMU_MEMORY", NULL);
    expect_log("gemm_untimed", true);
    assert_int_equal(open_with(used + (16 << 20), &err), DG_OK);
    assert_int_equal(open_with(used + 4096, &err), DG_ENOMEM);
    assert_non_null(
        strstr(err.message, "cuda:0/fp32/emulated-on-the-host: no memory for choosing"));
    set("DRAGOMAN_EMU_RIVALS", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_recording),
        cmocka_unit_test(test_rows_refused_before), cmocka_unit_test(test_one_algorithm_refused),
        cmocka_unit_test(test_rows_refused_late), cmocka_unit_test(test_rivals),
        cmocka_unit_test(test_little_memory)};
    if (!cuda_is_emulated())
        return 77;
    x.c = small(48);
    make_sentences(&x.c, x.all, false, 9);
    random_model_open(&x.m, &x.c, DG_F32, NULL, MOST_OUT, 5);
    const int rc = cmocka_run_group_tests(tests, NULL, NULL);
    random_model_close(&x.m);
    return rc;
}
