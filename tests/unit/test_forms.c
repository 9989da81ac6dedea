/* ICU messages: a sentence for each form, written back as a message that ICU reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <string.h>
#include <unicode/umsg.h>
#include <unicode/ustring.h>

#include "documents/strings/forms/forms.h"

static const struct dg_pattern_style icu = {.quotes = true}, unquoted = {.quotes = false};

/* Writes a message with answers, NULL-terminated; returns the code. */
static int write_answers(const char *message, const struct dg_pattern_style *style,
    const char *target, const char *const *answers, char out[4096])
{
    struct dg_extract_answer list[40];
    struct dg_buffer texts, written;
    struct dg_error err = {0};
    size_t count, n = 0;
    dg_buffer_init(&texts);
    dg_buffer_init(&written);
    assert_int_equal(dg_forms_read(message, strlen(message), style, &texts, &count, &err), 0);
    for (; answers[n]; n++)
        list[n] = (struct dg_extract_answer){answers[n], strlen(answers[n])};
    assert_int_equal(n, count);
    const int rc = dg_forms_write(message, strlen(message), style, list, target, &written, &err);
    snprintf(out, 4096, "%s", rc == DG_OK ? written.data : err.message);
    dg_buffer_deinit(&texts);
    dg_buffer_deinit(&written);
    return rc;
}

#define ANSWERS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void expect(const char *message, const struct dg_pattern_style *style, const char *target,
    const char *const *answers, const char *want)
{
    char got[4096];
    write_answers(message, style, target, answers, got);
    assert_string_equal(got, want);
}

/* A translation may contain the syntax of messages. */
static void test_answers(void **state)
{
    char out[4096];
    (void)state;
    /* "l'{name}", "rock 'n'" */
    expect("{n, plural, other {the {name} dog}}", &icu, "fr", ANSWERS("l'{name}' d'or'"),
        "{n, plural, other {l\u2019{name}' d'or\u2019}}");
    expect("{n, plural, other {it''s {name}}}", &icu, "fr", ANSWERS("l'{name} d''or"),
        "{n, plural, other {l''{name} d''\u2019or}}");
    expect("{n, plural, other {'{a}' dog}}", &icu, "fr", ANSWERS("l'{0}'s <b>l'<i>x</i></b>"),
        "{n, plural, other {l\u2019'{a}'\u2019s <b>l\u2019<i>x</i></b>}}");
    expect("{n, plural, other {dogs}}", &icu, "de", ANSWERS("Nr. # 5"),
        "{n, plural, other {Nr. '#' 5}}");
    expect(
        "{n, select, other {dogs}}", &icu, "de", ANSWERS("Nr. #5"), "{n, select, other {Nr. #5}}");
    assert_int_equal(
        write_answers("{n, plural, other {dogs}}", &unquoted, "de", ANSWERS("#"), out), DG_EUNSUP);
    assert_int_equal(
        write_answers("{n, plural, other {dogs}}", &icu, "de", ANSWERS("a {b}"), out), DG_EUNSUP);
    assert_int_equal(
        write_answers("{n, plural, other {# dogs}}", &icu, "de", ANSWERS("Hunde"), out), DG_EUNSUP);
    assert_int_equal(
        write_answers("{n, selectordinal, other {#th}}", &icu, "de", ANSWERS("der vierte"), out),
        DG_EUNSUP);
    assert_int_equal(write_answers("{n, selectordinal, other {the #th}}", &icu, "de",
                         ANSWERS("der 4. von 4"), out),
        DG_EUNSUP);
    expect("{n, selectordinal, one {the #st} other {the #th}}", &icu, "de",
        ANSWERS("der 1.", "der 14. und 4."),
        "{n, selectordinal, one {der #.} other {der 14. und #.}}");
}

