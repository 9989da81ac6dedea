/* The policy by tables: what waits, what lives, what room there is; who joins and who advances.
 * Time is what the tables say. */
#include "server/schedule/batcher.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
#define I DG_CLASS_INTERACTIVE
#define B DG_CLASS_BULK
/* The same, and the engine had no room for it before. */
#define I_REFUSED (DG_CLASSES + DG_CLASS_INTERACTIVE)
#define B_REFUSED (DG_CLASSES + DG_CLASS_BULK)

/* Arrival in milliseconds, pieces x rows: patience is 5 ms each, 10 s at most. */
static void ranks(void **state)
{
    static const struct {
        enum dg_class class;
        uint64_t arrived_ms, work, rank_ms;
    } table[] = {
        {I, 0, 80, 400},
        {I, 1000, 80, 1400},
        {I, 0, 800, 4000},
        {I, 0, 2000, 10000},
        {I, 0, 2001, 10000}, /* nobody waits for late-comers any longer */
        {I, 0, UINT64_MAX, 10000},
        {B, 0, 80, 400},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        uint64_t rank = dg_batcher_rank(
            &dg_batch_policy_default, table[i].class, table[i].arrived_ms * MS, table[i].work);
        assert_int_equal(dg_batcher_class(rank), table[i].class);
        assert_int_equal(rank & (UINT64_MAX >> 1), table[i].rank_ms * MS);
    }
    struct dg_batch_policy fifo = dg_batch_policy_default;
    fifo.batching = DG_BATCHING_FIFO;
    assert_int_equal(dg_batcher_rank(&fifo, B, 7 * MS, 800), 7 * MS);
}

struct one {
    int class;     /* one of the above */
    uint64_t rank; /* within its class */
    uint32_t rows, tokens;
};

