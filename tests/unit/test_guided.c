/* Guided alignment in a run: the layer and heads that a recipe selects, what is refused by name,
 * and a micro-batch's links gathered from a data set. */
#include "kernels/cpu/cpu.h"
#include "tokenizer/tokenizer.h"
#include "trainer/align/guided.h"
#include "trainer/prepare/prepare.h"
#include "trainer/data/prepared.h"

#include <string.h>

#include "tests/unit/prepare_corpus.h"

static struct dg_recipe *guided_recipe(const char *guided)
{
    struct dg_recipe *r = NULL;
    struct dg_error err = {0};
    char text[2048];
    snprintf(text, sizeof text,
        "{\"name\":\"guided\",\"data\":{\"pairs\":[{\"source_lang\":\"en\",\"target_lang\":\"de\","
        "\"both_directions\":true,\"train\":[{\"source\":\"train.en\",\"target\":\"train.de\"}]}],"
        "\"target_tags\":\"always\"},\"vocabulary\":{\"size\":300},"
        "\"cleaning\":{\"language_check\":false},\"guided_alignment\":%s}",
        guided);
    if (dg_recipe_parse(text, strlen(text), "", folder, &r, &err))
        fail_msg("%s", err.message);
    return r;
}

static void means(const char *guided, uint32_t layers, uint32_t layer, uint32_t head, uint32_t n)
{
    struct dg_recipe *r = guided_recipe(guided);
    struct dg_config c = r->model;
    struct dg_guidance g;
    c.dec_layers = layers;
    assert_true(dg_guided_of(r, &c, &g));
    assert_int_equal(g.layer, layer);
    assert_int_equal(g.head, head);
    assert_int_equal(g.n_heads, n);
    assert_true(g.weight == 0.5f);
    dg_recipe_free(r);
}

static void test_meaning(void **state)
{
    (void)state;
    struct dg_guidance g;
    struct dg_recipe *off = guided_recipe("{\"layer\":2}");
    assert_false(dg_guided_of(off, &off->model, &g));
    dg_recipe_free(off);
    means("{\"weight\":0.5}", 6, 4, 0, 1);
    means("{\"weight\":0.5}", 1, 0, 0, 1);
    means("{\"weight\":0.5,\"layer\":6,\"head\":3}", 6, 5, 2, 1);
    means("{\"weight\":0.5,\"layer\":1,\"head\":0}", 6, 0, 0, 8);
}

static void refuse(const char *guided, const struct dg_train *t, int code, const char *field)
{
    struct dg_recipe *r = guided_recipe(guided);
    struct dg_config c = r->model;
    struct dg_error err = {0};
    c.dec_layers = 2; /* as in a bundle that the run may start from */
    c.H = 4;
    assert_int_equal(dg_guided_check(r, &c, t, &err), code);
    if (field)
        assert_string_equal(err.field, field);
    dg_recipe_free(r);
}

static void test_check(void **state)
{
    (void)state;
    const struct dg_cpu_options o = {.threads = 1};
    struct dg_backend *be = NULL;
    struct dg_train *t = NULL;
    assert_int_equal(dg_cpu_open(&o, &be, NULL), 0);
    assert_int_equal(dg_cpu_train_open(be, &t, NULL), 0);
    refuse("{\"weight\":0.5}", t, 0, NULL);
    refuse("{\"layer\":3}", t, 0, NULL); /* off: not checked */
    refuse("{\"weight\":0.5,\"layer\":3}", t, DG_EINVAL, "guided_alignment.layer");
    refuse("{\"weight\":0.5,\"head\":5}", t, DG_EINVAL, "guided_alignment.head");
    /* The table alone shows that a device lacks it. */
    struct dg_train_ops less = *t->ops;
    const struct dg_train other = {.ops = &less, .be = be};
    less.guides = false;
    refuse("{\"weight\":0.5}", &other, DG_EUNSUP, "guided_alignment.weight");
    refuse("{}", &other, 0, NULL);
    dg_cpu_train_close(t);
    dg_cpu_close(be);
}

/* Checks that both directions of every pair are linked, within the pair, and never to its tag or
 * </s>. */
