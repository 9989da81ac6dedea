/* Titles in Markdown's front matter, in links and in their definitions: what of a value is text,
 * and how an answer is written there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "translate/layout/decorate.h"

/* The document with this answer for its last unit. */
static char *answered(const char *text, const char *answer)
{
    struct dg_document doc;
    struct dg_arena arena;
    struct dg_buffer out;
    struct dg_error err = {0};
    dg_arena_init(&arena, 0);
    dg_buffer_init(&out);
    if (dg_document_open(text, strlen(text), DG_FORMAT_MARKDOWN, &doc, &err))
        fail_msg("%s", err.message);
    assert_true(doc.n_units >= 1);
    const struct dg_unit *u = &doc.units[doc.n_units - 1];
    struct dg_mark *marks = calloc(u->n_marks + 1, sizeof *marks);
    struct dg_mark_bytes *bytes = calloc(u->n_marks + 1, sizeof *bytes);
    size_t *shift = calloc(strlen(answer) + 1, sizeof *shift), len;
    assert_true(marks && bytes && shift);
    for (size_t i = 0; i < u->n_marks; i++) {
        marks[i] = doc.marks[u->mark + i];
        bytes[i] = (struct dg_mark_bytes){text + marks[i].begin, marks[i].end - marks[i].begin};
        marks[i].at -= u->at;
    }
    const struct dg_decoration d = {.text = doc.text.data + u->at,
        .len = u->end - u->at,
        .marks = marks,
        .bytes = bytes,
        .n = u->n_marks,
        .answer = answer,
        .answer_len = strlen(answer),
        .encoding = u->encoding};
    dg_buffer_add(&out, text, u->source);
    const size_t base = out.len;
    assert_true(dg_decorate(&d, &arena, &out, shift));
    for (size_t i = 0; i < d.answer_len; i++)
        assert_true(shift[i] <= shift[i + 1] && base + shift[i + 1] <= out.len);
    dg_buffer_adds(&out, text + dg_document_source(&doc, u, u->end, true));
    free(shift);
    free(bytes);
    free(marks);
    dg_document_close(&doc);
    dg_arena_deinit(&arena);
    return dg_buffer_take(&out, &len);
}

static void expect(const char *text, const char *answer, const char *want)
{
    char *got = answered(text, answer);
    assert_string_equal(got, want);
    free(got);
}

/* Expects `title: want` in front matter. */
static void value_is(const char *value, const char *answer, const char *want)
{
    char text[256], wanted[256];
    snprintf(text, sizeof text, "---\na: 1\ntitle: %s\n---\n", value);
    snprintf(wanted, sizeof wanted, "---\na: 1\ntitle: %s\n---\n", want);
    expect(text, answer, wanted);
}

static void quoted_values(void **state)
{
    (void)state;
    value_is("'The dog'", "Le chien de l'eau", "'Le chien de l''eau'");
    value_is("'The dog''s \\ \"house\"'", "l'abri \\ \"du\" chien", "'l''abri \\ \"du\" chien'");
    value_is("'The dog''s house'", "The dog's house", "'The dog''s house'");
    value_is("\"The dog\"", "Le \"chien\" de l'eau \\", "\"Le \\\"chien\\\" de l'eau \\\\\"");
    value_is("\"The \\\"dog\\\"\"", "Le \"chien\"", "\"Le \\\"chien\\\"\"");
    value_is("\"The\\ndog \\u263a is\"", "Le chien \\u263a est", "\"Le\\nchien \\u263a est\"");
    value_is("\"The\\ndog \\u263a is\"", "The dog \\u263a is", "\"The\\ndog \\u263a is\"");
}

/* A value without quotation marks gets them where the answer needs them. */
static void unquoted_values(void **state)
{
    (void)state;
    value_is("The dog", "L'eau, le \"chien\"", "L'eau, le \"chien\"");
    value_is("The dog - a story", "Le chien: l'histoire", "'Le chien: l''histoire'");
    value_is("The dog: a story", "The dog: a story", "The dog: a story");
    value_is("The \"dog\" of Ann's", "\"Hund\" von Ann's", "'\"Hund\" von Ann''s'");
    value_is("Hello {name}", "{name}, hallo", "'{name}, hallo'");
    value_is("Dogs https://x.org/a'b", "Hunde: https://x.org/a'b", "'Hunde: https://x.org/a''b'");
    value_is("The dog", "Der Hund #1", "'Der Hund #1'");
    value_is("The dog", "Hund:", "'Hund:'");
    value_is("The dog # a comment", "Hund", "Hund # a comment");
    value_is("C# & a dog", "Ein Hund & C#", "Ein Hund & C#");
    /* plain text that YAML would not read as a string */
    value_is("Nein", "No", "'No'");
    value_is("Falsch", "false", "'false'");
    value_is("Falsch", "falsehood", "falsehood");
    value_is("Zwölf", "12", "'12'");
}

