/* The batcher over many steps: no class starves, reserved room is not taken away, nobody blocks the
 * others, and picking stays cheap. Time is what the tables say, except where picking is timed. */
#include "tests/unit/batcher_classes.h"

#include "server/schedule/patience.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Runs an engine with places for few sentences of `steps` steps each, and more of both classes
 * waiting than it can do. `says_no`: the room passed to the batcher does not include the places,
 * and the engine refuses sentences beyond them. Counts how many of each class joined over the time
 * of many sentences. */
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
            /* a new sentence replaces each one that joined */
            for (size_t i = 0; b.heaps[c].n < WAITING; i++)
                if (all[c][i].rows == 0) {
                    all[c][i] = (struct dg_entry){
                        .node.key = rank_of(&(struct one){c, ++next_rank, 1, 9}), .rows = 1};
                    dg_batcher_add(&b, &all[c][i]);
                }
        uint32_t rows = says_no ? 1000 : (uint32_t)(places - n);
        const struct dg_room room = {rows, rows, 0, 1000, step, 0};
        size_t k = dg_batcher_pick(&b, &room, list, n, got, WAITING);
        for (size_t i = 0; i < k; i++) {
            struct dg_entry *e = got[i];
            if (n == places) { /* this one and those after it keep their places in the queue */
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

/* Whatever the room, and however long sentences take compared with bulk's steps, each class gets a
 * share of the places. */
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

/* An engine with room for eight rows that never become free all at once: a sentence that needs all
 * of them joins when the live ones have ended, however many bulk ones wait for each row. */
static void no_room_is_taken_away(void **state)
{
    struct dg_batcher b = {.policy = dg_batch_policy_default};
    struct dg_entry bulk[200] = {0}, large = {.node.key = 9, .rows = 8}, *got[8];
    uint32_t ends[8], live = 0; /* ends: step at which each row ends */
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
        const struct dg_room room = {8 - live, 8 - live, 0, 8, step, 0};
        size_t n = dg_batcher_pick(&b, &room, list, live, got, 8);
        if (n > 0 && got[0] == &large)
            break;
        for (size_t i = 0; i < n; i++) /* each lives for about 40 steps */
            ends[live++] = (uint32_t)step + 40 + 5 * (uint32_t)i;
        if (step == 5)
            dg_batcher_add(&b, &large);
    }
    assert_in_range(step, 40, 100);
    dg_batcher_free(&b);
}

/* Returns the rank of a sentence that arrives at `ms`, with work for `ahead` ms in the server. */
static uint64_t rank_at(const struct dg_batcher *b, uint64_t ms, uint64_t work, uint64_t ahead)
{
    const struct dg_patience p = {.usual = 160};
    return dg_batcher_rank(
        &b->policy, I, ms * MS, dg_patience_ns(&p, work, (double)ahead / 1e3, (double)work / 80e3));
}

/* A device that does one sentence at a time, one per millisecond. One client sends 1,000 sentences
 * at once, others one now and then: these never wait for the thousand. And when there are more
 * short ones than it can do, a long one still gets its turn within its patience. */
static void nobody_blocks_nobody_starves(void **state)
{
    enum { MANY = 1000, RUN_MS = 30000 };
    struct dg_batcher b = {.policy = dg_batch_policy_default};
    struct dg_entry *many = calloc(MANY, sizeof *many), *small = calloc(RUN_MS, sizeof *small);
    struct dg_entry old = {.node.key = rank_at(&b, 0, 800, MANY), .source_tokens = 200, .rows = 4};
    const struct dg_room room = {.rows = 4, .sentences = 1, .knee = 4, .step = 1};
    uint64_t worst_ms = 0, old_ms = 0;
    (void)state;
    assert_true(many && small && dg_batcher_reserve(&b, MANY + RUN_MS + 1));
    for (uint32_t i = 0; i < MANY; i++) {
        many[i] = (struct dg_entry){
            .node.key = rank_at(&b, 0, 80u * (i + 1), 0), .source_tokens = 20, .rows = 4};
        dg_batcher_add(&b, &many[i]);
    }
    dg_batcher_add(&b, &old);
    for (uint64_t ms = 0; ms < RUN_MS; ms++) {
        struct dg_entry *got;
        /* half, then all of the device's capacity */
        for (int k = 0; k < (ms < 15000 ? (int)(ms % 2) : 1); k++) {
            small[ms] = (struct dg_entry){
                .node.key = rank_at(&b, ms, 80, 0), .source_tokens = 20, .rows = 4};
            dg_batcher_add(&b, &small[ms]);
        }
        if (dg_batcher_pick(&b, &room, NULL, 0, &got, 1) == 0)
            continue;
        if (got == &old)
            old_ms = ms;
        if (got >= small && got < small + RUN_MS && ms - (uint64_t)(got - small) > worst_ms)
            worst_ms = ms - (uint64_t)(got - small);
    }
    /* 1.6 times the work ahead of it plus twice its own; the thousand leave half of the device. */
    if (old_ms == 0 || old_ms > 1700 || worst_ms > 20)
        fail_msg("the long one waited %llu ms, a small one %llu", (unsigned long long)old_ms,
            (unsigned long long)worst_ms);
    dg_batcher_free(&b);
    free(many);
    free(small);
}

/* Picking among 10,000 costs about as much as among 100. */
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
    assert_true(many < 50); /* a linear search takes far longer */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_class_starves),
        cmocka_unit_test(no_room_is_taken_away),
        cmocka_unit_test(nobody_blocks_nobody_starves),
        cmocka_unit_test(picking_stays_cheap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
