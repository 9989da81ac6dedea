/* Dev and test sets that are refused; what a good one is made into is tested in test_prepare.c. */
#include "tests/unit/prepare_corpus.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_dev_set_without_a_loss)};
    if (make(NULL))
        return 1;
    write_corpus();
    return cmocka_run_group_tests(tests, NULL, clear);
}
