/* Terms that an answer must contain: the parts of them that ids have, by hand; and the search,
 * against all possible sequences. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/engine/constrained.h"

#define EOS 0

/* Ids 1..9 begin words, 10..19 continue them, 20..29 are brackets, after which a word may begin
 * without a blank (as 30..39). */
static const uint64_t continues[] = {UINT64_C(0x3ff) << 10 | UINT64_C(0x3ff) << 30};
static const uint64_t opens[] = {UINT64_C(0x3ff) << 20};

/* Term 0: 1 11, in brackets 31 11, at the start 2 11. Term 1: 3. Term 2: 3 4. */
static const int32_t term_ids[] = {1, 11, 31, 11, 2, 11, 3, 3, 4};
static const struct dg_term_form forms[] = {
    {0, 0, 2, DG_TERM_ANYWHERE},
    {0, 2, 2, DG_TERM_INSIDE},
    {0, 4, 2, DG_TERM_FIRST},
    {1, 6, 1, DG_TERM_ANYWHERE},
    {2, 7, 2, DG_TERM_ANYWHERE},
};
static const struct dg_terms terms = {forms, 5, 3, term_ids, 9, continues, opens};

static void expect(const int32_t *ids, uint32_t n, uint32_t met, uint32_t pieces)
{
    const struct dg_terms_state s = dg_terms_look(&terms, ids, n);
    assert_int_equal(s.met, met);
    assert_int_equal(s.pieces, pieces);
}

#define LOOK(met, pieces, ...)                                                                     \
    do {                                                                                           \
        const int32_t list[] = {__VA_ARGS__};                                                      \
        expect(list, sizeof list / sizeof *list, met, pieces);                                     \
    } while (0)

static void terms_are_words_of_their_own(void **state)
{
    (void)state;
    assert_int_equal(dg_terms_pieces(&terms), 5);
    expect(NULL, 0, 0, 0);
    LOOK(1, 2, 5, 1, 11);      /* present */
    LOOK(1, 2, 5, 1, 11, 6);   /* followed by a word */
    LOOK(0, 0, 5, 1, 11, 12);  /* the word continues */
    LOOK(0, 1, 5, 1);          /* begun */
    LOOK(0, 0, 5, 1, 6);       /* broken off */
    LOOK(1, 2, 5, 1, 1, 11);   /* begun twice */
    LOOK(1, 2, 5, 20, 31, 11); /* in a bracket */
    LOOK(0, 0, 5, 31, 11);     /* within a word */
    LOOK(1, 2, 2, 11);         /* at the answer's start */
    LOOK(0, 0, 5, 2, 11);      /* not at its start */
}

/* The longest matches first, none overlaps another; a term that is met is no longer looked for. */
static void terms_do_not_overlap(void **state)
{
    (void)state;
    LOOK(4, 2, 3, 4);
    LOOK(2, 1, 3, 5);
    LOOK(6, 3, 3, 4, 3);
    LOOK(6, 3, 3, 5, 3, 4);
    LOOK(7, 5, 3, 5, 3, 4, 1, 11);
    LOOK(2, 2, 3, 5, 3); /* the second one has begun */
}

static bool wants(const int32_t *ids, uint32_t n, int32_t id)
{
    int32_t next[DG_MAX_TERM_FORMS];
    const struct dg_terms_state s = dg_terms_look(&terms, ids, n);
    const uint32_t count = dg_terms_next(&terms, &s, ids, n, next, DG_MAX_TERM_FORMS);
    bool found = false;
    for (uint32_t i = 0; i < count; i++)
        found = found || next[i] == id;
    return found;
}

static void next_pieces_begin_or_go_on(void **state)
{
    (void)state;
    const int32_t begun[] = {5, 1}, bracket[] = {5, 20}, all[] = {3, 5, 3, 4, 1, 11};
    assert_true(wants(NULL, 0, 1) && wants(NULL, 0, 2) && wants(NULL, 0, 3));
    assert_false(wants(NULL, 0, 31) || wants(NULL, 0, 11));
    assert_true(wants(begun, 2, 11) && wants(begun, 2, 3));
    assert_false(wants(begun, 2, 2) || wants(begun, 2, 4));
    assert_true(wants(bracket, 2, 31) && wants(bracket, 2, 1));
    for (int32_t id = 0; id < 40; id++)
        assert_false(wants(all, 6, id));
}

static void equal_terms_are_the_same(void **state)
{
    (void)state;
    int32_t ids[9];
    memcpy(ids, term_ids, sizeof ids);
    struct dg_terms copy = terms;
    copy.ids = ids;
    assert_true(dg_terms_same(&terms, &copy) && dg_terms_same(NULL, NULL));
    assert_false(dg_terms_same(&terms, NULL));
    ids[8] = 5;
    assert_false(dg_terms_same(&terms, &copy));
}

