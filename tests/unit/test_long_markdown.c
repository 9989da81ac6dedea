/* Long Markdown files, which are taken apart in several texts. */
#include "documents/extract.h"
#include "text/format/document.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Long Markdown becomes several texts, whose units are those of the whole file. */
static void long_markdown_keeps_its_units(void **state)
{
    static const struct {
        const char *first, *last;
        bool many;
    } files[] = {{"", "A last word.\n", true},
        {"", "---\n\nThe man reads a book.\n\n---\n\nThe woman walks home.\n", true},
        {"---\ntitle: Two dogs\n---\n\n", "---\n\nA book.\n\n---\n\nA last word.\n", true},
        {"[start here]: https://example.org\n\n", "See [a book][start here].\n", false},
        {"A man.\n\n[start here]: https://example.org\n\n",
            "Two words.\n\nSee [a book][start here].\n\nA last word.\n", false}};
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (int n = 40; n < 400; n += 17) {
            struct dg_extract *x;
            struct dg_document whole, part;
            struct dg_buffer file;
            size_t unit = 0;
            dg_buffer_init(&file);
            dg_buffer_adds(&file, files[i].first);
            for (int k = 0; k < n; k++)
                dg_buffer_addf(
                    &file, "The dog sleeps *all day* in the old house by the sea %d.\n\n", k);
            dg_buffer_adds(&file, files[i].last);
            assert_int_equal(
                dg_document_open(file.data, file.len, DG_FORMAT_MARKDOWN, &whole, NULL), DG_OK);
            assert_int_equal(dg_extract_open("a.md", file.data, file.len, "de",
                                 &dg_extract_limits_default, &x, NULL),
                0);
            assert_true(!files[i].many || n < 100 || dg_extract_count(x) > 1);
            for (size_t k = 0; k < dg_extract_count(x); k++) {
                struct dg_extract_text t;
                dg_extract_text(x, k, &t);
                assert_int_equal(dg_document_open(t.s, t.n, t.format, &part, NULL), DG_OK);
                for (size_t u = 0; u < part.n_units; u++, unit++) {
                    const struct dg_unit *a = &part.units[u], *b = &whole.units[unit];
                    assert_true(unit < whole.n_units);
                    assert_int_equal(a->end - a->at, b->end - b->at);
                    assert_memory_equal(
                        part.text.data + a->at, whole.text.data + b->at, a->end - a->at);
                    assert_int_equal(a->n_marks, b->n_marks);
                }
                dg_document_close(&part);
            }
            assert_int_equal(unit, whole.n_units);
            dg_extract_close(x);
            dg_document_close(&whole);
            dg_buffer_deinit(&file);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(long_markdown_keeps_its_units)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
