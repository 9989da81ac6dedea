#include "trainer/data/dataset_internal.h"

#include "trainer/recipe/recipe.h"
#include "trainer/data/shard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 5000, SHARDS = 3, MAX_LEN = 60 };

static char folder[] = "/tmp/test_dataset_XXXXXX";
static char names[SHARDS][64];
static const char *paths[SHARDS];
static uint32_t source_len[N], target_len[N];

static uint32_t draw(uint32_t *x)
{
    *x = *x * 1664525u + 1013904223u;
    return *x >> 8;
}

/* Writes N pairs of random lengths in three uneven shards; ids[0] of a source is its index. Every
 * tenth has weight 2.5. */
static void write_all(bool weights)
{
    uint32_t x = 7;
    int32_t ids[MAX_LEN];
    size_t begin = 0, ends[SHARDS] = {10, 3000, N};
    memset(ids, 0, sizeof ids);
    for (size_t k = 0; k < SHARDS; begin = ends[k++]) {
        struct dg_shard_writer *w;
        snprintf(names[k], sizeof names[k], "%s/%zu.shard", folder, k);
        paths[k] = names[k];
        assert_int_equal(dg_shard_begin(names[k], N, N, &w, NULL), 0);
        for (size_t i = begin; i < ends[k]; i++) {
            source_len[i] = draw(&x) % (MAX_LEN - 1) + 1;
            target_len[i] = draw(&x) % (MAX_LEN - 1) + 1;
            float weight = !weights      ? 1
                           : i % 10 == 0 ? 2.5f
                           : i % 10 == 1 ? 0.25f
                           : i % 10 == 2 ? 0
                                         : 1;
            struct dg_shard_entry e = {0, source_len[i], target_len[i], weight, (uint16_t)k, 0};
            ids[0] = (int32_t)i;
            assert_int_equal(dg_shard_add(w, &e, ids, ids, NULL), 0);
        }
        assert_int_equal(dg_shard_commit_take(w, NULL, NULL), 0);
    }
}

static int make(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    write_all(false);
    return 0;
}

static int clear(void **state)
{
    (void)state;
    for (size_t k = 0; k < SHARDS; k++)
        remove(names[k]);
    return rmdir(folder);
}

static struct dg_dataset *open_set(int mode, uint64_t tokens, uint64_t window, uint64_t seed)
{
    struct dg_dataset_options o = {
        .mode = mode, .batch_tokens = tokens, .window = window, .seed = seed, .shuffle = true};
    struct dg_dataset *d;
    assert_int_equal(dg_dataset_open_shards(paths, SHARDS, &o, &d, NULL), 0);
    return d;
}

static void test_reading(void **state)
{
    (void)state;
    struct dg_dataset *d = open_set(DG_BATCH_SUM, 500, 0, 1);
    int32_t source[MAX_LEN], target[MAX_LEN];
    uint64_t s = 0, t = 0, sum_s = 0, sum_t = 0;
    assert_int_equal(dg_dataset_count(d), N);
    for (uint64_t i = 0; i < N; i++) {
        uint32_t a, b;
        dg_dataset_lengths(d, i, &a, &b);
        dg_dataset_ids(d, i, source, target);
        assert_int_equal(a, source_len[i]);
        assert_int_equal(b, target_len[i]);
        assert_int_equal(source[0], i);
        assert_int_equal(dg_dataset_direction(d, i), i < 10 ? 0 : i < 3000 ? 1 : 2);
        sum_s += a;
        sum_t += b;
    }
    for (size_t i = 0; i < d->n_shards; i++) {
        s += dg_shard_info(d->shards[i])->source_tokens;
        t += dg_shard_info(d->shards[i])->target_tokens;
    }
    assert_int_equal(s, sum_s);
    assert_int_equal(t, sum_t);
    dg_dataset_close(d);
}

/* Checks that an epoch has every pair once, that batches keep the budget, and that nearly every one
 * is full. */
static void check_epoch(int mode, uint64_t tokens, uint64_t window)
{
    struct dg_dataset *d = open_set(mode, tokens, window, 3);
    struct dg_dataset_worst worst;
    struct dg_dataset_options o = {.mode = mode, .batch_tokens = tokens, .shuffle = true};
    unsigned char seen[N] = {0};
    uint64_t n = 0, batches = 0, filled = 0;
    dg_dataset_worst(d, &o, &worst);
    while (n < N) {
        struct dg_batch b;
        assert_int_equal(dg_dataset_next(d, &b, NULL), 0);
        assert_int_equal(b.epoch, 0);
        uint64_t s = 0, t = 0;
        uint32_t longest = 0;
        for (size_t i = 0; i < b.count; i++, n++) {
            uint64_t k = b.sentences[i];
            assert_false(seen[k]++);
            s += source_len[k];
            t += target_len[k];
            longest = source_len[k] > longest ? source_len[k] : longest;
            longest = target_len[k] > longest ? target_len[k] : longest;
        }
        assert_int_equal(s, b.source_tokens);
        assert_int_equal(t, b.target_tokens);
        assert_int_equal(longest, b.max_source > b.max_target ? b.max_source : b.max_target);
        uint64_t size = mode == DG_BATCH_PADDED ? longest * b.count : s > t ? s : t;
        assert_true(size <= tokens);
        assert_true(
            b.count <= worst.sentences && s <= worst.source_tokens && t <= worst.target_tokens);
        filled += size;
        batches++;
    }
    assert_int_equal(n, N);
    assert_true(filled > batches * tokens * 7 / 10);
    struct dg_batch b;
    assert_int_equal(dg_dataset_next(d, &b, NULL), 0);
    assert_int_equal(b.epoch, 1);
    dg_dataset_close(d);
}

