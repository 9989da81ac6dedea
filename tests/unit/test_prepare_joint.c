/* A vocabulary that is taken over may be one for each side, whatever the recipe's `joint` says:
 * what needs one for both sides is refused. */
#include "tests/unit/prepare_corpus.h"

/* Parses a recipe that takes the vocabularies over from the folder `two`. */
static struct dg_recipe *taken_over(bool both_directions, bool tied)
{
    char text[1024];
    struct dg_recipe *r;
    struct dg_error err = {0};
    snprintf(text, sizeof text,
        "{\"vocabulary\":{\"from\":\"%s\"},\"model\":{\"tied_embeddings\":%s},"
        "\"cleaning\":{\"language_check\":false},\"data\":{\"target_tags\":\"never\",\"pairs\":["
        "{\"source_lang\":\"en\",\"target_lang\":\"de\",\"both_directions\":%s,"
        "\"train\":[{\"source\":\"train.en\",\"target\":\"train.de\"}]}]}}",
        in_folder("two"), tied ? "true" : "false", both_directions ? "true" : "false");
    if (dg_recipe_parse(text, strlen(text), "", folder, &r, &err))
        fail_msg("%s", err.message);
    return r;
}

static void refuse(struct dg_recipe *r, const char *field, const char *message)
{
    struct dg_error err = {0};
    assert_int_equal(prepare(r, in_folder("refused"), 2, NULL, &err), DG_EINVAL);
    assert_string_equal(err.field, field);
    assert_string_equal(err.message, message);
    assert_int_not_equal(access(in_folder("refused/prepared.json"), F_OK), 0);
    dg_recipe_free(r);
}

static int make_two(void **state)
{
    static const char text[] =
        "{\"vocabulary\":{\"joint\":false,\"size\":350},\"model\":{\"tied_embeddings\":false},"
        "\"cleaning\":{\"language_check\":false},\"data\":{\"pairs\":[{\"source_lang\":\"en\","
        "\"target_lang\":\"de\",\"train\":[{\"source\":\"train.en\",\"target\":\"train.de\"}]}]}}";
    struct dg_recipe *r;
    (void)state;
    int rc = dg_recipe_parse(text, strlen(text), "", folder, &r, NULL);
    if (rc)
        return rc;
    rc = prepare(r, in_folder("two"), 2, NULL, NULL);
    dg_recipe_free(r);
    return rc;
}

/* The reverse direction would be encoded with the other side's vocabulary. */
static void test_both_directions_need_one(void **state)
{
    (void)state;
    refuse(taken_over(true, false), "data.pairs",
        "vocabulary.from: data.pairs[0].both_directions needs one vocabulary for both sides, but "
        "source and target have one each");
}

/* One table would have two unrelated pieces in a row. */
static void test_tied_embeddings_need_one(void **state)
{
    (void)state;
    refuse(taken_over(false, true), "model.tied_embeddings",
        "vocabulary.from: model.tied_embeddings needs one vocabulary for both sides, but source "
        "and target have one each: set it and vocabulary.joint to false");
}

static void test_one_direction_needs_none(void **state)
{
    (void)state;
    struct dg_recipe *r = taken_over(false, false);
    struct dg_error err = {0};
    if (prepare(r, in_folder("good"), 2, NULL, &err))
        fail_msg("%s", err.message);
    dg_recipe_free(r);
}

/* Two SentencePiece models may write pieces of one list (as OPUS-MT's): a table may be tied then.
 */
static void test_one_list_of_two_models(void **state)
{
    (void)state;
    struct dg_recipe *r = taken_over(false, true);
    struct dg_buffer b;
    struct dg_error err = {0};
    dg_buffer_init(&b);
    assert_int_equal(dg_file_read(in_folder("two/source.vocab"), &b, NULL), 0);
    /* the other model's pieces follow, each once */
    struct dg_buffer t;
    dg_buffer_init(&t);
    assert_int_equal(dg_file_read(in_folder("two/target.vocab"), &t, NULL), 0);
    dg_buffer_add(&b, "", 1);
    dg_buffer_add(&t, "", 1);
    b.len--;
    char *save, find[256], *own = strdup(b.data);
    for (char *p = strtok_r(t.data, "\n", &save); p; p = strtok_r(NULL, "\n", &save)) {
        snprintf(find, sizeof find, "\n%s\n", p);
        if (strncmp(own, find + 1, strlen(find) - 1) != 0 && !strstr(own, find))
            dg_buffer_addf(&b, "%s\n", p);
    }
    free(own);
    write_text("two/source.vocab", &b);
    write_text("two/target.vocab", &b);
    dg_buffer_deinit(&t);
    dg_buffer_deinit(&b);
    if (prepare(r, in_folder("listed"), 2, NULL, &err))
        fail_msg("%s", err.message);
    dg_recipe_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_both_directions_need_one),
        cmocka_unit_test(test_tied_embeddings_need_one),
        cmocka_unit_test(test_one_direction_needs_none),
        cmocka_unit_test(test_one_list_of_two_models)};
    if (make(NULL))
        return 1;
    write_corpus();
    return cmocka_run_group_tests(tests, make_two, clear);
}
