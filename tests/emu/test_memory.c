/* An engine on a device asks the driver for all its memory when it is opened, and for none while it
 * serves, whatever comes: the longest sentences, full steps, alignments. It likewise asks cuBLASLt
 * for all algorithms in advance, including those of encoder passes. The emulation counts the
 * requests; on a real device the memory that the backend holds must not change. */
#include "tests/invariants/random_model.h"

#include "model/engine/limits.h"
#include "model/layers/workspace.h"
#include "tests/emu/counters.h"
#include "tests/emu/cuda.h"

enum { LONGEST = 40, SENTENCES = 48 };

static struct dg_config small(void)
{
    struct dg_config c;
    dg_config_base(&c, 60);
    c.enc_layers = c.dec_layers = 2;
    c.D = 16;
    c.F = 24;
    c.H = 2;
    c.Dk = c.Dv = 8;
    return c;
}

/* Admits sentence i: short and long ones, every beam, every other one aligned; the last ones are as
 * long as allowed. */
static bool admit(struct dg_engine *e, const struct dg_config *c, uint32_t i, uint64_t *rng)
{
    int32_t ids[LONGEST];
    const bool longest = i > SENTENCES / 2;
    uint32_t n = longest ? LONGEST : 2 + rnd(rng) % 6, len = longest ? LONGEST : 3 + rnd(rng) % 5;
    random_sentence(c, ids, n, rng);
    const struct dg_sentence s = {.source = ids,
        .n_source = n,
        .want_alignment = i % 2 == 1,
        .search = {.beam = 1 + i % 4, .n_best = 1, .alpha = -1, .min_len = len, .max_len = len}};
    struct dg_error err = {0};
    int rc = dg_engine_admit(e, i, &s, &err);
    if (rc && rc != DG_EAGAIN)
        fail_msg("%s", err.message);
    return rc == 0;
}

static void serve(struct dg_engine *e, const struct dg_config *c)
{
    uint32_t admitted = 0, answered = 0;
    uint64_t rng = 3;
    while (answered < SENTENCES) {
        const struct dg_result *r;
        while (admitted < SENTENCES && admit(e, c, admitted, &rng))
            admitted++;
        dg_engine_step(e);
        while ((r = dg_engine_poll(e)) != NULL) {
            assert_true(r->n_hyps == 1);
            assert_true((r->alignment != NULL) || r->id % 2 == 0);
            dg_engine_release(e, r);
            answered++;
        }
    }
}

static void check(const char *precision)
{
    const struct dg_engine_limits limits = {
        .max_rows = 12, .max_sentences = 5, .max_source = LONGEST, .max_target = LONGEST};
    const struct dg_config c = small();
    struct random_model m;
    struct dg_backend *be = cuda_or_skip(precision);
    struct dg_model *model;
    struct dg_engine *e = NULL;
    struct dg_error err = {0};
    random_model_open(&m, &c, DG_F32, NULL, LONGEST, 21);
    if (dg_model_open(&c, m.weights, be, LONGEST, &model, &err) ||
        dg_engine_open(model, be, &limits, &e, &err))
        fail_msg("%s", err.message);
    const unsigned long before = count_of("dg_emu_allocations"),
                        chosen = count_of("dg_emu_choices");
    const size_t had = cuda_held(be);
    serve(e, &c);
    assert_int_equal(count_of("dg_emu_allocations"), before);
    assert_int_equal(count_of("dg_emu_choices"), chosen);
    assert_int_equal(cuda_held(be), had);
    /* Both counters do notice an allocation. */
    struct dg_buf *more;
    assert_int_equal(be->ops->buf_new(be, 32 << 20, &more, &err), 0);
    assert_true(cuda_held(be) > had);
    if (before > 0)
        assert_true(count_of("dg_emu_allocations") > before && chosen > 0);
    be->ops->buf_free(be, more);
    dg_engine_close(e);
    dg_model_close(model);
    if (be->ops->status(be, &err))
        fail_msg("%s", err.message);
    dg_device_close(be);
    random_model_close(&m);
}

static void test_fp32(void **state)
{
    (void)state;
    check("fp32");
}

static void test_fp16(void **state)
{
    (void)state;
    check("fp16");
}

/* A step has as many rows as suit the device, eight for each multiprocessor, and an engine uses
 * that number by default. */
static void test_rows_of_the_device(void **state)
{
    static const struct {
        const char *processors;
        uint32_t rows;
    } devices[] = {{"2", 32}, {"16", 128}, {"108", 512}, {"132", 1024}, {"160", 1024}};
    (void)state;
    if (!cuda_is_emulated())
        skip();
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        setenv("DRAGOMAN_EMU_PROCESSORS", devices[i].processors, 1);
        struct dg_backend *be = cuda_or_skip("bf16");
        struct dg_model *model;
        struct dg_engine_limits limits;
        struct random_model m;
        struct dg_error err = {0};
        const struct dg_config c = small();
        random_model_open(&m, &c, DG_F32, NULL, LONGEST, 21);
        if (dg_model_open(&c, m.weights, be, LONGEST, &model, &err))
            fail_msg("%s", err.message);
        assert_int_equal(be->ops->step_rows, devices[i].rows);
        dg_engine_limits_resolve(model, be->ops, NULL, &limits);
        assert_int_equal(limits.max_rows, devices[i].rows);
        dg_model_close(model);
        dg_device_close(be);
        random_model_close(&m);
    }
    unsetenv("DRAGOMAN_EMU_PROCESSORS");
}

