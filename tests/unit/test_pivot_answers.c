/* Spans, flags and scores of two hops, combined; worked by hand. */
#include "server/request/pivot_answers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static void sentences(void **state)
{
    (void)state;
    /* Two sentences became "aaaa. bbbb" in the middle, which the second model read as one; a third
     * became two. */
    struct dg_answer_sentence first_list[] = {{0, 5, 0, 5, -1.0, -1.0, DG_FLAG_UNK_COPIED},
        {6, 11, 6, 10, -3.0, -3.0, 0}, {12, 20, 11, 30, -0.5, -0.5, DG_FLAG_SPLIT}};
    struct dg_answer first_best = {"aaaa. bbbb cccccccc. dddddddd.", 30, -1.5};
    struct dg_answers first = {.best = &first_best,
        .n_best = 1,
        .sentences = first_list,
        .n_sentences = 3,
        .source_characters = 20,
        .source_tokens = 9,
        .target_tokens = 12};
    struct dg_answer_sentence second_list[] = {{0, 10, 0, 8, -0.25, -0.25, DG_FLAG_LENGTH_LIMITED},
        {11, 20, 9, 15, -0.25, -0.25, 0}, {21, 30, 16, 22, -0.75, -0.75, 0}};
    struct dg_answer best[] = {{"x", 1, -2.0}, {"y", 1, -4.0}};
    struct dg_answers a = {.best = best,
        .n_best = 2,
        .sentences = second_list,
        .n_sentences = 3,
        .source_characters = 30,
        .source_tokens = 12,
        .target_tokens = 14};
    struct dg_arena arena;
    dg_arena_init(&arena, 0);
    assert_int_equal(dg_pivot_answers_map(&first, &arena, &a, NULL), 0);
    assert_int_equal(a.n_sentences, 3);
    assert_int_equal(a.sentences[0].source_begin, 0);
    assert_int_equal(a.sentences[0].source_end, 11);
    assert_int_equal(a.sentences[0].target_end, 8);
    assert_int_equal(a.sentences[0].flags, DG_FLAG_LENGTH_LIMITED | DG_FLAG_UNK_COPIED);
    assert_true(a.sentences[0].score == -0.25 + -2.0);
    for (int i = 1; i < 3; i++) {
        assert_int_equal(a.sentences[i].source_begin, 12);
        assert_int_equal(a.sentences[i].source_end, 20);
        assert_int_equal(a.sentences[i].flags, DG_FLAG_SPLIT);
    }
    assert_int_equal(a.flags, DG_FLAG_LENGTH_LIMITED | DG_FLAG_UNK_COPIED | DG_FLAG_SPLIT);
    assert_true(a.best[0].score == -3.5 && a.best[1].score == -5.5);
    assert_int_equal(a.source_characters, 20);
    assert_int_equal(a.source_tokens, 9);
    assert_int_equal(a.target_tokens, 14);
    dg_arena_deinit(&arena);
}

static void alignments(void **state)
{
    (void)state;
    struct dg_answer_pair there[] = {{0, 3, 4, 7}, {4, 8, 0, 3}, {9, 12, 4, 7}};
    struct dg_answer_pair on[] = {{0, 3, 10, 12}, {4, 7, 0, 4}, {8, 9, 5, 6}};
    struct dg_answer best = {"", 0, 0};
    struct dg_answers first = {.best = &best, .n_best = 1, .alignments = there, .n_alignments = 3};
    struct dg_answers a = {.best = &best, .n_best = 1, .alignments = on, .n_alignments = 3};
    struct dg_arena arena;
    dg_arena_init(&arena, 0);
    assert_int_equal(dg_pivot_answers_map(&first, &arena, &a, NULL), 0);
    assert_int_equal(a.n_alignments, 3); /* pairs without a source are left out */
    assert_int_equal(a.alignments[0].source_begin, 4);
    assert_int_equal(a.alignments[0].target_begin, 10);
    assert_int_equal(a.alignments[1].source_begin, 0);
    assert_int_equal(a.alignments[1].target_end, 4);
    assert_int_equal(a.alignments[2].source_begin, 9);
    assert_int_equal(a.alignments[2].target_end, 4);
    dg_arena_deinit(&arena);
}

