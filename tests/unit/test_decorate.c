/* Marks restored around answers: worked examples with their alignments; and for any alignment,
 * every mark once and pairs nested. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "translate/layout/decorate.h"

static struct dg_mark_bytes *bytes_of(const char *text, const struct dg_mark *marks, size_t n)
{
    struct dg_mark_bytes *bytes = malloc((n + 1) * sizeof *bytes);
    assert_non_null(bytes);
    for (size_t i = 0; i < n; i++)
        bytes[i] = (struct dg_mark_bytes){text + marks[i].begin, marks[i].end - marks[i].begin};
    return bytes;
}

/* Decorates the answer of a document's first unit, with the given word pairs. */
static char *decorated(const char *text, enum dg_format format, const char *answer,
    const struct dg_word_pair *pairs, size_t n_pairs)
{
    struct dg_document doc;
    struct dg_arena arena;
    struct dg_buffer out;
    dg_arena_init(&arena, 0);
    dg_buffer_init(&out);
    assert_int_equal(dg_document_open(text, strlen(text), format, &doc, NULL), 0);
    assert_true(doc.n_units >= 1); /* and possibly inner ones */
    struct dg_mark_bytes *bytes = bytes_of(text, doc.marks, doc.n_marks);
    struct dg_decoration d = {.bytes = bytes,
        .text = doc.text.data,
        .len = doc.units[0].end,
        .marks = doc.marks,
        .n = doc.units[0].n_marks,
        .answer = answer,
        .answer_len = strlen(answer),
        .pairs = pairs,
        .n_pairs = n_pairs};
    size_t *shift = malloc((strlen(answer) + 1) * sizeof *shift);
    assert_true(dg_decorate(&d, &arena, &out, shift));
    for (size_t i = 0; i < strlen(answer); i++)
        assert_true(shift[i] <= shift[i + 1] && shift[i + 1] <= out.len);
    free(shift);
    free(bytes);
    dg_arena_deinit(&arena);
    dg_document_close(&doc);
    size_t len;
    return dg_buffer_take(&out, &len);
}

