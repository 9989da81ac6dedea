/* Loops in answers: real sentences and the output of searches that lose their place. Words stand
 * for pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "model/engine/ngram.h"
#include "translate/search/loops.h"

#include <string.h>

#define MOST 64

/* Converts words to ids: equal words get equal ids. */
struct text {
    int32_t ids[MOST];
    uint32_t n;
};

static struct text ids_of(const char *text)
{
    struct text t = {.n = 0};
    while (*text) {
        size_t n = strcspn(text, " ");
        uint32_t h = 2166136261u;
        for (size_t i = 0; i < n; i++)
            h = (h ^ (unsigned char)text[i]) * 16777619u;
        assert_true(t.n < MOST);
        t.ids[t.n++] = (int32_t)(h >> 1);
        text += n + (text[n] == ' ');
    }
    return t;
}

static void longest_runs(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        struct dg_loop want; /* count 1: none */
    } cases[] = {
        {"", {0, 0, 1}},
        {"a", {0, 0, 1}},
        {"a b c a b", {0, 0, 1}},
        {"a a a a", {0, 1, 4}},
        {"x a b a b a b y", {1, 2, 3}},
        {"x a b a b a b a y", {1, 2, 3}}, /* the half unit at the end does not count */
        {"a a a a a a a a", {0, 1, 8}},   /* and not "a a" four times */
        {"q a b c a b c a b c", {1, 3, 3}},
        {"x x x x a b c a b c a b c", {4, 3, 3}}, /* six repeated pieces against three */
        {"a b a b a b c c c c c", {6, 1, 5}},     /* four either way: the shorter period */
        {"a a b a a b a a b", {0, 3, 3}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct text t = ids_of(cases[i].text);
        struct dg_loop l;
        bool any = dg_loop_in_answer(NULL, 0, t.ids, t.n, &l);
        assert_int_equal(any, cases[i].want.count > 1);
        assert_int_equal(l.count, cases[i].want.count);
        if (any && (l.begin != cases[i].want.begin || l.period != cases[i].want.period))
            fail_msg("%s: %u times %u from %u", cases[i].text, l.count, l.period, l.begin);
    }
}

static const struct pair {
    const char *source, *answer;
    uint32_t period; /* 0: no loop */
} pairs[] = {
    {"A man is standing on a ladder .", "Ein Mann steht auf einer Leiter .", 0},
    {"A man is standing on a ladder .", "Ein Mann Mann Mann Mann Mann", 1},
    {"A man is standing on a ladder .",
        "Ein Mann steht auf einer auf einer auf einer auf einer Leiter .", 2},
    {"The more the merrier .", "Je mehr , desto besser , desto besser .", 0},
    {"It was very good .", "Es war sehr , sehr gut .", 0},
    {"It was very , very , very good .", "Es war sehr , sehr , sehr , sehr gut .", 0},
    {"It was very , very , very good .", "Es war sehr , sehr , sehr , sehr , sehr , sehr gut .", 2},
    {"Ha ha ha ha ha !", "Ha ha ha ha ha !", 0},
    {"1 0 0 0 0 0 0 inhabitants", "1 0 0 0 0 0 0 Einwohner", 0},
    {"Chapter 1 . . . . . . . . . . 7", "Kapitel 1 . . . . . . . . . . 7", 0},
    {"Chapter 1 . . . 7", "Kapitel 1 . . . . . . . . . . . . . . . .", 1},
    {"He went and went and went .", "Er ging und ging und ging .", 0},
    {"The house that Jack built .",
        "Das Haus , das Jack gebaut hat , das Jack gebaut hat , das Jack gebaut hat .", 5},
    {"No , no , no !", "Nein , nein , nein !", 0},
    {"", "a a a", 0},
    {"", "a a a a", 1},
    {"", "a b a b", 0},
    {"", "a b a b a b", 2},
};

static void loops_are_told_from_speech(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct text s = ids_of(pairs[i].source), a = ids_of(pairs[i].answer);
        struct dg_loop l;
        bool is = dg_loop_in_answer(s.ids, s.n, a.ids, a.n, &l);
        if (is != (pairs[i].period > 0) || l.period != pairs[i].period)
            fail_msg("%s: %u times %u pieces from %u", pairs[i].answer, l.count, l.period, l.begin);
        for (uint32_t k = 0; is && k < l.period * l.count; k++)
            assert_int_equal(a.ids[l.begin + k], a.ids[l.begin + k % l.period]);
    }
}

static void runs_that_repeat(void **state)
{
    (void)state;
    struct text t = ids_of("a b c a b"), c = ids_of("c"), d = ids_of("d"), a = ids_of("a");
    assert_true(dg_ngram_repeats(t.ids, t.n, 3, c.ids[0]));
    assert_false(dg_ngram_repeats(t.ids, t.n, 3, d.ids[0]));
    assert_false(dg_ngram_repeats(t.ids, t.n, 4, c.ids[0])); /* "c a b c" is new */
    assert_true(dg_ngram_repeats(t.ids, t.n, 1, a.ids[0]));
    assert_false(dg_ngram_repeats(t.ids, t.n, 1, d.ids[0]));
    assert_false(dg_ngram_repeats(t.ids, 2, 3, c.ids[0])); /* too short for one */
    assert_false(dg_ngram_repeats(t.ids, 0, 1, a.ids[0]));
    struct text same = ids_of("a a a");
    assert_true(dg_ngram_repeats(same.ids, 3, 3, a.ids[0])); /* the runs may overlap */
    assert_false(dg_ngram_repeats(same.ids, 2, 3, a.ids[0]));
    assert_int_equal(dg_ngram_blocked(t.ids, t.n, 3), 1);
    assert_int_equal(dg_ngram_blocked(t.ids, t.n, 1), t.n);
    assert_int_equal(dg_ngram_blocked(t.ids, 2, 3), 0);
}

/* Continuing any loop with the block on never forms a loop. */
static void the_block_ends_every_loop(void **state)
{
    (void)state;
    for (uint32_t period = 1; period <= 12; period++) {
        struct dg_loop loop = {0, period, 9}, found;
        int32_t ids[MOST];
        uint32_t order = dg_loop_block_order(&loop), n = 0;
        int32_t fresh = 1000;
        while (n < MOST) {
            int32_t next = (int32_t)(n % period);
            ids[n] = dg_ngram_repeats(ids, n, order, next) ? fresh++ : next;
            n++;
        }
        assert_true(fresh > 1000);
        if (dg_loop_in_answer(NULL, 0, ids, n, &found))
            fail_msg(
                "period %u: %u times %u from %u", period, found.count, found.period, found.begin);
    }
}

/* Blocked from the start, nothing loops; what the source has twice may repeat. */
static void blocked_from_the_start(void **state)
{
    (void)state;
    struct text t = ids_of("a b c d e"), comma = ids_of("a , b , c"),
                name = ids_of("a b c d e a b c f"), dots = ids_of(". . . . .");
    assert_int_equal(dg_loop_free_order(t.ids, t.n), 3);
    assert_int_equal(dg_loop_free_order(t.ids, 0), 3);
    assert_int_equal(dg_loop_free_order(comma.ids, comma.n), 3);
    assert_int_equal(dg_loop_free_order(name.ids, name.n), 6);
    assert_int_equal(dg_loop_free_order(dots.ids, dots.n), 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(longest_runs),
        cmocka_unit_test(loops_are_told_from_speech),
        cmocka_unit_test(runs_that_repeat),
        cmocka_unit_test(the_block_ends_every_loop),
        cmocka_unit_test(blocked_from_the_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
