/* Strings of programs in files: what is a text, and how its translation is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/extract_trial.h"

#define PLURAL_FORMS(header, one, number, neither)                                                 \
    "msgid \"\"\nmsgstr \"\"\n\"Language: x\\n\"\n\"Plural-Forms: " header "\\n\"\n\n"             \
    "msgid \"one dog\"\nmsgid_plural \"%d dogs\"\nmsgstr[0] \"" one "\"\n\n"                       \
    "msgid \"%d dog\"\nmsgid_plural \"%d dogs\"\nmsgstr[0] \"" number "\"\n\n"                     \
    "msgid \"that dog\"\nmsgid_plural \"those dogs\"\nmsgstr[0] \"" neither "\"\n"

#define YAML(root, hello, name, lines, folded, list)                                               \
    "# a dog\n---\n" root ": &x\n  hello: " hello                                                  \
    " # two dogs\n  404:\n    \"a b\": &a !!str " name                                             \
    "\n  again: *a\n  <<: *x\n  tag: !ruby/regexp /dog/\n  no: No\n  at: 2001-12-14\n  order:\n"   \
    "    - :year\n  lines: |\n\n    " lines "\n\n  # a comment\n  folded: >-\n    " folded         \
    "\n  list: [" list ", ~, 0x1F]\n  ? {dog: two}\n  : 12\n"

#define SEGMENTS(target)                                                                           \
    "<xliff><file target-language=\"de\"><trans-unit><source><g id=\"1\">a <x id=\"2\"/>dog. "     \
    "&lt;b&gt;two&lt;/b&gt; dogs</g> three</source><seg-source><g id=\"1\"><mrk mtype=\"seg\" "    \
    "mid=\"0\">a <x id=\"2\"/>dog.</mrk> <mrk mtype=\"seg\" mid=\"1\">&lt;b&gt;two&lt;/b&gt; "     \
    "dogs</mrk></g> <mrk mtype=\"seg\" mid=\"2\">three</mrk></seg-source>" target                  \
    "</trans-unit></file></xliff>"

static const struct example cases[] = {
    /* ICU messages with codes, as Angular has them. */
    {"a.xlf",
        "<xliff><trans-unit><source>a {N, plural, =1 {dog} other {<x id=\"1\" equiv-text=\"{{ n }}\"/> dogs}}"
        "</source></trans-unit></xliff>",
        "<xliff><trans-unit><source>a {N, plural, =1 {dog} other {<x id=\"1\" equiv-text=\"{{ n }}\"/> dogs}}"
        "</source><target>{N, plural, =1 {A DOG} other {A <x id=\"1\" equiv-text=\"{{ n }}\"/> DOGS}}</target></trans-unit></xliff>",
        true},
    {"strings.xml",
        "<resources><string>{n, plural, other {<xliff:g>#</xliff:g> dogs}}</string></resources>",
        "<resources><string>{n, plural, other {<xliff:g>#</xliff:g> DOGS}}</string></resources>",
        false},
    {"a.json", "[\"{n, select, other {<b>a</b> dog}}\", \"{n} <b>dog</b>\"]",
        "[\"{n, select, other {<b>A</b> DOG}}\", \"{n} <b>DOG</b>\"]", false},
    /* Markup that is text. */
    {"a.xlf",
        "<xliff><file target-language=\"de\"><trans-unit><source>\n <![CDATA[a <b>dog</b> & <0>x</0> &amp; y]]>\n</source><target/></trans-unit>"
        "<trans-unit><source><![CDATA[dog]]></source><target></target></trans-unit>"
        "<trans-unit><source>&lt;p&gt;a &lt;a href=\"u\"&gt;dog&lt;/a>\n  &amp;nbsp; &#233;&lt;/p&gt;</source></trans-unit>"
        "<trans-unit xml:space=\"preserve\"><source>a &lt; b\n  c &lt;x/&gt;</source></trans-unit>"
        "<trans-unit><source>&lt;b&gt;one&lt;/b&gt; <x id=\"1\"/></source></trans-unit></file></xliff>",
        "<xliff><file target-language=\"de\"><trans-unit><source>\n <![CDATA[a <b>dog</b> & <0>x</0> &amp; y]]>\n</source>"
        "<target><![CDATA[A <b>DOG</b> & <0>X</0> &amp; Y]]></target></trans-unit>"
        "<trans-unit><source><![CDATA[dog]]></source><target><![CDATA[DOG]]></target></trans-unit>"
        "<trans-unit><source>&lt;p&gt;a &lt;a href=\"u\"&gt;dog&lt;/a>\n  &amp;nbsp; &#233;&lt;/p&gt;</source>"
        "<target>&lt;p&gt;A &lt;a href=\"u\"&gt;DOG&lt;/a&gt; &amp;nbsp; é&lt;/p&gt;</target></trans-unit>"
        "<trans-unit xml:space=\"preserve\"><source>a &lt; b\n  c &lt;x/&gt;</source><target>A &lt; B\n  C &lt;x/&gt;</target></trans-unit>"
        "<trans-unit><source>&lt;b&gt;one&lt;/b&gt; <x id=\"1\"/></source><target>&lt;B&gt;ONE&lt;/B&gt; <x id=\"1\"/></target></trans-unit></file></xliff>",
        true},
    /* Segments of a target (Trados, memoQ, Okapi), and a target that is missing beside them. */
    {"a.xlf",
        SEGMENTS(
            "<target><g id=\"1\"><mrk mtype=\"seg\" mid=\"0\"/> <mrk mtype=\"seg\" mid=\"1\"> </mrk></g> "
            "<mrk mtype=\"seg\" mid=\"2\">da</mrk><mrk mtype=\"x\" mid=\"1\"/></target>"),
        SEGMENTS(
            "<target><g id=\"1\"><mrk mtype=\"seg\" mid=\"0\">A <x id=\"2\"/>DOG.</mrk> <mrk mtype=\"seg\" mid=\"1\">"
            "&lt;b&gt;TWO&lt;/b&gt; DOGS</mrk></g> <mrk mtype=\"seg\" mid=\"2\">da</mrk><mrk mtype=\"x\" mid=\"1\"/></target>"),
        true},
    {"a.xlf", SEGMENTS(""),
        SEGMENTS(
            "<target><g id=\"1\"><mrk mtype=\"seg\" mid=\"0\">A <x id=\"2\"/>DOG.</mrk> <mrk mtype=\"seg\" mid=\"1\">"
            "&lt;B&gt;TWO&lt;/B&gt; DOGS</mrk></g> <mrk mtype=\"seg\" mid=\"2\">THREE</mrk></target>"),
        true},
    {"a.xlf", SEGMENTS("<target>da</target>"), SEGMENTS("<target>da</target>"), true},
    {"strings.xml",
        "<resources><string>&lt;b>a dog&lt;/b> isn\\'t &lt;a href=\\\"u\\\"&gt;big&lt;/a> &amp;\n  \\@ &#8230;\\nb</string></resources>",
        "<resources><string>&lt;b&gt;A DOG&lt;/b&gt; ISN\\'T &lt;a href=\\\"u\\\"&gt;BIG&lt;/a&gt; &amp; @ …\\nB</string></resources>",
        false},
    {"strings.xml", "<resources><string>&lt;b>a\\u0001 dog</string></resources>",
        "<resources><string>&lt;b>a\\u0001 dog</string></resources>", false},
    /* Qt Linguist's, as lupdate writes it. */
    {"app.ts",
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<!DOCTYPE TS>\n<TS version=\"2.1\">\n<context>\n    <name>Window</name>\n"
        "    <message>\n        <location filename=\"a.cpp\" line=\"6\"/>\n        <source>&lt;b&gt;dog&lt;/b&gt; isn&apos;t %1\ntwo</source>\n"
        "        <comment>no</comment>\n        <translation type=\"unfinished\"></translation>\n    </message>\n"
        "    <message numerus=\"yes\">\n        <source>%n dog(s)</source>\n        <translation type=\"unfinished\">\n"
        "            <numerusform></numerusform>\n            <numerusform>da</numerusform>\n            <numerusform/>\n        </translation>\n    </message>\n"
        "</context>\n</TS>\n",
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<!DOCTYPE TS>\n<TS language=\"de\" version=\"2.1\">\n<context>\n    <name>Window</name>\n"
        "    <message>\n        <location filename=\"a.cpp\" line=\"6\"/>\n        <source>&lt;b&gt;dog&lt;/b&gt; isn&apos;t %1\ntwo</source>\n"
        "        <comment>no</comment>\n        <translation type=\"unfinished\">&lt;b&gt;DOG&lt;/b&gt; ISN&apos;T %1\nTWO</translation>\n    </message>\n"
        "    <message numerus=\"yes\">\n        <source>%n dog(s)</source>\n        <translation type=\"unfinished\">\n"
        "            <numerusform>%n DOG(S)</numerusform>\n            <numerusform>da</numerusform>\n            <numerusform>%n DOG(S)</numerusform>\n        </translation>\n    </message>\n"
        "</context>\n</TS>\n",
        true},
    {"app.ts",
        "<TS version=\"2.1\" language=\"de_DE\"><context>\n"
        "    <message><source>old</source><translation type=\"vanished\"></translation></message>\n"
        "    <message><source>old</source><translation type=\"obsolete\"/></message>\n"
        "    <message><source>done</source><translation>da</translation></message>\n"
        "    <message><source>two</source><translation type=\"unfinished\"/></message>\n"
        "    <message><source>bell <byte value=\"x7\"/></source><translation type=\"unfinished\"></translation></message>\n"
        "    <message id=\"x\"><translation type=\"unfinished\"></translation></message>\n</context>\n</TS>\n",
        "<TS version=\"2.1\" language=\"de_DE\"><context>\n"
        "    <message><source>old</source><translation type=\"vanished\"></translation></message>\n"
        "    <message><source>old</source><translation type=\"obsolete\"/></message>\n"
        "    <message><source>done</source><translation>da</translation></message>\n"
        "    <message><source>two</source><translation type=\"unfinished\">TWO</translation></message>\n"
        "    <message><source>bell <byte value=\"x7\"/></source><translation type=\"unfinished\"></translation></message>\n"
        "    <message id=\"x\"><translation type=\"unfinished\"></translation></message>\n</context>\n</TS>\n",
        true},
    {"app.ts", "<TS language=\"fr_FR\"><message><source>dog</source><translation/></message></TS>",
        "<TS language=\"fr_FR\"><message><source>dog</source><translation>DOG</translation></message></TS>",
        true},
    /* .NET's resources and Apple's plurals. */
    {"a.resx",
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n<root>\r\n  <resheader name=\"version\"><value>two</value></resheader>\r\n"
        "  <data name=\"a\" xml:space=\"preserve\">\r\n    <value>one {0} &lt;b&gt;dog&lt;/b&gt;\r\n&amp;amp; two</value>\r\n"
        "    <comment>no dog</comment>\r\n  </data>\r\n  <data name=\"b\" type=\"System.Drawing.Size, System.Drawing\"><value>1, one</value></data>\r\n"
        "  <data name=\"c\" mimetype=\"application/x-microsoft.net.object.bytearray.base64\"><value>AA</value></data>\r\n"
        "  <data name=\"&gt;&gt;d.Name\"><value>one</value></data><data name=\">>d.Type\"><value>one</value></data>\r\n"
        "  <data name=\"e\" type=\"System.String\"><value><![CDATA[<i>dog</i>]]></value></data><data name=\"f\"><value/></data>\r\n"
        "  <data name=\"g\"><value><b>one</b></value></data></root>\r\n",
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n<root>\r\n  <resheader name=\"version\"><value>two</value></resheader>\r\n"
        "  <data name=\"a\" xml:space=\"preserve\">\r\n    <value>ONE {0} &lt;b&gt;DOG&lt;/b&gt;\r\n&amp;amp; TWO</value>\r\n"
        "    <comment>no dog</comment>\r\n  </data>\r\n  <data name=\"b\" type=\"System.Drawing.Size, System.Drawing\"><value>1, one</value></data>\r\n"
        "  <data name=\"c\" mimetype=\"application/x-microsoft.net.object.bytearray.base64\"><value>AA</value></data>\r\n"
        "  <data name=\"&gt;&gt;d.Name\"><value>one</value></data><data name=\">>d.Type\"><value>one</value></data>\r\n"
        "  <data name=\"e\" type=\"System.String\"><value><![CDATA[<i>DOG</i>]]></value></data><data name=\"f\"><value/></data>\r\n"
        "  <data name=\"g\"><value><b>one</b></value></data></root>\r\n",
        false},
    {"a.stringsdict",
        "<plist version=\"1.0\"><dict><key>dogs in %d</key><dict>\n<key>NSStringLocalizedFormatKey</key><string>at %#@dogs@ now</string>\n"
        "<key>dogs</key><dict><key>NSStringFormatSpecTypeKey</key><string>NSStringPluralRuleType</string>\n"
        "<key>NSStringFormatValueTypeKey</key><string>ld</string><key>one</key><string>%ld &amp; dog</string><key>zero</key><string></string>\n"
        "</dict></dict></dict></plist>\n",
        "<plist version=\"1.0\"><dict><key>dogs in %d</key><dict>\n<key>NSStringLocalizedFormatKey</key><string>AT %#@dogs@ NOW</string>\n"
        "<key>dogs</key><dict><key>NSStringFormatSpecTypeKey</key><string>NSStringPluralRuleType</string>\n"
        "<key>NSStringFormatValueTypeKey</key><string>ld</string><key>one</key><string>%ld &amp; DOG</string><key>zero</key><string></string>\n"
        "</dict></dict></dict></plist>\n",
        false},
    /* YAML as Rails has it: all styles, comments, anchors, values that are no strings. */
    {"en.yml",
        YAML("en", "'it''s a dog'", "a dog", "a dog\n\n      two:\n    three",
            "a\n    dog\n\n    two:\n      three\n    four",
            "one dog, \"a \\\"dog\\\" \\u00e9\", 'yes'"),
        YAML("de", "'IT''S A DOG'", "A DOG", "A DOG\n\n      TWO:\n    THREE",
            "A DOG\n\n    TWO:\n      THREE\n    FOUR", "ONE DOG, \"A \\\"DOG\\\" é\", 'YES'"),
        false},
    {"a.yaml", "a:\r\n- |2\r\n    one\r\n   two\r\n\r\n- x\r\n  y\r\n- \"x\r\n\r\n  y\"\r\n",
        "a:\r\n- |2\r\n    ONE\r\n   TWO\r\n\r\n- X Y\r\n- \"X\\nY\"\r\n", false},
    /* Names of languages are roots only if they are alone and have texts. */
    {"a.yml", "en: {a: dog}\nfr: {a: dog}\n", "en: {a: DOG}\nfr: {a: DOG}\n", false},
    {"a.yml", "en: dog\n", "en: DOG\n", false},
    {"a.yml", "xx:\n  en:\n    a: dog\n", "xx:\n  en:\n    a: DOG\n", false},
    {"a.yml", "'pt-BR':\n  a: dog\n", "'de':\n  a: DOG\n", false},
    {"a.yml", "? |-\n  en\n:\n  a: dog\n", "? |-\n  en\n:\n  a: DOG\n", false},
    {"a.yml", "- en:\n    a: dog\n", "- en:\n    a: DOG\n", false},
    {"a.yml", "%YAML 1.1\n---\nen: {a: one}\n---\nen: {a: two}\n",
        "%YAML 1.1\n---\nen: {a: ONE}\n---\nen: {a: TWO}\n", false},
    /* Names of texts in lists, as in Hugo and go-i18n. */
    {"en.yaml",
        "- id: dog\n  translation: a dog\n- {translation: two, id: 'two'}\n- a: {id: one}\n",
        "- id: dog\n  translation: A DOG\n- {translation: TWO, id: 'two'}\n- a: {id: ONE}\n",
        false},
    {"a.json", "[{\"id\": \"dog\", \"translation\": \"a dog\"}, {\"x\": {\"id\": \"two\"}}]",
        "[{\"id\": \"dog\", \"translation\": \"A DOG\"}, {\"x\": {\"id\": \"TWO\"}}]", false},
    {"a.json", "{\"id\": \"one\", \"x\": [\"id\", [\"two\"], {\"a\": \"b\", \"id\": [\"y\"]}]}",
        "{\"id\": \"ONE\", \"x\": [\"ID\", [\"TWO\"], {\"a\": \"B\", \"id\": [\"y\"]}]}", false},
    /* Xcode's catalogs: what the target language lacks, as the source language has it. */
    {"a.xcstrings",
        "{\"sourceLanguage\" : \"en\", \"strings\" : {\n"
        "    \"\" : {\n"
        "\n"
        "    },\n"
        "    \"a \\\"dog\\\"\" : {\n"
        "\n"
        "    },\n"
        "    \"b\" : {\"comment\" : \"dog\", \"shouldTranslate\" : true},\n"
        "    \"c\" : {\"localizations\" : {\n"
        "        \"en\" : {\"variations\" : {\"plural\" : {\"one\" : {\"stringUnit\" : {\"state\" : \"new\", \"value\" : \"%d dog\"}}, \"zero\" : {\"stringUnit\" : {\"state\" : \"new\", \"value\" : \"%d\"}}, \"other\" : {\"stringUnit\" : {\"state\" : \"new\", \"value\" : \"%d dogs\"}}}}},\n"
        "        \"fr\" : {}}},\n"
        "    \"d\" : {\"localizations\" : {\"de\" : {\"stringUnit\" : {\"state\" : \"translated\", \"value\" : \"x\"}}}},\n"
        "    \"e\" : {\"extractionState\" : \"stale\"}, \"f\" : {\"shouldTranslate\" : false}, \"g\" : {\"localizations\" : {}}}}\n",
        "{\"sourceLanguage\" : \"en\", \"strings\" : {\n"
        "    \"\" : {\n"
        "\n"
        "    },\n"
        "    \"a \\\"dog\\\"\" : {\n"
        "      \"localizations\" : {\n"
        "        \"de\" : {\n"
        "          \"stringUnit\" : {\n"
        "            \"state\" : \"needs_review\",\n"
        "            \"value\" : \"A \\\"DOG\\\"\"\n"
        "          }\n"
        "        }\n"
        "      }\n"
        "    },\n"
        "    \"b\" : {\"comment\" : \"dog\", \"localizations\" : {\n"
        "        \"de\" : {\n"
        "          \"stringUnit\" : {\n"
        "            \"state\" : \"needs_review\",\n"
        "            \"value\" : \"B\"\n"
        "          }\n"
        "        }\n"
        "      },\n"
        "      \"shouldTranslate\" : true},\n"
        "    \"c\" : {\"localizations\" : {\n"
        "        \"de\" : {\"variations\" : {\"plural\" : {\"one\" : {\"stringUnit\" : {\"state\" : \"needs_review\", \"value\" : \"%d DOG\"}}, \"zero\" : {\"stringUnit\" : {\"state\" : \"needs_review\", \"value\" : \"%d\"}}, \"other\" : {\"stringUnit\" : {\"state\" : \"needs_review\", \"value\" : \"%d DOGS\"}}}}},\n"
        "        \"en\" : {\"variations\" : {\"plural\" : {\"one\" : {\"stringUnit\" : {\"state\" : \"new\", \"value\" : \"%d dog\"}}, \"zero\" : {\"stringUnit\" : {\"state\" : \"new\", \"value\" : \"%d\"}}, \"other\" : {\"stringUnit\" : {\"state\" : \"new\", \"value\" : \"%d dogs\"}}}}},\n"
        "        \"fr\" : {}}},\n"
        "    \"d\" : {\"localizations\" : {\"de\" : {\"stringUnit\" : {\"state\" : \"translated\", \"value\" : \"x\"}}}},\n"
        "    \"e\" : {\"extractionState\" : \"stale\"}, \"f\" : {\"shouldTranslate\" : false}, \"g\" : {\"localizations\" : {\n"
        "        \"de\" : {\n"
        "          \"stringUnit\" : {\n"
        "            \"state\" : \"needs_review\",\n"
        "            \"value\" : \"G\"\n"
        "          }\n"
        "        }\n"
        "      }}}}\n",
        true},
    /* PO's keywords on lines of their own, and its line ends. */
    {"a.po",
        "msgid\r\n\"a dog\\n\"\r\n\"two\\n\"\r\nmsgstr\r\n\"\"\r\nmsgid \"b\"\r\nmsgid_plural\r\n\"dogs\"\r\nmsgstr[0]\r\n\"x\"\r\nmsgstr[1]\r\n\"\"\r\nmsgstr\r\n",
        "msgid\r\n\"a dog\\n\"\r\n\"two\\n\"\r\nmsgstr\r\n\"\"\r\n\"A DOG\\n\"\r\n\"TWO\\n\"\r\nmsgid \"b\"\r\nmsgid_plural\r\n\"dogs\"\r\nmsgstr[0]\r\n\"x\"\r\nmsgstr[1]\r\n\"DOGS\"\r\nmsgstr\r\n",
        true},
    /* Flutter refuses a file whose language is not that of its name. */
    {"a.arb", "{\"@@locale\": \"en_US\", \"a\": \"dog\", \"@a\": {\"@@locale\": \"x\"}}",
        "{\"@@locale\": \"de\", \"a\": \"DOG\", \"@a\": {\"@@locale\": \"x\"}}", false},
    {"a.arb", "{\"@@locale\": {\"x\": \"dog\"}, \"@@x\": \"en\", \"a\": [\"dog\"]}",
        "{\"@@locale\": {\"x\": \"dog\"}, \"@@x\": \"en\", \"a\": [\"DOG\"]}", false},
    /* Entries with notes for translators: of browser extensions, and of FormatJS. */
    {"messages.json",
        "{\"a\": {\"message\": \"a $DOG$\", \"description\": \"a dog\", \"placeholders\": {\"dog\": "
        "{\"content\": \"no $1\", \"example\": \"Rex\"}}},\n \"message\": {\"description\": \"x\", \"message\": \"two\"}}",
        "{\"a\": {\"message\": \"A $DOG$\", \"description\": \"a dog\", \"placeholders\": {\"dog\": "
        "{\"content\": \"no $1\", \"example\": \"Rex\"}}},\n \"message\": {\"description\": \"x\", \"message\": \"TWO\"}}",
        false},
    {"a.json", "{\"x1\": {\"defaultMessage\": \"a dog\", \"description\": {\"text\": \"no dog\"}}}",
        "{\"x1\": {\"defaultMessage\": \"A DOG\", \"description\": {\"text\": \"no dog\"}}}",
        false},
    /* The same names in other files. */
    {"a.json", "{\"a\": {\"message\": \"a\", \"title\": \"b\", \"description\": \"c\"}}",
        "{\"a\": {\"message\": \"A\", \"title\": \"B\", \"description\": \"C\"}}", false},
    {"a.json", "{\"a\": {\"message\": \"a\", \"description\": \"c\"}, \"b\": \"d\"}",
        "{\"a\": {\"message\": \"A\", \"description\": \"C\"}, \"b\": \"D\"}", false},
    {"a.json", "[{\"message\": \"a\", \"description\": \"c\"}]",
        "[{\"message\": \"A\", \"description\": \"C\"}]", false},
    /* Patterns of dates stay, words of such letters do not. */
    {"a.json",
        "[\"dd/MM/yyyy\", \"yyyy-MM-dd'T'HH:mm:ss.SSSZ\", \"dddd, MMMM Do YYYY, h:mm:ss a\", \"[at] LLLL\", "
        "\"yyyyMMdd-HHmmss\", \"EEE, MMM d, ''yy\", \"hh:mma\", \"YYYY-MM-DDTHH:mm\", \"%A, %-d %B %Y %H:%M\"]",
        "[\"dd/MM/yyyy\", \"yyyy-MM-dd'T'HH:mm:ss.SSSZ\", \"dddd, MMMM Do YYYY, h:mm:ss a\", \"[at] LLLL\", "
        "\"yyyyMMdd-HHmmss\", \"EEE, MMM d, ''yy\", \"hh:mma\", \"YYYY-MM-DDTHH:mm\", \"%A, %-d %B %Y %H:%M\"]",
        false},
    {"a.json",
        "[\"d/m/Y\", \"F j, Y\", \"D, d M y - H:i\", \"Y/N\", \"y/n\", \"n/a\", \"H\", \"Add\", \"hmm\", \"d\", \"a dd/MM/yyyy date\", \"it's mm\", \"Mass\", \"[mm\", \"sshd\", \"[at] a\", \"% d\", \"%Bad\", \"%s: %B\", \"%d %s\"]",
        "[\"d/m/Y\", \"F j, Y\", \"D, d M y - H:i\", \"Y/N\", \"Y/N\", \"N/A\", \"H\", \"ADD\", \"HMM\", \"D\", \"A DD/MM/YYYY DATE\", \"IT'S MM\", \"MASS\", \"[MM\", \"SSHD\", \"[AT] A\", \"% D\", \"%BAD\", \"%s: %B\", \"%d %s\"]",
        false},
    {"strings.xml",
        "<resources><string>MMM dd, yyyy</string><string>H:mm\\'h\\'</string></resources>",
        "<resources><string>MMM dd, yyyy</string><string>H:mm\\'h\\'</string></resources>", false},
    {"a.properties", "date=d MMMM yyyy\nday=EEEE\nadd=Add\n",
        "date=d MMMM yyyy\nday=EEEE\nadd=ADD\n", false},
    {"a.po", "msgid \"a dog\\a\\v \\z\"\nmsgstr \"\"\n",
        "msgid \"a dog\\a\\v \\z\"\nmsgstr \"A DOG\\a\\v Z\"\n", true},
    {"a.strings", "a = \"dog\\a\";", "a = \"DOG\\a\";", false},
    /* Bytes by their numbers; \377 is no character. */
    {"a.po", "msgid \"caf\\303\\251 \\xC3\\xA9 \\033[1m dog \\033[0m \\377 \\0a\"\nmsgstr \"\"\n",
        "msgid \"caf\\303\\251 \\xC3\\xA9 \\033[1m dog \\033[0m \\377 \\0a\"\n"
        "msgstr \"CAFé é \\033[1m DOG \\033[0m 377 0A\"\n",
        true},
    /* What xgettext leaves open; what is said stays. */
    {"a.pot",
        "msgid \"\"\nmsgstr \"\"\n\"Language: \\n\"\n\"Plural-Forms: nplurals=INTEGER; plural=EXPRESSION;\\n\"\n\nmsgid \"dog\"\nmsgstr \"\"\n",
        "msgid \"\"\nmsgstr \"\"\n\"Language: de\\n\"\n\"Plural-Forms: nplurals=2; plural=(n != 1);\\n\"\n\nmsgid \"dog\"\nmsgstr \"DOG\"\n",
        true},
    {"a.po",
        "msgid \"\"\nmsgstr \"Language: fr\\n\"\n\"Language-Team: \\n\"\n\"Plural-Forms: nplurals=2; plural=(n > 1);\\n\"\n\nmsgid \"Language: \\n\"\nmsgstr \"\"\n",
        "msgid \"\"\nmsgstr \"Language: fr\\n\"\n\"Language-Team: \\n\"\n\"Plural-Forms: nplurals=2; plural=(n > 1);\\n\"\n\nmsgid \"Language: \\n\"\nmsgstr \"LANGUAGE: \\n\"\n",
        true},
    /* msgstr[0] of one number only, of all numbers, and of 1, 21, 31, ... */
    {"a.po",
        PLURAL_FORMS("nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 ? 1 : 2);", "", "", ""),
        PLURAL_FORMS("nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 ? 1 : 2);", "ONE DOG",
            "%d DOG", "THAT DOG"),
        true},
    {"a.po", PLURAL_FORMS("nplurals=1; plural=0;", "", "", ""),
        PLURAL_FORMS("nplurals=1; plural=0;", "%d DOGS", "%d DOGS", "THOSE DOGS"), true},
    {"a.po", PLURAL_FORMS("nplurals=3; plural=(n % 10 == 1 && n % 100 != 11 ? 0 : 1);", "", "", ""),
        PLURAL_FORMS("nplurals=3; plural=(n % 10 == 1 && n % 100 != 11 ? 0 : 1);", "%d DOGS",
            "%d DOG", "THAT DOG"),
        true},
};

