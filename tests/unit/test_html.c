/* HTML's text as units. Each case is a page and its result when every word to translate is written
 * in capitals; with nothing translated it must come back unchanged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/markup_trial.h"

static const struct {
    const char *html, *want;
} cases[] = {
    /* Paragraphs and plain text. */
    {"", ""},
    {"A dog.", "A DOG."},
    {"<p>A dog.</p>", "<p>A DOG.</p>"},
    {"<p>A dog.<p>A cat.", "<p>A DOG.<p>A CAT."},
    {"<h1>The dog</h1>\n<p>It barks.</p>\n", "<h1>THE DOG</h1>\n<p>IT BARKS.</p>\n"},
    {"<ul><li>one<li>two</ul>text", "<ul><li>ONE<li>TWO</ul>TEXT"},
    {"<dl><dt>dog<dd>an animal</dl>", "<dl><dt>DOG<dd>AN ANIMAL</dl>"},
    {"<div>one<div>two</div>three</div>", "<div>ONE<div>TWO</div>THREE</div>"},
    {"<p>Two lines\n   of text.</p>", "<p>TWO LINES\n   OF TEXT.</p>"},
    {"<p>\r\n\tOne  text.\r\n</p>", "<p>\r\n\tONE  TEXT.\r\n</p>"},
    {"<p> </p><p>12</p><p>...</p>", "<p> </p><p>12</p><p>...</p>"},
    {"\xEF\xBB\xBF"
     "A dog",
        "\xEF\xBB\xBF"
        "A DOG"},
    /* Inline tags. */
    {"<p>A <b>big</b> dog.</p>", "<p>A <b>BIG</b> DOG.</p>"},
    {"<p><b>A big</b> dog.</p>", "<p><b>A BIG</b> DOG.</p>"},
    {"<p>A big <b>dog.</b></p>", "<p>A BIG <b>DOG.</b></p>"},
    {"<p>A <b>very <i>big</i></b> dog.</p>", "<p>A <b>VERY <i>BIG</i></b> DOG.</p>"},
    {"<p>A <b><i>big</i></b> dog.</p>", "<p>A <b><i>BIG</i></b> DOG.</p>"},
    {"<b><i><u>a dog</u></i></b>", "<b><i><u>A DOG</u></i></b>"},
    {"<B>a</B> dog", "<B>A</B> DOG"},
    {"<p>See <a href=\"/the-dog.html\">the dog</a>.</p>",
        "<p>SEE <a href=\"/the-dog.html\">THE DOG</a>.</p>"},
    {"un<b>believ</b>able", "<b>UNBELIEVABLE</b>"},
    {"<span class=\"x\">one</span> <span class='y'>two</span>",
        "<span class=\"x\">ONE</span> <span class='y'>TWO</span>"},
    {"<p>the <x-mark data-a=1>new</x-mark> dog</p>",
        "<p>THE <x-mark data-a=1>NEW</x-mark> DOG</p>"},
    {"<p>a <font color=red>red</font> dog</p>", "<p>A <font color=red>RED</font> DOG</p>"},
    {"<p>a<sup>2</sup> b</p>", "<p>A<sup>2</sup> B</p>"},
    {"<p>press <button>Save now</button> first</p>",
        "<p>PRESS <button>SAVE NOW</button> FIRST</p>"},
    {"<p>a <em></em>dog</p>", "<p>A <em></em>DOG</p>"},
    /* Line ends. */
    {"<p>First line.<br>Second line.</p>", "<p>FIRST LINE.<br>SECOND LINE.</p>"},
    {"<p>a dog that<br>barks</p>", "<p>A DOG THAT<br>BARKS</p>"},
    {"one<br/><br/>two", "ONE<br/><br/>TWO"},
    {"<b>One.<br>Two.</b>", "<b>ONE.<br>TWO.</b>"},
    {"one<BR />\n  Two", "ONE<BR />\n  TWO"},
    {"one<hr>two", "ONE<hr>TWO"},
    /* Comments, scripts, other non-text. */
    {"<!-- a comment --><p>text</p>", "<!-- a comment --><p>TEXT</p>"},
    {"<p>some <!-- no text -->words here</p>", "<p>SOME <!-- no text -->WORDS HERE</p>"},
    {"<p>some<!-- a --> words</p>", "<p>SOME<!-- a --> WORDS</p>"},
    {"<script>var a = 'the dog';</script><p>text</p>",
        "<script>var a = 'the dog';</script><p>TEXT</p>"},
    {"<script>if (a < b) write('<p>no</p>');</script>yes",
        "<script>if (a < b) write('<p>no</p>');</script>YES"},
    {"<style>p { color: red }</style>text", "<style>p { color: red }</style>TEXT"},
    {"<p>one <script>x()</script>two</p>", "<p>ONE <script>x()</script>TWO</p>"},
    {"<p>a <svg><title>dog</title><text>cat</text></svg> b</p>",
        "<p>A <svg><title>dog</title><text>cat</text></svg> B</p>"},
    {"<p>if <math><mi>x</mi></math> is big</p>", "<p>IF <math><mi>x</mi></math> IS BIG</p>"},
    {"<!DOCTYPE html><html lang=en><head><title>The page</title></head><body>text</body></html>",
        "<!DOCTYPE html><html lang=en><head><title>THE PAGE</title></head><body>TEXT</body></html>"},
    {"<template><p>text</p></template>yes", "<template><p>text</p></template>YES"},
    {"<noscript><p>use it</p></noscript>", "<noscript><p>USE IT</p></noscript>"},
    {"<iframe src=a>old text</iframe>text", "<iframe src=a>old text</iframe>TEXT"},
    {"<p>a<wbr>b c</p>", "<p>AB<wbr> C</p>"},
    /* Protected parts. */
    {"<p>Run <code>make all</code> now.</p>", "<p>RUN <code>make all</code> NOW.</p>"},
    {"<p>Press <kbd>Ctrl</kbd>.</p>", "<p>PRESS <kbd>Ctrl</kbd>.</p>"},
    {"<p>A <span translate=\"no\">Big Dog</span> here.</p>",
        "<p>A <span translate=\"no\">Big Dog</span> HERE.</p>"},
    {"<p>A <span class=\"a notranslate\">Big <b>Dog</b></span> here.</p>",
        "<p>A <span class=\"a notranslate\">Big <b>Dog</b></span> HERE.</p>"},
    {"<p class=notranslate>no</p><p>yes</p>", "<p class=notranslate>no</p><p>YES</p>"},
    {"<p class=notranslates>yes</p>", "<p class=notranslates>YES</p>"},
    {"<div translate=no>no <p>no</p> <p translate=yes>yes</p> no</div>yes",
        "<div translate=no>no <p>no</p> <p translate=yes>YES</p> no</div>YES"},
    {"<div translate=no><img alt='a dog'><b title='x y'>no</b></div>",
        "<div translate=no><img alt='a dog'><b title='x y'>no</b></div>"},
    {"<ul><li translate=no>no<li>yes</ul>", "<ul><li translate=no>no<li>YES</ul>"},
    {"<pre>one line\nand two</pre>", "<pre>ONE LINE\nAND TWO</pre>"},
    {"<pre><code>make all</code></pre>", "<pre><code>make all</code></pre>"},
    {"<p>mail a@example.com now</p>", "<p>MAIL a@example.com NOW</p>"},
    {"<p>see https://example.com/?a=1&amp;b=2 there</p>",
        "<p>SEE https://example.com/?a=1&amp;b=2 THERE</p>"},
    /* References. */
    {"<p>caf&eacute; noir</p>", "<p>CAF&eacute; NOIR</p>"},
    {"<p>a&nbsp;dog</p>", "<p>A&nbsp;DOG</p>"},
    {"<p>Tom &amp; Jerry</p>", "<p>TOM &amp; JERRY</p>"},
    {"<p>a &lt;b&gt; c</p>", "<p>A &lt;B&gt; C</p>"},
    {"<p>a &#8211; b &#x2013; c</p>", "<p>A &#8211; B &#x2013; C</p>"},
    {"<p>r & d</p>", "<p>R &amp; D</p>"},
    {"<p>one < two</p>", "<p>ONE &lt; TWO</p>"},
    {"<p>a &quot;dog&quot;</p>", "<p>A &quot;DOG&quot;</p>"},
    {"<p>water is H<sub>2</sub>O<sup>[1]</sup> here</p>",
        "<p>WATER IS H<sub>2</sub>O<sup>[1]</sup> HERE</p>"},
    {"<p>a <b></big>dog</b> c</p>", "<p>A <b></big>DOG</b> C</p>"},
    {"<p>a <i class=icon></i> dog</p>", "<p>A <i class=icon></i> DOG</p>"},
    {"<p>a &unknown; b</p>", "<p>A &unknown; B</p>"},
    /* Attributes. */
    {"<img src=dog.png alt=\"a dog\">", "<img src=dog.png alt=\"A DOG\">"},
    {"<p>see <img alt='the dog'> here</p>", "<p>SEE <img alt='THE DOG'> HERE</p>"},
    {"<p><img alt=\"the dog\"> here</p>", "<p><img alt=\"THE DOG\"> HERE</p>"},
    {"<a title=\"the dog\" href=x>it</a>", "<a title=\"THE DOG\" href=x>IT</a>"},
    {"<picture><source srcset=\"a b\"><img src=c alt=\"a dog\"></picture>",
        "<picture><source srcset=\"a b\"><img src=c alt=\"A DOG\"></picture>"},
    {"<p>see <picture title='one'><source><img alt='the dog'>no</picture> here</p>",
        "<p>SEE <picture title='ONE'><source><img alt='THE DOG'>no</picture> HERE</p>"},
    {"<picture><img translate=no alt='a dog'></picture><picture translate=no><img alt=dog></picture>",
        "<picture><img translate=no alt='a dog'></picture><picture translate=no><img "
        "alt=dog></picture>"},
    {"<input placeholder='your name' value='a b'>", "<input placeholder='YOUR NAME' value='a b'>"},
    {"<input type=submit value='Send it'>", "<input type=submit value='SEND IT'>"},
    {"<button aria-label=\"close it\">x</button>", "<button aria-label=\"CLOSE IT\">X</button>"},
    {"<meta name=description content=\"all dogs\">",
        "<meta name=description content=\"ALL DOGS\">"},
    {"<meta name=\"viewport\" content=\"width=device-width\">",
        "<meta name=\"viewport\" content=\"width=device-width\">"},
    {"<meta property=og:title content='the dog'>", "<meta property=og:title content='THE DOG'>"},
    {"<img alt=dog>", "<img alt=DOG>"},
    {"<img alt=\"Tom &amp; &quot;Jerry&quot;\">", "<img alt=\"TOM &amp; &quot;JERRY&quot;\">"},
    {"<img alt=\"\"><img alt><img alt='12'>", "<img alt=\"\"><img alt><img alt='12'>"},
    {"<div title='all dogs'>text</div>", "<div title='ALL DOGS'>TEXT</div>"},
    {"<optgroup label='all dogs'><option label=\"one dog\">one",
        "<optgroup label='ALL DOGS'><option label=\"ONE DOG\">ONE"},
    /* Malformed. */
    {"<p>A <b>big <i>very</b> big</i> dog</p>", "<p>A <b>BIG <i>VERY</b> BIG</i> DOG</p>"},
    {"<p>A <b>big dog", "<p>A <b>BIG DOG"},
    {"A dog</b> barks", "A DOG</b> BARKS"},
    {"</div>A dog", "</div>A DOG"},
    {"<p>one</div>two</p>", "<p>ONE</div>TWO</p>"},
    {"<b>one<p>two</b> three", "<b>ONE<p>TWO</b> THREE"},
    {"<table><tr><td>one<td>two</table>", "<table><tr><td>ONE<td>TWO</table>"},
    {"<table>stray<tr><td>one</td></tr></table>", "<table>STRAY<tr><td>ONE</td></tr></table>"},
    {"<table><b>one</b><tr><td>two</table>", "<table><b>ONE</b><tr><td>TWO</table>"},
    {"<a href=1>one <a href=2>two</a>", "<a href=1>ONE <a href=2>TWO</a>"},
    {"one <", "ONE &lt;"},
    {"one <b", "ONE <b"},
    {"one <!-- two", "ONE <!-- two"},
    {"<p title=\"one>two", "<p title=\"one>TWO"},
    {"<p title='one'two='three'>four</p>", "<p title='ONE'two='three'>FOUR</p>"},
    {"<b>one</b", "<b>ONE</b"},
    {"<script>one", "<script>one"},
    {"<title>one <b>two</title>three", "<title>ONE <b>TWO</title>THREE"},
    {"<textarea>one <b>two</b></textarea>", "<textarea>ONE <b>TWO</b></textarea>"},
    {"<p>one</p></body></html>two", "<p>ONE</p></body></html>TWO"},
    {"<select><option>one<option>two</select>", "<select><option>ONE<option>TWO</select>"},
    {"<p>one <![CDATA[two]]>three</p>", "<p>ONE <![CDATA[two]]>THREE</p>"},
    {"<?php echo 'a b'; ?>text", "<?php echo 'a b'; ?>TEXT"},
    {"<plaintext>one <b>two", "<plaintext>one <b>two"},
    {"<frameset><frame></frameset>", "<frameset><frame></frameset>"},
    {"<p>\xC3\xA9t\xC3\xA9 <b>\xE2\x82\xAC</b> and</p>",
        "<p>\xC3\xA9T\xC3\xA9 <b>\xE2\x82\xAC</b> AND</p>"},
};

