/* text/protected/protected.h: text that stays unchanged in every language. */
#include "tests/unit/protected_spans.h"
#include "text/placeholder_program.h"

#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void addresses(void **state)
{
    (void)state;
    expect("See https://example.org/a?b=c#d, or (http://x.org/y).",
        "<https://example.org/a?b=c#d><http://x.org/y>");
    expect(
        "“https://example.org” « www.example.org/ü »", "<https://example.org><www.example.org/ü>");
    expect("HTTP://EXAMPLE.ORG! ftp://x.org", "<HTTP://EXAMPLE.ORG><ftp://x.org>");
    expect(
        "See https://x.org/Foo_ and *https://x.org/a_b*", "<https://x.org/Foo><https://x.org/a_b>");
    expect("https://x.org/Foo_(bar), (https://x.org/Foo_(bar))",
        "<https://x.org/Foo_(bar)><https://x.org/Foo_(bar)>");
    expect(
        "ssh://git@x.org/y mailto:a@b.org tel:+491234 localhost:8080/x 10.0.0.1:80 example.org/a?b=c.",
        "<ssh://git@x.org/y><mailto:a@b.org><tel:+491234><localhost:8080/x><10.0.0.1:80><example.org/a?b=c>");
    expect("jürgen@müller.de 写信anna@b.org", "<jürgen@müller.de><anna@b.org>");
    expect("localhost: 1.2.3 1.234.567,8 10.11.2024", "<1.234.567,8>");
    expect("192.168.100.200, 1.234.567.890 or 1.2.3.256", "<192.168.100.200><1.234.567.890>");
    expect("https:// is nothing, www. neither, xhttp://y.org", "");
    expect("Write to anna.b+c@mail.example.org.", "<anna.b+c@mail.example.org>");
    expect("(anna@example.org), a@b, @, a @ b.c", "<anna@example.org>");
    expect("Ask @anna_b. And @otto, mail@", "<@anna_b><@otto>");
    expect("See #Berlin, #TravelTips! (#köln) #a2, #1 #1a C#dur &#x27; ##no # a #a b#c",
        "<#Berlin><#TravelTips><#köln><#a2><&#x27;>");
    expect("Bob <bob@x.org> wrote:", "<<bob@x.org>>");
    expect("to Bob<bob@x.org>;<https://x.org/a?b>, <mailto:b@x.org>",
        "<<bob@x.org>><<https://x.org/a?b>><<mailto:b@x.org>>");
    expect("<bob@x.org <@b> <a@b> <", "<bob@x.org><@b>");
}

static void code_numbers(void **state)
{
    (void)state;
    expect("Tel. +49 (0)30 / 28 47 10 22, fax 030/28471084.",
        "<+49 (0)30 / 28 47 10 22><030/28471084>");
    expect("Call (555) 123-4567, 513-555-5555 or 1-800-555-1234 at 10 am.",
        "<(555) 123-4567><513-555-5555><1-800-555-1234>");
    expect("Le 06 37 38 15 55 ou 01.23.45.67.89, SIRET 123 456 789 00012",
        "<06 37 38 15 55><01.23.45.67.89><123 456 789 00012>");
    expect("le 06\u00A037\u00A038\u00A015\u00A055", "<06\u00A037\u00A038\u00A015\u00A055>");
    expect("Order 3235606106, ISBN 978-3-16-148410-0.", "<3235606106><978-3-16-148410-0>");
    expect("IBAN: DE89 3704 0044 0532 0130 00 or AT611904300234573201. BIC COBADEFF",
        "<DE89 3704 0044 0532 0130 00><AT611904300234573201>");
    expect("0800 123 4567 or 030 1234567 2nd", "<0800 123 4567><030 1234567>");
    expect("SIREN 123 456 789, ID: 123\u00a0456\u00a0789, n° 123 456 789, No. 123 456 789",
        "<123 456 789><123\u00a0456\u00a0789><123 456 789><123 456 789>");
    expect("3.14159265 0,123456789 52.520008 ÄRZTE 123 456", "");
    expect("01/02/2024 10:30, 2024-02-01 10 am, 1.2.2024 - 3.2.2024, 9:00-17:00, in 2010-2012", "");
    expect("20-30, 24/7, (2024), +5, 0.5, 12345678th", "");
}

