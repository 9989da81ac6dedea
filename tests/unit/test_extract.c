/* Texts of files, and files with their translations: each case is a file and its result when every
 * word to translate is written in capitals. Packed files: test_cli_documents.py. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <iconv.h>
#include <malloc.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/extract_trial.h"

/* 560 bytes: more than a placeholder may have */
#define WORDS(a_dog)                                                                               \
    a_dog ", " a_dog ", " a_dog ", " a_dog ", " a_dog ", " a_dog ", " a_dog ", " a_dog ", " a_dog  \
          ", " a_dog ", "
#define FORM(before, a_dog, after)                                                                 \
    "{" before WORDS(a_dog) WORDS(a_dog) WORDS(a_dog) WORDS(a_dog) after "}"
#define PLURAL(space, before, a_dog, after)                                                        \
    "{" space "n, plural, one " FORM(before, a_dog, after) " other " FORM(before, a_dog, after) "}"

/* two cues of one sentence */
#define CUES "0:00:01,000 --> 0:00:02,000\nTwo dogs\n\n0:00:02,000 --> 0:00:03,000\nplay.\n\n"

static const struct example cases[] = {
    /* Plain text. */
    {"a.txt", "", "", false},
    {"a.txt", "one dog\n\ntwo dogs\nthree\n", "ONE DOG\n\nTWO DOGS\nTHREE\n", false},
    {"A.TXT",
        "\xEF\xBB\xBF"
        "one\r\n\r\n12\r\ntwo",
        "\xEF\xBB\xBF"
        "ONE\r\n\r\n12\r\nTWO",
        false},
    {"a.txt",
        "This is a paragraph whose lines were wrapped by hand at some\n"
        "several columns, as it is done in mail and in old text files, so\n"
        "that its sentences go on.\n",
        "THIS IS A PARAGRAPH WHOSE LINES WERE WRAPPED BY HAND AT SOME\n"
        "SEVERAL COLUMNS, AS IT IS DONE IN MAIL AND IN OLD TEXT FILES, SO\n"
        "THAT ITS SENTENCES GO ON.\n",
        false},
    /* Markdown and HTML. */
    {"a.md", "# one\n\ntwo **dogs** `code`\n\n    code\n",
        "# ONE\n\nTWO **DOGS** `code`\n\n    code\n", false},
    {"a.html", "<p title=\"a 'b'\">one <b>two</b><img alt='x \"y\"'></p><script>no</script>",
        "<p title=\"A 'B'\">ONE <b>TWO</b><img alt='X &quot;Y&quot;'></p><script>no</script>",
        false},
    {"a.htm", "<b>one<br>Two</b><input placeholder=name>",
        "<b>ONE<br>TWO</b><input placeholder=NAME>", false},
    /* Subtitles. */
    {"a.srt", "1\n00:00:01,000 --> 00:00:02,000\n- one <i>two</i>\n- three\n",
        "1\n00:00:01,000 --> 00:00:02,000\n- ONE <i>TWO</i>\n- THREE\n", false},
    {"a.ass",
        "\xEF\xBB\xBF[Script Info]\r\nDialogue: 0,1,2,a,,,,,,one\r\n[Events]\r\nComment: 0,1,2,a,,,,,,one\r\n"
        "Dialogue: 0,0:00:01.00,0:00:02.00,a,Ann,0,0,0,,{\\an8}{\\i1}one, dog\\Ntwo{\\i0}\r\n"
        "Dialogue: 0,1,2,a,,0,0,0,,-one{he bows} dog\\N\\n- two\\hdogs\\N\r\n"
        "Dialogue: 0,1,2,a,,0,0,0,,{\\p1}m 0 0 l 1 0{\\p0}\r\nDialogue: 0,1,2,a,,0,0,0,,{\\kf20}one {\\k5}dog\r\n"
        "Dialogue: 0,1,2,a,,0,0,0,,{\\an8}\\N\r\nDialogue: 0,one dog\r\n",
        "\xEF\xBB\xBF[Script Info]\r\nDialogue: 0,1,2,a,,,,,,one\r\n[Events]\r\nComment: 0,1,2,a,,,,,,one\r\n"
        "Dialogue: 0,0:00:01.00,0:00:02.00,a,Ann,0,0,0,,{\\an8}{\\i1}ONE, DOG\\NTWO{\\i0}\r\n"
        "Dialogue: 0,1,2,a,,0,0,0,,-ONE{he bows} DOG\\N\\N- TWO\\hDOGS\\N\r\n"
        "Dialogue: 0,1,2,a,,0,0,0,,{\\p1}m 0 0 l 1 0{\\p0}\r\nDialogue: 0,1,2,a,,0,0,0,,{\\kf20}one {\\k5}dog\r\n"
        "Dialogue: 0,1,2,a,,0,0,0,,{\\an8}\\N\r\nDialogue: 0,one dog\r\n",
        false},
    {"a.ssa", "[events]\nFormat: Start, End, Text \nDialogue: 1,2,a {dog} \\ {\n",
        "[events]\nFormat: Start, End, Text \nDialogue: 1,2,A {dog} \\ {\n", false},
    {"a.ssa", "[Events]\nFormat: Text, End\nDialogue: one,2\n",
        "[Events]\nFormat: Text, End\nDialogue: one,2\n", false},
    {"a.vtt", "WEBVTT\n\nNOTE no\n\n00:01.000 --> 00:02.000 line:0\none dog\n",
        "WEBVTT\n\nNOTE no\n\n00:01.000 --> 00:02.000 line:0\nONE DOG\n", false},
    {"a.srt",
        "1\n00:00:01,000 --> 00:00:02,000\none dog went\n\n2\n00:00:02,100 --> 00:00:03,000\nto the house.\n",
        "1\n00:00:01,000 --> 00:00:02,000\nONE DOG WENT\n\n2\n00:00:02,100 --> 00:00:03,000\nTO THE HOUSE.\n",
        false},
    /* A pause that is too long, and the end of a sentence. */
    {"a.srt",
        "1\n00:00:01,000 --> 00:00:02,000\none dog\n\n2\n00:00:12,000 --> 00:00:13,000\nhouse\n",
        "1\n00:00:01,000 --> 00:00:02,000\nONE DOG\n\n2\n00:00:12,000 --> 00:00:13,000\nHOUSE\n",
        false},
    /* No blank line between cues. */
    {"a.srt",
        "1\n00:00:01,000 --> 00:00:02,000\n- one\n2\n00: 00: 02, 000 --> 00: 00: 03, 000\n- dog\n0:03.5 --> 0:04.5 X1:4\n1 --> 2 two\n",
        "1\n00:00:01,000 --> 00:00:02,000\n- ONE\n2\n00: 00: 02, 000 --> 00: 00: 03, 000\n- DOG\n0:03.5 --> 0:04.5 X1:4\n1 --> 2 TWO\n",
        false},
    /* Strings of programs. */
    {"a.json",
        "{\"key\": \"one\", \"n\": {\"a\": [\"two \\\"dogs\\\"\", 12, null, \"\"]}, \"u\": \"\\u00e9\\ud83d\\ude00 a\\nb\\\\c\"}",
        "{\"key\": \"ONE\", \"n\": {\"a\": [\"TWO \\\"DOGS\\\"\", 12, null, \"\"]}, \"u\": \"é😀 A\\nB\\\\C\"}",
        false},
    {"a.json", "\"one\"", "\"ONE\"", false},
    {"a.json", "[{\"@a\": \"one\"}]", "[{\"@a\": \"ONE\"}]", false},
    {"a.arb",
        "{\"@@locale\": \"en\", \"a\": \"one\", \"@a\": {\"description\": \"no\", \"x\": {\"y\": \"no\"}}, \"b\": \"two\"}",
        "{\"@@locale\": \"de\", \"a\": \"ONE\", \"@a\": {\"description\": \"no\", \"x\": {\"y\": \"no\"}}, \"b\": \"TWO\"}",
        false},
    /* ICU messages, also long ones. */
    {"a.json", "[\"a {n, plural, one {dog} other {dogs}}\", \"{ a , select , x {dog} other {}}\"]",
        "[\"{n, plural, one {A DOG} other {A DOGS}}\", \"{ a , select , x {DOG} other {}}\"]",
        false},
    {"a.arb", "{\"a\": \"you see " PLURAL("", "", "a dog", "") "\"}",
        "{\"a\": \"" PLURAL("", "YOU SEE ", "A DOG", "") "\"}", false},
    {"a.strings", "a = \"" PLURAL("", "", "a dog", "") "\"; b = \"dog\";",
        "a = \"" PLURAL("", "", "A DOG", "") "\"; b = \"DOG\";", false},
    {"a.properties",
        "a=" PLURAL(" ", "", "a dog", "") "\nb=" PLURAL("", "", "a dog", "") " {0}\nc=dog",
        "a=" PLURAL(" ", "", "A DOG", "") "\nb=" PLURAL("", "", "A DOG", " {0}") "\nc=DOG", false},
    {"a.po", "msgid \"" PLURAL("", "", "a dog", "") "\"\nmsgstr \"\"\n",
        "msgid \"" PLURAL("", "", "a dog", "") "\"\nmsgstr \"" PLURAL("", "", "A DOG", "") "\"\n",
        true},
    {"a.xlf",
        "<xliff><trans-unit><source>" PLURAL("", "", "a dog", "") "</source></trans-unit></xliff>",
        "<xliff><trans-unit><source>" PLURAL("", "", "a dog", "") "</source><target>" PLURAL(
            "", "", "A DOG", "") "</target></trans-unit></xliff>",
        true},
    {"strings.xml", "<resources><string>" PLURAL("", "", "a dog", "") "</string></resources>",
        "<resources><string>" PLURAL("", "", "A DOG", "") "</string></resources>", false},
    /* with a brace too many, they stay as a whole */
    {"strings.xml", "<resources><string>dog {" PLURAL("", "", "a dog", "") "</string></resources>",
        "<resources><string>dog {" PLURAL("", "", "a dog", "") "</string></resources>", false},
    {"a.properties", "# no\n! no\na=one\nb : two \\\n    dogs\nc three\nd\ne=\n",
        "# no\n! no\na=ONE\nb : TWO DOGS\nc THREE\nd\ne=\n", false},
    {"a.properties", "\xEF\xBB\xBF# no\na=one", "\xEF\xBB\xBF# no\na=ONE", false},
    {"a.properties", "a\\=b=one \\u00e9 dog", "a\\=b=ONE \\u00E9 DOG", false},
    {"a.properties", "a=one é dog\\n", "a=ONE é DOG\\n", false},
    {"a.properties", "a=isn''t {0} big\nb=isn''t big", "a=ISN''T {0} BIG\nb=ISN''T BIG", false},
    /* A message's quotation: a quoted brace is no argument, and one that looks like an argument
     * leaves the message as it is. */
    {"a.properties",
        "a=use '{'name'}' in {0}\nb=''{0}'' isn't '{'{1}'}'\nc='{0}' in {0}\nd='{0}' in {1}\ne={1} '}, {' '{''x'",
        "a=USE '{'name'}' IN {0}\nb=''{0}'' ISN''T '{'{1}'}'\nc='{0}' in {0}\nd='{0}' IN {1}\ne={1} '}, {' '{'''X",
        false},
    {"a.properties", "a=at {0,date,h 'o''clock'} on {0,choice,0#'{'no|1#one '}'} a {2",
        "a=at {0,date,h 'o''clock'} on {0,choice,0#'{'no|1#one '}'} a {2", false},
    {"a.properties", "a=at {0,date,h 'o''clock'} it''s a \\u2019 {n}",
        "a=AT {0,date,h 'o''clock'} IT''S A \\u2019 {n}", false},
    {"a.strings", "/* \"no\" = */ \"a\" = \"one \\\"two\\\"\\n%@\"; // \"no\"\n\"b\"=\"three\";",
        "/* \"no\" = */ \"a\" = \"ONE \\\"TWO\\\"\\n%@\"; // \"no\"\n\"b\"=\"THREE\";", false},
    /* PO: an empty msgstr is filled. */
    {"a.po",
        "msgid \"\"\nmsgstr \"\"\n\"Language: de\\n\"\n\n#: no\nmsgid \"one\"\nmsgstr \"\"\n\nmsgid \"two\"\nmsgstr \"zwei\"\n",
        "msgid \"\"\nmsgstr \"\"\n\"Language: de\\n\"\n\n#: no\nmsgid \"one\"\nmsgstr \"ONE\"\n\nmsgid \"two\"\nmsgstr \"zwei\"\n",
        true},
    {"a.po", "msgctxt \"no\"\nmsgid \"a \\\"b\\\"\\n\"\n\"c %d\\n\"\nmsgstr \"\"\n",
        "msgctxt \"no\"\nmsgid \"a \\\"b\\\"\\n\"\n\"c %d\\n\"\nmsgstr \"\"\n\"A \\\"B\\\"\\n\"\n\"C %d\\n\"\n",
        true},
    {"a.po",
        "msgid \"dog\"\nmsgid_plural \"dogs\"\nmsgstr[0] \"\"\nmsgstr[1] \"\"\nmsgstr[2] \"\"\n",
        "msgid \"dog\"\nmsgid_plural \"dogs\"\nmsgstr[0] \"DOG\"\nmsgstr[1] \"DOGS\"\nmsgstr[2] \"DOGS\"\n",
        true},
    {"a.po", "#~ msgid \"old\"\n#~ msgstr \"\"\n", "#~ msgid \"old\"\n#~ msgstr \"\"\n", false},
    /* XLIFF. */
    {"a.xlf",
        "<xliff version=\"1.2\"><file><body><trans-unit id=\"1\">\n  <source>a <g id=\"1\">dog</g><x id=\"2\"/> b</source>\n"
        "</trans-unit><trans-unit><source>one</source><target/></trans-unit>"
        "<trans-unit><source>one</source><target>eins</target></trans-unit>"
        "<trans-unit><source>one</source><target state=\"new\"></target></trans-unit>"
        "<group translate=\"no\"><trans-unit><source>no</source></trans-unit></group></body></file></xliff>",
        "<xliff version=\"1.2\"><file target-language=\"de\"><body><trans-unit id=\"1\">\n  <source>a <g id=\"1\">dog</g><x id=\"2\"/> b</source>\n"
        "  <target>A <g id=\"1\">DOG</g><x id=\"2\"/> B</target>\n"
        "</trans-unit><trans-unit><source>one</source><target>ONE</target></trans-unit>"
        "<trans-unit><source>one</source><target>eins</target></trans-unit>"
        "<trans-unit><source>one</source><target state=\"new\">ONE</target></trans-unit>"
        "<group translate=\"no\"><trans-unit><source>no</source></trans-unit></group></body></file></xliff>",
        true},
    {"a.xliff",
        "<x:xliff xmlns:x=\"u\" version=\"2.1\" srcLang=\"en\"><x:file id=\"f\"><x:unit id=\"u\"><x:segment>"
        "<x:source>one <x:pc id=\"1\">two</x:pc></x:source></x:segment></x:unit></x:file></x:xliff>",
        "<x:xliff trgLang=\"de\" xmlns:x=\"u\" version=\"2.1\" srcLang=\"en\"><x:file id=\"f\"><x:unit id=\"u\"><x:segment>"
        "<x:source>one <x:pc id=\"1\">two</x:pc></x:source><x:target>ONE <x:pc id=\"1\">TWO</x:pc></x:target></x:segment></x:unit></x:file></x:xliff>",
        true},
    /* Android's strings, and other XML. */
    {"strings.xml",
        "<resources><string name=\"a\">it isn\\'t <b>big</b> &amp;\\n%1$s</string><string name=\"b\" translatable=\"false\">no</string>"
        "<string name=\"c\">@string/a</string><plurals name=\"d\"><item quantity=\"one\">dog</item></plurals>"
        "<string name=\"e\"><![CDATA[a <i>dog</i>]]></string><string name=\"f\">\"it's  big\"</string>"
        "<string name=\"g\">two\n   lines</string></resources>",
        "<resources><string name=\"a\">IT ISN\\'T <b>BIG</b> &amp;\\n%1$s</string><string name=\"b\" translatable=\"false\">no</string>"
        "<string name=\"c\">@string/a</string><plurals name=\"d\"><item quantity=\"one\">DOG</item></plurals>"
        "<string name=\"e\"><![CDATA[A <i>DOG</i>]]></string><string name=\"f\">\"IT\\'S  BIG\"</string>"
        "<string name=\"g\">TWO LINES</string></resources>",
        false},
    /* Android drops bare spaces at the ends and after another, except in quotation marks. */
    {"strings.xml",
        "<resources><string name=\"a\"> \\u0020name: \\u0020</string><string name=\"b\">\" two  dogs \"</string>"
        "<string name=\"c\"><![CDATA[\n <i>dog</i>\\u0020 ]]></string></resources>",
        "<resources><string name=\"a\"> \\u0020NAME: \\u0020</string><string name=\"b\">\" TWO  DOGS \"</string>"
        "<string name=\"c\"><![CDATA[\n <i>DOG</i>\\u0020 ]]></string></resources>",
        false},
    /* XML cannot hold a control character. A string of XML with one stays. */
    {"strings.xml",
        "<resources><string name=\"a\">a \\u0019 dog</string><string name=\"b\"><![CDATA[<i title=\"\\u0019\">dog</i>\\u0019 ]]></string></resources>",
        "<resources><string name=\"a\">a \\u0019 dog</string><string name=\"b\"><![CDATA[<i title=\"\\u0019\">DOG</i>\\u0019 ]]></string></resources>",
        false},
    /* It shows no quotation mark that is not escaped: one around a string stays, others go. */
    {"strings.xml",
        "<resources><string name=\"a\">\"The \\\"%s\\\"  is\"</string><string name=\"b\">\"hi <xliff:g "
        "id=\"n\" example=\"Bob\">%s</xliff:g>, two  dogs\"</string><string name=\"c\">Two  \"big \"  <b "
        "id=\"x\">dogs</b>\"  \"</string><string name=\"d\">\"a b\" c</string><string name=\"e\">a \\\"b "
        "\\\\\"c\"</string><string name=\"f\">\"12\" 3</string><string name=\"g\">\"\"</string></resources>",
        "<resources><string name=\"a\">\"THE \\\"%s\\\"  IS\"</string><string name=\"b\">\"HI <xliff:g "
        "id=\"n\" example=\"Bob\">%s</xliff:g>, TWO  DOGS\"</string><string name=\"c\">TWO BIG \\u0020<b "
        "id=\"x\">DOGS</b> \\u0020</string><string name=\"d\">A B C</string><string name=\"e\">A \\\"B "
        "\\\\C</string><string name=\"f\">\"12\" 3</string><string name=\"g\">\"\"</string></resources>",
        false},
    /* Characters with a meaning in XML stay text, and what XML cannot hold stays as it is. */
    {"strings.xml",
        "<resources><string name=\"a\">terms \\u0026 dogs \\u003Cb\\u003E ]]\\u003E</string>"
        "<string name=\"b\"><![CDATA[a \\u0026 <i>dog</i>]]></string>"
        "<string name=\"c\">a\\u0007b\\f</string><string name=\"d\">dog</string></resources>",
        "<resources><string name=\"a\">TERMS &amp; DOGS &lt;B&gt; ]]&gt;</string>"
        "<string name=\"b\"><![CDATA[A &amp; <i>DOG</i>]]></string>"
        "<string name=\"c\">a\\u0007b\\f</string><string name=\"d\">DOG</string></resources>",
        false},
    {"a.xml", "<!DOCTYPE book [<!ENTITY prod \"Dragon\">]>\n<book><t>the &prod; dog</t></book>",
        "<!DOCTYPE book [<!ENTITY prod \"Dragon\">]>\n<book><t>THE &prod; DOG</t></book>", false},
    {"a.xml", "<?xml version=\"1.0\"?>\n<r><t>a <b>dog</b></t><t a=\"no\">two</t></r>",
        "<?xml version=\"1.0\"?>\n<r><t>A <b>DOG</b></t><t a=\"no\">TWO</t></r>", false},
};

