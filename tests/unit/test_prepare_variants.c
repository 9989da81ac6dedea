/* Variants of a prepared set: BPE dropout, words and other forms of lines, both directions. */
#include "tests/unit/prepare_corpus.h"
#include "tokenizer/tokenizer.h"
#include "trainer/data/dataset_internal.h"

#include <ctype.h>

/* BPE dropout: other pieces, the same text; the same pieces wherever the run is resumed; others in
 * the next epoch. */
static void test_bpe_dropout(void **state)
{
    (void)state;
    struct dg_dataset_options o = {
        .batch_tokens = 300, .seed = 5, .shuffle = true, .bpe_dropout = 0.2};
    struct dg_dataset *d, *again;
    struct dg_tokenizer *t;
    struct dg_batch b, c;
    struct dg_error err = {0};
    if (dg_dataset_open(in_folder("a"), "train", &o, &d, &err))
        fail_msg("%s", err.message);
    assert_int_equal(dg_dataset_open(in_folder("a"), "train", &o, &again, &err), 0);
    assert_int_equal(
        dg_tokenizer_open(in_folder("a/source.spm"), in_folder("a/source.vocab"), &t, NULL), 0);
    uint64_t stored_s = 0, stored_t = 0, drawn = 0, sentences = 0;
    for (size_t i = 0; i < d->n_shards; i++) {
        stored_s += dg_shard_info(d->shards[i])->source_tokens;
        stored_t += dg_shard_info(d->shards[i])->target_tokens;
    }
    for (;;) {
        struct dg_dataset_position p;
        dg_dataset_tell(d, &p);
        assert_int_equal(dg_dataset_next(d, &b, NULL), 0);
        if (b.epoch)
            break;
        assert_int_equal(dg_dataset_seek(again, &p, NULL), 0);
        assert_int_equal(dg_dataset_next(again, &c, NULL), 0);
        uint64_t sum_s = 0, sum_t = 0;
        for (size_t i = 0; i < b.count; i++) {
            uint32_t n, m, n2, m2;
            int32_t source[256], target[256], other[256];
            char *text;
            size_t len;
            struct dg_buffer s, g;
            dg_dataset_lengths(d, b.sentences[i], &n, &m);
            dg_dataset_lengths(again, c.sentences[i], &n2, &m2);
            dg_dataset_ids(d, b.sentences[i], source, target);
            dg_dataset_ids(again, c.sentences[i], other, NULL);
            assert_int_equal(n, n2);
            assert_memory_equal(source, other, n * sizeof *source);
            dg_buffer_init(&s);
            dg_buffer_init(&g);
            add_pair(&s, &g, (unsigned)b.sentences[i]);
            assert_int_equal(dg_tokenizer_decode(t, target, m, &text, &len, NULL, NULL), 0);
            assert_int_equal(len, g.len - 1);
            assert_memory_equal(text, g.data, len);
            free(text);
            dg_buffer_deinit(&s);
            dg_buffer_deinit(&g);
            sum_s += n;
            sum_t += m;
        }
        assert_int_equal(sum_s, b.source_tokens);
        assert_int_equal(sum_t, b.target_tokens);
        drawn += sum_s + sum_t;
        sentences += b.count;
    }
    /* Even pairs occur twice (weight 2). */
    assert_int_equal(sentences, 1500);
    assert_true(drawn * 10 > (stored_s + stored_t) * 15 * 13 / 10);
    dg_tokenizer_close(t);
    dg_dataset_close(d);
    dg_dataset_close(again);
}

/* Ids that are not in the order of the merges are refused, rather than drawn wrongly. */
static void test_bpe_dropout_needs_bpe_order(void **state)
{
    (void)state;
    struct dg_dataset_options o = {.batch_tokens = 300, .bpe_dropout = 0.1};
    struct dg_dataset *d;
    struct dg_buffer b, turned;
    struct dg_error err = {0};
    dg_buffer_init(&b);
    dg_buffer_init(&turned);
    assert_int_equal(dg_file_read(in_folder("b/source.vocab"), &b, NULL), 0);
    /* After </s>, <unk> and 256 bytes, the lines in reverse order. */
    size_t head = 0;
    for (int line = 0; line < 258; line++)
        head = (size_t)(strchr(b.data + head, '\n') - b.data) + 1;
    dg_buffer_add(&turned, b.data, head);
    for (size_t end = b.len - 1; end > head;) {
        size_t begin = end;
        while (b.data[begin - 1] != '\n')
            begin--;
        dg_buffer_add(&turned, b.data + begin, end - begin);
        dg_buffer_adds(&turned, "\n");
        end = begin - 1;
    }
    assert_int_equal(turned.len, b.len);
    write_text("b/source.vocab", &turned);
    assert_int_equal(dg_dataset_open(in_folder("b"), "train", &o, &d, &err), DG_EUNSUP);
    assert_string_equal(err.field, "training.bpe_dropout");
    assert_null(d);
    dg_buffer_deinit(&b);
    dg_buffer_deinit(&turned);
}

/* Opens the training set of r with its variants, prepared under that name, and the one without.
 * Other forms are added, and do not count as pairs of the corpus. */