static const struct pick_case {
    const char *what;
    enum dg_batching batching;
    struct one live[4], waiting[6]; /* rows 0 ends a list; live in ascending order */
    struct dg_room room;            /* rows, sentences, blocks, knee, step */
    const char *picked;             /* places in waiting */
} picks[] = {
    {"nothing waits", 0, {{0}}, {{0}}, {100, 10, 0, 100, 1}, ""},
    {"all fit", 0, {{0}}, {{I, 1, 4, 9}, {I, 2, 4, 9}, {I, 3, 1, 9}}, {100, 10, 0, 100, 1}, "012"},
    {"by rank", 0, {{0}}, {{I, 3, 4, 9}, {I, 1, 4, 9}, {I, 2, 4, 9}}, {8, 10, 0, 100, 1}, "12"},
    {"sentences run out", 0, {{0}}, {{I, 1, 1, 9}, {I, 2, 1, 9}, {I, 3, 1, 9}}, {100, 2, 0, 100, 1},
        "01"},
    {"whoever has no room holds back those behind", 0, {{I, 1, 4, 9}},
        {{I, 2, 32, 9}, {I, 3, 1, 9}, {B, 1, 1, 9}}, {20, 10, 0, 100, 1}, ""},
    {"larger than the engine: alone, it will say so", 0, {{0}}, {{I, 1, 32, 9}, {I, 2, 1, 9}},
        {16, 10, 0, 100, 1}, "0"},
    {"interactive before bulk", 0, {{0}}, {{B, 1, 4, 9}, {I, 9, 4, 9}}, {100, 10, 0, 100, 1}, "10"},
    {"and it alone when one fits", 0, {{0}}, {{B, 1, 4, 9}, {I, 9, 4, 9}}, {4, 10, 0, 100, 1}, "1"},
    {"but one step in sixteen is bulk's", 0, {{0}}, {{B, 1, 4, 9}, {I, 9, 4, 9}},
        {4, 10, 0, 100, 16}, "0"},
    {"a full knee lets nobody in", 0, {{I, 1, 4, 9}, {I, 2, 4, 9}}, {{I, 3, 4, 9}},
        {100, 10, 0, 8, 1}, ""},
    {"but who goes before those that live", 0, {{I, 2, 4, 9}, {I, 5, 4, 9}},
        {{I, 3, 4, 9}, {I, 4, 4, 9}}, {100, 10, 0, 8, 1}, "0"},
    {"the first one joins whatever the knee", 0, {{I, 5, 4, 9}}, {{I, 3, 32, 9}},
        {100, 10, 0, 8, 1}, "0"},
    {"live bulk ones do not keep interactive ones out", 0, {{B, 1, 4, 9}, {B, 2, 4, 9}},
        {{I, 9, 4, 9}, {I, 10, 4, 9}, {I, 11, 4, 9}}, {100, 10, 0, 8, 1}, "01"},
    {"live interactive ones keep bulk ones out", 0, {{I, 9, 4, 9}, {I, 10, 4, 9}}, {{B, 1, 4, 9}},
        {100, 10, 0, 8, 1}, ""},
    {"but for bulk's step", 0, {{I, 9, 4, 9}, {I, 10, 4, 9}},
        {{B, 1, 4, 9}, {B, 2, 4, 9}, {B, 3, 4, 9}}, {100, 10, 0, 8, 16}, "01"},
    {"encoding is bounded beside running ones", 0, {{I, 1, 1, 1}},
        {{I, 2, 4, 200}, {I, 3, 4, 56}, {I, 4, 4, 1}}, {100, 10, 0, 100, 1}, "01"},
    {"but one always joins", 0, {{I, 1, 1, 1}}, {{I, 2, 4, 500}, {I, 3, 4, 1}},
        {100, 10, 0, 100, 1}, "0"},
    {"and nothing is bounded when nothing runs", 0, {{0}}, {{I, 2, 4, 500}, {I, 3, 4, 500}},
        {100, 10, 0, 100, 1}, "01"},
    {"bulk's step waits for an interactive one that was refused", 0, {{0}},
        {{B, 1, 4, 9}, {I_REFUSED, 9, 4, 9}}, {4, 10, 0, 100, 16}, "1"},
    {"who is before it does not", 0, {{0}}, {{B, 1, 4, 9}, {I_REFUSED, 9, 4, 9}, {I, 8, 4, 9}},
        {4, 10, 0, 100, 16}, "2"},
    {"bulk ones with fewer rows join", 0, {{I, 1, 4, 9}}, {{I, 2, 8, 9}, {B, 1, 1, 9}},
        {100, 10, 0, 8, 1}, "1"},
    {"but not before one that was refused", 0, {{I, 1, 4, 9}}, {{I_REFUSED, 2, 8, 9}, {B, 1, 1, 9}},
        {100, 10, 0, 8, 1}, ""},
    {"a bulk one that was refused keeps nobody out", 0, {{0}}, {{B_REFUSED, 1, 4, 9}, {I, 9, 4, 9}},
        {4, 10, 0, 100, 1}, "1"},
    {"fifo looks at neither knee nor class", DG_BATCHING_FIFO, {{I, 1, 4, 9}},
        {{I, 3, 4, 9}, {I, 2, 4, 9}, {I, 4, 4, 9}}, {8, 10, 0, 1, 8}, "10"},
    {"static: nobody joins a batch", DG_BATCHING_STATIC, {{I, 1, 4, 9}}, {{I, 2, 4, 9}},
        {100, 10, 0, 100, 1}, ""},
    {"static: until it is over", DG_BATCHING_STATIC, {{0}}, {{I, 2, 4, 9}, {I, 3, 4, 9}},
        {100, 10, 0, 1, 1}, "01"},
};

static uint64_t rank_of(const struct one *x)
{
    return x->rank | (x->class % DG_CLASSES == B ? UINT64_C(1) << 63 : 0);
}

/* The batcher's list of a table's live sentences, which are kept in entries. */
static size_t list_live(const struct one *live, struct dg_entry *entries, struct dg_entry **out)
{
    size_t n = 0;
    for (; n < 4 && live[n].rows > 0; n++) {
        entries[n] = (struct dg_entry){.node.key = rank_of(&live[n]), .rows = live[n].rows};
        out[n] = &entries[n];
    }
    return n;
}

static void who_joins(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof picks / sizeof *picks; c++) {
        const struct pick_case *x = &picks[c];
        struct dg_batcher b = {.policy = dg_batch_policy_default};
        struct dg_entry waiting[6] = {0}, *picked[6];
        struct dg_entry entries[4], *live[4];
        char got[7] = "";
        size_t n = 0, n_live = list_live(x->live, entries, live);
        b.policy.batching = x->batching;
        assert_true(dg_batcher_reserve(&b, 6));
        for (; n < 6 && x->waiting[n].rows > 0; n++) {
            waiting[n] = (struct dg_entry){.node.key = rank_of(&x->waiting[n]),
                .rows = x->waiting[n].rows,
                .source_tokens = x->waiting[n].tokens,
                .refused = x->waiting[n].class >= DG_CLASSES};
            dg_batcher_add(&b, &waiting[n]);
        }
        size_t k = dg_batcher_pick(&b, &x->room, live, n_live, picked, 6);
        for (size_t i = 0; i < k; i++)
            got[i] = (char)('0' + (picked[i] - waiting));
        if (strcmp(got, x->picked) != 0)
            fail_msg("%s: \"%s\" joined, not \"%s\"", x->what, got, x->picked);
        assert_int_equal(dg_batcher_count(&b), n - k);
        dg_batcher_free(&b);
    }
}

