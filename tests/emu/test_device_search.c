/* A search that the device keeps gives the host's answers, bit for bit: the same sentences through
 * an engine with DRAGOMAN_CUDA_STEP=host and through others with device and graph, which join,
 * pause and leave at other times. The emulation does the same once more with a device that is as
 * late as it may be (DRAGOMAN_EMU_LAZY), and with threads in reverse order. */
#include "tests/emu/search_engine.h"

static const struct variant host = {"host", NULL, NULL, NULL};

static bool same_logits;

/* The last layer's output is its bias. */
static void forget_position(const struct dg_param_info *info, float *x)
{
    if (!strcmp(info->name, "dec.1.ffn.norm.gain"))
        memset(x, 0, (size_t)info->N * info->K * sizeof *x);
}

/* variants first .. end-1 */
static void check(struct dg_config c, const char *precision, bool odd, size_t first, size_t end)
{
    static struct sentence all[SENTENCES];
    struct random_model m;
    make_sentences(&c, all, odd, c.target_vocab + (odd ? 1000 : 0));
    random_model_open_changed(
        &m, &c, DG_F32, NULL, MOST_OUT, 5, same_logits ? forget_position : NULL);
    run(&m, &c, precision, &host, all, 1);
    for (size_t i = first; i < end; i++)
        run(&m, &c, precision, &variants[i], all, 2 + i);
    random_model_close(&m);
}

static void test_plain_sentences(void **state)
{
    (void)state;
    check(small(50), "fp32", false, 0, 4);
}

/* Sentences that only the host can search come and go: everybody changes sides with them. */
static void test_mixed_sentences(void **state)
{
    (void)state;
    struct dg_config c = small(40);
    c.never = 4;
    check(c, "fp32", true, 0, 3);
}

static void test_bf16(void **state)
{
    (void)state;
    check(small(30), "bf16", false, 2, 3);
}

/* Fewer candidates than a beam has rows: hypotheses die, and searches end for want of them. */
static void test_tiny_vocabulary(void **state)
{
    (void)state;
    struct dg_config c = small(5);
    c.never = 4;
    check(c, "fp32", false, 1, 3);
}

/* Every position has the same logits, whatever came before it: pieces in another order have the
 * same log-probability, and the smaller row must win. */
static void test_ties(void **state)
{
    (void)state;
    struct dg_config c = small(6);
    same_logits = true;
    check(c, "fp32", false, 1, 2);
    same_logits = false;
}

/* Bytes that make no character: the device lets them live, the host passes them over or does the
 * step again. */
static void test_bytes(void **state)
{
    (void)state;
    with_bytes = true;
    check(small(120), "fp32", false, 0, 2);
    check(small(280), "fp32", true, 2, 3);
    with_bytes = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_sentences),
        cmocka_unit_test(test_mixed_sentences),
        cmocka_unit_test(test_bf16),
        cmocka_unit_test(test_tiny_vocabulary),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
