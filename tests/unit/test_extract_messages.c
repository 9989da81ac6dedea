/* ICU messages in files: what is a text, and how the translations of their forms are written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/extract_trial.h"

static const struct example files[] = {
    /* Flutter's gen_l10n */
    {"app_en.arb",
        "{\n  \"@@locale\": \"en\",\n"
        "  \"inbox\": \"{count, plural, =0{No dogs} one{1 dog} other{{count} dogs}}\",\n"
        "  \"@inbox\": {\"description\": \"no dog\", \"placeholders\": {\"count\": {\"type\": \"int\"}}},\n"
        "  \"hi\": \"{sex, select, male{Hi Mr. {name}} female{Hi Ms. {name}} other{Hi {name}}}\",\n"
        "  \"it\": \"{n, plural, other{the dog's '{name}'}}\"\n}\n",
        "{\n  \"@@locale\": \"de\",\n"
        "  \"inbox\": \"{count, plural, =0{NO DOGS} one{1 DOG} other{{count} DOGS}}\",\n"
        "  \"@inbox\": {\"description\": \"no dog\", \"placeholders\": {\"count\": {\"type\": \"int\"}}},\n"
        "  \"hi\": \"{sex, select, male{HI MR. {name}} female{HI MS. {name}} other{HI {name}}}\",\n"
        "  \"it\": \"{n, plural, other{THE DOG'S '{name}'}}\"\n}\n",
        false},
    /* FormatJS */
    {"en.json",
        "{\"a\": {\"defaultMessage\": \"You have {n, plural, one {# <b>dog</b>} other {# <b>dogs</b>}}.\", \"description\": \"no\"},\n"
        " \"b\": {\"defaultMessage\": \"{who} came on {at, date, ::yMMMd}: {n, plural, =1 {a \\\"dog\\\"} other {dogs}}\"}}",
        "{\"a\": {\"defaultMessage\": \"{n, plural, one {YOU HAVE # <b>DOG</b>.} other {YOU HAVE # <b>DOGS</b>.}}\", \"description\": \"no\"},\n"
        " \"b\": {\"defaultMessage\": \"{n, plural, =1 {{who} CAME ON {at, date, ::yMMMd}: A \\\"DOG\\\"} other {{who} CAME ON {at, date, ::yMMMd}: DOGS}}\"}}",
        false},
    /* Angular, whose arguments are tags */
    {"messages.xlf",
        "<xliff version=\"1.2\"><file target-language=\"de\"><body><trans-unit id=\"1\"><source>{VAR_PLURAL, plural, =0 {no dogs} =1 {a dog} "
        "other {<x id=\"INTERPOLATION\" equiv-text=\"{{ n }}\"/> dogs}}</source></trans-unit><trans-unit id=\"2\"><source>It&apos;s {N, select, "
        "x {a <g id=\"1\">dog</g>} other {&lt;}}</source></trans-unit></body></file></xliff>",
        "<xliff version=\"1.2\"><file target-language=\"de\"><body><trans-unit id=\"1\"><source>{VAR_PLURAL, plural, =0 {no dogs} =1 {a dog} "
        "other {<x id=\"INTERPOLATION\" equiv-text=\"{{ n }}\"/> dogs}}</source><target>{VAR_PLURAL, plural, =0 {NO DOGS} =1 {A DOG} "
        "other {<x id=\"INTERPOLATION\" equiv-text=\"{{ n }}\"/> DOGS}}</target></trans-unit><trans-unit id=\"2\"><source>It&apos;s {N, select, "
        "x {a <g id=\"1\">dog</g>} other {&lt;}}</source></trans-unit></body></file></xliff>",
        true},
    /* its name for a message elsewhere; a quotation */
    {"messages.xlf",
        "<xliff><trans-unit><source>a <x id=\"ICU\" equiv-text=\"{n, plural, =0 {...} other {...}}\"/> dog</source></trans-unit></xliff>",
        "<xliff><trans-unit><source>a <x id=\"ICU\" equiv-text=\"{n, plural, =0 {...} other {...}}\"/> dog</source>"
        "<target>A <x id=\"ICU\" equiv-text=\"{n, plural, =0 {...} other {...}}\"/> DOG</target></trans-unit></xliff>",
        true},
    {"a.json", "[\"a '{n, plural, other {...}}' dog\"]", "[\"A '{n, plural, other {...}}' DOG\"]",
        false},
    /* Symfony, AOSP, ICU4J, PO, .resx, Xcode */
    {"messages+intl-icu.en.yaml",
        "en:\n  a: 'It''s {n, plural, one {# dog} other {# dogs}}'\n  b: >-\n    {n, plural,\n    other {two dogs}}\n",
        "de:\n  a: '{n, plural, one {IT''S # DOG} other {IT''S # DOGS}}'\n  b: >-\n    {n, plural, other {TWO DOGS}}\n",
        false},
    {"strings.xml",
        "<resources><string name=\"a\">It\\'s {count, plural,\n  =1 {a dog}\n  other {<xliff:g id=\"n\">#</xliff:g> dogs}\n}</string></resources>",
        "<resources><string name=\"a\">{count, plural, =1 {IT\\'S A DOG} other {IT\\'S <xliff:g id=\"n\">#</xliff:g> DOGS} }</string></resources>",
        false},
    {"a.properties", "a={0, plural, one {it''s # dog} other {# '{0}' {1} dogs}}\nb=it''s {0}",
        "a={0, plural, one {IT''S # DOG} other {# '{0}' {1} DOGS}}\nb=IT''S {0}", false},
    {"a.po",
        "msgid \"A {n, plural, one {dog} other {\\\"dogs\\\"}}\"\nmsgstr \"\"\n\nmsgid \"dog\"\nmsgstr \"\"\n",
        "msgid \"A {n, plural, one {dog} other {\\\"dogs\\\"}}\"\nmsgstr \"{n, plural, one {A DOG} other {A \\\"DOGS\\\"}}\"\n\nmsgid \"dog\"\nmsgstr \"DOG\"\n",
        true},
    {"a.resx",
        "<root><data name=\"a\"><value>{n, plural, other {dogs &amp; a {b}}}</value></data></root>",
        "<root><data name=\"a\"><value>{n, plural, other {DOGS &amp; A {b}}}</value></data></root>",
        false},
    {"a.xcstrings",
        "{\"sourceLanguage\" : \"en\", \"strings\" : {\"a {n, select, x {b} other {c}}\" : {}, \"d\" : {}}}",
        "{\"sourceLanguage\" : \"en\", \"strings\" : {\"a {n, select, x {b} other {c}}\" : {\n      \"localizations\" : {\n        \"de\" : {\n"
        "          \"stringUnit\" : {\n            \"state\" : \"needs_review\",\n            \"value\" : \"{n, select, x {A B} other {A C}}\"\n"
        "          }\n        }\n      }\n    }, \"d\" : {\n      \"localizations\" : {\n        \"de\" : {\n          \"stringUnit\" : {\n"
        "            \"state\" : \"needs_review\",\n            \"value\" : \"D\"\n          }\n        }\n      }\n    }}}",
        true},
};

