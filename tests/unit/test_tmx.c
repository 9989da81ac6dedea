/* tests/unit/test_memory.c has the other kinds of files. */
#include "store/tmx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int print(void *ctx, const struct dg_memory_pair *p, struct dg_error *err)
{
    struct dg_buffer *b = ctx;
    (void)err;
    dg_buffer_addf(b, "%s>%s|%.*s|%.*s\n", p->source_lang, p->target_lang, (int)p->source_len,
        p->source, (int)p->target_len, p->target);
    return DG_OK;
}

static void test_tmx(void **state)
{
    (void)state;
    static const char good[] =
        "<?xml version=\"1.0\"?><!DOCTYPE tmx SYSTEM \"tmx14.dtd\"><tmx version=\"1.4\">"
        "<header srclang=\"en\"><note>x</note></header><body>"
        "<tu><prop type=\"a\">left out</prop><tuv xml:lang=\"en\"><seg>Salt &amp; <hi>pepper</hi>"
        "<ph x=\"1\">&lt;br/&gt;</ph></seg></tuv><tuv xml:lang=\"de\"><seg>Salz und <bpt i=\"1\">"
        "<sub>no</sub>no</bpt>Pfeffer<ept i=\"1\"/></seg></tuv></tu>"
        "<tu><tuv lang=\"en\"><seg>one</seg></tuv><tuv lang=\"de\"><seg/></tuv></tu>"
        "<tu><tuv xml:lang=\"EN-US\"><seg><![CDATA[<b>]]></seg></tuv>"
        "<tuv xml:lang=\"fr\"><seg>\xC3\xA9t\xC3\xA9</seg></tuv></tu></body></tmx>";
    struct dg_buffer b;
    struct dg_error err = {0};
    dg_buffer_init(&b);
    if (dg_tmx_read(good, sizeof good - 1, print, &b, &err) != DG_OK)
        fail_msg("%s", err.message);
    assert_string_equal(b.data, "en>de|Salt & pepper|Salz und Pfeffer\n"
                                "de>en|Salz und Pfeffer|Salt & pepper\n"
                                "EN-US>fr|<b>|\xC3\xA9t\xC3\xA9\n"
                                "fr>EN-US|\xC3\xA9t\xC3\xA9|<b>\n");
    static const struct {
        const char *text, *message;
    } bad[] = {{"", "TMX"}, {"<html/>", "root element is not <tmx>"},
        {"<tmx>\n<body>\n</tmx>", "tag mismatch"},
        {"<tmx><tu><tuv><seg>a</seg></tuv></tu></tmx>", "has no language"},
        {"<tmx><tu><tuv lang=\"e|n\"><seg>a</seg></tuv></tu></tmx>", "not a language code"},
        {"<tmx><tu><tuv lang=\"en\"><seg>a</seg></tuv>\n<tuv lang=\"x-none\"><seg>b</seg></tuv></tu></tmx>",
            "TMX, line 2"},
        {"<!DOCTYPE tmx [<!ENTITY e SYSTEM \"/etc/passwd\">]><tmx><tu><tuv xml:lang=\"en\"><seg>&e;"
         "</seg></tuv></tu></tmx>",
            "entity"},
        {"<tmx><tu><tuv lang=\"en\"><seg>a<tu>b</tu></seg></tuv></tu></tmx>", "within a <seg>"},
        {"<tmx><tu><tuv lang=\"en\"><seg>a<tuv lang=\"de\"><seg>b</seg></tuv></seg></tuv></tu>"
         "</tmx>",
            "within a <seg>"},
        {"<tmx><tu><tuv xml:lang=\"en\"><seg>\xFF</seg></tuv></tu></tmx>", "TMX, line 1"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        dg_error_clear(&err);
        assert_int_equal(
            dg_tmx_read(bad[i].text, strlen(bad[i].text), print, &b, &err), DG_EFORMAT);
        if (!strstr(err.message, bad[i].message))
            fail_msg("%zu: %s", i, err.message);
    }
    dg_buffer_deinit(&b);
}

/* Languages as other programs write them: memoQ's neutral variants, gettext's locales (po2tmx). A
 * variant whose language is no code is left out, and the rest of the file is read. */
static void test_languages(void **state)
{
    (void)state;
    static const char file[] =
        "<tmx version=\"1.4\"><body><tu><tuv xml:lang=\"x-none\"><seg>c</seg></tuv>"
        "<tuv xml:lang=\"en\"><seg>a</seg></tuv><tuv xml:lang=\"de\"><seg>b</seg></tuv>"
        "<tuv xml:lang=\"*all*\"><seg>d</seg></tuv></tu>"
        "<tu><tuv xml:lang=\"en\"><seg>a</seg></tuv><tuv xml:lang=\"sr_RS@latin\"><seg>m</seg></tuv></tu>"
        "<tu><tuv xml:lang=\"ca@valencia\"><seg>v</seg></tuv><tuv xml:lang=\"en\"><seg>a</seg></tuv></tu>"
        "</body></tmx>";
    struct dg_buffer b;
    struct dg_error err = {0};
    dg_buffer_init(&b);
    if (dg_tmx_read(file, sizeof file - 1, print, &b, &err) != DG_OK)
        fail_msg("%s", err.message);
    assert_string_equal(b.data, "en>de|a|b\nde>en|b|a\nen>sr_RS-Latn|a|m\nsr_RS-Latn>en|m|a\n"
                                "ca-valencia>en|v|a\nen>ca-valencia|a|v\n");
    dg_buffer_deinit(&b);
}

/* libxml2 reads on to the end of a wrong comment, and copied it at each "--": 384 KB took 12 s. */
static void test_wrong_comment(void **state)
{
    struct dg_buffer b;
    struct dg_error err = {0};
    (void)state;
    dg_buffer_init(&b);
    dg_buffer_adds(&b, "<tmx>\n<!--");
    for (int i = 0; i < 100000; i++)
        dg_buffer_adds(&b, " -- a");
    const clock_t before = clock();
    assert_int_equal(dg_tmx_read(b.data, b.len, print, &b, &err), DG_EFORMAT);
    assert_true((double)(clock() - before) / CLOCKS_PER_SEC < 4);
    assert_non_null(strstr(err.message, "TMX, line 2: Double hyphen within comment"));
    dg_buffer_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tmx), cmocka_unit_test(test_languages),
        cmocka_unit_test(test_wrong_comment)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
