/* translate/encode/known.h: which texts of a document are looked up in a translation memory or are
 * exactly a glossary's term, and how their answers are written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/cpu/cpu.h"
#include "text/glossary.h"
#include "translate/translate.h"

static struct dg_backend *be;
static struct dg_translator *translator;

static int set_up(void **state)
{
    (void)state;
    struct dg_error err = {0};
    if (dg_cpu_open(NULL, &be, &err) ||
        dg_translator_open("tests/data/en-de", be, 200, &translator, &err))
        fail_msg("%s", err.message);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    dg_translator_close(translator);
    dg_cpu_close(be);
    return 0;
}

/* A memory of pairs, NULL-terminated. */
static bool find(const void *arg, const char *s, size_t n, struct dg_buffer *out)
{
    for (const char *const *pair = arg; *pair; pair += 2)
        if (strlen(pair[0]) == n && memcmp(pair[0], s, n) == 0) {
            dg_buffer_adds(out, pair[1]);
            return true;
        }
    return false;
}

/* Translates without the model; NULL: some of the text needs it. */
static char *without_model(const char *text, const struct dg_translate_options *options)
{
    struct dg_translate_options o = *options;
    struct dg_job *j = NULL;
    struct dg_answers a;
    struct dg_error err = {0};
    char *answer = NULL;
    assert_int_equal(dg_job_encode(translator, text, strlen(text), &o, &j, &err), 0);
    if (dg_job_sentences(j) == 0) {
        assert_int_equal(dg_job_finish(j, &a, &err), 0);
        answer = strdup(a.best[0].text);
    }
    dg_job_free(j);
    return answer;
}

static char *translated(const char *const *pairs, const char *text, enum dg_format format)
{
    const struct dg_known known = {.find = find, .arg = pairs};
    const struct dg_translate_options o = {
        .search = {.alpha = -1}, .format = format, .known = &known};
    return without_model(text, &o);
}

static void expect_in(
    enum dg_format format, const char *const *pairs, const char *text, const char *want)
{
    char *answer = translated(pairs, text, format);
    if (!answer || strcmp(answer, want) != 0)
        fail_msg("%s\nbecame\n%s", text, answer ? answer : "(not known)");
    free(answer);
}

static void expect(const char *const *pairs, const char *text, const char *want)
{
    expect_in(DG_FORMAT_MARKDOWN, pairs, text, want);
}

/* A memory holds strings as programs have them, as those that po2tmx writes. */
static void strings(void **state)
{
    (void)state;
    static const char *const pairs[] = {"History: %s", "Verlauf & Co: %s", "A dog.", "Ein Hund.",
        "Use <link a=\"b\">it</link>. Go <b>on</b>!", "Nimm <link a=\"b\">es</link>. Weiter!",
        "By {name}", "\n Nach {name} \n", "<x/>Home <b>page</b>", "<b>Start</b><x/>", "Hi {name}!",
        "Na {name}!", NULL};
    expect_in(DG_FORMAT_TEXT, pairs, "History: %s", "Verlauf & Co: %s");
    expect_in(DG_FORMAT_TEXT, pairs, "A dog. History: %s", "Ein Hund. Verlauf & Co: %s");
    expect_in(DG_FORMAT_TEXT, pairs, pairs[4], pairs[5]);
    expect_in(DG_FORMAT_TEXT, pairs, pairs[8], pairs[9]);
    expect_in(DG_FORMAT_TEXT, pairs, "\n By {name} \n", "\n Nach {name} \n");
    expect_in(DG_FORMAT_XML, pairs, "<a>History: %s</a>", "<a>Verlauf &amp; Co: %s</a>");
    expect_in(DG_FORMAT_XML, pairs, "<a>Hi {name}! A dog.</a>", "<a>Na {name}! Ein Hund.</a>");
    expect_in(DG_FORMAT_HTML, pairs, "<p> By {name} </p>", "<p> Nach {name} </p>");
}

static bool count(const void *arg, const char *s, size_t n, struct dg_buffer *out)
{
    size_t *const *calls = arg;
    (void)s;
    (void)n;
    (void)out;
    ++**calls;
    return false;
}

/* Each text is looked up once: the whole text, then its sentences. */
static void looked_up_once(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t calls;
    } rows[] = {{"A dog runs.", 1}, {"A dog runs. A cat sleeps.", 3}, {"  A dog runs.\n", 1},
        {"A dog. A dog.", 2}};
    static const char *const pairs[] = {"A dog.", "Ein Hund.", NULL};
    expect_in(DG_FORMAT_TEXT, pairs, "A dog. A dog.", "Ein Hund. Ein Hund.");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t calls = 0, *const at = &calls;
        const struct dg_known known = {.find = count, .arg = &at};
        const struct dg_translate_options o = {.search = {.alpha = -1}, .known = &known};
        assert_null(without_model(rows[i].text, &o));
        if (calls != rows[i].calls)
            fail_msg("%s: %zu look-ups", rows[i].text, calls);
    }
}

