/* A vocabulary of byte pieces, with a random model that puts any after any other: answers are still
 * whole characters, the best of those that are, and the same in any company, with a shortlist,
 * sampled, kept from repeating or cut at the length limit. */
#include "tests/invariants/random_model.h"

#include "model/engine/choose.h"
#include "text/utf8.h"

enum { FIRST = 5, V = 320, SENTENCES = 48, MAX_SOURCE = 9, MAX_OUT = 14 };

struct answer {
    uint32_t n;
    int32_t ids[MAX_OUT];
    float token_logprob[MAX_OUT];
    double score;
};

struct problem {
    struct dg_config c;
    struct random_model m;
    struct dg_byte_pieces *bytes;
    struct dg_shortlist *list;
    struct dg_engine *e;
    int32_t source[SENTENCES][MAX_SOURCE];
    struct dg_sentence s[SENTENCES];
};

/* Makes a list: every second piece always, and three for each piece of the source. */
static struct dg_shortlist *make_list(void)
{
    static uint32_t always[V / 2], first[V + 1], ids[3 * V];
    const struct dg_shortlist_data data = {V, V, always, V / 2, first, ids};
    struct dg_shortlist *list = NULL;
    struct dg_error err = {0};
    char path[] = "/tmp/dragoman-test-XXXXXX";
    uint64_t rng = 5;
    close(mkstemp(path));
    for (uint32_t i = 0; i < V / 2; i++)
        always[i] = 2 * i;
    for (uint32_t i = 0; i < 3 * V; i++)
        ids[i] = rnd(&rng) % V;
    for (uint32_t i = 0; i <= V; i++)
        first[i] = 3 * i;
    if (dg_shortlist_write(path, &data, &err) || dg_shortlist_open(path, V, V, &list, &err))
        fail_msg("%s", err.message);
    unlink(path);
    return list;
}

/* "é" in two bytes, as a glossary may require it. */
static const uint64_t no_piece[(V + 63) / 64];
static const int32_t term_ids[] = {FIRST + 0xC3, FIRST + 0xA9};
static const struct dg_term_form term_form = {.n = 2};
static const struct dg_terms terms = {.forms = &term_form,
    .n_forms = 1,
    .n = 1,
    .ids = term_ids,
    .n_ids = 2,
    .continues = no_piece,
    .opens = no_piece};

static void make_sentences(struct problem *p)
{
    uint64_t rng = 4;
    for (int i = 0; i < SENTENCES; i++) {
        struct dg_sentence *s = &p->s[i];
        s->source = p->source[i];
        s->n_source = 2 + rnd(&rng) % (MAX_SOURCE - 1);
        random_sentence(&p->c, p->source[i], s->n_source, &rng);
        s->search = (struct dg_search){.beam = i % 3 ? 4 : 1, .alpha = 0.6f};
        s->search.max_len = 1 + rnd(&rng) % MAX_OUT;
        s->search.no_repeat_ngram = i % 4 == 1 ? 1 : 0;
        if (i % 12 == 8) { /* needs the widest beam: every row has bytes to skip */
            s->search.beam = DG_MAX_BEAM;
            s->search.max_len = MAX_OUT;
            s->terms = &terms;
        }
        if (i % 8 == 7)
            s->search = (struct dg_search){
                .max_len = MAX_OUT, .sampling = {.temperature = 1.5f, .seed = (uint64_t)i}};
    }
}

static void open_problem(struct problem *p, bool listed)
{
    int32_t id[256];
    struct dg_error err = {0};
    memset(p, 0, sizeof *p);
    dg_config_base(&p->c, V);
    p->c.D = 32;
    p->c.F = 64;
    p->c.H = 4;
    p->c.Dk = p->c.Dv = 8;
    p->c.enc_layers = p->c.dec_layers = 1;
    for (int b = 0; b < 256; b++)
        id[b] = FIRST + b;
    random_model_open(&p->m, &p->c, DG_F32, NULL, 64, 21);
    if (dg_byte_pieces_open(id, V, &p->bytes, &err))
        fail_msg("%s", err.message);
    dg_model_use_byte_pieces(p->m.model, p->bytes);
    if (listed) {
        p->list = make_list();
        dg_model_use_shortlist(p->m.model, p->m.weights, p->list);
    }
    if (dg_engine_open(p->m.model, p->m.be, NULL, &p->e, &err))
        fail_msg("%s", err.message);
    make_sentences(p);
}

static void close_problem(struct problem *p)
{
    dg_engine_close(p->e);
    random_model_close(&p->m);
    dg_byte_pieces_close(p->bytes);
    dg_shortlist_close(p->list);
}

static void keep(struct answer *a, const struct dg_result *r)
{
    assert_true(r->n_hyps > 0);
    a->n = r->hyps[0].n;
    a->score = r->hyps[0].score;
    memcpy(a->ids, r->hyps[0].ids, a->n * sizeof *a->ids);
    memcpy(a->token_logprob, r->hyps[0].token_logprob, a->n * sizeof *a->token_logprob);
}

