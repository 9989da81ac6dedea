/* Tables of glossaries and memories: what their readers take, and what they refuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/buffer.h"
#include "store/csv.h"
#include "store/tsv.h"

static int print(void *ctx, const struct dg_memory_pair *p, struct dg_error *err)
{
    struct dg_buffer *b = ctx;
    (void)err;
    dg_buffer_addf(b, "%s>%s|%.*s|%.*s\n", p->source_lang, p->target_lang, (int)p->source_len,
        p->source, (int)p->target_len, p->target);
    return DG_OK;
}

static void test_tsv(void **state)
{
    (void)state;
    static const char good[] = "a\tb\r\n\n two words \t zwei W\xC3\xB6rter\nlast\tletzte";
    struct dg_buffer b;
    struct dg_error err = {0};
    dg_buffer_init(&b);
    assert_int_equal(dg_tsv_read(good, sizeof good - 1, "en", "de", print, &b, &err), DG_OK);
    assert_string_equal(
        b.data, "en>de|a|b\nen>de|two words|zwei W\xC3\xB6rter\nen>de|last|letzte\n");
    static const struct {
        const char *text, *message;
    } bad[] = {{"a\tb\nonly one\n", "line 2 has no tab"}, {"a\tb\tc\n", "line 1 has more than one"},
        {"\n\tb\n", "line 2 has an empty source"}, {"a\t \n", "line 1 has an empty target"},
        {"a\t\r \n", "line 1 has an empty target"}, {"a\t\xFF\n", "line 1 is not UTF-8"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        dg_error_clear(&err);
        assert_int_equal(
            dg_tsv_read(bad[i].text, strlen(bad[i].text), "en", "de", print, &b, &err), DG_EFORMAT);
        assert_non_null(strstr(err.message, bad[i].message));
    }
    dg_buffer_reset(&b);
    const struct dg_memory_pair p = {
        .source = "a\tb", .target = "c\nd", .source_len = 3, .target_len = 3};
    dg_tsv_write(&p, &b);
    assert_string_equal(b.data, "a b\tc d\n");
    /* Spreadsheets write a byte order mark at the beginning; elsewhere U+FEFF is a character. */
    static const char marked[] = "\xEF\xBB\xBFx\ty\n\xEF\xBB\xBFz\td\n";
    dg_buffer_reset(&b);
    assert_int_equal(dg_tsv_read(marked, sizeof marked - 1, "en", "de", print, &b, &err), DG_OK);
    assert_string_equal(b.data, "en>de|x|y\nen>de|\xEF\xBB\xBFz|d\n");
    dg_buffer_reset(&b);
    assert_int_equal(dg_tsv_read("\xEF\xBB\xBF", 3, "en", "de", print, &b, &err), DG_OK);
    assert_int_equal(b.len, 0);
    dg_buffer_deinit(&b);
}

static void test_csv(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want; /* want NULL: refused */
    } rows[] = {{"dog,Hund\r\n\n \"a,\"\"b\" , c\n", NULL},
        {"\"a,\"\"b\",c\r\nd,e", "en>de|a,\"b|c\nen>de|d|e\n"},
        {"\"a\nb\",\"c\"\r\n", "en>de|a\nb|c\n"}, {"a,\"b\"\r", "en>de|a|b\n"},
        {"x,y,fr,it\n", "fr>it|x|y\n"}, {"x, y, fr, it\r\n", "fr>it|x|y\n"}, {"x,y,fr, \n", NULL},
        {"x,y,fr,it|\n", NULL}, {"x,y,en-a-b-c-d-e-f-g-h-i-j-k-l-m-n-o-p-q,it\n", NULL},
        {"\"\t\r\n\",b\n", NULL}, {"\"\r\na\t\",b\n", "en>de|a|b\n"},
        /* an old line end, which used to swallow the next row's first letter */
        {"\"a\",\"b\"\rcat,d\n", NULL}, {"a,\"b\"\r,fr,it\n", NULL}, {"\"a\"b,c\n", NULL},
        {"\"a\",\"b\n", NULL},
        /* the byte order mark of "CSV UTF-8" */
        {"\xEF\xBB\xBF\"a, b\",\"c\"\r\nd,e\r\n", "en>de|a, b|c\nen>de|d|e\n"},
        {"\xEF\xBB\xBFx,y\n", "en>de|x|y\n"},
        /* as spreadsheets write it in German */
        {"\xEF\xBB\xBF"
         "dog;Hund\r\n\"a;b\";c, d\r\n",
            "en>de|dog|Hund\nen>de|a;b|c, d\n"},
        {"\"a, b\";c\n", "en>de|a, b|c\n"}, {"x;y;fr;it\n", "fr>it|x|y\n"}, {"a;b,c\nd;e\n", NULL},
        {"a;b,c\n", "en>de|a;b|c\n"}, {"5\" Rohr;5\" pipe\n", "en>de|5\" Rohr|5\" pipe\n"},
        {"\"a;b\"\n", NULL}};
    struct dg_buffer b;
    struct dg_error err = {0};
    dg_buffer_init(&b);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        dg_buffer_reset(&b);
        const int rc = dg_csv_read(rows[i].text, strlen(rows[i].text), "en", "de", print, &b, &err);
        assert_int_equal(rc, rows[i].want ? DG_OK : DG_EFORMAT);
        if (rows[i].want)
            assert_string_equal(b.data, rows[i].want);
    }
    dg_buffer_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tsv), cmocka_unit_test(test_csv)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