static const struct {
    enum dg_format format;
    const char *text, *answer, *want;
    struct dg_word_pair pairs[12];
    size_t n;
} cases[] = {
    {DG_FORMAT_MARKDOWN, "A **red** dog.", "Ein roter Hund.", "Ein **roter** Hund.",
        {{0, 0}, {1, 1}, {2, 2}}, 3},
    {DG_FORMAT_MARKDOWN, "The dog **barks**.", "Es bellt der Hund.", "Es **bellt** der Hund.",
        {{2, 1}, {0, 2}, {1, 3}}, 3},
    {DG_FORMAT_MARKDOWN, "I see **you**.", "Dich sehe ich.", "**Dich** sehe ich.",
        {{2, 0}, {1, 1}, {0, 2}}, 3},
    {DG_FORMAT_MARKDOWN, "Run `make all` in [the *shell*](u).", "In der Shell starte make all.",
        "[In der *Shell*](u) starte `make all`.", {{4, 0}, {4, 1}, {5, 2}, {0, 3}, {1, 4}, {2, 5}},
        6},
    {DG_FORMAT_MARKDOWN, "Run `make all` now.", "Starte jetzt alles.", "Starte jetzt `make all`.",
        {{0, 0}, {3, 1}, {2, 2}}, 3},
    {DG_FORMAT_MARKDOWN, "Run `make all` now.", "Starte jetzt.", "Starte `make all` jetzt.",
        {{0, 0}, {3, 1}}, 2},
    {DG_FORMAT_MARKDOWN, "A [b](x) [c](y) d", "a ß d", "a [ß](x) d [c](y)",
        {{0, 0}, {1, 1}, {3, 2}}, 3},
    {DG_FORMAT_MARKDOWN, "The **dog** barks.", "Es bellt der Hund.", "Es bellt der **Hund**.",
        {{2, 1}, {0, 2}, {1, 3}}, 3},
    {DG_FORMAT_MARKDOWN, "one<wbr/> two", "eins zwei", "eins<wbr/> zwei", {{0, 0}, {1, 1}}, 2},
    {DG_FORMAT_MARKDOWN, "one **two** three", "eins zwei drei", "eins **zwei** drei", {{0, 0}}, 0},
    {DG_FORMAT_MARKDOWN, "(**two**)", "", "****", {{0, 0}}, 0},
    /* Marks around code follow the code. */
    {DG_FORMAT_MARKDOWN, "[`foo`](u) is a dog.", "Ein Hund ist foo.", "Ein Hund ist [`foo`](u).",
        {{2, 0}, {3, 1}, {1, 2}, {0, 3}}, 4},
    {DG_FORMAT_MARKDOWN, "Run **`foo`** or [*`bar`*](u) now.", "Jetzt bar oder foo.",
        "Jetzt [*`bar`*](u) oder **`foo`**.", {{0, 3}, {2, 2}, {4, 0}}, 3},
    {DG_FORMAT_MARKDOWN, "Run **`foo`** and **`bar`** now.", "Starte die beiden.",
        "Starte **`foo`** die **`bar`** beiden.", {{0, 0}, {2, 1}, {4, 2}}, 3},
    {DG_FORMAT_MARKDOWN, "**`foo`** runs.", "Sie rennt.", "**`foo`** Sie rennt.", {{1, 0}, {1, 1}},
        2},
    {DG_FORMAT_MARKDOWN, "A [b](x) [c `m` n](y) d", "a ß d", "a [ß](x) [`m`](y) d",
        {{0, 0}, {1, 1}, {2, 1}, {5, 2}}, 4},
    /* A pair with words on both sides of its code keeps both. */
    {DG_FORMAT_MARKDOWN, "**The dogs `foo` are here.**", "Die Hunde foo sind hier.",
        "**Die Hunde `foo` sind hier.**", {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}}, 5},
    {DG_FORMAT_MARKDOWN, "Now [the dogs `f g` are](u) here.", "Hier sind f g die Hunde nun.",
        "Hier [sind `f g` die Hunde](u) nun.",
        {{6, 0}, {5, 1}, {3, 2}, {4, 3}, {1, 4}, {2, 5}, {0, 6}}, 7},
    {DG_FORMAT_MARKDOWN, "*Dogs and `foo` cats*.", "Hunde foo Katzen.", "*Hunde `foo` Katzen*.",
        {{0, 0}, {3, 2}}, 2},
    /* Code beside it parts it. */
    {DG_FORMAT_MARKDOWN, "**The big dogs** `foo` here.", "Die foo großen Hunde hier.",
        "Die `foo` **großen Hunde** hier.", {{0, 0}, {3, 1}, {1, 2}, {2, 3}, {4, 4}}, 5},
    /* No mark is placed within the letters of code, whatever words it is aligned with. */
    {DG_FORMAT_MARKDOWN, "Use<wbr/> `git push` now.", "git push jetzt.", "`git push`<wbr/> jetzt.",
        {{0, 0}}, 1},
    {DG_FORMAT_MARKDOWN, "Use[](u) `git push` now.", "git push jetzt.", "`git push`[](u) jetzt.",
        {{0, 0}}, 1},
    {DG_FORMAT_MARKDOWN, "`git push` <b></b>now.", "git push jetzt.", "`git push`<b></b> jetzt.",
        {{0, 0}, {1, 0}}, 2},
    {DG_FORMAT_MARKDOWN, "Use *it<br/> now* `git push`.", "jetzt git push.",
        "*jetzt<br/>* `git push`.", {{1, 1}, {2, 0}}, 2},
    {DG_FORMAT_MARKDOWN, "Use `a` `git push`.", "(git push)", "(`git push` `a`)", {{0, 0}}, 1},
    {DG_FORMAT_MARKDOWN, "`c` or `a b`", "x c y", "x `c` `a b`", {{2, 0}, {3, 2}}, 2},
    {DG_FORMAT_MARKDOWN, "`git push` **use it right now**", "git push jetzt",
        "`git push` **jetzt**", {{0, 0}}, 0},
    {DG_FORMAT_MARKDOWN, "**Use it** `git push`", "git push jetzt", "**`git push`** jetzt",
        {{0, 0}}, 0},
    {DG_FORMAT_MARKDOWN, "**Use** `f()`", "f()", "**`f()`**", {{0, 0}}, 0},
    {DG_FORMAT_MARKDOWN, "A,<b></b><i>B c</i>.", "a,b c.", "<i>a,b<b></b> c</i>.", {{0, 0}, {1, 1}},
        2},
    /* A pair keeps the marks within it, and encloses words without the spaces beside them. */
    {DG_FORMAT_MARKDOWN, "one *<br/>two*", "eins zwei", "eins *<br/>zwei*", {{0, 0}, {1, 1}}, 2},
    {DG_FORMAT_MARKDOWN, "See **[^1]the text**.", "Siehe den Text.", "Siehe **[^1]den Text**.",
        {{0, 0}, {1, 1}, {2, 2}}, 3},
    {DG_FORMAT_MARKDOWN, "See **the text[^1]**.", "Siehe den Text.", "Siehe **den Text[^1]**.",
        {{0, 0}, {1, 1}, {2, 2}}, 3},
    {DG_FORMAT_MARKDOWN, "See [![](a.png) text](u).", "Siehe Text.", "Siehe [![](a.png) Text](u).",
        {{0, 0}, {1, 1}}, 2},
    {DG_FORMAT_MARKDOWN, "See [*`a` b*](u).", "Siehe (x).", "Siehe ([*`a` x*](u)).",
        {{0, 0}, {2, 1}}, 2},
    {DG_FORMAT_MARKDOWN, "See [*b `a`*](u).", "Siehe (x).", "Siehe ([*x `a`*](u)).",
        {{0, 0}, {1, 1}}, 2},
    /* A tab within a pair is a space to the model, too. */
    {DG_FORMAT_MARKDOWN, "A **red\t dog** here.", "Ein roter Hund hier.",
        "Ein\t **roter Hund** hier.", {{0, 0}, {1, 1}, {2, 2}, {3, 3}}, 4},
    {DG_FORMAT_MARKDOWN, "A *dog<br/> plays* now.", "Jetzt spielt ein Hund.",
        "Jetzt *spielt ein Hund<br/>*.", {{3, 0}, {2, 1}, {1, 3}}, 3},
    {DG_FORMAT_MARKDOWN, "*A dog<br>plays.*", "Ein Hund spielt.", "*Ein Hund<br>spielt.*",
        {{0, 0}, {1, 1}, {2, 2}}, 3},
    {DG_FORMAT_MARKDOWN, "A *snow<br>storm*.", "Schneesturm.", "*Schneesturm*.<br>",
        {{1, 0}, {2, 0}}, 2},
    {DG_FORMAT_MARKDOWN, "A <b> </b> dog.", "Ein Hund.", "Ein<b></b> Hund.", {{0, 0}, {1, 1}}, 2},
    /* A mark between a word and its punctuation stays between them. */
    {DG_FORMAT_HTML, "9 kg/m<sup>3</sup>, it says.", "9 kg/m, sagt es.",
        "9 kg/m<sup>3</sup>, sagt es.", {{0, 0}, {1, 1}, {3, 2}, {2, 3}}, 4},
    {DG_FORMAT_HTML, "x<sub>1</sub>, x<sub>2</sub>, and y<sub>3</sub>.", "x, x und y.",
        "x<sub>1</sub>, x<sub>2</sub> und y<sub>3</sub>.", {{0, 0}, {1, 1}, {2, 2}, {3, 3}}, 4},
    {DG_FORMAT_MARKDOWN, "(A **dog**[^1].)", "(Ein Hund.)", "(Ein **Hund**[^1].)", {{0, 0}, {1, 1}},
        2},
    {DG_FORMAT_MARKDOWN, "Dogs etc.[^1], too", "Hunde usw., auch", "Hunde usw.[^1], auch",
        {{0, 0}, {1, 1}, {2, 2}}, 3},
    {DG_FORMAT_MARKDOWN, "Dogs,[^1] too", "Hunde, auch", "Hunde,[^1] auch", {{0, 0}, {1, 1}}, 2},
    {DG_FORMAT_MARKDOWN, "Call `f()`<wbr/>.", "Ruf f()", "Ruf `f()`<wbr/>", {{0, 0}, {1, 1}}, 2},
    {DG_FORMAT_MARKDOWN, "A,<b> </b>dog.", "Ein, Hund.", "Ein,<b></b> Hund.", {{0, 0}, {1, 1}}, 2},
    /* Letters attached to a mark stay attached. */
    {DG_FORMAT_MARKDOWN, "A*b*c", "Abc", "A*b*c", {{0, 0}}, 1},
    {DG_FORMAT_MARKDOWN, "un*break*able dog", "Hund unbreakable", "Hund un*break*able",
        {{0, 1}, {1, 0}}, 2},
    {DG_FORMAT_MARKDOWN, "**A**_b_", "Ab", "**A**_b_", {{0, 0}}, 1},
    {DG_FORMAT_MARKDOWN, "Run `f()`.", "Starte f( ).", "Starte `f()`.", {{0, 0}, {1, 1}, {1, 2}},
        3},
    {DG_FORMAT_MARKDOWN, "R&amp;D and `a`/`b`.", "R&D und a/b.", "R&amp;D und `a`/`b`.",
        {{0, 0}, {1, 1}, {2, 2}}, 3},
    {DG_FORMAT_MARKDOWN, "Go with :name now.", "Geh mit:name jetzt.", "Geh mit :name jetzt.",
        {{0, 0}, {1, 1}, {2, 1}, {3, 2}}, 4},
    /* The same characters twice, written differently once. */
    {DG_FORMAT_MARKDOWN, "a & b &amp; c", "a & b & c", "a & b &amp; c", {{0, 0}}, 1},
    {DG_FORMAT_MARKDOWN, "a\\*b \\* *c* * d", "a*b * c * d", "a\\*b \\* *c* * d", {{0, 0}, {2, 2}},
        2},
    {DG_FORMAT_MARKDOWN, "snake\\_case", "die snake_case", "die snake\\_case", {{0, 1}}, 1},
    {DG_FORMAT_MARKDOWN, "a_ b c\\_ d", "a_b", "a\\_b", {{0, 0}}, 1},
    {DG_FORMAT_MARKDOWN, "caf&eacute;", "der Kaffee", "der Kaffee", {{0, 1}}, 1},
    {DG_FORMAT_WRAPPED, "  one two three\r\nfour five six", "eins zwei drei vier fünf sechs",
        "eins zwei drei\r\nvier fünf sechs", {{0, 0}}, 0},
    {DG_FORMAT_WRAPPED, "a\nb\nc d e f g", "alles", "alles", {{0, 0}}, 0},
    {DG_FORMAT_WRAPPED, "I\nam very happy about it today.", "Darüber bin ich heute sehr glücklich.",
        "Darüber\nbin ich heute sehr glücklich.", {{0, 0}}, 0},
    {DG_FORMAT_WRAPPED, "I\nam very happy\nabout it today.",
        "Darüber bin ich heute sehr glücklich.", "Darüber\nbin ich\nheute sehr glücklich.",
        {{0, 0}}, 0},
    {DG_FORMAT_WRAPPED, "one two three four\nfive\nsix", "eins zwei drei vier",
        "eins zwei\ndrei\nvier", {{0, 0}}, 0},
    {DG_FORMAT_WRAPPED, "one two three\nfour", "eins  zwei", "eins\n zwei", {{0, 0}}, 0},
};

