/* Sentences with very many marks are decorated in linear time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "translate/layout/decorate.h"

/* What many pairs, each within the one before it, enclose of the text. */
struct core {
    const char *name, *text, *answer;
    /* bytes of the text within the pairs */
    size_t begin, end;
    /* a mark within them; DG_MARK_OPEN: none */
    enum dg_mark_kind mark;
};

static const struct core cores[] = {
    {"words", "Hello world.", "Hallo Welt.", 0, 12, DG_MARK_OPEN},
    {"nothing", "Hello world.", "Hallo Welt.", 6, 6, DG_MARK_OPEN},
    {"a single mark", "Hello world.", "Hallo Welt.", 6, 6, DG_MARK_POINT},
    {"a protected span", "Hello x world.", "Hallo x Welt.", 6, 7, DG_MARK_PROTECTED},
    {"a span that is left out", "Hello x world.", "Hallo Welt.", 6, 7, DG_MARK_PROTECTED},
};

/* The CPU seconds that it takes to place n pairs around a core. */
static double nested_seconds(const struct core *c, uint32_t n)
{
    const size_t n_inner = c->mark != DG_MARK_OPEN, n_marks = 2 * (size_t)n + n_inner;
    struct dg_mark *marks = calloc(n_marks, sizeof *marks);
    struct dg_mark_bytes *bytes = calloc(n_marks, sizeof *bytes);
    assert_true(marks && bytes);
    for (uint32_t i = 0; i < n; i++) {
        const size_t close = n + n_inner + i;
        marks[i] = (struct dg_mark){.kind = DG_MARK_OPEN, .at = c->begin, .id = i + 1};
        marks[close] = (struct dg_mark){.kind = DG_MARK_CLOSE, .at = c->end, .id = n - i};
        bytes[i] = (struct dg_mark_bytes){"(", 1};
        bytes[close] = (struct dg_mark_bytes){")", 1};
    }
    if (n_inner) {
        marks[n] = (struct dg_mark){.kind = c->mark, .at = c->begin, .len = c->end - c->begin};
        bytes[n] = (struct dg_mark_bytes){"x", 1};
    }
    const struct dg_word_pair pairs[] = {{0, 0}, {1, 1}};
    const struct dg_decoration d = {.bytes = bytes,
        .text = c->text,
        .len = strlen(c->text),
        .marks = marks,
        .n = n_marks,
        .answer = c->answer,
        .answer_len = strlen(c->answer),
        .pairs = pairs,
        .n_pairs = 2};
    struct dg_arena arena;
    struct dg_buffer out;
    dg_arena_init(&arena, 0);
    dg_buffer_init(&out);
    const clock_t before = clock();
    assert_true(dg_decorate(&d, &arena, &out, NULL));
    const double took = (double)(clock() - before) / CLOCKS_PER_SEC;
    if (out.len < 2 * n + strlen("Hallo"))
        fail_msg("around %s: %zu bytes of %u pairs", c->name, out.len, n);
    dg_buffer_deinit(&out);
    dg_arena_deinit(&arena);
    free(bytes);
    free(marks);
    return took;
}

/* 25,000 pairs took up to 4 s, and 100,000 16 times as long, where each place is compared with all
 * others or looks at all pairs around it. */
static void nested_pairs_take_linear_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cores / sizeof *cores; i++) {
        bool linear = false;
        double took = 0;
        /* up to three times, because a busy host adds to the time */
        for (int tries = 0; tries < 3 && !linear; tries++) {
            took = nested_seconds(&cores[i], 100000);
            linear = took < 0.3 || took < 9 * nested_seconds(&cores[i], 25000);
        }
        if (!linear)
            fail_msg("100,000 pairs around %s took %.1f s", cores[i].name, took);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nested_pairs_take_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
