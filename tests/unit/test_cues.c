/* Subtitles' cues over which one sentence continues. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "documents/extract.h"

#define FOUR "\u597D\u597D\u597D\u597D"
#define TEN FOUR FOUR "\u597D\u597D"

/* A file of `count` texts. */
static struct dg_extract *opened(const char *name, const char *file, size_t count)
{
    struct dg_extract *x = NULL;
    assert_int_equal(
        dg_extract_open(name, file, strlen(file), "de", &dg_extract_limits_default, &x, NULL), 0);
    assert_int_equal(dg_extract_count(x), count);
    return x;
}

static void check_written(
    struct dg_extract *x, const struct dg_extract_answer *answers, const char *want)
{
    struct dg_buffer out;
    dg_buffer_init(&out);
    assert_int_equal(dg_extract_write(x, answers, &out, NULL), 0);
    assert_string_equal(out.data, want);
    dg_buffer_deinit(&out);
}

/* A translation longer or shorter than its text: every cue gets some of it, in order. */
static void cues_share_a_sentence(void **state)
{
    (void)state;
    static const char file[] = "1\r\n00:00:01,000 --> 00:00:02,000\r\none dog that is\r\n\r\n2\r\n"
                               "00:00:02,000 --> 00:00:06,000\r\nold went to\r\n\r\n3\r\n"
                               "00:00:06,000 --> 00:00:07,000\r\nthe house.\r\n";
    static const char *const answers[][4] = {
        {"a b c", "a", "b", "c"},
        {"a bb cccc dddd ee f", "a bb", "cccc dddd", "ee f"},
        {"aaaa aaaa, bbbb bbbb bbbb, cccc", "aaaa aaaa,", "bbbb bbbb bbbb,", "cccc"},
        {"a", "a", "", ""},
        {"aaaa b", "aaaa", "b", ""},
        /* 17 signs, cut near 29 % and 78 % */
        {"\u6211\u5C0F\u65F6\u5019\uFF0C\u4F4F\u5728\u6D77\u8FB9\u7684\u4E00\u5EA7\u5C0F\u623F\u5B50\u91CC\u3002",
            "\u6211\u5C0F\u65F6\u5019\uFF0C", "\u4F4F\u5728\u6D77\u8FB9\u7684\u4E00\u5EA7\u5C0F",
            "\u623F\u5B50\u91CC\u3002"},
        /* 90 signs: 44 do not fit into a line */
        {TEN TEN TEN TEN TEN TEN TEN TEN TEN, TEN TEN FOUR "\u597D\u597D",
            TEN TEN "\u597D\u597D\r\n" TEN TEN "\u597D\u597D", TEN TEN},
        /* Korean, between words only */
        {"\uB098\uB294 \uC5B4\uB838\uC744\uB54C \uBC14\uB2F7\uAC00\uC5D0 \uC0B4\uC558\uB2E4.",
            "\uB098\uB294 \uC5B4\uB838\uC744\uB54C", "\uBC14\uB2F7\uAC00\uC5D0",
            "\uC0B4\uC558\uB2E4."},
        {"\u55EF\u3002", "\u55EF\u3002", "", ""},
    };
    struct dg_extract *x = opened("a.srt", file, 1);
    struct dg_extract_text t;
    dg_extract_text(x, 0, &t);
    assert_string_equal(t.s, "one dog that is old went to the house.");
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        const struct dg_extract_answer a = {answers[i][0], strlen(answers[i][0])};
        char want[1024];
        snprintf(want, sizeof want,
            "1\r\n00:00:01,000 --> 00:00:02,000\r\n%s\r\n\r\n2\r\n00:00:02,000 --> 00:00:06,000\r\n"
            "%s\r\n\r\n3\r\n00:00:06,000 --> 00:00:07,000\r\n%s\r\n",
            answers[i][1], answers[i][2], answers[i][3]);
        check_written(x, &a, want);
    }
    dg_extract_close(x);
}

/* Without a blank line between cues, the next one's number and times are no text. */
static void cues_without_blank_lines(void **state)
{
    (void)state;
    static const char file[] = "1\n00:00:01,000 --> 00:00:02,000\nI saw that\n2\n"
                               "00:00:02,000 --> 00:00:03,000\nthe dog was\n"
                               "00:00:03,000 --> 00:00:04,000\nin\nthe house.\n";
    static const char want[] = "1\n00:00:01,000 --> 00:00:02,000\naaaa aaaa\n2\n"
                               "00:00:02,000 --> 00:00:03,000\nbbbb bbbb\n"
                               "00:00:03,000 --> 00:00:04,000\ncccc\ncccc\n";
    const struct dg_extract_answer a = {"aaaa aaaa bbbb bbbb cccc cccc", 29};
    struct dg_extract *x = opened("a.srt", file, 1);
    struct dg_extract_text t;
    dg_extract_text(x, 0, &t);
    assert_string_equal(t.s, "I saw that the dog was in the house.");
    check_written(x, &a, want);
    dg_extract_close(x);
}