static void examples(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *got =
            decorated(cases[i].text, cases[i].format, cases[i].answer, cases[i].pairs, cases[i].n);
        if (strcmp(got, cases[i].want) != 0)
            fail_msg(
                "%s: %s became %s, not %s", cases[i].text, cases[i].answer, got, cases[i].want);
        free(got);
    }
}

static uint32_t next_random(uint64_t *x)
{
    *x = *x * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*x >> 33);
}

/* Marks of one letter: pairs "A".."H" open and "a".."h" close, verbatim digits. */
struct random_case {
    bool narrow; /* its pairs enclose nothing: every verbatim mark has its place */
    char document[64], flat[512], answer[512];
    struct dg_mark marks[64];
    size_t n;
    struct dg_word_pair pairs[64];
    size_t n_pairs;
};

#define LETTERS "zz z" /* letters of a verbatim mark: two words, for marks to fall between them */

static void add_inset(
    struct random_case *c, enum dg_mark_kind kind, char mark, uint32_t pair, size_t len)
{
    c->document[c->n] = mark;
    c->marks[c->n] = (struct dg_mark){kind, strlen(c->flat), len, c->n, c->n + 1, pair, {0, 0}};
    c->n++;
}

static void make_case(struct random_case *c, uint64_t *random)
{
    static const char *const words[] = {"om ", "un, ", "(ko) ", "vy. "};
    char open[8];
    size_t n_open = 0;
    uint32_t n_pairs = 0, n_words = next_random(random) % 12;
    memset(c, 0, sizeof *c);
    c->narrow = next_random(random) % 2;
    for (uint32_t i = 0; i < n_words + 1; i++) {
        while (next_random(random) % 3 == 0 && c->n < 24) {
            uint32_t what = next_random(random) % 4;
            if (what == 0 && n_pairs < 8) {
                open[n_open++] = (char)n_pairs;
                add_inset(c, DG_MARK_OPEN, (char)('A' + n_pairs), n_pairs + 1, 0);
                n_pairs++;
            }
            if (n_open && (what == 1 || (what == 0 && c->narrow))) {
                char p = open[--n_open];
                add_inset(c, DG_MARK_CLOSE, (char)('a' + p), (uint32_t)p + 1, 0);
            } else if (what == 2) {
                add_inset(c, DG_MARK_POINT, '#', 0, 0);
            } else if (what == 3) {
                add_inset(c, DG_MARK_PROTECTED, (char)('0' + next_random(random) % 10), 0,
                    strlen(LETTERS));
                strcat(c->flat, LETTERS);
                strcat(c->flat, next_random(random) % 2 ? " " : "");
            }
        }
        strcat(c->flat, i < n_words ? words[next_random(random) % 4] : "");
    }
    while (n_open) {
        char p = open[--n_open];
        add_inset(c, DG_MARK_CLOSE, (char)('a' + p), (uint32_t)p + 1, 0);
    }
    for (uint32_t i = next_random(random) % 12; i > 0; i--)
        strcat(c->answer, next_random(random) % 5 ? words[next_random(random) % 4] : LETTERS " ");
    for (c->n_pairs = 0; c->n_pairs < next_random(random) % 20; c->n_pairs++)
        c->pairs[c->n_pairs] =
            (struct dg_word_pair){next_random(random) % 14, next_random(random) % 14};
}