static void who_advances(void **state)
{
    static const struct {
        const char *what;
        struct one live[4];
        uint32_t knee;
        uint64_t step;
        const char *runs;
    } table[] = {
        {"all", {{I, 1, 4, 0}, {I, 2, 4, 0}, {B, 1, 4, 0}}, 12, 1, "111"},
        {"the first of the ranking", {{I, 1, 4, 0}, {I, 2, 4, 0}, {B, 1, 4, 0}}, 8, 1, "110"},
        {"bulk's step", {{I, 1, 4, 0}, {I, 2, 4, 0}, {B, 1, 4, 0}}, 8, 16, "101"},
        {"one always", {{I, 1, 32, 0}, {I, 2, 4, 0}}, 8, 1, "10"},
        {"whoever still fits", {{I, 1, 4, 0}, {I, 2, 8, 0}, {I, 3, 4, 0}}, 8, 1, "101"},
        {"bulk in what is left", {{I, 1, 4, 0}, {B, 1, 4, 0}, {B, 2, 4, 0}}, 8, 1, "110"},
    };
    (void)state;
    for (size_t c = 0; c < sizeof table / sizeof *table; c++) {
        struct dg_entry entries[4], *live[4];
        char got[5] = "";
        size_t n = list_live(table[c].live, entries, live);
        dg_batcher_run(&dg_batch_policy_default, table[c].knee, table[c].step, live, n);
        for (size_t i = 0; i < n; i++)
            got[i] = entries[i].runs ? '1' : '0';
        if (strcmp(got, table[c].runs) != 0)
            fail_msg("%s: %s, not %s", table[c].what, got, table[c].runs);
    }
}

/* The one that is picked when one sentence has room. */
static struct dg_entry *pick_one(struct dg_batcher *b, uint64_t step)
{
    const struct dg_room room = {.rows = 4, .sentences = 1, .knee = 4, .step = step};
    struct dg_entry *got;
    assert_int_equal(dg_batcher_pick(b, &room, NULL, 0, &got, 1), 1);
    return got;
}

/* Bulk's step comes when the one that room was kept for has joined or left, and before room is kept
 * for another one: whatever is refused, bulk ones do not starve. */
static void bulks_step_is_put_off_only(void **state)
{
    struct dg_batcher b = {.policy = dg_batch_policy_default};
    struct dg_entry bulk = {.node.key = rank_of(&(struct one){B, 1, 4, 9}), .rows = 4},
                    large = {.node.key = 9, .rows = 4, .refused = true},
                    other = {.node.key = 10, .rows = 4, .refused = true};
    (void)state;
    assert_true(dg_batcher_reserve(&b, 3));
    dg_batcher_add(&b, &bulk);
    dg_batcher_add(&b, &large);
    assert_ptr_equal(pick_one(&b, 16), &large);
    dg_batcher_add(&b, &large); /* there was no room again */
    assert_ptr_equal(pick_one(&b, 17), &large);
    dg_batcher_add(&b, &other); /* which then had none for this one */
    assert_ptr_equal(pick_one(&b, 18), &bulk);
    assert_ptr_equal(pick_one(&b, 19), &other);
    dg_batcher_add(&b, &bulk);
    dg_batcher_add(&b, &large);
    dg_batcher_remove(&b, &large); /* cancelled */
    assert_ptr_equal(pick_one(&b, 32), &bulk);
    dg_batcher_free(&b);
}

/* An engine with places for few sentences of `steps` steps each, and more of both classes waiting
 * than it can do. `says_no`: the places are not in the room that the batcher is told of, the engine
 * gives back whom it has none for. How many of each class have joined after many sentences'
 * time. */
