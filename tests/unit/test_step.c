/* One update is the same however the batch is cut: over threads, passes, or processes. */
#include "trainer/update/init.h"
#include "trainer/recipe/recipe.h"
#include "trainer/data/shard.h"
#include "trainer/update/step.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { V = 50, PAIRS = 64, STEPS = 3 };

static char shard[64];

static int make_shard(void **state)
{
    (void)state;
    struct dg_shard_writer *w = NULL;
    struct dg_error err = {0};
    uint64_t random = 9;
    snprintf(shard, sizeof shard, "/tmp/test_step_%d.shard", (int)getpid());
    assert_int_equal(dg_shard_begin(shard, V, V, &w, &err), 0);
    for (int i = 0; i < PAIRS; i++) {
        int32_t ids[2][16];
        uint32_t len[2];
        for (int side = 0; side < 2; side++) {
            random = random * 6364136223846793005ull + 1442695040888963407ull;
            len[side] = 2 + (uint32_t)(random >> 33) % 12;
            for (uint32_t k = 0; k < len[side]; k++)
                ids[side][k] =
                    k + 1 == len[side] ? 0 : (int32_t)((random >> (k + 8)) % (V - 1)) + 1;
        }
        struct dg_shard_entry e = {.source_len = len[0], .target_len = len[1], .weight = 1};
        assert_int_equal(dg_shard_add(w, &e, ids[0], ids[1], &err), 0);
    }
    return dg_shard_commit_take(w, NULL, &err);
}

static int remove_shard(void **state)
{
    (void)state;
    return unlink(shard);
}

static struct dg_config small(void)
{
    struct dg_config c;
    dg_config_base(&c, V);
    c.D = 16;
    c.F = 32;
    c.H = 2;
    c.Dk = c.Dv = 8;
    c.enc_layers = c.dec_layers = 1;
    c.embed_scale = 4;
    return c;
}

struct process {
    int threads;
    uint64_t micro_tokens;
    const struct dg_ranks *ranks; /* NULL: alone */
    float *params;                /* out: [n], caller frees */
    size_t n;
    struct dg_step_result last;
};

/* Runs STEPS updates from the same start. */
static void *train(void *arg)
{
    struct process *p = arg;
    struct dg_config c = small();
    struct dg_crew_options wo = {&c, p->threads, 16, NULL};
    struct dg_adam_options ao = {0.9, 0.98, 1e-9, 0, 0};
    struct dg_dataset_options data = {
        .mode = DG_BATCH_SUM, .batch_tokens = 120, .seed = 4, .shuffle = true};
    struct dg_step_options so = {.clip = 1,
        .label_smoothing = 0.1,
        .dropout = 0.2,
        .attention_dropout = 0.1,
        .relu_dropout = 0.1,
        .seed = 5,
        .micro_tokens = p->micro_tokens};
    struct dg_crew *ws = NULL;
    struct dg_adam_state *a = NULL;
    struct dg_dataset *d = NULL;
    struct dg_error err = {0};
    const char *paths[1] = {shard};
    if (dg_crew_open(&wo, &ws, &err))
        fail_msg("%s", err.message);
    dg_init_random(ws->params, 3);
    if (dg_adam_open(&ao, ws->w[0].train, ws->params->n, &a, &err) ||
        dg_dataset_open_shards(paths, 1, &data, &d, &err) ||
        (p->ranks && dg_exchange_open(ws, p->ranks, &so.exchange, &err)))
        fail_msg("%s", err.message);
    for (int i = 0; i < STEPS; i++) {
        struct dg_batch b;
        if (dg_dataset_next(d, &b, &err) ||
            dg_step(ws, a, &so, &(struct dg_step_input){0.01, d, &b}, &p->last, &err))
            fail_msg("%s", err.message);
        assert_int_equal(p->last.sums.n, b.target_tokens);
    }
    p->n = ws->params->n;
    p->params = malloc(p->n * sizeof(float));
    ws->w[0].train->ops->block_read(ws->w[0].train, ws->params->data, p->n, p->params);
    dg_exchange_close(so.exchange);
    dg_dataset_close(d);
    dg_adam_close(a);
    dg_crew_close(ws);
    return NULL;
}

/* Sums of fp32 in another order: after three steps of Adam, weights of order 0.1 differ only by
 * rounding. Adam divides by the gradient's size, so an element whose gradient is itself rounding
 * noise may move by up to the learning rate: at most a few of them. */
