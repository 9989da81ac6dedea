/* Sentences with a shortlist: the search equals one over a model in which all pieces outside the
 * list are impossible; a batch mixed with sentences that use the whole vocabulary changes nothing;
 * a step has at most one product with the whole output matrix. */
#include "tests/invariants/random_model.h"

#include "model/model_internal.h"

#define V 1500
#define SENTENCES 40
#define MAX_SOURCE 9
#define MAX_OUT 12

struct answer {
    uint32_t n;
    int32_t ids[MAX_OUT];
    double score;
};

struct problem {
    struct dg_config c;
    struct random_model m;
    struct dg_engine *e;
    struct dg_shortlist *list;
    struct dg_shortlist_data data;
    uint32_t always[2 * DG_MAX_BEAM + 2], first[V + 1], ids[V * 12];
    int32_t source[SENTENCES][MAX_SOURCE];
    uint32_t n_source[SENTENCES];
};

/* Makes a list of twelve translations per piece, the same on every call. */
static void make_list(struct problem *p)
{
    char path[] = "/tmp/dragoman-test-XXXXXX";
    struct dg_error err = {0};
    uint64_t rng = 5;
    int fd = mkstemp(path);
    close(fd);
    for (uint32_t i = 0; i < sizeof p->always / sizeof p->always[0]; i++)
        p->always[i] = 3 * i;
    for (uint32_t e = 0; e < V; e++)
        for (uint32_t k = 0; k < 12; k++)
            p->ids[(p->first[e] = 12 * e) + k] = rnd(&rng) % V;
    p->first[V] = 12 * V;
    p->data = (struct dg_shortlist_data){
        V, V, p->always, sizeof p->always / sizeof p->always[0], p->first, p->ids};
    if (dg_shortlist_write(path, &p->data, &err) || dg_shortlist_open(path, V, V, &p->list, &err))
        fail_msg("%s", err.message);
    unlink(path);
}

static struct problem *open_problem(enum dg_type type)
{
    struct problem *p = calloc(1, sizeof *p);
    struct dg_error err = {0};
    uint64_t rng = 11;
    dg_config_base(&p->c, V);
    p->c.D = 64;
    p->c.F = 128;
    p->c.H = 4;
    p->c.Dk = p->c.Dv = 16;
    p->c.enc_layers = p->c.dec_layers = 2;
    p->c.output_bias = true;
    random_model_open(&p->m, &p->c, type, NULL, 64, 77);
    make_list(p);
    dg_model_use_shortlist(p->m.model, p->m.weights, p->list);
    if (dg_engine_open(p->m.model, p->m.be, NULL, &p->e, &err))
        fail_msg("%s", err.message);
    for (int i = 0; i < SENTENCES; i++) {
        p->n_source[i] = 2 + rnd(&rng) % (MAX_SOURCE - 1);
        random_sentence(&p->c, p->source[i], p->n_source[i], &rng);
    }
    return p;
}

static void close_problem(struct problem *p)
{
    dg_engine_close(p->e);
    random_model_close(&p->m);
    dg_shortlist_close(p->list);
    free(p);
}

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

enum { OWNERS = 128, LONGEST = 60 };

/* Matrices of sentences' own rows: which of them are open, and bytes of all, now and at most. */
static struct {
    const struct dg_ops *ops;
    const struct dg_weight *open[OWNERS];
    size_t bytes[OWNERS], now, most;
} owned;

static int own_weight_new(struct dg_backend *be, const struct dg_weight_spec *spec,
    struct dg_weight **out, struct dg_error *err)
{
    const int rc = owned.ops->weight_new(be, spec, out, err);
    int i = 0;
    if (rc || strcmp(spec->name, "output rows") != 0)
        return rc;
    while (owned.open[i])
        i++;
    owned.open[i] = *out;
    owned.now += owned.bytes[i] = spec->N * spec->K * sizeof(float);
    owned.most = owned.now > owned.most ? owned.now : owned.most;
    return 0;
}

static void own_weight_free(struct dg_backend *be, struct dg_weight *w)
{
    for (int i = 0; w && i < OWNERS; i++)
        if (owned.open[i] == w) {
            owned.open[i] = NULL;
            owned.now -= owned.bytes[i];
        }
    owned.ops->weight_free(be, w);
}

static size_t bytes_without_list(struct problem *p)
{
    struct dg_engine *e = NULL;
    struct dg_error err = {0};
    dg_model_use_shortlist(p->m.model, p->m.weights, NULL);
    if (dg_engine_open(p->m.model, p->m.be, NULL, &e, &err))
        fail_msg("%s", err.message);
    const size_t n = dg_engine_bytes(e);
    dg_engine_close(e);
    dg_model_use_shortlist(p->m.model, p->m.weights, p->list);
    return n;
}

/* Admit a sentence with the longest list for which it gets rows of its own. */
static void admit_longest(struct problem *p, uint64_t id, uint32_t beam)
{
    int32_t source[LONGEST];
    uint64_t rng = id;
    random_sentence(&p->c, source, LONGEST, &rng);
    for (uint32_t n = LONGEST; n >= 2; n--) {
        const struct dg_sentence s = {
            .source = source, .n_source = n, .search = {.beam = beam, .max_len = MAX_OUT}};
        const size_t before = owned.now;
        assert_int_equal(dg_engine_admit(p->e, id, &s, NULL), 0);
        if (owned.now > before)
            return;
        dg_engine_cancel(p->e, id);
    }
}

/* The engine's size counts the rows that sentences own, also where wide searches, which then leave,
 * make long lists pay off for narrow ones, which stay. */
static void own_rows_are_counted(void **state)
{
    (void)state;
    struct problem *p = open_problem(DG_F32);
    const size_t counted_bytes = dg_engine_bytes(p->e) - bytes_without_list(p);
    struct dg_ops ops = *p->m.be->ops;
    owned.ops = p->m.be->ops;
    ops.weight_new = own_weight_new;
    ops.weight_free = own_weight_free;
    p->m.be->ops = &ops;
    for (uint64_t id = 0; id < 4 * 30; id++) {
        admit_longest(p, id, id % 4 == 3 ? 1 : DG_MAX_BEAM);
        for (uint64_t wide = id - 3; id % 4 == 3 && wide < id; wide++)
            dg_engine_cancel(p->e, wide);
    }
    assert_true(owned.most > 3 * V * 64 * sizeof(float)); /* as large as three whole matrices */
    assert_true(owned.most <= counted_bytes);
    close_problem(p);
    assert_int_equal(owned.now, 0);
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
        cmocka_unit_test(one_whole_product_a_step_at_most), cmocka_unit_test(own_rows_are_counted),
        cmocka_unit_test(cancelled_and_closed_leak_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