static void amounts(void **state)
{
    (void)state;
    expect("€1,250.00 or 19,90 €, £450, US$ 1,250, EUR 99.00, 99 CHF.",
        "<€1,250.00><19,90 €><£450><US$ 1,250><EUR 99.00>");
    expect("$5/month, 5 €/mois ($60/yr), 1 250,00\u00a0€ TTC", "<$5><5 €><$60><1 250,00\u00a0€>");
    expect("It cost $3.2bn, €12.5M, US$5k or £1.5m.", "<$3.2bn><€12.5M><US$5k><£1.5m>");
    expect("12,5 M€ et 3\u202f500 k€, soit 3,2 Md€.", "<12,5 M€><3\u202f500 k€><3,2 Md€>");
    expect("Tickets: $20-$30, £15.50–£22.75, 5 € - 10 € (5€-10€).",
        "<$20-$30><£15.50–£22.75><5 € - 10 €><5€-10€>");
    expect("$1,000,000-$2,000,000, $1M-$2M/year", "<$1,000,000-$2,000,000><$1M-$2M>");
    expect("$5, 5 €, $20-30, 20-30 €, $5 minus $3, £300more, 12 M, 5 k, 3 m - 4 m", "");
    expect("$100 million, $3.25 billion, 300 € Mio., 3,25 Mrd. €, £100 thousand, $5/6", "");
    expect("Nur 5,- €, 500,-€, 20,– EUR, CHF 20.-, 3,-- €; 5,- 7.",
        "<5,- €><500,-€><20,– EUR><CHF 20.-><3,-- €>");
    expect(
        "Refund: -$45.00, (−45,00 €) and -€1.2M; 5 -$3, a-$45.00", "<-$45.00><−45,00 €><-€1.2M>");
    expect("5 €/kg, $5/kg, 0.5 ml/kg, 10mg/kg. 5/kg 5 €/kgs km/kg",
        "<5 €/kg><$5/kg><0.5 ml/kg><10mg/kg><5 €>");
    expect("A$ or B€, M€ 5, $-500, €, EUROPE 2024, EUR12500,50,", "<EUR12500,50>");
}

static void large_numbers(void **state)
{
    (void)state;
    expect("5 000 000 - 6 000 000, 1,234,567 people, 1 234 567,50 or 1'234'567.",
        "<5 000 000><6 000 000><1,234,567><1 234 567,50><1'234'567>");
    expect("12.345.678 km; 1\u00a0234\u00a0567,5\u00a0t (1\u202f234\u202f567), Anno 123 456 789",
        "<12.345.678><1\u00a0234\u00a0567,5><1\u202f234\u202f567><123 456 789>");
    expect("123,456 1,234,5678 12,34,567,890 0,123,456 1,234.567 1,234,567th 1 234 567 8", "");
}

static void identifiers(void **state)
{
    (void)state;
    expect("Commit 9f86d08 and 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b.",
        "<9f86d08><9f86d081884c7d659a2feaa0c55ad015a3bf4f1b>");
    expect("550e8400-e29b-41d4-a716-446655440000, be:a9:c1:0b:0c:c2 2A-4F",
        "<550e8400-e29b-41d4-a716-446655440000><be:a9:c1:0b:0c:c2>");
    expect("fdf190530491 or added12", "<fdf190530491>");
    expect("Nr. AB-12345-X, l'INV-2024-00123, WDB1234561A123456! DE123456789; D-10115 Berlin",
        "<AB-12345-X><INV-2024-00123><WDB1234561A123456><DE123456789><D-10115>");
    expect("A1234567890, B_0301234567, 2024-RE-00123, B0GZ44Y6, pu0M069vE6SDse16",
        "<A1234567890><B_0301234567><2024-RE-00123><B0GZ44Y6><pu0M069vE6SDse16>");
    expect("doi:10.1000/xyz123. DOI: 10.1038/s41586-020-2649-2; arXiv:2101.00001, 10.5/3",
        "<doi:10.1000/xyz123><10.1038/s41586-020-2649-2><arXiv:2101.00001>");
    expect("DE12, COVID19 IN 2019 AND COVID-19, 500GB, 10000KM, 10AM-12PM, 10:30AM, the 1990s", "");
    expect("face-2-face, a 1000-bed house, 20h30, 20h30-22h15, 1990er-Jahre, 5000-Meter-Lauf", "");
    expect("WM-2018 ISO-9001 A380 MP3 H2O Windows10 INV-2024-00123-Brief GERÄT12345", "");
}

static void emoticons(void **state)
{
    (void)state;
    expect(
        "Hi :-) ;) :( :D :'( =)\n:-/ so :))), or :P!", "<:-)><;)><:(><:D><:'(><=)><:-/><:)))><:P>");
    expect("(see it :) now) (a) :)", "<:)>");
    expect("a:) b :)c 3:(4) :x :| x =1 : ) see:", "");
}

