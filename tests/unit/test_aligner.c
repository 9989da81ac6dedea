/* Alignments: growing the links of two directions, by worked examples; what the lexicons find in a
 * language whose translations are known; alignments that only the recipe's prior decides; and a
 * lexicon's memory. */
#include "trainer/align/lexicon.h"
#include "trainer/align/aligner.h"
#include "trainer/data/shard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64];

static void expect(
    const int32_t *there, uint32_t T, const int32_t *back, uint32_t S, const char *expected)
{
    struct dg_link links[64];
    char text[256] = "";
    size_t n = dg_aligner_grow(there, T, back, S, links);
    for (size_t i = 0, at = 0; i < n; i++)
        at += (size_t)snprintf(
            text + at, sizeof text - at, "%s%u-%u", i ? " " : "", links[i].query, links[i].key);
    assert_string_equal(text, expected);
}

static void test_grow(void **state)
{
    (void)state;
    const int32_t nothing[] = {-1, -1}, straight[] = {0, 1, 2};
    expect(nothing, 2, nothing, 2, "");
    expect(straight, 3, straight, 3, "0-0 1-1 2-2");
    /* One source word, two target pieces: both directions agree on one link, the other is its
     * neighbour. */
    const int32_t two[] = {0, 0}, one[] = {0};
    expect(two, 2, one, 1, "0-0 1-0");
    /* A link of one direction only, not next to a link of both, is left out. */
    const int32_t far_there[] = {0, 3, -1, -1}, far_back[] = {0, -1, -1, -1};
    expect(far_there, 4, far_back, 4, "0-0");
    /* A neighbour of a neighbour is added, but not if both of its pieces already have a link. */
    const int32_t chain_there[] = {0, 0, 0}, chain_back[] = {0, 1};
    expect(chain_there, 3, chain_back, 2, "0-0 1-0 1-1 2-0");
}

enum { WORDS = 40, EOS = 0, PAIRS = 600 };

static uint64_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state >> 33;
}

/* Translates word w (3..) as w + 50; every third word into two pieces, the second w + 100. 1 is a
 * word of the target alone, 2 a tag before each source. */
static uint32_t translate(
    const int32_t *source, uint32_t n, int32_t *out, struct dg_link *gold, size_t *n_gold)
{
    uint32_t t = 0;
    *n_gold = 0;
    for (uint32_t i = 1; i < n; i++) {
        gold[(*n_gold)++] = (struct dg_link){(uint16_t)t, (uint16_t)i};
        out[t++] = source[i] + 50;
        if (source[i] % 3 == 0) {
            gold[(*n_gold)++] = (struct dg_link){(uint16_t)t, (uint16_t)i};
            out[t++] = source[i] + 100;
        }
    }
    return t;
}

static uint32_t make_pair(uint64_t *state, int32_t *source)
{
    uint32_t n = 1;
    source[0] = 2;
    while (n < 4 + draw(state) % 6)
        source[n++] = 3 + (int32_t)(draw(state) % WORDS);
    return n;
}

static void write_shard(void)
{
    struct dg_shard_writer *w = NULL;
    struct dg_error err = {0};
    uint64_t state = 3;
    assert_int_equal(dg_shard_begin(path, 200, 200, &w, &err), 0);
    for (int i = 0; i < PAIRS; i++) {
        int32_t source[16], target[32];
        struct dg_link gold[32];
        size_t n_gold;
        uint32_t s = make_pair(&state, source), t = translate(source, s, target, gold, &n_gold);
        source[s++] = target[t++] = EOS;
        struct dg_shard_entry e = {0, s, t, 1, 0, 0};
        assert_int_equal(dg_shard_add(w, &e, source, target, &err), 0);
    }
    assert_int_equal(dg_shard_commit_take(w, NULL, &err), 0);
}

static struct dg_dataset *open_data(void)
{
    const struct dg_dataset_options o = {.batch_tokens = 1, .window = 1};
    const char *paths[] = {path};
    struct dg_dataset *d = NULL;
    struct dg_error err = {0};
    if (dg_dataset_open_shards(paths, 1, &o, &d, &err))
        fail_msg("%s", err.message);
    return d;
}

/* Almost no wrong links are found, and most of the right ones: words that occur twice in a sentence
 * and pieces far from the diagonal are missed. */
