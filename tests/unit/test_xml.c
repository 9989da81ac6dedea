/* XML's text as units, with clients' tags. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <malloc.h>

#include "tests/unit/markup_trial.h"

static const char *const x[] = {"x", NULL}, *const b[] = {"b", "title", NULL};
static const struct dg_markup ignore_x = {.ignored = x}, split_b = {.splitting = b},
                              keep_b = {.non_splitting = b}, flat = {.no_outline = true},
                              lines = {.no_outline = true, .lines = true},
                              flat_b = {.no_outline = true, .splitting = b}, html = {.html = true},
                              html_x = {.html = true, .ignored = x};

#define TEN(e) "'&" e ";&" e ";&" e ";&" e ";&" e ";&" e ";&" e ";&" e ";&" e ";&" e ";'>"
#define LAUGHS                                                                                            \
    "<!DOCTYPE r [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b " TEN("a") "<!ENTITY c " TEN("b") "<!ENTITY d " TEN( \
        "c") "<!ENTITY e " TEN("d") "<!ENTITY f " TEN("e") "<!ENTITY g " TEN("f") "]>"

static const struct {
    const char *xml, *want;
    const struct dg_markup *markup;
    size_t units;
} cases[] = {
    {"", "", NULL, 0},
    {"a dog", "A DOG", NULL, 1},
    {"<p>a <b>big</b> dog</p>", "<p>A <b>BIG</b> DOG</p>", NULL, 1},
    {"<p>one</p><p>two</p>", "<p>ONE</p><p>TWO</p>", NULL, 2},
    {"<r>\n <p>one</p>\n <p>two <i>three</i></p>\n</r>",
        "<r>\n <p>ONE</p>\n <p>TWO <i>THREE</i></p>\n</r>", NULL, 2},
    {"one <b>two</b> three", "ONE <b>TWO</b> THREE", NULL, 1},
    {"one <b>two</b> three", "ONE <b>TWO</b> THREE", &split_b, 3},
    {"<b>one</b> <i>two</i>", "<b>ONE</b> <i>TWO</i>", NULL, 2},
    {"<b>one</b> <b>two</b>", "<b>ONE</b> <b>TWO</b>", &keep_b, 1},
    {"<p>one</p> <p>two</p>", "<p>ONE</p> <p>TWO</p>", &flat, 1},
    {"<b>one</b> <p>two</p>", "<b>ONE</b> <p>TWO</p>", &flat_b, 2},
    {"a <x>big <i>old</i></x> dog", "A <x>big <i>old</i></x> DOG", &ignore_x, 1},
    {"<r><x>one</x><p>two</p></r>", "<r><x>one</x><p>TWO</p></r>", &ignore_x, 1},
    {"a <i translate=\"no\">big</i> dog", "A <i translate=\"no\">big</i> DOG", NULL, 1},
    {"a <i/> dog", "A <i/> DOG", NULL, 1},
    {"one\n two <b>big\r\ndogs</b>\n", "ONE\n TWO <b>BIG\r\nDOGS</b>\n", &flat, 1},
    {"one\n two <b>big\r\ndogs</b>\n", "ONE\n TWO <b>BIG\r\nDOGS</b>\n", &lines, 3},
    {"a <!-- big --> dog", "A <!-- big --> DOG", NULL, 1},
    {"a <?pi big?> dog", "A <?pi big?> DOG", NULL, 1},
    {"a <![CDATA[big <b>]]> dog", "A <![CDATA[big <b>]]> DOG", NULL, 1},
    {"cats &amp; dogs &lt; &#233;", "CATS &amp; DOGS &lt; &#233;", NULL, 1},
    {"<i a='x>y' b=\"'\">one</i>", "<i a='x>y' b=\"'\">ONE</i>", NULL, 1},
    {"<?xml version='1.0'?>\n<!DOCTYPE r [<!ENTITY e '>'> <!-- ]> -->]>\n<r>one</r>\n",
        "<?xml version='1.0'?>\n<!DOCTYPE r [<!ENTITY e '>'> <!-- ]> -->]>\n<r>ONE</r>\n", NULL, 1},
    {"\xEF\xBB\xBF<?xml version='1.0' encoding='UTF-8'?><r>one</r>",
        "\xEF\xBB\xBF<?xml version='1.0' encoding='UTF-8'?><r>ONE</r>", NULL, 1},
    /* Entities of a document's own type, and of the document that a part is from. */
    {"<!DOCTYPE r [<!ENTITY e 'dog'><!ENTITY f SYSTEM 'file:///x'>]><r a='&e;'>one &e; &f;</r>",
        "<!DOCTYPE r [<!ENTITY e 'dog'><!ENTITY f SYSTEM 'file:///x'>]><r a='&e;'>ONE &e; &f;</r>",
        NULL, 1},
    {"<!-- a --><!DOCTYPE r [<!ENTITY e 'dog'>]><r>one &e;</r>",
        "<!-- a --><!DOCTYPE r [<!ENTITY e 'dog'>]><r>ONE &e;</r>", NULL, 1},
    {"<!DOCTYPE r [<!ENTITY % p SYSTEM 'file:///x'> %p; <!ENTITY % q \"<!ENTITY e 'dog'>\"> %q;]><r>one &e;</r>",
        "<!DOCTYPE r [<!ENTITY % p SYSTEM 'file:///x'> %p; <!ENTITY % q \"<!ENTITY e 'dog'>\"> %q;]><r>ONE &e;</r>",
        NULL, 1},
    {"<?xml version='1.0' standalone='yes'?><!DOCTYPE r SYSTEM 'r.dtd' [<!ENTITY e 'dog'>]><r>one &e;</r>",
        "<?xml version='1.0' standalone='yes'?><!DOCTYPE r SYSTEM 'r.dtd' [<!ENTITY e 'dog'>]><r>ONE &e;</r>",
        NULL, 1},
    {"<!DOCTYPE r SYSTEM 'r.dtd'><r>one &e; <b>two</b></r>",
        "<!DOCTYPE r SYSTEM 'r.dtd'><r>ONE &e; <b>TWO</b></r>", NULL, 1},
    /* A billion laughs, which nothing expands. */
    {LAUGHS "<r a='&g;'>one &g;</r>", LAUGHS "<r a='&g;'>ONE &g;</r>", NULL, 1},
    {"one &prod; <b a='&prod;'>two</b>", "ONE &prod; <b a='&prod;'>TWO</b>", NULL, 1},
    {"<w:t xml:space=\"preserve\">one </w:t>", "<w:t xml:space=\"preserve\">ONE </w:t>", NULL, 1},
    {"<n>12</n><n> </n><n/>", "<n>12</n><n> </n><n/>", NULL, 0},
    /* Parts of a part that stays. */
    {"<r><p translate='no'>one <b>two</b></p><p>three</p></r>",
        "<r><p translate='no'>one <b>two</b></p><p>THREE</p></r>", NULL, 1},
    {"<r its:translate='no'><p>one</p><p its:translate='yes'>two</p></r>",
        "<r its:translate='no'><p>one</p><p its:translate='yes'>TWO</p></r>", NULL, 1},
    {"a <x>big <i translate='yes'>old</i></x> dog", "A <x>big <i translate='yes'>old</i></x> DOG",
        &ignore_x, 1},
    /* XHTML, which is the same as HTML. */
    {"<div class='a notranslate'><p>no <i>no</i></p><br/></div><p>yes</p>",
        "<div class='a notranslate'><p>no <i>no</i></p><br/></div><p>YES</p>", &html, 1},
    {"<p class='notranslate'>no</p><p class='notranslates'>yes</p>",
        "<p class='notranslate'>no</p><p class='notranslates'>YES</p>", &html, 1},
    {"<p>a <i class=\"notranslate\">big <b>old</b></i> dog</p>",
        "<p>A <i class=\"notranslate\">big <b>old</b></i> DOG</p>", &html, 1},
    {"<div translate='NO'>no <p>no</p> <p translate='yes'>yes</p> no <p>no</p></div>yes",
        "<div translate='NO'>no <p>no</p> <p translate='yes'>YES</p> no <p>no</p></div>YES", &html,
        2},
    {"<div translate='no'>no <b translate='yes'>a <code>dog</code></b> <!-- no --> no <img translate='yes' alt='yes'/> no</div>",
        "<div translate='no'>no <b translate='yes'>A <code>dog</code></b> <!-- no --> no <img translate='yes' alt='YES'/> no</div>",
        &html, 2},
    {"<div translate='no'><p translate='yes'>yes <b translate='no'>no</b></p><svg>no</svg></div>",
        "<div translate='no'><p translate='yes'>YES <b translate='no'>no</b></p><svg>no</svg></div>",
        &html, 1},
    {"<div translate='no' title='no'><img alt='no'/><b title='no'>no</b></div>"
     "<p>a <img translate='no' alt='no'/> dog</p>",
        "<div translate='no' title='no'><img alt='no'/><b title='no'>no</b></div>"
        "<p>A <img translate='no' alt='no'/> DOG</p>",
        &html, 1},
    {"<div class='notranslate'><p translate='yes'>yes</p></div><x>no</x>",
        "<div class='notranslate'><p translate='yes'>YES</p></div><x>no</x>", &html_x, 2},
    {"<pre>one\ntwo <b>three\n four</b></pre><p>five\nsix</p>",
        "<pre>ONE\nTWO <b>THREE\n FOUR</b></pre><p>FIVE\nSIX</p>", &html, 4},
};

