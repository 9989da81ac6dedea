/* A sentence's answer never depends on its neighbours: 200 sentences at the base model's dimensions
 * (512/2048/8, 6+6 layers, vocabulary 32,000), and at those of the smaller models of other programs
 * (SSRU decoder; pre-norm), each alone, then in random company (lengths, beams, arrivals, terms;
 * now and then paused for a while), on one thread and on two: the same pieces and the same bits of
 * every score. */
#include "tests/invariants/random_model.h"
#include "tests/sanitized.h"

#define SENTENCES 200
#define MAX_SOURCE 24
#define MAX_OUT 10

struct expected {
    int32_t source[MAX_SOURCE];
    uint32_t n_source;
    struct dg_search search;
    /* every fourth sentence has two, of two pieces and one; every eighth knows their sources */
    struct dg_terms terms;
    struct dg_term_form forms[2];
    struct dg_term_source term_sources[2];
    int32_t term_ids[4];
    uint32_t n_hyps;
    uint32_t n[4];
    int32_t ids[4][MAX_OUT];
    float token_logprob[4][MAX_OUT];
    double score[4];
};

static void make_terms(const struct dg_config *c, struct expected *x, bool placed, uint64_t *rng)
{
    static const uint64_t none[32000 / 64 + 1];
    static uint64_t half[32000 / 64 + 1]; /* pieces that begin a word */
    memset(half, 0x55, sizeof half);
    random_sentence(c, x->term_ids, 4, rng);
    x->forms[0] = (struct dg_term_form){0, 0, 2, DG_TERM_ANYWHERE};
    x->forms[1] = (struct dg_term_form){1, 2, 1, DG_TERM_ANYWHERE};
    x->terms = (struct dg_terms){x->forms, 2, 2, x->term_ids, 3, none, none, NULL, NULL};
    for (int i = 0; i < 2; i++) {
        const uint32_t begin = rnd(rng) % x->n_source;
        x->term_sources[i] = (struct dg_term_source){begin, begin + 1 + rnd(rng) % 4};
    }
    x->terms.sources = placed ? x->term_sources : NULL;
    x->terms.begins = placed ? half : NULL;
    x->search.max_len = 4 + rnd(rng) % (MAX_OUT - 3);
}

static void make_sentences(const struct dg_config *c, struct expected *all)
{
    uint64_t rng = 2017;
    for (int i = 0; i < SENTENCES; i++) {
        struct expected *x = &all[i];
        x->n_source = 1 + rnd(&rng) % MAX_SOURCE;
        random_sentence(c, x->source, x->n_source, &rng);
        uint32_t beam = i % 3 == 0 ? 1 : i % 3 == 1 ? 4 : 1 + rnd(&rng) % 4;
        x->search = (struct dg_search){.beam = beam,
            .n_best = 1 + rnd(&rng) % beam,
            .max_len = 1 + rnd(&rng) % MAX_OUT,
            .alpha = 0.6f};
        x->terms.n = 0;
        if (i % 4 == 0)
            make_terms(c, x, i % 8 == 0, &rng);
    }
}

/* Checks that every answer contains the terms. */
static void check_terms(const struct expected *x, const struct dg_result *r)
{
    assert_true(r->n_hyps > 0);
    for (uint32_t h = 0; h < r->n_hyps; h++) {
        const int32_t *ids = r->hyps[h].ids;
        bool two = false, one = false;
        for (uint32_t i = 0; i < r->hyps[h].n; i++) {
            two = two || (i > 0 && memcmp(ids + i - 1, x->term_ids, 2 * sizeof *ids) == 0);
            one = one || ids[i] == x->term_ids[2];
        }
        assert_true(two && one);
    }
}

static struct dg_sentence sentence(const struct expected *x)
{
    return (struct dg_sentence){.source = x->source,
        .n_source = x->n_source,
        .search = x->search,
        .terms = x->terms.n ? &x->terms : NULL};
}

static void keep(struct expected *x, const struct dg_result *r)
{
    x->n_hyps = r->n_hyps;
    if (x->terms.n)
        check_terms(x, r);
    for (uint32_t h = 0; h < r->n_hyps; h++) {
        x->n[h] = r->hyps[h].n;
        x->score[h] = r->hyps[h].score;
        memcpy(x->ids[h], r->hyps[h].ids, x->n[h] * sizeof(int32_t));
        memcpy(x->token_logprob[h], r->hyps[h].token_logprob, x->n[h] * sizeof(float));
    }
}