/* "One dog" is no text for 21 dogs, nor for none. */
static void test_one(void **state)
{
    static const char message[] = "{n, plural, one {a dog} other {# dogs}}";
    (void)state;
    expect(message, &icu, "de", ANSWERS("ein Hund", "{n} Hunde"),
        "{n, plural, one {ein Hund} other {# Hunde}}");
    expect(message, &icu, "ru", ANSWERS("собака", "собак: {n}"),
        "{n, plural, =1 {собака} other {собак: #}}");
    expect(message, &icu, "fr-CA", ANSWERS("un chien", "{n} chiens"),
        "{n, plural, =1 {un chien} other {# chiens}}");
    expect("{n, plural, one {# dog} other {# dogs}}", &icu, "ru",
        ANSWERS("{n} собака", "{n} собак"), "{n, plural, one {# собака} other {# собак}}");
    expect("{n} {n, plural, one {dog} other {dogs}}", &icu, "ru",
        ANSWERS("{n} собака", "{n} собак"), "{n, plural, one {{n} собака} other {{n} собак}}");
    expect("{n, plural, =1 {a dog} one {one dog} other {# dogs}}", &icu, "ru",
        ANSWERS("собака", "одна собака", "{n} собак"), "{n, plural, =1 {собака}  other {# собак}}");
    expect("{n, plural, one {one dog} =1 {a dog} other {# dogs}}", &icu, "ru",
        ANSWERS("одна собака", "собака", "{n} собак"), "{n, plural,  =1 {собака} other {# собак}}");
    expect("{n, plural, offset:1 one {a dog} other {# dogs}}", &icu, "ru",
        ANSWERS("собака", "{n} собак"), "{n, plural, offset:1 one {собака} other {# собак}}");
    expect("{n, selectordinal, one {a dog} other {# dogs}}", &icu, "ru",
        ANSWERS("собака", "4 собак"), "{n, selectordinal, one {собака} other {# собак}}");
}

/* The model gets each form twice: with a placeholder and with a number. A category that only the
 * target language has is translated from "other", with a number of that category. */
static void test_categories(void **state)
{
    static const char message[] = "{n, plural, one {# dog} other {# dogs}}";
    const struct dg_pattern_style de = {.quotes = true, .samples = dg_plural_samples("de")},
                                  ru = {.quotes = true, .samples = dg_plural_samples("ru")};
    struct dg_buffer texts;
    size_t count;
    (void)state;
    dg_buffer_init(&texts);
    assert_int_equal(dg_forms_read(message, strlen(message), &ru, &texts, &count, NULL), 0);
    assert_int_equal(count, 6);
    assert_memory_equal(
        texts.data, "{n} dog\0001 dog\0003 dogs\0005 dogs\0{n} dogs\0005 dogs", texts.len);
    dg_buffer_deinit(&texts);
    expect(message, &de, "de", ANSWERS("{n} A", "1 B", "C", "5 D"),
        "{n, plural, one {# B} other {# D}}");
    expect(message, &de, "de", ANSWERS("{n} A", "B", "{n} C", "15 D"),
        "{n, plural, one {# A} other {# C}}");
    expect("{n, plural, one {a dog} other {dogs}}", &de, "de", ANSWERS("A", "B"),
        "{n, plural, one {A} other {B}}");
    expect("{n, plural, offset:2 other {{who} and # of 5 dogs}}", &de, "de",
        ANSWERS("{who}, {n}, 5", "5 {who}, 7"), "{n, plural, offset:2 other {5 {who}, #}}");
    expect(message, &ru, "ru", ANSWERS("{n} A", "1 B", "3 C", "5 D", "{n} E", "5 F"),
        "{n, plural, one {# B} few {# C} many {# D} other {# F}}");
    expect(message, &ru, "ru", ANSWERS("{n} A", "1 B", "three C", "5 {D}", "{n} E", "F"),
        "{n, plural, one {# B} other {# E}}");
    expect("{n,plural,other{3 of {n, number} dogs}}", &ru, "ru",
        ANSWERS("3 A 4", "3 B 5", "3 C {n}", "5 D 3"),
        "{n,plural,few{3 A {n, number}} many{3 B {n, number}} other{{n, number} D 3}}");
    expect("{n, plural, one {that dog} few {# dogs} other {those dogs}}", &ru, "ru",
        ANSWERS("A", "{n} B", "3 C", "D", "E"), "{n, plural, =1 {A} few {# C} other {E}}");
    expect("{n} {n, plural, one {dog} other {dogs {n}}}", &ru, "ru",
        ANSWERS("{n} A", "1 B", "3 C 3", "5 D", "{n} E {n}", "5 F"),
        "{n, plural, one {{n} B} few {{n} C {n}} other {{n} E {n}}}");
    expect("{g, select, other {{n, plural, other {# dogs}}}} here", &ru, "ru",
        ANSWERS("3 A", "5 B", "{n} C", "5 D"),
        "{g, select, other {{n, plural, few {# A} many {# B} other {# D}}}}");
}

static void stays(const char *message, const char *why)
{
    struct dg_buffer texts;
    struct dg_error err = {0};
    size_t count;
    dg_buffer_init(&texts);
    assert_int_equal(
        dg_forms_read(message, strlen(message), &icu, &texts, &count, &err), DG_EUNSUP);
    if (!strstr(err.message, why))
        fail_msg("%s: %s", message, err.message);
    dg_buffer_deinit(&texts);
}