static void examples(void **state)
{
    (void)state;
    check_examples(cases, sizeof cases / sizeof *cases);
}

/* A template for a language with other plural forms than English. */
static void plural_forms_of_templates(void **state)
{
    static const char head[] =
        "msgid \"\"\nmsgstr \"\"\n\"Language: %s\\n\"\n\"Plural-Forms: %s\\n\"\n",
                      id[] = "\nmsgid \"a dog\"\nmsgid_plural \"%d dogs\"\n",
                      file[] = "msgid \"\"\nmsgstr \"\"\n\"Language: \\n\"\n"
                               "\"Plural-Forms: nplurals=INTEGER; plural=EXPRESSION;\\n\"\n\n"
                               "msgid \"a dog\"\nmsgid_plural \"%d dogs\"\nmsgstr[0] \"\"\n"
                               "msgstr[1] \"\"\n\nmsgid \"12\"\nmsgid_plural \"12\"\n"
                               "msgstr[0] \"\"\nmsgstr[1] \"\"";
    static const struct {
        const char *target, *forms, *dogs, *numbers;
    } targets[] = {
        {"pl",
            "nplurals=3; plural=(n==1 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || n%100>=20) ? 1 : "
            "2);",
            "msgstr[0] \"A DOG\"\nmsgstr[1] \"%d DOGS\"\nmsgstr[2] \"%d DOGS\"\n",
            "msgstr[0] \"\"\nmsgstr[1] \"\"\nmsgstr[2] \"\""},
        {"ru",
            "nplurals=3; plural=(n%10==1 && n%100!=11 ? 0 : n%10>=2 && n%10<=4 && (n%100<10 || "
            "n%100>=20) ? 1 : 2);",
            "msgstr[0] \"%d DOGS\"\nmsgstr[1] \"%d DOGS\"\nmsgstr[2] \"%d DOGS\"\n",
            "msgstr[0] \"\"\nmsgstr[1] \"\"\nmsgstr[2] \"\""},
        {"ja", "nplurals=1; plural=0;", "msgstr[0] \"%d DOGS\"\n", "msgstr[0] \"\""},
        {"fr", "nplurals=2; plural=(n > 1);", "msgstr[0] \"A DOG\"\nmsgstr[1] \"%d DOGS\"\n",
            "msgstr[0] \"\"\nmsgstr[1] \"\""},
        {"ar", "nplurals=INTEGER; plural=EXPRESSION;",
            "msgstr[0] \"A DOG\"\nmsgstr[1] \"%d DOGS\"\n", "msgstr[0] \"\"\nmsgstr[1] \"\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        struct dg_error err = {0};
        struct dg_buffer want;
        size_t n;
        char *got = translated_into(targets[i].target, "a.pot", file, sizeof file - 1, true,
            &dg_extract_limits_default, &n, &err);
        dg_buffer_init(&want);
        dg_buffer_addf(&want, head, targets[i].target, targets[i].forms);
        dg_buffer_adds(&want, id);
        dg_buffer_adds(&want, targets[i].dogs);
        dg_buffer_adds(&want, "\nmsgid \"12\"\nmsgid_plural \"12\"\n");
        dg_buffer_adds(&want, targets[i].numbers);
        assert_non_null(got);
        assert_string_equal(got, want.data);
        dg_buffer_deinit(&want);
        free(got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples), cmocka_unit_test(plural_forms_of_templates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
