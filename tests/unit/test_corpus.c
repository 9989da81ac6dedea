#include "trainer/data/corpus.h"

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

static char folder[] = "/tmp/test_corpus_XXXXXX";

static int make(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int clear(void **state)
{
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static const char *write_file(const char *name, const char *text, size_t n)
{
    static char path[2][128];
    static int turn;
    turn ^= 1;
    snprintf(path[turn], sizeof path[turn], "%s/%s", folder, name);
    assert_int_equal(dg_file_write(path[turn], text, n, NULL), 0);
    return path[turn];
}

static void expect_lines(const char *path, const char *const *lines, size_t n)
{
    struct dg_corpus_lines *l;
    struct dg_line line;
    struct dg_error err = {0};
    assert_int_equal(dg_corpus_lines_open(path, &l, &err), 0);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(dg_corpus_lines_next(l, &line, &err), 1);
        assert_int_equal(line.len, strlen(lines[i]));
        assert_memory_equal(line.text, lines[i], line.len);
        assert_int_equal(dg_corpus_lines_number(l), i + 1);
    }
    assert_int_equal(dg_corpus_lines_next(l, &line, &err), 0);
    assert_int_equal(dg_corpus_lines_next(l, &line, &err), 0);
    dg_corpus_lines_close(l);
}

static void test_lines(void **state)
{
    (void)state;
    static const char text[] = "\xEF\xBB\xBF"
                               "first\r\n\nthird line\nlast without an end";
    static const char *const lines[] = {"first", "", "third line", "last without an end"};
    expect_lines(write_file("a", text, sizeof text - 1), lines, 4);
    expect_lines(write_file("a", "", 0), NULL, 0);
    expect_lines(write_file("a", "\n", 1), (const char *const[]){""}, 1);
}

static void test_gzip(void **state)
{
    (void)state;
    static const char *const lines[] = {"one", "two", "three"};
    char command[256], gz[128];
    const char *path = write_file("b", "one\ntwo\nthree\n", 14);
    snprintf(gz, sizeof gz, "%s.gz", path);
    snprintf(command, sizeof command, "gzip -kf '%s'", path);
    assert_int_equal(system(command), 0);
    expect_lines(gz, lines, 3);
    /* A stream cut off in the middle is an error, not an end. */
    struct dg_buffer b;
    struct dg_corpus_lines *l;
    struct dg_line line;
    struct dg_error err = {0};
    dg_buffer_init(&b);
    assert_int_equal(dg_file_read(gz, &b, NULL), 0);
    assert_int_equal(dg_corpus_lines_open(write_file("cut.gz", b.data, b.len - 9), &l, &err), 0);
    int rc;
    while ((rc = dg_corpus_lines_next(l, &line, &err)) > 0)
        ;
    assert_true(rc < 0);
    assert_non_null(strstr(err.message, "cut.gz"));
    dg_corpus_lines_close(l);
    dg_buffer_deinit(&b);
}

/* A line over the limit that ends the file, with and without its end. */
static void test_long_last_line(void **state)
{
    (void)state;
    enum { BIG = (1 << 20) + 1 };
    char *text = malloc(BIG + 1);
    assert_non_null(text);
    memset(text, 'a', BIG);
    text[BIG] = '\n';
    for (size_t n = BIG; n <= BIG + 1; n++) {
        struct dg_corpus_lines *l;
        struct dg_line line;
        assert_int_equal(dg_corpus_lines_open(write_file("d", text, n), &l, NULL), 0);
        assert_int_equal(dg_corpus_lines_next(l, &line, NULL), 1);
        assert_true(line.cut && line.len == DG_CORPUS_MAX_LINE && line.text[line.len - 1] == 'a');
        assert_int_equal(dg_corpus_lines_number(l), 1);
        assert_int_equal(dg_corpus_lines_next(l, &line, NULL), 0);
        dg_corpus_lines_close(l);
    }
    free(text);
}

/* Lines of all lengths around the block size, and one over the limit between two short ones. */
static void test_long_lines(void **state)
{
    (void)state;
    size_t big = DG_CORPUS_MAX_LINE + 12345,
           len[] = {10, 131071, 131072, 131073, 300000, DG_CORPUS_MAX_LINE, big, 5, 0, 3};
    size_t n = sizeof len / sizeof len[0], total = 0;
    for (size_t i = 0; i < n; i++)
        total += len[i] + 1;
    char *text = malloc(total), *p = text;
    assert_non_null(text);
    for (size_t i = 0; i < n; i++) {
        memset(p, 'a' + (int)i, len[i]);
        p[len[i]] = '\n';
        p += len[i] + 1;
    }
    struct dg_corpus_lines *l;
    struct dg_line line;
    assert_int_equal(dg_corpus_lines_open(write_file("c", text, total), &l, NULL), 0);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(dg_corpus_lines_next(l, &line, NULL), 1);
        assert_int_equal(line.cut, len[i] == big);
        assert_int_equal(line.len, line.cut ? DG_CORPUS_MAX_LINE : len[i]);
        for (size_t k = 0; k < line.len; k++)
            assert_int_equal(line.text[k], 'a' + (int)i);
    }
    assert_int_equal(dg_corpus_lines_next(l, &line, NULL), 0);
    dg_corpus_lines_close(l);
    free(text);
}