/* TOML between lines of plus signs, as Hugo writes it. */
static void toml_values(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"title = \"The dog\"", "\"Chien\" \\", "title = \"\\\"Chien\\\" \\\\\""},
        {"title = \"A \\\"dog\\\" is\" # x", "Un \"chien\"", "title = \"Un \\\"chien\\\"\" # x"},
        {"title='The dog \\'", "Le chien de l'eau \\", "title='Le chien de l’eau \\'"},
        {"Title = 'The \"dog\"' # 'x'", "L'\"eau\"", "Title = 'L’\"eau\"' # 'x'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256], wanted[256];
        const char *form = "+++\ndate = 2024-05-01\n%s\ntags = [\"a dog\"]\n+++\n";
        snprintf(text, sizeof text, form, cases[i][0]);
        snprintf(wanted, sizeof wanted, form, cases[i][2]);
        expect(text, cases[i][1], wanted);
    }
}

/* Blanks after the signs that enclose it mean nothing. */
static void borders(void **state)
{
    (void)state;
    expect("--- \ntitle: The dog\nlayout: post\n---\t\n", "Hund",
        "--- \ntitle: Hund\nlayout: post\n---\t\n");
    expect("+++  \ntitle = \"The dog\"\n+++ \r\n", "Hund", "+++  \ntitle = \"Hund\"\n+++ \r\n");
    expect("---\ntitle: The dog\n... \n", "Hund", "---\ntitle: Hund\n... \n");
    expect("---a\n", "Hund", "Hund\n");
}

/* What else may be in TOML stays: the paragraph after it is the only text. */
static void toml_kept(void **state)
{
    (void)state;
    static const char *const kept[] = {"draft = true\ndescription = \"A girl is here.\"",
        "title = \"\"\"\nTwo dogs\n\"\"\"", "title = \"\"\"Two dogs\"\"\"",
        "title = '''Two dogs'''", "title = ''", "titles = \"Two\"", "title = \"Two dogs",
        "title = Two", "title =", "title", "---\ntitle: Two", "[params]\ntitle = \"Two dogs\""};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        char text[256];
        struct dg_document doc;
        snprintf(text, sizeof text, "+++\n%s\n+++\nHello.\n", kept[i]);
        assert_int_equal(dg_document_open(text, strlen(text), DG_FORMAT_MARKDOWN, &doc, NULL), 0);
        assert_int_equal(doc.n_units, 1);
        assert_int_equal(doc.text.len, strlen("Hello."));
        dg_document_close(&doc);
    }
    expect("+++\nThe dog\n", "Hund", "+++\nHund\n"); /* not closed */
}

/* A YAML title that is not a string, or continues on a further line, is not translated. */
static void yaml_kept(void **state)
{
    static const char *const kept[] = {
        "null", "true", "2024-05-01T10:00:00Z", "The dog is\n  here", "The dog\n\n  is here"};
    (void)state;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        char text[256];
        struct dg_document doc;
        snprintf(text, sizeof text, "---\ntitle: %s\n---\nHello.\n", kept[i]);
        assert_int_equal(dg_document_open(text, strlen(text), DG_FORMAT_MARKDOWN, &doc, NULL), 0);
        assert_int_equal(doc.n_units, 1);
        assert_int_equal(doc.text.len, strlen("Hello."));
        dg_document_close(&doc);
    }
    expect("---\ntitle: The dog\n  # a comment\n---\n", "Hund",
        "---\ntitle: Hund\n  # a comment\n---\n");
    expect("---\ntitle: The dog\n  \na: 1\n---\n", "Hund", "---\ntitle: Hund\n  \na: 1\n---\n");
    expect("---\nparams:\n  a: 1\ntitle: The dog\n---\n", "Hund",
        "---\nparams:\n  a: 1\ntitle: Hund\n---\n");
}

static void titles(void **state)
{
    (void)state;
    expect("[this](x 'The dog')", "l'eau \"x\"", "[this](x 'l\\'eau \"x\"')");
    expect("[this](x \"The dog\")", "l'eau \"x\"", "[this](x \"l'eau \\\"x\\\"\")");
    expect("[this](x (The dog))", "l'eau (x)", "[this](x (l'eau \\(x\\)))");
    expect("![this](x 'The\n \\'dog\\' is')", "l'eau 'ici'", "![this](x 'l\\'eau\n \\'ici\\'')");
    expect(
        "[ref]\n\n[ref]: http://x/ 'The dog'\n", "l'eau", "[ref]\n\n[ref]: http://x/ 'l\\'eau'\n");
    expect("[this](x \"The dog\")", "l'eau a\\b", "[this](x \"l'eau a\\\\b\")");
    expect("[this](x \"The dog C:\\n\")", "l'eau C:\\n", "[this](x \"l'eau C:\\n\")");
    /* A line end without a space of its own is dropped. */
    expect("[this](x 'The\ndog')", "Hund", "[this](x 'Hund')");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(quoted_values),
        cmocka_unit_test(unquoted_values), cmocka_unit_test(toml_values), cmocka_unit_test(borders),
        cmocka_unit_test(toml_kept), cmocka_unit_test(yaml_kept), cmocka_unit_test(titles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
