/* Small files that would take time, or be written with bytes, by the square of their size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "documents/extract.h"
#include "tests/fuzz/package.h"
#include "tests/sanitized.h"
#include "text/format/document.h"

static const struct dg_extract_limits limits = {16 << 20, 16 << 20, 1 << 20, 100000, 16 << 20};

/* Append s n times, with a number of its own each time where it has %d. */
static void repeat(struct dg_buffer *b, const char *s, int n)
{
    const char *number = strstr(s, "%d");
    for (int i = 0; i < n; i++) {
        dg_buffer_add(b, s, number ? (size_t)(number - s) : strlen(s));
        if (number)
            dg_buffer_addf(b, "%d%s", i, number + 2);
    }
}

/* A file: head, `first` n times, middle, `then` n times, tail. A packed one is its members, as
 * tests/fuzz/package.h has them. */
struct file {
    const char *name, *head, *first, *middle, *then, *tail;
};

/* Open it; NULL if it was refused. The caller frees *bytes after it is closed. */
static struct dg_extract *open_file(const struct file *f, int n, char **bytes, struct dg_error *err)
{
    struct dg_extract *x = NULL;
    struct dg_buffer b;
    dg_buffer_init(&b);
    dg_buffer_adds(&b, f->head);
    repeat(&b, f->first, n);
    dg_buffer_adds(&b, f->middle);
    repeat(&b, f->then, n);
    dg_buffer_adds(&b, f->tail);
    size_t size = b.len;
    if (dg_extract_packed(f->name)) {
        *bytes = fuzz_package(b.data, b.len, &size);
        dg_buffer_deinit(&b);
    } else {
        *bytes = dg_buffer_take(&b, NULL);
    }
    dg_extract_open(dg_extract_suffix(f->name), *bytes, size, "de", &limits, &x, err);
    return x;
}

static const char attributes[] = " a%d=\"1\"", letters[] =
                                                   "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                                                   "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

#define SHEET "@@ xl/worksheets/sheet1.xml\n<worksheet>"
#define XLIFF "<xliff version=\"1.2\"><file><body"

/* Many elements in one whose long tag says something about them, or whose end is far. The first
 * three took 14 to 15 s of CPU time; the others did not end within 70 s on a busy machine. */
static void reading_takes_linear_time(void **state)
{
    (void)state;
    const double most = SANITIZED ? 12 : 4;
    bool late = false;
    static const struct file files[] = {
        {"a.xlsx", SHEET "<sheetData><row><c a=\"", letters, "\" t=\"str\">", "<v>dog</v>",
            "</c></row></sheetData></worksheet>"},
        {"a.xlsx", SHEET "<dataValidations><dataValidation a=\"", letters, "\" type=\"list\">",
            "<formula1>\"a\"</formula1>", "</dataValidation></dataValidations></worksheet>"},
        {"a.xml", "<resources a=\"", letters, "\">", "<string name=\"a\">dog</string>",
            "</resources>"},
        {"a.xml", "<resources><plurals a=\"", letters, "\">", "<item>dog</item>",
            "</plurals></resources>"},
        {"a.xlf", XLIFF " a=\"", letters, "\">", "<trans-unit><source>dog</source></trans-unit>",
            "</body></file></xliff>"},
        {"a.xlf", XLIFF "><trans-unit>", "<source>dog</source>", "", "<note/>",
            "</trans-unit></body></file></xliff>"},
        {"a.php", "<?php [", "'1',", "", "'1' /* 1 */ => ", ""},
        {"a.php", "<?php [", "<<<A\n", "", "/* 1 */", ""},
        {"a.csv", "dog,dog\n", "\"\"\",1,\"1,", "", "", ""},
        {"a.csv", "dog,dog\n\"1", "\"\"1,\n", "", "", ""},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct dg_error err = {0};
        char *bytes;
        const clock_t before = clock();
        struct dg_extract *x = open_file(&files[i], 60000, &bytes, &err);
        const double took = (double)(clock() - before) / CLOCKS_PER_SEC;
        if (!x)
            fail_msg("%s: %s", files[i].head, err.message);
        dg_extract_close(x);
        free(bytes);
        if (took > most)
            print_error("%s %s: %.1f s of CPU time\n", files[i].name, files[i].head, took);
        late = late || took > most;
    }
    assert_false(late);
}

/* A program's string was searched for spans of one kind again for each span of the other kind: 56
 * KB took 16 s of CPU time. */
static void strings_of_programs_take_linear_time(void **state)
{
    static const struct dg_markup markup = {.program = true};
    struct dg_buffer b;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct dg_document d;
        dg_buffer_init(&b);
        repeat(&b, i == 0 ? "{\\i1}$1" : "{0}, ", 60000);
        const clock_t before = clock();
        assert_int_equal(
            dg_document_open_markup(b.data, b.len, DG_FORMAT_TEXT, &markup, &d, NULL), DG_OK);
        assert_true((double)(clock() - before) / CLOCKS_PER_SEC < 4);
        assert_int_equal(d.n_marks, 60000);
        dg_document_close(&d);
        dg_buffer_deinit(&b);
    }
}

/* Each "<" without a ">" was searched for up to the end: 60 MB, 58 KB packed, did not end in 60 s.
 */