static void fill_places(size_t places, uint32_t steps, bool says_no, size_t joined[DG_CLASSES])
{
    enum { WAITING = 8, MOST = 4 };
    struct dg_batcher b = {.policy = dg_batch_policy_default};
    struct dg_entry all[DG_CLASSES][WAITING] = {{{.rows = 0}}}, *got[WAITING];
    struct dg_entry live[MOST], *list[MOST];
    uint64_t ends[MOST], next_rank = 0, last = 200 * (uint64_t)steps + 3200;
    size_t n = 0;
    joined[I] = joined[B] = 0;
    for (size_t i = 0; i < MOST; i++)
        list[i] = &live[i];
    assert_true(places <= MOST && dg_batcher_reserve(&b, WAITING));
    for (uint64_t step = 1; step <= last; step++) {
        for (size_t i = 0; i < n;) {
            if (ends[i] == step) {
                n--;
                memmove(&live[i], &live[i + 1], (n - i) * sizeof *live);
                memmove(&ends[i], &ends[i + 1], (n - i) * sizeof *ends);
            } else {
                i++;
            }
        }
        for (int c = 0; c < DG_CLASSES; c++)
            for (size_t i = 0; b.heaps[c].n < WAITING; i++) /* whoever joined comes anew */
                if (all[c][i].rows == 0) {
                    all[c][i] = (struct dg_entry){
                        .node.key = rank_of(&(struct one){c, ++next_rank, 1, 9}), .rows = 1};
                    dg_batcher_add(&b, &all[c][i]);
                }
        uint32_t rows = says_no ? 1000 : (uint32_t)(places - n);
        const struct dg_room room = {rows, rows, 0, 1000, step};
        size_t k = dg_batcher_pick(&b, &room, list, n, got, WAITING);
        for (size_t i = 0; i < k; i++) {
            struct dg_entry *e = got[i];
            if (n == places) { /* this one and those behind it keep their places in the queue */
                e->refused = true;
                for (; i < k; i++)
                    dg_batcher_add(&b, got[i]);
                break;
            }
            size_t at = n++;
            for (; at > 0 && live[at - 1].node.key > e->node.key; at--) {
                live[at] = live[at - 1];
                ends[at] = ends[at - 1];
            }
            live[at] = (struct dg_entry){.node.key = e->node.key, .rows = 1};
            ends[at] = step + steps;
            joined[dg_batcher_class(e->node.key)]++;
            e->rows = 0;
        }
    }
    dg_batcher_free(&b);
}

/* Whatever there is room for, and however long sentences take beside bulk's steps, each class gets
 * a part of the places. */
static void no_class_starves(void **state)
{
    (void)state;
    for (int says_no = 0; says_no < 2; says_no++)
        for (size_t places = 1; places <= 4; places++)
            for (uint32_t steps = 1; steps <= 50; steps++) {
                size_t joined[DG_CLASSES];
                fill_places(places, steps, says_no, joined);
                size_t least = (joined[I] + joined[B]) / 20;
                if (joined[I] < 5 * least || joined[B] < least)
                    fail_msg(
                        "%zu places, %u steps%s: %zu interactive ones and %zu bulk ones joined",
                        places, steps, says_no ? ", engine says no" : "", joined[I], joined[B]);
            }
}

/* An engine with room for eight rows, none of them free at once: who needs all of them joins when
 * those that live have ended, however many bulk ones wait for each row. */
static void no_room_is_taken_away(void **state)
{
    struct dg_batcher b = {.policy = dg_batch_policy_default};
    struct dg_entry bulk[200] = {0}, large = {.node.key = 9, .rows = 8}, *got[8];
    uint32_t ends[8], live = 0; /* of each row: its step */
    uint64_t step = 1;
    (void)state;
    assert_true(dg_batcher_reserve(&b, 201));
    for (uint64_t i = 0; i < 200; i++) {
        bulk[i] = (struct dg_entry){.node.key = rank_of(&(struct one){B, i, 1, 9}), .rows = 1};
        dg_batcher_add(&b, &bulk[i]);
    }
    for (; step < 1000; step++) {
        struct dg_entry running[8], *list[8];
        for (uint32_t i = 0; i < live; i++)
            if (ends[i] == step)
                ends[i--] = ends[--live];
        for (uint32_t i = 0; i < live; i++) {
            list[i] = &running[i];
            running[i] = (struct dg_entry){.node.key = UINT64_C(1) << 63, .rows = 1};
        }
        const struct dg_room room = {8 - live, 8 - live, 0, 8, step};
        size_t n = dg_batcher_pick(&b, &room, list, live, got, 8);
        if (n > 0 && got[0] == &large)
            break;
        for (size_t i = 0; i < n; i++) /* each lives for 40 steps, more or less */
            ends[live++] = (uint32_t)step + 40 + 5 * (uint32_t)i;
        if (step == 5)
            dg_batcher_add(&b, &large);
    }
    assert_in_range(step, 40, 100);
    dg_batcher_free(&b);
}

