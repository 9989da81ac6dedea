#include "trainer/recipe/recipe.h"
#include "trainer/prepare/prepare_internal.h"

#include "base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DATA                                                                                       \
    "\"data\":{\"pairs\":[{\"source_lang\":\"en\",\"target_lang\":\"de\","                         \
    "\"train\":[{\"source\":\"a.en\",\"target\":\"a.de\"}]}]}"

static struct dg_recipe *parse(const char *text)
{
    struct dg_recipe *r;
    struct dg_error err = {0};
    if (dg_recipe_parse(text, strlen(text), "", "/data", &r, &err))
        fail_msg("%s: %s", text, err.message);
    return r;
}

static void refuse(const char *text, const char *field, const char *part)
{
    struct dg_recipe *r;
    struct dg_error err = {0};
    assert_int_equal(dg_recipe_parse(text, strlen(text), "", "", &r, &err), DG_EINVAL);
    assert_null(r);
    assert_string_equal(err.field, field);
    if (!strstr(err.message, part))
        fail_msg("\"%s\" is not in \"%s\"", part, err.message);
}

static void test_defaults_are_the_paper(void **state)
{
    (void)state;
    struct dg_recipe *r = parse("{" DATA "}");
    assert_int_equal(r->model.D, 512);
    assert_int_equal(r->model.F, 2048);
    assert_int_equal(r->model.H, 8);
    assert_int_equal(r->model.Dk, 64);
    assert_int_equal(r->model.Dv, 64);
    assert_int_equal(r->model.enc_layers, 6);
    assert_int_equal(r->model.positions, DG_POS_PAPER);
    assert_true(r->model.tied_embeddings && r->model.tied_output && !r->model.attention_bias);
    assert_int_equal(r->training.warmup, 4000);
    assert_int_equal(r->training.batch_tokens, 25000);
    assert_int_equal(r->training.batch_mode, DG_BATCH_SUM);
    assert_true(
        r->training.beta1 == 0.9 && r->training.beta2 == 0.98 && r->training.epsilon == 1e-9);
    assert_true(r->training.dropout == 0.1 && r->training.label_smoothing == 0.1);
    assert_int_equal(r->validation.beam, 4);
    assert_true(r->validation.alpha == 0.6);
    assert_int_equal(r->model.beam, 4);
    assert_int_equal(r->model.extra_length, 50);
    /* The manifest's default, for a bundle that is not calibrated. */
    assert_true(r->model.low_confidence == -0.8F);
    dg_recipe_free(r);
}

static void test_presets(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t D, F, H, layers;
        int64_t average;
        double dropout;
    } rows[] = {
        {"small", 256, 1024, 4, 3, 5, 0.1},
        {"base", 512, 2048, 8, 6, 5, 0.1},
        {"big", 1024, 4096, 16, 6, 20, 0.3},
        {"paper-base-ende", 512, 2048, 8, 6, 5, 0.1},
        {"paper-big-ende", 1024, 4096, 16, 6, 20, 0.3},
        {"paper-big-enfr", 1024, 4096, 16, 6, 20, 0.1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[512];
        snprintf(text, sizeof text, "{\"preset\":\"%s\"," DATA "}", rows[i].name);
        struct dg_recipe *r = parse(text);
        assert_int_equal(r->model.D, rows[i].D);
        assert_int_equal(r->model.F, rows[i].F);
        assert_int_equal(r->model.H, rows[i].H);
        assert_int_equal(r->model.dec_layers, rows[i].layers);
        assert_int_equal(r->training.average_last, rows[i].average);
        assert_true(r->training.dropout == rows[i].dropout);
        if (strncmp(rows[i].name, "paper", 5) == 0) {
            assert_true(r->training.checkpoint_minutes == 10);
            assert_int_equal(r->training.checkpoint_updates, 0);
        }
        dg_recipe_free(r);
    }
}

