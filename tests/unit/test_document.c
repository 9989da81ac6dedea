/* Documents split into running text, marks and gaps. For any text, these three together restore the
 * document, byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "text/format/document.h"

static void open_document(const char *text, enum dg_format format, struct dg_document *l)
{
    struct dg_error err = {0};
    if (dg_document_open(text, strlen(text), format, l, &err))
        fail_msg("%s", err.message);
}

/* Checks that a unit's text and marks follow one another without gaps; returns where they end. */
static size_t check_unit(
    const char *text, size_t n, const struct dg_document *l, const struct dg_unit *u)
{
    size_t source = u->source, at = u->at;
    assert_true(u->end > u->at && u->end <= l->text.len);
    for (size_t k = 0; k <= u->n_marks; k++) {
        const struct dg_mark *m = k < u->n_marks ? &l->marks[u->mark + k] : NULL;
        size_t to = m ? m->at : u->end;
        assert_true(to >= at && to <= u->end);
        assert_memory_equal(text + source, l->text.data + at, to - at);
        source += to - at;
        at = to;
        if (!m)
            continue;
        assert_int_equal(m->begin, source);
        if (m->kind == DG_MARK_PROTECTED) /* sentences are trimmed: none at its ends */
            assert_true(
                m->len > 0 && l->text.data[at] != ' ' && l->text.data[at + m->len - 1] != ' ');
        assert_true(m->end >= m->begin && m->end <= n);
        assert_true(dg_document_source(l, u, at + m->len, true) >= m->end);
        source = m->end;
        at += m->len;
    }
    assert_int_equal(dg_document_source(l, u, u->end, true), source);
    return source;
}

/* True if a unit from begin to end is within one of u's marks. */
static bool is_inner(const struct dg_document *l, const struct dg_unit *u, size_t begin, size_t end)
{
    for (size_t k = 0; k < u->n_marks; k++) {
        const struct dg_mark *m = &l->marks[u->mark + k];
        if (m->begin <= begin && end <= m->end)
            return true;
    }
    return false;
}

static const struct dg_document *sorted;

/* Sorts outer units before inner ones. */
static int by_source(const void *a, const void *b)
{
    const struct dg_unit *x = a, *y = b;
    size_t ends[2] = {
        dg_document_source(sorted, x, x->end, true), dg_document_source(sorted, y, y->end, true)};
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return ends[0] > ends[1] ? -1 : ends[0] < ends[1];
}

/* Checks that units are disjoint, or within a mark of another. */
static void check_whole(const char *text, size_t n, const struct dg_document *l, bool lines)
{
    size_t source = 0, at = 0;
    const struct dg_unit *outer = NULL;
    struct dg_unit *units = malloc((l->n_units + 1) * sizeof *units);
    for (size_t i = 0; i < l->n_units; i++) {
        const struct dg_unit *u = units + i;
        units[i] = l->units[i];
        assert_int_equal(u->at, at);
        at = u->end;
        assert_true(check_unit(text, n, l, u) <= n);
        assert_true(lines || !memchr(l->text.data + u->at, '\n', u->end - u->at));
    }
    assert_int_equal(at, l->text.len);
    sorted = l;
    qsort(units, l->n_units, sizeof *units, by_source);
    for (size_t i = 0; i < l->n_units; i++) {
        size_t end = dg_document_source(l, &units[i], units[i].end, true);
        if (units[i].source >= source) {
            outer = &units[i];
            source = end;
        } else {
            assert_true(outer && is_inner(l, outer, units[i].source, end));
        }
    }
    free(units);
}

/* Shows the blocks' texts with their marks: breaks as "/", marks as "{...}", a bar after each
 * block. */
static void show(const char *text, const struct dg_document *l, struct dg_buffer *out)
{
    for (size_t i = 0; i < l->n_units; i++) {
        const struct dg_unit *b = &l->units[i];
        size_t flat = b->at;
        for (size_t k = 0; k < b->n_marks; k++) {
            const struct dg_mark *mark = &l->marks[b->mark + k];
            dg_buffer_add(out, l->text.data + flat, mark->at - flat);
            flat = mark->at + mark->len;
            if (mark->kind == DG_MARK_BREAK) {
                dg_buffer_adds(out, "/");
                continue;
            }
            static const char *const kinds[] = {"", "", "<", ">", "=", "~"};
            dg_buffer_addf(out, "{%s", kinds[mark->kind]);
            dg_buffer_add(out, text + mark->begin, mark->end - mark->begin);
            dg_buffer_adds(out, "}");
        }
        dg_buffer_add(out, l->text.data + flat, b->end - flat);
        dg_buffer_adds(out, "|");
    }
    dg_buffer_adds(out, "");
}

