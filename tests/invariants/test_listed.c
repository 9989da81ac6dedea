/* Sentences with a shortlist: the search equals one over a model in which all pieces outside the
 * list are impossible; a batch mixed with sentences that use the whole vocabulary changes nothing;
 * a step has at most one product with the whole output matrix. */
#include "tests/invariants/listed_problem.h"

struct answer {
    uint32_t n;
    int32_t ids[MAX_OUT];
    double score;
};

static struct dg_sentence sentence(const struct problem *p, int i)
{
    return (struct dg_sentence){.source = p->source[i],
        .n_source = p->n_source[i],
        .search = {.beam = i % 2 ? 4 : 1, .max_len = MAX_OUT, .alpha = 0.6f}};
}

static void keep(struct answer *a, const struct dg_result *r)
{
    a->n = r->hyps[0].n;
    a->score = r->hyps[0].score;
    memcpy(a->ids, r->hyps[0].ids, a->n * sizeof *a->ids);
}

static void one(
    struct problem *p, struct dg_engine *e, const struct dg_sentence *s, struct answer *a)
{
    struct dg_error err = {0};
    (void)p;
    if (dg_engine_admit(e, 1, s, &err))
        fail_msg("%s", err.message);
    while (dg_engine_step(e))
        ;
    const struct dg_result *r = dg_engine_poll(e);
    assert_non_null(r);
    keep(a, r);
    dg_engine_release(e, r);
}

/* Opens the same weights with an output bias that excludes every piece outside the sentence's
 * list. */
static void open_masked(const struct problem *p, int i, struct random_model *m)
{
    struct dg_error err = {0};
    struct dg_weights_writer *w = NULL;
    uint64_t bits[(V + 63) / 64] = {0};
    int32_t ids[V];
    size_t n = dg_shortlist_select(p->list,
        &(struct dg_shortlist_need){.source = p->source[i], .n_source = p->n_source[i]}, bits, ids,
        V);
    assert_true(n > 60 && n < V / 3);
    char path[] = "/tmp/dragoman-test-XXXXXX";
    close(mkstemp(path));
    assert_int_equal(dg_weights_writer_open(&w, &err), 0);
    float *bias = malloc(V * sizeof *bias);
    for (size_t t = 0; t < dg_params_count(&p->c); t++) {
        struct dg_param_info info;
        dg_params_info(&p->c, t, &info);
        const struct dg_tensor *from = dg_weights_find(p->m.weights, info.name);
        const void *data = from->stored[0].data;
        if (info.offset == offsetof(struct dg_params, out_b)) {
            for (int k = 0; k < V; k++)
                bias[k] = -1e9f;
            for (size_t k = 0; k < n; k++)
                bias[ids[k]] = ((const float *)data)[ids[k]];
            data = bias;
        }
        if (dg_weights_writer_add(w, info.name, info.N, info.K, DG_F32, data, &err))
            fail_msg("%s", err.message);
    }
    if (dg_weights_writer_commit(w, path, &err) || dg_cpu_open(NULL, &m->be, &err) ||
        dg_weights_open(path, &m->weights, &err) ||
        dg_model_open(&p->c, m->weights, m->be, 64, &m->model, &err))
        fail_msg("%s", err.message);
    dg_weights_writer_close(w);
    unlink(path);
    free(bias);
}

static void search_is_that_over_the_list(void **state)
{
    (void)state;
    struct problem *p = open_problem(DG_F32);
    for (int i = 0; i < SENTENCES; i++) {
        struct random_model m;
        struct dg_engine *e = NULL;
        struct dg_sentence s = sentence(p, i);
        struct answer listed, masked;
        struct dg_error err = {0};
        one(p, p->e, &s, &listed);
        open_masked(p, i, &m);
        if (dg_engine_open(m.model, m.be, NULL, &e, &err))
            fail_msg("%s", err.message);
        one(p, e, &s, &masked);
        assert_int_equal(listed.n, masked.n);
        assert_memory_equal(listed.ids, masked.ids, listed.n * sizeof(int32_t));
        /* The softmax's sum runs over fewer numbers, in another order. */
        assert_true(fabs(listed.score - masked.score) < 1e-4);
        dg_engine_close(e);
        random_model_close(&m);
    }
    close_problem(p);
}

/* A forced score is over the whole vocabulary, with a list or without: the same bits, for pieces
 * outside the list, too. */
static void scores_never_use_a_list(void **state)
{
    (void)state;
    struct problem *p = open_problem(DG_F32);
    struct answer listed[SENTENCES], full;
    struct dg_engine *e = NULL;
    struct dg_error err = {0};
    struct dg_sentence s[SENTENCES];
    for (int i = 0; i < SENTENCES; i++) {
        const int other = (i + 7) % SENTENCES;
        s[i] = sentence(p, i);
        s[i].prefix = p->source[other];
        s[i].n_prefix = p->n_source[other];
        s[i].forced = true;
        one(p, p->e, &s[i], &listed[i]);
    }
    dg_model_use_shortlist(p->m.model, p->m.weights, NULL);
    if (dg_engine_open(p->m.model, p->m.be, NULL, &e, &err))
        fail_msg("%s", err.message);
    for (int i = 0; i < SENTENCES; i++) {
        one(p, e, &s[i], &full);
        assert_int_equal(listed[i].n, full.n);
        assert_memory_equal(&listed[i].score, &full.score, sizeof full.score);
    }
    dg_engine_close(e);
    close_problem(p);
}

