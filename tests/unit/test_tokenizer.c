/* Text <-> pieces <-> ids. Expected pieces, ids and decoded texts were made by SentencePiece's own
 * programs (tests/data/tokenizer/make.sh); byte offsets were counted by hand. */
#include "tests/unit/tokenizer_models.h"
#include "base/buffer.h"

#include <pthread.h>

static void test_vocabulary(void **state)
{
    const struct fixture *f = *state;
    const struct dg_tokenizer *t = f->joint;
    static const char *const first[] = {"</s>", "<unk>", "<2de>", "<2fr>", "<sep>", "er"};
    assert_true(dg_tokenizer_has_text(t));
    assert_int_equal(dg_tokenizer_size(t), 400);
    assert_int_equal(dg_tokenizer_size(f->bytes), 620);
    assert_int_equal(dg_tokenizer_unk(t), 1);
    for (int32_t i = 0; i < 6; i++) {
        assert_string_equal(dg_tokenizer_piece(t, i), first[i]);
        assert_int_equal(dg_tokenizer_id(t, first[i]), i);
        assert_true(dg_tokenizer_has_piece(t, first[i]));
    }
    for (int32_t i = 0; i < 400; i++)
        assert_int_equal(dg_tokenizer_id(t, dg_tokenizer_piece(t, i)), i);
    assert_string_equal(dg_tokenizer_piece(f->bytes, 2), "<0x00>");
    assert_string_equal(dg_tokenizer_piece(f->bytes, 257), "<0xFF>");
    assert_string_equal(dg_tokenizer_piece(t, -1), "");
    assert_string_equal(dg_tokenizer_piece(t, 400), "");
    assert_string_equal(dg_tokenizer_piece(t, INT32_MIN), "");
    assert_int_equal(dg_tokenizer_id(t, "no such piece"), 1);
    assert_int_equal(dg_tokenizer_id(t, ""), 1);
    assert_false(dg_tokenizer_has_piece(t, "no such piece"));
    assert_false(dg_tokenizer_has_piece(t, "err"));
}

/* Checks that spans follow each other, begin at the text's first significant byte and end at its
 * end. */
static void check_offsets(const char *text, const struct dg_token *tokens, size_t count)
{
    size_t n = strlen(text);
    for (size_t i = 0; i < count; i++) {
        assert_true(tokens[i].begin <= tokens[i].end && tokens[i].end <= n);
        if (i > 0)
            assert_true(tokens[i].begin >= tokens[i - 1].end);
        for (size_t k = i > 0 ? tokens[i - 1].end : 0; k < tokens[i].begin; k++)
            assert_int_equal(text[k], ' '); /* only white space belongs to no piece */
        /* Never inside a character. */
        assert_true(((unsigned char)text[tokens[i].begin] & 0xC0) != 0x80);
        assert_true(((unsigned char)text[tokens[i].end] & 0xC0) != 0x80);
    }
}

static void check_line(const struct dg_tokenizer *t, char *line)
{
    char *fields[4], *save = NULL;
    for (int i = 0; i < 4; i++)
        fields[i] = strsep(&line, "\t");
    assert_non_null(fields[3]);
    struct dg_token *tokens = NULL;
    size_t count = 0, at = 0;
    struct dg_error err = {0};
    int rc = dg_tokenizer_encode(t, fields[0], strlen(fields[0]), &tokens, &count, &err);
    assert_int_equal(rc, DG_OK);
    int32_t ids[256];
    struct dg_token spans[256];
    assert_true(count < 256);
    for (char *id = strtok_r(fields[2], " ", &save); id; id = strtok_r(NULL, " ", &save), at++) {
        assert_true(at < count);
        assert_int_equal(tokens[at].id, strtol(id, NULL, 10));
        ids[at] = tokens[at].id;
    }
    assert_int_equal(at, count);
    at = 0;
    for (char *p = strtok_r(fields[1], " ", &save); p; p = strtok_r(NULL, " ", &save), at++) {
        if (tokens[at].id != dg_tokenizer_unk(t))
            assert_string_equal(dg_tokenizer_piece(t, tokens[at].id), p);
    }
    assert_int_equal(at, count);
    check_offsets(fields[0], tokens, count);
    check_decode(t, ids, count, fields[3], spans);
    check_decode(t, ids, count, fields[3], NULL);
    free(tokens);
}

static void check_file(const struct dg_tokenizer *t, const char *path)
{
    struct dg_buffer b;
    dg_buffer_init(&b);
    assert_int_equal(dg_file_read(path, &b, NULL), DG_OK);
    size_t lines = 0;
    char *rest = b.data;
    for (char *line = strsep(&rest, "\n"); line && *line; line = strsep(&rest, "\n"), lines++)
        check_line(t, line);
    assert_int_equal(lines, 17);
    dg_buffer_deinit(&b);
}