static const struct {
    enum dg_format format;
    const char *text, *shown;
} cases[] = {
    {DG_FORMAT_WRAPPED, "One line\nof two.\n\nNext.\n", "One line/of two.|Next.|"},
    {DG_FORMAT_WRAPPED, "a b \r\n  c\r\rd", "a b|c|d|"},
    {DG_FORMAT_WRAPPED, "  Set in\nand on\nand on", "Set in/and on/and on|"},
    {DG_FORMAT_WRAPPED, "- an item\n  that goes on\n- another\n\t- inner\n",
        "- an item/that goes on|- another|- inner|"},
    {DG_FORMAT_WRAPPED, "> cited\n> still\n>> deeper\nnot\n", "cited/still|deeper|not|"},
    {DG_FORMAT_WRAPPED, "Title\n=====\nText\nmore", "Title|=====|Text/more|"},
    {DG_FORMAT_WRAPPED, "left\n        right\n", "left|right|"},

    {DG_FORMAT_SRT,
        "1\n00:00:01,000 --> 00:00:02,000\nTwo dogs\nplay.\n\n2\n00:00:03,000 --> 00:00:04,000\n"
        "- Who?\n- Me.\n",
        "Two dogs/play.|- Who?|- Me.|"},
    {DG_FORMAT_SRT,
        "WEBVTT\n\nintro\n00:01.000 --> 00:02.000 align:start\n<i>Hello\nthere</i>, "
        "{\\an8}you<br>.\n",
        "{<<i>}Hello/there{></i>}, {{\\an8}}you{<br>}.|"},
    {DG_FORMAT_SRT, "no cue here\n", ""},
    {DG_FORMAT_SRT, "00:01.000 --> 00:02.000\nHello<00:00:01.500><c> to</c> you, <3 and <12.\n",
        "Hello{<00:00:01.500>}{<<c>} to{></c>} you, <3 and <12.|"},
    {DG_FORMAT_SRT,
        "1\n00:00:01,000 --> 00:00:02,000\nOne\n1984\n2\n00:00:03,000 --> 00:00:04,000\nTwo\r\n"
        "00:00:05,000 --> 00:00:06,000\n3 \n00:00:07,000 --> 00:00:08,000\nThree\n4",
        "One/1984|Two|Three/4|"},
    {DG_FORMAT_SRT,
        "1\n00:00:01,000 --> 00:00:02,000\nPress\n1 --> 2, then left.\n3\n7 --> 12:30\n12:30 --> "
        "noon\n\n"
        "5 --> 7\nSeconds\n",
        "Press/1 --> 2, then left./3/7 --> 12:30/12:30 --> noon|Seconds|"},
    {DG_FORMAT_SRT,
        "0:01-->0:02\nOne\n 0:1:2.5 -->\t0:1:4 X1:100\nTwo\n00: 00: 01, 000 --> 00: 00: 03, "
        "000\nThree\n"
        "4\n1:00:00.000 --> 1:00:01.000 align:start\nFour\n",
        "One|Two|Three|Four|"},

    {DG_FORMAT_MARKDOWN, "# Two *dogs* #\n\ntext\nmore  \nhard\n",
        "Two {<*}dogs{>*}|text/more|hard|"},
    {DG_FORMAT_MARKDOWN,
        "- [ ] do `make test` now\n  and [then](http://a.b/c_d \"x\")\n1. two\n   > cited\n",
        "do {=`make test`} now/and {<[}then{>](http://a.b/c_d \"x\")}|x|two|cited|"},
    {DG_FORMAT_MARKDOWN, "```c\nint *x; // comment\n```\nafter\n~~~\nno end", "after|"},
    {DG_FORMAT_MARKDOWN, "para\n\n    code here\n\n- item\n\n    still the item\n",
        "para|item|still the item|"},
    /* Indented text is code again after a list or footnote that text at the margin ended. */
    {DG_FORMAT_MARKDOWN, "[^1]: A note.\n\nSome paragraph.\n\n    int main(void);\n",
        "A note.|Some paragraph.|"},
    {DG_FORMAT_MARKDOWN,
        "[^1]:\n    The note's text.\n\n    More of it.\n\n1. \n\n    An item.\n\nPara.\n\n    "
        "code",
        "The note's text.|More of it.|An item.|Para.|"},
    {DG_FORMAT_MARKDOWN, "- a\n\nPara.\n\n    code\n", "a|Para.|"},
    {DG_FORMAT_MARKDOWN, "- a\n> b\n\n    code\n", "a|b|"},
    {DG_FORMAT_MARKDOWN, "- a  \nthat goes\non\n\n    still a\n\n  and\nthis\n\n    too\n",
        "a|that goes/on|still a|and/this|too|"},
    {DG_FORMAT_MARKDOWN, "Roses are red,  \n    violets are blue\\\n\tand so on\n\n    code",
        "Roses are red,|violets are blue|and so on|"},
    {DG_FORMAT_MARKDOWN, "| A | `b|c` \\| d |\n|---|:-:|\n| one | two |\n\nx | y\n",
        "A|{=`b|c`} {~\\|} d|one|two|x | y|"},
    {DG_FORMAT_MARKDOWN, "---\ntitle: x\n---\nTitle\n---\nText\n***\n", "x|Title|Text|"},
    {DG_FORMAT_MARKDOWN,
        "<div align=x>\nkept\n</div>\n\n<!-- not\n\nthis --> nor this\ntext <b>bold</b> <br/> on",
        "text {<<b>}bold{></b>} {<br/>} on|"},
    {DG_FORMAT_MARKDOWN,
        "[a]: http://x.y\nSee [a] and [b][a], ![alt *t*](i.png)[^1] at http://x.y/z. Or "
        "<http://q>.",
        "See {<[}a{>]} and {<[}b{>][a]}, {![alt *t*](i.png)}{[^1]} at {=http://x.y/z}. Or "
        "{=<http://q>}.|alt {<*}t{>*}|"},
    {DG_FORMAT_MARKDOWN,
        "2 * 3 * 4, snake_case_name, \\*not\\*, **un*closed, ***all***, ****more****",
        "2 * 3 * 4, snake_case_name, {~\\*}not{~\\*}, **un*closed, "
        "{<*}{<**}all{>**}{>*}, {<**}{<**}more{>**}{>**}|"},
    {DG_FORMAT_MARKDOWN, "[![alt](i.png)](url) **a `b\nc` d**\n",
        "{<[}{![alt](i.png)}{>](url)} {<**}a {=`b\nc`} d{>**}|alt|"},
    {DG_FORMAT_MARKDOWN,
        "[https://a.b](https://a.b) [http://c.d/e.](http://c.d/e)! http://[::1]:80/a[b][c]",
        "{<[}{=https://a.b}{>](https://a.b)} {<[}{=http://c.d/e}.{>](http://c.d/e)}! "
        "{=http://[::1]:80/a[b][c}]|"},
    {DG_FORMAT_MARKDOWN,
        "[^1]: This is the footnote.\n[^note]:It goes\n    on.\n\n    And on.\n[^]: [^a b]: no",
        "This is the footnote.|It goes/on.|And on.|[^]: [^a b]: no|"},
    {DG_FORMAT_MARKDOWN,
        "[Note]: please read this first.\n\n[a\\]b]: /u \"t \\\" t\"\n[b]: <u v>  (t)\n[c]: u "
        "'t'\n[d]:u\n"
        "[e]: /u \"t\" u\n\n[f]: /u tt\n\n[]: u\n\n[g]: u \"t\n",
        "[Note]: please read this first.|[e]: /u \"t\" u|[f]: /u tt|[]: u|[g]: u \"t|"},
    {DG_FORMAT_MARKDOWN,
        "<pre>\na\n\nb\n</PRE> c\nd\n\n<style "
        "type=x>\n\na</style>\ne\n<script>a</script>\nf\n<pre-x>g",
        "d|e|f|"},
    /* Where such a tag is not closed, it extends to the end of its item, quotation or document. */
    {DG_FORMAT_MARKDOWN,
        "- <style> tags are removed\n\nAll of this text stays.\n\n<style>\na\n</style>",
        "All of this text stays.|"},
    {DG_FORMAT_MARKDOWN,
        "<style> tags are removed\n\nAll of this text stays.\n\n<pre>\na\n\nb</pre>\nc", "c|"},
    {DG_FORMAT_MARKDOWN, "> <pre>\n> x\n\nText after.", "Text after.|"},
    {DG_FORMAT_MARKDOWN, "> <!-- x\n>\n> y\n\n> <pre>\n> x\nz </pre>", "z {</pre>}|"},
    {DG_FORMAT_MARKDOWN, "> <pre>\n> x\n>\n> y\n> </pre>\n> z", "z|"},
    {DG_FORMAT_MARKDOWN, "- <pre>\n  a\n\n  b\n  </pre>\n  c\n- d <pre>\n", "c|d {<pre>}|"},
    {DG_FORMAT_MARKDOWN, "- <div>\n- b\n\n1. a\n\n   <pre>\n   x\n\nc </pre>", "b|a|c {</pre>}|"},
    {DG_FORMAT_MARKDOWN, "a <!-- see a->b --> c <!-- > d", "a {<!-- see a->b -->} c <!-- > d|"},
    {DG_FORMAT_MARKDOWN, "\xEF\xBB\xBF---\ntitle: x\n---\nText", "x|Text|"},
    {DG_FORMAT_MARKDOWN, "\xEF\xBB\xBF```\ncode\n```\nText", "Text|"},
    {DG_FORMAT_MARKDOWN, "A `` `b` `` and ` ` and `\t\u00a0`.",
        "A {=`` `b` ``} and {` `} and {`\t\u00a0`}.|"},

    /* From an issue: code in an item, a fence that only a fence ends. */
    {DG_FORMAT_MARKDOWN, "1. First step:\n\n       make install now\n", "First step:|"},
    {DG_FORMAT_MARKDOWN, "```\nab\n``` ---\ncd\n```\nText\n", "Text|"},
    {DG_FORMAT_MARKDOWN, "A*b*c and d", "A{<*}b{>*}c and d|"},
    {DG_FORMAT_MARKDOWN, "[Home](a) | [About us](b) | [*C*](c)\n",
        "{<[}Home{>](a)}|{<[}About us{>](b)}|{<[}{<*}C{>*}{>](c)}|"},
    {DG_FORMAT_MARKDOWN, "Use `f()`. [a](u), [b](v)", "Use {=`f()`}. {<[}a{>](u)}, {<[}b{>](v)}|"},
    /* Units within a mark: alternative texts, titles. */
    {DG_FORMAT_MARKDOWN, "![Two dogs](a.png \"In *the* snow\")\n", "Two dogs|In *the* snow|"},
    {DG_FORMAT_MARKDOWN, "A [dog](u 'A \\'cat\\'') and\n[x](<b c> (It\nis)).",
        "A {<[}dog{>](u 'A \\'cat\\'')} and/{<[}x{>](<b c> (It\nis))}.|A {~\\'}cat{~\\'}|It/is|"},
    {DG_FORMAT_MARKDOWN, "[A][1] and [b][1]\n\n[1]: u 'The title'\n",
        "{<[}A{>][1]} and {<[}b{>][1]}|The title|"},
    {DG_FORMAT_MARKDOWN, "[![Build ok](i.png)](u) [![Docs](j.png)](v)\n", "Build ok|Docs|"},
    {DG_FORMAT_MARKDOWN,
        "<details>\n<summary>More <b>dogs</b> &amp;\n  cats</summary>\n\nText.\n\n</details>\n",
        "More {<<b>}dogs{></b>} {=&amp;}/cats|Text.|"},
    {DG_FORMAT_MARKDOWN, "---\nlayout: post\ntitle: \"Two dogs\"\ntags: [a]\n---\n", "Two dogs|"},
    /* Characters with another spelling. */
    {DG_FORMAT_MARKDOWN, "1\\. caf&eacute; &#8364;5&nbsp;a &amp; b &nosuch;",
        "1{~\\.} caf{~&eacute;} {=&#8364;}5/a {=&amp;} b {=&nosuch;}|"},
    {DG_FORMAT_MARKDOWN, "# \n\n* **[](#x)b** c\n* `a` [`b`](u) d\n",
        "{<**}{<[}{>](#x)}b{>**} c|{=`a`} {<[}{=`b`}{>](u)} d|"},
};