static void one(struct dg_engine *e, const struct dg_sentence *s, struct answer *a)
{
    struct dg_error err = {0};
    if (dg_engine_admit(e, 1, s, &err))
        fail_msg("%s", err.message);
    while (dg_engine_step(e))
        ;
    const struct dg_result *r = dg_engine_poll(e);
    assert_non_null(r);
    keep(a, r);
    dg_engine_release(e, r);
}

/* Checks that runs of bytes are text without control characters; returns the number of bytes. */
static uint32_t check_characters(const struct answer *a)
{
    char run[MAX_OUT];
    uint32_t n = 0, all = 0;
    for (uint32_t i = 0; i <= a->n; i++) {
        const int byte = i < a->n ? a->ids[i] - FIRST : -1;
        if (byte >= 0 && byte < 256) {
            assert_true(byte >= 0x20 && byte != 0x7F);
            run[n++] = (char)byte;
            all++;
        } else {
            assert_int_equal(dg_utf8_check(run, n, NULL), 0);
            n = 0;
        }
    }
    return all;
}

static void check_all(bool listed)
{
    static struct problem p;
    static struct answer alone[SENTENCES];
    uint32_t bytes = 0, done = 0, next = 0;
    uint64_t rng = 8;
    open_problem(&p, listed);
    for (int i = 0; i < SENTENCES; i++) {
        one(p.e, &p.s[i], &alone[i]);
        bytes += check_characters(&alone[i]);
        if (p.s[i].terms)
            assert_non_null(memmem(
                alone[i].ids, alone[i].n * sizeof alone[i].ids[0], term_ids, sizeof term_ids));
    }
    assert_true(bytes > SENTENCES);
    while (done < SENTENCES) {
        for (uint32_t join = rnd(&rng) % 6; join && next < SENTENCES; join--)
            if (!dg_engine_admit(p.e, next, &p.s[next], NULL))
                next++;
        dg_engine_step(p.e);
        for (const struct dg_result *r; (r = dg_engine_poll(p.e)); done++) {
            struct answer a;
            keep(&a, r);
            assert_int_equal(a.n, alone[r->id].n);
            assert_memory_equal(a.ids, alone[r->id].ids, a.n * sizeof *a.ids);
            assert_memory_equal(
                a.token_logprob, alone[r->id].token_logprob, a.n * sizeof *a.token_logprob);
            assert_memory_equal(&a.score, &alone[r->id].score, sizeof a.score);
            dg_engine_release(p.e, r);
        }
    }
    close_problem(&p);
}

static void answers_are_characters(void **state)
{
    (void)state;
    check_all(false);
}

static void answers_of_a_list_are_characters(void **state)
{
    (void)state;
    check_all(true);
}

/* Returns log P(piece | ids[n]), by scoring the whole. */
static float score(struct problem *p, int i, const int32_t *ids, uint32_t n, int32_t piece)
{
    int32_t target[MAX_OUT + 1];
    struct answer a;
    struct dg_sentence s = {.source = p->s[i].source,
        .n_source = p->s[i].n_source,
        .prefix = target,
        .n_prefix = n + 1,
        .search = {.alpha = -1},
        .forced = true};
    if (n)
        memcpy(target, ids, n * sizeof *ids);
    target[n] = piece;
    one(p->e, &s, &a);
    return a.token_logprob[n];
}

/* A greedy answer's piece is the best of all allowed ones, with its own log-probability: no other
 * piece that forms a character scores more. */
static void each_is_the_best_that_may_come(void **state)
{
    (void)state;
    static struct problem p;
    uint32_t masked = 0;
    open_problem(&p, false);
    const struct dg_byte_rule rule = dg_byte_rule_of(p.bytes, NULL, 0);
    for (int i = 0; i < SENTENCES; i += 3) { /* greedy ones; sampled ones are skipped below */
        struct answer a;
        if (p.s[i].search.sampling.temperature > 0)
            continue;
        p.s[i].search.no_repeat_ngram = 0;
        p.s[i].search.max_len = MAX_OUT / 2;
        one(p.e, &p.s[i], &a);
        for (uint32_t t = 0; t < a.n; t++) {
            const uint32_t room = MAX_OUT / 2 - (t + 1);
            bool better = false;
            for (int32_t id = 0; id < V; id++) {
                const float x = score(&p, i, a.ids, t, id);
                if (id == a.ids[t])
                    assert_true(fabsf(x - a.token_logprob[t]) < 1e-4f);
                if (x <= a.token_logprob[t] + 1e-4f)
                    continue;
                assert_false(dg_byte_rule_allows(&rule, a.ids, t, id, room));
                better = true;
            }
            masked += better;
        }
    }
    assert_true(masked > 0);
    close_problem(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_characters),
        cmocka_unit_test(answers_of_a_list_are_characters),
        cmocka_unit_test(each_is_the_best_that_may_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