static void examples(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *xml = cases[i].xml;
        struct dg_document d;
        struct dg_error err = {0};
        char *got = trial_run(xml, DG_FORMAT_XML, cases[i].markup, true, &err);
        if (!got)
            fail_msg("%s: %s", xml, err.message);
        assert_string_equal(got, cases[i].want);
        free(got);
        if (cases[i].markup && cases[i].markup->html) {
            got = trial_run(xml, DG_FORMAT_HTML, cases[i].markup, true, NULL);
            assert_string_equal(got, cases[i].want);
            free(got);
        }
        got = trial_run(xml, DG_FORMAT_XML, cases[i].markup, false, NULL);
        assert_string_equal(got, xml);
        free(got);
        assert_int_equal(
            dg_document_open_markup(xml, strlen(xml), DG_FORMAT_XML, cases[i].markup, &d, NULL), 0);
        if (d.n_units != cases[i].units)
            fail_msg("%zu units in %s", d.n_units, xml);
        dg_document_close(&d);
    }
}

static void refuse(const char *xml, const char *why)
{
    struct dg_error err = {0};
    assert_null(trial_run(xml, DG_FORMAT_XML, NULL, true, &err));
    assert_int_equal(err.code, DG_EINVAL);
    assert_string_equal(err.field, "text");
    if (!strstr(err.message, why))
        fail_msg("%s: %s", xml, err.message);
}

