/* SentencePiece when memory runs out: each allocation of an encoding and a decoding fails in turn.
 * The library alone would end the process at 20 of the 90, or leak. */
#include "tests/sanitized.h"
#include "tests/unit/tokenizer_models.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#if SANITIZED
int main(void)
{
    return 0; /* a sanitizer has an allocator of its own */
}
#else

#define TEXT                                                                                       \
    "Ein kleiner \xE4\xB8\xAD Hund l\xC3\xA4uft \xC3\xBC"                                          \
    "ber die gro\xC3\x9F"                                                                          \
    "e Stra\xC3\x9F"                                                                               \
    "e und noch viel weiter als man glaubt."

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void __libc_free(void *p);

static size_t countdown; /* 1: the next malloc fails; 0: none does */
static long live;        /* blocks, except realloc's */

/* Returns p, counted; NULL if this allocation is to fail. */
static void *take(void *p)
{
    if (countdown && --countdown == 0) {
        __libc_free(p);
        errno = ENOMEM;
        return NULL;
    }
    live += p != NULL;
    return p;
}

void *malloc(size_t n)
{
    return take(__libc_malloc(n));
}

void *calloc(size_t n, size_t size)
{
    return take(__libc_calloc(n, size));
}

void free(void *p)
{
    live -= p != NULL;
    __libc_free(p);
}

static struct dg_tokenizer *t;

static int encode(struct dg_token **tokens, size_t *n)
{
    struct dg_error err = {0};
    const int rc = dg_tokenizer_encode(t, TEXT, sizeof TEXT - 1, tokens, n, &err);
    assert_true(rc == 0 || (rc == DG_ENOMEM && strstr(err.message, "memory")));
    return rc;
}

/* Repeats until no allocation is left to fail; returns how many there were. */
static size_t each_fails(int (*step)(void *), void *context)
{
    size_t at = 0;
    assert_int_equal(step(context), 0);
    for (;;) {
        const long before = live;
        countdown = ++at;
        (void)step(context);
        const bool done = countdown != 0;
        countdown = 0;
        assert_int_equal(step(context), 0);
        assert_int_equal(live, before); /* nothing leaked; the thread has its block again */
        if (done)
            return at - 1;
    }
}

static int encode_once(void *context)
{
    struct dg_token *tokens = NULL;
    size_t n = 0;
    (void)context;
    const int rc = encode(&tokens, &n);
    if (rc == 0)
        assert_true(n > 10);
    free(tokens);
    return rc;
}

static int decode_once(void *context)
{
    const struct dg_token *tokens = context;
    struct dg_error err = {0};
    int32_t ids[4096];
    size_t n = 0, len = 0;
    char *text = NULL;
    for (; tokens[n].end; n++)
        ids[n] = tokens[n].id;
    const int rc = dg_tokenizer_decode(t, ids, n, &text, &len, NULL, &err);
    assert_true(rc == 0 || (rc == DG_ENOMEM && strstr(err.message, "memory")));
    if (rc == 0)
        assert_true(len > 20);
    free(text);
    return rc;
}

static void test_encode(void **state)
{
    (void)state;
    assert_true(each_fails(encode_once, NULL) > 60);
}

static void test_decode(void **state)
{
    struct dg_token *tokens = NULL;
    size_t n = 0;
    (void)state;
    assert_int_equal(encode(&tokens, &n), 0);
    struct dg_token *ended = calloc(n + 1, sizeof *ended);
    assert_non_null(ended);
    memcpy(ended, tokens, n * sizeof *tokens);
    assert_true(each_fails(decode_once, ended) > 20);
    free(ended);
    free(tokens);
}

static void test_too_long(void **state)
{
    struct dg_token *tokens = NULL;
    struct dg_error err = {0};
    size_t n = 0;
    (void)state;
    static char text[(1 << 20) + 1];
    memset(text, 'a', sizeof text);
    assert_int_equal(dg_tokenizer_encode(t, text, sizeof text, &tokens, &n, &err), DG_ELIMIT);
    assert_non_null(strstr(err.message, "1048577"));
}

static int open_model(void **state)
{
    struct dg_error err = {0};
    (void)state;
    return dg_tokenizer_open(
        "tests/data/en-de/joint.spm", "tests/data/en-de/joint.vocab", &t, &err);
}

static int close_model(void **state)
{
    (void)state;
    dg_tokenizer_close(t);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_encode),
        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_too_long),
    };
    return cmocka_run_group_tests(tests, open_model, close_model);
}
#endif