/* YouTube's captions have cues whose first or last line is a space; only an empty line ends a cue
 * of WebVTT. The first cues' texts are with their times, the last ones are one sentence. */
static void lines_of_white_space_within_cues(void **state)
{
    (void)state;
    static const char file[] =
        "WEBVTT\r\n\r\n00:00:01.000 --> 00:00:02.000 align:start\r\n \r\n<c>Hello.</c>\r\n\r\n"
        "00:00:02.000 --> 00:00:03.000\r\nOne dog.\r\n\t\r\nTwo.\r\n \r\n\r\n"
        "00:00:03.000 --> 00:00:04.000\r\n \r\nthe dog is\r\n \r\n\r\n"
        "00:00:04.000 --> 00:00:05.000\r\nin the house.\r\n \r\n"
        "00:00:05.000 --> 00:00:06.000\r\nThe end.\r\n";
    static const char *const texts[] = {
        "00:00:01.000 --> 00:00:02.000 align:start\r\n \r\n<c>Hello.</c>",
        "00:00:02.000 --> 00:00:03.000\r\nOne dog.\r\n\t\r\nTwo.", "the dog is in the house.",
        "00:00:05.000 --> 00:00:06.000\r\nThe end."};
    struct dg_extract_answer a[4];
    struct dg_extract *x = opened("a.vtt", file, 4);
    for (size_t i = 0; i < 4; i++) {
        struct dg_extract_text t;
        dg_extract_text(x, i, &t);
        assert_string_equal(t.s, texts[i]);
        a[i] = (struct dg_extract_answer){t.s, t.n};
    }
    check_written(x, a, file);
    dg_extract_close(x);
}

/* Words that appear one after another: the answer has the times in their order, whatever its words'
 * order, and no word of the source. */
static void words_with_times(void **state)
{
    (void)state;
    static const char file[] =
        "WEBVTT\r\n\r\n00:00:01.000 --> 00:00:04.000 align:start\r\n"
        "the dog\r\n"
        "is<00:00:01.200><c> in</c><00:00:01.400><c.b> the</c><00:00:02.000> house\r\n\r\n"
        "00:00:04.000 --> 00:00:05.000\r\n<00:00:04.100><i>Go</i>\r\n";
    static const struct {
        const char *answer, *line;
    } cases[] = {{"is in the house",
                     "is<00:00:01.200><c> in</c><00:00:01.400><c.b> the</c><00:00:02.000> house"},
        {"ist daheim", "ist<00:00:01.200><c> daheim</c>"}, {"daheim", "daheim"}, {"", ""},
        {"a b c d e f", "a<00:00:01.200><c> b</c><00:00:01.400><c.b> c</c><00:00:02.000> d e f"},
        {"in der Tat ist er da",
            "in<00:00:01.200><c> der</c><00:00:01.400><c.b> Tat</c><00:00:02.000> ist er da"}};
    struct dg_extract *x = opened("a.vtt", file, 3);
    struct dg_extract_text t;
    dg_extract_text(x, 0, &t);
    assert_string_equal(t.s, "the dog");
    dg_extract_text(x, 1, &t);
    assert_string_equal(t.s, "is in the house");
    dg_extract_text(x, 2, &t);
    assert_string_equal(t.s, "00:00:04.000 --> 00:00:05.000\r\n<00:00:04.100><i>Go</i>");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *answer = cases[i].answer;
        const struct dg_extract_answer a[] = {
            {"der Hund", 8}, {answer, strlen(answer)}, {t.s, t.n}};
        char want[512];
        snprintf(want, sizeof want,
            "WEBVTT\r\n\r\n00:00:01.000 --> 00:00:04.000 align:start\r\nder Hund\r\n%s\r\n\r\n"
            "00:00:04.000 --> 00:00:05.000\r\n<00:00:04.100><i>Go</i>\r\n",
            cases[i].line);
        check_written(x, a, want);
    }
    dg_extract_close(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cues_share_a_sentence),
        cmocka_unit_test(cues_without_blank_lines),
        cmocka_unit_test(lines_of_white_space_within_cues), cmocka_unit_test(words_with_times)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
