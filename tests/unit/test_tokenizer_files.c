/* Vocabulary files and models that a tokenizer refuses, or reads though they are unusual: another
 * order, pieces of another model, bad lines, a truncated model. */
#include "tests/unit/tokenizer_models.h"
#include "base/buffer.h"

/* The file's order counts: reversed, every id is mirrored and every text the same. */
static void test_other_order(void **state)
{
    const struct fixture *f = *state;
    struct dg_buffer b;
    dg_buffer_init(&b);
    for (int32_t i = 399; i >= 0; i--)
        dg_buffer_addf(
            &b, "%s%s", dg_tokenizer_piece(f->joint, i), i > 0 ? "\n" : ""); /* no last newline */
    struct dg_tokenizer *t = NULL;
    assert_int_equal(open_with(f, DATA "joint.model", b.data, b.len, &t, NULL), DG_OK);
    assert_int_equal(dg_tokenizer_size(t), 400);
    assert_int_equal(dg_tokenizer_unk(t), 398);
    const char *text = "Der alte Kapitän fährt 漢 über den See.";
    struct dg_token *a = NULL, *z = NULL;
    size_t n_a = 0, n_z = 0;
    assert_int_equal(dg_tokenizer_encode(f->joint, text, strlen(text), &a, &n_a, NULL), DG_OK);
    assert_int_equal(dg_tokenizer_encode(t, text, strlen(text), &z, &n_z, NULL), DG_OK);
    assert_int_equal(n_a, n_z);
    int32_t ids[64];
    assert_true(n_a < 64);
    for (size_t i = 0; i < n_a; i++) {
        assert_int_equal(z[i].id, 399 - a[i].id);
        assert_int_equal(z[i].begin, a[i].begin);
        ids[i] = z[i].id;
    }
    check_decode(t, ids, n_z, "Der alte Kapitän fährt  ⁇  über den See.", NULL);
    free(a);
    free(z);
    dg_tokenizer_close(t);
    dg_buffer_deinit(&b);
}

/* A model whose trainer_spec names an ordinary piece as the unknown one used to end the process
 * (found by fuzzing). A message field that occurs twice is merged, so these are appended:
 * ModelProto.trainer_spec (2), TrainerSpec.unk_piece (45). */
static void test_no_unknown_piece(void **state)
{
    static const char spec[] = "\x12\x04\xEA\x02\x01x";
    const struct fixture *f = *state;
    struct dg_buffer b;
    struct dg_tokenizer *t = NULL;
    struct dg_error err = {0};
    char path[128];
    dg_buffer_init(&b);
    assert_int_equal(dg_file_read(DATA "joint.model", &b, &err), DG_OK);
    dg_buffer_add(&b, spec, sizeof spec - 1);
    path_in(f, "no-unknown.model", path, sizeof path);
    assert_int_equal(dg_file_write(path, b.data, b.len, NULL), DG_OK);
    assert_int_equal(dg_tokenizer_open(path, f->vocab[0], &t, &err), DG_EFORMAT);
    assert_non_null(strstr(err.message, "no piece for unknown characters"));
    unlink(path);
    dg_buffer_deinit(&b);
}

/* A joint vocabulary of two models: it has pieces that this side's model lacks, and lacks one of
 * its own. */
static void test_foreign_pieces(void **state)
{
    const struct fixture *f = *state;
    struct dg_buffer b;
    dg_buffer_init(&b);
    for (int32_t i = 0; i < 400; i++) {
        if (strcmp(dg_tokenizer_piece(f->joint, i), "▁the") != 0)
            dg_buffer_addf(&b, "%s\n", dg_tokenizer_piece(f->joint, i));
    }
    dg_buffer_adds(&b, "▁Wort\n漢\n字▁x\n<pad>\n>>deu<<\n</>\n");
    struct dg_tokenizer *t = NULL;
    assert_int_equal(open_with(f, DATA "joint.model", b.data, b.len, &t, NULL), DG_OK);
    assert_int_equal(dg_tokenizer_size(t), 405);
    check_tokens(
        t, "the mark", (const char *[]){"<unk>", "▁mar", "k", NULL}, (uint32_t[]){3, 7, 8});
    /* A single character is looked up; a run is not, so that no text becomes a tag. */
    check_tokens(t, "漢", (const char *[]){"▁", "漢", NULL}, (uint32_t[]){0, 3});
    check_tokens(t, "漢漢", (const char *[]){"▁", "<unk>", NULL}, (uint32_t[]){0, 6});
    check_tokens(t, "</>", (const char *[]){"▁", "<unk>", NULL}, (uint32_t[]){0, 3});
    int32_t word = dg_tokenizer_id(t, "▁Wort"), kanji = dg_tokenizer_id(t, "字▁x");
    int32_t mark = dg_tokenizer_id(t, "▁mar"), pad = dg_tokenizer_id(t, "<pad>");
    int32_t tag = dg_tokenizer_id(t, ">>deu<<");
    struct dg_token spans[8];
    check_decode(t, (int32_t[]){tag, word, mark, kanji, pad, word}, 6, "Wort mar字 x Wort", spans);
    static const uint32_t ends[] = {0, 4, 8, 13, 13, 18};
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(spans[i].end, ends[i]);
    dg_tokenizer_close(t);
    dg_buffer_deinit(&b);
}

