/* The shortlist file: it reads back as written, any damage is refused; and the lexicon that it is
 * made from. */
#include "base/file.h"
#include "trainer/align/lexicon.h"
#include "trainer/data/shard.h"
#include "weights/shortlist.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64];

static int make_path(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/test_shortlist_%d", (int)getpid());
    return 0;
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

static const uint32_t always[] = {0, 70}, first[] = {0, 2, 2, 5}, ids[] = {7, 3, 99, 64, 3};

static void write_list(uint32_t target_vocab)
{
    struct dg_shortlist_data d = {3, target_vocab, always, 2, first, ids};
    struct dg_error err = {0};
    if (dg_shortlist_write(path, &d, &err))
        fail_msg("%s", err.message);
}

static void test_union(void **state)
{
    (void)state;
    static const uint32_t vocabularies[] = {100, 70000}; /* ids of two and of four bytes */
    for (int i = 0; i < 2; i++) {
        struct dg_shortlist *s = NULL;
        struct dg_error err = {0};
        uint32_t V = vocabularies[i];
        write_list(V);
        if (dg_shortlist_open(path, 3, V, &s, &err))
            fail_msg("%s", err.message);
        uint64_t *bits = calloc(dg_shortlist_words(s), sizeof *bits);
        int32_t out[8];
        const int32_t none[] = {1}, both[] = {2, 0, 2}, more[] = {65};
        const int32_t expected[] = {0, 3, 7, 64, 65, 70, 99};
        assert_int_equal(
            dg_shortlist_select(
                s, &(struct dg_shortlist_need){.source = none, .n_source = 1}, bits, out, 8),
            2);
        assert_int_equal(out[0], 0);
        assert_int_equal(out[1], 70);
        assert_int_equal(
            dg_shortlist_select(s, &(struct dg_shortlist_need){both, 3, more, 1}, bits, out, 8), 7);
        assert_memory_equal(out, expected, sizeof expected);
        assert_int_equal(
            dg_shortlist_select(s, &(struct dg_shortlist_need){both, 3, more, 1}, bits, out, 6),
            0); /* too long */
        assert_int_equal(
            dg_shortlist_select(
                s, &(struct dg_shortlist_need){.source = none, .n_source = 1}, bits, out, 8),
            2);
        free(bits);
        dg_shortlist_close(s);
    }
}

static void expect_refused(int code, const char *words, uint32_t Vs, uint32_t Vt)
{
    struct dg_shortlist *s = NULL;
    struct dg_error err = {0};
    int rc = dg_shortlist_open(path, Vs, Vt, &s, &err);
    if (rc != code || !strstr(err.message, words))
        fail_msg("%d \"%s\" instead of %d \"%s\"", rc, err.message, code, words);
}

/* A change in any byte is noticed. */
static void test_damage(void **state)
{
    (void)state;
    struct dg_buffer b;
    dg_buffer_init(&b);
    write_list(100);
    assert_int_equal(dg_file_read(path, &b, NULL), 0);
    for (size_t i = 0; i < b.len; i++) {
        struct dg_shortlist *s = NULL;
        b.data[i] ^= 0x41;
        assert_int_equal(dg_file_write(path, b.data, b.len, NULL), 0);
        if (!dg_shortlist_open(path, 3, 100, &s, NULL))
            fail_msg("byte %zu", i);
        b.data[i] ^= 0x41;
    }
    for (size_t n = 0; n < b.len; n += 7) {
        struct dg_shortlist *s = NULL;
        assert_int_equal(dg_file_write(path, b.data, n, NULL), 0);
        assert_int_equal(dg_shortlist_open(path, 3, 100, &s, NULL), DG_EFORMAT);
    }
    write_list(100);
    expect_refused(
        DG_EINVAL, "is for vocabularies of 3 and 100 pieces, the model has 4 and 100", 4, 100);
    expect_refused(DG_EINVAL, "has 3 and 50", 3, 50);
    assert_int_equal(dg_file_write(path, "DGWT", 4, NULL), 0);
    expect_refused(DG_EFORMAT, "is not a shortlist", 3, 100);
    dg_buffer_deinit(&b);
}

/* Files of a faulty writer: the checksum is right, the contents are not. */
static void test_contents(void **state)
{
    (void)state;
    static const uint32_t backwards[] = {0, 4, 2, 5}, large[] = {7, 3, 100, 64, 3};
    struct dg_shortlist_data d = {3, 100, always, 2, backwards, ids};
    assert_int_equal(dg_shortlist_write(path, &d, NULL), 0);
    expect_refused(DG_EFORMAT, "list of piece 1 ends before it begins", 3, 100);
    d.first = first;
    d.ids = large;
    assert_int_equal(dg_shortlist_write(path, &d, NULL), 0);
    expect_refused(DG_EFORMAT, "id 100 is outside the vocabulary of 100", 3, 100);
}

enum { V = 40, EOS = 0, PAIRS = 400 };

/* Source piece e is translated as 39 - e, in any order: a lexicon must find that. */
static void test_lexicon(void **state)
{
    (void)state;
    struct dg_shard_writer *w = NULL;
    struct dg_dataset *d = NULL;
    struct dg_lexicon *l = NULL;
    struct dg_error err = {0};
    struct dg_dataset_options o = {.batch_tokens = 1};
    struct dg_lexicon_options lo = {
        .source_vocab = V, .target_vocab = V, .source_eos = EOS, .target_eos = EOS};
    const char *paths[1] = {path};
    const struct dg_translation *t = NULL;
    uint64_t random = 3, pieces = 0;
    assert_int_equal(dg_shard_begin(path, V, V, &w, &err), 0);
    for (int i = 0; i < PAIRS; i++) {
        int32_t source[8], target[8];
        uint32_t n = 0, k = 2 + (uint32_t)i % 5;
        for (; n < k; n++) {
            random = random * 6364136223846793005ull + 1442695040888963407ull;
            source[n] = 1 + (int32_t)((random >> 40) % (V - 2));
            target[(n + 1) % k] = V - 1 - source[n];
        }
        source[n] = target[n] = EOS;
        pieces += n;
        struct dg_shard_entry e = {.source_len = n + 1, .target_len = n + 1, .weight = 1};
        assert_int_equal(dg_shard_add(w, &e, source, target, &err), 0);
    }
    assert_int_equal(dg_shard_commit_take(w, NULL, &err), 0);
    if (dg_dataset_open_shards(paths, 1, &o, &d, &err))
        fail_msg("%s", err.message);
    l = dg_lexicon_new(d, &lo);
    size_t n = dg_lexicon_translations(l, 1e-4f, &t);
    for (size_t i = 0; i < n; i++) {
        if (i && t[i].source == t[i - 1].source) {
            assert_true(t[i].p <= t[i - 1].p);
            continue;
        }
        assert_int_equal(t[i].target, V - 1 - t[i].source);
        assert_true(t[i].p > 0.9f);
    }
    uint64_t counted = 0;
    for (int f = 0; f < V; f++)
        counted += dg_lexicon_counts(l)[f];
    assert_int_equal(counted, pieces);
    dg_lexicon_free(l);
    dg_dataset_close(d);
}

/* Two directions take turns, and a lexicon learns from half of the pairs: from both, alike. 400
 * draws with a chance of 1/2 give 200 with a standard deviation of 10. */
static void test_lexicon_of_both_directions(void **state)
{
    (void)state;
    enum { ALL = 800 };
    struct dg_shard_writer *w = NULL;
    struct dg_dataset *d = NULL;
    struct dg_error err = {0};
    struct dg_dataset_options o = {.batch_tokens = 1};
    struct dg_lexicon_options lo = {.source_vocab = V,
        .target_vocab = V,
        .source_eos = EOS,
        .target_eos = EOS,
        .pairs = ALL / 2};
    const char *paths[1] = {path};
    assert_int_equal(dg_shard_begin(path, V, V, &w, &err), 0);
    for (int32_t i = 0; i < ALL; i++) {
        const int32_t source[] = {1 + i % 2, EOS}, target[] = {2 - i % 2, EOS};
        struct dg_shard_entry e = {.source_len = 2, .target_len = 2, .weight = 1};
        assert_int_equal(dg_shard_add(w, &e, source, target, &err), 0);
    }
    assert_int_equal(dg_shard_commit_take(w, NULL, &err), 0);
    if (dg_dataset_open_shards(paths, 1, &o, &d, &err))
        fail_msg("%s", err.message);
    struct dg_lexicon *l = dg_lexicon_new(d, &lo);
    const uint64_t *counts = dg_lexicon_counts(l);
    assert_int_equal(counts[1] + counts[2], ALL / 2);
    assert_in_range(counts[1], 160, 240);
    dg_lexicon_free(l);
    dg_dataset_close(d);
}

/* Draws are in order, each in its own part, and all pairs once where no choice is left. */
static void test_draws(void **state)
{
    (void)state;
    static const uint64_t sizes[][2] = {{1, 1}, {7, 7}, {3, 10}, {200, 399}, {200, 400}, {5, 100}};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
        for (uint64_t n = sizes[k][0], all = sizes[k][1], i = 0; i < n; i++) {
            const uint64_t at = dg_lexicon_draw(i, n, all);
            assert_true(at >= i * all / n && at < (i + 1) * all / n);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_union), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_contents), cmocka_unit_test(test_lexicon),
        cmocka_unit_test(test_lexicon_of_both_directions), cmocka_unit_test(test_draws)};
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