/* Labels that stand side by side are no sentence: each is a unit. */
static void labels(void **state)
{
    (void)state;
    static const struct {
        const char *html, *want;
    } each[] = {
        {"<p><button>Save</button> <button>Go back</button></p>", "SaveGo back"},
        {"<label>Your <b>name</b></label> <input> <label>E-mail</label>", "Your nameE-mail"},
        {"<label>Size <select><option>Big</select></label> <input> I agree", "SizeBigI agree"},
    };
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        struct dg_document d;
        assert_int_equal(
            dg_document_open(each[i].html, strlen(each[i].html), DG_FORMAT_HTML, &d, NULL), 0);
        assert_int_equal(d.n_units, i == 2 ? 3 : 2);
        assert_int_equal(d.text.len, strlen(each[i].want));
        assert_memory_equal(d.text.data, each[i].want, d.text.len);
        dg_document_close(&d);
    }
}

/* A number whose blanks are references is one protected span. */
static void numbers(void **state)
{
    (void)state;
    static const char html[] = "<p>Call 06&nbsp;37&nbsp;38&nbsp;15&nbsp;55 at&nbsp;ten</p>";
    struct dg_document d;
    assert_int_equal(dg_document_open(html, strlen(html), DG_FORMAT_HTML, &d, NULL), 0);
    assert_int_equal(d.n_marks, 2);
    assert_int_equal(d.marks[0].kind, DG_MARK_PROTECTED);
    assert_int_equal(
        d.marks[0].end - d.marks[0].begin, strlen("06&nbsp;37&nbsp;38&nbsp;15&nbsp;55"));
    assert_int_equal(d.marks[1].kind, DG_MARK_BREAK);
    dg_document_close(&d);
}

