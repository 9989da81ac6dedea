/* The policy by tables: waiting and live sentences and the available room; which ones join and
 * advance. Time is what the tables say. */
#include "tests/unit/batcher_classes.h"

#include <string.h>

/* Arrival and patience in milliseconds: late-comers can overtake nobody for more than 10 s. */
static void ranks(void **state)
{
    static const struct {
        enum dg_class class;
        uint64_t arrived_ms, patience_ms, rank_ms;
    } table[] = {
        {I, 0, 0, 0},
        {I, 1000, 0, 1000},
        {I, 1000, 400, 1400},
        {I, 0, 10000, 10000},
        {I, 0, 10001, 10000},
        {I, 0, UINT64_MAX / MS, 10000},
        {B, 0, 400, 400},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        uint64_t rank = dg_batcher_rank(&dg_batch_policy_default, table[i].class,
            table[i].arrived_ms * MS, table[i].patience_ms * MS);
        assert_int_equal(dg_batcher_class(rank), table[i].class);
        assert_int_equal(rank & (UINT64_MAX >> 1), table[i].rank_ms * MS);
    }
    struct dg_batch_policy fifo = dg_batch_policy_default;
    fifo.batching = DG_BATCHING_FIFO;
    assert_int_equal(dg_batcher_rank(&fifo, B, 7 * MS, 800 * MS), 7 * MS);
}