static void test_expected(void **state)
{
    const struct fixture *f = *state;
    check_file(f->joint, DATA "expected_joint.tsv");
    check_file(f->bytes, DATA "expected_bytes.tsv");
}

static void test_offsets(void **state)
{
    const struct fixture *f = *state;
    /* The space before a word is part of its first piece. */
    check_tokens(
        f->joint, "the mark", (const char *[]){"▁the", "▁mar", "k", NULL}, (uint32_t[]){3, 7, 8});
    /* An unknown run is one token; the word mark before it covers the space. */
    check_tokens(f->joint, "the 漢字 t", (const char *[]){"▁the", "▁", "<unk>", "▁t", NULL},
        (uint32_t[]){3, 4, 10, 12});
    /* ﬁ (three bytes) became f and i: their combined span is right. */
    check_tokens(f->joint, "ﬁsh", (const char *[]){"▁f", "is", "h", NULL}, (uint32_t[]){0, 4, 5});
    /* … (three bytes) became three full stops. */
    check_tokens(
        f->joint, "on…", (const char *[]){"▁on", ".", ".", ".", NULL}, (uint32_t[]){2, 2, 2, 5});
    /* Bytes: all but a character's last one have an empty span. */
    check_tokens(f->bytes, "the ë", (const char *[]){"▁the", "▁", "<0xC3>", "<0xAB>", NULL},
        (uint32_t[]){3, 4, 4, 6});
    check_tokens(f->bytes, "😀t",
        (const char *[]){"▁", "<0xF0>", "<0x9F>", "<0x98>", "<0x80>", "t", NULL},
        (uint32_t[]){0, 0, 0, 0, 4, 5});
}

/* In decoding, a byte-fallback run's last piece has all of its text, never more than one code
 * point. */
static void test_decode_spans(void **state)
{
    const struct fixture *f = *state;
    struct dg_token spans[8];
    int32_t ids[8];
    static const char *const pieces[] = {"▁the", "▁", "<0xC3>", "<0xAB>", "</s>", "s"};
    static const uint32_t ends[] = {3, 4, 4, 6, 6, 7};
    for (size_t i = 0; i < 6; i++) {
        ids[i] = dg_tokenizer_id(f->bytes, pieces[i]);
        assert_true(ids[i] != 1);
    }
    check_decode(f->bytes, ids, 6, "the ës", spans);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(spans[i].end, ends[i]);
    /* A lead byte without its continuation gives U+FFFD. */
    check_decode(f->bytes, (int32_t[]){dg_tokenizer_id(f->bytes, "<0xC3>")}, 1, "\uFFFD", spans);
    /* Control pieces give no text anywhere: not even before the first word, whose space is
     * dropped. */
    int32_t the = dg_tokenizer_id(f->joint, "▁the");
    check_decode(f->joint, (int32_t[]){2, the, 3, the, 0}, 5, "the the", spans);
    assert_int_equal(spans[0].end, 0);
    assert_int_equal(spans[2].end, 3);
    assert_int_equal(spans[4].begin, 7);
    check_decode(f->joint, (int32_t[]){the, 1, the}, 3, "the ⁇  the", spans);
    check_decode(f->joint, (int32_t[]){0}, 1, "", spans);
    check_decode(f->joint, NULL, 0, "", spans);
}

/* Text never gives a control piece, but may give a user-defined one (as the header says). */
static void test_control_symbols(void **state)
{
    const struct fixture *f = *state;
    static const char *const texts[] = {"</s>", "<2de>", "<2fr>", "<unk>", "a</s>b", " <2de> Hallo",
        "< / s >", "<2de><2fr></s><unk>", "▁</s>", "<pad>", "<s>"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct dg_tokenizer *const both[] = {f->joint, f->bytes};
        for (int k = 0; k < 2; k++) {
            struct dg_token *tokens = NULL;
            size_t n = 0;
            assert_int_equal(
                dg_tokenizer_encode(both[k], texts[i], strlen(texts[i]), &tokens, &n, NULL), DG_OK);
            for (size_t j = 0; j < n; j++) {
                const char *piece = dg_tokenizer_piece(both[k], tokens[j].id);
                assert_true(strcmp(piece, "</s>") != 0 && strncmp(piece, "<2", 2) != 0);
                assert_true(k == 0 || tokens[j].id != 1); /* bytes: nothing is unknown */
            }
            free(tokens);
        }
    }
    check_tokens(f->joint, "t<sep>", (const char *[]){"▁t", "<sep>", NULL}, (uint32_t[]){1, 6});
}