static void test_aligner(void **state)
{
    (void)state;
    const struct dg_aligner_options o = {.source_vocab = 200, .target_vocab = 200, .eos = EOS};
    struct dg_aligner_options without = o;
    size_t right = 0, all = 0, found = 0, fewer = 0;
    without.unlinked = 9;
    write_shard();
    struct dg_dataset *d = open_data();
    struct dg_aligner *a = dg_aligner_new(d, &o), *b = dg_aligner_new(d, &without);
    for (uint64_t i = 0; i < PAIRS; i++) {
        int32_t source[16], target[32], made[32];
        struct dg_link gold[32];
        size_t n, n_gold;
        uint32_t s, t;
        dg_dataset_lengths(d, i, &s, &t);
        dg_dataset_ids(d, i, source, target);
        translate(source, s - 1, made, gold, &n_gold);
        const struct dg_link *links = dg_aligner_links(a, i, 2, &n);
        for (size_t k = 0; k < n; k++) {
            assert_true(links[k].query < t - 1 && links[k].key > 0 && links[k].key < s - 1);
            assert_true(k == 0 || links[k].query > links[k - 1].query ||
                        (links[k].query == links[k - 1].query && links[k].key > links[k - 1].key));
            for (size_t g = 0; g < n_gold; g++)
                right += !memcmp(&links[k], &gold[g], sizeof *links);
        }
        found += n;
        all += n_gold;
        size_t n_without;
        const struct dg_link *left = dg_aligner_links(b, i, 2, &n_without);
        for (size_t k = 0; k < n_without; k++)
            assert_int_not_equal(source[left[k].key], 9);
        fewer += n - n_without;
    }
    assert_true(fewer > 0 && fewer < found / 10);
    dg_aligner_free(b);
    if (right * 100 < found * 97 || right * 100 < all * 94)
        fail_msg("%zu of %zu links are right, of %zu there are", right, found, all);
    dg_aligner_free(a);
    dg_dataset_close(d);
}

/* Words never seen together are not aligned; a word that occurs twice takes the nearer one. */
static void test_prior(void **state)
{
    (void)state;
    struct dg_lexicon *l = NULL;
    struct dg_lexicon_options o = {.source_vocab = 200, .target_vocab = 200, .tension = 4};
    const int32_t source[] = {4, 5, 7, 4}, target[] = {54, 55, 199, 57, 54};
    const int32_t expected[] = {0, 1, -1, 2, 3};
    int32_t best[5];
    struct dg_dataset *d = open_data();
    l = dg_lexicon_new(d, &o);
    dg_lexicon_align(l, source, 4, target, 5, best);
    assert_memory_equal(best, expected, sizeof expected);
    dg_lexicon_free(l);
    o.tension = 0; /* Model 1 has no positions: the first of two */
    l = dg_lexicon_new(d, &o);
    dg_lexicon_align(l, source, 4, target, 5, best);
    assert_int_equal(best[4], 0);
    dg_lexicon_free(l);
    dg_dataset_close(d);
}

/* A lexicon's memory is that of the pairs of pieces that occur together, here nearly all drawn
 * ones. */
static void test_bytes(void **state)
{
    (void)state;
    enum { PIECES = 20000, LENGTH = 30, CELL = 16 };
    struct dg_lexicon_options o = {.source_vocab = PIECES, .target_vocab = PIECES};
    struct dg_shard_writer *w = NULL;
    struct dg_error err = {0};
    uint64_t random = 5;
    assert_int_equal(dg_shard_begin(path, PIECES, PIECES, &w, &err), 0);
    for (int i = 0; i < 400; i++) {
        int32_t ids[2][LENGTH + 1] = {{0}};
        for (int k = 0; k < 2 * LENGTH; k++)
            ids[k % 2][k / 2] = 1 + (int32_t)(draw(&random) % (PIECES - 1));
        struct dg_shard_entry e = {0, LENGTH + 1, LENGTH + 1, 1, 0, 0};
        assert_int_equal(dg_shard_add(w, &e, ids[0], ids[1], &err), 0);
    }
    assert_int_equal(dg_shard_commit_take(w, NULL, &err), 0);
    struct dg_dataset *d = open_data();
    /* 368,000 pairs fill 70 % of 2^19 cells; a list of all and its copy need twice 12 bytes each.
     */
    const size_t bytes = dg_lexicon_bytes(d, &o), cells = (size_t)CELL << 19;
    if (bytes < cells + 24 * 360000 || bytes > cells + 24 * 385000)
        fail_msg("%zu bytes", bytes);
    o.pairs = 10; /* few pairs: the table that it begins with, and half as much while it grows */
    assert_int_equal(dg_lexicon_bytes(d, &o), (CELL << 16) * 3 / 2);
    dg_dataset_close(d);
}

static int make(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/test_links_%d", (int)getpid());
    return 0;
}

static int clear(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_grow), cmocka_unit_test(test_aligner),
        cmocka_unit_test(test_prior), cmocka_unit_test(test_bytes)};
    return cmocka_run_group_tests(tests, make, clear);
}