static void names_of_programs(void **state)
{
    (void)state;
    expect("Call parseInt with foo_bar, MAX_VALUE or my_2nd_name.",
        "<parseInt><foo_bar><MAX_VALUE><my_2nd_name>");
    expect(
        "getElementById() print(), a.fontSize (onClick)", "<getElementById()><print()><onClick>");
    expect("iPhone YouTube mmHg macOS eBay kWh GmbH PhD studentInnen McDonald file(s) f() ()", "");
    expect("_really_ so _ x_ _y a__b b_c Pre_ferences pH mRNA größeRe straßenName", "");
}

/* Laravel's translation of "[1,19] some" said "[1.19] einige", which it does not read. */
static void intervals_of_programs(void **state)
{
    static const struct {
        const char *text;
        size_t begin, end;
    } cases[] = {{"[1,19] some", 0, 6}, {"none | [20,*] many", 7, 13}, {"]0,Inf[ x", 0, 7},
        {"[ -1 , 2 ]", 0, 10}, {"a [1,2]", 0, 0}, {"[1;2]", 0, 0}, {"[1,2", 0, 0}, {"[,2]", 0, 0},
        {"[1,]", 0, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t begin;
        const size_t n = strlen(cases[i].text),
                     end = dg_placeholder_program_next(cases[i].text, 0, n, n, &begin);
        assert_int_equal(end, cases[i].end);
        assert_int_equal(end ? begin : 0, cases[i].begin);
    }
}

static void spans_of_programs(void **state)
{
    static const char *const texts[] = {
        "$$5...", "$$5.,.x", "$$5", "$$1,250.50.", "$1", "~s ", "~p.", "!place, ", "!my_name"};
    static const size_t ends[] = {3, 3, 3, 10, 2, 2, 2, 6, 8};
    static const char *const none[] = {
        "~5", "~so", "~s/x", "a~s", "~~s", "hey!you", "! so", "!!ab", "!Yes", "!a"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        size_t begin;
        const size_t n = strlen(texts[i]);
        assert_int_equal(dg_placeholder_program_next(texts[i], 0, n, n, &begin), ends[i]);
        assert_int_equal(begin, 0);
    }
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        size_t begin;
        const size_t n = strlen(none[i]);
        if (dg_placeholder_program_next(none[i], 0, n, n, &begin))
            fail_msg("%s has a placeholder", none[i]);
    }
}

static void fillers(void **state)
{
    (void)state;
    expect("Name: ______, Vorname____ (Ort ....... Datum ………)", "<______><____><.......><………>");
    expect("Hunde . . . . . . 5, _ _ _ _ _, ---------- Re ----------",
        "<. . . . . .><_ _ _ _ _><----------><---------->");
    expect("====== Title ====== *****!", "<======><======><*****>");
    expect("Na ja..... gut ... -- --- *** … …… _a_ - - -x __", "");
}

static void files(void **state)
{
    (void)state;
    expect("Open config.txt or my-notes.v2.pdf, not \"x.html\".",
        "<config.txt><my-notes.v2.pdf><x.html>");
    expect("booking.com, e.g. this, z.B. das, at 5 p.m. End.Begin 3.5 1.000,5 .txt a.b",
        "<booking.com>");
    expect("config.txtual überconfig.txta", "");
    expect("See /etc/hosts, ~/x.y, ./run.sh and C:\\Users\\anna\\x.txt.",
        "</etc/hosts><~/x.y><./run.sh><C:\\Users\\anna\\x.txt>");
    expect("src/main.c and Übersicht.pdf and/or km/h w/o 1/2", "<src/main.c><Übersicht.pdf>");
    expect("photo-10×15.jpg --file=src/main.c a/b=src/x.py /a?f=src/x.py 5×https://x.org",
        "<photo-10×15.jpg><src/main.c><a/b=src/x.py><src/x.py><https://x.org>");
}

/* A long query belongs to its address. */
static void long_addresses(void **state)
{
    (void)state;
    char query[700], text[900], wanted[900];
    memset(query, 'x', sizeof query);
    memcpy(query, "?a=b&c/", strlen("?a=b&c/"));
    query[sizeof query - 1] = '\0';
    static const char *const before[] = {"See ", "(", "url=", "写信"};
    for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
        snprintf(text, sizeof text, "%sshop.example.com/item%s, please", before[i], query);
        snprintf(wanted, sizeof wanted, "<shop.example.com/item%s>", query);
        expect(text, wanted);
        snprintf(text, sizeof text, "%ssrc/%s/main.c, please", before[i], query);
        snprintf(wanted, sizeof wanted, "<src/%s/main.c>", query);
        expect(text, wanted);
    }
}