static void examples(void **state)
{
    (void)state;
    check_examples(cases, sizeof cases / sizeof *cases);
}

/* Converts s with its byte order mark to an encoding, by iconv. */
static size_t encode(const char *encoding, const char *s, char *out, size_t cap)
{
    char marked[8192], *from = marked, *to = out;
    size_t left = (size_t)snprintf(marked, sizeof marked, "\xEF\xBB\xBF%s", s), room = cap;
    iconv_t c = iconv_open(encoding, "UTF-8");
    assert_true(left < sizeof marked);
    assert_int_equal(iconv(c, &from, &left, &to, &room), 0);
    iconv_close(c);
    return cap - room;
}

/* Every kind of text file as programs on Windows and Apple save it. */
static void utf16_files(void **state)
{
    static const char *const encodings[] = {"UTF-16LE", "UTF-16BE"};
    static char file[20000], want[20000];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (strncmp(cases[i].file, "\xEF\xBB\xBF", 3) == 0 || cases[i].file[0] == '\0')
            continue;
        for (int e = 0; e < 2; e++) {
            struct dg_error err = {0};
            size_t len, n = encode(encodings[e], cases[i].file, file, sizeof file),
                        n_want = encode(encodings[e], cases[i].want, want, sizeof want);
            char *got = translated_bytes(
                cases[i].name, file, n, true, &dg_extract_limits_default, &len, &err);
            if (!got)
                fail_msg("%s %s: %s", cases[i].name, cases[i].file, err.message);
            if (len != n_want || memcmp(got, want, len) != 0)
                fail_msg("%s in %s: %s", cases[i].name, encodings[e], cases[i].file);
            free(got);
            got = translated_bytes(
                cases[i].name, file, n, false, &dg_extract_limits_default, &len, &err);
            if (!cases[i].filled) {
                assert_int_equal(len, n);
                assert_memory_equal(got, file, n);
            }
            free(got);
        }
    }
}

