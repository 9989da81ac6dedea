/* tokenizer/plain_text.h: what it decodes has the same text and ends as in SentencePiece. */
#include "tests/unit/tokenizer_models.h"

#include "tokenizer/plain_text.h"

static struct dg_vocab vocab;
static int32_t *own_ids; /* [dg_spm_size]: the vocabulary is in the model's order */

static struct dg_spm *open_spm(const char *path)
{
    struct dg_spm *spm = NULL;
    struct dg_error err = {0};
    char file[] = "/tmp/test_plain_text.XXXXXX";
    int fd = mkstemp(file);
    assert_true(fd >= 0);
    close(fd);
    if (dg_spm_open(path, &spm, &err) || dg_tokenizer_write_vocab(path, file, &err))
        fail_msg("%s", err.message);
    assert_int_equal(dg_vocab_open(file, &vocab, NULL), DG_OK);
    unlink(file);
    own_ids = malloc((size_t)dg_spm_size(spm) * sizeof *own_ids);
    assert_non_null(own_ids);
    for (int32_t i = 0; i < dg_spm_size(spm); i++)
        own_ids[i] = i;
    return spm;
}

static void close_all(struct dg_spm *spm, struct dg_plain_text *p)
{
    dg_plain_text_deinit(p);
    dg_vocab_deinit(&vocab);
    free(own_ids);
    dg_spm_close(spm);
}

/* Decodes random ids, some of them marks, bytes and control pieces; returns how many were plain. */
static size_t check_drawn(const struct dg_plain_text *p, const struct dg_spm *spm, size_t times)
{
    enum { LONGEST = 9 };
    uint64_t random = 7;
    size_t n_plain = 0;
    const int32_t mark = dg_vocab_find(&vocab, "\xE2\x96\x81", 3);
    for (size_t k = 0; k < times; k++) {
        int32_t ids[LONGEST];
        const char *pieces[LONGEST];
        uint32_t ends[2][LONGEST];
        char *text[2];
        size_t len[2], n = 1 + k % LONGEST;
        for (size_t i = 0; i < n; i++) {
            random = random * 6364136223846793005ull + 1442695040888963407ull;
            ids[i] = (int32_t)((random >> 33) % vocab.size);
            if ((random >> 20) % 16 == 0 && mark >= 0)
                ids[i] = mark;
            pieces[i] = vocab.pieces[ids[i]];
        }
        if (!dg_plain_text_decode(p, &vocab, ids, n, &text[0], &len[0], ends[0]))
            continue;
        n_plain++;
        assert_int_equal(dg_spm_decode(spm, pieces, n, &text[1], &len[1], ends[1], NULL), DG_OK);
        assert_int_equal(len[0], len[1]);
        assert_string_equal(text[0], text[1]);
        assert_memory_equal(ends[0], ends[1], n * sizeof *ends[0]);
        free(text[0]), free(text[1]);
    }
    return n_plain;
}

static void test_as_the_library(void **state)
{
    static const char *const models[] = {DATA "joint.model", DATA "bytes.model",
        "tests/data/en-de/joint.spm", "weights/bundles/en-de-fr/joint.spm"};
    (void)state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct dg_plain_text p;
        struct dg_spm *spm = open_spm(models[i]);
        assert_int_equal(dg_plain_text_open(&p, spm, &vocab, own_ids, NULL), DG_OK);
        assert_non_null(p.plain);
        assert_false(p.plain[dg_spm_unk(spm)]);
        size_t plain = check_drawn(&p, spm, 20000);
        printf("%s: %zu of 20000 drawn lists are plain\n", models[i], plain);
        assert_true(plain > 2000);
        close_all(spm, &p);
    }
}

static size_t varint(const char *s, size_t *at)
{
    size_t value = 0;
    for (int shift = 0;; shift += 7) {
        const unsigned char byte = (unsigned char)s[(*at)++];
        value |= (size_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return value;
    }
}

/* A model whose normaliser (field 3 of ModelProto) is also its denormaliser (field 5). */
static void test_a_denormaliser_is_left_to_the_library(void **state)
{
    char file[] = "/tmp/test_plain_text.XXXXXX";
    struct dg_buffer model;
    struct dg_plain_text p;
    (void)state;
    int fd = mkstemp(file);
    assert_true(fd >= 0);
    close(fd);
    dg_buffer_init(&model);
    assert_int_equal(dg_file_read(DATA "joint.model", &model, NULL), DG_OK);
    size_t field = 0, begin = 0, len = 0;
    for (size_t at = 0; at < model.len && field != 3; at = begin + len) {
        field = varint(model.data, &at) >> 3;
        len = varint(model.data, &at);
        begin = at;
    }
    assert_int_equal(field, 3);
    char *copy = malloc(len);
    assert_non_null(copy);
    memcpy(copy, model.data + begin, len);
    dg_buffer_add(&model, "\x2A", 1);
    for (size_t n = len; n > 0; n >>= 7)
        dg_buffer_add(&model, &(char){(char)((n & 0x7F) | (n > 0x7F ? 0x80 : 0))}, 1);
    dg_buffer_add(&model, copy, len);
    assert_int_equal(dg_file_write(file, model.data, model.len, NULL), DG_OK);
    struct dg_spm *spm = open_spm(file);
    assert_true(dg_spm_rewrites(spm));
    assert_int_equal(dg_plain_text_open(&p, spm, &vocab, own_ids, NULL), DG_OK);
    assert_null(p.plain);
    close_all(spm, &p);
    unlink(file);
    free(copy);
    dg_buffer_deinit(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_the_library),
        cmocka_unit_test(test_a_denormaliser_is_left_to_the_library)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