static void test_an_epoch_is_every_pair_once(void **state)
{
    (void)state;
    check_epoch(DG_BATCH_SUM, 1000, 0);
    check_epoch(DG_BATCH_PADDED, 1200, 0);
    check_epoch(DG_BATCH_SUM, 2000, 1700); /* several windows, the last one small */
}

/* Batches hold similar lengths: real target tokens are most of the padded ones. */
static void test_batches_are_of_similar_length(void **state)
{
    (void)state;
    struct dg_dataset *d = open_set(DG_BATCH_SUM, 1000, 0, 3);
    uint64_t real = 0, padded = 0;
    struct dg_batch b;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(dg_dataset_next(d, &b, NULL), 0);
        real += b.target_tokens;
        padded += b.max_target * b.count;
    }
    assert_true(real * 100 > padded * 95);
    dg_dataset_close(d);
}

static uint64_t order_hash(struct dg_dataset *d, int batches)
{
    uint64_t h = 1469598103934665603u;
    struct dg_batch b;
    for (int k = 0; k < batches; k++) {
        assert_int_equal(dg_dataset_next(d, &b, NULL), 0);
        for (size_t i = 0; i < b.count; i++)
            h = (h ^ b.sentences[i]) * 1099511628211u;
        h = (h ^ b.count) * 1099511628211u;
    }
    return h;
}

static void test_order_is_a_function_of_seed_and_epoch(void **state)
{
    (void)state;
    struct dg_dataset *a = open_set(DG_BATCH_SUM, 1000, 2000, 3),
                      *b = open_set(DG_BATCH_SUM, 1000, 2000, 3),
                      *c = open_set(DG_BATCH_SUM, 1000, 2000, 4);
    uint64_t first = order_hash(a, 500), same = order_hash(b, 500), other = order_hash(c, 500);
    assert_true(first == same);
    assert_true(first != other);
    dg_dataset_close(a);
    dg_dataset_close(b);
    dg_dataset_close(c);
}

static void test_seek_continues_exactly(void **state)
{
    (void)state;
    struct dg_dataset *a = open_set(DG_BATCH_SUM, 1000, 1500, 9);
    /* 0: nothing drawn yet; for some of these, 51 and others fall on ends of windows and epochs. */
    for (int skip = 0; skip < 400; skip += 17) {
        struct dg_dataset_position start = {0}, p;
        assert_int_equal(dg_dataset_seek(a, &start, NULL), 0);
        order_hash(a, skip);
        dg_dataset_tell(a, &p);
        uint64_t went_on = order_hash(a, 60);
        struct dg_dataset *b = open_set(DG_BATCH_SUM, 1000, 1500, 9);
        assert_int_equal(dg_dataset_seek(b, &p, NULL), 0);
        assert_true(order_hash(b, 60) == went_on);
        dg_dataset_close(b);
    }
    struct dg_dataset_position far = {.cursor = N};
    assert_int_equal(dg_dataset_seek(a, &far, NULL), DG_EINVAL);
    dg_dataset_close(a);
}

static void test_weights(void **state)
{
    (void)state;
    enum { EPOCHS = 40 };
    write_all(true);
    struct dg_dataset *d = open_set(DG_BATCH_SUM, 2000, 0, 3);
    struct dg_batch b;
    uint64_t by[10] = {0};
    for (;;) {
        assert_int_equal(dg_dataset_next(d, &b, NULL), 0);
        if (b.epoch == EPOCHS)
            break;
        for (size_t i = 0; i < b.count; i++)
            by[b.sentences[i] % 10]++;
    }
    dg_dataset_close(d);
    write_all(false);
    /* 500 pairs of each kind; counts of 20,000 draws with probability 1/2 or 1/4 have a sigma
     * below 1.3 % of the mean. */
    double expected[10] = {2.5, 0.25, 0, 1, 1, 1, 1, 1, 1, 1};
    for (int k = 0; k < 10; k++) {
        double mean = expected[k] * EPOCHS * (N / 10), off = (double)by[k] - mean;
        if (k >= 2)
            assert_true(off == 0);
        else
            assert_true(off < 0.06 * mean && off > -0.06 * mean);
    }
}

/* The end of a batch in epochs is its share of an epoch, weights included; several windows, and the
 * same wherever the run is resumed. */