static void refuse(const char *name, const char *file, size_t n, int code, const char *why)
{
    struct dg_error err = {0};
    const struct dg_extract_limits limits = {
        .file_bytes = 1000, .unpacked_bytes = 1000, .tags = 100, .texts = 3, .text_bytes = 100};
    char *got = translated(name, file, n, true, &limits, &err);
    assert_null(got);
    assert_int_equal(err.code, code);
    assert_string_equal(err.field, "file");
    if (!strstr(err.message, why))
        fail_msg("%s: %s", name, err.message);
}

static void what_is_refused(void **state)
{
    (void)state;
    char zeros[2000] = {0};
    refuse("a.pdf", "x", 1, DG_EUNSUP, "a.pdf");
    refuse("noname", "x", 1, DG_EUNSUP, "noname");
    refuse("a.txt", zeros, sizeof zeros, DG_ELIMIT, "2000 bytes, the limit is 1000");
    refuse("a.txt", "a\0b", 3, DG_EINVAL, "U+0000");
    refuse("a.txt", "a\0b\0", 4, DG_EINVAL, "UTF-16 without a byte order mark");
    refuse("a.txt",
        "\xFF\xFE"
        "a",
        3, DG_EINVAL, "ends in half a character");
    refuse("a.txt", "\xFE\xFF\xD8\0\0a", 6, DG_EINVAL, "half a character at byte 2");
    refuse("a.txt", "\xFF\xFE\0\0a\0\0\0", 8, DG_EINVAL, "U+0000");
    refuse("a.txt", "caf\xE9", 4, DG_EINVAL, "not UTF-8");
    refuse("a.json", "{\"a\": }", 7, DG_EINVAL, "not JSON");
    refuse("a.json", "[\"a\",\"b\",\"c\",\"d\"]", 17, DG_ELIMIT, "more than 3 texts");
    static const char po[] =
        "msgid \"a\"\nmsgstr \"\"\nmsgid \"b\"\nmsgstr \"\"\nmsgid \"c\"\nmsgstr \"\"\nmsgid "
        "\"d\"\nmsgstr \"\"\n";
    refuse("a.po", po, sizeof po - 1, DG_ELIMIT, "more than 3 texts");
    static const char cues[] = CUES CUES CUES CUES;
    refuse("a.srt", cues, sizeof cues - 1, DG_ELIMIT, "more than 3 texts");
    memset(zeros, 'a', 200);
    refuse("a.txt", zeros, 200, DG_ELIMIT, "more than 100 bytes of text");
    refuse("a.po", "msgid \"a\"\nhello\n", 16, DG_EINVAL, "line 2");
    refuse("a.strings", "\"a\" = \"b", 8, DG_EINVAL, "line 1");
    refuse("a.strings", "\"a\" = \"b\\\"", 10, DG_EINVAL, "line 1");
    refuse("a.php", "<?php\n$a['b'] = 'c", 18, DG_EINVAL, "line 2");
    refuse("a.php", "<p>dog</p>", 10, DG_EINVAL, "no <?php");
    refuse("a.xlf", "<xliff>", 7, DG_EINVAL, "line 1");
    refuse("strings.xml", "<resources><string>a</resources>", 32, DG_EINVAL, "line 1");
    refuse("a.docx", "PK", 2, DG_EINVAL, "broken");
    refuse("a.epub", "<html>", 6, DG_EINVAL, "broken");
    refuse("a.docx", "", 0, DG_EINVAL, "broken");
}