static void expect_close(const struct process *a, const struct process *b)
{
    size_t far = 0;
    for (size_t i = 0; i < a->n; i++)
        far += fabsf(a->params[i] - b->params[i]) > 1e-4f;
    if (far > a->n / 200)
        fail_msg("%zu of %zu parameters differ", far, a->n);
    assert_true(fabs(a->last.sums.smoothed - b->last.sums.smoothed) < 2e-4 * a->last.sums.smoothed);
    assert_true(fabs(a->last.grad_norm - b->last.grad_norm) < 1e-3 * a->last.grad_norm);
}

static void test_same_again(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        struct process a = {.threads = threads, .micro_tokens = 60}, b = a;
        train(&a);
        train(&b);
        assert_memory_equal(a.params, b.params, a.n * sizeof(float));
        free(a.params), free(b.params);
    }
}

/* Dropout is on: masks depend on sentences, not on threads or passes. */
static void test_threads_and_passes(void **state)
{
    (void)state;
    struct process one = {.threads = 1, .micro_tokens = 10000},
                   others[3] = {{.threads = 3, .micro_tokens = 10000},
                       {.threads = 1, .micro_tokens = 40}, {.threads = 2, .micro_tokens = 1}};
    train(&one);
    for (int i = 0; i < 3; i++) {
        train(&others[i]);
        expect_close(&one, &others[i]);
        free(others[i].params);
    }
    free(one.params);
}

/* Two "processes" that meet at a barrier, as MPI ranks would. */
struct meeting {
    pthread_barrier_t barrier;
    void *x[2];
};

struct rank {
    struct meeting *m;
    size_t rank;
};

static int sum(void *ctx, float *x, size_t n, struct dg_error *err)
{
    struct rank *r = ctx;
    struct meeting *m = r->m;
    (void)err;
    m->x[r->rank] = x;
    pthread_barrier_wait(&m->barrier);
    float *both = malloc(n * sizeof *both);
    for (size_t i = 0; i < n; i++)
        both[i] = ((float *)m->x[0])[i] + ((float *)m->x[1])[i];
    pthread_barrier_wait(&m->barrier);
    memcpy(x, both, n * sizeof *both);
    free(both);
    return 0;
}

static int sum_doubles(void *ctx, double *x, size_t n, struct dg_error *err)
{
    struct rank *r = ctx;
    struct meeting *m = r->m;
    double both[8];
    (void)err;
    assert_true(n <= 8);
    m->x[r->rank] = x;
    pthread_barrier_wait(&m->barrier);
    for (size_t i = 0; i < n; i++)
        both[i] = ((double *)m->x[0])[i] + ((double *)m->x[1])[i];
    pthread_barrier_wait(&m->barrier);
    memcpy(x, both, n * sizeof *x);
    return 0;
}

static void join(struct process two[2])
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, train, &two[1]), 0);
    train(&two[0]);
    pthread_join(thread, NULL);
    assert_memory_equal(two[0].params, two[1].params, two[0].n * sizeof(float));
}

/* Two ranks of one thread take the shares that one process of two threads takes, and add in the
 * same order. Ranks of two threads each, with several passes, or with more threads than sentences,
 * add in another order. */
static void test_ranks(void **state)
{
    (void)state;
    struct meeting m;
    struct rank rank[2] = {{&m, 0}, {&m, 1}};
    struct dg_ranks ranks[2];
    struct process alone = {.threads = 2, .micro_tokens = 60};
    pthread_barrier_init(&m.barrier, NULL, 2);
    for (size_t i = 0; i < 2; i++)
        ranks[i] = (struct dg_ranks){
            .ctx = &rank[i], .rank = i, .ranks = 2, .sum = sum, .sum_doubles = sum_doubles};
    train(&alone);
    for (int threads = 1; threads <= 16; threads *= 4) {
        struct process two[2];
        for (int i = 0; i < 2; i++)
            two[i] = (struct process){
                .threads = threads, .micro_tokens = 60 / (uint64_t)threads, .ranks = &ranks[i]};
        join(two);
        if (threads == 1)
            assert_memory_equal(two[0].params, alone.params, alone.n * sizeof(float));
        expect_close(&two[0], &alone);
        free(two[0].params), free(two[1].params);
    }
    pthread_barrier_destroy(&m.barrier);
    free(alone.params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_again),
        cmocka_unit_test(test_threads_and_passes), cmocka_unit_test(test_ranks)};
    return cmocka_run_group_tests(tests, make_shard, remove_shard);
}
