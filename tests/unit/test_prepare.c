
#include "tests/unit/prepare_corpus.h"
#include "tokenizer/tokenizer.h"
#include "trainer/data/dataset_internal.h"

#include <ctype.h>

static void test_counts(void **state)
{
    (void)state;
    struct dg_recipe *r = recipe("");
    struct dg_prepared *p;
    struct dg_error err = {0};
    bool made;
    if (prepare(r, in_folder("a"), 2, &made, &err))
        fail_msg("%s", err.message);
    assert_true(made);
    assert_int_equal(dg_prepared_open(in_folder("a"), &p, &err), 0);
    assert_int_equal(dropped(p, "read"), 1038);
    assert_int_equal(dropped(p, "kept"), 1000);
    assert_int_equal(dropped(p, "duplicate"), 30);
    assert_int_equal(dropped(p, "not_utf8"), 1);
    assert_int_equal(dropped(p, "identical"), 1);
    assert_int_equal(dropped(p, "empty"), 1);
    assert_int_equal(
        dropped(p, "overlap"), 1); /* the dev line has two spaces: cleaned lines are compared */
    assert_int_equal(dropped(p, "length_ratio"), 1);
    assert_int_equal(dropped(p, "control_characters"), 1);
    assert_int_equal(dropped(p, "no_letters"), 1);
    assert_int_equal(dropped(p, "weight_zero"), 1);
    assert_int_equal(dg_prepared_source_vocab(p), 400);
    assert_int_equal(strlen(dg_prepared_hash(p)), 32);
    struct dg_buffer table;
    dg_buffer_init(&table);
    assert_int_equal(dg_prepared_table(p, &table), 0);
    assert_non_null(strstr(table.data, "duplicate"));
    dg_buffer_deinit(&table);
    dg_prepared_close(p);
    dg_recipe_free(r);
}

/* The shards hold the lines in order: decoded, they restore the text. */
static void test_shards_decode_to_the_text(void **state)
{
    (void)state;
    struct dg_dataset_options o = {.batch_tokens = 1000};
    struct dg_dataset *d;
    struct dg_tokenizer *t;
    struct dg_buffer s, g;
    dg_buffer_init(&s);
    dg_buffer_init(&g);
    assert_int_equal(dg_dataset_open(in_folder("a"), "train", &o, &d, NULL), 0);
    assert_int_equal(dg_dataset_count(d), 1000);
    assert_int_equal(
        dg_tokenizer_open(in_folder("a/source.spm"), in_folder("a/source.vocab"), &t, NULL), 0);
    for (unsigned i = 0; i < 1000; i++) {
        int32_t source[64], target[64];
        uint32_t n, m;
        char *text;
        size_t len;
        dg_buffer_reset(&s);
        dg_buffer_reset(&g);
        add_pair(&s, &g, i);
        dg_dataset_lengths(d, i, &n, &m);
        assert_true(n < 64 && m < 64);
        dg_dataset_ids(d, i, source, target);
        assert_int_equal(source[n - 1], 0);
        assert_int_equal(target[m - 1], 0);
        assert_int_equal(dg_tokenizer_decode(t, source, n, &text, &len, NULL, NULL), 0);
        assert_int_equal(len, s.len - 1);
        assert_memory_equal(text, s.data, len);
        free(text);
        assert_int_equal(dg_tokenizer_decode(t, target, m, &text, &len, NULL, NULL), 0);
        assert_memory_equal(text, g.data, len);
        free(text);
        assert_true(dg_dataset_entry(d, i)->weight == (i % 2 ? 1 : 2));
    }
    dg_tokenizer_close(t);
    dg_dataset_close(d);
    dg_buffer_deinit(&s);
    dg_buffer_deinit(&g);
}

static void test_dev_keeps_every_line(void **state)
{
    (void)state;
    struct dg_prepared *p;
    const struct dg_prepared_set *set;
    struct dg_buffer b;
    assert_int_equal(dg_prepared_open(in_folder("a"), &p, NULL), 0);
    assert_int_equal(dg_prepared_sets(p, "dev"), 1);
    assert_int_equal(dg_prepared_sets(p, "test"), 0);
    set = dg_prepared_set(p, "dev", 0);
    assert_string_equal(set->name, "dev-0");
    assert_int_equal(set->sentences, 13); /* control characters too */
    dg_buffer_init(&b);
    assert_int_equal(dg_file_read(set->source_text, &b, NULL), 0);
    /* unchanged */
    assert_non_null(strstr(b.data, "held  out source\n\ncontrol \xc2\x96 character\n"));
    dg_buffer_reset(&b);
    assert_int_equal(dg_file_read(set->target_text, &b, NULL), 0);
    assert_non_null(strstr(b.data, "und ihr Ziel\n\n"));
    dg_buffer_deinit(&b);
    dg_prepared_close(p);
}