static void test_pieces_only(void **state)
{
    const struct fixture *f = *state;
    struct dg_tokenizer *t = NULL;
    struct dg_error err = {0};
    const char content[] = "</s>\n<unk>\n▁Hello\n▁world\n";
    assert_int_equal(open_with(f, "", content, strlen(content), &t, &err), DG_OK);
    assert_false(dg_tokenizer_has_text(t));
    assert_int_equal(dg_tokenizer_size(t), 4);
    assert_int_equal(dg_tokenizer_unk(t), 1);
    assert_int_equal(dg_tokenizer_id(t, "▁world"), 3);
    assert_int_equal(dg_tokenizer_id(t, "▁moon"), 1);
    struct dg_token *tokens = NULL;
    size_t n = 0;
    char *text = NULL;
    assert_int_equal(dg_tokenizer_encode(t, "Hello", 5, &tokens, &n, &err), DG_EUNSUP);
    assert_int_equal(dg_tokenizer_decode(t, (int32_t[]){2}, 1, &text, &n, NULL, NULL), DG_EUNSUP);
    dg_tokenizer_close(t);
    assert_int_equal(open_with(f, "", "a\nb", 3, &t, NULL), DG_OK);
    assert_int_equal(dg_tokenizer_unk(t), -1);
    assert_int_equal(dg_tokenizer_id(t, "c"), -1);
    dg_tokenizer_close(t);
}

static void test_bad_ids(void **state)
{
    const struct fixture *f = *state;
    static const int32_t ids[] = {400, -1, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < 4; i++) {
        char *text = NULL;
        size_t len = 0;
        struct dg_error err = {0};
        assert_int_equal(
            dg_tokenizer_decode(f->joint, (int32_t[]){5, ids[i]}, 2, &text, &len, NULL, &err),
            DG_EINVAL);
        assert_non_null(strstr(err.message, "outside the vocabulary of 400"));
        assert_null(text);
    }
}

static void test_empty_and_long(void **state)
{
    const struct fixture *f = *state;
    struct dg_token *tokens = NULL;
    size_t n = 99;
    assert_int_equal(dg_tokenizer_encode(f->joint, "", 0, &tokens, &n, NULL), DG_OK);
    assert_int_equal(n, 0);
    free(tokens);
    assert_int_equal(dg_tokenizer_encode(f->joint, "   ", 3, &tokens, &n, NULL), DG_OK);
    assert_int_equal(n, 0);
    free(tokens);
    const char *line = "Der alte Leuchtturm steht auf dem 漢 Felsen. ";
    size_t k = strlen(line), len = 0;
    enum { REPEATS = 4000 };
    char *text = malloc(k * REPEATS + 1), *back = NULL;
    for (size_t i = 0; i < REPEATS; i++)
        memcpy(text + i * k, line, k + 1);
    assert_int_equal(dg_tokenizer_encode(f->bytes, text, k * REPEATS, &tokens, &n, NULL), DG_OK);
    assert_true(n > 10 * REPEATS);
    assert_true(tokens[n - 1].end >= k * REPEATS - 1);
    int32_t *ids = malloc(n * sizeof *ids);
    for (size_t i = 0; i < n; i++)
        ids[i] = tokens[i].id;
    assert_int_equal(dg_tokenizer_decode(f->bytes, ids, n, &back, &len, NULL, NULL), DG_OK);
    assert_int_equal(len, k * REPEATS - 1); /* the last space is dropped */
    assert_memory_equal(back, text, len);
    free(back);
    free(ids);
    free(tokens);
    free(text);
}

static void *encode_often(void *arg)
{
    const struct fixture *f = arg;
    const char *text = "Zwei Kinder spielen mit 漢字 und einem Ball.";
    struct dg_token *first = NULL, *again = NULL;
    size_t n = 0, m = 0;
    if (dg_tokenizer_encode(f->bytes, text, strlen(text), &first, &n, NULL) != DG_OK)
        return arg;
    bool same = true;
    for (int i = 0; i < 200 && same; i++) {
        char *back = NULL;
        size_t len = 0;
        int32_t ids[128];
        same = dg_tokenizer_encode(f->bytes, text, strlen(text), &again, &m, NULL) == DG_OK &&
               m == n && n < 128 && memcmp(first, again, n * sizeof *first) == 0;
        for (size_t j = 0; same && j < n; j++)
            ids[j] = again[j].id;
        same = same && dg_tokenizer_decode(f->bytes, ids, n, &back, &len, NULL, NULL) == DG_OK &&
               strcmp(back, text) == 0;
        free(back);
        free(again);
        again = NULL;
    }
    free(first);
    return same ? NULL : arg;
}

static void test_shared_by_threads(void **state)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, encode_often, *state), 0);
    for (int i = 0; i < 4; i++) {
        void *wrong = NULL;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vocabulary),
        cmocka_unit_test(test_expected),
        cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_decode_spans),
        cmocka_unit_test(test_control_symbols),
        cmocka_unit_test(test_pieces_only),
        cmocka_unit_test(test_bad_ids),
        cmocka_unit_test(test_empty_and_long),
        cmocka_unit_test(test_shared_by_threads),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
