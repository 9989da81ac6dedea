/* Training a SentencePiece model. The expected pieces are those of
 * tests/data/tokenizer/bytes.model, which SentencePiece's own program made from the same text and
 * options. */
#include "tokenizer/spm_trainer.h"

#include "base/buffer.h"
#include "base/file.h"
#include "tokenizer/tokenizer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define DATA "tests/data/tokenizer/"

static const char *const corpus[] = {DATA "corpus.txt"};

struct paths {
    char dir[40], model[64], vocab[64], text[64];
};

static int setup(void **state)
{
    static struct paths p;
    char dir[] = "/tmp/test_spm_trainer.XXXXXX";
    assert_non_null(mkdtemp(dir));
    snprintf(p.dir, sizeof p.dir, "%s", dir);
    snprintf(p.model, sizeof p.model, "%s/model", dir);
    snprintf(p.vocab, sizeof p.vocab, "%s/vocab", dir);
    snprintf(p.text, sizeof p.text, "%s/text", dir);
    *state = &p;
    return 0;
}

static int teardown(void **state)
{
    struct paths *p = *state;
    unlink(p->model);
    unlink(p->vocab);
    unlink(p->text);
    return rmdir(p->dir);
}

/* Returns the trained pieces, one a line; the caller frees them. */
static char *train(const struct paths *p, const struct dg_spm_train_options *o)
{
    struct dg_error err = {0};
    struct dg_buffer b;
    dg_buffer_init(&b);
    int rc = dg_spm_train(o, p->model, &err);
    if (rc != DG_OK)
        print_error("%s\n", err.message);
    assert_int_equal(rc, DG_OK);
    assert_int_equal(dg_tokenizer_write_vocab(p->model, p->vocab, NULL), DG_OK);
    assert_int_equal(dg_file_read(p->vocab, &b, NULL), DG_OK);
    return dg_buffer_take(&b, NULL);
}

static void test_same_as_program(void **state)
{
    const struct paths *p = *state;
    struct dg_spm_train_options o = {.inputs = corpus,
        .n_inputs = 1,
        .vocab_size = 620,
        .byte_fallback = true,
        .normalization = "identity"};
    struct dg_buffer expected;
    dg_buffer_init(&expected);
    assert_int_equal(dg_tokenizer_write_vocab(DATA "bytes.model", p->vocab, NULL), DG_OK);
    assert_int_equal(dg_file_read(p->vocab, &expected, NULL), DG_OK);
    for (int threads = 1; threads <= 3; threads++) {
        o.threads = threads;
        char *got = train(p, &o);
        assert_string_equal(got, expected.data);
        free(got);
    }
    dg_buffer_deinit(&expected);
}

static void test_options(void **state)
{
    const struct paths *p = *state;
    static const char *const controls[] = {"<2de>", "<2fr>", ">>x<<"};
    struct dg_spm_train_options o = {
        .inputs = corpus, .n_inputs = 1, .vocab_size = 300, .controls = controls, .n_controls = 3};
    free(train(p, &o));
    struct dg_tokenizer *t = NULL;
    assert_int_equal(dg_tokenizer_open(p->model, p->vocab, &t, NULL), DG_OK);
    assert_int_equal(dg_tokenizer_size(t), 300);
    static const char *const first[] = {"</s>", "<unk>", "<2de>", "<2fr>", ">>x<<"};
    for (int32_t i = 0; i < 5; i++)
        assert_string_equal(dg_tokenizer_piece(t, i), first[i]);
    assert_false(dg_tokenizer_has_piece(t, "<s>"));
    assert_false(dg_tokenizer_has_piece(t, "<pad>"));
    assert_false(dg_tokenizer_has_piece(t, "<0x41>"));
    assert_true(dg_tokenizer_has_piece(t, "«")); /* rare: kept by coverage 1 */
    /* The default normalisation is nmt_nfkc: ﬁ becomes fi, a full-width A becomes A. */
    struct dg_token *tokens = NULL;
    size_t n = 0;
    const char *text = "ﬁ Ａ <2de>";
    assert_int_equal(dg_tokenizer_encode(t, text, strlen(text), &tokens, &n, NULL), DG_OK);
    assert_int_equal(tokens[n - 1].end, strlen(text));
    for (size_t i = 0; i < n; i++)
        assert_true(tokens[i].id > 4 || tokens[i].id == 1);
    free(tokens);
    dg_tokenizer_close(t);
    o.character_coverage = 0.98;
    char *pieces = train(p, &o);
    assert_null(strstr(pieces, "\n«\n"));
    free(pieces);
}