/* Checks that marks never write a verbatim mark's letters, and that these are replaced where the
 * model writes them. */
static void check_letters(const struct random_case *c, const char *out)
{
    size_t said = 0, left = 0, verbatim = 0;
    for (const char *p = c->answer; *p; p++)
        said += strncmp(p, LETTERS, strlen(LETTERS)) == 0;
    for (const char *p = out; *p; p++)
        left += *p == 'z';
    for (size_t i = 0; i < c->n; i++)
        verbatim += c->marks[i].kind == DG_MARK_PROTECTED;
    size_t most = 3 * said, least = said > verbatim ? 3 * (said - verbatim) : 0;
    if (left > most || (c->narrow && left > least))
        fail_msg("letters of something verbatim are said in %s, with %s for %s", out, c->answer,
            c->flat);
}

static void check_marks(const struct random_case *c, const char *out)
{
    char stack[16];
    size_t depth = 0, count[256] = {0};
    for (const char *p = out; *p; p++) {
        count[(unsigned char)*p]++;
        if (*p >= 'A' && *p <= 'H')
            stack[depth++] = *p;
        /* the answer's words have no letters of a .. h */
        if (*p >= 'a' && *p <= 'h' && (depth == 0 || stack[--depth] != *p - 'a' + 'A'))
            fail_msg("%s", out);
    }
    for (size_t i = 0; i < c->n; i++) {
        size_t want = 0;
        for (size_t k = 0; k < c->n; k++)
            want += c->document[k] == c->document[i];
        if (count[(unsigned char)c->document[i]] != want)
            fail_msg("%zu of %zu \"%c\" in %s", count[(unsigned char)c->document[i]], want,
                c->document[i], out);
    }
}

