/* A cached step's attention over several threads: fewer segments than threads are split by heads,
 * into a part for each thread, at most one for each head, unless there is too little to share; the
 * answer has the same bits. */
#include "kernels/cpu/internal.h"
#include "tests/ops/ops.h"

#include <stdatomic.h>

enum { DIM = 64 };

/* The step of the instruction set under test, and how often it was called: once for each part of
 * each segment. */
static void (*step)(const struct dg_attn_step *t);
static atomic_size_t calls;

static void count_call(const struct dg_attn_step *t)
{
    atomic_fetch_add(&calls, 1);
    step(t);
}

enum { CALLS = 5, COUNTS = 5, SEGS = 4 };

static const int threads[COUNTS] = {1, 2, 7, 8, 16};

/* A lone sentence: its beam's queries over the source, or one query for each hypothesis. */
static const struct call {
    uint32_t H, n_segs, n_q, n_k;
    /* expected parts of a segment with each number of threads */
    size_t parts[COUNTS];
} all[CALLS] = {{8, 1, 4, 250, {1, 2, 7, 8, 8}}, {8, SEGS, 1, 250, {1, 1, 7, 8, 8}},
    {4, 1, 1, 250, {1, 2, 4, 4, 4}}, {16, 1, 4, 250, {1, 2, 7, 8, 16}},
    {8, 1, 1, 40, {1, 1, 1, 1, 1}}};

/* Elements of a call's result, and of its probabilities. */
static size_t size_of(const struct call *c)
{
    return (size_t)c->n_segs * c->n_q * c->H * (DIM + c->n_k);
}

/* The call's result, its probabilities behind it; returns how many parts a segment had. */
static size_t run(const char *isa, int n_threads, const struct call *c, float *got)
{
    const size_t n = (size_t)c->H * DIM, M = (size_t)c->n_segs * c->n_q,
                 each = (size_t)c->n_q * c->H * c->n_k;
    float *q = ops_floats(M * n, 1), *k = ops_floats(c->n_k * n, 2), *v = ops_floats(c->n_k * n, 3);
    struct dg_backend *be = ops_open(isa, n_threads);
    struct dg_cpu *cpu = dg_cpu_of(be);
    struct dg_cpu_isa counted = *cpu->isa;
    struct dg_attn_seg segs[SEGS];
    for (uint32_t i = 0; i < c->n_segs; i++)
        segs[i] = (struct dg_attn_seg){i * c->n_q, c->n_q, c->n_k, 0, NULL, false, i * each};
    struct dg_rows x = ops_rows(be, q, M, n, 0, n), y = ops_rows(be, NULL, M, n, 0, n);
    struct dg_attention op = {c->H, DIM, DIM, DG_ATTN_SEGS, segs, c->n_segs,
        .k = ops_rows(be, k, c->n_k, n, 0, n), .v = ops_rows(be, v, c->n_k, n, 0, n),
        .probs = ops_rows(be, NULL, c->n_segs, each, 0, each)};
    step = counted.step;
    counted.step = count_call;
    cpu->isa = &counted;
    atomic_store(&calls, 0);
    be->ops->attention(be, &op, x, y);
    be->ops->read(be, y, M, n, got);
    be->ops->read(be, op.probs, c->n_segs, each, got + M * n);
    be->ops->buf_free(be, x.buf);
    be->ops->buf_free(be, y.buf);
    be->ops->buf_free(be, op.k.buf);
    be->ops->buf_free(be, op.v.buf);
    be->ops->buf_free(be, op.probs.buf);
    dg_cpu_close(be);
    free(q), free(k), free(v);
    assert_int_equal(atomic_load(&calls) % c->n_segs, 0);
    return atomic_load(&calls) / c->n_segs;
}

static bool has_step(const char *isa)
{
    struct dg_backend *be = ops_open(isa, 1);
    const bool has = dg_cpu_of(be)->isa->step != NULL;
    dg_cpu_close(be);
    return has;
}

/* Compares a call's parts and bits with those of one thread. */
static void check(const char *isa, const struct call *c)
{
    const size_t n = size_of(c);
    float *alone = ops_memory(n, sizeof *alone), *got = ops_memory(n, sizeof *got);
    for (size_t t = 0; t < COUNTS; t++) {
        assert_int_equal(run(isa, threads[t], c, t ? got : alone), c->parts[t]);
        if (t)
            assert_memory_equal(got, alone, n * sizeof *got);
    }
    free(alone), free(got);
}

static void each_thread_has_a_part(void **state)
{
    (void)state;
    for (const char *const *isa = dg_cpu_isas(); *isa; isa++)
        for (size_t i = 0; has_step(*isa) && i < CALLS; i++)
            check(*isa, &all[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_thread_has_a_part)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