/* The printed recipe is complete, and reads back as the same. */
static void test_print_reads_back(void **state)
{
    (void)state;
    struct dg_recipe *r = parse(
        "{\"preset\":\"small\",\"model\":{\"norm_epsilon\":1e-5,\"decoder_start\":\"eos\"},"
        "\"training\":{\"lr_scale\":0.6,\"batch_mode\":\"padded\"},"
        "\"data\":{\"pairs\":[{\"source_lang\":\"en\",\"target_lang\":\"de\","
        "\"both_directions\":true,\"train\":[{\"source\":\"a\",\"target\":\"b\",\"weight\":0.5},"
        "{\"source\":\"c\",\"target\":\"d\",\"domains\":\"e\"}],"
        "\"dev\":[{\"source\":\"f\",\"target\":\"g\"}]}],"
        "\"held_out\":[\"h\"],\"domain_weights\":{\"news\":2}}}");
    struct dg_buffer one, two;
    dg_buffer_init(&one);
    dg_buffer_init(&two);
    assert_int_equal(dg_recipe_print(r, &one), 0);
    assert_non_null(strstr(one.data, "\"norm_epsilon\": 1e-5"));
    struct dg_recipe *again = parse(one.data);
    assert_int_equal(dg_recipe_print(again, &two), 0);
    assert_string_equal(one.data, two.data);
    assert_int_equal(again->data.n_directions, 2);
    assert_true(again->data.pairs[0].train[0].weight == 0.5);
    assert_string_equal(again->data.pairs[0].train[1].domains, "e");
    assert_true(again->data.domain_weights[0].weight == 2);
    assert_int_equal(again->decoder_start, DG_START_EOS);
    dg_buffer_reset(&two);
    assert_int_equal(dg_recipe_difference(again->json, r->json, false, &two), 0);
    dg_recipe_free(r);
    dg_recipe_free(again);
    dg_buffer_deinit(&one);
    dg_buffer_deinit(&two);
}

static void test_errors_name_the_field(void **state)
{
    (void)state;
    refuse("[]", "", "must be an object");
    refuse("{" DATA ",\"trainin\":{}}", "trainin", "unknown");
    refuse("{" DATA ",\"training\":{\"droput\":0.1}}", "training.droput", "unknown");
    refuse("{" DATA ",\"training\":{\"dropout\":\"much\"}}", "training.dropout", "a number");
    refuse("{" DATA ",\"training\":{\"dropout\":1.5}}", "training.dropout", "0.9");
    refuse("{" DATA ",\"training\":{\"updates\":1.5}}", "training.updates", "integer");
    refuse("{" DATA ",\"training\":{\"batch_mode\":\"tokens\"}}", "training.batch_mode",
        "sum, padded");
    refuse("{" DATA ",\"training\":5}", "training", "an object");
    refuse("{" DATA ",\"guided_alignment\":{\"weight\":-1}}", "guided_alignment.weight", "0");
    refuse("{" DATA ",\"guided_alignment\":{\"heads\":1}}", "guided_alignment.heads", "unknown");
    refuse("{" DATA ",\"guided_alignment\":{\"weight\":1,\"layer\":7}}", "guided_alignment.layer",
        "7, must be at most model.decoder_layers (6)");
    refuse("{" DATA ",\"guided_alignment\":{\"weight\":1,\"head\":9}}", "guided_alignment.head",
        "9, must be at most model.heads (8)");
    refuse("{" DATA ",\"guided_alignment\":{\"weight\":1},\"training\":{\"bpe_dropout\":0.1}}",
        "training.bpe_dropout", "it must be 0");
    refuse("{" DATA ",\"model\":{\"positions\":\"rotary\"}}", "model.positions",
        "paper, marian, halves, learned");
    refuse("{" DATA ",\"model\":{\"encoder_layers\":65}}", "model.encoder_layers", "64");
    refuse("{" DATA ",\"model\":{\"decoder_layers\":65}}", "model.decoder_layers", "64");
    refuse("{" DATA ",\"model\":{\"d_model\":65538}}", "model.d_model", "65536");
    refuse("{" DATA ",\"model\":{\"d_ff\":262145}}", "model.d_ff", "262144");
    refuse("{" DATA ",\"model\":{\"heads\":7}}", "model.heads", "not a multiple");
    refuse("{" DATA ",\"model\":{\"positions\":\"learned\"}}", "model.max_positions", "max_tokens");
    refuse("{\"data\":{\"target_tags\":\"always\",\"pairs\":["
           "{\"source_lang\":\"en\",\"target_lang\":\"de\","
           "\"train\":[{\"source\":\"a\",\"target\":\"b\"}]}]},"
           "\"model\":{\"positions\":\"learned\",\"max_positions\":100},"
           "\"cleaning\":{\"max_tokens\":100}}",
        "model.max_positions", "must be at least 101");
    refuse("{" DATA ",\"model\":{\"max_positions\":9}}", "model.max_positions", "learned");
    refuse("{" DATA ",\"vocabulary\":{\"joint\":false}}", "model.tied_embeddings", "joint");
    refuse("{" DATA ",\"training\":{\"average_last\":6}}", "training.average_last", "keep_last");
    refuse("{" DATA ",\"vocabulary\":{\"characters\":\"western\"}}", "vocabulary.normalization",
        "nmt_nfc or identity");
    refuse("{" DATA ",\"training\":{\"average_best\":2}}", "training.average_best", "keep_best");
    refuse("{" DATA ",\"training\":{\"batch_tokens\":100}}", "training.batch_tokens", "max_tokens");
    refuse("{" DATA ",\"training\":{\"cooldown\":100001}}", "training.cooldown", "updates");
    refuse("{" DATA ",\"training\":{\"patience\":3}}", "training.patience", "dev");
    refuse("{" DATA ",\"training\":{\"average_best\":1}}", "training.average_best", "dev");
    refuse("{" DATA ",\"name\":\"a/b\"}", "name", "letters");
    refuse("{" DATA ",\"preset\":\"huge\"}", "preset", "small, base, big");
    refuse("{\"data\":{\"pairs\":{}}}", "data.pairs", "an array");
    refuse("{\"data\":{\"pairs\":[{\"target_lang\":\"de\"}]}}", "data.pairs[0].source_lang",
        "missing");
    refuse("{\"data\":{\"pairs\":[{\"source_lang\":\"en\",\"target_lang\":\"de\"}]}}",
        "data.pairs[0]", "train");
    refuse("{\"data\":{\"pairs\":[{\"source_lang\":\"en\",\"target_lang\":\"de\",\"train\":[{"
           "\"source\":\"a\"}]}]}}",
        "data.pairs[0].train[0].target", "missing");
    refuse("{\"data\":{\"pairs\":[{\"source_lang\":\"en\",\"target_lang\":\"de\",\"train\":[{"
           "\"source\":\"a\","
           "\"target\":\"b\",\"wieght\":1}]}]}}",
        "data.pairs[0].train[0].wieght", "unknown");
    refuse("{\"data\":{\"target_tags\":\"yes\"}}", "data.target_tags", "auto");
}

