/* Tokenizers of the SentencePiece models in tests/data/tokenizer. */
#ifndef DG_TESTS_UNIT_TOKENIZER_MODELS_H
#define DG_TESTS_UNIT_TOKENIZER_MODELS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/file.h"
#include "tokenizer/tokenizer.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DATA "tests/data/tokenizer/"

struct fixture {
    char dir[64];
    char vocab[2][96]; /* of joint.model and bytes.model */
    struct dg_tokenizer *joint, *bytes;
};

static inline const char *path_in(
    const struct fixture *f, const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", f->dir, name);
    return path;
}

/* Opens `spm` with a vocabulary file of the given content. */
static inline int open_with(const struct fixture *f, const char *spm, const char *content, size_t n,
    struct dg_tokenizer **out, struct dg_error *err)
{
    char path[128];
    path_in(f, "temporary.vocab", path, sizeof path);
    assert_int_equal(dg_file_write(path, content, n, NULL), DG_OK);
    int rc = dg_tokenizer_open(spm, path, out, err);
    unlink(path);
    return rc;
}

static inline int setup(void **state)
{
    static struct fixture f;
    static const char *const models[] = {DATA "joint.model", DATA "bytes.model"};
    char dir[] = "/tmp/test_tokenizer.XXXXXX";
    assert_non_null(mkdtemp(dir));
    snprintf(f.dir, sizeof f.dir, "%s", dir);
    for (int i = 0; i < 2; i++) {
        snprintf(f.vocab[i], sizeof f.vocab[i], "%s/%d.vocab", dir, i);
        assert_int_equal(dg_tokenizer_write_vocab(models[i], f.vocab[i], NULL), DG_OK);
    }
    assert_int_equal(dg_tokenizer_open(models[0], f.vocab[0], &f.joint, NULL), DG_OK);
    assert_int_equal(dg_tokenizer_open(models[1], f.vocab[1], &f.bytes, NULL), DG_OK);
    *state = &f;
    return 0;
}

static inline int teardown(void **state)
{
    struct fixture *f = *state;
    dg_tokenizer_close(f->joint);
    dg_tokenizer_close(f->bytes);
    dg_tokenizer_close(NULL);
    for (int i = 0; i < 2; i++)
        unlink(f->vocab[i]);
    rmdir(f->dir);
    return 0;
}

static inline void check_decode(const struct dg_tokenizer *t, const int32_t *ids, size_t count,
    const char *expected, struct dg_token *spans)
{
    char *text = NULL;
    size_t len = 0;
    struct dg_error err = {0};
    assert_int_equal(dg_tokenizer_decode(t, ids, count, &text, &len, spans, &err), DG_OK);
    assert_string_equal(text, expected);
    assert_int_equal(len, strlen(expected));
    for (size_t i = 0; spans && i < count; i++) {
        assert_int_equal(spans[i].id, ids[i]);
        assert_int_equal(spans[i].begin, i > 0 ? spans[i - 1].end : 0);
        assert_true(spans[i].end >= spans[i].begin);
    }
    if (spans && count > 0)
        assert_int_equal(spans[count - 1].end, len);
    free(text);
}

static inline void check_tokens(
    const struct dg_tokenizer *t, const char *text, const char *const *pieces, const uint32_t *ends)
{
    struct dg_token *tokens = NULL;
    size_t count = 0, i = 0;
    assert_int_equal(dg_tokenizer_encode(t, text, strlen(text), &tokens, &count, NULL), DG_OK);
    for (; pieces[i]; i++) {
        assert_true(i < count);
        assert_string_equal(dg_tokenizer_piece(t, tokens[i].id), pieces[i]);
        assert_int_equal(tokens[i].begin, i > 0 ? ends[i - 1] : 0);
        assert_int_equal(tokens[i].end, ends[i]);
    }
    assert_int_equal(i, count);
    free(tokens);
}

#endif