static void placeholders(void **state)
{
    (void)state;
    expect("{link}book{/link}, {/0}, {/}, {/ a}", "<{link}><{/link}><{/0}>");
    expect("Click %1$shere%2$s, %2$@x%1$d, %shere", "<%1$s><%2$s><%2$@><%1$d>");
    expect("%s has %d of %1$s, %.2f and %(name)s", "<%s><%d><%1$s><%.2f><%(name)s>");
    expect("%*s has %'d of %-*.*f, %,.2f: %m", "<%*s><%'d><%-*.*f><%,.2f><%m>");
    expect("%1% of %12%, %|3$s| and %|1$+5|; %|a b", "<%1%><%12%><%|3$s|><%|1$+5|>");
    expect("Dear %name%, %count.all% of %d% a, %of %s%% %lu%%, 10%of%, 5 %; 6 %",
        "<%name%><%count.all%><%d><%s><%%><%lu><%%>");
    expect("%#@dogs@ and %1$#@dogs@, %#@ x", "<%#@dogs@><%1$#@dogs@><%#@>");
    expect(
        "$t(dogs, {\"a\": {{b}} }), $total(x), $t (x)", "<$t(dogs, {\"a\": {{b}} })><$total><$t>");
    expect("$NAME$ has $a$, $b$c, $d${e} and $5$ US$", "<$NAME$><$a$><$b><$d><${e}>");
    expect("%{a} <%{b}> <%s> <%{c} d> <% {e}", "<%{a}><<%{b}>><<%s>><%{c}><{e}>");
    expect("@:a.b, @.lower:a-b. a@:b @: c @.x y", "<@:a.b><@.lower:a-b>");
    expect("a\ab", "<\a>");
    expect("\x1B[1;31mred\x1B[0m, \x1B \x1B[a", "<\x1B[1;31m><\x1B[0m><\x1B><\x1B[a>");
    expect("100% sure, 50%d, 5 % des, %zzz, 20 %", "");
    expect("Hello {name}, {{user.name}}, ${PATH}, {0}!", "<{name}><{{user.name}}><${PATH}><{0}>");
    expect("{ a }, {a b}, $5, {x, a{b", "");
    expect("Hi {{ x }}, {{#if a}}{{/if}} {{{raw}}} {% for a in b %} <%= x %>!",
        "<{{ x }}><{{#if a}}><{{/if}}><{{{raw}}}><{% for a in b %}><<%= x %>>");
    expect("Dear :name, $user or #{user} (:smile:), not :D, 10:30, a::b or note: this",
        "<:name><$user><#{user}><:smile:><:D>");
    expect("%d%% of %ld, %zu and %-5.2f; %{name}, %<n>d, %@",
        "<%d><%%><%ld><%zu><%-5.2f><%{name}><%<n>d><%@>");
    expect("{$name} { $name } { -brand-name } { $ } {-} { $a b }",
        "<{$name}><{ $name }><{ -brand-name }><$a>");
    expect("{} {0:N2} {name!r} {n, plural, one {# file} other {# files}} left",
        "<{}><{0:N2}><{name!r}><{n, plural, one {# file} other {# files}}>");
    expect("a&nbsp;b &#39; &amp; R&D; AT&T; x & y; __NAME__ __init__",
        "<&nbsp;><&#39;><&amp;><__NAME__>");
    expect("[[1]] dogs, @@PH0@@ ##2## $$3$$ <<VAR_4>> ^^5^^ ⟦6⟧ 【E7】 ⟨/8⟩",
        "<[[1]]><@@PH0@@><##2##><$$3$$><<<VAR_4>>><^^5^^><⟦6⟧><【E7】><⟨/8⟩>");
    expect("[[Note]] ## 1 ## [[1] [[[1]]] << a1 >> ⟦a⟧ ⟦1⟩ 「1」 a[[ ⟦", "");
    expect("Dear *|FNAME|*, *|IF:AGE > 2|*yes*|END:IF|* a *| b",
        "<*|FNAME|*><*|IF:AGE > 2|*><*|END:IF|*>");
    expect("Dear %%First_Name%%, 100%% or %%a b%%", "<%%First_Name%%><%%><%%><%%>");
    expect("a :material-account-circle: b (:octicons-x-24:) :name-of a:b-c: :a1-b :ab-c d:",
        "<:material-account-circle:><:octicons-x-24:><:name><:a1><:ab>");
}