static void test_limits(void **state)
{
    struct dg_buffer b;
    (void)state;
    stays(
        "{a, select, other {{b, select, other {{c, select, other {{d, select, other {{e, select, other "
        "{{f, select, other {{g, select, other {dog}}}}}}}}}}}}}}",
        "deeper than 6");
    stays(
        "{a, plural, one {1} two {2} few {3} other {4}}{b, plural, one {1} two {2} few {3} other {4}}"
        "{c, plural, one {1} two {2} other {a}}",
        "more than 32 forms");
    stays("a } {n, plural, other {dog}}", "a brace in it");
    stays("{n, plural, other {dog}} '{", "a quotation");
    stays("{n, plural, one {dog}}", "ICU cannot read it");
    dg_buffer_init(&b);
    dg_buffer_adds(&b, "{n, plural, other {");
    for (int i = 0; i < 17; i++)
        dg_buffer_addf(&b, "{a%d} dog ", i);
    dg_buffer_adds(&b, "}}");
    stays(b.data, "more than 16 arguments");
    dg_buffer_reset(&b);
    dg_buffer_adds(&b, "{n, plural, other {dog}}");
    while (b.len < 9000)
        dg_buffer_adds(&b, " dog");
    stays(b.data, "more than 8192 bytes");
    dg_buffer_reset(&b);
    for (int i = 0; i < 300; i++)
        dg_buffer_addf(&b, "{a%d, select, other {", i);
    for (int i = 0; i < 300; i++)
        dg_buffer_adds(&b, "}}");
    stays(b.data, "deeper than 6");
    dg_buffer_deinit(&b);
}

/* Fills in the number 0 and the name 1 by ICU's own formatter. */
static void fill_in(const char *pattern, const char *locale, double number, char *out, size_t cap)
{
    UChar wide[4096], name[16], filled[4096];
    UErrorCode status = U_ZERO_ERROR;
    u_strFromUTF8(wide, 4096, NULL, pattern, -1, &status);
    u_strFromUTF8(name, 16, NULL, "Ann", -1, &status);
    UMessageFormat *format = umsg_open(wide, -1, locale, NULL, &status);
    if (U_FAILURE(status))
        fail_msg("%s: %s", pattern, u_errorName(status));
    umsg_format(format, filled, 4096, &status, number, name);
    u_strToUTF8(out, (int32_t)cap, NULL, filled, -1, &status);
    assert_true(U_SUCCESS(status));
    umsg_close(format);
}

/* ICU shows the words that were translated for a number. */
static void test_formatter(void **state)
{
    static const struct {
        const char *message, *target;
        const char *answers[5];
        double number;
        const char *want;
    } cases[] = {
        {"{1} has {0, plural, one {# dog} other {# dogs}}.", "de",
            {"{1} hat {0} Hund.", "{1} hat {0} Hunde."}, 1, "Ann hat 1 Hund."},
        {"{1} has {0, plural, one {# dog} other {# dogs}}.", "de",
            {"{1} hat {0} Hund.", "{1} hat {0} Hunde."}, 1200, "Ann hat 1.200 Hunde."},
        {"{1} {0, plural, one {a dog} other {# dogs}}", "fr", {"{1} un chien", "{1} {0} chiens"}, 0,
            "Ann 0 chiens"},
        {"{0, plural, one {a dog} other {# dogs}}", "ru", {"собака", "{0} собак"}, 21, "21 собак"},
        /* a category that the source lacks: "other" */
        {"{0, plural, one {# dog} other {# dogs}}", "ru", {"{0} собака", "{0} собак"}, 3,
            "3 собак"},
        {"{0, plural, one {a dog} other {# dogs}}", "ja", {"犬", "犬{0}匹"}, 1, "犬"},
        {"#x is {1, select, Ann {her} other {his}} {0, selectordinal, one {#st} other {#th}} dog.",
            "de",
            {"#x ist ihr 21. Hund.", "#x ist ihr 4. Hund.", "#x ist sein 21. Hund.",
                "#x ist sein 4. Hund."},
            7, "#x ist ihr 7. Hund."},
        {"{0, plural, offset:1 =0 {nobody} one {{1} and # dog} other {{1} and # dogs}}", "de",
            {"niemand", "{1} und {0} Hund", "{1} und {0} Hunde"}, 3, "Ann und 2 Hunde"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char message[4096], filled[4096];
        assert_int_equal(
            write_answers(cases[i].message, &icu, cases[i].target, cases[i].answers, message), 0);
        fill_in(message, cases[i].target, cases[i].number, filled, sizeof filled);
        assert_string_equal(filled, cases[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_one),
        cmocka_unit_test(test_categories),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_formatter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