/* Forced and sampled sentences use the whole vocabulary in the same batch. */
static void batch_changes_nothing(void **state)
{
    (void)state;
    static const enum dg_type types[] = {DG_F32, DG_F16};
    for (int t = 0; t < 2; t++) {
        struct problem *p = open_problem(types[t]);
        struct answer alone[SENTENCES];
        struct dg_sentence s[SENTENCES];
        uint64_t rng = 8;
        int next = 0, done = 0;
        for (int i = 0; i < SENTENCES; i++) {
            s[i] = sentence(p, i);
            if (i % 5 == 2)
                s[i].search.sampling = (struct dg_sampling){.temperature = 1, .seed = 3};
            if (i % 5 == 3) { /* a prefix from outside the list */
                s[i].prefix = p->source[(i + 7) % SENTENCES];
                s[i].n_prefix = 1;
            }
            if (i % 5 == 4) {
                s[i].prefix = p->source[(i + 7) % SENTENCES];
                s[i].n_prefix = p->n_source[(i + 7) % SENTENCES];
                s[i].forced = true;
            }
            one(p, p->e, &s[i], &alone[i]);
            if (s[i].n_prefix)
                assert_int_equal(alone[i].ids[0], s[i].prefix[0]);
        }
        while (done < SENTENCES) {
            for (uint32_t join = rnd(&rng) % 6; join && next < SENTENCES; join--)
                if (!dg_engine_admit(p->e, (uint64_t)next, &s[next], NULL))
                    next++;
            dg_engine_step(p->e);
            for (const struct dg_result *r; (r = dg_engine_poll(p->e)); done++) {
                struct answer a;
                keep(&a, r);
                assert_int_equal(a.n, alone[r->id].n);
                assert_memory_equal(a.ids, alone[r->id].ids, a.n * sizeof(int32_t));
                assert_memory_equal(&a.score, &alone[r->id].score, sizeof a.score);
                dg_engine_release(p->e, r);
            }
        }
        close_problem(p);
    }
}

/* Counts, by a backend, of products with the whole output matrix since the counts were reset. */
static struct {
    const struct dg_ops *ops;
    const struct dg_weight *whole;
    int products;
    size_t rows;
} counted;

static void count_linear(
    struct dg_backend *be, const struct dg_linear *op, struct dg_rows x, struct dg_rows y, size_t M)
{
    if (op->w == counted.whole) {
        counted.products++;
        counted.rows += M;
    }
    counted.ops->linear(be, op, x, y, M);
}

/* Some sentences need every piece's logit, with others between them: each step has one product with
 * the whole matrix, for the rows of these and of the ones between. */
static void one_whole_product_a_step_at_most(void **state)
{
    (void)state;
    struct problem *p = open_problem(DG_F32);
    struct dg_ops ops = *p->m.be->ops;
    int steps = 0;
    counted.ops = p->m.be->ops;
    counted.whole = p->m.model->params.out_w;
    ops.linear = count_linear;
    p->m.be->ops = &ops;
    for (int i = 0; i < 5; i++) {
        const bool draws = i == 2 || i == 4;
        struct dg_sentence s = sentence(p, !draws);
        s.n_source = 2; /* a short list */
        if (draws)
            s.search.sampling = (struct dg_sampling){.temperature = 1, .seed = 3};
        assert_int_equal(dg_engine_admit(p->e, (uint64_t)i, &s, NULL), 0);
    }
    for (uint32_t rows; counted.products = 0, counted.rows = 0, (rows = dg_engine_step(p->e));) {
        assert_true(counted.products <= 1);
        steps += rows == 3 * 4 + 2 && counted.rows == 1 + 4 + 1;
        for (const struct dg_result *r; (r = dg_engine_poll(p->e));)
            dg_engine_release(p->e, r);
    }
    assert_true(steps > 0);
    p->m.be->ops = counted.ops;
    close_problem(p);
}

static void cancelled_and_closed_leak_nothing(void **state)
{
    (void)state;
    struct problem *p = open_problem(DG_F32);
    for (int i = 0; i < 4; i++) {
        struct dg_sentence s = sentence(p, i);
        assert_int_equal(dg_engine_admit(p->e, (uint64_t)i, &s, NULL), 0);
    }
    dg_engine_cancel(p->e, 0); /* before its first step */
    dg_engine_step(p->e);
    dg_engine_cancel(p->e, 1); /* while it is decoded */
    close_problem(p);          /* with the others still in the engine */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(search_is_that_over_the_list),
        cmocka_unit_test(scores_never_use_a_list), cmocka_unit_test(batch_changes_nothing),
        cmocka_unit_test(one_whole_product_a_step_at_most),
        cmocka_unit_test(cancelled_and_closed_leak_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