static void emoji(void **state)
{
    (void)state;
    expect("I love you 😀", "<😀>");
    expect("👍🏽👩‍👩‍👧 yes ❤️, 🇩🇪.",
        "<👍🏽👩‍👩‍👧><❤️><🇩🇪>");
    expect("© ™ ☺ 1 # * é 日本", "");
    expect("1\uFE0F\u20E3 #\u20E3*\uFE0F\u20E3😀, 1\uFE0F a\u20E3",
        "<1\uFE0F\u20E3><#\u20E3*\uFE0F\u20E3😀>");
    expect("England \U0001F3F4\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F! "
           "\U000E0067",
        "<\U0001F3F4\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F>");
}

/* Nothing is read beyond the end, whatever the bytes; time grows linearly with length. */
static void anything(void **state)
{
    (void)state;
    static const char signs[] = "a.%@{}$(h1/:w-_ +\"";
    unsigned random = 7;
    for (int round = 0; round < 3000; round++) {
        size_t n = (size_t)(round % 40), begin, end = 0;
        char *s = malloc(n ? n : 1); /* a block of exact size: a read beyond it is found */
        assert_non_null(s);
        for (size_t i = 0; i < n; i++) {
            random = random * 1664525 + 1013904223;
            s[i] = signs[(random >> 16) % (sizeof signs - 1)];
        }
        while ((end = dg_protected_next(NULL, s, n, end, &begin)) > 0)
            assert_true(begin < end && end <= n);
        free(s);
    }
    for (size_t k = 0; signs[k]; k++) {
        size_t n = 1 << 20, begin;
        char *s = malloc(n);
        assert_non_null(s);
        for (size_t i = 0; i < n; i++)
            s[i] = i % 2 ? signs[k] : 'a';
        for (size_t end = 0; (end = dg_protected_next(NULL, s, n, end, &begin)) >
                             0;) /* in quadratic time it would not end */
            assert_true(begin < end && end <= n);
        free(s);
    }
    size_t n = 1 << 20, begin;
    char *s = malloc(n);
    assert_non_null(s);
    for (size_t i = 0; i < n; i++)
        s[i] = i + 1 < n ? "(www.a"[i % 6] : '_';
    assert_int_equal(dg_protected_next(NULL, s, n, 0, &begin), n - 1);
    free(s);
}

/* Searches a word of 128 KiB: `part` again and again, and `last` at its end. */
static void expect_soon(const char *part, const char *last)
{
    const size_t n = 1 << 17, len = strlen(part), tail = strlen(last);
    char *s = malloc(n);
    assert_non_null(s);
    const size_t whole = (n - tail) / len * len;
    for (size_t i = 0; i < whole; i++)
        s[i] = part[i % len];
    memcpy(s + whole, last, tail);
    const uint64_t start = dg_clock_cpu_ns();
    for (size_t begin, end = 0; (end = dg_protected_next(NULL, s, whole + tail, end, &begin)) > 0;)
        assert_true(begin < end && end <= whole + tail);
    /* 0.1 s; if each start were looked at to the end of the word, 4 to 30 */
    assert_true(dg_clock_cpu_ns() - start < 2000000000u);
    free(s);
}

/* No search for an address looks at the rest of a long word from each of its parts. */
static void long_words(void **state)
{
    (void)state;
    expect_soon("a/b=", "");
    expect_soon("a/?", "");
    expect_soon("a/b#c.txt&", "/d"); /* files are found in it */
    expect_soon("a.io/?", "b日");    /* each would be one, but for the letter that follows */
    expect_soon("a×", "");
    expect_soon("ǃ", "");
    expect_soon("a=./b&", "");
    expect_soon("a=", "/b");
    expect_soon("a=b/c-d", "");
    expect_soon("a/b ", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(addresses), cmocka_unit_test(code_numbers),
        cmocka_unit_test(amounts), cmocka_unit_test(large_numbers), cmocka_unit_test(identifiers),
        cmocka_unit_test(emoticons), cmocka_unit_test(names_of_programs),
        cmocka_unit_test(spans_of_programs), cmocka_unit_test(intervals_of_programs),
        cmocka_unit_test(fillers), cmocka_unit_test(files), cmocka_unit_test(long_addresses),
        cmocka_unit_test(placeholders), cmocka_unit_test(emoji), cmocka_unit_test(anything),
        cmocka_unit_test(long_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