/* Each kind of file with messages in it. */
static void test_files(void **state)
{
    (void)state;
    check_examples(files, sizeof files / sizeof *files);
}

/* Strings of a JSON file, and what becomes of them. */
static const struct example strings[] = {
    /* Only the words of a message that is one argument change. */
    {"a.json", "[\" { n ,plural,offset:1  =0{nobody}\\n one {you}other{you and # dogs} } \"]",
        "[\" { n ,plural,offset:1  =0{NOBODY}\\n one {YOU}other{YOU AND # DOGS} } \"]", false},
    {"a.json",
        "[\"{n, plural, one {} other {#}}\", \"{n, select, a {dd/MM/yyyy} other {MM/dd/yyyy}}\"]",
        "[\"{n, plural, one {} other {#}}\", \"{n, select, a {dd/MM/yyyy} other {MM/dd/yyyy}}\"]",
        false},
    /* Sentences beside the one with the argument are left there. */
    {"a.json",
        "[\"Hi {who}! You have {n, plural, one {# dog} other {# dogs}} here. Mr. {who} sees it. Bye\\n- one\\n- {n, plural, other {two}}\"]",
        "[\"HI {who}! {n, plural, one {YOU HAVE # DOG HERE.} other {YOU HAVE # DOGS HERE.}} MR. {who} SEES IT. BYE\\n- ONE\\n- {n, plural, other {TWO}}\"]",
        false},
    /* Arguments in one another, beside one another, and the same one again. */
    {"a.json",
        "[\"{g, select, f {She has {n, plural, one {# dog} other {# dogs}}} other {They have {n, plural, one {# dog} other {# dogs}}}}.\"]",
        "[\"{g, select, f {{n, plural, one {SHE HAS # DOG.} other {SHE HAS # DOGS.}}} other {{n, plural, one {THEY HAVE # DOG.} other {THEY HAVE # DOGS.}}}}\"]",
        false},
    {"a.json",
        "[\"{a, plural, one {# dog} other {# dogs}} and {b, plural, one {# cat} other {# cats}}\"]",
        "[\"{a, plural, one {{b, plural, one {{a, number} DOG AND # CAT} other {{a, number} DOG AND # CATS}}} "
        "other {{b, plural, one {{a, number} DOGS AND # CAT} other {{a, number} DOGS AND # CATS}}}}\"]",
        false},
    {"a.json",
        "[\"{n, plural, one {# dog} other {# dogs}} {n, plural, other {are} one {is}} here {n}\"]",
        "[\"{n, plural, one {# DOG IS HERE {n}} other {# DOGS ARE HERE {n}}}\"]", false},
    {"a.json", "[\"{n, plural, =1 {a dog} other {dogs}} {n, plural, one {is} other {are}} big\"]",
        "[\"{n, plural, =1 {{n, plural, one {A DOG IS BIG} other {A DOG ARE BIG}}} "
        "other {{n, plural, one {DOGS IS BIG} other {DOGS ARE BIG}}}}\"]",
        false},
    /* Quotations stay; a "#" that has come into a plural is quoted. */
    {"a.json", "[\"No. #{id} '{x' isn't {n, plural, one {a '#' dog} other {a '{dog}'}}\"]",
        "[\"{n, plural, one {NO. '#'{id} '{x' ISN'T A '#' DOG} other {NO. '#'{id} '{x' ISN'T A '{dog}'}}\"]",
        false},
    {"a.json", "[\"it''s {n, plural, other {a dog''s}}\"]",
        "[\"{n, plural, other {IT''S A DOG''S}}\"]", false},
    {"a.json",
        "[\"{n, plural, one {{ count } dog} other {{größe} {at, time, short} {at, date} dogs}}\"]",
        "[\"{n, plural, one {{ count } DOG} other {{größe} {at, time, short} {at, date} DOGS}}\"]",
        false},
    /* Ordinals are numbers to the translator. */
    {"a.json", "[\"the {n, selectordinal, one {#st} two {#nd} few {#rd} other {#th}} dog of 2\"]",
        "[\"{n, selectordinal, one {THE #ST DOG OF 2} two {THE #ND DOG OF 2} few {THE #RD DOG OF 2} other {THE #TH DOG OF 2}}\"]",
        false},
    /* What cannot be written stays as a whole. */
    {"a.json",
        "[\"a {n, plural, offset:1 one {# dog {g, select, a {he} other {she}}} other {dogs}}\"]",
        "[\"a {n, plural, offset:1 one {# dog {g, select, a {he} other {she}}} other {dogs}}\"]",
        false},
    {"a.json",
        "[\"{n, plural, one {dog}\", \"{n, plural, one {dog} other {'<b>' dogs}}\", \"{n, plural, one {a}}\"]",
        "[\"{n, plural, one {dog}\", \"{n, plural, one {dog} other {'<b>' dogs}}\", \"{n, plural, one {a}}\"]",
        false},
    {"a.arb",
        "{\"a\": \"#{id} {n, plural, other {dogs}}\", \"b\": \"{n, plural, other {# dogs}}\"}",
        "{\"a\": \"#{id} {n, plural, other {dogs}}\", \"b\": \"{n, plural, other {# DOGS}}\"}",
        false},
    /* i18next, which has braces of its own */
    {"a.json", "[\"{{n}} dogs\", \"{n, plural, other {{{n}} dogs}}\"]",
        "[\"{{n}} DOGS\", \"{n, plural, other {{{n}} dogs}}\"]", false},
};