static void not_well_formed(void **state)
{
    (void)state;
    refuse("<a>one", "line 1");
    refuse("one</a>", "line 1");
    refuse("<a>one</b>", "mismatch");
    refuse("one <", "line 1");
    refuse("<a b=c>one</a>", "line 1");
    refuse("one & two", "line 1");
    refuse("<a>\n<b></a>", "line 2");
    refuse("one</part><part>two", "line 1");
    refuse("<!DOCTYPE r SYSTEM 'r.dtd'><r>&e;<b></r>", "line 1");
    refuse("<!DOCTYPE r SYSTEM 'r.dtd'><r>&e;", "line 1");
    refuse("<?xml version='1.0'?><r>&unknown;</r>", "unknown");
    /* no reference to the parameter entity, so it declares nothing */
    refuse("<!DOCTYPE r [<!ENTITY % p 'x'><!ENTITY % p 'y'>]><r>&typo;</r>", "typo");
    refuse("<!DOCTYPE r [<!ENTITY % p SYSTEM 'file:///x'>]><r>&typo;</r>", "typo");
    refuse(
        "<?xml version='1.0' standalone='yes'?><!DOCTYPE r SYSTEM 'r.dtd'><r>&typo;</r>", "typo");
    /* a billion laughs */
    refuse(
        "<!DOCTYPE r [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;'>"
        "<!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;'><!ENTITY d '&c;&c;&c;&c;&c;&c;&c;&c;'>]><r>",
        "line 1");
}

/* libxml2 regards 10,000 undeclared entities as an attack. These are declared elsewhere. */
static void many_entities(void **state)
{
    static const char *const heads[] = {"<r>", "<!DOCTYPE r SYSTEM 'r.dtd'><r>",
        "<!DOCTYPE r [<!ENTITY % p SYSTEM 'file:///x'> %p;]><r>",
        "<!DOCTYPE r [<!ENTITY e 'dog'>]><r>"};
    (void)state;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        struct dg_buffer xml;
        struct dg_document d;
        struct dg_error err = {0};
        dg_buffer_init(&xml);
        dg_buffer_adds(&xml, heads[i]);
        for (int k = 0; k < 10010; k++)
            dg_buffer_adds(&xml, "&e;<a b='&e;'/>\n");
        dg_buffer_adds(&xml, "</r>");
        if (dg_document_open(xml.data, xml.len, DG_FORMAT_XML, &d, &err) != DG_OK)
            fail_msg("%s: %s", heads[i], err.message);
        dg_document_close(&d);
        dg_buffer_deinit(&xml);
    }
}

/* The values of declared entities, 5 KB each, leave no memory allocated. (The allocator keeps some
 * small pieces. Sanitizers report 0 here, and find leaks themselves.) */
static void entities_give_memory_back(void **state)
{
    static const char *const heads[] = {"<!DOCTYPE r [<!ENTITY e", "<!DOCTYPE r [<!ENTITY % e"};
    (void)state;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        char xml[6000];
        struct dg_document d;
        size_t before = 0;
        snprintf(xml, sizeof xml, "%s '%05000d'>]><r/>", heads[i], 0);
        for (int k = 0; k <= 100; k++) {
            assert_int_equal(dg_document_open(xml, strlen(xml), DG_FORMAT_XML, &d, NULL), DG_OK);
            dg_document_close(&d);
            before = k ? before : mallinfo2().uordblks;
        }
        assert_in_range(mallinfo2().uordblks, 0, before + 100000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples),
        cmocka_unit_test(not_well_formed),
        cmocka_unit_test(many_entities),
        cmocka_unit_test(entities_give_memory_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