static void compare(const struct expected *x, const struct dg_result *r)
{
    assert_int_equal(r->n_hyps, x->n_hyps);
    for (uint32_t h = 0; h < r->n_hyps; h++) {
        assert_int_equal(r->hyps[h].n, x->n[h]);
        assert_memory_equal(r->hyps[h].ids, x->ids[h], x->n[h] * sizeof(int32_t));
        assert_memory_equal(r->hyps[h].token_logprob, x->token_logprob[h], x->n[h] * sizeof(float));
        assert_memory_equal(&r->hyps[h].score, &x->score[h], sizeof(double));
    }
}

static void alone(struct dg_engine *e, struct expected *all)
{
    for (int i = 0; i < SENTENCES; i++) {
        struct dg_sentence s = sentence(&all[i]);
        struct dg_error err = {0};
        if (dg_engine_admit(e, (uint64_t)i, &s, &err))
            fail_msg("%s", err.message);
        while (dg_engine_step(e))
            ;
        const struct dg_result *r = dg_engine_poll(e);
        assert_non_null(r);
        keep(&all[i], r);
        dg_engine_release(e, r);
    }
}

/* Runs the sentences in shuffled order; before each step a random number of them joins and some are
 * paused or resumed; now and then one is cancelled and admitted again. */
static void together(struct dg_engine *e, const struct expected *all, uint64_t seed)
{
    int order[SENTENCES], next = 0, finished = 0;
    for (int i = 0; i < SENTENCES; i++)
        order[i] = i;
    for (int i = SENTENCES - 1; i > 0; i--) {
        int j = (int)(rnd(&seed) % (uint32_t)(i + 1)), tmp = order[i];
        order[i] = order[j];
        order[j] = tmp;
    }
    while (finished < SENTENCES) {
        for (uint32_t join = rnd(&seed) % 12; join && next < SENTENCES; join--) {
            struct dg_sentence s = sentence(&all[order[next]]);
            if (dg_engine_admit(e, (uint64_t)order[next], &s, NULL))
                break;
            if (rnd(&seed) % 16 == 0) {
                dg_engine_cancel(e, (uint64_t)order[next]);
                continue;
            }
            next++;
        }
        for (int i = 0; i < SENTENCES; i++)
            dg_engine_pause(e, (uint64_t)i, rnd(&seed) % 3 == 0);
        dg_engine_step(e);
        for (const struct dg_result *r; (r = dg_engine_poll(e)); finished++) {
            compare(&all[r->id], r);
            dg_engine_release(e, r);
        }
    }
}

static void check(struct dg_config *c, enum dg_type type)
{
    static struct expected all[SENTENCES];
    struct random_model m;
    struct dg_error err = {0};
#if SANITIZED
    c->enc_layers = c->dec_layers = 1; /* a sanitizer build is an order of magnitude slower */
    c->source_vocab = c->target_vocab = 2000;
#endif
    make_sentences(c, all);
    random_model_open(&m, c, type, NULL, 100, 42);
    for (int threads = 1; threads <= 2; threads++) {
        struct dg_engine *e = NULL;
        struct dg_backend *be = NULL;
        struct dg_cpu_options cpu = {.threads = threads};
        struct dg_engine_limits limits = {
            .max_rows = 32, .max_source = MAX_SOURCE, .max_target = MAX_OUT};
        assert_int_equal(dg_cpu_open(&cpu, &be, &err), 0);
        assert_int_equal(dg_engine_open(m.model, be, &limits, &e, &err), 0);
        if (threads == 1)
            alone(e, all);
        together(e, all, 1000 + (uint64_t)threads);
        dg_engine_close(e);
        dg_cpu_close(be);
    }
    random_model_close(&m);
}

static void batch_is_alone(void **state)
{
    (void)state;
    struct dg_config c;
    dg_config_base(&c, 32000);
    check(&c, DG_F16);
}

/* Firefox's "tiny", except for the vocabulary. */
static void with_states(void **state)
{
    (void)state;
    struct dg_config c;
    dg_config_base(&c, 4000);
    c.D = 256;
    c.F = 1536;
    c.Dk = c.Dv = 32;
    c.embed_scale = 16;
    c.dec_layers = 2;
    c.decoder = DG_DECODER_SSRU;
    c.positions = DG_POS_MARIAN;
    c.attention_bias = c.output_bias = true;
    check(&c, DG_F32);
}

/* A smaller model of Argos' kind. */
static void with_norms_before(void **state)
{
    (void)state;
    struct dg_config c;
    dg_config_base(&c, 4000);
    c.D = 256;
    c.F = 1024;
    c.Dk = c.Dv = 32;
    c.embed_scale = 16;
    c.enc_layers = c.dec_layers = 3;
    c.pre_norm = true;
    c.start = 2;
    c.source_eos = false;
    c.attention_bias = c.output_bias = true;
    check(&c, DG_F16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(batch_is_alone),
        cmocka_unit_test(with_states), cmocka_unit_test(with_norms_before)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