static void test_strings(void **state)
{
    (void)state;
    check_examples(strings, sizeof strings / sizeof *strings);
}

/* More forms than a message may have are not added. */
static void test_added_limit(void **state)
{
    static const char plural[] = "{%s, plural, one {# dog} other {# dogs}}";
    char file[400], parts[3][100];
    struct dg_extract *x = NULL;
    const char *const names[] = {"a", "b", "c"};
    (void)state;
    for (int i = 0; i < 3; i++)
        snprintf(parts[i], sizeof parts[i], plural, names[i]);
    for (int i = 1; i <= 3; i++) {
        static const size_t want[] = {6, 35, 8}; /* no two are shown as 1 */
        snprintf(file, sizeof file, "[\"%s%s%s\"]", parts[0], i > 1 ? parts[1] : "",
            i > 2 ? parts[2] : "");
        assert_int_equal(dg_extract_open("a.json", file, strlen(file), "ru",
                             &dg_extract_limits_default, &x, NULL),
            0);
        assert_int_equal(dg_extract_count(x), want[i - 1]);
        dg_extract_close(x);
    }
}

/* A message whose answers cannot be written leaves its bytes as they are, also in a PO file. */
static void test_unwritten(void **state)
{
    static const char *const wholes[][2] = {{"a.json", "[\"\\u00e9 {n, plural, other {# dogs}}\"]"},
        {"a.po", "msgid \"{n, plural, other {# dogs}}\"\nmsgstr \"\"\n"},
        {"a.xlf",
            "<xliff><trans-unit><source>{n, plural, other {{x} dogs}}</source></trans-unit></xliff>"}};
    const struct dg_extract_answer answers[] = {{"Hunde", 5}, {"Hunde", 5}};
    (void)state;
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++) {
        struct dg_extract *x = NULL;
        struct dg_buffer out;
        dg_buffer_init(&out);
        assert_int_equal(dg_extract_open(wholes[i][0], wholes[i][1], strlen(wholes[i][1]), "de",
                             &dg_extract_limits_default, &x, NULL),
            0);
        assert_in_range(dg_extract_count(x), 1, 2);
        assert_int_equal(dg_extract_write(x, answers, &out, NULL), 0);
        assert_string_equal(out.data, wholes[i][1]);
        dg_buffer_deinit(&out);
        dg_extract_close(x);
    }
}

/* Messages that stay are counted, with the line of the first. */
static void test_stays(void **state)
{
    static const char file[] =
        "{\"a\": \"{n, plural, other {# dogs}}\",\n"
        "\"b\": \"{n, plural, one {dog}}\",\n\"c\": \"{n, select, one {dog}}\"}";
    struct dg_extract *x = NULL;
    struct dg_extract_stays stay;
    /* of the first message: with a placeholder, and with a number */
    const struct dg_extract_answer good[] = {{"{n} Hunde", 9}, {"5 Hunde", 7}},
                                   bad[] = {{"Hunde", 5}, {"Hunde", 5}};
    (void)state;
    assert_int_equal(
        dg_extract_open("a.json", file, strlen(file), "de", &dg_extract_limits_default, &x, NULL),
        0);
    assert_int_equal(dg_extract_count(x), 2);
    dg_extract_stays(x, good, &stay);
    assert_int_equal(stay.n, 2);
    assert_int_equal(stay.line, 2);
    assert_string_equal(stay.why, "ICU cannot read it");
    dg_extract_stays(x, bad, &stay);
    assert_int_equal(stay.n, 3);
    dg_extract_close(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_added_limit),
        cmocka_unit_test(test_unwritten),
        cmocka_unit_test(test_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
