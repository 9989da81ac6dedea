/* Search on the device when the device fails: the engine runs empty, and the backend reports
 * why. */
#include "tests/emu/search_engine.h"

/* An engine with one sentence in progress. */
struct lone {
    struct sentence all[SENTENCES];
    struct dg_config c;
    struct random_model m;
    struct engine x;
};

static void open_lone(struct lone *l, const struct variant *v)
{
    struct dg_error err = {0};
    struct dg_sentence *s = &l->all[0].s;
    l->c = small(20);
    make_sentences(&l->c, l->all, false, 9);
    random_model_open(&l->m, &l->c, DG_F32, NULL, MOST_OUT, 5);
    l->x = open_engine(&l->m, &l->c, "fp32", v);
    s->search = (struct dg_search){.beam = 4, .max_len = MOST_OUT, .min_len = MOST_OUT};
    s->n_prefix = 0;
    s->forced = false;
    if (dg_engine_admit(l->x.e, 1, s, &err))
        fail_msg("%s", err.message);
}

/* Runs three steps, after which the device is still sound. */
static void start_lone(struct lone *l)
{
    struct dg_error err = {0};
    for (int i = 0; i < 3; i++)
        dg_engine_step(l->x.e);
    assert_int_equal(l->x.be->ops->status(l->x.be, &err), 0);
}

/* Steps until the device fails: the engine runs empty, and the backend reports why. */
static void break_lone(struct lone *l, const char *why)
{
    struct dg_error err = {0};
    for (int i = 0; i < MOST_OUT && dg_engine_step(l->x.e); i++)
        ;
    assert_int_equal(dg_engine_step(l->x.e), 0);
    assert_int_not_equal(l->x.be->ops->status(l->x.be, &err), 0);
    if (!strstr(err.message, why))
        fail_msg("\"%s\" does not say \"%s\"", err.message, why);
    assert_int_equal(seen.waited, seen.given);
    close_engine(&l->x);
    random_model_close(&l->m);
}

static void test_another_decision(void **state)
{
    static struct lone l;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        open_lone(&l, &variants[i]);
        start_lone(&l);
        seen.spoil = true;
        break_lone(&l, "which hypotheses live on");
    }
}

static void test_failing_device(void **state)
{
    static struct lone l;
    (void)state;
    if (!cuda_is_emulated())
        skip();
    for (size_t i = 0; i < 3; i++) {
        open_lone(&l, &variants[i]);
        start_lone(&l);
        setenv("DRAGOMAN_EMU_FAIL", "1", 1);
        break_lone(&l, "launch failure");
        unsetenv("DRAGOMAN_EMU_FAIL");
    }
}

static void test_unknown_way(void **state)
{
    (void)state;
    dg_device_close(cuda_or_skip("fp32"));
    const struct dg_device_options options = {.device = "cuda"};
    struct dg_device device;
    struct dg_backend *be = NULL;
    struct dg_error err = {0};
    setenv("DRAGOMAN_CUDA_STEP", "fast", 1);
    assert_int_equal(dg_device_choose(&options, &device, &err), 0);
    assert_int_equal(dg_device_open(&device, &be, &err), DG_EINVAL);
    assert_non_null(strstr(err.message, "DRAGOMAN_CUDA_STEP is \"fast\", it can be host or graph"));
    unsetenv("DRAGOMAN_CUDA_STEP");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_another_decision),
        cmocka_unit_test(test_failing_device), cmocka_unit_test(test_unknown_way)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
