/* Files that say which language they are in: it is that of the translation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/fuzz/package.h"
#include "tests/unit/extract_trial.h"
#include "text/language_region.h"

static void regions(void **state)
{
    static const struct {
        const char *code, *language, *script, *region;
    } cases[] = {{"de", "de", "Latn", "DE"}, {"pt", "pt", "Latn", "BR"},
        {"pt-PT", "pt", "Latn", "PT"}, {"zh", "zh", "Hans", "CN"}, {"zh-Hant", "zh", "Hant", "TW"},
        {"ja", "ja", "Jpan", "JP"}, {"ar", "ar", "Arab", "EG"}, {"sr-Latn", "sr", "Latn", "RS"}};
    struct dg_language_region r;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(dg_language_region(cases[i].code, &r));
        assert_string_equal(r.language, cases[i].language);
        assert_string_equal(r.script, cases[i].script);
        assert_string_equal(r.region, cases[i].region);
    }
    assert_false(dg_language_region("xxx", &r));
}

#define WORD(text, run, styles)                                                                    \
    "@@ word/document.xml\n<w:document xmlns:w=\"w\"><w:p><w:r><w:rPr><w:lang " run                \
    "/></w:rPr><w:t xml:space=\"preserve\">" text "</w:t></w:r></w:p><w:p><w:r><w:rPr><w:lang "    \
    "w:val=\"en-GB\"/></w:rPr><w:t>12</w:t></w:r></w:p></w:document>\n"                            \
    "@@ word/styles.xml\n<w:styles xmlns:w=\"w\"><w:lang " styles                                  \
    "/><w:lang w:val=\"x-none\"/></w:styles>\n"
#define SLIDE(text, run, all)                                                                      \
    "@@ ppt/presentation.xml\n<p:presentation xmlns:p=\"p\" xmlns:a=\"a\"><a:defRPr lang=\"" all   \
    "\"/></p:presentation>\n@@ ppt/slides/slide1.xml\n<p:sld xmlns:p=\"p\" xmlns:a=\"a\"><a:p>"    \
    "<a:r><a:rPr b=\"1\" lang=\"" run "\" dirty=\"0\"/><a:t>" text "</a:t></a:r></a:p></p:sld>\n"
#define OPEN(text, language)                                                                       \
    "@@ styles.xml\n<office:a xmlns:office=\"o\" xmlns:style=\"s\" xmlns:fo=\"f\">"                \
    "<style:text-properties " language "/><style:text-properties fo:language=\"zxx\" "             \
    "fo:country=\"none\"/></office:a>\n@@ content.xml\n<office:a xmlns:office=\"o\" "              \
    "xmlns:text=\"t\"><text:p>" text "</text:p></office:a>\n"
#define BOOK(text, language)                                                                       \
    "@@ a.opf\n<package xmlns:dc=\"d\"><dc:language>" language "</dc:language><dc:language>la"     \
    "</dc:language></package>\n@@ a.xhtml\n<html lang=\"" language "\"><p>" text "</p></html>\n"

#define VTT(head, text) "WEBVTT\r\n" head "\r\n\r\n0:01.0 --> 0:02.0\r\n" text "\r\n"

static const struct {
    const char *target, *name, *file, *want;
} cases[] = {
    {"de", "a.docx", WORD("dog", "w:val=\"en-GB\"", "w:val=\"en-US\" w:eastAsia=\"en-US\""),
        WORD("DOG", "w:val=\"de-DE\"", "w:val=\"de-DE\" w:eastAsia=\"en-US\"")},
    {"ja", "a.docx", WORD("dog", "w:val=\"en-GB\"", "w:val=\"en-US\" w:eastAsia=\"zh-CN\""),
        WORD("DOG", "w:val=\"en-GB\"", "w:val=\"en-US\" w:eastAsia=\"ja-JP\"")},
    {"he", "a.docx", WORD("dog", "w:val=\"en-GB\" w:bidi=\"ar-SA\"", "w:bidi=\"ar-SA\""),
        WORD("DOG", "w:val=\"en-GB\" w:bidi=\"he-IL\"", "w:bidi=\"he-IL\"")},
    {"en", "a.docx", WORD("dog", "w:val=\"en-GB\"", "w:val=\"de-DE\""),
        WORD("DOG", "w:val=\"en-GB\"", "w:val=\"en-US\"")},
    {"xxx", "a.docx", WORD("dog", "w:val=\"en-GB\"", "w:val=\"de-DE\""),
        WORD("DOG", "w:val=\"xxx\"", "w:val=\"xxx\"")},
    {"fr", "a.pptx", SLIDE("dog", "en-US", "en-US"), SLIDE("DOG", "fr-FR", "fr-FR")},
    {"de", "a.odt", OPEN("dog", "fo:country=\"US\" fo:language=\"en\" style:language-asian=\"zh\""),
        OPEN("DOG", "fo:country=\"DE\" fo:language=\"de\" style:language-asian=\"zh\"")},
    {"zh-Hant", "a.odt",
        OPEN("dog", "fo:language=\"en\" style:language-asian=\"ja\" style:country-asian=\"JP\""),
        OPEN("DOG", "fo:language=\"en\" style:language-asian=\"zh\" style:country-asian=\"TW\"")},
    {"pt-BR", "a.odt", OPEN("dog", "fo:language=\"pt\" fo:country=\"PT\""),
        OPEN("DOG", "fo:language=\"pt\" fo:country=\"PT\"")},
    {"pt-BR", "a.epub", BOOK("dog", "en-GB"), BOOK("DOG", "pt-BR")},
    {"de", "a.vtt", VTT("Kind: x\r\nLanguage: en-GB ", "dog"),
        VTT("Kind: x\r\nLanguage: de ", "DOG")},
    {"en", "a.vtt", VTT("Language: en-GB", "dog"), VTT("Language: en-GB", "DOG")},
    {"de", "a.vtt", VTT("\r\nLanguage: en", "dog"), VTT("\r\nLanguage: en", "DOG")},
};

/* Check that the archive got[n] has each member of `want`; they are not packed. */
static void check_members(const char *name, const char *got, size_t n, const char *want)
{
    for (const char *at = want; *at;) {
        const char *body = strchr(at, '\n') + 1, *next = strstr(body, "\n" FUZZ_MEMBER);
        next = next ? next + 1 : body + strlen(body);
        if (!memmem(got, n, body, (size_t)(next - body)))
            fail_msg("%s: no %.*s in %.*s", name, (int)(next - body), body, (int)n, got);
        at = next;
    }
}

static void files(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dg_error err = {0};
        size_t n, n_got;
        const bool packed = dg_extract_packed(cases[i].name);
        char *file = packed ? fuzz_package(cases[i].file, strlen(cases[i].file), &n)
                            : strndup(cases[i].file, n = strlen(cases[i].file));
        char *got = translated_into(cases[i].target, cases[i].name, file, n, true,
            &dg_extract_limits_default, &n_got, &err);
        if (!got)
            fail_msg("%s: %s", cases[i].name, err.message);
        if (packed)
            check_members(cases[i].name, got, n_got, cases[i].want);
        else
            assert_string_equal(got, cases[i].want);
        free(got);
        got = translated_into(cases[i].target, cases[i].name, file, n, false,
            &dg_extract_limits_default, &n_got, &err);
        assert_int_equal(n_got, n);
        assert_memory_equal(got, file, n);
        free(got);
        free(file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(regions), cmocka_unit_test(files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
