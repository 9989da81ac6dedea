/* Ends of tags: what text/format/tag_end.c remembers changes no answer, and texts of beginnings
 * without an end are read in linear time, in every format. */
#include "text/format/internal.h"
#include "tests/sanitized.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static size_t after(const char *s, size_t at, size_t from, size_t end, const char *close)
{
    for (size_t i = from; i + strlen(close) <= end; i++)
        if (memcmp(s + i, close, strlen(close)) == 0)
            return i + strlen(close);
    return at;
}

/* The definition: each tag is looked for by itself. */
static size_t defined_end(const char *s, size_t at, size_t end)
{
    size_t i = at + 1;
    if (end - at >= 4 && memcmp(s + at, "<!--", 4) == 0)
        return after(s, at, at + 2, end, "-->");
    if (end - at >= 9 && memcmp(s + at, "<![CDATA[", 9) == 0)
        return after(s, at, at, end, "]]>");
    if (end - at >= 2 && s[at + 1] == '?')
        return after(s, at, at + 2, end, "?>");
    i += i < end && s[i] == '/';
    if (i >= end || !(isalpha((unsigned char)s[i]) || s[i] == '!'))
        return at;
    for (size_t k = i; k < end && s[k] != '>'; k++) {
        if (s[k] != '"' && s[k] != '\'')
            continue;
        const char *close = s[k - 1] == '=' ? memchr(s + k + 1, s[k], end - k - 1) : NULL;
        if (!close)
            break;
        k = (size_t)(close - s);
        i = k + 1;
    }
    return after(s, at, i, end, ">");
}

/* Looks for tags in random texts in rising order, most often up to the same byte, as readers do. */
static void memory_changes_no_answer(void **state)
{
    static const char *const words[] = {"<a", "<a b=\"", "<a b='", "\"", "'", "='", "=\"", ">",
        "<!--", "-->", "<?", "?>", "<![CDATA[", "]]>", "</b", "<!", " ", "x", "\" c='", "' d=\""};
    (void)state;
    srand(3);
    for (int round = 0; round < 20000; round++) {
        char s[400] = "";
        const int n_words = rand() % 40, most = 1 + rand() % 20;
        for (int i = 0; i < n_words; i++)
            strcat(s, words[rand() % most]);
        struct dg_document d = {0};
        size_t end = strlen(s);
        for (size_t at = 0; s[at]; at++) {
            if (rand() % 16 == 0)
                end = at + 1 + (size_t)rand() % (strlen(s) - at);
            if (s[at] != '<' || at >= end)
                continue;
            if (dg_tag_end(&d, s, at, end) != defined_end(s, at, end))
                fail_msg("%s: at %zu, up to %zu", s, at, end);
            if (rand() % 4 == 0)
                at = 0;
        }
        assert_false(d.text.failed);
        dg_document_close(&d);
    }
}

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A text of beginnings: `first`, `again` many times, and `last`. */
struct beginnings {
    enum dg_format format;
    const char *first, *again, *last;
};

/* The CPU seconds that it takes to read `bytes` of them. */
static double seconds(const struct beginnings *t, size_t bytes)
{
    struct dg_document d;
    struct dg_error err = {0};
    struct dg_buffer b;
    dg_buffer_init(&b);
    dg_buffer_adds(&b, t->first);
    while (b.len < bytes)
        dg_buffer_adds(&b, t->again);
    dg_buffer_adds(&b, t->last);
    assert_false(b.failed);
    const double before = cpu_s();
    if (dg_document_open(b.data, b.len, t->format, &d, &err) == DG_OK)
        dg_document_close(&d);
    else /* XML that is not well-formed; no other format refuses a text here */
        assert_true(t->format == DG_FORMAT_XML);
    const double took = cpu_s() - before;
    dg_buffer_deinit(&b);
    return took;
}

/* Compares two lengths, so that a slow machine fails no test: four times the text takes four times
 * as long, or 16 times where each beginning is looked for by itself. Such 200 KB took 1 to 10 s;
 * now most take 0.02 s, too short to be measured well, and those of "{" 0.2 s, because each is
 * compared with the 500 bytes after it. (libgumbo takes 0.04 s for the 67,000 attributes of one
 * tag, and four times as long for twice as many; a sanitizer adds to that.) Measures up to three
 * times, because a busy host adds to the time. */
static bool takes_linear_time(const struct beginnings *t, double *took)
{
    for (int tries = 0; tries < 3; tries++) {
        *took = seconds(t, 200000);
        if (*took < (SANITIZED ? 1.5 : 0.15) || *took < 9 * seconds(t, 50000))
            return true;
    }
    return false;
}

static void endless_beginnings_take_linear_time(void **state)
{
    static const char *const again[] = {"<a", "<a ", "</a", "<a x=\"", "<a x='", "<a x=\">\" ",
        "<a\"", "<!", "<!--", "<![CDATA[", "<?", "<zz", "<0", "</0>", "<_", "<summary", "<br><?>",
        "<br><br>", "<", "[", "![", "[^a", "[a](", "[a](<", "`", "` ", "{", "{{", "{a,", "{\\",
        "%(", "http://", "http://a(", "a@", "a.", "a/", "../", "&", "&a", "*a "};
    static const struct {
        enum dg_format format;
        const char *first, *last;
    } around[] = {{DG_FORMAT_TEXT, "Hello ", ""}, {DG_FORMAT_TEXT, "Hello<br>", ">"},
        {DG_FORMAT_TEXT, "Hello<x/>", "</x>"}, {DG_FORMAT_WRAPPED, "Hello ", ">])"},
        {DG_FORMAT_MARKDOWN, "Hello ", ""}, {DG_FORMAT_MARKDOWN, "Hello ", ">])"},
        {DG_FORMAT_MARKDOWN, "<summary>", ""},
        {DG_FORMAT_SRT, "1\n00:00:01,000 --> 00:00:02,000\n", ""},
        {DG_FORMAT_SRT, "1\n00:00:01,000 --> 00:00:02,000\n", ">"}, {DG_FORMAT_HTML, "Hello ", ""},
        {DG_FORMAT_HTML, "<p>Hello ", ">"}, {DG_FORMAT_XML, "<p>Hello ", "</p>"}};
    (void)state;
    double most = 0;
    for (size_t i = 0; i < sizeof again / sizeof *again; i++)
        for (size_t k = 0; k < sizeof around / sizeof *around; k++) {
            const struct beginnings t = {
                around[k].format, around[k].first, again[i], around[k].last};
            double took;
            if (!takes_linear_time(&t, &took))
                fail_msg("%s: %s%s...%s takes %.1f s", dg_format_names[t.format], t.first, t.again,
                    t.last, took);
            most = took > most ? took : most;
        }
    print_message("at most %.2f s\n", most);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory_changes_no_answer),
        cmocka_unit_test(endless_beginnings_take_linear_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
