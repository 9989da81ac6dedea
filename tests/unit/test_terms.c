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
static const struct dg_terms terms = {forms, 5, 3, term_ids, 9, continues, opens, NULL, NULL};

static const struct dg_terms_state start;

static void expect(const int32_t *ids, uint32_t n, uint32_t met, uint32_t pieces)
{
    const struct dg_terms_state s = dg_terms_look(&terms, &start, ids, n);
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
    const struct dg_terms_state s = dg_terms_look(&terms, &start, ids, n);
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

/* ---- sequences that grow ---- */

enum { FORMS = 9, IDS = 12, LETTERS = 5 };

/* Terms over few ids, so that they overlap, begin alike and continue one another. */
struct random_terms {
    struct dg_terms t;
    struct dg_term_form forms[FORMS];
    int32_t ids[FORMS * 4];
    uint64_t continues, opens;
};

static uint32_t draw(uint64_t *seed, uint32_t n)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % n;
}

static void draw_terms(struct random_terms *r, uint64_t *seed)
{
    *r = (struct random_terms){.continues = draw(seed, 1 << LETTERS) & draw(seed, 1 << LETTERS),
        .opens = draw(seed, 1 << LETTERS)};
    r->t = (struct dg_terms){
        .forms = r->forms, .ids = r->ids, .continues = &r->continues, .opens = &r->opens};
    for (uint32_t i = 0; i < FORMS; i++) {
        const bool first = !i || draw(seed, 2);
        struct dg_term_form *f = &r->forms[r->t.n_forms++];
        r->t.n += first;
        *f = (struct dg_term_form){
            r->t.n - 1, r->t.n_ids, 1 + draw(seed, 4), first ? DG_TERM_ANYWHERE : draw(seed, 3)};
        for (uint32_t k = 0; k < f->n; k++)
            r->ids[r->t.n_ids++] = (int32_t)draw(seed, LETTERS);
    }
}

static void expect_same(const struct random_terms *r, const struct dg_terms_state *settled,
    const int32_t *ids, uint32_t n)
{
    int32_t next[2][FORMS];
    const struct dg_terms_state s[] = {
        dg_terms_look(&r->t, settled, ids, n), dg_terms_look(&r->t, &start, ids, n)};
    uint32_t count[2];
    for (int i = 0; i < 2; i++)
        count[i] = dg_terms_next(&r->t, &s[i], ids, n, next[i], FORMS);
    assert_int_equal(s[0].met, s[1].met);
    assert_int_equal(s[0].pieces, s[1].pieces);
    assert_int_equal(count[0], count[1]);
    assert_memory_equal(next[0], next[1], count[0] * sizeof next[0][0]);
}

/* Random terms in random sequences, settled after none, some or all of their ids: what a look from
 * there finds is what a look at the whole sequence finds, whatever comes next. */
static void a_settled_beginning_changes_nothing(void **state)
{
    (void)state;
    uint64_t seed = 7, moved = 0;
    for (int round = 0; round < 20000; round++) {
        struct random_terms r;
        struct dg_terms_state settled = {0};
        int32_t ids[IDS + 1];
        draw_terms(&r, &seed);
        for (uint32_t n = 0; n < IDS; n++) {
            if (draw(&seed, 3))
                dg_terms_settle(&r.t, &settled, ids, n);
            expect_same(&r, &settled, ids, n);
            for (int32_t id = 0; id < LETTERS; id++) {
                ids[n] = id;
                expect_same(&r, &settled, ids, n + 1);
            }
            ids[n] = (int32_t)draw(&seed, LETTERS);
        }
        moved += settled.from;
    }
    assert_true(moved > 20000 * IDS / 2); /* most is settled most of the time */
}

/* A term settles once another word follows it, and a beginning of one keeps all after it open. */
static void open_terms_do_not_settle(void **state)
{
    (void)state;
    const int32_t ids[] = {5, 1, 11, 6, 5, 3, 4, 7};
    const uint32_t from[] = {0, 1, 1, 1, 4, 5, 5, 5, 8};
    struct dg_terms_state s = {0};
    for (uint32_t n = 0; n <= 8; n++) {
        dg_terms_settle(&terms, &s, ids, n);
        assert_int_equal(s.from, from[n]);
    }
    assert_int_equal(s.met, 5);
    assert_int_equal(s.pieces, 4);
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
    ids[8] = 4;
    copy.sources = (const struct dg_term_source[]){{2, 3}, {4, 6}, {7, 8}};
    assert_false(dg_terms_same(&terms, &copy));
}

