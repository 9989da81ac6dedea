/* Search on the device gives the host's answers, bit for bit: the same sentences pass through an
 * engine with DRAGOMAN_CUDA_STEP=host and through others with device and graph, in which they join,
 * pause and leave at other times. The emulation repeats this with a device that is as late as it
 * may be (DRAGOMAN_EMU_LAZY), and with threads in reverse order. */
#include "tests/emu/search_engine.h"

static const struct variant host = {"host", NULL, NULL, NULL};

static bool same_logits;

/* Zeroes the last norm's gain, so that the last layer's output is its bias. */
static void forget_position(const struct dg_param_info *info, float *x)
{
    if (!strcmp(info->name, "dec.1.ffn.norm.gain"))
        memset(x, 0, (size_t)info->N * info->K * sizeof *x);
}

/* Compares variants[first .. end-1] with the host. */
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

/* Sentences that only the host can search come and go; all others move to the host and back with
 * them. */
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

/* Fewer candidates than a beam has rows: hypotheses are dropped, and searches end for lack of
 * them. */
static void test_tiny_vocabulary(void **state)
{
    (void)state;
    struct dg_config c = small(5);
    c.never = 4;
    check(c, "fp32", false, 1, 3);
}

/* Every position has the same logits, whatever the prefix: pieces in another order have the same
 * log-probability, and the smaller row must win. */
static void test_ties(void **state)
{
    (void)state;
    struct dg_config c = small(6);
    same_logits = true;
    check(c, "fp32", false, 1, 2);
    same_logits = false;
}

/* Bytes that do not form a character: the device keeps them, the host skips them or repeats the
 * step. */
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