/* ---- the search ---- */

enum { V = 4, LONGEST = 5 };

static float table[LONGEST][V][V]; /* [position][last piece][next one] */

static void draw_table(uint64_t seed)
{
    for (int t = 0; t < LONGEST; t++) {
        for (int a = 0; a < V; a++) {
            double sum = 0, x[V];
            for (int b = 0; b < V; b++) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                sum += x[b] = exp((double)(seed >> 40) / 4194304.0);
            }
            for (int b = 0; b < V; b++)
                table[t][a][b] = (float)log(x[b] / sum);
        }
    }
}

/* One term, 2 3; no piece continues a word. */
static const int32_t pair_ids[] = {2, 3};
static const struct dg_term_form pair_form[] = {{0, 0, 2, DG_TERM_ANYWHERE}};
static const uint64_t nothing[1];
static const struct dg_terms pair = {pair_form, 1, 1, pair_ids, 2, nothing, nothing};

/* Finds the best sequence that contains the term and ends in </s> or at the maximum length. */
static double best_of_all(int32_t *ids, uint32_t t, double total)
{
    bool has = false;
    for (uint32_t i = 1; i < t; i++)
        has = has || (ids[i - 1] == 2 && ids[i] == 3);
    if (t && (ids[t - 1] == EOS || t == LONGEST))
        return has ? total : -INFINITY;
    double best = -INFINITY;
    for (int32_t id = 0; id < V; id++) {
        ids[t] = id;
        best =
            fmax(best, best_of_all(ids, t + 1, total + (double)table[t][t ? ids[t - 1] : 1][id]));
    }
    return best;
}

/* Writes the best k pieces of a row. */
static void offer_row(const float *logprob, uint32_t k, float *lp, int32_t *ids)
{
    bool taken[V] = {false};
    for (uint32_t i = 0; i < k; i++) {
        int best = -1;
        for (int id = 0; id < V; id++)
            if (!taken[id] && (best < 0 || logprob[id] > logprob[best]))
                best = id;
        taken[best] = true;
        ids[i] = best;
        lp[i] = logprob[best];
    }
}

static double search(uint32_t beam, struct dg_beam *b)
{
    const struct dg_search s = {
        .beam = beam, .n_best = 1, .max_len = LONGEST, .penalty = DG_PENALTY_NONE};
    assert_int_equal(dg_beam_begin(b, &s, EOS, NULL, 0, false, NULL), 0);
    b->terms = &pair;
    while (!b->done) {
        static float lp[DG_MAX_BEAM * V], needed_lp[DG_MAX_BEAM * DG_MAX_TERM_FORMS];
        static int32_t ids[DG_MAX_BEAM * V], needed[DG_MAX_BEAM * DG_MAX_TERM_FORMS];
        uint32_t n[DG_MAX_BEAM], k = dg_beam_wants(b) < V ? dg_beam_wants(b) : V;
        for (uint32_t r = 0; r < b->n_live; r++) {
            const float *row = table[b->t][dg_beam_last(b, r, 1)];
            const size_t at = (size_t)r * DG_MAX_TERM_FORMS;
            offer_row(row, k, lp + r * V, ids + r * V);
            n[r] = dg_constrained_wants(b, r, needed + at);
            for (uint32_t i = 0; i < n[r]; i++)
                needed_lp[at + i] = row[needed[at + i]];
        }
        const struct dg_candidates c = {.logprob = lp,
            .ids = ids,
            .k = k,
            .ld = V,
            .needed_logprob = needed_lp,
            .needed_ids = needed,
            .n_needed = n};
        dg_beam_advance(b, &c);
    }
    assert_int_equal(b->n_finished, 1);
    assert_true(dg_terms_look(&pair, b->finished[0].ids, b->finished[0].n).met == 1);
    return b->finished[0].logprob;
}

/* A beam with room for nearly all sequences finds the best one with the term; a narrow one finds
 * one that contains it. */
static void the_search_finds_the_best_with_the_term(void **state)
{
    (void)state;
    struct dg_beam b = {0};
    for (uint64_t seed = 1; seed <= 200; seed++) {
        int32_t ids[LONGEST];
        draw_table(seed);
        const double best = best_of_all(ids, 0, 0);
        assert_float_equal(search(DG_MAX_BEAM, &b), best, 1e-5);
        assert_true(search(1, &b) <= best + 1e-5);
        assert_true(search(3, &b) <= best + 1e-5);
    }
    dg_beam_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_are_words_of_their_own),
        cmocka_unit_test(terms_do_not_overlap),
        cmocka_unit_test(next_pieces_begin_or_go_on),
        cmocka_unit_test(equal_terms_are_the_same),
        cmocka_unit_test(the_search_finds_the_best_with_the_term),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