/* Refused files leave no memory allocated. (Sanitizers report 0 here, and find leaks
 * themselves.) */
static void refusals_give_memory_back(void **state)
{
    (void)state;
    refuse("a.docx", "", 0, DG_EINVAL, "broken");
    static const char catalog[] = "{\"sourceLanguage\": \"en\", \"strings\": {\"a\": {}, "
                                  "\"b\": {}, \"c\": {}, \"d\": {}}}";
    refuse("a.docx", "PK", 2, DG_EINVAL, "broken");
    refuse("a.xcstrings", catalog, sizeof catalog - 1, DG_ELIMIT, "more than 3 texts");
    const size_t before = mallinfo2().uordblks;
    for (int i = 0; i < 100; i++) {
        refuse("a.docx", "", 0, DG_EINVAL, "broken");
        refuse("a.docx", "PK", 2, DG_EINVAL, "broken");
        refuse("a.xcstrings", catalog, sizeof catalog - 1, DG_ELIMIT, "more than 3 texts");
    }
    assert_in_range(mallinfo2().uordblks, 0, before + 1000);
}

/* A long file is split into many small texts that together restore it. */
static void long_files(void **state)
{
    (void)state;
    struct dg_buffer file;
    struct dg_extract *x = NULL;
    struct dg_extract_text t;
    dg_buffer_init(&file);
    for (int i = 0; i < 2000; i++)
        dg_buffer_addf(&file,
            i % 7 ? "Paragraph %d is *here*.\n\n" : "```\n\ncode %d\n```\n\n- a\n\n  b\n\n", i);
    for (int kind = 0; kind < 2; kind++) {
        const char *name = kind ? "a.md" : "a.txt";
        assert_int_equal(
            dg_extract_open(name, file.data, file.len, "de", &dg_extract_limits_default, &x, NULL),
            0);
        assert_true(dg_extract_count(x) >= 10);
        for (size_t i = 0; i < dg_extract_count(x); i++) {
            dg_extract_text(x, i, &t);
            assert_true(t.n < 9000);
        }
        dg_extract_close(x);
    }
    struct dg_error err = {0};
    char *parts = translated("a.md", file.data, file.len, true, &dg_extract_limits_default, &err);
    char *whole = trial_run(file.data, DG_FORMAT_MARKDOWN, NULL, true, NULL);
    assert_string_equal(parts, whole);
    free(parts);
    free(whole);
    dg_buffer_deinit(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples),
        cmocka_unit_test(utf16_files),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(refusals_give_memory_back),
        cmocka_unit_test(long_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