/* ---- where attention is ---- */

/* Term 0 is from position 2, term 1 from 4 and 5, term 2 from 7; 1..9 begin words. */
static const struct dg_term_source places[] = {{2, 3}, {4, 6}, {7, 8}};
static const uint64_t word_begins[] = {UINT64_C(0x3ff)};

/* What is against `id` after ids[n], which came from sources[n], while attention is on `source`. */
static double against(
    const int32_t *ids, const int32_t *sources, uint32_t n, int32_t id, int32_t source)
{
    struct dg_terms t = terms;
    int32_t list[9], next[DG_MAX_TERM_FORMS];
    t.sources = places;
    t.begins = word_begins;
    memcpy(list, ids, n * sizeof *ids);
    list[n] = id;
    struct dg_terms_step s = {.before = dg_terms_look(&t, &start, list, n),
        .after = dg_terms_look(&t, &start, list, n + 1),
        .id = id,
        .here = dg_terms_from(&t, source),
        .last = dg_terms_from(&t, n ? sources[n - 1] : -1),
        .sources = sources,
        .n = n};
    const uint32_t count = dg_terms_next(&t, &s.before, list, n, next, DG_MAX_TERM_FORMS);
    for (uint32_t i = 0; i < count; i++)
        s.needed |= next[i] == id;
    return dg_terms_against(&t, &s);
}

static void a_term_belongs_where_its_source_is(void **state)
{
    (void)state;
    const int32_t ids[] = {5, 1, 11}, sources[] = {1, 2, 3};
    assert_float_equal(against(ids, sources, 0, 5, 1), 0, 0);  /* another word elsewhere */
    assert_true(against(ids, sources, 0, 5, 2) < 0);           /* in the place of term 0 */
    assert_true(against(ids, sources, 0, 15, 2) < 0);          /* likewise, without a blank */
    assert_float_equal(against(ids, sources, 0, 20, 2), 0, 0); /* a bracket there */
    assert_float_equal(against(ids, sources, 1, 1, 2), 0, 0);  /* term 0 begins in its place */
    assert_float_equal(against(ids, sources, 1, 1, 9), 0, 0);  /* or may be another word's start */
    assert_float_equal(against(ids, sources, 2, 11, 3), 0, 0); /* and goes on */
    assert_true(against(ids, sources, 2, 6, 3) < 0);           /* or is broken off */
    assert_float_equal(against(ids, sources, 3, 6, 3), 0, 0);  /* once it is there, others follow */
    assert_true(against(ids, sources, 3, 6, 2) < 0);           /* of other sources */
    assert_true(against(ids, sources, 3, 6, 2) > against(ids, sources, 0, 5, 2));
    assert_true(against(ids, sources, 1, 3, 2) < 0); /* term 1 ends in another one's place */
    assert_float_equal(against(ids, sources, 1, 3, 5), 0, 0);
    assert_int_equal(dg_terms_from(&terms, 2), 0); /* no places are known */
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
static const struct dg_terms pair = {pair_form, 1, 1, pair_ids, 2, nothing, nothing, NULL, NULL};

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
        static float lp[DG_MAX_BEAM * V];
        static int32_t ids[DG_MAX_BEAM * V];
        static struct dg_needed needed[DG_MAX_BEAM];
        const uint32_t k = dg_beam_wants(b, b->t) < V ? dg_beam_wants(b, b->t) : V;
        for (uint32_t r = 0; r < b->n_live; r++) {
            const float *row = table[b->t][dg_beam_last(b, r, 1)];
            offer_row(row, k, lp + r * V, ids + r * V);
            needed[r].n = dg_constrained_wants(b, r, needed[r].ids);
            for (uint32_t i = 0; i < needed[r].n; i++)
                needed[r].logprob[i] = row[needed[r].ids[i]];
        }
        const struct dg_candidates c = {
            .logprob = lp, .ids = ids, .k = k, .ld = V, .needed = needed};
        dg_beam_advance(b, &c);
    }
    assert_int_equal(b->n_finished, 1);
    assert_true(dg_terms_look(&pair, &start, b->finished[0].ids, b->finished[0].n).met == 1);
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
        cmocka_unit_test(a_settled_beginning_changes_nothing),
        cmocka_unit_test(open_terms_do_not_settle),
        cmocka_unit_test(equal_terms_are_the_same),
        cmocka_unit_test(a_term_belongs_where_its_source_is),
        cmocka_unit_test(the_search_finds_the_best_with_the_term),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