enum { CASES = sizeof cases / sizeof *cases };

/* Returns the names of all tags, with "/" for closing ones, sorted. */
static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *tags_of(const char *html)
{
    char *names[4096], *all = calloc(1, strlen(html) + 4096);
    size_t n = 0;
    for (const char *s = html; (s = strchr(s, '<')); s++)
        if (isalpha((unsigned char)s[1]) || s[1] == '/' || s[1] == '!')
            names[n++] = strndup(s, strcspn(s, " >\n"));
    qsort(names, n, sizeof *names, by_bytes);
    for (size_t i = 0; i < n; i++) {
        strcat(strcat(all, names[i]), " ");
        free(names[i]);
    }
    return all;
}

static void check_tags(const char *html, const char *translated)
{
    char *before = tags_of(html), *after = tags_of(translated);
    if (strcmp(before, after) != 0)
        fail_msg("%s\nbecame\n%s", html, translated);
    free(before);
    free(after);
}

static void examples(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < CASES; i++) {
        char *got = trial_run(cases[i].html, DG_FORMAT_HTML, NULL, true, NULL);
        assert_non_null(got);
        if (strcmp(got, cases[i].want) != 0) {
            print_message("%s\nbecame %s\nnot    %s\n\n", cases[i].html, got, cases[i].want);
            wrong++;
        }
        free(got);
    }
    assert_int_equal(wrong, 0);
}