/* Contiguous fp32 rows come back as they are, whatever was reserved: a copy of them on the device
 * would take a kernel with one block for a step's attention weights, a single long row. */
static void test_contiguous_rows(void **state)
{
    enum { OFFSET = 3, ROWS = 2, WIDTH = 1 << 19, ALL = OFFSET + ROWS * WIDTH };
    struct dg_backend *be = cuda_or_skip("fp16");
    struct dg_error err = {0};
    struct dg_buf *buf;
    float *in = malloc(ALL * sizeof *in), *out = malloc(ALL * sizeof *out);
    (void)state;
    assert_true(in && out);
    for (size_t i = 0; i < ALL; i++)
        in[i] = (float)i;
    assert_int_equal(be->ops->buf_new_wide(be, ALL, &buf, &err), 0);
    const size_t held = cuda_held(be);
    for (size_t i = 0; i < ALL;
         i += WIDTH) /* in parts, so that writing needs little scratch space */
        be->ops->write(
            be, in + i, (struct dg_rows){buf, i, 1}, 1, i + WIDTH < ALL ? WIDTH : ALL - i);
    const size_t written = cuda_held(be);
    be->ops->read(be, (struct dg_rows){buf, OFFSET, 1}, 1, (size_t)ROWS * WIDTH, out);
    assert_memory_equal(out, in + OFFSET, sizeof *in * ROWS * WIDTH);
    memset(out, 0, ALL * sizeof *out);
    be->ops->read(be, (struct dg_rows){buf, OFFSET, WIDTH}, ROWS, WIDTH, out);
    assert_memory_equal(out, in + OFFSET, sizeof *in * ROWS * WIDTH);
    assert_true(written > held);
    assert_int_equal(cuda_held(be), written);
    be->ops->buf_free(be, buf);
    dg_device_close(be);
    free(in);
    free(out);
}

/* Kernels start early only where the ones that are loaded wait for those before them. They do if
 * they were compiled for 9.0 or later: a newer device also runs those for an older one, compiled
 * again by its driver. */
static void test_early_launches(void **state)
{
    static const struct {
        const char *device, *code;
        bool early;
    } cases[] = {{"9.0", "90", true}, {"9.0", "80", false}, {"8.0", "80", false}};
    const struct dg_engine_limits limits = {
        .max_rows = 12, .max_sentences = 5, .max_source = LONGEST, .max_target = LONGEST};
    const struct dg_config c = small();
    (void)state;
    if (!cuda_is_emulated())
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct random_model m;
        struct dg_model *model;
        struct dg_engine *e = NULL;
        struct dg_error err = {0};
        setenv("DRAGOMAN_EMU_CAPABILITY", cases[i].device, 1);
        setenv("DRAGOMAN_EMU_PTX", cases[i].code, 1);
        struct dg_backend *be = cuda_or_skip("fp32");
        const unsigned long before = count_of("dg_emu_early_launches");
        random_model_open(&m, &c, DG_F32, NULL, LONGEST, 21);
        if (dg_model_open(&c, m.weights, be, LONGEST, &model, &err) ||
            dg_engine_open(model, be, &limits, &e, &err))
            fail_msg("%s", err.message);
        assert_int_equal(count_of("dg_emu_early_launches") > before, cases[i].early);
        dg_engine_close(e);
        dg_model_close(model);
        dg_device_close(be);
        random_model_close(&m);
    }
    unsetenv("DRAGOMAN_EMU_CAPABILITY");
    unsetenv("DRAGOMAN_EMU_PTX");
}

/* Matrices on a device have no gaps between rows, whatever their width: products are those whose
 * bits test_cuda_rows checks. */
static void test_no_gaps(void **state)
{
    (void)state;
    struct dg_config c = small();
    struct dg_backend *be = cuda_or_skip("fp32");
    struct dg_workspace ws;
    struct dg_error err = {0};
    c.D = c.F = 1024;
    if (dg_workspace_open(&ws, be, &c, 2, &err))
        fail_msg("%s", err.message);
    assert_int_equal(ws.x.ld, 1024);
    assert_int_equal(ws.enc.ffn.hidden.ld, 1024);
    dg_workspace_close(&ws);
    dg_device_close(be);
}

int main(void)
{
    unsetenv("DRAGOMAN_DEBUG"); /* as in production */
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fp32), cmocka_unit_test(test_fp16),
        cmocka_unit_test(test_rows_of_the_device), cmocka_unit_test(test_early_launches),
        cmocka_unit_test(test_contiguous_rows), cmocka_unit_test(test_no_gaps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