/* A device that does one sentence at a time, one a millisecond. Somebody sends 1,000 sentences at
 * once, others one now and then: these never wait for the thousand. And with more short ones than
 * it can do, a long one gets its turn within its patience. */
static void nobody_blocks_nobody_starves(void **state)
{
    enum { MANY = 1000, RUN_MS = 30000 };
    struct dg_batcher b = {.policy = dg_batch_policy_default};
    struct dg_entry *many = calloc(MANY, sizeof *many), *small = calloc(RUN_MS, sizeof *small);
    struct dg_entry old = {
        .node.key = dg_batcher_rank(&b.policy, I, 0, 800), .source_tokens = 200, .rows = 4};
    const struct dg_room room = {.rows = 4, .sentences = 1, .knee = 4, .step = 1};
    uint64_t worst_ms = 0, old_ms = 0;
    (void)state;
    assert_true(many && small && dg_batcher_reserve(&b, MANY + RUN_MS + 1));
    for (uint32_t i = 0; i < MANY; i++) {
        many[i] = (struct dg_entry){.node.key = dg_batcher_rank(&b.policy, I, 0, 80u * (i + 1)),
            .source_tokens = 20,
            .rows = 4};
        dg_batcher_add(&b, &many[i]);
    }
    dg_batcher_add(&b, &old);
    for (uint64_t ms = 0; ms < RUN_MS; ms++) {
        struct dg_entry *got;
        for (int k = 0; k < (ms < 15000 ? (int)(ms % 2) : 1); k++) { /* half, then all it can do */
            small[ms] = (struct dg_entry){.node.key = dg_batcher_rank(&b.policy, I, ms * MS, 80),
                .source_tokens = 20,
                .rows = 4};
            dg_batcher_add(&b, &small[ms]);
        }
        if (dg_batcher_pick(&b, &room, NULL, 0, &got, 1) == 0)
            continue;
        if (got == &old)
            old_ms = ms;
        if (got >= small && got < small + RUN_MS && ms - (uint64_t)(got - small) > worst_ms)
            worst_ms = ms - (uint64_t)(got - small);
    }
    assert_true(old_ms > 0 && old_ms <= 4000); /* 800 x 5 ms */
    assert_true(worst_ms <= 420);              /* what their own patience lets pass */
    dg_batcher_free(&b);
    free(many);
    free(small);
}

/* Picking among 10,000 costs about what it does among 100. */
static double pick_us(size_t n)
{
    struct dg_batcher b = {.policy = dg_batch_policy_default};
    struct dg_entry *all = calloc(n, sizeof *all), *got[1];
    const struct dg_room room = {.rows = 4, .sentences = 1, .knee = 4, .step = 1};
    struct timespec from, to;
    uint32_t rng = 1;
    enum { ROUNDS = 20000 };
    assert_true(all && dg_batcher_reserve(&b, n));
    for (size_t i = 0; i < n; i++) {
        rng = rng * 1664525u + 1013904223u;
        all[i] = (struct dg_entry){.node.key = rng >> 8, .source_tokens = 20, .rows = 4};
        dg_batcher_add(&b, &all[i]);
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    for (int i = 0; i < ROUNDS; i++) {
        assert_int_equal(dg_batcher_pick(&b, &room, NULL, 0, got, 1), 1);
        rng = rng * 1664525u + 1013904223u;
        got[0]->node = (struct dg_heap_node){.key = rng >> 8};
        dg_batcher_add(&b, got[0]);
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    dg_batcher_free(&b);
    free(all);
    return ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / 1e3 /
           ROUNDS;
}

static void picking_stays_cheap(void **state)
{
    (void)state;
    double few = pick_us(100), many = pick_us(10000);
    print_message("taking one and putting one in: %.2f us of 100, %.2f us of 10,000\n", few, many);
    assert_true(many < 50); /* a search from end to end takes far longer */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks),
        cmocka_unit_test(who_joins),
        cmocka_unit_test(bulks_step_is_put_off_only),
        cmocka_unit_test(no_class_starves),
        cmocka_unit_test(no_room_is_taken_away),
        cmocka_unit_test(who_advances),
        cmocka_unit_test(nobody_blocks_nobody_starves),
        cmocka_unit_test(picking_stays_cheap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
