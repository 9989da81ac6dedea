/* The policy by a table: what waits, what room there is, what joins. */
#include "server/batcher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NOW 1000

static const struct {
    const char *what;
    uint32_t rows[6], tokens[6]; /* of what waits; rows 0 ends the list */
    uint64_t deadline[6];
    struct dg_room room; /* rows, sentences, live */
    uint32_t encode_tokens;
    size_t picked[6], n;
} table[] = {
    {"nothing waits", {0}, {0}, {0}, {100, 10, 0}, 0, {0}, 0},
    {"all fit", {4, 4, 1}, {9, 9, 9}, {0}, {100, 10, 0}, 0, {0, 1, 2}, 3},
    {"exactly", {4, 4}, {9, 9}, {0}, {8, 2, 50}, 0, {0, 1}, 2},
    {"rows run out", {4, 4, 4}, {9, 9, 9}, {0}, {9, 10, 0}, 0, {0, 1}, 2},
    {"sentences run out", {1, 1, 1}, {9, 9, 9}, {0}, {100, 2, 0}, 0, {0, 1}, 2},
    {"one that does not fit holds back the others", {4, 32, 1}, {9, 9, 9}, {0}, {20, 10, 90}, 0,
        {0}, 1},
    {"no room at all", {1, 1}, {9, 9}, {0}, {0, 0, 100}, 0, {0}, 0},
    {"larger than the engine: alone, it will say so", {32, 1}, {9, 9}, {0}, {16, 10, 0}, 0, {0}, 1},
    {"late ones are passed over", {4, 4, 4}, {9, 9, 9}, {NOW, NOW + 1, NOW - 1}, {100, 10, 0}, 0,
        {1}, 1},
    {"encoding is bounded beside running ones", {4, 4, 4}, {60, 40, 1}, {0}, {100, 10, 8}, 100,
        {0, 1}, 2},
    {"but one always joins", {4, 4}, {500, 1}, {0}, {100, 10, 8}, 100, {0}, 1},
    {"and nothing is bounded when nothing runs", {4, 4}, {500, 500}, {0}, {100, 10, 0}, 100, {0, 1},
        2},
};

static void picks(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof table / sizeof *table; c++) {
        struct dg_waiting waiting[6] = {0};
        size_t n = 0, picked[6];
        for (; n < 6 && table[c].rows[n] > 0; n++)
            waiting[n] = (struct dg_waiting){.task = n,
                .rows = table[c].rows[n],
                .source_tokens = table[c].tokens[n],
                .deadline_ns = table[c].deadline[n]};
        struct dg_batch_policy policy = {.encode_tokens = table[c].encode_tokens};
        size_t got = dg_batcher_pick(&policy, waiting, n, &table[c].room, NOW, picked);
        if (got != table[c].n)
            print_error("%s\n", table[c].what);
        assert_int_equal(got, table[c].n);
        for (size_t i = 0; i < got; i++)
            assert_int_equal(picked[i], table[c].picked[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(picks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