static void formats(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct dg_document l;
        struct dg_buffer shown;
        dg_buffer_init(&shown);
        open_document(cases[i].text, cases[i].format, &l);
        check_whole(cases[i].text, strlen(cases[i].text), &l, false);
        show(cases[i].text, &l, &shown);
        if (strcmp(shown.data ? shown.data : "", cases[i].shown) != 0)
            print_message("case %zu\n%s\nis taken as\n%s\nnot\n%s", i, cases[i].text,
                shown.data ? shown.data : "", cases[i].shown);
        dg_buffer_deinit(&shown);
        dg_document_close(&l);
    }
}

static uint64_t next_random(uint64_t *x)
{
    *x = *x * 6364136223846793005ull + 1442695040888963407ull;
    return *x >> 33;
}

/* Random texts made of everything that the readers look for. */
static void any_text_is_whole(void **state)
{
    (void)state;
    static const char *const bits[] = {"a", "word ", "Ü", "漢", " ", "  ", "\t", "\n", "\n", "\n\n",
        "\r\n", "\r", "> ", ">", "- ", "* ", "*", "**", "_", "~~", "`", "``", "```", "~~~", "[",
        "](", "](u)", "]", "![", "[^1]", "(", ")", "<b>", "</b>", "<br>", "<", ">", "<!--", "-->",
        "<div>", "http://a.b", "<http://a>", "#", "## ", "1. ", "2) ", "[ ] ", "|", "|---|", "---",
        "===", "\\", "{\\an8}", "00:00:01,000 --> 00:00:02,000\n", "1\n", "    ", "[a]: x",
        "[^x]: ", "<pre>", "</pre>", "\xEF\xBB\xBF", "<00:00:01.500>", "! ", ":::", ":::{a} b\n",
        ":a: b\n", "!!! a \"b\"\n", "\n: ", "{{< a >}}", "+--", "$", "[[a|", "]]", "{#a}"};
    uint64_t random = 7;
    char text[2048];
    for (int round = 0; round < 20000; round++) {
        size_t n = 0, pieces = 1 + next_random(&random) % 60;
        text[0] = '\0';
        for (size_t i = 0; i < pieces; i++)
            n += (size_t)sprintf(
                text + n, "%s", bits[next_random(&random) % (sizeof bits / sizeof bits[0])]);
        for (int format = DG_FORMAT_TEXT; format <= DG_FORMAT_MARKDOWN; format++) {
            struct dg_document l;
            open_document(text, (enum dg_format)format, &l);
            check_whole(text, n, &l, format == DG_FORMAT_TEXT);
            dg_document_close(&l);
        }
    }
}