static const struct pick_case {
    const char *what;
    enum dg_batching batching;
    struct one live[4], waiting[6]; /* rows 0 ends a list; live in ascending order */
    struct dg_room room;            /* rows, sentences, blocks, knee, step, patient knee */
    const char *picked;             /* indexes into waiting */
} picks[] = {
    {"nothing waits", 0, {{0}}, {{0}}, {100, 10, 0, 100, 1, 0}, ""},
    {"all fit", 0, {{0}}, {{I, 1, 4, 9}, {I, 2, 4, 9}, {I, 3, 1, 9}}, {100, 10, 0, 100, 1, 0},
        "012"},
    {"by rank", 0, {{0}}, {{I, 3, 4, 9}, {I, 1, 4, 9}, {I, 2, 4, 9}}, {8, 10, 0, 100, 1, 0}, "12"},
    {"sentences run out", 0, {{0}}, {{I, 1, 1, 9}, {I, 2, 1, 9}, {I, 3, 1, 9}},
        {100, 2, 0, 100, 1, 0}, "01"},
    {"whoever has no room holds back those behind", 0, {{I, 1, 4, 9}},
        {{I, 2, 32, 9}, {I, 3, 1, 9}, {B, 1, 1, 9}}, {20, 10, 0, 100, 1, 0}, ""},
    {"larger than the engine: alone, it will say so", 0, {{0}}, {{I, 1, 32, 9}, {I, 2, 1, 9}},
        {16, 10, 0, 100, 1, 0}, "0"},
    {"interactive before bulk", 0, {{0}}, {{B, 1, 4, 9}, {I, 9, 4, 9}}, {100, 10, 0, 100, 1, 0},
        "10"},
    {"and it alone when one fits", 0, {{0}}, {{B, 1, 4, 9}, {I, 9, 4, 9}}, {4, 10, 0, 100, 1, 0},
        "1"},
    {"but one step in sixteen is bulk's", 0, {{0}}, {{B, 1, 4, 9}, {I, 9, 4, 9}},
        {4, 10, 0, 100, 16, 0}, "0"},
    {"a full knee lets nobody in", 0, {{I, 1, 4, 9}, {I, 2, 4, 9}}, {{I, 3, 4, 9}},
        {100, 10, 0, 8, 1, 0}, ""},
    {"but who goes before those that live", 0, {{I, 2, 4, 9}, {I, 5, 4, 9}},
        {{I, 3, 4, 9}, {I, 4, 4, 9}}, {100, 10, 0, 8, 1, 0}, "0"},
    {"the first one joins whatever the knee", 0, {{I, 5, 4, 9}}, {{I, 3, 32, 9}},
        {100, 10, 0, 8, 1, 0}, "0"},
    {"live bulk ones do not keep interactive ones out", 0, {{B, 1, 4, 9}, {B, 2, 4, 9}},
        {{I, 9, 4, 9}, {I, 10, 4, 9}, {I, 11, 4, 9}}, {100, 10, 0, 8, 1, 0}, "01"},
    {"live interactive ones keep bulk ones out", 0, {{I, 9, 4, 9}, {I, 10, 4, 9}}, {{B, 1, 4, 9}},
        {100, 10, 0, 8, 1, 0}, ""},
    {"but for bulk's step", 0, {{I, 9, 4, 9}, {I, 10, 4, 9}},
        {{B, 1, 4, 9}, {B, 2, 4, 9}, {B, 3, 4, 9}}, {100, 10, 0, 8, 16, 0}, "01"},
    {"encoding is bounded beside running ones", 0, {{I, 1, 1, 1}},
        {{I, 2, 4, 200}, {I, 3, 4, 56}, {I, 4, 4, 1}}, {100, 10, 0, 100, 1, 0}, "01"},
    {"but one always joins", 0, {{I, 1, 1, 1}}, {{I, 2, 4, 500}, {I, 3, 4, 1}},
        {100, 10, 0, 100, 1, 0}, "0"},
    {"and nothing is bounded when nothing runs", 0, {{0}}, {{I, 2, 4, 500}, {I, 3, 4, 500}},
        {100, 10, 0, 100, 1, 0}, "01"},
    {"bulk's step waits for an interactive one that was refused", 0, {{0}},
        {{B, 1, 4, 9}, {I_REFUSED, 9, 4, 9}}, {4, 10, 0, 100, 16, 0}, "1"},
    {"who is before it does not", 0, {{0}}, {{B, 1, 4, 9}, {I_REFUSED, 9, 4, 9}, {I, 8, 4, 9}},
        {4, 10, 0, 100, 16, 0}, "2"},
    {"bulk ones with fewer rows join", 0, {{I, 1, 4, 9}}, {{I, 2, 8, 9}, {B, 1, 1, 9}},
        {100, 10, 0, 8, 1, 0}, "1"},
    {"but not before one that was refused", 0, {{I, 1, 4, 9}}, {{I_REFUSED, 2, 8, 9}, {B, 1, 1, 9}},
        {100, 10, 0, 8, 1, 0}, ""},
    {"a bulk one that was refused keeps nobody out", 0, {{0}}, {{B_REFUSED, 1, 4, 9}, {I, 9, 4, 9}},
        {4, 10, 0, 100, 1, 0}, "1"},
    {"patient ones join up to half of the step beside an urgent one", 0, {{I, 1, 4, 9}},
        {{I_PATIENT, 2, 4, 9}, {I_PATIENT, 3, 4, 9}, {I_PATIENT, 4, 4, 9}}, {100, 10, 0, 16, 1, 8},
        "0"},
    {"urgent ones fill the other half", 0, {{I, 1, 4, 9}},
        {{I_PATIENT, 2, 4, 9}, {I_PATIENT, 3, 4, 9}, {I, 4, 4, 9}, {I, 5, 4, 9}, {I, 6, 4, 9}},
        {100, 10, 0, 16, 1, 8}, "023"},
    {"a full step lets no urgent one pass a patient one", 0, {{I, 1, 4, 9}},
        {{I_PATIENT, 2, 8, 9}, {I, 3, 1, 9}}, {100, 10, 0, 8, 1, 4}, ""},
    {"patient ones alone fill the step", 0, {{I_PATIENT, 1, 4, 9}},
        {{I_PATIENT, 2, 4, 9}, {I_PATIENT, 3, 4, 9}, {I_PATIENT, 4, 4, 9}}, {100, 10, 0, 16, 1, 8},
        "012"},
    {"patient ones that rank first stop at half of the step", 0, {{I, 9, 4, 9}},
        {{I_PATIENT, 1, 4, 9}, {I_PATIENT, 2, 4, 9}, {I_PATIENT, 3, 4, 9}}, {100, 10, 0, 16, 1, 8},
        "01"},
    {"an urgent one that waits limits them, too", 0, {{0}},
        {{I_PATIENT, 1, 4, 9}, {I_PATIENT, 2, 4, 9}, {I_PATIENT, 3, 4, 9}, {I, 9, 4, 9}},
        {100, 10, 0, 16, 1, 8}, "013"},
    {"paused sentences take no room in the step", 0,
        {{I, 1, 4, 9}, {I_PATIENT, 2, 4, 9}, {I_PATIENT, 3, 4, 9}, {I_PATIENT, 4, 4, 9}},
        {{I, 5, 4, 9}, {I, 6, 4, 9}, {I, 7, 4, 9}}, {100, 10, 0, 16, 1, 8}, "01"},
    {"fifo looks at neither knee nor class", DG_BATCHING_FIFO, {{I, 1, 4, 9}},
        {{I, 3, 4, 9}, {I, 2, 4, 9}, {I, 4, 4, 9}}, {8, 10, 0, 1, 8, 0}, "10"},
    {"static: nobody joins a batch", DG_BATCHING_STATIC, {{I, 1, 4, 9}}, {{I, 2, 4, 9}},
        {100, 10, 0, 100, 1, 0}, ""},
    {"static: until it is over", DG_BATCHING_STATIC, {{0}}, {{I, 2, 4, 9}, {I, 3, 4, 9}},
        {100, 10, 0, 1, 1, 0}, "01"},
};