static void test_epochs(void **state)
{
    (void)state;
    write_all(true);
    struct dg_dataset *d = open_set(DG_BATCH_SUM, 1000, 1100, 3),
                      *again = open_set(DG_BATCH_SUM, 1000, 1100, 3);
    struct dg_dataset_position p;
    struct dg_batch b;
    uint64_t ends[1000], n = 0, batches = 0;
    double epochs[1000];
    for (;; batches++) {
        assert_true(batches < 1000);
        dg_dataset_tell(d, &p);
        assert_int_equal(dg_dataset_next(d, &b, NULL), 0);
        if (b.epoch)
            break;
        ends[batches] = n += b.count;
        epochs[batches] = dg_dataset_epochs(d);
        assert_int_equal(dg_dataset_seek(again, &p, NULL), 0);
        assert_int_equal(dg_dataset_next(again, &b, NULL), 0);
        assert_true(dg_dataset_epochs(again) == epochs[batches]);
    }
    assert_true(n != N);                   /* because of the weights */
    for (uint64_t i = 0; i < batches; i++) /* all windows but the last have equally many pairs */
        assert_float_equal(epochs[i], (double)ends[i] / (double)n, 0.03);
    assert_true(epochs[batches - 1] == 1);
    dg_dataset_close(d);
    dg_dataset_close(again);
    write_all(false);
}

static void test_unshuffled_is_in_order(void **state)
{
    (void)state;
    struct dg_dataset_options o = {
        .mode = DG_BATCH_SUM, .batch_tokens = 500, .window = 1, .shuffle = false};
    struct dg_dataset *d;
    struct dg_batch b;
    assert_int_equal(dg_dataset_open_shards(paths, SHARDS, &o, &d, NULL), 0);
    for (uint64_t i = 0; i < 20; i++) {
        assert_int_equal(dg_dataset_next(d, &b, NULL), 0);
        assert_int_equal(b.count, 1);
        assert_int_equal(b.sentences[0], i);
    }
    dg_dataset_close(d);
}

static void test_parts_and_cuts(void **state)
{
    (void)state;
    struct dg_dataset *d = open_set(DG_BATCH_SUM, 3000, 0, 3);
    for (int round = 0; round < 20; round++) {
        struct dg_batch b;
        assert_int_equal(dg_dataset_next(d, &b, NULL), 0);
        for (size_t n = 1; n <= 9; n += 2) {
            size_t next = 0;
            for (size_t i = 0; i < n; i++) {
                size_t begin, end;
                uint64_t tokens = 0, share = (b.source_tokens + b.target_tokens) / n;
                dg_batch_part(d, &b, n, i, &begin, &end);
                assert_int_equal(begin, next);
                for (size_t k = begin; k < end; k++)
                    tokens += source_len[b.sentences[k]] + target_len[b.sentences[k]];
                assert_true(tokens + 2 * MAX_LEN >= share && tokens <= share + 2 * MAX_LEN);
                next = end;
                for (size_t at = begin; at < end;) {
                    size_t cut = dg_batch_cut(d, &b, at, end, 300);
                    assert_true(cut > at && cut <= end);
                    tokens = 0;
                    for (; at < cut; at++)
                        tokens += source_len[b.sentences[at]] + target_len[b.sentences[at]];
                    assert_true(tokens <= 300);
                }
            }
            assert_int_equal(next, b.count);
        }
    }
    size_t begin, end;
    struct dg_batch one;
    assert_int_equal(dg_dataset_next(d, &one, NULL), 0);
    one.count = 1;
    one.source_tokens = source_len[one.sentences[0]];
    one.target_tokens = target_len[one.sentences[0]];
    size_t sum = 0;
    for (size_t i = 0; i < 4; i++) { /* more parts than sentences: exactly one has it */
        dg_batch_part(d, &one, 4, i, &begin, &end);
        sum += end - begin;
    }
    assert_int_equal(sum, 1);
    assert_int_equal(dg_batch_cut(d, &one, 0, 1, 1), 1); /* never less than a sentence */
    dg_dataset_close(d);
}

static void test_wrong_options(void **state)
{
    (void)state;
    struct dg_dataset_options o = {.batch_tokens = 0};
    struct dg_dataset *d;
    struct dg_error err = {0};
    assert_int_equal(dg_dataset_open_shards(paths, SHARDS, &o, &d, &err), DG_EINVAL);
    assert_string_equal(err.field, "batch_tokens");
    assert_null(d);
    o.batch_tokens = 5;
    assert_int_equal(dg_dataset_open_shards(paths, 0, &o, &d, NULL), DG_EINVAL);
    assert_true(dg_dataset_open(folder, "train", &o, &d, NULL) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_an_epoch_is_every_pair_once),
        cmocka_unit_test(test_batches_are_of_similar_length),
        cmocka_unit_test(test_order_is_a_function_of_seed_and_epoch),
        cmocka_unit_test(test_seek_continues_exactly),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_epochs),
        cmocka_unit_test(test_unshuffled_is_in_order),
        cmocka_unit_test(test_parts_and_cuts),
        cmocka_unit_test(test_wrong_options),
    };
    return cmocka_run_group_tests(tests, make, clear);
}