/* A quarter of a megabyte of openings that could be searched ahead again and again. */
static void time_grows_with_length(void **state)
{
    (void)state;
    static const char *const bits[] = {"](", "<a", "`a``b", "- ", "[", "*a ", "> ", "_a_",
        "http://", "|", "<!--", "[^", "*", "_", "~", "[http://a](http://a)", "<pre>\n\n",
        "- <pre>\n\n", "> <!--\n", "- a\n\n  <pre>\n", "|:::a", "!!! a\n\n    ```\n", "$a", "[[a|"};
    size_t n = 1 << 18;
    char *text = malloc(n + 32);
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++) {
        size_t len = 0;
        while (len < n)
            len += (size_t)sprintf(text + len, "%s", bits[i]);
        for (int format = DG_FORMAT_TEXT; format <= DG_FORMAT_MARKDOWN; format++) {
            struct dg_document l;
            open_document(text, (enum dg_format)format, &l);
            check_whole(text, len, &l, format == DG_FORMAT_TEXT);
            dg_document_close(&l);
        }
    }
    free(text);
}

struct waiter {
    int looks, patience;
};

static int still_waits(const void *arg, struct dg_error *err)
{
    struct waiter *w = (struct waiter *)(uintptr_t)arg;
    return ++w->looks > w->patience ? dg_error_set(err, DG_ETIMEOUT, "too late") : DG_OK;
}