/* A held-out line with control characters is encoded as any text: they are not the reserved pieces
 * that they stand for in masked pairs. */
static void test_control_characters_are_text(void **state)
{
    (void)state;
    struct dg_recipe *r =
        recipe(",\"test\":[{\"source\":\"control.txt\",\"target\":\"control.txt\"}]");
    struct dg_dataset_options o = {.batch_tokens = 1000};
    struct dg_prepared *p;
    const struct dg_prepared_set *set;
    struct dg_dataset *d;
    struct dg_tokenizer *t;
    struct dg_buffer b;
    struct dg_error err = {0};
    dg_buffer_init(&b);
    dg_buffer_adds(&b, "house \x0e green\nhouse \x1b green\n");
    for (int i = 0; i < 40; i++)
        dg_buffer_adds(&b, "a\x1b");
    dg_buffer_adds(&b, "\n");
    write_text("control.txt", &b);
    r->vocabulary.reserved = 2;
    if (prepare(r, in_folder("control"), 1, NULL, &err))
        fail_msg("%s", err.message);
    assert_int_equal(dg_prepared_open(in_folder("control"), &p, NULL), 0);
    set = dg_prepared_set(p, "test", 0);
    assert_int_equal(set->left_out, 0);
    assert_int_equal(dg_dataset_open(in_folder("control"), set->name, &o, &d, NULL), 0);
    assert_int_equal(dg_tokenizer_open(in_folder("control/source.spm"),
                         in_folder("control/source.vocab"), &t, NULL),
        0);
    const char *line = b.data;
    for (uint64_t i = 0; i < 3; i++, line = strchr(line, '\n') + 1) {
        struct dg_token *tokens;
        size_t n_tokens;
        int32_t ids[2][256];
        uint32_t n[2];
        assert_int_equal(dg_tokenizer_encode(t, line, (size_t)(strchr(line, '\n') - line), &tokens,
                             &n_tokens, NULL),
            0);
        dg_dataset_lengths(d, i, &n[0], &n[1]);
        assert_true(n[0] <= 256);
        dg_dataset_ids(d, i, ids[0], ids[1]);
        for (int side = 0; side < 2; side++) {
            assert_int_equal(n[side], n_tokens + 1);
            for (size_t k = 0; k < n_tokens; k++)
                assert_int_equal(ids[side][k], tokens[k].id);
        }
        free(tokens);
    }
    dg_tokenizer_close(t);
    dg_dataset_close(d);
    dg_prepared_close(p);
    dg_buffer_deinit(&b);
    dg_recipe_free(r);
}

/* The shards leave out lines that the model cannot take, and the set reports it. */
static void test_dev_lines_over_the_limit(void **state)
{
    (void)state;
    struct dg_recipe *r = recipe("");
    struct dg_prepared *all, *some;
    const struct dg_prepared_set *set;
    struct dg_buffer table;
    dg_buffer_init(&table);
    assert_int_equal(dg_prepared_open(in_folder("a"), &all, NULL), 0);
    set = dg_prepared_set(all, "dev", 0);
    const uint32_t longest = set->longest;
    assert_true(longest > 10);
    assert_int_equal(set->left_out, 0);
    r->cleaning.max_tokens = longest - 1;
    assert_int_equal(prepare(r, in_folder("short"), 2, NULL, NULL), 0);
    assert_int_equal(dg_prepared_open(in_folder("short"), &some, NULL), 0);
    set = dg_prepared_set(some, "dev", 0);
    assert_true(set->left_out > 0 && set->left_out < set->sentences);
    assert_int_equal(set->longest, longest);
    assert_int_equal(dg_prepared_table(some, &table), 0);
    assert_non_null(strstr(table.data, "more are over cleaning.max_tokens"));
    dg_buffer_deinit(&table);
    dg_prepared_close(all);
    dg_prepared_close(some);
    dg_recipe_free(r);
}

static void expect_same_file(const char *a, const char *b, bool same)
{
    struct dg_buffer x, y;
    dg_buffer_init(&x);
    dg_buffer_init(&y);
    assert_int_equal(dg_file_read(a, &x, NULL), 0);
    assert_int_equal(dg_file_read(b, &y, NULL), 0);
    assert_int_equal(x.len == y.len && memcmp(x.data, y.data, x.len) == 0, same);
    dg_buffer_deinit(&x);
    dg_buffer_deinit(&y);
}

