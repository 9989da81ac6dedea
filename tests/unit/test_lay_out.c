/* Documents through planning and finishing with the identity instead of the model: every sentence's
 * answer is the sentence itself, each piece aligned with itself, so the document comes back
 * unchanged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/cpu/cpu.h"
#include "text/utf8.h"
#include "tests/unit/byte_of.h"
#include "translate/translate.h"

#define BUNDLE "tests/data/en-de" /* its two languages share a vocabulary */

static struct dg_backend *be;
static struct dg_translator *translator;

static int set_up(void **state)
{
    (void)state;
    struct dg_error err = {0};
    if (dg_cpu_open(NULL, &be, &err) || dg_translator_open(BUNDLE, be, 200, &translator, &err))
        fail_msg("%s", err.message);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    dg_translator_close(translator);
    dg_cpu_close(be);
    return 0;
}

/* Accepts sentence i with the pieces of s, each aligned with the sentence's piece at its place. */
static void accept_pieces(struct dg_job *j, size_t i, struct dg_sentence s)
{
    struct dg_error err = {0};
    float *logprob = calloc(s.n_source, sizeof *logprob);
    int32_t *alignment = malloc(s.n_source * sizeof *alignment);
    assert_true(logprob && alignment);
    for (uint32_t k = 0; k < s.n_source; k++)
        alignment[k] = (int32_t)k;
    struct dg_hypothesis h = {.ids = s.source, .token_logprob = logprob, .n = s.n_source};
    struct dg_result r = {
        .hyps = &h, .n_hyps = 1, .alignment = s.want_alignment ? alignment : NULL};
    if (dg_job_accept(j, i, &r, &err))
        fail_msg("%s", err.message);
    free(alignment);
    free(logprob);
}

/* Accepts sentence i as its own translation. */
static void accept_itself(struct dg_job *j, size_t i)
{
    struct dg_sentence s;
    dg_job_sentence(j, i, &s);
    accept_pieces(j, i, s);
}

/* Writes each part by itself, as a stream does, with the gaps between them: together they are the
 * whole answer. */
static void check_parts(struct dg_job *j, const char *text, const struct dg_answers *a)
{
    struct dg_error err = {0};
    struct dg_buffer out;
    size_t at = 0;
    dg_buffer_init(&out);
    for (size_t i = 0; i < dg_job_parts(j); i++) {
        struct dg_finished_part part;
        if (dg_job_finish_part(j, i, &part, &err))
            fail_msg("%s: %s", text, err.message);
        size_t begin = byte_of(text, part.source_begin);
        assert_true(begin >= at);
        dg_buffer_add(&out, text + at, begin - at);
        dg_buffer_add(&out, part.text, part.len);
        at = byte_of(text, part.source_end);
    }
    dg_buffer_adds(&out, text + at);
    assert_int_equal(out.len, a->best[0].len);
    assert_memory_equal(out.data, a->best[0].text, out.len);
    dg_buffer_deinit(&out);
}

/* Returns the document's translation by the identity; the caller frees it. */
static char *by_identity(const char *text, enum dg_format format)
{
    struct dg_translate_options o = {.search = {.alpha = -1}, .keep_loops = true, .format = format};
    struct dg_job *j = NULL;
    struct dg_answers a;
    struct dg_error err = {0};
    if (dg_job_encode(translator, text, strlen(text), &o, &j, &err))
        fail_msg("%s: %s", text, err.message);
    for (size_t i = 0; i < dg_job_sentences(j); i++)
        accept_itself(j, i);
    if (dg_job_finish(j, &a, &err))
        fail_msg("%s: %s", text, err.message);
    check_parts(j, text, &a);
    char *answer = strdup(a.best[0].text);
    dg_job_free(j);
    return answer;
}

static void check_unchanged(const char *const *texts, size_t n, enum dg_format format)
{
    for (size_t i = 0; i < n; i++) {
        char *answer = by_identity(texts[i], format);
        if (strcmp(answer, texts[i]) != 0)
            fail_msg("%s\nbecame\n%s", texts[i], answer);
        free(answer);
    }
}

#define CHECK_UNCHANGED(texts, format)                                                             \
    check_unchanged(texts, sizeof(texts) / sizeof *(texts), format)

/* An empty pair of marks where one sentence ends and the next begins. */
static void empty_pairs_between_sentences(void **state)
{
    (void)state;
    static const char *const markdown[] = {"a。<b></b>b", "a。![](a.png)b.", "a。[](#x)b",
        "a。<a id=x></a>b", "**a。**<b></b><i></i>*b*", "*a。<b></b>b* c", "a。[<b></b>b](u)",
        "a。<b></b>", "<b></b>a。b"};
    static const char *const srt[] = {"1\n00:00:01,000 --> 00:00:02,000\na。<i></i>b\n"};
    CHECK_UNCHANGED(markdown, DG_FORMAT_MARKDOWN);
    CHECK_UNCHANGED(srt, DG_FORMAT_SRT);
}