static void test_directions_and_tags(void **state)
{
    (void)state;
    static const char *const pair = "{\"source_lang\":\"%s\",\"target_lang\":\"%s\",%s\"train\":[{"
                                    "\"source\":\"a\",\"target\":\"b\"}]}";
    char a[200], b[200], text[600];
    snprintf(a, sizeof a, pair, "en", "de", "\"both_directions\":true,");
    snprintf(b, sizeof b, pair, "fr", "de", "");
    snprintf(text, sizeof text, "{\"data\":{\"pairs\":[%s,%s]}}", a, b);
    struct dg_recipe *r = parse(text);
    assert_int_equal(r->data.n_directions, 3);
    assert_string_equal(r->data.directions[0].tag, "<2de>");
    assert_string_equal(r->data.directions[1].tag, "<2en>");
    assert_string_equal(r->data.directions[1].source_lang, "de");
    assert_true(r->data.directions[1].reversed && !r->data.directions[2].reversed);
    assert_int_equal(r->data.directions[2].pair, 1);
    dg_recipe_free(r);
    r = parse("{" DATA "}"); /* one target language needs no tag */
    assert_string_equal(r->data.directions[0].tag, "");
    dg_recipe_free(r);
    snprintf(text, sizeof text, "{\"data\":{\"pairs\":[%s,%s]}}", b, b);
    refuse(text, "data.pairs", "twice");
    snprintf(text, sizeof text, "{\"vocabulary\":{\"joint\":false},\"data\":{\"pairs\":[%s]}}", a);
    refuse(text, "data.pairs[0]", "joint");
}