/* Compares what pieces and runs of them stand for, in texts with one span. */
static void expect_spans(const struct dg_tokenizer *t, const char *text, const char *wanted)
{
    struct dg_token spans[4], *tokens = NULL;
    char got[512] = "";
    size_t n_spans = 0, n = 0;
    struct dg_error err = {0};
    for (const char *p = text; (p = strchr(p, '[')); p++, n_spans++)
        spans[n_spans] = (struct dg_token){dg_tokenizer_id(t, "<2de>") + (int32_t)n_spans,
            (uint32_t)(p - text), (uint32_t)(strchr(p, ']') + 1 - text)};
    if (dg_tokenizer_encode_spans(
            t, text, strlen(text), &(struct dg_token_spans){spans, n_spans}, &tokens, &n, &err))
        fail_msg("%s: %s", text, err.message);
    for (size_t i = 0, end = 0; i < n; i++) {
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i ? " " : "",
            dg_tokenizer_piece(t, tokens[i].id));
        assert_true(tokens[i].begin <= tokens[i].end && tokens[i].end >= end);
        end = tokens[i].end;
        for (size_t k = 0; k < n_spans; k++)
            if (tokens[i].id == spans[k].id) {
                assert_int_equal(tokens[i].begin, spans[k].begin);
                assert_int_equal(tokens[i].end, spans[k].end);
            }
        if (i + 1 == n)
            assert_int_equal(end, strlen(text));
    }
    assert_string_equal(got, wanted);
    free(tokens);
}

/* Spans become pieces by id; their surroundings are read as around a word. */
static void test_spans(void **state)
{
    const struct paths *p = *state;
    static const char *const controls[] = {"<2de>", "<2fr>", "⟨3⟩"};
    struct dg_spm_train_options o = {.inputs = corpus,
        .n_inputs = 1,
        .vocab_size = 700,
        .controls = controls,
        .n_controls = 3,
        .byte_fallback = true,
        .characters = "abcdefghijklmnopqrstuvwxyz.,€½²",
        .normalization = DG_SPM_NMT_NFC};
    struct dg_tokenizer *t = NULL;
    struct dg_token *tokens = NULL;
    size_t n = 0;
    free(train(p, &o));
    assert_int_equal(dg_tokenizer_open(p->model, p->vocab, &t, NULL), DG_OK);
    expect_spans(t, "[x]", "▁ <2de>");
    expect_spans(t, "[a long one].", "▁ <2de> .");
    expect_spans(t, "[x] [y]", "▁ <2de> ▁ <2fr>");
    expect_spans(t, "[x][y].", "▁ <2de> <2fr> .");
    expect_spans(t, "[€], [y] [z]€", "▁ <2de> , ▁ <2fr> ▁ ⟨3⟩ €");
    /* The same characters typed by a user are text. */
    assert_int_equal(
        dg_tokenizer_encode(t, "⟨3⟩ <2de>", strlen("⟨3⟩ <2de>"), &tokens, &n, NULL), DG_OK);
    for (size_t i = 0; i < n; i++)
        assert_true(tokens[i].id > 4);
    free(tokens);
    /* Characters absent from the corpus have pieces; ² is not 2, all blanks are alike. */
    static const char *const pieces[] = {"€", "½", "²", "z"};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        assert_true(dg_tokenizer_has_piece(t, pieces[i]));
    const char *text = "\xE2\x80\x89\xEF\xBC\xA1\xC2\xA0m²\xC2\xAD½\xEF\xAC\x81";
    char *back = NULL;
    int32_t ids[32];
    assert_int_equal(dg_tokenizer_encode(t, text, strlen(text), &tokens, &n, NULL), DG_OK);
    assert_true(n < 32);
    for (size_t i = 0; i < n; i++)
        ids[i] = tokens[i].id;
    free(tokens);
    size_t len;
    assert_int_equal(dg_tokenizer_decode(t, ids, n, &back, &len, NULL, NULL), DG_OK);
    assert_string_equal(back, "A m²½fi");
    free(back);
    dg_tokenizer_close(t);
    struct stat st;
    char rules[128];
    snprintf(rules, sizeof rules, "%s.rules", p->model);
    assert_int_not_equal(stat(rules, &st), 0); /* nothing is left over */
}