static void nothing_translated_nothing_changed(void **state)
{
    (void)state;
    assert_true(CASES >= 80);
    for (size_t i = 0; i < CASES; i++) {
        char *got = trial_run(cases[i].html, DG_FORMAT_HTML, NULL, false, NULL);
        assert_string_equal(got, cases[i].html);
        free(got);
    }
}

/* The HTML of CommonMark's 652 examples (tests/data/commonmark/spec.txt). */
static void commonmark(void **state)
{
    (void)state;
    static const char fence[] = "````````````````````````````````";
    FILE *f = fopen("tests/data/commonmark/spec.txt", "rb");
    char *line = NULL, *html = calloc(1, 1 << 16);
    size_t cap = 0, n = 0, examples_read = 0, translated = 0;
    int part = 0; /* 1: Markdown, 2: HTML */
    assert_non_null(f);
    while (getline(&line, &cap, f) > 0) {
        if (strncmp(line, fence, strlen(fence)) == 0 && part == 2) {
            char *same = trial_run(html, DG_FORMAT_HTML, NULL, false, NULL);
            char *capitals = trial_run(html, DG_FORMAT_HTML, NULL, true, NULL);
            assert_string_equal(same, html);
            translated += strcmp(capitals, html) != 0;
            check_tags(html, capitals);
            free(same);
            free(capitals);
            examples_read++;
            part = 0;
        } else if (strncmp(line, fence, strlen(fence)) == 0) {
            part = 1;
            html[n = 0] = '\0';
        } else if (part == 1 && strcmp(line, ".\n") == 0) {
            part = 2;
        } else if (part == 2) {
            strcpy(html + n, line);
            n += strlen(line);
        }
    }
    assert_int_equal(examples_read, 652);
    assert_true(translated > 500); /* the others are code, numbers and signs */
    free(html);
    free(line);
    fclose(f);
}