static size_t count_of(const char *s, const char *end, char c)
{
    size_t n = 0;
    for (; s < end; s++)
        n += *s == c;
    return n;
}

/* Checks that every pair still holds what it held. */
static void check_held(const struct random_case *c, const char *out)
{
    for (size_t i = 0; i < c->n; i++) {
        if (c->marks[i].kind != DG_MARK_OPEN)
            continue;
        const char *open = c->document + i, *close = strchr(open, *open - 'A' + 'a');
        const char *from = strchr(out, *open), *to = strchr(out, *close);
        for (const char *p = open; p < close; p++)
            if (count_of(from, to, *p) < count_of(open, close, *p))
                fail_msg("%s: \"%c\" is outside of \"%c\" in %s", c->document, *p, *open, out);
    }
}

static void whatever_the_alignment(void **state)
{
    (void)state;
    uint64_t random = 11;
    for (int round = 0; round < 50000; round++) {
        struct random_case c;
        struct dg_arena arena;
        struct dg_buffer out;
        make_case(&c, &random);
        dg_arena_init(&arena, 0);
        dg_buffer_init(&out);
        struct dg_mark_bytes *bytes = bytes_of(c.document, c.marks, c.n);
        struct dg_decoration d = {.bytes = bytes,
            .text = c.flat,
            .len = strlen(c.flat),
            .marks = c.marks,
            .n = c.n,
            .answer = c.answer,
            .answer_len = strlen(c.answer),
            .pairs = c.pairs,
            .n_pairs = c.n_pairs};
        assert_true(dg_decorate(&d, &arena, &out, NULL));
        check_marks(&c, out.data ? out.data : "");
        check_held(&c, out.data ? out.data : "");
        check_letters(&c, out.data ? out.data : "");
        free(bytes);
        dg_buffer_deinit(&out);
        dg_arena_deinit(&arena);
    }
}