/* A recipe with files of its own can do without the weights of the recipe that it extends. */
static void test_no_weights(void **state)
{
    (void)state;
    char dir[] = "/tmp/test_recipe_XXXXXX", base[64], child[64];
    assert_non_null(mkdtemp(dir));
    snprintf(base, sizeof base, "%s/base.json", dir);
    snprintf(child, sizeof child, "%s/child.json", dir);
    static const char base_text[] =
        "{\"data\":{\"pairs\":[{\"source_lang\":\"en\",\"target_lang\":\"de\",\"train\":["
        "{\"source\":\"a\",\"target\":\"b\",\"domain\":\"news\"}]}],"
        "\"domain_weights\":{\"news\":2}}}";
    static const char *const weights[] = {"{}", "null"};
    assert_int_equal(dg_file_write(base, base_text, strlen(base_text), NULL), 0);
    for (size_t i = 0; i < 2; i++) {
        char text[256];
        struct dg_recipe *r;
        struct dg_error err = {0};
        const int n = snprintf(text, sizeof text,
            "{\"extends\":\"base.json\",\"data\":{\"pairs\":[{\"source_lang\":\"en\","
            "\"target_lang\":\"de\",\"train\":[{\"source\":\"c\",\"target\":\"d\"}]}],"
            "\"domain_weights\":%s}}",
            weights[i]);
        assert_int_equal(dg_file_write(child, text, (size_t)n, NULL), 0);
        assert_int_equal(dg_recipe_load(child, "", NULL, 0, &r, &err), i ? 0 : DG_EINVAL);
        if (!i)
            assert_non_null(strstr(err.message, "names the domain \"news\""));
        else
            assert_int_equal(r->data.n_domain_weights, 0);
        dg_recipe_free(r);
    }
    unlink(child);
    unlink(base);
    rmdir(dir);
}

static void test_extends_and_settings(void **state)
{
    (void)state;
    char dir[] = "/tmp/test_recipe_XXXXXX", base[64], sub[64], child[64];
    assert_non_null(mkdtemp(dir));
    snprintf(base, sizeof base, "%s/base.json", dir);
    snprintf(sub, sizeof sub, "%s/sub", dir);
    snprintf(child, sizeof child, "%s/sub/child.json", dir);
    assert_int_equal(dg_file_make_dir(sub, NULL), 0);
    static const char base_text[] =
        "{\"preset\":\"small\",\"training\":{\"updates\":10,\"warmup\":20},\"name\":\"b\"," DATA
        "}";
    static const char child_text[] = "{\"extends\":\"../base.json\",\"training\":{\"updates\":30}}";
    assert_int_equal(dg_file_write(base, base_text, strlen(base_text), NULL), 0);
    assert_int_equal(dg_file_write(child, child_text, strlen(child_text), NULL), 0);
    static const char *const settings[] = {
        "training.seed=7", "name=other", "model.positions=halves", "training.lr_scale=0.5"};
    struct dg_recipe *r;
    struct dg_error err = {0};
    assert_int_equal(dg_recipe_load(child, "/d", settings, 4, &r, &err), 0);
    assert_int_equal(r->training.updates, 30);
    assert_int_equal(r->training.warmup, 20);
    assert_int_equal(r->model.D, 256);
    assert_int_equal(r->training.seed, 7);
    assert_true(r->training.lr_scale == 0.5);
    assert_string_equal(r->name, "other");
    assert_int_equal(r->model.positions, DG_POS_HALVES);
    char *path = dg_recipe_path(r, "x/y");
    assert_string_equal(path, "/d/x/y");
    free(path);
    path = dg_recipe_path(r, "/x/y");
    assert_string_equal(path, "/x/y");
    free(path);
    dg_recipe_free(r);

    static const char *const wrong[] = {"training.sed=7", "nonsense", "training.seed.deep=1", "=1",
        "preset=small", "extends=base.json"};
    for (size_t i = 0; i < 6; i++) {
        dg_error_clear(&err);
        assert_int_equal(dg_recipe_load(child, "", &wrong[i], 1, &r, &err), DG_EINVAL);
        assert_true(err.message[0] && !r);
    }
    static const char loop[] = "{\"extends\":\"base.json\"}";
    assert_int_equal(dg_file_write(base, loop, strlen(loop), NULL), 0);
    dg_error_clear(&err);
    assert_int_equal(dg_recipe_load(child, "", NULL, 0, &r, &err), DG_EINVAL);
    assert_string_equal(err.field, "extends");
    dg_error_clear(&err);
    assert_true(dg_recipe_load("/nowhere/x.json", "", NULL, 0, &r, &err) < 0);
    assert_string_equal(err.message, "cannot open /nowhere/x.json: No such file or directory");
    dg_error_clear(&err);
    /* a misspelt preset */
    assert_int_equal(dg_recipe_load("smal", "", NULL, 0, &r, &err), DG_ENOTFOUND);
    assert_non_null(strstr(err.message, "cannot open smal: No such file or directory; presets are "
                                        "small, base, big, paper-base-ende"));
    dg_error_clear(&err);
    /* A preset's name. */
    /* even if a folder has that name */
    assert_int_equal(dg_recipe_load("base", "", NULL, 0, &r, &err), 0);
    assert_int_equal(r->model.D, 512);
    dg_recipe_free(r);
    assert_int_equal(dg_recipe_load("big", "", NULL, 0, &r, &err), 0);
    assert_int_equal(r->model.D, 1024);
    assert_int_equal(r->data.n_pairs, 0);
    dg_recipe_free(r);
    remove(child);
    remove(base);
    remove(sub);
    remove(dir);
}