static void open_with_plain(const struct dg_recipe *r, const char *name, struct dg_dataset **plain,
    struct dg_dataset **more)
{
    const struct dg_dataset_options o = {.batch_tokens = 1};
    struct dg_prepared *a, *b;
    struct dg_error err = {0};
    if (prepare(r, in_folder(name), 2, NULL, &err) || dg_prepared_open(in_folder(name), &b, &err) ||
        dg_prepared_open(in_folder("a"), &a, &err))
        fail_msg("%s", err.message);
    assert_int_equal(dropped(a, "kept"), dropped(b, "kept"));
    assert_int_equal(dropped(a, "read"), dropped(b, "read"));
    assert_int_equal(dg_dataset_open(in_folder("a"), "train", &o, plain, &err), 0);
    assert_int_equal(dg_dataset_open(in_folder(name), "train", &o, more, &err), 0);
    dg_prepared_close(a);
    dg_prepared_close(b);
}

static void test_variants(void **state)
{
    (void)state;
    struct dg_recipe *r = recipe("");
    struct dg_dataset *a, *b;
    r->variants.upper = 0.5;
    open_with_plain(r, "variants", &a, &b);
    assert_in_range(
        dg_dataset_count(b), dg_dataset_count(a) * 14 / 10, dg_dataset_count(a) * 16 / 10);
    dg_dataset_close(a);
    dg_dataset_close(b);
    dg_recipe_free(r);
}

/* Eight words, each as in sentences and with a capital letter. */
static void test_words(void **state)
{
    (void)state;
    struct dg_recipe *r = recipe("");
    struct dg_dataset *a, *b;
    r->variants.words = 3;
    open_with_plain(r, "words", &a, &b);
    uint64_t n = dg_dataset_count(a);
    assert_int_equal(dg_dataset_count(b), n + 16);
    for (uint64_t i = 0; i < 16; i++)
        assert_true((double)dg_dataset_entry(b, n + i)->weight == 3);
    dg_dataset_close(a);
    dg_dataset_close(b);
    dg_recipe_free(r);
}

/* The domain's weight multiplies how often words occur, and 0 leaves them out. A folder whose words
 * had another weight is not current. */
static void test_words_have_their_domain_s_weight(void **state)
{
    (void)state;
    static const double factors[] = {1, 0.5, 0};
    struct dg_recipe_weight weights[] = {{"even", 2}, {"never", 0}, {"words", 1}};
    struct dg_recipe *r = recipe("");
    r->variants.words = 3;
    r->data.domain_weights = weights;
    r->data.n_domain_weights = 3;
    for (size_t k = 0; k < 3; k++) {
        struct dg_dataset *a, *b;
        bool made;
        weights[2].weight = factors[k];
        assert_int_equal(prepare(r, in_folder("weighted"), 2, &made, NULL), 0);
        assert_true(made);
        open_with_plain(r, "weighted", &a, &b);
        const uint64_t n = dg_dataset_count(a), words = factors[k] > 0 ? 16 : 0;
        assert_int_equal(dg_dataset_count(b), n + words);
        for (uint64_t i = 0; i < words; i++)
            assert_true((double)dg_dataset_entry(b, n + i)->weight == 3 * factors[k]);
        dg_dataset_close(a);
        dg_dataset_close(b);
    }
    dg_recipe_free(r);
}

/* A form or word that equals a held-out line, on either side, is left out, though its origin is not
 * held out. */
static void test_variants_held_out(void **state)
{
    (void)state;
    static const char *files[] = {"held.txt"};
    const struct dg_dataset_options o = {.batch_tokens = 1};
    struct dg_dataset *d;
    struct dg_error err = {0};
    struct dg_buffer source, target, lines;
    struct dg_buffer *all[] = {&source, &target, &lines};
    for (size_t i = 0; i < 3; i++)
        dg_buffer_init(all[i]);
    add_pair(&source, &target, 3);
    for (size_t i = 0; i < source.len; i++)
        source.data[i] = (char)toupper(source.data[i]);
    dg_buffer_addf(&lines, "%sgreen\nHaus\n", source.data);
    write_text("held.txt", &lines);
    uint64_t n[2];
    for (int held = 0; held < 2; held++) {
        struct dg_recipe *r = recipe("");
        r->variants.upper = 1;
        r->variants.words = 1;
        r->data.held_out = files;
        r->data.n_held_out = (size_t)held;
        if (prepare(r, in_folder(held ? "held" : "free"), 2, NULL, &err) ||
            dg_dataset_open(in_folder(held ? "held" : "free"), "train", &o, &d, &err))
            fail_msg("%s", err.message);
        n[held] = dg_dataset_count(d);
        dg_dataset_close(d);
        dg_recipe_free(r);
    }
    /* A pair in capitals; "green", but not "Green"; "house" and "House", which both become
     * "Haus". */
    assert_int_equal(n[0] - n[1], 1 + 3);
    for (size_t i = 0; i < 3; i++)
        dg_buffer_deinit(all[i]);
}

/* Prepares the set that variants are compared with, and once more for the test that damages it. */
static int prepare_plain(void **state)
{
    (void)state;
    struct dg_recipe *r = recipe("");
    struct dg_error err = {0};
    bool made;
    if (prepare(r, in_folder("a"), 2, &made, &err) || prepare(r, in_folder("b"), 2, &made, &err))
        fail_msg("%s", err.message);
    dg_recipe_free(r);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bpe_dropout),
        cmocka_unit_test(test_bpe_dropout_needs_bpe_order),
        cmocka_unit_test(test_variants),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_words_have_their_domain_s_weight),
        cmocka_unit_test(test_variants_held_out),
    };
    if (make(NULL))
        return 1;
    write_corpus();
    return cmocka_run_group_tests(tests, prepare_plain, clear);
}