/* Lines of words of any length: as many come out as went in, none of them empty if there are enough
 * words. */
static void line_ends(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (int round = 0; round < 20000; round++) {
        char text[512] = "", answer[512] = "";
        size_t n_words = 1 + next_random(&random) % 20, n_said = 1 + next_random(&random) % 20,
               lines = 1;
        for (size_t i = 0; i < n_words; i++) {
            bool ends = i > 0 && next_random(&random) % 4 == 0;
            lines += ends;
            strcat(text, i == 0 ? "" : ends ? "\n" : " ");
            strcat(text, &"sourcewords"[next_random(&random) % 11]);
        }
        for (size_t i = 0; i < n_said; i++) {
            strcat(answer, i == 0 ? "" : " ");
            strcat(answer, &"answerwords"[next_random(&random) % 11]);
        }
        char *got = decorated(text, DG_FORMAT_WRAPPED, answer, NULL, 0);
        size_t out = 1;
        for (const char *p = got; *p; p++)
            out += *p == '\n';
        if (out != (lines < n_said ? lines : n_said))
            fail_msg("%zu lines\n%s\nbecame %zu\n%s", lines, text, out, got);
        assert_null(strstr(got, "\n\n"));
        free(got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples),
        cmocka_unit_test(whatever_the_alignment),
        cmocka_unit_test(line_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
