/* Sets that are refused; what a good one is made into is tested in test_prepare.c. */
#include "tests/unit/prepare_corpus.h"

#include "trainer/data/dataset.h"

/* A dev set must have a loss: one with only long lines, or with none, is refused. A test set needs
 * no loss. */
static void test_dev_set_without_a_loss(void **state)
{
    (void)state;
    struct dg_recipe *r = recipe(",\"test\":[{\"source\":\"long.en\",\"target\":\"long.en\"}]");
    struct dg_recipe_file *dev = r->data.pairs[0].dev;
    struct dg_prepared *p;
    struct dg_error err = {0};
    struct dg_buffer b;
    dg_buffer_init(&b);
    write_text("none.en", &b);
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 30; k++)
            dg_buffer_adds(&b, "green house by the river ");
        dg_buffer_adds(&b, "\n");
    }
    write_text("long.en", &b);
    dg_buffer_deinit(&b);
    r->cleaning.max_tokens = 100;
    if (prepare(r, in_folder("long"), 2, NULL, &err) ||
        dg_prepared_open(in_folder("long"), &p, &err))
        fail_msg("%s", err.message);
    assert_int_equal(dg_prepared_sets(p, "test"), 1);
    dg_prepared_close(p);
    dev[0].source = dev[0].target = "long.en";
    r->cleaning.max_tokens = 99;
    assert_int_equal(prepare(r, in_folder("long"), 2, NULL, &err), DG_EINVAL);
    assert_string_equal(err.field, "cleaning.max_tokens");
    assert_string_equal(err.message,
        "the dev set en-de (long.en): each of its 2 pairs is over cleaning.max_tokens, which is "
        "99, so it has no loss; raise that, or choose shorter lines");
    dev[0].source = dev[0].target = "none.en";
    dg_error_clear(&err);
    assert_int_equal(prepare(r, in_folder("long"), 2, NULL, &err), DG_EINVAL);
    assert_string_equal(err.message, "the dev set en-de (none.en) has no lines");
    dg_recipe_free(r);
}

/* A line that cannot be scored is named with its own file, before the training
 * files are read: these are faulty, too. */
static void expect_fault(struct dg_recipe *r, const char *message)
{
    struct dg_error err = {0};
    for (int overlap = 0; overlap < 2; overlap++) {
        r->cleaning.remove_overlap = overlap;
        assert_int_equal(prepare(r, in_folder("faulty"), 2, NULL, &err), DG_EFORMAT);
        assert_string_equal(err.message, message);
        dg_error_clear(&err);
    }
}

static void test_faulty_lines_are_found_first(void **state)
{
    (void)state;
    struct dg_recipe *r = recipe(",\"test\":[{\"source\":\"sound.txt\",\"target\":\"latin.txt\"}]");
    struct dg_buffer b;
    struct dg_error err = {0};
    dg_buffer_init(&b);
    dg_buffer_adds(&b, "a girl\na house\n");
    write_text("sound.txt", &b);
    dg_buffer_reset(&b);
    dg_buffer_adds(&b, "ein M\xc3\xa4"
                       "dchen\nein H\xe4uschen\n");
    write_text("latin.txt", &b);
    write_text("rubbish.en", &b);
    write_text("rubbish.de", &b);
    dg_buffer_reset(&b);
    for (size_t i = 0; i <= (1 << 20); i++)
        dg_buffer_adds(&b, "x");
    dg_buffer_adds(&b, "\nsecond\n");
    write_text("endless.txt", &b);
    dg_buffer_deinit(&b);
    r->data.pairs[0].train[0].domains = "";
    r->data.pairs[0].train[0].source = "rubbish.en";
    r->data.pairs[0].train[0].target = "rubbish.de";
    expect_fault(r, "latin.txt line 2: not UTF-8");
    r->data.pairs[0].test[0].target = "endless.txt";
    expect_fault(r, "endless.txt line 1: too long");
    r->data.pairs[0].test[0].target = "sound.txt";
    assert_int_equal(prepare(r, in_folder("faulty"), 2, NULL, &err), DG_EINVAL);
    assert_non_null(strstr(err.message, "rubbish.en"));
    dg_recipe_free(r);
}

/* Scores of a set whose sides are swapped would be those of the other direction; more than half of
 * its pairs tell. */
static void test_sets_in_other_languages(void **state)
{
    static const char *const en =
        "A young boy in a red shirt swings a baseball bat while his friends are watching him.\n";
    static const char *const de =
        "Ein kleiner Junge in einem roten Hemd schwingt einen Schläger, während seine Freunde "
        "ihm zusehen.\n";
    (void)state;
    struct dg_recipe *r = recipe(",\"test\":[{\"source\":\"set.en\",\"target\":\"set.de\"}]");
    struct dg_error err = {0};
    for (int swapped = 0; swapped <= 3; swapped++) {
        struct dg_buffer s, t;
        dg_buffer_init(&s);
        dg_buffer_init(&t);
        for (int i = 0; i < 4; i++) {
            dg_buffer_adds(&s, i < swapped ? de : en);
            dg_buffer_adds(&t, i < swapped ? en : de);
        }
        write_text("set.en", &s);
        write_text("set.de", &t);
        dg_buffer_deinit(&s);
        dg_buffer_deinit(&t);
        r->cleaning.language_check = swapped > 0;
        r->cleaning.max_dropped = 1;
        if (swapped < 3 && prepare(r, in_folder("languages"), 2, NULL, &err))
            fail_msg("%d swapped: %s", swapped, err.message);
    }
    assert_int_equal(prepare(r, in_folder("languages"), 2, NULL, &err), DG_EINVAL);
    assert_non_null(strstr(err.message,
        "set.en, set.de: 3 of 4 pairs of this dev or test set are not en-de, for example line 1: "
        "\"Ein kleiner Junge"));
    assert_non_null(strstr(err.message, "source and target are swapped"));
    dg_recipe_free(r);
}

static void test_damaged_shard_is_refused(void **state)
{
    (void)state;
    struct dg_recipe *r = recipe("");
    struct dg_dataset_options o = {.batch_tokens = 1000};
    struct dg_dataset *d;
    struct dg_error err = {0};
    assert_int_equal(prepare(r, in_folder("damaged"), 1, NULL, &err), 0);
    FILE *f = fopen(in_folder("damaged/train-00000.shard"), "r+b");
    assert_non_null(f);
    assert_int_equal(fseek(f, 65, SEEK_SET), 0); /* upper half of the first id */
    assert_int_equal(fputc(0xFF, f), 0xFF);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(dg_dataset_open(in_folder("damaged"), "train", &o, &d, &err), DG_EFORMAT);
    assert_non_null(strstr(err.message, "train-00000.shard: the checksum does not match"));
    assert_null(d);
    dg_recipe_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_dev_set_without_a_loss),
        cmocka_unit_test(test_faulty_lines_are_found_first),
        cmocka_unit_test(test_sets_in_other_languages),
        cmocka_unit_test(test_damaged_shard_is_refused)};
    if (make(NULL))
        return 1;
    write_corpus();
    return cmocka_run_group_tests(tests, NULL, clear);
}
