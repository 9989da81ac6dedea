/* The source of each piece of an answer: the requested layer and head, against the attention
 * weights of a teacher-forced pass; a model without the head is refused. */
#include "model/trace.h"
#include "tests/invariants/random_model.h"

enum { S = 9, T = 7 };

static struct dg_config small(void)
{
    struct dg_config c;
    dg_config_base(&c, 60);
    c.D = 24;
    c.F = 40;
    c.H = 3;
    c.Dk = c.Dv = 8;
    c.enc_layers = 1;
    c.dec_layers = 3;
    c.embed_scale = sqrtf(24);
    return c;
}

/* Returns the position with the largest mean weight over heads [head, head + n) at row t. */
static int32_t best(const float *cross, uint32_t layer, uint32_t head, uint32_t n, uint32_t t)
{
    int32_t at = -1;
    double most = -1;
    for (uint32_t s = 0; s < S; s++) {
        double sum = 0;
        for (uint32_t h = head; h < head + n; h++)
            sum += (double)cross[((layer * 3 + h) * T + t) * S + s];
        if (sum > most) {
            most = sum;
            at = (int32_t)s;
        }
    }
    return at;
}

static const struct dg_result *align(struct dg_engine *e, struct dg_sentence *s)
{
    struct dg_error err = {0};
    assert_int_equal(dg_engine_admit(e, 1, s, &err), 0);
    while (dg_engine_step(e))
        ;
    const struct dg_result *r = dg_engine_poll(e);
    assert_non_null(r);
    return r;
}

/* Checks one layer and head, of a model with the same weights as all the others here. */
static size_t check_one(uint32_t layer, uint32_t head)
{
    struct dg_config c = small();
    struct random_model m;
    struct dg_engine *e = NULL;
    struct dg_error err = {0};
    struct dg_trace trace;
    int32_t source[S], target[T];
    uint64_t rng = 5;
    size_t differ = 0;
    c.align_layer = layer;
    c.align_head = head;
    random_model_open(&m, &c, DG_F32, NULL, 32, 11);
    assert_int_equal(dg_engine_open(m.model, m.be, NULL, &e, &err), 0);
    random_sentence(&c, source, S, &rng);
    random_sentence(&c, target, T, &rng);
    assert_int_equal(
        dg_trace_run(m.model, m.be, &(struct dg_trace_ids){source, S, target, T}, &trace, &err), 0);
    struct dg_sentence s = {.source = source,
        .n_source = S,
        .prefix = target,
        .n_prefix = T,
        .forced = true,
        .want_alignment = true};
    const struct dg_result *r = align(e, &s);
    assert_non_null(r->alignment);
    for (uint32_t t = 0; t < T; t++) {
        const uint32_t l = layer ? layer - 1 : 1; /* the last but one of three */
        const int32_t all = best(trace.cross, l, 0, 3, t),
                      one = head ? best(trace.cross, l, head - 1, 1, t) : all;
        assert_int_equal(r->alignment[t], one);
        differ += one != all;
    }
    dg_engine_release(e, r);
    s.want_alignment = false; /* and the target has no unknown piece that would be copied */
    r = align(e, &s);
    assert_null(r->alignment);
    dg_engine_release(e, r);
    dg_trace_deinit(&trace);
    dg_engine_close(e);
    random_model_close(&m);
    return differ;
}

static void test_layers_and_heads(void **state)
{
    (void)state;
    size_t differ = 0;
    for (uint32_t layer = 0; layer <= 3; layer++)
        for (uint32_t head = 0; head <= 3; head++)
            differ += check_one(layer, head);
    assert_true(differ > 5); /* otherwise this would show nothing */
}

/* A model without that head is refused, rather than answering without alignments. */
static void test_no_such_head(void **state)
{
    (void)state;
    const struct dg_config c = small();
    struct dg_config read;
    struct dg_error err = {0};
    struct dg_json *manifest = dg_json_new_object();
    assert_int_equal(dg_config_write(&c, manifest), 0);
    dg_json_set_int(manifest, "alignment_layer", 3);
    dg_json_set_int(manifest, "alignment_head", 2);
    assert_int_equal(dg_config_read(manifest, &read, &err), 0);
    assert_int_equal(read.align_layer, 3);
    assert_int_equal(read.align_head, 2);
    dg_json_set_int(manifest, "alignment_head", 4);
    assert_int_equal(dg_config_read(manifest, &read, &err), DG_EINVAL);
    assert_string_equal(err.field, "alignment_head");
    dg_json_free(manifest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers_and_heads), cmocka_unit_test(test_no_such_head)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