static void test_again(void **state)
{
    (void)state;
    struct dg_recipe *r = recipe("");
    struct dg_error err = {0};
    bool made = true;
    assert_int_equal(prepare(r, in_folder("a"), 1, &made, &err), 0);
    assert_false(made); /* nothing has changed */
    assert_int_equal(prepare(r, in_folder("b"), 5, &made, &err), 0);
    expect_same_file(in_folder("a/train-00000.shard"), in_folder("b/train-00000.shard"),
        true); /* threads do not matter */

    assert_int_equal(truncate(in_folder("b/train-00000.shard"), 100), 0);
    assert_int_equal(prepare(r, in_folder("b"), 1, &made, &err), 0);
    assert_true(made); /* damage is repaired */
    expect_same_file(in_folder("a/train-00000.shard"), in_folder("b/train-00000.shard"), true);
    dg_recipe_free(r);

    r = recipe(",\"both_directions\":false");
    assert_int_equal(prepare(r, in_folder("b"), 1, &made, &err), 0);
    assert_false(made); /* the same, written differently */
    dg_recipe_free(r);

    struct dg_buffer b;
    dg_buffer_init(&b);
    assert_int_equal(dg_file_read(in_folder("train.en"), &b, NULL), 0);
    b.data[0] = 'H';
    write_text("train.en", &b);
    r = recipe("");
    assert_int_equal(prepare(r, in_folder("b"), 1, &made, &err), 0);
    assert_true(made); /* one byte of an input changed */
    expect_same_file(in_folder("a/train-00000.shard"), in_folder("b/train-00000.shard"), false);
    dg_recipe_free(r);
    dg_buffer_deinit(&b);
    write_corpus();
}

static void test_both_directions(void **state)
{
    (void)state;
    struct dg_recipe *r = recipe(",\"both_directions\":true");
    struct dg_dataset_options o = {.batch_tokens = 1000};
    struct dg_dataset *d;
    struct dg_tokenizer *t;
    struct dg_prepared *p;
    struct dg_error err = {0};
    if (prepare(r, in_folder("c"), 2, NULL, &err))
        fail_msg("%s", err.message);
    assert_int_equal(dg_dataset_open(in_folder("c"), "train", &o, &d, NULL), 0);
    assert_int_equal(
        dg_tokenizer_open(in_folder("c/source.spm"), in_folder("c/source.vocab"), &t, NULL), 0);
    assert_int_equal(dg_dataset_count(d), 2000);
    int32_t a[2][64], b[2][64];
    uint32_t n[2], m[2];
    for (uint64_t i = 0; i < 2; i++) {
        dg_dataset_lengths(d, i, &n[i], &m[i]);
        dg_dataset_ids(d, i, a[i], b[i]);
        assert_int_equal(dg_dataset_direction(d, i), i);
    }
    assert_int_equal(a[0][0], dg_tokenizer_id(t, "<2de>"));
    assert_int_equal(a[1][0], dg_tokenizer_id(t, "<2en>"));
    assert_int_equal(n[0], m[1] + 1); /* only the source has the tag */
    assert_memory_equal(a[0] + 1, b[1], m[1] * sizeof(int32_t));
    assert_memory_equal(a[1] + 1, b[0], m[0] * sizeof(int32_t));
    assert_int_equal(dg_prepared_open(in_folder("c"), &p, NULL), 0);
    const struct dg_prepared_set *set;
    assert_int_equal(dg_prepared_sets(p, "dev"), 2);
    set = dg_prepared_set(p, "dev", 1);
    struct dg_buffer text;
    dg_buffer_init(&text);
    assert_int_equal(dg_file_read(set->source_text, &text, NULL), 0);
    assert_non_null(strstr(text.data, "und ihr Ziel"));
    dg_buffer_deinit(&text);
    dg_prepared_close(p);
    dg_tokenizer_close(t);
    dg_dataset_close(d);
    dg_recipe_free(r);
}