static void a_root_without_end(void **state)
{
    static const struct file file = {"a.docx", "@@ word/document.xml\n", "<a", "", letters, ""};
    struct dg_error err = {0};
    char *bytes;
    (void)state;
    const clock_t before = clock();
    assert_null(open_file(&file, 150000, &bytes, &err));
    assert_true((double)(clock() - before) / CLOCKS_PER_SEC < 4);
    assert_non_null(strstr(err.message, "the XML is not well-formed"));
    free(bytes);
}

/* Each scalar was written after a look at all before it on its line: 1 MB took 27 s. */
static void scalars_on_one_line(void **state)
{
    enum { N = 99000 };
    static const struct file file = {"a.yml", "a: [the dog", ", the dog %d", "", "", "]"};
    struct dg_extract_answer *answers = calloc(N + 1, sizeof *answers);
    struct dg_error err = {0};
    struct dg_buffer out;
    char *bytes;
    (void)state;
    struct dg_extract *x = open_file(&file, N, &bytes, &err);
    assert_non_null(x);
    assert_non_null(answers);
    assert_int_equal(dg_extract_count(x), N + 1);
    for (size_t i = 0; i <= N; i++)
        answers[i] = (struct dg_extract_answer){"der Hund", 8};
    dg_buffer_init(&out);
    const clock_t before = clock();
    assert_int_equal(dg_extract_write(x, answers, &out, &err), DG_OK);
    assert_true((double)(clock() - before) / CLOCKS_PER_SEC < 4);
    assert_int_equal(out.len, strlen("a: [der Hund]") + N * strlen(", der Hund"));
    dg_buffer_deinit(&out);
    free(answers);
    dg_extract_close(x);
    free(bytes);
}

/* libgumbo goes through the open elements at the end, and no limit ended that: 1 MB took minutes.
 */
static void templates_are_limited(void **state)
{
    static const struct {
        int templates, paragraphs, rc;
    } pages[] = {{1000, 10000, DG_OK}, {10000, 10000, DG_ELIMIT}, {70000, 0, DG_ELIMIT}};
    (void)state;
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        struct dg_buffer b;
        struct dg_document d;
        dg_buffer_init(&b);
        for (int k = 0; k < pages[i].templates; k++)
            dg_buffer_adds(&b, "<Template><div>");
        for (int k = 0; k < pages[i].paragraphs; k++)
            dg_buffer_adds(&b, "<p>a</p>");
        const int rc = dg_document_open(b.data, b.len, DG_FORMAT_HTML, &d, NULL);
        assert_int_equal(rc, pages[i].rc);
        if (rc == DG_OK)
            dg_document_close(&d);
        dg_buffer_deinit(&b);
    }
}

/* The parser compares each attribute of a tag with all others: 20,000 took 0.1 s, 80,000 took 3 s.
 */
static void attributes_are_limited(void **state)
{
    (void)state;
    const struct file file = {"a.xml", "<resources><string name=\"a\"", attributes, ">dog=", "=",
        "</string></resources>"};
    struct dg_error err = {0};
    char *bytes;
    struct dg_extract *x = open_file(&file, 999, &bytes, &err);
    assert_non_null(x);
    dg_extract_close(x);
    free(bytes);
    assert_null(open_file(&file, 1000, &bytes, &err));
    assert_non_null(strstr(err.message, "a tag with more than 1000 attributes"));
    free(bytes);
    const struct file cdata = {
        "a.xml", "<resources><![CDATA[<string", attributes, ">]]>", "=", "</resources>"};
    x = open_file(&cdata, 2000, &bytes, &err);
    assert_non_null(x);
    dg_extract_close(x);
    free(bytes);
}

/* A run's properties are written for each of its texts between tags, so that a small file may
 * become a very large one: that is refused, but not while texts stay as they are. */
static void formatting_does_not_multiply(void **state)
{
    (void)state;
    static const struct file file = {"a.docx",
        "@@ word/document.xml\n<w:document><w:body><w:p><w:r><w:rPr>", "<w:b/>", "</w:rPr>",
        "<w:t>dog </w:t><w:sym/>", "</w:r></w:p></w:body></w:document>"};
    static const struct {
        int n, rc;
    } cases[] = {{200, DG_OK}, {2000, DG_ELIMIT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_extract_text t;
        struct dg_error err = {0};
        struct dg_buffer out;
        char *bytes;
        struct dg_extract *x = open_file(&file, cases[i].n, &bytes, &err);
        assert_non_null(x);
        assert_int_equal(dg_extract_count(x), 1);
        dg_extract_text(x, 0, &t);
        const struct dg_extract_answer same = {t.s, t.n};
        char *words = strndup(t.s, t.n);
        assert_non_null(words);
        for (char *at = words; (at = strstr(at, "dog"));)
            *at = 'f';
        const struct dg_extract_answer other = {words, t.n};
        dg_buffer_init(&out);
        assert_int_equal(dg_extract_write(x, &same, &out, &err), DG_OK);
        dg_buffer_reset(&out);
        assert_int_equal(dg_extract_write(x, &other, &out, &err), cases[i].rc);
        dg_buffer_deinit(&out);
        free(words);
        dg_extract_close(x);
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reading_takes_linear_time),
        cmocka_unit_test(strings_of_programs_take_linear_time),
        cmocka_unit_test(a_root_without_end), cmocka_unit_test(scalars_on_one_line),
        cmocka_unit_test(templates_are_limited), cmocka_unit_test(attributes_are_limited),
        cmocka_unit_test(formatting_does_not_multiply)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