#define PAIRS 24

/* The definition: every pair of the second hop with every pair of the first that it overlaps, in
 * the order of both lists; one that equals the pair before it is left out. */
static size_t compose(
    const struct dg_answers *first, const struct dg_answers *second, struct dg_answer_pair *out)
{
    size_t n = 0;
    for (size_t i = 0; i < second->n_alignments; i++) {
        const struct dg_answer_pair *b = &second->alignments[i];
        for (size_t j = 0; j < first->n_alignments; j++) {
            const struct dg_answer_pair *a = &first->alignments[j];
            const struct dg_answer_pair pair = {
                a->source_begin, a->source_end, b->target_begin, b->target_end};
            if (a->target_begin < b->source_end && b->source_begin < a->target_end &&
                (n == 0 || memcmp(&out[n - 1], &pair, sizeof pair) != 0))
                out[n++] = pair;
        }
    }
    return n;
}

static uint32_t draw(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

/* Random pairs over a text of few words: overlapping, repeated, empty, in any order or nearly in
 * that of the words. */
static size_t draw_pairs(struct dg_answer_pair *list, uint32_t *seed, bool ordered)
{
    const size_t n = draw(seed, PAIRS + 1);
    for (size_t i = 0; i < n; i++) {
        const size_t from = ordered ? i / 2 : draw(seed, 20), to = ordered ? i / 2 : draw(seed, 20);
        list[i] = (struct dg_answer_pair){from, from + draw(seed, 4), to, to + draw(seed, 4)};
    }
    return n;
}

static void random_alignments_follow_the_definition(void **state)
{
    struct dg_answer_pair there[PAIRS], on[PAIRS], expected[PAIRS * PAIRS];
    struct dg_answer best = {"", 0, 0};
    uint32_t seed = 5;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        struct dg_answers first = {.best = &best, .n_best = 1, .alignments = there},
                          a = {.best = &best, .n_best = 1, .alignments = on};
        struct dg_arena arena;
        first.n_alignments = draw_pairs(there, &seed, round % 2 == 0);
        a.n_alignments = draw_pairs(on, &seed, round % 4 < 2);
        const size_t n = compose(&first, &a, expected);
        dg_arena_init(&arena, 0);
        assert_int_equal(dg_pivot_answers_map(&first, &arena, &a, NULL), 0);
        assert_int_equal(a.n_alignments, n);
        if (n > 0)
            assert_memory_equal(a.alignments, expected, n * sizeof *expected);
        dg_arena_deinit(&arena);
    }
}

/* Comparing every pair with every other took 7 s of CPU here; a walk along both lists takes some
 * milliseconds. */
static void a_long_text_takes_no_time(void **state)
{
    enum { WORDS = 40000 };
    struct dg_answer best = {"", 0, 0};
    struct dg_arena arena;
    (void)state;
    dg_arena_init(&arena, 0);
    struct dg_answer_pair *list = dg_arena_array(&arena, WORDS, sizeof *list);
    assert_non_null(list);
    for (size_t i = 0; i < WORDS; i++)
        list[i] = (struct dg_answer_pair){5 * i, 5 * i + 4, 5 * i, 5 * i + 4};
    struct dg_answers first = {.best = &best,
                          .n_best = 1,
                          .alignments = list,
                          .n_alignments = WORDS},
                      a = first;
    const clock_t start = clock();
    assert_int_equal(dg_pivot_answers_map(&first, &arena, &a, NULL), 0);
    assert_true(clock() - start < 2 * CLOCKS_PER_SEC);
    assert_int_equal(a.n_alignments, WORDS);
    assert_memory_equal(a.alignments, list, WORDS * sizeof *list);
    dg_arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sentences), cmocka_unit_test(alignments),
        cmocka_unit_test(random_alignments_follow_the_definition),
        cmocka_unit_test(a_long_text_takes_no_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