/* What a sentence is trimmed of (bullets, white space) may be the beginning of code. */
static void code_at_the_ends_of_sentences(void **state)
{
    (void)state;
    static const char *const texts[] = {"`# comment` is ignored.", "`- x`", "`- x` is a list.",
        "`> f` is cited.", "`1. x` is first.", "- `* x` is an item.\n- `1. x` is another.",
        "Type `` `x` ``", "See this. `` `Foo` `` is good.", "A dog. ` x. ` A cat.",
        "The dog `a. B` runs. The cat.", "A dog. The `- y`."};
    CHECK_UNCHANGED(texts, DG_FORMAT_MARKDOWN);
}

static void marks_around_code(void **state)
{
    (void)state;
    static const char *const texts[] = {"[`foo`](url) is a dog.", "A dog is **`foo`**.",
        "**`- x`** is a list.", "[`# x`](u) is a dog.",
        "See [`a`](u), [*`b`*](u) and [**`c` `d`**](u) in the snow.",
        "[A `dog`](u) and [`cat`](u)."};
    CHECK_UNCHANGED(texts, DG_FORMAT_MARKDOWN);
}

/* Expects the document where its sentences have these answers. */
static void expect_answered(const char *text, const char *const *answers, const char *want)
{
    struct dg_translate_options o = {
        .search = {.alpha = -1}, .keep_loops = true, .format = DG_FORMAT_MARKDOWN};
    struct dg_job *j = NULL, *other = NULL;
    struct dg_answers a;
    struct dg_error err = {0};
    struct dg_sentence s;
    assert_int_equal(dg_job_encode(translator, text, strlen(text), &o, &j, &err), 0);
    for (size_t i = 0; i < dg_job_sentences(j); i++) {
        struct dg_translate_options whole = {.search = {.alpha = -1}, .one_sentence = true};
        assert_non_null(answers[i]);
        assert_int_equal(
            dg_job_encode(translator, answers[i], strlen(answers[i]), &whole, &other, &err), 0);
        dg_job_sentence(other, 0, &s);
        s.want_alignment = false;
        accept_pieces(j, i, s);
        dg_job_free(other);
    }
    assert_null(answers[dg_job_sentences(j)]);
    assert_int_equal(dg_job_finish(j, &a, &err), 0);
    check_parts(j, text, &a);
    assert_string_equal(a.best[0].text, want);
    dg_job_free(j);
}

/* A title without quotation marks gets them where its whole value needs them: around several
 * sentences, and around what is in none of them. */
static void titles_of_several_parts(void **state)
{
    (void)state;
    static const struct {
        const char *title, *answers[3], *want;
    } cases[] = {
        {"The «dog» is here 🎉", {"\"Hund\" ist hier"}, "'\"Hund\" ist hier 🎉'"},
        {"🎉 The dog is here", {"Hund: hier"}, "'🎉 Hund: hier'"},
        {"🎉 The dog is here", {"\"Hund\" ist hier"}, "🎉 \"Hund\" ist hier"},
        {"The dog. The cat.", {"Der Hund.", "Die Katze."}, "Der Hund. Die Katze."},
        {"The dog. The cat.", {"Der Hund: hier.", "Ann's Katze."},
            "'Der Hund: hier. Ann''s Katze.'"},
        {"The dog. The cat.", {"Der Hund.", "Die Katze:"}, "'Der Hund. Die Katze:'"},
        {"A dog - https://x.org/a'b", {"Hund: -"}, "'Hund: - https://x.org/a''b'"},
        {"Dog: here. The cat.", {"Dog: here.", "The cat."}, "Dog: here. The cat."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256], want[256];
        snprintf(text, sizeof text, "---\ntitle: %s\n---\n", cases[i].title);
        snprintf(want, sizeof want, "---\ntitle: %s\n---\n", cases[i].want);
        expect_answered(text, cases[i].answers, want);
    }
}