/* A recipe's former names are read, also under one that extends it; current names are written. */
static void test_former_names(void **state)
{
    static const char text[] = "{\"preset\":\"small\",\"validation\":{\"beam\":7,\"alpha\":1.5},"
                               "\"cleaning\":{\"max_pieces\":99,\"max_piece_ratio\":7}}";
    static const char *const settings[] = {
        "validation.beam=9", "validation.length_penalty=2", "cleaning.max_pieces=50"};
    struct dg_recipe *r = NULL;
    struct dg_error err = {0};
    (void)state;
    assert_int_equal(dg_recipe_parse(text, sizeof text - 1, NULL, NULL, &r, &err), 0);
    assert_int_equal(r->validation.beam, 7);
    assert_true(r->validation.alpha == 1.5);
    assert_int_equal(r->cleaning.max_tokens, 99);
    assert_true(r->cleaning.max_token_ratio == 7);
    const struct dg_json *cleaning = dg_json_get(r->json, "cleaning");
    assert_int_equal(dg_json_int(dg_json_get(cleaning, "max_tokens")), 99);
    assert_null(dg_json_get(cleaning, "max_pieces"));
    assert_null(dg_json_get(cleaning, "max_piece_ratio"));
    const struct dg_json *validation = dg_json_get(r->json, "validation");
    assert_int_equal(dg_json_int(dg_json_get(validation, "beam_size")), 7);
    assert_null(dg_json_get(validation, "beam"));
    assert_null(dg_json_get(validation, "alpha"));
    dg_recipe_free(r);
    assert_int_equal(dg_recipe_load("small", NULL, settings, 3, &r, &err), 0);
    assert_int_equal(r->validation.beam, 9);
    assert_int_equal(r->cleaning.max_tokens, 50);
    assert_true(r->validation.alpha == 2);
    dg_recipe_free(r);
}

static void test_difference(void **state)
{
    (void)state;
    struct dg_recipe *a = parse("{" DATA "}");
    struct dg_recipe *b =
        parse("{\"training\":{\"seed\":2,\"updates\":5,\"cooldown\":3}," DATA "}");
    struct dg_buffer out;
    dg_buffer_init(&out);
    assert_int_equal(dg_recipe_difference(b->json, a->json, false, &out), 3);
    assert_non_null(strstr(out.data, "training.seed: 2, was 1\n"));
    assert_non_null(strstr(out.data, "training.updates: 5, was 100000\n"));
    dg_buffer_reset(&out);
    assert_int_equal(dg_recipe_difference(b->json, a->json, true, &out),
        1); /* the end may be changed on resume */
    assert_string_equal(out.data, "training.seed: 2, was 1\n");
    struct dg_json *x = dg_prepare_data_part(a), *y = dg_prepare_data_part(b);
    assert_int_equal(dg_recipe_difference(x, y, false, &out), 0);
    dg_json_free(x);
    dg_json_free(y);
    dg_buffer_deinit(&out);
    dg_recipe_free(a);
    dg_recipe_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_are_the_paper),
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_print_reads_back),
        cmocka_unit_test(test_errors_name_the_field),
        cmocka_unit_test(test_directions_and_tags),
        cmocka_unit_test(test_no_weights),
        cmocka_unit_test(test_extends_and_settings),
        cmocka_unit_test(test_former_names),
        cmocka_unit_test(test_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
