/* XML and HTML files that declare an encoding: it is true of the translation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <iconv.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "documents/extract.h"

#define XML(encoding, text) "<?xml version=\"1.0\"" encoding "?>\n<r><t>" text "</t></r>"
#define XLIFF(encoding, target)                                                                    \
    "<?xml version='1.0'" encoding "?>\n<xliff version='1.2'><file target-language='de'><body>"    \
    "<trans-unit><source>dog</source>" target "</trans-unit></body></file></xliff>"

#define HTML(head, text) "<html><head>" head "</head><p>" text "</p></html>"
#define TYPE(encoding, end)                                                                        \
    "<meta content='text/html; CharSet = " encoding "' http-equiv=\"Content-type\"" end

static const struct {
    const char *name, *encoding, *file, *want;
} cases[] = {
    {"a.xml", "UTF-8", XML("", "dog"), XML("", "dög")},
    {"a.xml", "UTF-8", XML(" encoding=\"utf-8\"", "dog"), XML(" encoding=\"utf-8\"", "dög")},
    {"a.xml", "UTF-8", XML(" encoding = 'ISO-8859-1'", "dog"), XML(" encoding = 'UTF-8'", "dög")},
    {"a.xml", "UTF-8", XML(" encoding=\"us-ascii\" standalone=\"yes\"", "dog"),
        XML(" encoding=\"UTF-8\" standalone=\"yes\"", "dög")},
    {"a.xlf", "UTF-8", XLIFF(" encoding='windows-1252'", ""),
        XLIFF(" encoding='UTF-8'", "<target>dög</target>")},
    {"a.xml", "UTF-16LE", XML(" encoding=\"utf-16\"", "dog"), XML(" encoding=\"utf-16\"", "dög")},
    {"a.xml", "UTF-16BE", XML(" encoding=\"UTF-8\"", "dog"), XML(" encoding=\"UTF-16\"", "dög")},
    {"a.xlf", "UTF-16LE", XLIFF(" encoding='UTF-16'", ""),
        XLIFF(" encoding='UTF-16'", "<target>dög</target>")},
    {"strings.xml", "UTF-8",
        "<?xml version='1.0' encoding='ascii'?><resources><string name='a'>dog</string></resources>",
        "<?xml version='1.0' encoding='UTF-8'?><resources><string name='a'>dög</string></resources>"},
    {"a.html", "UTF-8", HTML("<Meta Charset = 'iso-8859-1'>", "dog"),
        HTML("<Meta Charset = 'UTF-8'>", "dög")},
    {"a.html", "UTF-8", HTML("<meta charset=latin1><meta charset=x>", "dog"),
        HTML("<meta charset=UTF-8><meta charset=x>", "dög")},
    {"a.htm", "UTF-8", HTML(TYPE("windows-1252", ">"), "dog"), HTML(TYPE("UTF-8", ">"), "dög")},
    {"a.html", "UTF-8",
        XML(" encoding='ISO-8859-1'", "") HTML(TYPE("ISO-8859-1; x=y", "/>"), "dog"),
        XML(" encoding='UTF-8'", "") HTML(TYPE("UTF-8; x=y", "/>"), "dög")},
    /* UTF-8 by another name; a mark at the start counts more than a tag; no declarations. */
    {"a.html", "UTF-8", HTML("<meta charset=utf-8>", "dog"), HTML("<meta charset=utf-8>", "dög")},
    {"a.html", "UTF-8", HTML(TYPE("utf8", ">"), "dog"), HTML(TYPE("utf8", ">"), "dög")},
    {"a.html", "UTF-16LE", HTML("<meta charset=x>", "dog"), HTML("<meta charset=x>", "dög")},
    {"a.html", "UTF-8", HTML("<meta charset><meta content='charset=x'><meta charset=''>", "dog"),
        HTML("<meta charset><meta content='charset=x'><meta charset=''>", "dög")},
    {"a.html", "UTF-8",
        HTML("<!--<meta charset=x>--><script>'<meta charset=x>'</Script ><meta charset=x>", "dog"),
        HTML("<!--<meta charset=x>--><script>'<meta charset=x>'</Script ><meta charset=UTF-8>",
            "dög")},
    /* The language of a page; not that of a part, nor another country's. */
    {"a.html", "UTF-8", "<html lang=\"en-US\" XML:lang = 'en'><p lang=en>dog</p></html>",
        "<html lang=\"de\" XML:lang = 'de'><p lang=en>dög</p></html>"},
    {"a.html", "UTF-8", "<html lang=\"{{ page.lang }}\"><p>dog</p></html>",
        "<html lang=\"{{ page.lang }}\"><p>dög</p></html>"},
    {"a.html", "UTF-16LE", "<HTML lang=en><p>dog</p>", "<HTML lang=de><p>dög</p>"},
    {"a.html", "UTF-8", "<html lang=de-AT><htmls lang=en><p>dog</p>",
        "<html lang=de-AT><htmls lang=en><p>dög</p>"},
    {"a.html", "UTF-8", "<html lang><p>dog</p><html lang='zxx'>",
        "<html lang><p>dög</p><html lang='zxx'>"},
    {"a.html", "UTF-8", HTML("<link a='<meta charset=x>'><metas charset=x>", "dog"),
        HTML("<link a='<meta charset=x>'><metas charset=x>", "dög")},
};

/* Converts s to an encoding, by iconv; UTF-16 gets a byte order mark. */
static size_t encode(const char *encoding, const char *s, char *out, size_t cap)
{
    char marked[1000], *from = marked, *to = out;
    const char *mark = strcmp(encoding, "UTF-8") == 0 ? "" : "\xEF\xBB\xBF";
    size_t left = (size_t)snprintf(marked, sizeof marked, "%s%s", mark, s), room = cap;
    iconv_t c = iconv_open(encoding, "UTF-8");
    assert_int_equal(iconv(c, &from, &left, &to, &room), 0);
    iconv_close(c);
    return cap - room;
}

static void check(const char *name, const char *file, size_t n, const char *answer,
    const char *want, size_t n_want)
{
    struct dg_extract *x = NULL;
    struct dg_error err = {0};
    const struct dg_extract_answer a = {answer, strlen(answer)};
    struct dg_buffer out;
    if (dg_extract_open(name, file, n, "de", &dg_extract_limits_default, &x, &err) != DG_OK)
        fail_msg("%s: %s", name, err.message);
    assert_int_equal(dg_extract_count(x), 1);
    dg_buffer_init(&out);
    assert_int_equal(dg_extract_write(x, &a, &out, &err), DG_OK);
    if (out.len != n_want || memcmp(out.data, want, n_want) != 0)
        fail_msg("%s: %.*s", name, (int)out.len, out.data);
    dg_buffer_deinit(&out);
    dg_extract_close(x);
}

static void declarations(void **state)
{
    static char file[2000], want[2000];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const size_t n = encode(cases[i].encoding, cases[i].file, file, sizeof file),
                     n_want = encode(cases[i].encoding, cases[i].want, want, sizeof want);
        check(cases[i].name, file, n, "dög", want, n_want);
        if (strcmp(cases[i].name, "a.xlf") != 0) /* unchanged, it comes back byte for byte */
            check(cases[i].name, file, n, "dog", file, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(declarations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