/* In a text of a megabyte, plain or with protected parts, the check is called every 64 KiB. */
static void long_texts_are_given_up(void **state)
{
    (void)state;
    static const char *const words[] = {"Two dogs walk along. ", "See www.example.org/a. "};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct dg_buffer text;
        dg_buffer_init(&text);
        while (text.len < 1000000)
            dg_buffer_adds(&text, words[0]);
        dg_buffer_adds(&text, words[i]);
        for (int patience = 0; patience < 100; patience += 5) {
            struct waiter w = {.patience = patience};
            const struct dg_document_kind kind = {.check = still_waits, .check_arg = &w};
            struct dg_document d;
            struct dg_error err = {0};
            const int rc = dg_document_read(text.data, text.len, &kind, &d, &err);
            if (rc == DG_OK) {
                assert_in_range(w.looks, 15, patience);
            } else {
                assert_int_equal(rc, DG_ETIMEOUT);
                assert_int_equal(w.looks, patience + 1); /* the check is not called again */
            }
            assert_int_equal(err.code, rc);
            assert_int_equal(rc == DG_OK, patience >= 30 || (patience >= 15 && i == 0));
            dg_document_close(&d);
        }
        dg_buffer_deinit(&text);
    }
}

static void names(void **state)
{
    (void)state;
    enum dg_format f;
    assert_true(dg_format_find("markdown", &f) && f == DG_FORMAT_MARKDOWN);
    assert_true(dg_format_find("text", &f) && f == DG_FORMAT_TEXT);
    assert_false(dg_format_find("pdf", &f));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats),
        cmocka_unit_test(any_text_is_whole),
        cmocka_unit_test(time_grows_with_length),
        cmocka_unit_test(long_texts_are_given_up),
        cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