static void test_side_by_side(void **state)
{
    (void)state;
    struct dg_corpus *c;
    struct dg_line lines[3];
    struct dg_error err = {0};
    const char *paths[3] = {write_file("s", "a\nb\nc\n", 6), write_file("t", "x\ny\n", 4), NULL};
    assert_int_equal(dg_corpus_open(paths, 3, &c, &err), 0);
    assert_int_equal(dg_corpus_next(c, lines, &err), 1);
    assert_memory_equal(lines[0].text, "a", 1);
    assert_memory_equal(lines[1].text, "x", 1);
    assert_int_equal(lines[2].len, 0);
    assert_int_equal(dg_corpus_next(c, lines, &err), 1);
    assert_int_equal(dg_corpus_next(c, lines, &err), DG_EFORMAT);
    assert_non_null(strstr(err.message, "/t ends after 2 lines"));
    dg_corpus_close(c);
    paths[0] = "/nowhere/x";
    dg_error_clear(&err);
    assert_int_equal(dg_corpus_open(paths, 2, &c, &err), DG_ENOTFOUND);
    assert_non_null(strstr(err.message, "/nowhere/x"));
}

static void expect_kind(const char *bytes, size_t n, const char *message)
{
    struct dg_corpus_lines *l;
    struct dg_line line;
    struct dg_error err = {0};
    assert_int_equal(dg_corpus_lines_open(write_file("f", bytes, n), &l, &err), 0);
    assert_int_equal(dg_corpus_lines_next(l, &line, &err), DG_EFORMAT);
    assert_non_null(strstr(err.message, message));
    dg_corpus_lines_close(l);
}

/* Other files than text and gzip are named; text that begins alike stays text. */
static void test_other_kinds(void **state)
{
    (void)state;
    expect_kind("\x28\xB5\x2F\xFD\x04\n", 6,
        "/f is a Zstandard file, must be text in UTF-8, plain or gzip: zstd -d unpacks it");
    expect_kind("\xFD\x37zXZ\0\0", 7, "/f is an xz file");
    expect_kind("BZh91AY&SY\n", 11, "/f is a bzip2 file");
    expect_kind("PK\3\4\n", 5, "/f is a zip archive");
    expect_kind("\xFF\xFE\x61\0\n\0", 6, "/f is UTF-16");
    expect_kind("\xFE\xFF\0a\0\n", 6, "/f is UTF-16");
    expect_kind("a\rb\rc\r", 6, "/f has lines that end in CR alone, must end in LF or CR LF: tr ");
    expect_lines(write_file("f", "a\rb\r\n", 5), (const char *[]){"a\rb"}, 1);
    expect_lines(write_file("f", "a\rb\r", 4), (const char *[]){"a\rb"}, 1);
    expect_lines(write_file("f", "(\nPK\n", 5), (const char *[]){"(", "PK"}, 2);
    expect_lines(write_file("f", "a\n\xFF\xFE\n", 5), (const char *[]){"a", "\xFF\xFE"}, 2);
}

static void expect_no_text(const char *text, size_t n, const char *fault)
{
    struct dg_corpus *c;
    struct dg_line lines[2];
    struct dg_error err = {0};
    const char *paths[2] = {write_file("s", "a\n\n", 3), write_file("t", text, n)};
    assert_int_equal(dg_corpus_open(paths, 2, &c, &err), 0);
    assert_int_equal(dg_corpus_next_text(c, lines, &err), 1);
    assert_int_equal(dg_corpus_next_text(c, lines, &err), DG_EFORMAT);
    assert_non_null(strstr(err.message, fault));
    dg_corpus_close(c);
}

static void test_only_text(void **state)
{
    (void)state;
    char *line = calloc(1, DG_CORPUS_MAX_LINE + 8);
    assert_non_null(line);
    memcpy(line, "x\n", 2);
    memset(line + 2, 'a', DG_CORPUS_MAX_LINE + 1);
    expect_no_text("x\nGr\xFC\xDF"
                   "e\n",
        8, "/t line 2: not UTF-8");
    expect_no_text("x\na\0b\n", 6, "/t line 2: not UTF-8");
    expect_no_text(line, DG_CORPUS_MAX_LINE + 3, "/t line 2: too long");
    expect_no_text("x\n", 2, "/t ends after 1 lines");
    free(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_gzip),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_long_last_line),
        cmocka_unit_test(test_side_by_side),
        cmocka_unit_test(test_only_text),
        cmocka_unit_test(test_other_kinds),
    };
    return cmocka_run_group_tests(tests, make, clear);
}
