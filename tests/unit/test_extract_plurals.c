/* Plural forms that the target language has and the file lacks: they get the words of "other". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/extract_trial.h"

static const struct form_case {
    const char *target, *name, *file, *want;
} cases[] = {
    /* Rails */
    {"pl", "en.yml",
        "en:\n  dogs:\n    one: \"%{count} dog\"\n    other: \"%{count} dogs\" # all\n  cat: a\n",
        "pl:\n  dogs:\n    one: \"%{count} DOG\"\n    other: \"%{count} DOGS\" # all\n"
        "    few: \"%{count} DOGS\"\n    many: \"%{count} DOGS\"\n  cat: A\n"},
    {"cs", "a.yml",
        "- other: 'the\r\n    dogs'\r\n  one: dog\r\n  few: two dogs\r\n- one: a\r\n  other: b c",
        "- other: 'THE DOGS'\r\n  one: DOG\r\n  few: TWO DOGS\r\n- one: A\r\n  other: B C\r\n  few: B C"},
    {"he", "a.yml", "one: a\nother: \"12\"\n", "one: A\nother: \"12\"\ntwo: \"12\"\n"},
    {"pl", "a.yml",
        "a:\n  one: \"{n, select, other {dog}}\"\n  other: \"{n, select, other {dogs}}\"\n",
        "a:\n  one: \"{n, select, other {DOG}}\"\n  other: \"{n, select, other {DOGS}}\"\n"
        "  few: \"{n, select, other {DOGS}}\"\n  many: \"{n, select, other {DOGS}}\"\n"},
    /* No forms: other keys, one key, a block, a list; and languages with the same forms. */
    {"pl", "a.yml", "one: a\nother: b\nname: c\n", "one: A\nother: B\nname: C\n"},
    {"pl", "a.yml", "other: b\n", "other: B\n"},
    {"pl", "a.yml", "one: a\nother: |\n  b\n", "one: A\nother: |\n  B\n"},
    {"pl", "a.yml", "{one: a, other: \"b\"}\n", "{one: A, other: \"B\"}\n"},
    {"pl", "a.yml", "one: a\nother:\n- b\n", "one: A\nother:\n- B\n"},
    {"pl", "a.yml", "one: a\nother: *x\n", "one: A\nother: *x\n"},
    {"fr", "a.yml", "one: a\nother: b\n", "one: A\nother: B\n"},
    {"ja", "a.yml", "one: a\nother: b\n", "one: A\nother: B\n"},
    /* Android */
    {"ru", "strings.xml",
        "<resources>\n  <plurals name=\"d\">\n    <item quantity=\"one\">%d dog</item>\n"
        "    <item quantity=\"other\">\n      %d <b>dogs</b></item>\n  </plurals>\n</resources>\n",
        "<resources>\n  <plurals name=\"d\">\n    <item quantity=\"one\">%d DOG</item>\n"
        "    <item quantity=\"other\">\n      %d <b>DOGS</b></item>\n"
        "    <item quantity=\"few\">\n      %d <b>DOGS</b></item>\n"
        "    <item quantity=\"many\">\n      %d <b>DOGS</b></item>\n  </plurals>\n</resources>\n"},
    {"cs", "strings.xml",
        "<resources><plurals name=\"d\"><item quantity=\"other\">\"two  dogs\"</item><item quantity=\"one\">a</item></plurals>"
        "<plurals name=\"e\"><item quantity=\"few\">a</item><item quantity=\"other\">b</item></plurals>"
        "<plurals name=\"f\"><item quantity=\"other\">@string/a</item></plurals>"
        "<plurals name=\"g\" translatable=\"false\"><item quantity=\"other\">b</item></plurals></resources>",
        "<resources><plurals name=\"d\"><item quantity=\"other\">\"TWO  DOGS\"</item><item quantity=\"few\">\"TWO  DOGS\"</item>"
        "<item quantity=\"one\">A</item></plurals>"
        "<plurals name=\"e\"><item quantity=\"few\">A</item><item quantity=\"other\">B</item></plurals>"
        "<plurals name=\"f\"><item quantity=\"other\">@string/a</item></plurals>"
        "<plurals name=\"g\" translatable=\"false\"><item quantity=\"other\">b</item></plurals></resources>"},
    {"de", "strings.xml",
        "<resources><plurals><item quantity=\"other\">b</item></plurals></resources>",
        "<resources><plurals><item quantity=\"other\">B</item></plurals></resources>"},
};

static void missing_forms_are_added(void **state)
{
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct form_case *c = &cases[i];
        struct dg_error err = {0};
        size_t n;
        char *got = translated_into(c->target, c->name, c->file, strlen(c->file), true,
            &dg_extract_limits_default, &n, &err);
        if (!got || strcmp(got, c->want) != 0) {
            print_message("%s %s became\n%s\nnot\n%s\n%s\n", c->target, c->file,
                got ? got : "nothing", c->want, err.message);
            wrong++;
        }
        free(got);
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(missing_forms_are_added)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