static void test_bad_files(void **state)
{
    const struct fixture *f = *state;
    static const struct {
        const char *content;
        size_t n;
        const char *message;
    } cases[] = {
        {"", 0, "0 pieces"},
        {"a\n\nb\n", 5, "line 2 is empty"},
        {"\n", 1, "line 1 is empty"},
        {"a\nb\na\n", 6, "piece \"a\" is on line 1 and on line 3"},
        {"a\nb\0c\n", 6, "NUL on line 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_error err = {0};
        struct dg_tokenizer *t = NULL;
        assert_int_equal(open_with(f, "", cases[i].content, cases[i].n, &t, &err), DG_EFORMAT);
        assert_non_null(strstr(err.message, cases[i].message));
        assert_null(t);
    }
    struct dg_error err = {0};
    struct dg_tokenizer *t = NULL;
    char path[128];
    assert_int_equal(
        dg_tokenizer_open("", path_in(f, "none", path, sizeof path), &t, &err), DG_ENOTFOUND);
    dg_error_clear(&err);
    assert_int_equal(dg_tokenizer_open(path, f->vocab[0], &t, &err), DG_ENOTFOUND);
    assert_non_null(strstr(err.message, path));
    dg_error_clear(&err);
    /* A vocabulary is not a model, and another model's vocabulary does not fit. */
    assert_int_equal(dg_tokenizer_open(f->vocab[0], f->vocab[0], &t, &err), DG_EFORMAT);
    assert_int_equal(dg_tokenizer_write_vocab(f->vocab[0], path, NULL), DG_EFORMAT);
    dg_error_clear(&err);
    assert_int_equal(
        dg_tokenizer_open(DATA "joint.model", f->vocab[1], &t, &err), DG_OK); /* has most pieces */
    dg_tokenizer_close(t);
    t = NULL;
    assert_int_equal(dg_tokenizer_open(f->dir, f->vocab[0], &t, &err), DG_EIO); /* a folder */
    dg_error_clear(&err);
    t = NULL;
    const char few[] = "</s>\n<unk>\ner\n";
    assert_int_equal(open_with(f, DATA "joint.model", few, strlen(few), &t, &err), DG_EFORMAT);
    assert_non_null(strstr(err.message, "has only 3 of the 400 pieces"));
    assert_null(t);
    assert_int_equal(
        dg_tokenizer_write_vocab(DATA "joint.model", "/nonexistent/folder/x", NULL), DG_ENOTFOUND);
}

/* A truncated model is refused or opened, and never crashes. */
static void test_cut_models(void **state)
{
    const struct fixture *f = *state;
    struct dg_buffer b;
    char path[128];
    dg_buffer_init(&b);
    assert_int_equal(dg_file_read(DATA "joint.model", &b, NULL), DG_OK);
    path_in(f, "cut.model", path, sizeof path);
    size_t refused = 0;
    for (size_t n = 0; n < b.len; n += 61) {
        struct dg_tokenizer *t = NULL;
        assert_int_equal(dg_file_write(path, b.data, n, NULL), DG_OK);
        struct dg_error err = {0};
        int rc = dg_tokenizer_open(path, f->vocab[0], &t, &err);
        assert_true(rc == DG_OK || (rc == DG_EFORMAT && err.message[0] != '\0' && !t));
        refused += rc == DG_EFORMAT;
        if (rc == DG_OK) { /* cut between two pieces: a smaller model */
            struct dg_token *tokens = NULL;
            size_t count = 0;
            assert_int_equal(dg_tokenizer_encode(t, "the wind", 8, &tokens, &count, NULL), DG_OK);
            free(tokens);
            dg_tokenizer_close(t);
        }
    }
    assert_true(refused > b.len / 61 / 2);
    unlink(path);
    dg_buffer_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_other_order),
        cmocka_unit_test(test_foreign_pieces),
        cmocka_unit_test(test_no_unknown_piece),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_cut_models),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