/* A thousand unclosed tags before ten thousand paragraphs would make ten million nodes. */
static void too_deep(void **state)
{
    (void)state;
    struct dg_document d;
    struct dg_error err = {0};
    struct dg_buffer b;
    dg_buffer_init(&b);
    dg_buffer_adds(&b, "<p>");
    for (int i = 0; i < 1000; i++) {
        char tag[40];
        snprintf(tag, sizeof tag, "<font color=%d>", i);
        dg_buffer_adds(&b, tag);
    }
    for (int i = 0; i < 10000; i++)
        dg_buffer_adds(&b, "</p><p>a");
    assert_int_equal(dg_document_open(b.data, b.len, DG_FORMAT_HTML, &d, &err), DG_ELIMIT);
    assert_string_equal(err.field, "text");
    dg_buffer_reset(&b);
    for (int i = 0; i < 5000; i++)
        dg_buffer_adds(&b, "<div>");
    assert_int_equal(dg_document_open(b.data, b.len, DG_FORMAT_HTML, &d, &err), 0);
    assert_int_equal(d.n_units, 0);
    dg_document_close(&d);
    dg_buffer_deinit(&b);
}

/* An answer is text, whatever characters it has. */
static void answers_are_text(void **state)
{
    (void)state;
    static const struct {
        enum dg_encoding encoding;
        const char *want;
    } as[] = {
        {DG_ENCODING_PLAIN, "a<b> & \"c\" 'd'"},
        {DG_ENCODING_MARKUP, "a&lt;b> &amp; \"c\" 'd'"},
        {DG_ENCODING_DOUBLE_QUOTED, "a&lt;b> &amp; &quot;c&quot; 'd'"},
        {DG_ENCODING_SINGLE_QUOTED, "a&lt;b> &amp; &quot;c&quot; &#39;d&#39;"},
        {DG_ENCODING_UNQUOTED, "a&lt;b&gt;&#32;&amp;&#32;&quot;c&quot;&#32;&#39;d&#39;"},
    };
    for (size_t i = 0; i < sizeof as / sizeof *as; i++) {
        struct dg_arena arena;
        struct dg_buffer out;
        struct dg_decoration d = {
            .text = "x", .len = 1, .answer = as[0].want, .encoding = as[i].encoding};
        d.answer_len = strlen(d.answer);
        dg_arena_init(&arena, 0);
        dg_buffer_init(&out);
        assert_true(dg_decorate(&d, &arena, &out, NULL));
        assert_string_equal(out.data, as[i].want);
        dg_buffer_deinit(&out);
        dg_arena_deinit(&arena);
    }
}

/* Elements without white space between them are texts of their own where they make no word. */
static void side_by_side(void **state)
{
    (void)state;
    static const struct {
        const char *html;
        size_t n_units;
    } each[] = {{"<p><span>Price</span><span>Stock</span></p>", 2},
        {"<p><span>Monday</span><span>9:30 - 17:00 h</span></p>", 2},
        {"<p>The dog <b>\u20AC20</b><s>\u20AC30</s> is big</p>", 2},
        {"<p><b>Note:</b><span>The dog</span></p>", 2},
        {"<a href=a><i class=i></i>Dogs</a><a href=b><b>Cats</b></a>", 2},
        {"<a>Dogs</a><span>(12 left)</span>", 2}, {"<a>dogs</a>/<a>cats</a>/<a>houses</a>", 3},
        {"<b>two</b>/<i>three</i>", 1}, {"<b>be</b><i>fore</i>", 1}, {"<i>H</i><b>2</b>O", 1},
        {"<b>Two</b> <i>Dogs</i>", 1}};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        struct dg_document d;
        assert_int_equal(
            dg_document_open(each[i].html, strlen(each[i].html), DG_FORMAT_HTML, &d, NULL), 0);
        assert_int_equal(d.n_units, each[i].n_units);
        dg_document_close(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples),
        cmocka_unit_test(side_by_side),
        cmocka_unit_test(nothing_translated_nothing_changed),
        cmocka_unit_test(commonmark),
        cmocka_unit_test(labels),
        cmocka_unit_test(numbers),
        cmocka_unit_test(too_deep),
        cmocka_unit_test(answers_are_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
