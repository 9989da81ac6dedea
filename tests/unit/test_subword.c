#include "trainer/data/subword.h"

#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A vocabulary in the order of its merges, then single characters, as SentencePiece writes it. */
enum { EOS, UNK, TAG, BYTE, EN, BEN, S_A, S_ABEN, AB, S, A, B, E, N, UE, PIECES };

static const char *const pieces[PIECES] = {"</s>", "<unk>", "<2de>", "<0x41>", "en", "ben", "▁a",
    "▁aben", "ab", "▁", "a", "b", "e", "n", "ü"};

static struct dg_subword *subword;

static int make(void **state)
{
    (void)state;
    char path[] = "/tmp/test_subword_XXXXXX";
    struct dg_buffer b;
    struct dg_tokenizer *t;
    int fd = mkstemp(path);
    if (fd < 0)
        return -1;
    close(fd);
    dg_buffer_init(&b);
    for (size_t i = 0; i < PIECES; i++)
        dg_buffer_addf(&b, "%s\n", pieces[i]);
    int rc = dg_file_write(path, b.data, b.len, NULL);
    dg_buffer_deinit(&b);
    rc = rc ? rc : dg_tokenizer_open("", path, &t, NULL);
    if (rc == 0) {
        rc = dg_subword_open(t, &subword, NULL);
        dg_tokenizer_close(t);
    }
    remove(path);
    return rc;
}

static int clear(void **state)
{
    (void)state;
    dg_subword_close(subword);
    return 0;
}

static void expect(
    const int32_t *ids, size_t n, double p, uint64_t key, const int32_t *wanted, size_t n_wanted)
{
    int32_t out[64];
    assert_true(dg_subword_room(subword, ids, n) <= 64);
    size_t len = dg_subword_draw(subword, ids, n, p, key, out);
    assert_int_equal(len, n_wanted);
    assert_memory_equal(out, wanted, n_wanted * sizeof *out);
}

#define LIST(...)                                                                                  \
    (const int32_t[]){__VA_ARGS__}, sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t)

static void test_no_dropout_is_bpe(void **state)
{
    (void)state;
    /* "▁aben": e+n (4), b+en (5), ▁+a (6), ▁a+ben (7). a+b (8) comes too late. */
    expect(LIST(S_ABEN), 0, 1, LIST(S_ABEN));
    expect(LIST(S, A, B, E, N), 0, 1, LIST(S_ABEN)); /* one word, whatever its pieces were before */
    expect(LIST(S, AB, EN), 0, 1, LIST(S_ABEN));
    expect(LIST(S, AB), 0, 1, LIST(S_A, B)); /* ▁+a before a+b */
    expect(LIST(S_A, UE, S_ABEN), 0, 1, LIST(S_A, UE, S_ABEN));
}

static void test_full_dropout_is_characters(void **state)
{
    (void)state;
    expect(LIST(S_ABEN, UE, EOS), 1, 1, LIST(S, A, B, E, N, UE, EOS));
    assert_int_equal(dg_subword_room(subword, LIST(S_ABEN, UE, EOS)), 7);
}

static void test_what_is_no_text_stays(void **state)
{
    (void)state;
    expect(LIST(TAG, S_ABEN, UNK, BYTE, BYTE, EN, EOS), 1, 1,
        LIST(TAG, S, A, B, E, N, UNK, BYTE, BYTE, E, N, EOS));
    expect(LIST(EOS), 0.5, 1, LIST(EOS));
    assert_int_equal(dg_subword_draw(subword, NULL, 0, 0.5, 1, NULL), 0);
}

/* "▁a" alone has one merge, which is skipped in p of all draws. "▁aben" at p = 0.5: whole only when
 * none of its four merges is skipped. 20,000 draws: sigma is below 0.4 %. */
static void test_rates(void **state)
{
    (void)state;
    enum { DRAWS = 20000 };
    int split = 0, whole = 0;
    int32_t out[8], again[8];
    for (uint64_t key = 0; key < DRAWS; key++) {
        split += dg_subword_draw(subword, (const int32_t[]){S_A}, 1, 0.1, key, out) == 2;
        size_t n = dg_subword_draw(subword, (const int32_t[]){S_ABEN}, 1, 0.5, key, out);
        whole += n == 1;
        assert_int_equal(dg_subword_draw(subword, (const int32_t[]){S_ABEN}, 1, 0.5, key, again),
            n); /* the key decides */
        assert_memory_equal(out, again, n * sizeof *out);
    }
    assert_true(abs(split - DRAWS / 10) < DRAWS / 50);
    assert_true(abs(whole - DRAWS / 16) < DRAWS / 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_dropout_is_bpe),
        cmocka_unit_test(test_full_dropout_is_characters),
        cmocka_unit_test(test_what_is_no_text_stays),
        cmocka_unit_test(test_rates),
    };
    return cmocka_run_group_tests(tests, make, clear);
}
