#include "trainer/data/clean.h"

#include "text/detect/cld2.h"
#include "text/detect/langcheck.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

static enum dg_drop clean(const char *s, size_t n, struct dg_buffer *out)
{
    enum dg_drop why;
    struct dg_error err = {0};
    dg_buffer_reset(out);
    assert_int_equal(dg_clean_line(s, n, out, &why, &err), 0);
    return why;
}

static void test_lines(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"plain words", "plain words"}, {"", ""}, {" \t two\t\tspaces \r", "two spaces"},
        {"a\u00a0b\u2009c\u3000d\u202fe", "a b c d e"},
        {"soft\u00adhyphen zero\u200bwidth \ufeffmark \u200eleft",
            "softhyphen zerowidth mark left"},
        {"\u200b \u200b", ""},
        {"joiner stays: \u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
            "joiner stays: \u0646\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"},
        {"e\u0301 and u\u0308", "\u00e9 and \u00fc"}, /* NFC */
        {"\u212b", "\u00c5"}, {"Gr\u00f6\u00dfe \U0001f600", "Gr\u00f6\u00dfe \U0001f600"},
        {"\uff21 stays wide",
            "\uff21 stays wide"}, /* NFC, not NFKC: the vocabulary's rule decides that */
    };
    struct dg_buffer out;
    dg_buffer_init(&out);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(clean(rows[i].in, strlen(rows[i].in), &out), DG_KEEP);
        assert_string_equal(out.data ? out.data : "", rows[i].out);
    }
    dg_buffer_deinit(&out);
}

static void test_broken_lines(void **state)
{
    (void)state;
    static const struct {
        const char *in;
        size_t n;
        enum dg_drop why;
    } rows[] = {
        {"\xff", 1, DG_DROP_UTF8}, {"a\xc3", 2, DG_DROP_UTF8},
        {"\xed\xa0\x80", 3, DG_DROP_UTF8},                        /* a surrogate */
        {"a\0b", 3, DG_DROP_UTF8}, {"\xc0\xaf", 2, DG_DROP_UTF8}, /* overlong */
        {"a\x07z", 3, DG_DROP_CONTROL}, {"\x1b[1m", 4, DG_DROP_CONTROL},
        {"a\x7f", 2, DG_DROP_CONTROL}, {"was \xef\xbf\xbd here", 12, DG_DROP_CONTROL}, /* U+FFFD */
        {"a\xc2\x90z", 4, DG_DROP_CONTROL}, /* C1: mostly Windows-1252 read as Latin-1 */
    };
    struct dg_buffer out;
    dg_buffer_init(&out);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(clean(rows[i].in, rows[i].n, &out), rows[i].why);
        assert_int_equal(out.len, 0);
    }
    dg_buffer_deinit(&out);
}

static struct dg_recipe_cleaning settings(void)
{
    return (struct dg_recipe_cleaning){.min_chars = 2,
        .max_chars = 60,
        .max_char_ratio = 3,
        .max_tokens = 20,
        .max_token_ratio = 2,
        .drop_identical = true,
        .require_letters = true};
}

static const struct dg_recipe_pair en_de = {.source_lang = "en", .target_lang = "de"};

static enum dg_drop pair(const struct dg_recipe_cleaning *c, const char *s, const char *t)
{
    return dg_clean_pair(c, &en_de, s, strlen(s), t, strlen(t));
}

static void test_pairs(void **state)
{
    (void)state;
    struct dg_recipe_cleaning c = settings();
    assert_int_equal(pair(&c, "a house", "ein Haus"), DG_KEEP);
    assert_int_equal(pair(&c, "", "ein Haus"), DG_DROP_EMPTY);
    assert_int_equal(pair(&c, "a house", ""), DG_DROP_EMPTY);
    assert_int_equal(pair(&c, "a", "ein Haus"), DG_DROP_SHORT);
    assert_int_equal(pair(&c, "a house", "ö"), DG_DROP_SHORT); /* characters, not bytes */
    assert_int_equal(pair(&c, "öööööööööööööööööööööööööööööööööööööööööööööööööööööööööööö",
                         "öööööööööööööööööööööööööööööööööööööööööööööööööööööööööööa"),
        DG_KEEP); /* 60 */
    assert_int_equal(
        pair(&c, "öööööööööööööööööööööööööööööööööööööööööööööööööööööööööööööööööön", "ö b"),
        DG_DROP_LONG);
    assert_int_equal(pair(&c, "Yes.", "Ja, das ist richtig so."), DG_KEEP); /* (26 + 8) / (4 + 8) */
    assert_int_equal(pair(&c, "Yes.", "Ja, das ist ganz genau so richtig."), DG_DROP_RATIO);
    assert_int_equal(pair(&c, "Berlin", "Berlin"), DG_DROP_IDENTICAL);
    assert_int_equal(pair(&c, "12:30", "12.30"), DG_DROP_LETTERS);
    assert_int_equal(pair(&c, "at 12:30", "12.30 Uhr"), DG_KEEP);
    c = (struct dg_recipe_cleaning){.max_chars = 60}; /* all other rules off */
    assert_int_equal(pair(&c, "Berlin", "Berlin"), DG_KEEP);
    assert_int_equal(pair(&c, "12:30", "12.30"), DG_KEEP);
    assert_int_equal(pair(&c, "Y", "Ja, das ist ganz genau so richtig."), DG_KEEP);
}

static void test_pieces(void **state)
{
    (void)state;
    struct dg_recipe_cleaning c = settings();
    assert_int_equal(dg_clean_tokens(&c, 20, 20), DG_KEEP);
    assert_int_equal(dg_clean_tokens(&c, 21, 20), DG_DROP_TOKENS);
    assert_int_equal(dg_clean_tokens(&c, 20, 21), DG_DROP_TOKENS);
    assert_int_equal(dg_clean_tokens(&c, 4, 12), DG_KEEP); /* (12 + 4) / (4 + 4) = 2 */
    assert_int_equal(dg_clean_tokens(&c, 4, 13), DG_DROP_TOKEN_RATIO);
    c.max_token_ratio = 0;
    assert_int_equal(dg_clean_tokens(&c, 2, 20), DG_KEEP);
}

static void test_language(void **state)
{
    (void)state;
    struct dg_recipe_cleaning c = {.max_chars = 1000, .language_check = true};
    static const char
        en[] = "The committee will meet again on Thursday to discuss the new proposal.",
        de[] = "Der Ausschuss wird am Donnerstag erneut über den neuen Vorschlag beraten.",
        fr[] = "Le comité se réunira de nouveau jeudi pour discuter de la nouvelle proposition.";
    assert_int_equal(pair(&c, en, de), DG_KEEP);
    assert_int_equal(pair(&c, de, de), DG_DROP_LANGUAGE);
    assert_int_equal(pair(&c, en, fr), DG_DROP_LANGUAGE);
    assert_int_equal(pair(&c, de, en), DG_DROP_LANGUAGE);
    assert_int_equal(pair(&c, "Hallo Berlin", "Hello Berlin"), DG_KEEP); /* too short to tell */
    assert_true(dg_cld2_knows("de") && dg_cld2_knows("en-GB") && !dg_cld2_knows("xx"));
    assert_false(dg_langcheck_wrong(en, strlen(en), "en-US"));
    assert_false(dg_langcheck_wrong(en, strlen(en), "xx"));
}

static void test_names(void **state)
{
    (void)state;
    for (int i = 0; i < DG_N_DROPS; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(dg_drop_name((enum dg_drop)i), dg_drop_name((enum dg_drop)k));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_broken_lines),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_language),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
