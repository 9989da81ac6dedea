/* Properties of any text split into sentences: order, white space, lines, linear time, and cutting
 * long sentences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "text/sentences/split.h"
#include "text/utf8.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Checks that spans are in order, disjoint, not empty, whole code points, without white space at
 * their ends or line ends and tabs inside; and that gaps hold no word except a list label. */
static void check_spans(const char *text, size_t n, const struct dg_span *spans, size_t count)
{
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        const char *s = text + spans[i].begin;
        size_t len = spans[i].end - spans[i].begin;
        assert_true(spans[i].begin >= at && spans[i].begin < spans[i].end && spans[i].end <= n);
        assert_int_equal(dg_utf8_check(s, len, NULL), DG_OK);
        assert_null(memchr(s, '\n', len));
        assert_null(memchr(s, '\r', len));
        assert_null(memchr(s, '\t', len));
        assert_null(strchr(" \t", s[0]));
        assert_null(strchr(" \t", s[len - 1]));
        at = spans[i].end;
    }
}

static void test_random(void **state)
{
    (void)state;
    static const char *const parts[] = {"a", "B", "z.", "Dr.", "3", "12.", ".", "!", "?", "…",
        "...", " ", "  ", "\n", "\r\n", "\t", "-", "*", "•", "(", ")", "[1]", "[", "]", "«", "»",
        "„", "“", "\"", "'", "\u00A0", "\u2028", "é", "ß", "|", "   ", " » ", "漢", "。", "！", "😀",
        "e\u0301", "\u200D", "\uFE0F", "Der", "The", "U.S.", "etc.", ">", "#", ",", ";", "–", "XIV",
        "M."};
    static const char *const langs[] = {"en", "de", "fr", "", "zh", "da"};
    uint64_t x = 20170612;
    char text[1024];
    for (int round = 0; round < 20000; round++) {
        size_t n = 0;
        for (int i = 0, k = round % 60; i < k; i++) {
            x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            const char *part = parts[(x >> 33) % (sizeof parts / sizeof *parts)];
            memcpy(text + n, part, strlen(part));
            n += strlen(part);
        }
        char *exact = malloc(n ? n : 1); /* exact size, so that a read past the end shows */
        memcpy(exact, text, n);
        struct dg_span *spans = NULL;
        size_t count = 0;
        assert_int_equal(
            dg_split_sentences(exact, n, langs[round % 6], &spans, &count, NULL), DG_OK);
        check_spans(exact, n, spans, count);
        free(spans);
        free(exact);
    }
}

/* Lines are independent: a document's sentences are those of its lines. */
static void test_lines_independent(void **state)
{
    (void)state;
    const char *text = "Dr. A said: “No.” Yes.\n\n  1. It is. 2 more.\nz. B. this\n";
    struct dg_span *all = NULL, *part = NULL;
    size_t count = 0, n_part = 0, seen = 0;
    assert_int_equal(dg_split_sentences(text, strlen(text), "en", &all, &count, NULL), DG_OK);
    for (const char *line = text; *line;) {
        size_t n = strcspn(line, "\n");
        assert_int_equal(dg_split_sentences(line, n, "en", &part, &n_part, NULL), DG_OK);
        for (size_t i = 0; i < n_part; i++, seen++) {
            assert_true(seen < count);
            assert_int_equal(all[seen].begin, part[i].begin + (size_t)(line - text));
            assert_int_equal(all[seen].end, part[i].end + (size_t)(line - text));
        }
        free(part);
        line += n + (line[n] == '\n');
    }
    assert_int_equal(seen, count);
    free(all);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Time grows with the text, not with its square: texts of 64 KiB and 1 MiB (16 times as long) made
 * to provoke rules. Quadratic rules would need 256 times as long; 64 leaves room for a busy
 * machine. */
static void test_linear_time(void **state)
{
    (void)state;
    static const char *const units[] = {"Das ist z. B. am 3. Mai. Er kommt! ", "x", "A. ", ". ",
        "a. 1 1 ", "« a! » ", "! »", "«a", "a… ", ".[1]", "a.          ", "你好。", "- ",
        "a.\" ' ) 1 ", "e\u0301", "? ", "a.)))( ", "|", "   a", " · ", " » ", "\n", "-A  ",
        "\u00A0  ", "-a  b "};
    enum { LONG = 1 << 20 };
    char *text = malloc(LONG + 64);
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        size_t k = strlen(units[u]), n = 0;
        double t[2];
        while (n + k <= LONG) {
            memcpy(text + n, units[u], k);
            n += k;
        }
        for (int i = 0; i < 2; i++) {
            size_t m = i ? n : n / k / 16 * k, count = 0;
            struct dg_span *spans = NULL;
            double start = seconds();
            assert_int_equal(dg_split_sentences(text, m, "de", &spans, &count, NULL), DG_OK);
            t[i] = seconds() - start;
            check_spans(text, m, spans, count);
            free(spans);
        }
        if (t[1] > 64 * t[0] + 0.05)
            fail_msg("\"%s\" repeated: %.4f s for 64 KiB, %.4f s for 1 MiB", units[u], t[0], t[1]);
    }
    free(text);
}