static void test_vocabularies_apart_and_taken_over(void **state)
{
    (void)state;
    struct dg_error err = {0};
    char text[1024], from[128];
    struct dg_recipe *r;
    static const char head[] =
        "\"data\":{\"pairs\":[{\"source_lang\":\"en\",\"target_lang\":\"de\",\"train\":["
        "{\"source\":\"train.en\",\"target\":\"train.de\"}]}]},\"cleaning\":{\"language_check\":"
        "false}";
    snprintf(text, sizeof text,
        "{\"vocabulary\":{\"joint\":false,\"size\":350},\"model\":{\"tied_embeddings\":false},%s}",
        head);
    assert_int_equal(dg_recipe_parse(text, strlen(text), "", folder, &r, &err), 0);
    if (prepare(r, in_folder("d"), 2, NULL, &err))
        fail_msg("%s", err.message);
    expect_same_file(in_folder("d/source.vocab"), in_folder("d/target.vocab"), false);
    dg_recipe_free(r);
    snprintf(from, sizeof from, "%s", in_folder("a"));
    snprintf(text, sizeof text, "{\"vocabulary\":{\"from\":\"%s\"},%s}", from, head);
    assert_int_equal(dg_recipe_parse(text, strlen(text), "", folder, &r, &err), 0);
    assert_int_equal(prepare(r, in_folder("e"), 2, NULL, &err), 0);
    expect_same_file(in_folder("a/source.spm"), in_folder("e/source.spm"), true);
    dg_recipe_free(r);
    snprintf(text, sizeof text, "{\"vocabulary\":{\"from\":\"%s/source.spm\"},%s}", from, head);
    assert_int_equal(dg_recipe_parse(text, strlen(text), "", folder, &r, &err), 0);
    assert_int_equal(prepare(r, in_folder("f"), 2, NULL, &err), 0);
    expect_same_file(in_folder("a/source.vocab"), in_folder("f/target.vocab"), true);
    dg_recipe_free(r);
}

static void test_errors(void **state)
{
    (void)state;
    struct dg_recipe *r = recipe("");
    struct dg_prepared *p;
    struct dg_error err = {0};
    volatile int stop = 1;
    struct dg_prepare_options o = {.dir = in_folder("g"), .quiet = true, .stop = &stop};
    char dir[128];
    snprintf(dir, sizeof dir, "%s", o.dir);
    o.dir = dir;
    assert_int_equal(dg_prepare(r, &o, NULL, &err), DG_ECANCELED);
    assert_true(dg_prepared_open(dir, &p, NULL) < 0); /* unfinished */

    struct dg_recipe *bare;
    assert_int_equal(dg_recipe_parse("{}", 2, "", "", &bare, NULL), 0);
    dg_error_clear(&err);
    assert_int_equal(prepare(bare, dir, 1, NULL, &err), DG_EINVAL);
    assert_string_equal(err.field, "data.pairs");
    dg_recipe_free(bare);

    struct dg_buffer b;
    dg_buffer_init(&b);
    dg_buffer_adds(&b, "one line\n");
    write_text("train.de", &b);
    dg_error_clear(&err);
    assert_int_equal(prepare(r, dir, 1, NULL, &err), DG_EFORMAT);
    assert_non_null(strstr(err.message, "train.de ends after 1 lines"));
    write_text("train.en", &b);
    write_text("train.domain", &b);
    dg_error_clear(&err);
    assert_true(
        prepare(r, dir, 1, NULL, &err) < 0); /* nothing left, or too little for a vocabulary */
    assert_true(err.message[0]);
    dg_buffer_reset(&b);
    dg_buffer_adds(&b, "bad \xff\n");
    write_corpus();
    write_text("dev.en", &b);
    write_text("dev.de", &b);
    dg_error_clear(&err);
    assert_int_equal(prepare(r, dir, 1, NULL, &err), DG_EFORMAT);
    assert_non_null(strstr(err.message, "dev.en line 1: not UTF-8"));
    remove(in_folder("train.en"));
    dg_error_clear(&err);
    assert_int_equal(prepare(r, dir, 1, NULL, &err), DG_ENOTFOUND);
    assert_non_null(strstr(err.message, "train.en"));
    dg_buffer_deinit(&b);
    dg_recipe_free(r);
    write_corpus();
    r = recipe("");
    r->cleaning.language_check = true;
    dg_error_clear(&err);
    assert_int_equal(prepare(r, dir, 1, NULL, &err), 0);
    dg_recipe_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_shards_decode_to_the_text),
        cmocka_unit_test(test_dev_keeps_every_line),
        cmocka_unit_test(test_control_characters_are_text),
        cmocka_unit_test(test_dev_lines_over_the_limit),
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_both_directions),
        cmocka_unit_test(test_vocabularies_apart_and_taken_over),
        cmocka_unit_test(test_errors),
    };
    if (make(NULL))
        return 1;
    write_corpus();
    return cmocka_run_group_tests(tests, NULL, clear);
}