static void check_links(const struct dg_dataset *d, const int32_t *tags)
{
    size_t linked = 0, pieces = 0, n;
    for (uint64_t i = 0; i < dg_dataset_count(d); i++) {
        int32_t source[512], target[512];
        uint32_t s, t;
        const struct dg_link *l = dg_dataset_links(d, i, &n);
        dg_dataset_lengths(d, i, &s, &t);
        dg_dataset_ids(d, i, source, target);
        for (size_t k = 0; k < n; k++) {
            assert_true(l[k].key + 1u < s && l[k].query + 1u < t);
            assert_int_not_equal(source[l[k].key], tags[dg_dataset_direction(d, i)]);
            linked += k == 0 || l[k].query != l[k - 1].query;
        }
        pieces += t - 1;
    }
    if (linked * 10 < pieces * 7)
        fail_msg("%zu of %zu pieces are linked", linked, pieces);
}

static void test_prepared(void **state)
{
    (void)state;
    struct dg_recipe *on = guided_recipe("{\"weight\":0.5}"), *off = guided_recipe("{}"),
                     *other = guided_recipe("{\"weight\":0.1,\"layer\":2,\"head\":3}");
    struct dg_dataset_options o = {.batch_tokens = 500, .links = true, .shuffle = true};
    struct dg_prepared *a = NULL, *b = NULL;
    struct dg_dataset *d = NULL;
    struct dg_error err = {0};
    struct dg_batch batch;
    bool made;
    write_corpus();
    assert_int_equal(prepare(on, in_folder("on"), 2, &made, &err), 0);
    assert_int_equal(prepare(off, in_folder("off"), 2, &made, &err), 0);
    assert_int_equal(dg_prepared_open(in_folder("on"), &a, &err), 0);
    assert_int_equal(dg_prepared_open(in_folder("off"), &b, &err), 0);
    assert_string_not_equal(dg_prepared_hash(a), dg_prepared_hash(b));
    bool same;
    assert_int_equal(dg_file_same(in_folder("on/train-00000.shard"),
                         in_folder("off/train-00000.shard"), &same, &err),
        0);
    assert_true(same);
    assert_non_null(dg_prepared_find(a, "train")->links[0]);
    assert_null(dg_prepared_find(b, "train")->links[0]);
    assert_int_equal(prepare(other, in_folder("on"), 2, &made, &err), 0);
    assert_false(made); /* their weight does not change the links */

    assert_int_equal(dg_dataset_open(in_folder("off"), "train", &o, &d, &err), DG_ENOTFOUND);
    if (dg_dataset_open(in_folder("on"), "train", &o, &d, &err))
        fail_msg("%s", err.message);
    struct dg_tokenizer *t = NULL;
    assert_int_equal(
        dg_tokenizer_open(in_folder("on/source.spm"), in_folder("on/source.vocab"), &t, &err), 0);
    const int32_t tags[2] = {dg_tokenizer_id(t, "<2de>"), dg_tokenizer_id(t, "<2en>")};
    assert_true(tags[0] >= 0 && tags[1] >= 0);
    check_links(d, tags);

    struct dg_guided g = {0};
    for (int round = 0; round < 3; round++) {
        assert_int_equal(dg_dataset_next(d, &batch, &err), 0);
        struct dg_micro_batch pairs = {.n = batch.count, .index = batch.sentences};
        size_t n;
        dg_guided_pack(&g, d, &pairs);
        for (size_t i = 0; i < batch.count; i++) {
            const struct dg_link *l = dg_dataset_links(d, batch.sentences[i], &n);
            assert_int_equal(pairs.first_link[i + 1] - pairs.first_link[i], n);
            assert_memory_equal(pairs.links + pairs.first_link[i], l, n * sizeof *l);
        }
    }
    dg_guided_deinit(&g);
    dg_tokenizer_close(t);
    dg_dataset_close(d);

    /* Damage is noticed when the folder is opened, and the folder is prepared again. */
    assert_int_equal(dg_file_write(in_folder("on/train-00000.links"), "short", 5, NULL), 0);
    dg_prepared_close(a);
    assert_int_equal(dg_prepared_open(in_folder("on"), &a, &err), DG_EFORMAT);
    assert_int_equal(prepare(on, in_folder("on"), 2, &made, &err), 0);
    assert_true(made);
    /* The links are removed when no recipe wants them. */
    assert_int_equal(prepare(off, in_folder("on"), 2, &made, &err), 0);
    assert_int_equal(access(in_folder("on/train-00000.links"), F_OK), -1);
    dg_prepared_close(b);
    dg_recipe_free(on);
    dg_recipe_free(off);
    dg_recipe_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_meaning), cmocka_unit_test(test_check),
        cmocka_unit_test(test_prepared)};
    return cmocka_run_group_tests(tests, make, clear);
}
