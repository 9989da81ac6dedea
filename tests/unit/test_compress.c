/* Parsing Accept-Encoding, and compressed bodies that decompress to the original. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "server/http/compress.h"

#include <zlib.h>
#include <zstd.h>

static void test_choose(void **state)
{
    static const struct {
        const char *accept;
        enum dg_compress_coding want;
    } cases[] = {
        {NULL, DG_COMPRESS_NONE},
        {"", DG_COMPRESS_NONE},
        {"identity", DG_COMPRESS_NONE},
        {"gzip", DG_COMPRESS_GZIP},
        {"GZip", DG_COMPRESS_GZIP},
        {"x-gzip", DG_COMPRESS_GZIP},
        {"zstd", DG_COMPRESS_ZSTD},
        {"gzip, deflate, br, zstd", DG_COMPRESS_ZSTD},
        {"gzip, deflate", DG_COMPRESS_GZIP},
        {"deflate, br", DG_COMPRESS_NONE},
        {"gzipped", DG_COMPRESS_NONE},
        {"gzip;q=0", DG_COMPRESS_NONE},
        {"gzip;q=0.000", DG_COMPRESS_NONE},
        {"zstd;q=0.5, gzip;q=0.8", DG_COMPRESS_GZIP},
        {"zstd;q=0.5,gzip;q=0.5", DG_COMPRESS_ZSTD},
        {"gzip ; q=1.000 , zstd; Q=0.999", DG_COMPRESS_GZIP},
        {"gzip;q=0.001", DG_COMPRESS_GZIP},
        {"*", DG_COMPRESS_ZSTD},
        {"*;q=0", DG_COMPRESS_NONE},
        {"zstd;q=0, *", DG_COMPRESS_GZIP},
        {"gzip, *;q=0", DG_COMPRESS_GZIP},
        {"identity, gzip;q=0.5", DG_COMPRESS_NONE},
        {"identity;q=0.5, gzip;q=1.0", DG_COMPRESS_GZIP},
        {"identity;q=1, gzip;q=1", DG_COMPRESS_GZIP},
        /* Entries with malformed weights are ignored. */
        {"gzip;q=1.5", DG_COMPRESS_NONE},
        {"gzip;q=x", DG_COMPRESS_NONE},
        {"gzip;q=", DG_COMPRESS_NONE},
        {"gzip;q=0.1234", DG_COMPRESS_NONE},
        {"gzip;level=9", DG_COMPRESS_NONE},
        {",,gzip,,", DG_COMPRESS_GZIP},
        {";", DG_COMPRESS_NONE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (dg_compress_choose(cases[i].accept) != cases[i].want)
            fail_msg("\"%s\" gives %d", cases[i].accept, dg_compress_choose(cases[i].accept));
}

static void test_what_pays(void **state)
{
    (void)state;
    assert_true(dg_compress_pays("application/json", 1024));
    assert_true(dg_compress_pays("text/html; charset=utf-8", 5000));
    assert_true(dg_compress_pays("image/svg+xml", 5000));
    assert_false(dg_compress_pays("application/json", 1023));
    assert_false(dg_compress_pays("application/json", DG_COMPRESS_MOST + 1));
    assert_false(dg_compress_pays("application/octet-stream", 5000));
    assert_false(dg_compress_pays(NULL, 5000));
}

static void inflate_all(const char *s, size_t n, char *out, size_t want)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)s,
        .avail_in = (uInt)n,
        .next_out = (Bytef *)out,
        .avail_out = (uInt)want};
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.total_out, want);
    inflateEnd(&z);
}

static void test_there_and_back(void **state)
{
    static const size_t sizes[] = {1024, 100000, DG_COMPRESS_MOST};
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const size_t n = sizes[k];
        size_t m;
        char *body = malloc(n), *back = malloc(n);
        for (size_t i = 0; i < n; i++)
            body[i] = "{\"text\":\"Zwei Hunde spielen im Schnee.\"}"[i * i / 7 % 40];
        char *z = dg_compress(DG_COMPRESS_GZIP, body, n, &m);
        assert_non_null(z);
        assert_true(m < n);
        inflate_all(z, m, back, n);
        assert_memory_equal(back, body, n);
        free(z);
        z = dg_compress(DG_COMPRESS_ZSTD, body, n, &m);
        assert_non_null(z);
        assert_true(m < n);
        memset(back, 0, n);
        assert_int_equal(ZSTD_decompress(back, n, z, m), n);
        assert_memory_equal(back, body, n);
        free(z);
        free(body);
        free(back);
    }
}

/* Data without a pattern does not shrink, and is sent as it is. */
static void test_noise(void **state)
{
    char noise[2048];
    uint64_t x = 1;
    size_t m;
    (void)state;
    for (size_t i = 0; i < sizeof noise; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        noise[i] = (char)(x >> 56);
    }
    assert_null(dg_compress(DG_COMPRESS_GZIP, noise, sizeof noise, &m));
    assert_null(dg_compress(DG_COMPRESS_ZSTD, noise, sizeof noise, &m));
    assert_null(dg_compress(DG_COMPRESS_NONE, noise, sizeof noise, &m));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_choose),
        cmocka_unit_test(test_what_pays), cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_noise)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
