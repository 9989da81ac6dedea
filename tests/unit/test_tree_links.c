/* Links from a tree's sequence to its words: by a worked example, and in a prepared folder, where
 * each bracket is one piece of a vocabulary that has little else. */
#include "trainer/align/tree_links.h"

#include "tests/unit/prepare_corpus.h"

static void test_worked_example(void **state)
{
    (void)state;
    /* un|seen dogs bark </s> against (S (NP XX XX )NP XX )S </s> */
    const uint32_t places[] = {0, 2, 3};
    const bool is_word[] = {false, false, true, true, false, true, false, false};
    const uint16_t keys[] = {0, 0, 0, 2, 3, 3, 4, 4};
    struct dg_link links[8];
    assert_int_equal(dg_tree_links(places, 3, 4, is_word, 8, links), 8);
    for (uint16_t t = 0; t < 8; t++) {
        assert_int_equal(links[t].query, t);
        assert_int_equal(links[t].key, keys[t]);
    }
    assert_int_equal(dg_tree_links(places, 2, 4, is_word, 8, links), 0);
    assert_int_equal(dg_tree_links(places, 3, 4, is_word, 5, links), 0);
}

/* Writes pair i with i % 5 + 3 words in two brackets; every hundredth pair has a word too few. */
static void write_trees(void)
{
    static const char *const words[] = {
        "house", "green", "river", "under", "walking", "seldom", "bridge", "paper"};
    struct dg_buffer s, t;
    dg_buffer_init(&s);
    dg_buffer_init(&t);
    for (unsigned i = 0; i < 500; i++) {
        const unsigned n = i % 5 + 3;
        for (unsigned k = 0; k < n; k++)
            dg_buffer_addf(&s, "%s%s%u", k ? " " : "", words[(i * 7 + k * k) % 8], (i + k) % 90);
        dg_buffer_adds(&s, "\n");
        dg_buffer_adds(&t, "(S (WHNP XX )WHNP");
        for (unsigned k = 1; k < n - (i % 100 == 0); k++)
            dg_buffer_adds(&t, " XX");
        dg_buffer_adds(&t, " )S\n");
    }
    write_text("trees.words", &s);
    write_text("trees.parse", &t);
    dg_buffer_deinit(&s);
    dg_buffer_deinit(&t);
}

static struct dg_recipe *tree_recipe(const char *more)
{
    struct dg_recipe *r = NULL;
    struct dg_error err = {0};
    char text[1024];
    snprintf(text, sizeof text,
        "{\"name\":\"trees\",\"data\":{\"pairs\":[{\"source_lang\":\"en\",\"target_lang\":"
        "\"parse\",\"train\":[{\"source\":\"trees.words\",\"target\":\"trees.parse\"}]}]},"
        "\"model\":{\"tied_embeddings\":false},\"vocabulary\":{\"joint\":false,\"size\":350},"
        "\"cleaning\":{\"language_check\":false,\"check_relation\":false,\"deduplicate\":false,"
        "\"max_char_ratio\":0,\"max_token_ratio\":0},"
        "\"guided_alignment\":{\"weight\":0.5},\"output\":{\"answers\":\"%s\"}}",
        more);
    if (dg_recipe_parse(text, strlen(text), "", folder, &r, &err))
        fail_msg("%s", err.message);
    return r;
}

static void check_pair(const struct dg_dataset *d, uint64_t i, const struct dg_vocabulary *v)
{
    int32_t source[64], target[64];
    uint32_t s, t, key = 0;
    size_t n;
    const struct dg_link *l = dg_dataset_links(d, i, &n);
    dg_dataset_lengths(d, i, &s, &t);
    dg_dataset_ids(d, i, source, target);
    assert_string_equal(dg_tokenizer_piece(v->target, target[1]), "\xe2\x96\x81(WHNP");
    if (!n) /* a pair with a missing word */
        return;
    assert_int_equal(n, t);
    for (uint32_t k = 0; k < t; k++) {
        assert_int_equal(l[k].query, k);
        assert_int_equal(l[k].key, key);
        if (strcmp(dg_tokenizer_piece(v->target, target[k]), "\xe2\x96\x81XX"))
            continue;
        do
            key++;
        while (key + 1 < s &&
               strncmp(dg_tokenizer_piece(v->source, source[key]), "\xe2\x96\x81", 3) != 0);
    }
    assert_int_equal(key, s - 1);
}

static void test_prepared(void **state)
{
    (void)state;
    const struct dg_dataset_options o = {.batch_tokens = 500, .links = true};
    struct dg_recipe *r = tree_recipe("trees"), *text = tree_recipe("text");
    struct dg_vocabulary *v = NULL;
    struct dg_dataset *d = NULL;
    struct dg_error err = {0};
    size_t n, without = 0;
    bool made;
    write_trees();
    if (prepare(r, in_folder("trees"), 1, &made, &err))
        fail_msg("%s", err.message);
    /* As text these would be cut at "(", which gives fewer than 350 pieces. */
    assert_int_equal(prepare(text, in_folder("text"), 1, &made, &err), DG_EINVAL);
    assert_string_equal(err.field, "vocabulary.size");
    if (dg_vocabulary_open(r, in_folder("trees"), &v, &err) ||
        dg_dataset_open(in_folder("trees"), "train", &o, &d, &err))
        fail_msg("%s", err.message);
    assert_int_equal(dg_tokenizer_size(v->source), 350);
    assert_true(dg_tokenizer_size(v->target) < 350);
    assert_int_equal(dg_dataset_count(d), 500);
    for (uint64_t i = 0; i < 500; i++) {
        check_pair(d, i, v);
        dg_dataset_links(d, i, &n);
        without += n == 0;
    }
    assert_int_equal(without, 5);
    dg_dataset_close(d);
    dg_vocabulary_close(v);
    dg_recipe_free(r);
    dg_recipe_free(text);
}

static void test_no_piece_of_a_word(void **state)
{
    (void)state;
    struct dg_recipe *r = tree_recipe("trees");
    struct dg_error err = {0};
    struct dg_buffer s, t;
    bool made;
    dg_buffer_init(&s);
    dg_buffer_init(&t);
    for (unsigned i = 0; i < 1000; i++)
        add_pair(&s, &t, i);
    write_text("trees.words", &s);
    write_text("trees.parse", &t);
    assert_int_equal(prepare(r, in_folder("none"), 1, &made, &err), DG_EINVAL);
    assert_string_equal(err.field, "guided_alignment.weight");
    dg_buffer_deinit(&s);
    dg_buffer_deinit(&t);
    dg_recipe_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_worked_example),
        cmocka_unit_test(test_prepared), cmocka_unit_test(test_no_piece_of_a_word)};
    return cmocka_run_group_tests(tests, make, clear);
}