/* Titles with a placeholder or an address are looked up as they are in the source, and their
 * answers are escaped or put between quotation marks. */
static void titles(void **state)
{
    (void)state;
    static const char *const pairs[] = {"Hello {name}", "{name}, \"hallo\" l'ami",
        "See www.example.org", "(Siehe www.example.org)", "Hello {name}.", "Hallo: {name}.",
        "A dog.", "Ein Hund.", NULL};
    expect(
        pairs, "---\ntitle: Hello {name}\n---\n", "---\ntitle: '{name}, \"hallo\" l''ami'\n---\n");
    expect(pairs, "---\ntitle: 'Hello {name}'\n---\n",
        "---\ntitle: '{name}, \"hallo\" l''ami'\n---\n");
    expect(pairs, "---\ntitle: \"Hello {name}\"\n---\n",
        "---\ntitle: \"{name}, \\\"hallo\\\" l'ami\"\n---\n");
    expect(pairs, "---\ntitle: Hello {name}. A dog.\n---\n",
        "---\ntitle: 'Hallo: {name}. Ein Hund.'\n---\n");
    expect(pairs, "![](x 'Hello {name}')", "![](x '{name}, \"hallo\" l\\'ami')");
    expect(pairs, "![](x (See www.example.org))", "![](x (\\(Siehe www.example.org\\)))");
}

/* A known translation does not say where tags go, nor which of its characters are escaped. */
static void not_looked_up(void **state)
{
    (void)state;
    static const char *const pairs[] = {"Ann''s {name}", "x", "Ann's {name}", "x",
        "The \\u263a dog", "x", "Hello {name} <b>you</b>", "x", "Hello {name} you", "x", NULL};
    assert_null(translated(pairs, "---\ntitle: 'Ann''s {name}'\n---\n", DG_FORMAT_MARKDOWN));
    assert_null(translated(pairs, "---\ntitle: \"The \\u263a dog\"\n---\n", DG_FORMAT_MARKDOWN));
    assert_null(translated(pairs, "<p>Hello {name} <b>you</b></p>", DG_FORMAT_HTML));
    assert_null(translated(pairs, "<p>Hello {name} &#121;ou</p>", DG_FORMAT_HTML));
}

/* Texts that are a term, and one that is more; NULL: the model is needed. */
static void texts_that_are_a_term(void **state)
{
    (void)state;
    static const char *const terms[][2] = {
        {"artist", "Maler"}, {"log in", "an & abmelden"}, {"WHO", "Weltverband"}, {"log", "Log"}};
    static const struct {
        enum dg_format format;
        const char *text, *want;
    } cases[] = {{DG_FORMAT_TEXT, "artist", "Maler"}, {DG_FORMAT_TEXT, " ARTIST\n", " MALER\n"},
        {DG_FORMAT_TEXT, "Log in", "An & abmelden"}, {DG_FORMAT_TEXT, "log in", "an & abmelden"},
        {DG_FORMAT_TEXT, "WHO", "Weltverband"}, {DG_FORMAT_TEXT, "who", NULL},
        {DG_FORMAT_TEXT, "the artist", NULL}, {DG_FORMAT_TEXT, "{log}", "{log}"},
        {DG_FORMAT_HTML, "<p>Log in</p>", "<p>An &amp; abmelden</p>"},
        {DG_FORMAT_HTML, "<p>Log <b>in</b></p>", NULL},
        {DG_FORMAT_MARKDOWN, "- artist\n", "- Maler\n"}};
    struct dg_glossary_entry entries[4];
    struct dg_translate_options o = {.search = {.alpha = -1}};
    for (size_t i = 0; i < 4; i++)
        entries[i] = (struct dg_glossary_entry){
            terms[i][0], terms[i][1], strlen(terms[i][0]), strlen(terms[i][1])};
    assert_int_equal(dg_glossary_make(entries, 4, &o.glossary, NULL), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        o.format = cases[i].format;
        char *answer = without_model(cases[i].text, &o);
        if (!answer != !cases[i].want || (answer && strcmp(answer, cases[i].want) != 0))
            fail_msg("%s became %s", cases[i].text, answer ? answer : "(not known)");
        free(answer);
    }
    dg_glossary_unref(o.glossary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(strings), cmocka_unit_test(looked_up_once),
        cmocka_unit_test(titles), cmocka_unit_test(not_looked_up),
        cmocka_unit_test(texts_that_are_a_term)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
