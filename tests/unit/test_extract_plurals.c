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
    /* Every line end of YAML; the last of two equal keys; a string only because of its tag. */
    {"pl", "a.yml", "a:\r  one: b\r  other: c d\re: f\r",
        "a:\r  one: B\r  other: C D\r  few: C D\r  many: C D\re: F\r"},
    {"he", "a.yml", "a:\n  one: b\n  other: c # d\re: f\n",
        "a:\n  one: B\n  other: C # d\r  two: C\re: F\n"},
    {"he", "a.yml", "other: a\r\none: b", "other: A\r\ntwo: A\r\none: B"},
    {"he", "a.yml", "a:\n  one: b\n  other: c\xC2\x85z: e\n",
        "a:\n  one: B\n  other: C\xC2\x85z: E\n"},
    {"he", "a.yml", "a:\n  one: b\n  other: c\n  other: 12\n",
        "a:\n  one: B\n  other: C\n  other: 12\n"},
    {"he", "a.yml", "one: a\nother: !!str 12\n", "one: A\nother: !!str 12\n"},
    {"he", "a.yml", "a: &a\n  \"one\": b\n  \"other\": &b c\nd: *a\n",
        "a: &a\n  \"one\": B\n  \"other\": &b C\n  two: C\nd: *a\n"},
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
    /* i18next, and objects of forms */
    {"pl", "a.json",
        "{\n  \"dogs_one\": \"{{count}} dog\",\n  \"dogs_other\": \"{{count}} dogs\",\n  \"a\": \"b\"\n}\n",
        "{\n  \"dogs_one\": \"{{count}} DOG\",\n  \"dogs_other\": \"{{count}} DOGS\",\n"
        "  \"dogs_few\": \"{{count}} DOGS\",\n  \"dogs_many\": \"{{count}} DOGS\",\n  \"a\": \"B\"\n}\n"},
    {"cs", "a.json",
        "[{\"a\":{\"other\" : \"b \\u0022\",\"one\":\"c\"}}, {\"x_y_zero\": \"d\", \"x_y_other\": \"12\"}]",
        "[{\"a\":{\"other\" : \"B \\\"\",\"few\" : \"B \\\"\",\"one\":\"C\"}}, "
        "{\"x_y_zero\": \"D\", \"x_y_other\": \"12\", \"x_y_few\": \"12\"}]"},
    {"pl", "a.json",
        "{\"a_one\": \"a\", \"a_few\": \"b\", \"a_many\": \"c\", \"a_other\": \"d\", \"b_one\": \"e\", \"b_other\": \"f\"}",
        "{\"a_one\": \"A\", \"a_few\": \"B\", \"a_many\": \"C\", \"a_other\": \"D\", \"b_one\": \"E\", \"b_other\": \"F\", "
        "\"b_few\": \"F\", \"b_many\": \"F\"}"},
    /* No forms: other keys, ordinals, one form alone, no string, other files. */
    {"pl", "a.json", "{\"one\": \"a\", \"other\": \"b\", \"x\": \"c\"}",
        "{\"one\": \"A\", \"other\": \"B\", \"x\": \"C\"}"},
    {"pl", "a.json", "{\"x\": 1, \"one\": \"a\", \"other\": \"b\"}",
        "{\"x\": 1, \"one\": \"A\", \"other\": \"B\"}"},
    {"pl", "a.json", "{\"p_ordinal_one\": \"a\", \"p_ordinal_other\": \"b\"}",
        "{\"p_ordinal_one\": \"A\", \"p_ordinal_other\": \"B\"}"},
    {"pl", "a.json", "{\"x_other\": \"a\", \"y_one\": \"b\", \"x_one\": \"c\"}",
        "{\"x_other\": \"A\", \"y_one\": \"B\", \"x_one\": \"C\"}"},
    {"pl", "a.json", "{\"x_one\": \"a\", \"x_other\": [\"b\"], \"y_one\": 1, \"y_other\": {}}",
        "{\"x_one\": \"A\", \"x_other\": [\"B\"], \"y_one\": 1, \"y_other\": {}}"},
    {"pl", "a.arb", "{\"x_one\": \"a\", \"x_other\": \"b\"}",
        "{\"x_one\": \"A\", \"x_other\": \"B\"}"},
    {"ja", "a.json", "{\"x_one\": \"a\", \"x_other\": \"b\"}",
        "{\"x_one\": \"A\", \"x_other\": \"B\"}"},
    {"pl", "a.json", "{}", "{}"},
    /* Forms for few numbers: 0, and a million. */
    {"cy", "a.json", "{\"x_one\": \"a\", \"x_two\": \"b\", \"x_few\": \"c\", \"x_other\": \"d\"}",
        "{\"x_one\": \"A\", \"x_two\": \"B\", \"x_few\": \"C\", \"x_other\": \"D\", \"x_many\": \"D\", \"x_zero\": \"D\"}"},
    {"fr-CA", "a.json", "{\"x_one\": \"a\", \"x_other\": \"d\"}",
        "{\"x_one\": \"A\", \"x_other\": \"D\", \"x_many\": \"D\"}"},
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