static void test_further(void **state)
{
    (void)state;
    static const struct {
        const char *text, *left, *right;
    } cases[] = {
        {"one two three, four five six", "one two three,", "four five six"},
        {"a, bbbbbbbbbb cccccccccc dddddddd", "a, bbbbbbbbbb",
            "cccccccccc dddddddd"}, /* the comma is too far away */
        {"first part; second, part of it", "first part;", "second, part of it"},
        {"one two – three four", "one two –", "three four"},
        {"he paid 1,000 for 22,000 of them", "he paid 1,000 for", "22,000 of them"},
        {"one   two", "one", "two"},
        {"one\u00A0two", "one", "two"},
        {"abcdef", "abc", "def"},
        {"ab", "a", "b"},
        {"我们今天去，你们明天去", "我们今天去，", "你们明天去"},
        {"我们今天", "我们", "今天"},
        {"äö", "ä", "ö"},
        {"e\u0301e\u0301", "e\u0301", "e\u0301"}, /* not between a letter and its accent */
        {"e\u0301", "e", "\u0301"},               /* unless nothing else is possible */
        {"👩‍👩‍👧👩‍👩‍👧", "👩‍👩‍👧", "👩‍👩‍👧"},
        {"x yyyyyyyyyyyyyyyyyyyyyyyy", "x", "yyyyyyyyyyyyyyyyyyyyyyyy"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = strlen(cases[i].text), left = 0, right = 0;
        assert_int_equal(dg_split_long(cases[i].text, n, &left, &right, NULL), DG_OK);
        assert_int_equal(left, strlen(cases[i].left));
        assert_memory_equal(cases[i].text, cases[i].left, left);
        assert_string_equal(cases[i].text + right, cases[i].right);
    }
    static const char *const single[] = {"", "a", "ä", "漢", "😀"};
    for (size_t i = 0; i < sizeof single / sizeof *single; i++) {
        size_t left, right;
        struct dg_error err = {0};
        assert_int_equal(
            dg_split_long(single[i], strlen(single[i]), &left, &right, &err), DG_ELIMIT);
        assert_true(err.message[0] != '\0');
    }
}

/* Cutting again and again ends, loses only white space, and never makes an empty part. */
static void cut_all(const char *s, size_t n, size_t limit, size_t *kept)
{
    size_t left, right;
    if (n <= limit || dg_split_long(s, n, &left, &right, NULL) != DG_OK) {
        for (size_t i = 0; i < n; i++)
            *kept += s[i] != ' ';
        return;
    }
    assert_true(left > 0 && right >= left && right < n);
    for (size_t i = left; i < right; i++)
        assert_int_equal(s[i], ' ');
    assert_int_equal(dg_utf8_check(s, left, NULL), DG_OK);
    assert_int_equal(dg_utf8_check(s + right, n - right, NULL), DG_OK);
    cut_all(s, left, limit, kept);
    cut_all(s + right, n - right, limit, kept);
}

static void test_further_again(void **state)
{
    (void)state;
    const char *text =
        "When, in the course of human events; it becomes   necessary: 漢字漢字漢字漢字漢字漢字 — "
        "for one "
        "people, toooooooooooooooooooooooooooooooooooo dissolve e\u0301e\u0301e\u0301 people";
    size_t solid = 0;
    for (const char *p = text; *p; p++)
        solid += *p != ' ';
    for (size_t limit = 1; limit < 40; limit++) {
        size_t kept = 0;
        cut_all(text, strlen(text), limit, &kept);
        assert_int_equal(kept, solid);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_lines_independent),
        cmocka_unit_test(test_linear_time),
        cmocka_unit_test(test_further),
        cmocka_unit_test(test_further_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