/* Makes the batcher's list of a table's live sentences, which are stored in entries. */
static size_t list_live(const struct one *live, struct dg_entry *entries, struct dg_entry **out)
{
    size_t n = 0;
    for (; n < 4 && live[n].rows > 0; n++) {
        entries[n] = entry_of(&live[n]);
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
            waiting[n] = entry_of(&x->waiting[n]);
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
        uint32_t patient_knee;
    } table[] = {
        {"all", {{I, 1, 4, 0}, {I, 2, 4, 0}, {B, 1, 4, 0}}, 12, 1, "111", 0},
        {"the first of the ranking", {{I, 1, 4, 0}, {I, 2, 4, 0}, {B, 1, 4, 0}}, 8, 1, "110", 0},
        {"bulk's step", {{I, 1, 4, 0}, {I, 2, 4, 0}, {B, 1, 4, 0}}, 8, 16, "101", 0},
        {"one always", {{I, 1, 32, 0}, {I, 2, 4, 0}}, 8, 1, "10", 0},
        {"a narrow sentence passes a wide one that does not fit",
            {{I, 1, 4, 0}, {I, 2, 8, 0}, {I, 3, 4, 0}}, 8, 1, "101", 0},
        {"bulk in what is left", {{I, 1, 4, 0}, {B, 1, 4, 0}, {B, 2, 4, 0}}, 8, 1, "110", 0},
        {"patient ones fill half of the step beside urgent ones",
            {{I, 1, 4, 0}, {I_PATIENT, 2, 4, 0}, {I_PATIENT, 3, 4, 0}, {I, 4, 4, 0}}, 16, 1, "1101",
            8},
        {"patient ones that rank first stop at half of the step",
            {{I_PATIENT, 2, 4, 0}, {I_PATIENT, 3, 4, 0}, {I_PATIENT, 4, 4, 0}, {I, 5, 4, 0}}, 16, 1,
            "1101", 8},
        {"patient ones alone all advance",
            {{I_PATIENT, 2, 4, 0}, {I_PATIENT, 3, 4, 0}, {I_PATIENT, 4, 4, 0}}, 16, 1, "111", 8},
    };
    (void)state;
    for (size_t c = 0; c < sizeof table / sizeof *table; c++) {
        struct dg_entry entries[4], *live[4];
        char got[5] = "";
        size_t n = list_live(table[c].live, entries, live);
        const struct dg_room room = {
            .knee = table[c].knee, .step = table[c].step, .patient_knee = table[c].patient_knee};
        dg_batcher_run(&dg_batch_policy_default, &room, live, n);
        for (size_t i = 0; i < n; i++)
            got[i] = entries[i].runs ? '1' : '0';
        if (strcmp(got, table[c].runs) != 0)
            fail_msg("%s: %s, not %s", table[c].what, got, table[c].runs);
    }
}

/* Returns the entry that is picked when there is room for one sentence. */
static struct dg_entry *pick_one(struct dg_batcher *b, uint64_t step)
{
    const struct dg_room room = {.rows = 4, .sentences = 1, .knee = 4, .step = step};
    struct dg_entry *got;
    assert_int_equal(dg_batcher_pick(b, &room, NULL, 0, &got, 1), 1);
    return got;
}

/* Bulk's step comes once the sentence that room was reserved for has joined or left, and before
 * room is reserved for another one: whatever is refused, bulk does not starve. */
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
    dg_batcher_add(&b, &large); /* there was no room for it again */
    assert_ptr_equal(pick_one(&b, 17), &large);
    dg_batcher_add(&b, &other); /* refused, too */
    assert_ptr_equal(pick_one(&b, 18), &bulk);
    assert_ptr_equal(pick_one(&b, 19), &other);
    dg_batcher_add(&b, &bulk);
    dg_batcher_add(&b, &large);
    dg_batcher_remove(&b, &large); /* cancelled */
    assert_ptr_equal(pick_one(&b, 32), &bulk);
    dg_batcher_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks),
        cmocka_unit_test(who_joins),
        cmocka_unit_test(bulks_step_is_put_off_only),
        cmocka_unit_test(who_advances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