/* The text of a link may be its label, which is not translated where it is defined. */
static void texts_that_are_labels(void **state)
{
    (void)state;
    static const struct {
        const char *text, *answers[3], *want;
    } cases[] = {
        {"[The dog]\n\n[the dog]: u\n", {"Der Hund"}, "[Der Hund][The dog]\n\n[the dog]: u\n"},
        {"[The dog][]\n\n[the dog]: u\n", {"Der Hund"}, "[Der Hund][The dog]\n\n[the dog]: u\n"},
        {"![The dog]\n\n[the dog]: u\n", {"Der Hund"}, "![Der Hund][The dog]\n\n[the dog]: u\n"},
        {"![The dog][]\n\n[the dog]: u\n", {"Der Hund"}, "![Der Hund][The dog]\n\n[the dog]: u\n"},
        {"[*The dog*]\n\n[*the dog*]: u\n", {"Der Hund"},
            "[*Der Hund*][*The dog*]\n\n[*the dog*]: u\n"},
        {"> [The\n> dog]\n\n[the dog]: u\n", {"Der Hund"},
            "> [Der\n> Hund][The\n> dog]\n\n[the dog]: u\n"},
        {"[The dog. A cat]\n\n[the dog. a cat]: u\n", {"Der Hund.", "Eine Katze"},
            "[Der Hund. Eine Katze][The dog. A cat]\n\n[the dog. a cat]: u\n"},
        {"![the dog] here\n\n[the dog]: u\n", {"der Hund", "hier"},
            "![der Hund][the dog] hier\n\n[the dog]: u\n"},
        {"See: ![the dog] here\n\n[the dog]: u\n", {"Sehen Sie: hier", "der Hund"},
            "Sehen ![der Hund][the dog] Sie: hier\n\n[the dog]: u\n"},
        {"[The dog][d]\n\n[d]: u\n\n[the dog]: v\n", {"Der Hund"},
            "[Der Hund][d]\n\n[d]: u\n\n[the dog]: v\n"},
        {"[The dog](u)\n\n[the dog]: v\n", {"Der Hund"}, "[Der Hund](u)\n\n[the dog]: v\n"},
        {"[The dog]\n", {"[Der Hund]"}, "[Der Hund]\n"}, /* no link */
        {"[The dog]\n\n[the dog]: u\n", {"The dog"}, "[The dog]\n\n[the dog]: u\n"},
        {"![The dog][]\n\n[the dog]: u\n", {"The dog"}, "![The dog][]\n\n[the dog]: u\n"},
        {"[The dog] ![](v) is\n\n[the dog]: u\n", {"The dog is"},
            "[The dog] ![](v) is\n\n[the dog]: u\n"},
        {"[`foo`] is here\n\n[`foo`]: u\n", {"XX1 ist hier"}, "[`foo`] ist hier\n\n[`foo`]: u\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_answered(cases[i].text, cases[i].answers, cases[i].want);
}

static uint64_t next_random(uint64_t *x)
{
    *x = *x * 6364136223846793005ull + 1442695040888963407ull;
    return *x >> 33;
}

/* Counts each byte except spaces and line ends, which may be too few. */
static void count_bytes(const char *s, size_t count[static 256])
{
    memset(count, 0, 256 * sizeof *count);
    for (; *s; s++)
        count[(unsigned char)*s] += *s != ' ' && *s != '\n';
}

/* Random documents: marks may move, and spaces with them, but everything is kept once. (Two pairs
 * that meet within a word may write it twice: these documents have no such place.) */
static void everything_comes_back_once(void **state)
{
    (void)state;
    static const char *const bits[] = {"Two dogs ", "play ", "in the snow. ", "A girl! ", "a。",
        " `# x` ", " `- y. z` ", " `` `b` `` ", " ` 1. A. B ` ", " **", "girl** ", "[", "cat](u) ",
        "<b>", "</b>", "<b></b>", "<br/>", "![](a.png)", "\n", "\n\n", "\n- ", "\n1. ",
        "\n[^1]: ", " http://a.b/c ", "<!-- a->b -->", "\n\n00:01 --> 00:02\n"};
    uint64_t random = 5;
    char text[1024];
    for (int round = 0; round < 3000; round++) {
        size_t n = 0, before[256], after[256];
        for (size_t i = 1 + next_random(&random) % 25; i > 0; i--)
            n += (size_t)sprintf(
                text + n, "%s", bits[next_random(&random) % (sizeof bits / sizeof *bits)]);
        for (int format = DG_FORMAT_WRAPPED; format <= DG_FORMAT_MARKDOWN; format++) {
            char *answer = by_identity(text, (enum dg_format)format);
            count_bytes(text, before);
            count_bytes(answer, after);
            if (memcmp(before, after, sizeof before) != 0)
                fail_msg("%s\nbecame\n%s", text, answer);
            free(answer);
        }
    }
}

/* A sentence may have many marks and few words: time grows only with their number. */
static void many_marks(void **state)
{
    (void)state;
    static const char *const marks[] = {
        "<br/>", "<b></b>", "<b>", "[](u)", "*a* ", "<b>a</b> ", "`a`<br/>"};
    size_t n = 1 << 18;
    char *text = malloc(n + 64);
    assert_non_null(text);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        size_t len = (size_t)sprintf(text, "The dog ");
        while (len < n)
            len += (size_t)sprintf(text + len, "%s", marks[i]);
        sprintf(text + len, " plays.");
        free(by_identity(text, DG_FORMAT_MARKDOWN));
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_pairs_between_sentences),
        cmocka_unit_test(code_at_the_ends_of_sentences),
        cmocka_unit_test(marks_around_code),
        cmocka_unit_test(titles_of_several_parts),
        cmocka_unit_test(texts_that_are_labels),
        cmocka_unit_test(everything_comes_back_once),
        cmocka_unit_test(many_marks),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