/* Without byte pieces neighbours cannot be told apart: this is refused, not guessed. */
static void test_spans_without_bytes(void **state)
{
    const struct paths *p = *state;
    static const char *const controls[] = {"<2de>"};
    struct dg_spm_train_options o = {
        .inputs = corpus, .n_inputs = 1, .vocab_size = 300, .controls = controls, .n_controls = 1};
    struct dg_tokenizer *t = NULL;
    struct dg_token *tokens = NULL;
    struct dg_error err = {0};
    size_t n = 0;
    free(train(p, &o));
    assert_int_equal(dg_tokenizer_open(p->model, p->vocab, &t, NULL), DG_OK);
    const struct dg_token two[] = {{2, 0, 1}, {2, 1, 2}};
    assert_int_equal(
        dg_tokenizer_encode_spans(t, "xy", 2, &(struct dg_token_spans){two, 2}, &tokens, &n, &err),
        DG_EUNSUP);
    assert_non_null(strstr(err.message, "only 1 of 2"));
    dg_tokenizer_close(t);
}

/* A limit takes lines from the whole text, the same ones each time: here every second one, and so
 * never a "b". */
static void test_sentence_limit(void **state)
{
    const struct paths *p = *state;
    struct dg_buffer b;
    dg_buffer_init(&b);
    for (int i = 0; i < 200; i++)
        dg_buffer_addf(&b, "%s\n%s", i % 2 ? "ac ca aac" : "bc cb bbc",
            i % 3 ? "" : "\n"); /* empty lines do not count */
    assert_int_equal(dg_file_write(p->text, b.data, b.len, NULL), DG_OK);
    dg_buffer_deinit(&b);
    const char *const inputs[] = {p->text, p->text};
    struct dg_spm_train_options o = {
        .inputs = inputs, .n_inputs = 2, .vocab_size = 6, .sentence_limit = 200};
    char *half = train(p, &o);
    assert_non_null(strstr(half, "\na\n"));
    assert_null(strstr(half, "b"));
    free(half);
    o.sentence_limit = 100000;
    o.vocab_size = 7;
    char *all = train(p, &o);
    assert_non_null(strstr(all, "\nb\n"));
    free(all);
}

static void expect_error(const struct dg_spm_train_options *o, int code, const char *message)
{
    struct dg_error err = {0};
    char path[] = "/tmp/test_spm_trainer.none";
    assert_int_equal(dg_spm_train(o, path, &err), code);
    if (!strstr(err.message, message))
        fail_msg("\"%s\" is not in \"%s\"", message, err.message);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void test_errors(void **state)
{
    const struct paths *p = *state;
    const struct dg_spm_train_options good = {.inputs = corpus, .n_inputs = 1, .vocab_size = 300};
    struct dg_spm_train_options o = good;
    o.n_inputs = 0;
    expect_error(&o, DG_EINVAL, "no text");
    o = good;
    o.character_coverage = 1.5;
    expect_error(&o, DG_EINVAL, "character coverage is 1.5");
    static const char *const bad_controls[] = {"", "a,b", "a b", "a\"b", "a\nb"};
    for (size_t i = 0; i < 5; i++) {
        o = good;
        o.controls = &bad_controls[i];
        o.n_controls = 1;
        expect_error(&o, DG_EINVAL, "control piece");
    }
    o = good;
    o.threads = -1;
    expect_error(&o, DG_EINVAL, "-1 threads");
    o = good;
    const char *const missing[] = {DATA "corpus.txt", "/nonexistent.txt"};
    o.inputs = missing;
    o.n_inputs = 2;
    expect_error(&o, DG_EIO, "/nonexistent.txt: No such file");
    o.sentence_limit = 10;
    expect_error(&o, DG_EIO, "/nonexistent.txt: No such file");
    o = good;
    const char *const folder[] = {p->dir};
    o.inputs = folder;
    expect_error(&o, DG_EIO, p->dir);
    o = good;
    o.vocab_size = 20; /* fewer than the characters */
    expect_error(&o, DG_EFORMAT, "vocabulary of 20 pieces");
    o.vocab_size = 100000; /* more than the text yields */
    expect_error(&o, DG_EFORMAT, "vocabulary of 100000 pieces");
    o = good;
    o.normalization = "no such rule";
    expect_error(&o, DG_EFORMAT, "no such rule");
    o = good;
    const char *const empty[] = {p->text};
    assert_int_equal(dg_file_write(p->text, "\n\r\n\n", 4, NULL), DG_OK);
    o.inputs = empty;
    expect_error(&o, DG_EFORMAT, "no text in 1 files");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_program),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_spans_without_bytes),
        cmocka_unit_test(test_sentence_limit),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
