/* An engine's size counts the rows of the output matrix that sentences with a shortlist copy. */
#include "tests/invariants/listed_problem.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(own_rows_are_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
