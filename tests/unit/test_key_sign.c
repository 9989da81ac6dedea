/* The sign before the letter of a key: where it is found, and where it is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "translate/job/key_sign.h"

#include <string.h>

static void found(void **state)
{
    (void)state;
    static const struct {
        const char *signs, *label;
        size_t at, n;
    } cases[] = {{"&", "&File", 0, 1}, {"&", "E&xit", 1, 1}, {"&", "Save &As...", 5, 1},
        {"&_", "_File", 0, 1}, {"&_", "Pre_ferences", 3, 1}, {"&_", "Show _hidden", 5, 1},
        {"&", "&&Open", 0, 2}, {"&", "<b>a_b &c</b> &amp; d", 7, 1}, {"&", "(&Ö)", 1, 1},
        {"&_", "Open a_b.txt with _vi", 18, 1}, {"&", "&1. Dog", 0, 1}};
    static const char *const none[] = {"File", "R&D", "AT&T", "Q&A", "a & b", "a &", "&", "_", "a_",
        "&File &Edit", "file_name", "_id is wrong", "MAX_x", "__init__", "a && b", "a&&b",
        "x &amp; y", "?a=1&b", "see https://x.org/?a&b=c", "<a href=\"?a&b\">x</a>", "JOB_Spec", "",
        "_File _Edit", "&File\n", "before converting file X, back it up as X_orig"};
    struct dg_key_sign sign;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!dg_key_sign_find(cases[i].signs, cases[i].label, strlen(cases[i].label), &sign))
            fail_msg("%s", cases[i].label);
        assert_int_equal(sign.at, cases[i].at);
        assert_int_equal(sign.n, cases[i].n);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (dg_key_sign_find("&_", none[i], strlen(none[i]), &sign) || sign.n != 0)
            fail_msg("%s", none[i]);
    assert_false(dg_key_sign_find("&", "_File", 5, &sign));
    assert_false(dg_key_sign_find(NULL, "&File", 5, &sign));
    char long_label[400];
    memset(long_label, 'a', sizeof long_label);
    long_label[300] = '&';
    assert_false(dg_key_sign_find("&", long_label, sizeof long_label, &sign));
}

static void put(void **state)
{
    (void)state;
    static const struct {
        const char *signs, *label, *answer, *want;
    } cases[] = {{"&", "&File", "Datei", "&Datei"}, {"&", "E&xit", "Beenden", "&Beenden"},
        {"&", "&Open the file", "Die Datei öffnen", "&Die Datei öffnen"},
        {"&", "Save &As", "Speichern als", "Speichern &als"}, {"_", "_New %s", "%s neu", "%s _neu"},
        {"_", "_Set <b>x</b>", "<s>x</s> da", "<s>_x</s> da"}, {"_", "C_ut", "Schnitt", "_Schnitt"},
        {"_", "_Zoo", "Ähm", "_Ähm"}, {"&", "Open &dog", "Open dog", "Open &dog"},
        {"&", "&&Open", "Öffne", "&&Öffne"}, {"&", "&file...", "文件...", "文件(&F)..."},
        {"_", "_File:", "파일:", "파일(_F):"}, {"&", "&File", "Файл", "&Файл"},
        {"&", "&File", "%1", "%1(&F)"}, {"&", "&File", "", "(&F)"},
        {"&", "&1. Dog", "1. Hund", "&1. Hund"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_key_sign sign;
        struct dg_buffer out;
        char label[64];
        size_t at;
        const size_t n = strlen(cases[i].label);
        assert_true(dg_key_sign_find(cases[i].signs, cases[i].label, n, &sign));
        memcpy(label, cases[i].label, sign.at);
        strcpy(label + sign.at, cases[i].label + sign.at + sign.n);
        dg_buffer_init(&out);
        dg_key_sign_put(
            &sign, label, strlen(label), cases[i].answer, strlen(cases[i].answer), &out, &at);
        dg_buffer_add(&out, "", 1);
        assert_string_equal(out.data, cases[i].want);
        assert_true(at <= strlen(cases[i].answer));
        dg_buffer_deinit(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(found), cmocka_unit_test(put)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
